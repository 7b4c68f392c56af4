/* Translation from the pipeline's side: exact cycles of TLB hits, second level, walks, merges, unmapping, ideals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cache/memory.h"
#include "core_memory_desc.h"

/*
 * Tables of a page below 2^21: each level's entry is in a row of its own, all in bank 0, so that a cold walk is four
 * reads of memory, the first with no row open. A is in another bank.
 */
enum { PAGE = 4096, A = 0x40000 + 0x2000, COLD_WALK = 8 + 170 + 3 * 180 };

static struct memory *open_memory(void (*change)(struct core_desc *))
{
	struct core_desc d;
	struct memory *m;

	desc_plain(&d);
	d.ideal.dtlb = d.ideal.itlb = false;
	if (change)
		change(&d);
	assert_int_equal(memory_new(&m, &d), 0);
	return m;
}

static void every_level(void **state)
{
	struct memory *m = open_memory(NULL);
	struct access a = load(m, 1000, A);

	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 1000 + 9 + COLD_WALK);
	assert_int_equal(a.done, a.tlb_done + 170);

	a = load(m, 5000, A + 8);
	assert_false(a.tlb_miss);
	assert_int_equal(a.tlb_done, 5000);
	assert_int_equal(a.done, 5005);

	/* The next page's entry is in the same line of the same table, which L2 holds now. */
	a = load(m, 6000, A + PAGE);
	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 6000 + 9 + 8 + 14);

	/* Four more pages of A's set (16 sets) put it out of the first level; the second has it. */
	for (uint64_t i = 1; i <= 4; i++)
		load(m, 10000 + 1000 * i, A + i * 16 * PAGE);
	a = load(m, 20000, A);
	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 20009);
	assert_int_equal(a.done, 20009 + 5);
	memory_free(m);
}

static void walk_going_on(void **state)
{
	struct memory *m = open_memory(NULL);
	uint64_t done = 1009 + COLD_WALK;
	struct access a;

	a = load(m, 1000, A);
	assert_true(a.tlb_miss && !a.tlb_merged);
	a = load(m, 1200, A + 512);
	assert_true(a.tlb_miss && a.tlb_merged);
	assert_int_equal(a.tlb_done, done);
	/* An instruction of the same page: its own TLB misses, the second level's entry is on its way. */
	memory_fetch(m, 1300, A + 1024, &a);
	assert_true(a.tlb_miss && !a.tlb_merged);
	assert_int_equal(a.tlb_done, done);
	memory_fetch(m, 1400, A + 1088, &a);
	assert_true(a.tlb_miss && a.tlb_merged);
	a = load(m, done, A + 768);
	assert_false(a.tlb_miss || a.tlb_merged);
	/* Earlier than the first: as if the walk were its own. */
	m = (memory_free(m), open_memory(NULL));
	load(m, 5000, A);
	a = load(m, 1000, A + 8);
	assert_int_equal(a.tlb_done, 1009 + COLD_WALK);
	memory_free(m);
}

static void two_walkers(struct core_desc *d)
{
	d->walk_walkers = 2;
}

/* Pages 1 and 2 past A: a line of entries that is known, one load of 14 each. */
static void walkers(void **state)
{
	struct memory *m = open_memory(NULL);

	load(m, 1000, A);
	assert_int_equal(load(m, 5000, A + 1 * PAGE).tlb_done, 5009 + 22);
	assert_int_equal(load(m, 5000, A + 2 * PAGE).tlb_done, 5009 + 22 + 22);
	/* One that starts earlier does not wait for them. */
	assert_int_equal(load(m, 4000, A + 3 * PAGE).tlb_done, 4009 + 22);
	memory_free(m);

	m = open_memory(two_walkers);
	load(m, 1000, A);
	assert_int_equal(load(m, 5000, A + 1 * PAGE).tlb_done, 5009 + 22);
	assert_int_equal(load(m, 5000, A + 2 * PAGE).tlb_done, 5009 + 22 + 1); /* the bus of L2, a quarter of a cycle */
	assert_int_equal(load(m, 5000, A + 3 * PAGE).tlb_done, 5009 + 22 + 22);
	memory_free(m);
}

static void no_second_level(struct core_desc *d)
{
	d->stlb_entries = 0;
	d->walk_cached = 0;
}

static void walks_without_help(void **state)
{
	struct memory *m = open_memory(no_second_level);

	assert_int_equal(load(m, 1000, A).tlb_done, 1000 + COLD_WALK);
	/* All four levels again, from L2. */
	assert_int_equal(load(m, 5000, A + PAGE).tlb_done, 5000 + 8 + 4 * 14);
	memory_free(m);
}

static void no_l2(struct core_desc *d)
{
	d->l2_size = 0;
}

