/* The flattening of intervals, against the slow and obvious one: each address asks every interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>

#include "symbol/interval.h"

enum { SPACE = 64, MOST = 24, ROUNDS = 3000 };

static uint32_t slow_find(const struct interval *given, size_t nr, uint64_t address)
{
	uint32_t best = INTERVAL_NONE, priority = 0;

	for (size_t i = 0; i < nr; i++) {
		if (address < given[i].start || address >= given[i].end || (best != INTERVAL_NONE && given[i].priority < priority))
			continue;
		best = given[i].id;
		priority = given[i].priority;
	}
	return best;
}

static void check_shape(const struct interval_map *map)
{
	for (size_t i = 0; i < map->nr; i++) {
		assert_true(map->at[i].start < map->at[i].end);
		if (!i)
			continue;
		assert_true(map->at[i - 1].end <= map->at[i].start);
		assert_true(map->at[i - 1].end < map->at[i].start || map->at[i - 1].id != map->at[i].id);
	}
}

static void random_intervals(void **state)
{
	GRand *random = g_rand_new_with_seed(1);
	struct interval given[MOST];
	struct interval_map map;

	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t nr = (size_t)g_rand_int_range(random, 0, MOST);

		for (size_t i = 0; i < nr; i++)
			given[i] = (struct interval){
				(uint64_t)g_rand_int_range(random, 0, SPACE), (uint64_t)g_rand_int_range(random, 0, SPACE),
				(uint32_t)g_rand_int_range(random, 0, 6), (uint32_t)g_rand_int_range(random, 0, 5) };
		interval_map_init(&map, given, nr);
		check_shape(&map);
		for (uint64_t address = 0; address < SPACE + 2; address++) {
			const struct interval *found = interval_map_find(&map, address);

			assert_int_equal(found ? found->id : INTERVAL_NONE, slow_find(given, nr, address));
		}
		interval_map_fini(&map);
	}
	g_rand_free(random);
}

static void ends_of_the_address_space(void **state)
{
	struct interval given[] = { { 0, UINT64_MAX, 1, 0 }, { UINT64_MAX - 4, UINT64_MAX, 2, 1 } };
	struct interval_map map;

	interval_map_init(&map, given, 2);
	assert_int_equal(map.nr, 2);
	assert_int_equal(interval_map_find(&map, 0)->id, 1);
	assert_int_equal(interval_map_find(&map, UINT64_MAX - 5)->id, 1);
	assert_int_equal(interval_map_find(&map, UINT64_MAX - 1)->id, 2);
	assert_null(interval_map_find(&map, UINT64_MAX));
	interval_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_intervals),
		cmocka_unit_test(ends_of_the_address_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
