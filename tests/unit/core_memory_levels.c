/* What each level keeps and hands on: victims, dirt, absent levels, ideals, prefetches by L2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cache/hierarchy.h"
#include "core/cache/memory.h"
#include "core_memory_desc.h"

enum { L1_STEP = 4096 / 64, L2_STEP = 65536 / 64, A = 0x100000 / 64 };   /* lines */

static void open_hierarchy(struct hierarchy *h, void (*change)(struct core_desc *))
{
	struct core_desc d;

	desc_plain(&d);
	if (change)
		change(&d);
	assert_int_equal(hierarchy_init(h, &d, 20000), 0);
}

static struct reply read(struct hierarchy *h, uint64_t cycle, uint64_t line)
{
	struct reply r;

	hierarchy_read(h, cycle, line, READ_DATA, &r);
	return r;
}

static bool has(struct hierarchy *h, uint32_t depth, uint64_t line)
{
	return cache_find(&h->lower[depth].lines, line) >= 0;
}

static bool dirty(struct hierarchy *h, uint32_t depth, uint64_t line)
{
	int64_t at = cache_find(&h->lower[depth].lines, line);
	assert_true(at >= 0);
	return h->lower[depth].lines.lines[at].dirty;
}

static void every_miss_fills(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, NULL);
	r = read(&h, 1000, A);
	assert_int_equal(r.fill, 1170);
	assert_int_equal(r.from, LEVEL_MEMORY);
	assert_true(has(&h, 0, A) && has(&h, 1, A));
	/* Clean lines vanish when L2 evicts them, and the last level has them still. */
	for (uint64_t i = 1; i <= 16; i++)
		read(&h, 1000 + 1000 * i, A + i * L2_STEP);
	assert_true(!has(&h, 0, A) && has(&h, 1, A));
	r = read(&h, 30000, A);
	assert_int_equal(r.fill, 30080);
	assert_int_equal(r.from, LEVEL_LLC);
	assert_false(r.dirty);
	assert_true(has(&h, 0, A) && has(&h, 1, A));
	hierarchy_fini(&h);
}

static void dirt_comes_down(void **state)
{
	struct hierarchy h;

	open_hierarchy(&h, NULL);
	read(&h, 1000, A);
	hierarchy_write(&h, 2000, A, false);
	assert_false(dirty(&h, 0, A));
	hierarchy_write(&h, 3000, A, true);
	assert_true(dirty(&h, 0, A));
	assert_false(dirty(&h, 1, A));
	for (uint64_t i = 1; i <= 16; i++)
		read(&h, 4000 + 1000 * i, A + i * L2_STEP);
	assert_true(dirty(&h, 1, A));
	/* A dirty line that L2 has lost meanwhile takes a place there. */
	hierarchy_write(&h, 40000, A, true);
	assert_true(dirty(&h, 0, A));
	hierarchy_fini(&h);
}

static void tiny(struct core_desc *d)
{
	d->l2_size = 0;
	d->llc_size = 2 * 64;
	d->llc_ways = 2;
	d->dram_writes = 1;
	d->dram_bandwidth = 640;                             /* a line takes 100 cycles */
}

/* What falls out of the last level dirty is written to memory and keeps the channel from a read. */
static void memory_is_written(void **state)
{
	for (int dirt = 0; dirt < 2; dirt++) {
		struct hierarchy h;

		open_hierarchy(&h, tiny);
		read(&h, 1000, A);
		read(&h, 3000, A + 1);
		hierarchy_write(&h, 4000, A, dirt);
		assert_int_equal(read(&h, 5000, A + 2).fill, 5160);  /* evicts A; written from 5160 to 5260 if dirty */
		/* Data would be there at 5260, the channel having passed them since 5160. */
		assert_int_equal(read(&h, 5100, A + 3).fill, dirt ? 5190 + 70 + 100 : 5260);
		hierarchy_fini(&h);
	}
}

static void victim_llc(struct core_desc *d)
{
	d->llc_victim = 1;
}

static void last_level_of_victims(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, victim_llc);
	read(&h, 1000, A);
	assert_true(has(&h, 0, A) && !has(&h, 1, A));
	for (uint64_t i = 1; i <= 16; i++)
		read(&h, 1000 + 1000 * i, A + i * L2_STEP);
	assert_true(!has(&h, 0, A) && has(&h, 1, A));
	/* Taken back, and with it its dirt. */
	hierarchy_write(&h, 29000, A + L2_STEP, true);
	assert_true(dirty(&h, 0, A + L2_STEP));
	r = read(&h, 30000, A);
	assert_int_equal(r.fill, 30080);
	assert_int_equal(r.from, LEVEL_LLC);
	assert_true(has(&h, 0, A) && !has(&h, 1, A));
	assert_true(!has(&h, 0, A + L2_STEP) && dirty(&h, 1, A + L2_STEP));
	r = read(&h, 31000, A + L2_STEP);
	assert_int_equal(r.from, LEVEL_LLC);
	assert_false(r.dirty);
	assert_true(dirty(&h, 0, A + L2_STEP) && !has(&h, 1, A + L2_STEP));
	hierarchy_fini(&h);
}

