/* The critical path by last-arriving constraints, on hand-made streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>

#include "method/critical.h"

enum { CHAIN, OTHER, BRANCH };

static struct timed *stream(size_t n)
{
	struct timed *t = g_new0(struct timed, n);

	for (size_t i = 0; i < n; i++)
		t[i] = (struct timed){ .insn = OTHER, .flags = TIMED_COUNTED, .slots = 1, .uops = 1 };
	return t;
}

static struct critical *walk(const struct timed *t, size_t n)
{
	struct critical *c = critical_new();

	for (size_t at = 0; at < n; at += 1000)
		critical_batch(c, t + at, MIN(n - at, (size_t)1000));
	critical_finish(c);
	return c;
}

/* Every second instruction waits for the one two before it: those are the path, in whatever windows it is walked. */
static void test_chain(void **state)
{
	enum { N = 200000 };
	struct timed *t = stream(N);

	for (size_t i = 0; i < N; i++) {
		t[i].fetch = 2 * i;
		t[i].avail = 5;
		t[i].dispatch = 6;
		t[i].ready = t[i].issue = 10;
		t[i].complete = 14;
		t[i].leave = 15;
		t[i].why = WAIT_ROB;
		t[i].dispatch_by = 7;
		if (i % 2)
			continue;
		t[i].insn = CHAIN;
		t[i].why |= WAIT_OPERAND << 4;
		t[i].issue_by = i ? 2 : 0;
	}
	struct critical *c = walk(t, N);
	/* A walk begins and ends beside the chain: some executions at each of the four seams. */
	assert_in_range(critical_row(c, CHAIN)->count, N / 2 - 40, N / 2);
	assert_in_range(critical_row(c, CHAIN)->bound[BOUND_LATENCY], critical_row(c, CHAIN)->count - 40, N / 2);
	/* Each was led to by the one before; in each walk the first is not. */
	assert_in_range(critical_row(c, CHAIN)->carried, critical_row(c, CHAIN)->count - 80, critical_row(c, CHAIN)->count - 1);
	assert_true(!critical_row(c, OTHER) || !critical_row(c, OTHER)->carried);
	assert_true(!critical_row(c, OTHER) || critical_row(c, OTHER)->count <= 40);
	assert_null(critical_row(c, 17));
	critical_free(c);
	g_free(t);
}

/* Where the reorder buffer is full, the path goes to who holds it, and what only waits for room is not on it. */
static void test_rob(void **state)
{
	enum { N = 1000, ROB = 10 };
	struct timed *t = stream(N);

	/* Every tenth takes 100 cycles and keeps the next ten out. */
	for (size_t i = 0; i < N; i++) {
		uint64_t group = i / ROB;
		t[i].fetch = 100 * group;
		t[i].avail = 1;
		t[i].dispatch = 2;
		t[i].issue = t[i].ready = 3;
		t[i].complete = i % ROB ? 4 : 98;
		t[i].leave = i % ROB ? 100 : 99;
		t[i].insn = i % ROB ? OTHER : CHAIN;
		if (i >= ROB) {
			t[i].why = WAIT_ROB;
			t[i].dispatch_by = ROB;
		}
	}
	struct critical *c = walk(t, N);
	assert_int_equal(critical_row(c, CHAIN)->count, N / ROB);
	assert_true(critical_row(c, CHAIN)->bound[BOUND_ROB] >= N / ROB - 1);
	assert_true(!critical_row(c, OTHER) || critical_row(c, OTHER)->count <= 1);
	critical_free(c);
	g_free(t);
}

/* What is fetched behind a mispredicted branch waits for it; its wrong path is nobody. */
static void test_misprediction(void **state)
{
	enum { N = 3000 };
	struct timed *t = stream(N);

	for (size_t i = 0; i < N; i++) {
		t[i].fetch = 20 * (i / 3);
		t[i].avail = 5;
		t[i].dispatch = 5;
		t[i].issue = t[i].ready = 8;
		t[i].complete = 19;
		t[i].leave = 20;
		if (i % 3 == 1) {
			t[i].insn = BRANCH;
			t[i].flags |= TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER;
			t[i].dispatch = t[i].avail = 5;
		} else if (i % 3 == 2) {
			t[i].flags |= TIMED_WRONG;
			t[i].insn = 3;
		}
	}
	struct critical *c = walk(t, N);
	assert_null(critical_row(c, 3));
	assert_true(critical_row(c, OTHER)->bound[BOUND_BRANCH] >= N / 3 - 2);
	assert_true(critical_row(c, BRANCH)->count >= N / 3 - 2);
	critical_free(c);
	g_free(t);
}

/* The front end is last: what it waited for there says who delivered the instruction, and behind what. */
static void test_delivery(void **state)
{
	enum { N = 4000, DECODED = 4, TAKEN = 5, PLAIN = 6, SWITCHED = 7 };
	struct timed *t = stream(N);

	/* A round: through the decoders, from the uop cache again, a jump, behind it, on from there a cycle later. */
	for (size_t i = 0; i < N; i++) {
		static const uint32_t insns[] = { DECODED, SWITCHED, PLAIN, TAKEN };
		t[i].insn = insns[i % 4];
		t[i].fetch = 4 * i;
		t[i].avail = 5;
		t[i].dispatch = 6;
		t[i].issue = t[i].ready = 8;
		t[i].complete = 9;
		t[i].leave = 10;
		if (i % 4 == 0)
			t[i].flags |= TIMED_DECODED;
		if (i % 4 == 2)
			t[i].flags |= TIMED_BRANCH | TIMED_TAKEN;
	}
	struct critical *c = walk(t, N);
	assert_true(critical_row(c, DECODED)->bound[BOUND_DECODE] >= N / 4 - 1);
	assert_true(critical_row(c, SWITCHED)->bound[BOUND_DECODE] >= N / 4 - 1);
	assert_true(critical_row(c, PLAIN)->bound[BOUND_FRONTEND] >= N / 4 - 1);
	assert_true(critical_row(c, TAKEN)->bound[BOUND_TAKEN] >= N / 4 - 1);
	critical_free(c);
	g_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_rob),
		cmocka_unit_test(test_misprediction),
		cmocka_unit_test(test_delivery),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
