/* The miss event table by hand: what stands in each row after each of the hardware's steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "method/fmt_table.h"

static void assert_pointers(const struct fmt_table *f, uint64_t head, uint64_t tail, uint64_t fetch)
{
	assert_int_equal(f->head, head);
	assert_int_equal(f->tail, tail);
	assert_int_equal(f->fetch, fetch);
}

/* Three branches, the second mispredicted: its wrong path's miss and branch leave no trace. */
static void test_rows(void **ctx)
{
	struct fmt_table f;

	fmt_table_init(&f, 4);
	assert_pointers(&f, 0, 0, 0);
	fmt_table_stall(&f, CPI_L1I, 9);
	fmt_table_stall(&f, CPI_ITLB, 30);
	assert_int_equal(fmt_table_fetch(&f), 0);
	assert_pointers(&f, 0, 0, 1);
	assert_int_equal(fmt_table_row(&f, 0)->local[CPI_L1I], 9);
	assert_int_equal(fmt_table_row(&f, 0)->local[CPI_ITLB], 30);
	fmt_table_dispatch(&f, 0, 100, 150);
	assert_int_equal(fmt_table_fetch(&f), 1);
	fmt_table_dispatch(&f, 1, 103, 160);
	assert_pointers(&f, 0, 2, 2);

	fmt_table_stall(&f, CPI_L2I, 250);     /* on the wrong path */
	assert_int_equal(fmt_table_fetch(&f), 2);
	assert_int_equal(fmt_table_row(&f, 2)->local[CPI_L2I], 250);
	assert_false(fmt_table_row(&f, 1)->mispredict);
	fmt_table_resolve(&f, 1);
	assert_true(fmt_table_row(&f, 1)->mispredict);
	assert_pointers(&f, 0, 2, 2);
	assert_int_equal(fmt_table_row(&f, 2)->local[CPI_L2I], 0);

	fmt_table_retire(&f, 200);             /* the mispredicted one waits for the right path */
	assert_pointers(&f, 1, 2, 2);
	fmt_table_stall(&f, CPI_L1I, 4);
	fmt_table_recover(&f, 140, 4);
	assert_int_equal(fmt_table_row(&f, 1)->penalty, 140 - 103 - 4);
	assert_int_equal(fmt_table_fetch(&f), 2);
	fmt_table_dispatch(&f, 2, 141, 210);
	fmt_table_retire(&f, 209);
	assert_pointers(&f, 2, 3, 3);
	assert_int_equal(f.total[CPI_L1I], 9);
	assert_int_equal(f.total[CPI_ITLB], 30);
	assert_int_equal(f.total[CPI_BRANCH], 33);
	fmt_table_retire(&f, 210);
	assert_pointers(&f, 3, 3, 3);
	assert_int_equal(f.total[CPI_L1I], 13);
	assert_int_equal(f.total[CPI_L2I], 0);
	fmt_table_fini(&f);
}

/* A squash by another than a branch leaves the row that was being filled as it was then. */
static void test_squash(void **ctx)
{
	struct fmt_table f;

	fmt_table_init(&f, 4);
	fmt_table_stall(&f, CPI_L1I, 5);
	assert_int_equal(fmt_table_fetch(&f), 0);
	fmt_table_dispatch(&f, 0, 1, 9);
	assert_int_equal(fmt_table_fetch(&f), 1);
	fmt_table_squash(&f, 0);
	assert_pointers(&f, 0, 0, 0);
	assert_int_equal(fmt_table_row(&f, 0)->local[CPI_L1I], 5);
	fmt_table_fini(&f);
}

/* Rows are used again; a full table has none to give, and goes on filling the same. */
static void test_full(void **ctx)
{
	struct fmt_table f;

	fmt_table_init(&f, 2);
	for (uint64_t id = 0; id < 100; id++) {
		fmt_table_stall(&f, CPI_L2I, 1);
		assert_int_equal(fmt_table_fetch(&f), id);
		fmt_table_dispatch(&f, id, 0, 10 * id);
		if (id) {
			assert_int_equal(fmt_table_fetch(&f), FMT_NO_ROW);
			fmt_table_retire(&f, 10 * id - 1);
		}
	}
	assert_int_equal(f.total[CPI_L2I], 99);
	assert_pointers(&f, 99, 100, 100);
	fmt_table_fini(&f);
}

static void test_size(void **ctx)
{
	struct core_desc d = { .rob_entries = 128, .queue_entries = 8, .fetch_queue = 8 };

	assert_int_equal(fmt_table_rows(&d), 208);
	d.fmt_rows = 16;
	assert_int_equal(fmt_table_rows(&d), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_squash), cmocka_unit_test(test_full), cmocka_unit_test(test_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
