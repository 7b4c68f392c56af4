/* Prefetching into the L1 caches from the pipeline's side: what triggers it, what it needs, when the line is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/cache/memory.h"
#include "core_memory_desc.h"

enum { A = 0x100000 };

/* Whether a load that starts at `cycle` finds its line there; asks nothing of the prefetchers, by way of a store's request. */
static bool there(struct memory *m, uint64_t cycle, uint64_t addr)
{
	struct access a;

	memory_own(m, cycle, addr, 8, &a);
	return a.level == LEVEL_L1;
}

static void stride(struct core_desc *d)
{
	d->prefetch_l1_stride = 24;
}

static void by_stride(void **state)
{
	struct memory *m = memory_plain(stride);
	struct access a;

	/* Five lines apart: the third access fetches the fourth's line. */
	load_by(m, 1000, A, PC);
	load_by(m, 2000, A + 320, PC);
	load_by(m, 3000, A + 640, PC);
	a = load_by(m, 3020, A + 960, PC);
	assert_int_equal(a.level, LEVEL_FILL_BUFFER);
	assert_true(a.l1_miss && a.llc_miss);
	assert_int_equal(a.done, 3000 + 161);                /* a burst behind the third's own line */
	assert_true(there(m, 4000, A + 1280));
	/* Other instructions, the same addresses: nothing. */
	for (uint64_t i = 0; i < 4; i++)
		load_by(m, 5000 + 1000 * i, A + 0x10000 + i * 320, PC + 4 * i);
	assert_false(there(m, 9000, A + 0x10000 + 4 * 320));
	memory_free(m);
}

/* Steps within a line ask for nothing until they leave it. */
static void by_small_stride(void **state)
{
	struct memory *m = memory_plain(stride);

	for (uint64_t i = 0; i < 7; i++)
		load_by(m, 1000 + 200 * i, A + 8 * i, PC);
	assert_false(there(m, 3000, A + 64));
	memory_free(m);

	m = memory_plain(stride);
	for (uint64_t i = 0; i < 8; i++)
		load_by(m, 1000 + 200 * i, A + 8 * i, PC);
	assert_true(there(m, 3000, A + 64));
	memory_free(m);
}

static void next(struct core_desc *d)
{
	d->prefetch_l1_next = 1;
}

static void next_line(void **state)
{
	struct memory *m = memory_plain(next);

	load_by(m, 1000, A, PC);
	load_by(m, 2000, A + 8, PC + 4);
	assert_true(there(m, 3000, A + 64));
	assert_false(there(m, 3000, A + 128));
	/* The prefetched line leads to the next when it is read upwards itself. */
	load_by(m, 4000, A + 64, PC);
	load_by(m, 4100, A + 72, PC);
	assert_true(there(m, 5000, A + 128));
	/* Downwards: nothing. The page's last line: nothing. */
	load_by(m, 6000, A + 1024 + 32, PC);
	load_by(m, 6300, A + 1024 + 16, PC);
	assert_false(there(m, 7000, A + 1024 + 64));
	load_by(m, 8000, A + 4096 - 64, PC);
	load_by(m, 8300, A + 4096 - 32, PC);
	assert_false(there(m, 9000, A + 4096));
	memory_free(m);
}

static void next_miss(struct core_desc *d)
{
	d->prefetch_l1_next = 2;
}

static void next_line_on_miss(void **state)
{
	struct memory *m = memory_plain(next_miss);
	struct access a;

	load_by(m, 1000, A, PC);
	a = load_by(m, 1001, A + 64, PC);
	assert_int_equal(a.level, LEVEL_FILL_BUFFER);
	assert_int_equal(a.done, 1171);
	/* The line was there: no miss, no prefetch. */
	load_by(m, 2000, A + 64, PC);
	assert_false(there(m, 3000, A + 128));
	/* A store's miss counts as well; `there` was one. */
	assert_true(there(m, 4000, A + 192));
	/* Not over the page. */
	load_by(m, 5000, A + 4096 - 64, PC);
	assert_false(there(m, 6000, A + 4096));
	memory_free(m);
}

static void next_miss_one(struct core_desc *d)
{
	d->prefetch_l1_next = 2;
	d->l1d_mshrs = 1;
}

static void no_register_no_prefetch(void **state)
{
	struct memory *m = memory_plain(next_miss_one);

	load_by(m, 1000, A, PC);
	assert_false(there(m, 5000, A + 64));
	memory_free(m);
}

static void code_next(struct core_desc *d)
{
	d->prefetch_l1i_next = 2;
}

static void code_lines(void **state)
{
	struct memory *m = memory_plain(code_next);
	struct access a;

	memory_fetch(m, 1000, A, &a);
	assert_int_equal(a.done, 1170);
	memory_fetch(m, 2000, A + 64, &a);
	assert_int_equal(a.level, LEVEL_L1);
	memory_fetch(m, 2000, A + 128, &a);
	assert_int_equal(a.level, LEVEL_L1);
	memory_fetch(m, 2000, A + 192, &a);
	assert_int_equal(a.level, LEVEL_MEMORY);
	memory_fetch(m, 3000, A + 4096 - 128, &a);
	memory_fetch(m, 4000, A + 4096 - 64, &a);
	assert_int_equal(a.level, LEVEL_L1);
	memory_fetch(m, 4000, A + 4096, &a);
	assert_int_equal(a.level, LEVEL_MEMORY);
	memory_free(m);
}

static void one_each(struct core_desc *d)
{
	d->l1d_mshrs = d->l1i_mshrs = 1;
}

/* A software prefetch waits for a miss register, as the load would; one of code by the front end does not. */
static void asked_for(void **state)
{
	struct memory *m = memory_plain(one_each);
	struct access a;

	memory_prefetch(m, 1000, A, false);
	memory_prefetch(m, 1000, A + 64, false);
	a = load_by(m, 1010, A, PC);
	assert_int_equal(a.level, LEVEL_FILL_BUFFER);
	assert_int_equal(a.done, 1170);
	assert_int_equal(load_by(m, 1010, A + 64, PC).done, 1170 + 160);
	memory_prefetch(m, 3000, A + 1024, true);
	memory_prefetch(m, 3000, A + 1088, true);
	memory_fetch(m, 4000, A + 1024, &a);
	assert_int_equal(a.level, LEVEL_L1);
	memory_fetch(m, 4000, A + 1088, &a);
	assert_int_equal(a.level, LEVEL_MEMORY);
	memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_stride),
		cmocka_unit_test(by_small_stride),
		cmocka_unit_test(next_line),
		cmocka_unit_test(next_line_on_miss),
		cmocka_unit_test(no_register_no_prefetch),
		cmocka_unit_test(code_lines),
		cmocka_unit_test(asked_for),
	};
	return cmocka_run_group_tests_name("core memory prefetch", tests, NULL, NULL);
}
