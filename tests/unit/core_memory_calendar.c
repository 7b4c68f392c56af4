/* The calendar of a bus against a bitmap with one byte per unit, and its window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/cache/calendar.h"

static void units(void **state)
{
	assert_int_equal(calendar_units(64, 64, 1), 8);
	assert_int_equal(calendar_units(64, 16, 1), 32);
	assert_int_equal(calendar_units(64, 28, 1), 18);       /* 18.29 eighths */
	assert_int_equal(calendar_units(64, 256, 1), 2);
	assert_int_equal(calendar_units(16, 256, 1), 1);       /* half an eighth: at least one */
	assert_int_equal(calendar_units(64, 11400, 3100), 139); /* MB/s over MHz: 139.2 */
}

static void idle_bus_adds_nothing(void **state)
{
	struct calendar c;

	assert_int_equal(calendar_init(&c, 1024), 0);
	assert_int_equal(calendar_book(&c, 14, 18), 14);
	assert_int_equal(calendar_book(&c, 100, 8), 100);
	/* A transfer cannot end before it could have begun at cycle 0. */
	assert_int_equal(calendar_book(&c, 0, 8), 1);
	calendar_fini(&c);
}

static void busy_bus_serves_in_turn(void **state)
{
	struct calendar c;

	assert_int_equal(calendar_init(&c, 1024), 0);
	/* 2.25 cycles each, all of them wanted by cycle 50: eighths 382 to 400, then 18 more each time. */
	assert_int_equal(calendar_book(&c, 50, 18), 50);
	assert_int_equal(calendar_book(&c, 50, 18), 53);       /* 52.25 */
	assert_int_equal(calendar_book(&c, 50, 18), 55);       /* 54.5 */
	assert_int_equal(calendar_book(&c, 50, 18), 57);       /* 56.75 */
	assert_int_equal(calendar_book(&c, 50, 18), 59);       /* 59 */
	calendar_fini(&c);
}

static void earlier_cycle_finds_gap(void **state)
{
	struct calendar c;

	assert_int_equal(calendar_init(&c, 1024), 0);
	assert_int_equal(calendar_book(&c, 104, 32), 104);     /* 100 to 104 */
	assert_int_equal(calendar_book(&c, 54, 32), 54);       /* long before */
	assert_int_equal(calendar_book(&c, 102, 32), 106);     /* two cycles before, two behind */
	calendar_fini(&c);
}

static void forgotten_cycle_waits_for_nobody(void **state)
{
	struct calendar c;

	assert_int_equal(calendar_init(&c, 1024), 0);
	for (int i = 0; i < 64; i++)
		assert_int_equal(calendar_book(&c, 8, 8), 8 + i);
	assert_int_equal(calendar_book(&c, 100000, 8), 100000);
	assert_int_equal(calendar_book(&c, 8, 8), 8);
	assert_int_equal(calendar_book(&c, 8, 8), 8);
	/* The ring is clean where it was used before. */
	for (int i = 0; i < 64; i++)
		assert_int_equal(calendar_book(&c, 100001, 8), 100001 + i);
	calendar_fini(&c);
}

/* One byte a unit, never forgetting. */
static uint64_t reference_book(uint8_t *busy, uint64_t cycle, uint32_t n)
{
	uint64_t u = cycle * CALENDAR_UNITS > n ? cycle * CALENDAR_UNITS - n : 0;

	for (;; u++) {
		if (busy[u])
			continue;
		busy[u] = 1;
		if (!--n)
			return u / CALENDAR_UNITS + 1;
	}
}

static void matches_bitmap(void **state)
{
	enum { CYCLES = 200000, WINDOW = 4096 };
	static const uint32_t lengths[] = { 1, 7, 8, 18, 32, 64, 139 };

	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15, base = 0;
		uint8_t *busy = calloc(CYCLES + 20000, CALENDAR_UNITS);
		struct calendar c;

		assert_non_null(busy);
		assert_int_equal(calendar_init(&c, WINDOW), 0);
		/* Loads from a quarter to one and a half of what the bus can do, over a stretch that the window holds. */
		while (base < CYCLES) {
			uint32_t n = lengths[next_random(&random) % 7];
			uint64_t cycle = base + next_random(&random) % 1000;
			assert_int_equal(calendar_book(&c, cycle, n), reference_book(busy, cycle, n));
			base += next_random(&random) % (1 + n * 2 / seed);
			/* A backlog as long as the window would be forgotten: let it drain. */
			if (next_random(&random) % 400 == 0)
				base += 1000;
		}
		calendar_fini(&c);
		free(busy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),
		cmocka_unit_test(idle_bus_adds_nothing),
		cmocka_unit_test(busy_bus_serves_in_turn),
		cmocka_unit_test(earlier_cycle_finds_gap),
		cmocka_unit_test(forgotten_cycle_waits_for_nobody),
		cmocka_unit_test(matches_bitmap),
	};
	return cmocka_run_group_tests_name("core calendar", tests, NULL, NULL);
}