static void victims_without_l2(struct core_desc *d)
{
	d->l2_size = 0;
	d->llc_victim = 1;
}

static void last_level_takes_victims_of_l1(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, victims_without_l2);
	r = read(&h, 1000, A);
	assert_int_equal(r.fill, 1170);
	assert_false(has(&h, 0, A));
	hierarchy_write(&h, 2000, A, true);
	assert_true(dirty(&h, 0, A));
	r = read(&h, 3000, A);
	assert_int_equal(r.fill, 3080);
	assert_true(r.dirty);
	assert_false(has(&h, 0, A));
	hierarchy_fini(&h);
}

static void no_l2(struct core_desc *d) { d->l2_size = 0; }
static void no_llc(struct core_desc *d) { d->llc_size = 0; }
static void neither(struct core_desc *d) { d->l2_size = d->llc_size = 0; }

static void absent_levels(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, no_l2);
	assert_int_equal(read(&h, 1000, A).fill, 1170);
	r = read(&h, 2000, A);
	assert_int_equal(r.fill, 2080);
	assert_int_equal(r.from, LEVEL_LLC);
	hierarchy_fini(&h);

	open_hierarchy(&h, no_llc);
	r = read(&h, 1000, A);
	assert_int_equal(r.fill, 1000 + 14 + 90);
	assert_int_equal(r.from, LEVEL_MEMORY);
	r = read(&h, 2000, A);
	assert_int_equal(r.fill, 2014);
	assert_int_equal(r.from, LEVEL_L2);
	hierarchy_fini(&h);

	open_hierarchy(&h, neither);
	assert_int_equal(read(&h, 1000, A).fill, 1090);
	r = read(&h, 2000, A);
	assert_int_equal(r.fill, 2080);
	assert_int_equal(r.from, LEVEL_MEMORY);
	hierarchy_write(&h, 3000, A, true);
	hierarchy_fini(&h);
}

static void two_misses(struct core_desc *d)
{
	d->l2_mshrs = 2;
}

static void super_queue(void **state)
{
	struct hierarchy h;

	open_hierarchy(&h, two_misses);
	assert_int_equal(read(&h, 1000, A).fill, 1170);
	assert_int_equal(read(&h, 1000, A + 1).fill, 1171);
	/* Held from the miss in L2 to the fill: 1014 to 1170. */
	assert_int_equal(read(&h, 1000, A + 2).fill, 1170 + 66 + 80);
	hierarchy_fini(&h);
}

static void pair(struct core_desc *d)
{
	d->prefetch_l2_adjacent = 1;
}

static void other_line_of_the_pair(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, pair);
	read(&h, 1000, A + 1);
	assert_true(has(&h, 0, A) && !has(&h, 0, A + 2));
	/* It was asked for when L2 had missed: behind the first, in the same row. */
	r = read(&h, 1020, A);
	assert_int_equal(r.fill, 1171);
	assert_int_equal(r.from, LEVEL_MEMORY);
	assert_true(r.pending);
	/* A hit triggers nothing. */
	cache_drop(&h.lower[0].lines, (uint64_t)cache_find(&h.lower[0].lines, A));
	read(&h, 3000, A + 1);
	assert_false(has(&h, 0, A));
	hierarchy_fini(&h);
}

static void stream(struct core_desc *d)
{
	d->prefetch_l2_stream = 32;
	d->l2_mshrs = 4;
	d->llc_mshrs = 8;
}

static void streamer(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, stream);
	read(&h, 1000, A);
	read(&h, 2000, A + 1);
	assert_false(has(&h, 0, A + 2));
	read(&h, 3000, A + 2);                               /* the demand and two ahead: 3 of the 4 registers */
	assert_true(has(&h, 0, A + 3) && has(&h, 0, A + 4) && !has(&h, 0, A + 5));
	/* A register is kept for demand: what comes next goes to the last level. */
	r = read(&h, 3001, A + 3);
	assert_true(r.pending);
	assert_true(!has(&h, 0, A + 5) && has(&h, 1, A + 5) && has(&h, 1, A + 6) && !has(&h, 1, A + 7));
	/* There it is not asked for again. */
	r = read(&h, 3010, A + 5);
	assert_true(r.pending);
	assert_int_equal(r.from, LEVEL_MEMORY);
	/* Walks train nothing. */
	for (uint64_t i = 0; i < 8; i++)
		hierarchy_read(&h, 9000 + 1000 * i, 2 * A + i, READ_WALK, &r);
	assert_false(has(&h, 0, 2 * A + 8));
	hierarchy_fini(&h);
}

