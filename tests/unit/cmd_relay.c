/* run/relay: all that is given is taken, in order. */
#include "run/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* A lane whose records are numbered in `fetch`. */
struct numbered {
	uint64_t given, taken;
	unsigned ends;
};

struct how { bool beside, slow; };
static const struct how how[] = { { true, false }, { false, false }, { true, true } };

struct log {
	bool slow;
	unsigned batches;
	size_t largest;
};

static void take(void *ctx, void *p, const struct timed *t, size_t n)
{
	struct log *log = ctx;
	struct numbered *lane = p;

	assert_int_equal(lane->ends, 0);
	if (!t) {
		lane->ends++;
		return;
	}
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_true(t[i].fetch == lane->taken++);
	log->batches++;
	log->largest = n > log->largest ? n : log->largest;
	if (log->slow)
		usleep(200);
}

static void give(struct relay *r, struct numbered *lane, size_t n)
{
	struct timed *t = calloc(n ? n : 1, sizeof *t);

	for (size_t i = 0; i < n; i++)
		t[i].fetch = lane->given++;
	relay_give(r, lane, t, n);
	free(t); /* copied */
}

/* The same, written where the relay has room. */
static void give_in_place(struct relay *r, struct numbered *lane, size_t n)
{
	while (n) {
		size_t room;
		struct timed *t = relay_room(r, lane, &room);
		assert_true(room > 0);
		size_t some = n < room ? n : room;
		for (size_t i = 0; i < some; i++)
			t[i].fetch = lane->given++;
		relay_give(r, lane, t, some);
		n -= some;
	}
}

static void test_order(void **state)
{
	const struct how *h = *state;
	struct log log = { .slow = h->slow };
	struct numbered lane[3] = { { 0 } };
	struct relay *r;

	srand(1);
	assert_int_equal(relay_new(&r, h->beside, take, &log), 0);
	for (unsigned i = 0; i < 1000; i++)
		(rand() % 2 ? give : give_in_place)(r, &lane[rand() % 3], (size_t)rand() % 300);
	for (unsigned i = 0; i < 3; i++)
		relay_give(r, &lane[i], NULL, 0);
	relay_wait(r);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(lane[i].taken == lane[i].given);
		assert_int_equal(lane[i].ends, 1);
	}
	relay_free(r);
}

static void test_wait_means_taken(void **state)
{
	const struct how *h = *state;
	struct log log = { .slow = true };
	struct numbered lane = { 0 };
	struct relay *r;

	assert_int_equal(relay_new(&r, h->beside, take, &log), 0);
	relay_wait(r); /* nothing was given */
	for (unsigned i = 0; i < 50; i++) {
		give(r, &lane, 100);
		relay_wait(r);
		assert_int_equal(lane.taken, lane.given);
	}
	relay_free(r);
}

/* A batch larger than a slot is cut up; one of none is not handed on. */
static void test_large_and_none(void **state)
{
	const struct how *h = *state;
	struct log log = { 0 };
	struct numbered lane = { 0 };
	struct relay *r;

	assert_int_equal(relay_new(&r, h->beside, take, &log), 0);
	give(r, &lane, 100000);
	give(r, &lane, 0);
	relay_free(r); /* waits */
	assert_int_equal(lane.taken, 100000);
	assert_true(log.largest < 100000);
	assert_int_equal(log.batches, (100000 + log.largest - 1) / log.largest);
}

/* What is written in place fills the same batches. */
static void test_in_place(void **state)
{
	const struct how *h = *state;
	struct log log = { 0 };
	struct numbered lane = { 0 };
	struct relay *r;

	assert_int_equal(relay_new(&r, h->beside, take, &log), 0);
	give_in_place(r, &lane, 100000);
	relay_free(r);
	assert_int_equal(lane.taken, 100000);
	assert_int_equal(log.batches, (100000 + log.largest - 1) / log.largest);
}

static void test_free_of_null(void **state)
{
	relay_free(NULL);
}

/* A test with a thread beside, and without. */
#define BOTH(test) { #test, test, NULL, NULL, (void *)(uintptr_t)&how[0] }, { #test "_here", test, NULL, NULL, (void *)(uintptr_t)&how[1] }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_order),
		{ "test_order_slow_taker", test_order, NULL, NULL, (void *)(uintptr_t)&how[2] },
		BOTH(test_wait_means_taken),
		BOTH(test_large_and_none),
		BOTH(test_in_place),
		cmocka_unit_test(test_free_of_null),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
