/* The table of sums by key: against GLib's, through many doublings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glib.h>

#include "method/tally.h"
#include "stream.h"

static void test_random(void **ctx)
{
	GHashTable *reference = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	uint64_t random = 42;
	struct tally t;
	size_t nr;

	tally_init(&t);
	for (unsigned i = 0; i < 400000; i++) {
		uint32_t insn = (uint32_t)stream_random(&random, i % 2 ? 50 : UINT32_MAX);
		uint64_t key = tally_key(insn, (uint16_t)(1 + stream_random(&random, 511)));
		struct tally_row *row = tally_row(&t, key);
		uint64_t *sum = g_hash_table_lookup(reference, &key);

		assert_int_equal(row->key, key);
		assert_int_equal(tally_insn(key), insn);
		if (!sum) {
			uint64_t *copy = g_new(uint64_t, 1);
			*copy = key;
			sum = g_new0(uint64_t, 1);
			g_hash_table_insert(reference, copy, sum);
		}
		assert_int_equal(row->count, *sum);
		row->count++;
		row->units += i;
		++*sum;
	}
	struct tally_row *rows = tally_sorted(&t, &nr);
	assert_int_equal(nr, g_hash_table_size(reference));
	assert_true(nr > 200000 && t.mask + 1 <= 4 * nr);
	uint64_t units = 0;
	for (size_t i = 0; i < nr; i++) {
		assert_true(i == 0 || rows[i - 1].key < rows[i].key);
		assert_int_equal(rows[i].count, *(uint64_t *)g_hash_table_lookup(reference, &rows[i].key));
		units += rows[i].units;
	}
	assert_int_equal(units, 400000ull * 399999 / 2);
	g_free(rows);
	tally_fini(&t);
	g_hash_table_destroy(reference);
}

static void test_array(void **ctx)
{
	uint64_t *a = tally_array_new(sizeof(*a));

	assert_non_null(a);
	assert_int_equal(a[TALLY_INSNS - 1], 0);
	a[TALLY_INSNS - 1] = 7;
	assert_int_equal(a[TALLY_INSNS - 1], 7);
	tally_array_free(a, sizeof(*a));
	tally_array_free(NULL, sizeof(*a));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_array) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