static void one_register(struct core_desc *d)
{
	d->prefetch_l2_stream = 32;
	d->l2_mshrs = d->llc_mshrs = 1;
}

static void prefetch_is_dropped(void **state)
{
	struct hierarchy h;

	open_hierarchy(&h, one_register);
	for (uint64_t i = 0; i < 3; i++)
		read(&h, 1000 + 1000 * i, A + i);
	assert_false(has(&h, 0, A + 3) || has(&h, 1, A + 3));
	hierarchy_fini(&h);
}

static void ideal_l2d(struct core_desc *d) { d->ideal.l2d = true; }
static void ideal_l2i(struct core_desc *d) { d->ideal.l2i = true; }
static void ideal_without_l2(struct core_desc *d) { d->ideal.l2d = d->ideal.l2i = true; d->l2_size = 0; }

static void ideals(void **state)
{
	struct hierarchy h;
	struct reply r;

	open_hierarchy(&h, ideal_l2d);
	r = read(&h, 1000, A);
	assert_int_equal(r.fill, 1014);
	assert_int_equal(r.from, LEVEL_L2);
	hierarchy_read(&h, 1000, A, READ_CODE, &r);
	assert_int_equal(r.from, LEVEL_MEMORY);
	hierarchy_fini(&h);

	open_hierarchy(&h, ideal_l2i);
	hierarchy_read(&h, 1000, A, READ_CODE, &r);
	assert_int_equal(r.fill, 1014);
	assert_int_equal(r.from, LEVEL_L2);
	hierarchy_read(&h, 1000, A, READ_WALK, &r);
	assert_int_equal(r.from, LEVEL_MEMORY);
	assert_int_equal(read(&h, 2000, A + L2_STEP).from, LEVEL_MEMORY);
	hierarchy_fini(&h);

	/* Where there is no L2, the last level is what always hits. */
	open_hierarchy(&h, ideal_without_l2);
	r = read(&h, 1000, A);
	assert_int_equal(r.fill, 1080);
	assert_int_equal(r.from, LEVEL_LLC);
	hierarchy_fini(&h);
}

static void ideal_l1(void **state)
{
	struct core_desc d;
	struct memory *m;
	struct access a;

	desc_plain(&d);
	d.ideal.l1d = true;
	assert_int_equal(memory_new(&m, &d), 0);
	memory_load(m, 1000, A * 64, 8, 0, &a);
	assert_int_equal(a.done, 1005);
	assert_int_equal(a.level, LEVEL_L1);
	assert_false(a.l1_miss);
	memory_own(m, 1000, A * 64 + 64, 8, &a);
	assert_int_equal(a.done, 1000);
	memory_store(m, 1000, A * 64 + 64, 8, &a);
	assert_int_equal(a.done, 1001);
	memory_fetch(m, 1000, A * 64, &a);
	assert_int_equal(a.level, LEVEL_MEMORY);
	memory_free(m);

	desc_plain(&d);
	d.ideal.l1i = true;
	assert_int_equal(memory_new(&m, &d), 0);
	memory_fetch(m, 1000, A * 64, &a);
	assert_int_equal(a.done, 1001);
	assert_int_equal(a.level, LEVEL_L1);
	assert_false(a.l1_miss);
	memory_load(m, 1000, A * 64, 8, 0, &a);
	assert_int_equal(a.level, LEVEL_MEMORY);
	memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_miss_fills),
		cmocka_unit_test(dirt_comes_down),
		cmocka_unit_test(memory_is_written),
		cmocka_unit_test(last_level_of_victims),
		cmocka_unit_test(last_level_takes_victims_of_l1),
		cmocka_unit_test(absent_levels),
		cmocka_unit_test(super_queue),
		cmocka_unit_test(other_line_of_the_pair),
		cmocka_unit_test(streamer),
		cmocka_unit_test(prefetch_is_dropped),
		cmocka_unit_test(ideals),
		cmocka_unit_test(ideal_l1),
	};
	return cmocka_run_group_tests_name("core memory levels", tests, NULL, NULL);
}
