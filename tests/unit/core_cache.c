/* Replacement policies against obvious implementations on random streams; sets that are no power of two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "core/cache/cache.h"
#include "core/cache/divisor.h"

static void divisor(void **state)
{
	static const uint32_t by[] = { 1, 2, 3, 7, 11, 64, 1000, 2048, 2047, 65537, 2147483646, 1073741824 };
	uint64_t random = 42;

	for (unsigned i = 0; i < sizeof by / sizeof *by; i++) {
		struct divisor d;
		divisor_init(&d, by[i]);
		for (int k = 0; k < 20000; k++) {
			uint64_t n = next_random(&random) >> (2 + k % 60);
			uint32_t rest;
			if (k % 3 == 0)
				n = n / by[i] * by[i] + (k & 1 ? by[i] - 1 : 0);
			assert_int_equal(divide(&d, n, &rest), n / by[i]);
			assert_int_equal(rest, n % by[i]);
		}
	}
}

/* A set as a list of (line, age), the slow way: most recent first for lru; by way for the others. */
struct slow_set {
	uint64_t line[CACHE_MAX_WAYS];
	int age[CACHE_MAX_WAYS];       /* lru: order of use; qlru: 0 to 3 */
	int node[2 * CACHE_MAX_WAYS];  /* plru: by node of the tree, root 1: 1 where the right half is older */
};

static void slow_init(struct slow_set *s)
{
	memset(s, 0, sizeof *s);
	for (int i = 0; i < CACHE_MAX_WAYS; i++) {
		s->line[i] = CACHE_EMPTY;
		s->age[i] = 3;
	}
}

static void slow_plru_touch(struct slow_set *s, int node, int first, int leaves, int way)
{
	if (leaves == 1)
		return;
	int half = leaves / 2, right = way >= first + half;
	s->node[node] = !right;
	slow_plru_touch(s, 2 * node + right, first + (right ? half : 0), half, way);
}

static int slow_plru_victim(const struct slow_set *s, int ways)
{
	int leaves = 1, node = 1, first = 0;

	while (leaves < ways)
		leaves *= 2;
	for (; leaves > 1; leaves /= 2) {
		first += s->node[node] ? leaves / 2 : 0;
		node = 2 * node + s->node[node];
	}
	return first < ways ? first : ways - 1;
}

static void slow_qlru_age(struct slow_set *s, int ways, int way, int age)
{
	int oldest = -1;

	s->age[way] = age;
	for (int i = 0; i < ways; i++)
		oldest = i != way && s->age[i] > oldest ? s->age[i] : oldest;
	for (int i = 0; i < ways; i++)
		s->age[i] += i != way ? 3 - oldest : 0;
}

/* Returns whether it hit; *victim: what went. */
static bool slow_access(struct slow_set *s, int ways, enum replacement policy, int *clock, uint64_t line, uint64_t *victim)
{
	int way = -1, leaves = 1;
	bool hit = false;

	while (leaves < ways)
		leaves *= 2;
	*victim = CACHE_EMPTY;
	for (int i = 0; i < ways; i++)
		way = s->line[i] == line ? i : way;
	if (way >= 0) {
		hit = true;
	} else {
		for (int i = ways - 1; i >= 0; i--) {
			if (s->line[i] == CACHE_EMPTY && (way < 0 || policy != REPLACE_QLRU))
				way = i;
		}
		if (way < 0 && policy == REPLACE_LRU) {
			way = 0;
			for (int i = 1; i < ways; i++)
				way = s->age[i] < s->age[way] ? i : way;
		}
		if (way < 0 && policy == REPLACE_PLRU)
			way = slow_plru_victim(s, ways);
		for (int i = 0; way < 0 && i < ways; i++)
			way = s->age[i] == 3 || ways == 1 ? i : way;
		assert_in_range(way, 0, ways - 1);
		*victim = s->line[way];
		s->line[way] = line;
	}
	if (policy == REPLACE_LRU)
		s->age[way] = ++*clock;
	if (policy == REPLACE_PLRU)
		slow_plru_touch(s, 1, 0, leaves, way);
	if (policy == REPLACE_QLRU)
		slow_qlru_age(s, ways, way, hit ? 0 : 1);
	return hit;
}

