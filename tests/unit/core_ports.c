/*
 * Ports and units: the first cycle in which one of several is free, alone and with a unit, and how a unit is held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "core/ooo/ports.h"

enum { P0 = 1 << 0, P1 = 1 << 1, P2 = 1 << 2, UNIT = CORE_PORTS };

static struct ports *ports_with(unsigned lane, uint64_t from, uint64_t to)
{
	struct ports *p = calloc(1, sizeof *p);

	assert_non_null(p);
	while (from < to)
		ports_book(p, lane, from++);
	return p;
}

static void the_first_that_is_free(void **state)
{
	struct ports *p = ports_with(1, 10, 200); /* over the ends of words */
	unsigned lane = 77;

	assert_true(ports_first_of(p, 0, 0, 10, &lane) == UINT64_MAX);
	assert_int_equal(lane, 77);
	assert_int_equal(ports_first_of(p, P1, 0, 9, &lane), 9);
	assert_int_equal(ports_first_of(p, P1, 0, 10, &lane), 200);
	assert_int_equal(lane, 1);
	assert_int_equal(ports_first_of(p, P1 | P2, 0, 10, &lane), 10);
	assert_int_equal(lane, 2);
	assert_int_equal(ports_first_of(p, P0 | P1 | P2, 0, 10, &lane), 10);
	assert_int_equal(lane, 0);
	ports_book(p, 0, 10);
	ports_book(p, 2, 10);
	assert_int_equal(ports_first_of(p, P0 | P1 | P2, 0, 10, &lane), 11);
	assert_int_equal(lane, 0);
	free(p);
}

/* The unit is free from 40 on; port 0 is then taken until 45, port 1 is not. */
static void with_a_unit(void **state)
{
	struct ports *p = ports_with(UNIT, 10, 40);
	unsigned lane;

	for (uint64_t c = 40; c < 45; c++)
		ports_book(p, 0, c);
	assert_int_equal(ports_first_of(p, P0, UNIT, 5, &lane), 5);
	assert_int_equal(ports_first_of(p, P0, UNIT, 10, &lane), 45);
	assert_int_equal(ports_first_of(p, P0 | P1, UNIT, 10, &lane), 40);
	assert_int_equal(lane, 1);
	free(p);
}

/* What is left of 8 cycles when an older uop has booked two of them is held behind these. */
static void a_unit_is_held(void **state)
{
	struct ports *p = ports_with(UNIT, 20, 22);

	ports_hold(p, UNIT, 16, 8);
	assert_int_equal(ports_first(p, UNIT, 15), 15);
	assert_int_equal(ports_first(p, UNIT, 16), 26);
	assert_int_equal(ports_first_run(p, UNIT, 14, 2), 14);
	assert_int_equal(ports_first_run(p, UNIT, 14, 3), 26);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_is_free),
		cmocka_unit_test(with_a_unit),
		cmocka_unit_test(a_unit_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
