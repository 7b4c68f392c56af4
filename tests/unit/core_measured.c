/*
 * The detailed core and the costs of Skylake-SP against a Cascade Lake guest, measured by timing alone.
 *
 * Each sequence of data/cores/skylake-sp.measured runs through the model. What differs from the measured figure has a
 * note in the file that says why; a note on a row where neither the core, nor LLVM's costs, nor the published figure
 * differ would be out of date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "measured.h"

static struct measured rows;
static double model[MEASURED_ROWS];

static int read_all(void **state)
{
	g_autofree char *path = g_build_filename(getenv("CYCLEWISE_DATA"), "cores", "skylake-sp.measured", NULL);

	(void)state;
	if (measured_read(&rows, path) || measured_model(&rows, "skylake-sp", NULL, model)) {
		print_error("%s: %s\n", error_get()->what, error_get()->why);
		return -1;
	}
	return 0;
}

static int free_all(void **state)
{
	(void)state;
	measured_fini(&rows);
	return 0;
}

static void every_row_agrees_or_is_explained(void **state)
{
	unsigned unexplained = 0, explained = 0;

	(void)state;
	for (unsigned k = 0; k < rows.nr; k++) {
		if (measured_agrees(&rows.row[k], model[k]))
			continue;
		if (*rows.row[k].note) {
			explained++;
			continue;
		}
		print_error("%s: measured %.3f, model %.3f\n", rows.row[k].name, rows.row[k].low, model[k]);
		unexplained++;
	}
	assert_int_equal(unexplained, 0);
	/* An excuse for everything would be a test of nothing. */
	assert_true(explained * 5 < rows.nr);
}

static void names_are_unique(void **state)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	(void)state;
	for (unsigned k = 0; k < rows.nr; k++)
		assert_true(g_hash_table_add(seen, (gpointer)rows.row[k].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_agrees_or_is_explained),
		cmocka_unit_test(names_are_unique),
	};
	return cmocka_run_group_tests(tests, read_all, free_all);
}
