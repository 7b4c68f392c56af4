/* Limited holders: exact cycles, and occupancy recounted cycle by cycle from the intervals handed out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/cache/mshr.h"

static void full_waits_for_earliest(void **state)
{
	struct mshr m;

	assert_int_equal(mshr_init(&m, 2, 4096), 0);
	assert_int_equal(mshr_hold(&m, 10, 100), 10);
	assert_int_equal(mshr_hold(&m, 20, 300), 20);
	assert_false(mshr_free(&m, 50, 0));
	assert_true(mshr_free(&m, 9, 0));
	assert_int_equal(mshr_find(&m, 30, 1), 110);
	assert_int_equal(mshr_hold(&m, 30, 50), 110);
	assert_int_equal(mshr_find(&m, 30, 1), 160);
	assert_true(mshr_free(&m, 160, 0));
	assert_false(mshr_free(&m, 160, 1));
	assert_true(mshr_free(&m, 320, 1));
	assert_false(mshr_free(&m, 320, 2));
	mshr_fini(&m);
}

/* What starts earlier than those already booked contends only with the ones it overlaps. */
static void earlier_start_overtakes(void **state)
{
	struct mshr m;

	assert_int_equal(mshr_init(&m, 1, 4096), 0);
	assert_int_equal(mshr_hold(&m, 1000, 300), 1000);
	assert_int_equal(mshr_hold(&m, 100, 300), 100);
	assert_int_equal(mshr_hold(&m, 100, 600), 400);        /* the gap from 400 to 1000, exactly */
	assert_int_equal(mshr_hold(&m, 100, 1), 1300);
	assert_int_equal(mshr_hold(&m, 0, 101), 1301);         /* one cycle too long for the gap at 0 */
	assert_int_equal(mshr_hold(&m, 0, 100), 0);
	mshr_fini(&m);
}

static void forgotten_cycle_waits_for_nobody(void **state)
{
	struct mshr m;

	assert_int_equal(mshr_init(&m, 1, 256), 0);
	assert_int_equal(mshr_hold(&m, 0, 200), 0);
	assert_int_equal(mshr_hold(&m, 1000000, 10), 1000000);
	assert_int_equal(mshr_find(&m, 5, 1), 5);
	assert_int_equal(mshr_hold(&m, 5, 10), 5);
	/* The ring is clean where it was used before. */
	assert_int_equal(mshr_hold(&m, 1000010, 200), 1000010);
	mshr_fini(&m);
}

static void matches_recount(void **state)
{
	enum { CYCLES = 60000, SLACK = 20000 };
	static const uint64_t longest[] = { 12, 40, 300, 700 };

	for (uint32_t round = 0; round < 16; round++) {
		uint32_t limit = (uint32_t[]){ 1, 2, 12, 48 }[round % 4];
		uint64_t random = (round + 1) * 0x9e3779b97f4a7c15, base = 0, most = longest[round / 4];
		uint16_t *held = calloc(CYCLES + SLACK, sizeof *held), peak = 0;
		struct mshr m;

		assert_non_null(held);
		assert_int_equal(mshr_init(&m, limit, 16384), 0);
		while (base < CYCLES) {
			uint64_t cycles = 1 + next_random(&random) % most, from = base + next_random(&random) % 2000, at = from;
			for (uint64_t free = 0; free < cycles;) {
				if (held[at + free] < limit) {
					free++;
				} else {
					at += free + 1;
					free = 0;
				}
			}
			assert_int_equal(mshr_free(&m, from, 0), held[from] < limit);
			assert_int_equal(mshr_hold(&m, from, cycles), at);
			for (uint64_t c = at; c < at + cycles; c++) {
				held[c]++;
				peak = held[c] > peak ? held[c] : peak;
			}
			base += next_random(&random) % (2 + 3 * most / limit / 2);
			assert_in_range(at, from, base + SLACK - 1000);
		}
		/* Where what is held outlasts what is asked for next, all get taken. */
		if (most >= 12 * limit)
			assert_int_equal(peak, limit);
		mshr_fini(&m);
		free(held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_waits_for_earliest),
		cmocka_unit_test(earlier_start_overtakes),
		cmocka_unit_test(forgotten_cycle_waits_for_nobody),
		cmocka_unit_test(matches_recount),
	};
	return cmocka_run_group_tests_name("core mshr", tests, NULL, NULL);
}
