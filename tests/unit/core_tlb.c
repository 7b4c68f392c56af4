/* Translation arrays against a slow LRU; what a walk loads; the physical frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/cache/tlb.h"

/* Most recent first, one list a set. */
static bool slow_find(uint64_t *list, uint32_t ways, uint64_t page)
{
	uint32_t i = 0;

	while (i < ways - 1 && list[i] != page)
		i++;
	bool found = list[i] == page;
	memmove(list + 1, list, i * sizeof *list);
	list[0] = page;
	return found;
}

static void compare(uint32_t entries, uint32_t ways)
{
	uint32_t sets = entries / ways;
	uint64_t *lists = malloc(sizeof *lists * entries), random = entries * 31 + ways, hits = 0;
	struct tlb t;

	assert_non_null(lists);
	memset(lists, 0xff, sizeof *lists * entries);
	assert_int_equal(tlb_init(&t, entries, ways), 0);
	for (int k = 0; k < 100000; k++) {
		uint64_t page = next_random(&random) % (entries * 2) + (k & 1 ? 0x7ff000000 : 0);
		struct tlb_entry *e = tlb_find(&t, page);
		bool hit = slow_find(lists + page % sets * ways, ways, page);

		assert_int_equal(e != NULL, hit);
		if (!e)
			e = tlb_insert(&t, page);
		assert_int_equal(e->page, page);
		hits += hit;
	}
	assert_in_range(hits, 100, 99900);
	tlb_fini(&t);
	free(lists);
}

static void lru_matches(void **state)
{
	compare(64, 4);
	compare(32, 32);
	compare(1024, 1);
	compare(1536, 12);
	compare(48, 48);
	compare(60, 5);
}

static void drop(void **state)
{
	struct tlb t;

	assert_int_equal(tlb_init(&t, 64, 4), 0);
	for (uint64_t page = 100; page < 140; page++)
		tlb_insert(&t, page)->frame = page * 3;
	tlb_drop(&t, 110, 119);
	for (uint64_t page = 100; page < 140; page++) {
		struct tlb_entry *e = tlb_find(&t, page);
		assert_int_equal(e == NULL, page >= 110 && page <= 119);
		if (e)
			assert_int_equal(e->frame, page * 3);
	}
	tlb_fini(&t);
}

/* Four levels; seed 0 keeps tables in the order of their addresses, level above level. */
static uint64_t entry(uint64_t level, uint64_t index)
{
	return 1ull << 60 | level << 55 | index >> 9 << 12 | (index & 511) << 3;
}

static void walk_loads(void **state)
{
	uint64_t a[WALK_MAX_LEVELS], page = 0x7f1234567;
	struct walker w;

	assert_int_equal(page_walker_init(&w, 4, 2, 12, 0), 0);
	assert_int_equal(page_walker_plan(&w, page, a), 4);
	assert_int_equal(a[0], entry(3, page >> 27));
	assert_int_equal(a[1], entry(2, page >> 18));
	assert_int_equal(a[2], entry(1, page >> 9));
	assert_int_equal(a[3], entry(0, page));
	/* The same last table: one load. */
	assert_int_equal(page_walker_plan(&w, page + 1, a), 1);
	assert_int_equal(a[0], entry(0, page + 1));
	assert_int_equal(a[0], entry(0, page) + 8);
	/* The next one: its directory entry as well. */
	assert_int_equal(page_walker_plan(&w, page + 512, a), 2);
	assert_int_equal(a[0], entry(1, (page + 512) >> 9));
	assert_int_equal(a[1], entry(0, page + 512));
	/* Two entries are cached of each level: a third drops the first. */
	assert_int_equal(page_walker_plan(&w, page + 1024, a), 2);
	assert_int_equal(page_walker_plan(&w, page + 512, a), 1);
	assert_int_equal(page_walker_plan(&w, page, a), 2);
	page_walker_flush(&w);
	assert_int_equal(page_walker_plan(&w, page, a), 4);
	page_walker_fini(&w);
}

static void walk_without_directories_or_of_large_pages(void **state)
{
	uint64_t a[WALK_MAX_LEVELS];
	struct walker w;

	assert_int_equal(page_walker_init(&w, 3, 0, 12, 0), 0);
	assert_int_equal(page_walker_plan(&w, 5, a), 3);
	assert_int_equal(page_walker_plan(&w, 5, a), 3);
	page_walker_fini(&w);

	assert_int_equal(page_walker_init(&w, 4, 32, 21, 0), 0);
	assert_int_equal(page_walker_plan(&w, 5, a), 3);
	assert_int_equal(page_walker_plan(&w, 5, a), 1);
	page_walker_fini(&w);

	assert_int_equal(page_walker_init(&w, 1, 32, 12, 0), 0);
	assert_int_equal(page_walker_plan(&w, 5, a), 1);
	page_walker_fini(&w);
}

/* Entries of one table are together, tables are spread, and nothing coincides. */
static void tables_are_spread(void **state)
{
	uint64_t a[WALK_MAX_LEVELS], b[WALK_MAX_LEVELS];
	struct walker w;

	assert_int_equal(page_walker_init(&w, 4, 0, 12, 7), 0);
	assert_int_equal(page_walker_plan(&w, 0x1000, a), 4);
	assert_int_equal(page_walker_plan(&w, 0x1001, b), 4);
	assert_int_equal(b[3], a[3] + 8);
	for (int i = 0; i < 3; i++)
		assert_int_equal(a[i], b[i]);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(a[i] >> 60, 1);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(a[i] >> 12, a[k] >> 12);
	}
	page_walker_fini(&w);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void frames_are_one_to_one(void **state)
{
	enum { PAGES = 200000 };
	static const uint32_t bits[] = { 12, 21, 30 };
	uint64_t *frames = malloc(sizeof *frames * PAGES);

	assert_non_null(frames);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t colours[64] = { 0 };
		struct walker w;

		assert_int_equal(page_walker_init(&w, 4, 32, bits[i], 1), 0);
		for (uint64_t page = 0; page < PAGES; page++) {
			frames[page] = page_walker_frame(&w, page + 0x12345);
			assert_true(frames[page] < 1ull << (57 - bits[i]));
			colours[frames[page] % 64]++;
		}
		/* As even as chance makes it: 3125 a colour, standard deviation 55. */
		for (int c = 0; c < 64; c++)
			assert_in_range(colours[c], 2850, 3400);
		qsort(frames, PAGES, sizeof *frames, by_value);
		for (int k = 1; k < PAGES; k++)
			assert_true(frames[k] != frames[k - 1]);
		page_walker_fini(&w);
	}
	free(frames);
}

static void seed_chooses_frames(void **state)
{
	struct walker w;

	assert_int_equal(page_walker_init(&w, 4, 32, 12, 0), 0);
	assert_int_equal(page_walker_frame(&w, 0x7fff12345), 0x7fff12345);
	w.seed = 1;
	uint64_t one = page_walker_frame(&w, 0x7fff12345);
	w.seed = 2;
	assert_int_not_equal(page_walker_frame(&w, 0x7fff12345), one);
	page_walker_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lru_matches),
		cmocka_unit_test(drop),
		cmocka_unit_test(walk_loads),
		cmocka_unit_test(walk_without_directories_or_of_large_pages),
		cmocka_unit_test(tables_are_spread),
		cmocka_unit_test(frames_are_one_to_one),
		cmocka_unit_test(seed_chooses_frames),
	};
	return cmocka_run_group_tests_name("core tlb", tests, NULL, NULL);
}