static void walks_through_l1d(void **state)
{
	struct memory *m = open_memory(no_l2);

	assert_int_equal(load(m, 1000, A).tlb_done, 1009 + COLD_WALK);
	assert_int_equal(load(m, 5000, A + PAGE).tlb_done, 5009 + 8 + 5);
	memory_free(m);
}

static void large_pages(struct core_desc *d)
{
	d->page_bits = 21;
}

static void pages_of_2_mib(void **state)
{
	struct memory *m = open_memory(large_pages);

	assert_int_equal(load(m, 1000, A).tlb_done, 1009 + 8 + 170 + 2 * 180);
	assert_false(load(m, 5000, A + 300 * PAGE).tlb_miss);
	assert_true(load(m, 5000, A + 512 * PAGE).tlb_miss);
	memory_free(m);
}

static void unmapped(void **state)
{
	struct memory *m = open_memory(NULL);
	struct access a;

	load(m, 1000, A);
	load(m, 3000, A + PAGE);
	load(m, 4000, A + 3 * PAGE);
	memory_fetch(m, 5000, A + PAGE, &a);
	memory_unmap(m, A + 100, 2);                         /* up to and with A + PAGE and what 100 bytes reach */
	a = load(m, 6000, A);
	assert_int_equal(a.tlb_done, 6009 + 8 + 4 * 14);     /* directories are forgotten too */
	a = load(m, 7000, A + PAGE);
	assert_int_equal(a.tlb_done, 7009 + 22);
	a = load(m, 8000, A + 3 * PAGE);
	assert_false(a.tlb_miss);
	memory_fetch(m, 9000, A + PAGE, &a);
	assert_int_equal(a.tlb_done, 9009);                  /* gone from its own TLB, back in the second level */
	memory_unmap(m, A, 0);
	assert_false(load(m, 9500, A).tlb_miss);
	memory_free(m);
}

static void stores_and_splits(void **state)
{
	struct memory *m = open_memory(NULL);
	struct access a;

	memory_own(m, 1000, A, 8, &a);
	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 1009 + COLD_WALK);
	assert_int_equal(a.done, a.tlb_done + 170);
	memory_store(m, 9000, A, 8, &a);
	assert_false(a.tlb_miss);
	assert_int_equal(a.done, 9001);
	/* A load over the end of the page: the second half walks. */
	load(m, 10000, A + PAGE - 8);
	memory_load(m, 20000, A + PAGE - 4, 8, PC, &a);
	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 20009 + 22);
	assert_int_equal(a.done, a.tlb_done + 160 + 7);      /* its row is that of A */
	memory_free(m);
}

static void ideal_dtlb(struct core_desc *d)
{
	d->ideal.dtlb = true;
}

static void ideal_itlb(struct core_desc *d)
{
	d->ideal.itlb = true;
}

static void small_dtlb(struct core_desc *d)
{
	d->dtlb_entries = d->dtlb_ways = 4;
}

/*
 * A store was translated when its address was known: by the time it is written the first TLB need not have its page. One whose page no TLB
 * has, as of a piece of a rep string, is translated then.
 */
static void written_without_a_lookup(void **state)
{
	struct memory *m = open_memory(small_dtlb);
	struct access a;

	memory_own(m, 1000, A, 8, &a);
	assert_true(a.tlb_miss);
	for (uint64_t i = 1; i < 12; i++)
		load(m, 2000 * i, A + i * (PAGE + 64));
	memory_store(m, 40000, A, 8, &a);
	assert_false(a.tlb_miss);
	assert_int_equal(a.done, 40001);
	assert_true(load(m, 41000, A).tlb_miss);
	memory_store(m, 50000, A + 12 * PAGE, 8, &a);
	assert_true(a.tlb_miss);
	assert_int_equal(a.tlb_done, 50009 + 22);
	memory_free(m);
}

static void ideals(void **state)
{
	struct memory *m = open_memory(ideal_dtlb);
	struct access a = load(m, 1000, A);

	assert_false(a.tlb_miss);
	assert_int_equal(a.tlb_done, 1000);
	memory_fetch(m, 1000, A, &a);
	assert_true(a.tlb_miss);
	memory_free(m);

	m = open_memory(ideal_itlb);
	memory_fetch(m, 1000, A, &a);
	assert_false(a.tlb_miss);
	assert_int_equal(a.tlb_done, 1000);
	assert_true(load(m, 1000, A).tlb_miss);
	memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level),
		cmocka_unit_test(walk_going_on),
		cmocka_unit_test(walkers),
		cmocka_unit_test(walks_without_help),
		cmocka_unit_test(walks_through_l1d),
		cmocka_unit_test(pages_of_2_mib),
		cmocka_unit_test(unmapped),
		cmocka_unit_test(stores_and_splits),
		cmocka_unit_test(ideals),
		cmocka_unit_test(written_without_a_lookup),
	};
	return cmocka_run_group_tests_name("core memory translation", tests, NULL, NULL);
}
