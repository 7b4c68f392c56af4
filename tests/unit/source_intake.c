/* Which lanes are read, whatever the program writes where the plugin says that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "source/intake.h"

struct fixture {
	struct wire *wire;
	struct intake intake;
	uint32_t thread;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->wire = mmap(NULL, sizeof *f->wire, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*state = f;
	return f->wire == MAP_FAILED;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->wire, sizeof *f->wire);
	free(f);
	return 0;
}

static bool begins(struct fixture *f, unsigned lane, uint32_t state, uint32_t thread)
{
	f->wire->lane[lane].state = state;
	f->wire->lane[lane].thread = thread;
	return intake_begins(&f->intake, f->wire, lane, &f->thread);
}

static void expect_told(struct fixture *f, const char *part)
{
	char text[256];

	assert_int_equal(intake_told(&f->intake, f->wire, false, text, sizeof text), part != NULL);
	if (part)
		assert_non_null(strstr(text, part));
}

static void threads_begin(void **state)
{
	struct fixture *f = *state;

	assert_false(begins(f, 0, WIRE_LANE_FREE, 0));
	assert_true(begins(f, 0, WIRE_LANE_OPEN, 7));
	assert_int_equal(f->thread, 7);
	assert_true(begins(f, 1, WIRE_LANE_ENDED, WIRE_THREADS - 1)); /* over before anyone looked */
	expect_told(f, NULL);
}

/* A number that has been given, or cannot be: there is no second thread of it. */
static void thread_makes_no_sense(void **state)
{
	struct fixture *f = *state;

	assert_true(begins(f, 0, WIRE_LANE_OPEN, 7));
	assert_false(begins(f, 1, WIRE_LANE_OPEN, 7));
	assert_false(begins(f, 2, WIRE_LANE_OPEN, WIRE_THREADS));
	assert_true(f->wire->lane[1].ring.refused && f->wire->lane[2].ring.refused);
	expect_told(f, ": 2 of its threads were");
}

/* A lane said to have ended goes on: whoever sends there must not wait. Once the thread ends, another gets the lane. */
static void words_without_a_thread(void **state)
{
	struct fixture *f = *state;
	struct wire_lane *lane = &f->wire->lane[3];

	lane->ring.head = lane->ring.tail = 500;
	assert_false(begins(f, 3, WIRE_LANE_FREE, 0));
	assert_false(lane->ring.refused);
	lane->ring.head = 501;
	lane->ring.sleeping = 1;
	assert_false(begins(f, 3, WIRE_LANE_FREE, 0));
	assert_true(lane->ring.refused && !lane->ring.sleeping);
	lane->ring.refused = 0; /* by the program */
	assert_false(begins(f, 3, WIRE_LANE_FREE, 0));
	assert_true(lane->ring.refused);
	expect_told(f, ": 1 of its threads was");

	assert_false(begins(f, 3, WIRE_LANE_ENDED, 0));
	assert_int_equal(lane->state, WIRE_LANE_FREE);
	assert_true(!lane->ring.refused && lane->ring.head == lane->ring.tail);
	assert_true(begins(f, 3, WIRE_LANE_OPEN, 4));
}

/* A thread on a refused lane waits for its counters in vain. */
static void refused_is_answered(void **state)
{
	struct fixture *f = *state;

	intake_refuse(&f->intake, f->wire, 5);
	assert_int_equal(f->wire->lane[5].answer.given, 1);
}

static void lanes_stay(void **state)
{
	struct fixture *f = *state;

	f->wire->lanes = 3;
	assert_int_equal(intake_lanes(&f->intake, f->wire), 3);
	f->wire->lanes = 0;
	assert_int_equal(intake_lanes(&f->intake, f->wire), 3);
	f->wire->lanes = UINT32_MAX;
	assert_int_equal(intake_lanes(&f->intake, f->wire), WIRE_LANES);
}

static void all_is_refused(void **state)
{
	struct fixture *f = *state;
	char text[256];

	f->wire->stop = 1;
	assert_false(intake_told(&f->intake, f->wire, true, text, sizeof text));
	expect_told(f, "nothing was profiled from there on");
	f->wire->stop = 0;
	expect_told(f, NULL);
	intake_silence(&f->intake, f->wire);
	assert_true(f->wire->stop && f->wire->definitions.refused);
	expect_told(f, "nothing was profiled from there on");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threads_begin), TEST(thread_makes_no_sense), TEST(words_without_a_thread), TEST(refused_is_answered),
		TEST(lanes_stay), TEST(all_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