static void compare(enum replacement policy, uint32_t sets, uint32_t ways, uint64_t random)
{
	struct slow_set *slow = calloc(sets, sizeof *slow);
	uint64_t hits = 0;
	struct cache c;
	int clock = 3;

	assert_non_null(slow);
	for (uint32_t i = 0; i < sets; i++)
		slow_init(&slow[i]);
	assert_int_equal(cache_init(&c, sets, ways, policy), 0);
	for (int k = 0; k < 60000; k++) {
		uint64_t spread = (uint64_t)sets * ways * ((unsigned)k / 10000 + 2) / 3;
		uint64_t line = 0x123456789ab + next_random(&random) % spread, gone;
		bool hit = slow_access(&slow[line % sets], (int)ways, policy, &clock, line, &gone);
		struct cache_victim victim = { .line = CACHE_EMPTY };
		int64_t at = cache_access(&c, line);

		assert_int_equal(at >= 0, hit);
		if (!hit)
			at = (int64_t)cache_insert(&c, line, &victim);
		assert_int_equal(c.tags[at], line);
		assert_int_equal(at / ways, line % sets);
		assert_int_equal(slow[line % sets].line[at % ways], line);
		assert_int_equal(victim.line, gone);
		hits += hit;
		if (k % 97 == 0) {
			slow[line % sets].line[at % ways] = CACHE_EMPTY;
			cache_drop(&c, (uint64_t)at);
			assert_int_equal(cache_find(&c, line), -1);
		}
	}
	assert_in_range(hits, 1000, 59000);
	cache_fini(&c);
	free(slow);
}

static void policies_match(void **state)
{
	static const uint32_t ways[] = { 1, 2, 4, 8, 11, 16, 12, 64 }, sets[] = { 64, 128, 1, 16, 48 };

	for (enum replacement policy = REPLACE_LRU; policy <= REPLACE_QLRU; policy++) {
		for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
			for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++) {
				if (sets[s] * ways[w] >= 16)
					compare(policy, sets[s], ways[w], 1 + w * 7 + s);
			}
		}
	}
}

/* Random replacement: the same in every run, spread over all ways. */
static void random_is_spread(void **state)
{
	uint64_t first[16] = { 0 }, count[16] = { 0 };

	for (int run = 0; run < 2; run++) {
		struct cache_victim victim;
		struct cache c;

		memset(count, 0, sizeof count);
		assert_int_equal(cache_init(&c, 1, 16, REPLACE_RANDOM), 0);
		for (uint64_t line = 0; line < 16 + 16000; line++) {
			uint64_t at = cache_insert(&c, line, &victim);
			if (line < 16)
				assert_int_equal(at, line);
			else
				count[at]++;
		}
		if (run == 0)
			memcpy(first, count, sizeof first);
		cache_fini(&c);
	}
	assert_memory_equal(first, count, sizeof first);
	for (int i = 0; i < 16; i++)
		assert_in_range(count[i], 850, 1150);
}

static void dirt_goes_with_the_line(void **state)
{
	struct cache_victim victim;
	struct cache c;

	assert_int_equal(cache_init(&c, 1, 2, REPLACE_LRU), 0);
	c.lines[cache_insert(&c, 10, &victim)].dirty = true;
	assert_int_equal(victim.line, CACHE_EMPTY);
	cache_insert(&c, 11, &victim);
	assert_int_equal(victim.line, CACHE_EMPTY);
	cache_insert(&c, 12, &victim);
	assert_int_equal(victim.line, 10);
	assert_true(victim.dirty);
	cache_insert(&c, 13, &victim);
	assert_int_equal(victim.line, 11);
	assert_false(victim.dirty);
	cache_fini(&c);
}

static void names(void **state)
{
	enum replacement r;

	assert_int_equal(replacement_parse(&r, "lru", "l2"), 0);
	assert_int_equal(r, REPLACE_LRU);
	assert_int_equal(replacement_parse(&r, "plru", "l2"), 0);
	assert_int_equal(r, REPLACE_PLRU);
	assert_int_equal(replacement_parse(&r, "qlru", "l2"), 0);
	assert_int_equal(r, REPLACE_QLRU);
	assert_int_equal(replacement_parse(&r, "random", "l2"), 0);
	assert_int_equal(r, REPLACE_RANDOM);
	assert_int_equal(replacement_parse(&r, "fifo", "l2"), -22);
	assert_string_equal(error_get()->what, "l2");
	assert_string_equal(error_get()->why, "there is no replacement policy called \"fifo\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(divisor),
		cmocka_unit_test(policies_match),
		cmocka_unit_test(random_is_spread),
		cmocka_unit_test(dirt_goes_with_the_line),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests_name("core cache", tests, NULL, NULL);
}
