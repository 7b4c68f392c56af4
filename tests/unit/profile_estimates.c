/*
 * Standard errors beside figures: written and read back, of single rows and of sums; exact figures have none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <sqlite3.h>

#include "profile/profile.h"
#include "profile/query.h"
#include "profile_digest.h"
#include "profile_fake.h"
#include "symbol_fixture.h"

/* Every row that can be an estimate, twice: an estimate, or exact, and an exact one. */
static void write_all(struct profile *p, bool estimated)
{
	static const struct slot_counts slots = { 100, 10, 20, 60, 10 };
	static const double errors[] = { 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5 };
	struct fake *f = fake_new();

	for (uint32_t i = 0; i < 4; i++)
		fake_insn(f, MODULE_NONE, 0, 0x1000 + i * 4, 0);
#define NEXT(nr) do { if (estimated) profile_estimate(p, errors, nr); } while (0)
	NEXT(2);
	assert_int_equal(profile_cycles(p, 0, 0, 100, 1000), 0);
	assert_int_equal(profile_cycles(p, 1, 0, 50, 500), 0);
	NEXT(2);
	assert_int_equal(profile_cycles(p, 2, 0, 20, 200), 0);
	NEXT(2);
	assert_int_equal(profile_cycles(p, 2, 64, 10, 300), 0);
	NEXT(8);
	assert_int_equal(profile_thread(p, 0, 100, 200, 1500, &slots), 0);
	NEXT(8);
	assert_int_equal(profile_thread(p, 1, 80, 90, 500, &slots), 0);
	assert_int_equal(profile_thread(p, 2, 1, 2, 3, &slots), 0);
	NEXT(8);
	assert_int_equal(profile_region(p, "r", 1, 2, 3, &slots), 0);
	assert_int_equal(profile_region(p, "s", 1, 2, 3, &slots), 0);
	NEXT(1);
	assert_int_equal(profile_state(p, 0, "compute", 10), 0);
	assert_int_equal(profile_state(p, 0, "stalled", 10), 0);
	NEXT(1);
	assert_int_equal(profile_component(p, "fmt", "base", 10), 0);
	NEXT(1);
	assert_int_equal(profile_component(p, "fmt", "l1d", 10), 0);
	assert_int_equal(profile_component(p, "sfmt", "base", 10), 0);
	NEXT(1);
	assert_int_equal(profile_event(p, "ST-L1", 10), 0);
	assert_int_equal(profile_event(p, "ST-LLC", 10), 0);
	NEXT(1);
	assert_int_equal(profile_unmodelled(p, "SDOT", 10), 0);
	assert_int_equal(profile_unmodelled(p, "UDOT", 10), 0);
	NEXT(1);
	assert_int_equal(profile_figure(p, "topdown", "latency", 10), 0);
	assert_int_equal(profile_figure(p, "topdown", "branch", 10), 0);
	NEXT(1);
	assert_int_equal(profile_insn_figure(p, "chains", 1, "share", 0.5), 0);
	assert_int_equal(profile_insn_figure(p, "chains", 2, "share", 0.5), 0);
	NEXT(2);
	assert_int_equal(profile_interval(p, 0, 0, 0, 0, 50, 500), 0);
	assert_int_equal(profile_interval(p, 1, 0, 50, 500, 50, 1000), 0);
	NEXT(2);
	assert_int_equal(profile_interval_cycles(p, 0, 0, 50, 300), 0);
	NEXT(2);
	assert_int_equal(profile_interval_cycles(p, 0, 64, 50, 200), 0);
	NEXT(1);
	assert_int_equal(profile_interval_figure(p, "topdown", 0, "latency", 5), 0);
	assert_int_equal(profile_interval_figure(p, "topdown", 1, "latency", 5), 0);
#undef NEXT
	assert_int_equal(profile_totals(p), 0);
	assert_int_equal(profile_instructions(p, fake_code(f), fake_maps(f), 0), 0);
	fake_free(f);
}

static char *written(const char *path, bool estimated)
{
	struct profile *p;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	write_all(p, estimated);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	return profile_digest_file(path);
}

static const char slots_exact[] = " 100+-0 10+-0 20+-0 60+-0 10+-0\n";
static const char slots_estimated[] = " 100+-3.5 10+-4.5 20+-5.5 60+-6.5 10+-7.5\n";

/* The errors of sums are sums: of the run 2.5 and 2.5 of cycles, of the function three times 1.5. */
static void round_trip(void **state)
{
	char *text = written(fixture_path("estimates.cw"), true);
	char *expected = g_strconcat(
		"run - 2003+-5 181+-1 292+-3\n"
		"function (null) (null) 2000+-4.5: 0 1700+-3 in 170+-1 64 300+-1.5 in 10+-0.5\n"
		"line (null):0 2000+-4.5: 0 1700+-3 in 170+-1 64 300+-1.5 in 10+-0.5\n"
		"insn 0 op 0 1000 1000+-1.5: 0 1000+-1.5 in 100+-0.5\n"
		"insn 1 op 1 1004 500+-0: 0 500+-0 in 50+-0\n"
		"insn 2 op 2 1008 500+-3: 0 200+-1.5 in 20+-0.5 64 300+-1.5 in 10+-0.5\n"
		"thread 0 100+-0.5 200+-1.5 1500+-2.5", slots_estimated,
		"thread 1 80+-0.5 90+-1.5 500+-2.5", slots_estimated,
		"thread 2 1+-0 2+-0 3+-0", slots_exact,
		"region r 1+-0.5 2+-1.5 3+-2.5", slots_estimated,
		"region s 1+-0 2+-0 3+-0", slots_exact,
		"state 0 compute 10+-0.5\nstate 0 stalled 10+-0\n"
		"event ST-L1 10+-0.5\nevent ST-LLC 10+-0\n"
		"unmodelled SDOT 10+-0.5\nunmodelled UDOT 10+-0\n"
		"components fmt 20+-1\ncomponents sfmt 10+-0\n"
		"fmt base 10+-0.5\nfmt l1d 10+-0.5\nsfmt base 10+-0\n"
		"topdown latency 10+-0.5\ntopdown branch 10+-0\n"
		"chains share of 1 0.5+-0.5\nchains share of 2 0.5+-0\n", NULL);

	assert_string_equal(text, expected);
	g_free(text);
	g_free(expected);
}

static void of_intervals(void **state)
{
	const char *path = fixture_path("intervals.cw");
	char *text = written(path, true);
	const struct query_interval *rows;
	const struct query_figure *figures;
	struct profile *p;
	struct query *q;
	size_t nr;

	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_intervals(q, &rows, &nr), 0);
	assert_int_equal(nr, 2);
	assert_float_equal(rows[0].instructions_error, 0.5, 1e-9);
	assert_float_equal(rows[0].units_error, 1.5, 1e-9);
	assert_float_equal(rows[0].stack.units_error, 3, 1e-9);
	assert_float_equal(rows[0].stack.share[1].units_error, 1.5, 1e-9);
	assert_float_equal(rows[0].stack.share[1].executions_error, 0.5, 1e-9);
	assert_true(rows[1].instructions_error <= 0 && rows[1].units_error <= 0 && rows[1].stack.units_error <= 0);
	assert_int_equal(query_interval_figures(q, "topdown", &figures, &nr), 0);
	assert_int_equal(nr, 2);
	assert_float_equal(figures[0].value_error, 0.5, 1e-9);
	assert_true(figures[1].value_error <= 0);
	query_free(q);
	profile_close(p);
	g_free(text);
}

/* How many cells of columns x_error there are, by whether they say anything; and keys of `run`. */
static void count_cells(const char *path, unsigned *empty, unsigned *full)
{
	static const char columns[] = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
		"WHERE m.type = 'table' AND c.name LIKE '%\\_error' ESCAPE '\\'";
	static const char of_run[] = "SELECT count(*) FROM run WHERE key LIKE '%error'";
	sqlite3_stmt *s, *t;
	sqlite3 *db;
	char *sql;

	*empty = *full = 0;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, columns, -1, &s, NULL), SQLITE_OK);
	while (sqlite3_step(s) == SQLITE_ROW) {
		sql = g_strdup_printf("SELECT sum(%s IS NULL), sum(%s IS NOT NULL) FROM %s", sqlite3_column_text(s, 1),
		                      sqlite3_column_text(s, 1), sqlite3_column_text(s, 0));
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &t, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_step(t), SQLITE_ROW);
		*empty += (unsigned)sqlite3_column_int(t, 0);
		*full += (unsigned)sqlite3_column_int(t, 1);
		sqlite3_finalize(t);
		g_free(sql);
	}
	sqlite3_finalize(s);
	assert_int_equal(sqlite3_prepare_v2(db, of_run, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	*full += (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
}

/* Exact figures: nothing at all stands beside them, in the file as in what is read. */
static void exact(void **state)
{
	const char *path = fixture_path("exact.cw");
	char *text = written(path, false), **lines = g_strsplit(text, "+-", -1);
	unsigned empty, full;

	for (char **l = lines + 1; *l; l++)
		assert_true(l[0][0] == '0' && l[0][1] != '.');
	count_cells(path, &empty, &full);
	assert_int_equal(full, 0);
	g_free(written(fixture_path("both.cw"), true));
	count_cells(fixture_path("both.cw"), &empty, &full);
	/* Three rows of `cycles`, two threads, a region, three rows of intervals with two, 8 with one; the run. */
	assert_int_equal(full, 3 * 2 + 2 * 8 + 8 + 3 * 2 + 8 + 3);
	g_strfreev(lines);
	g_free(text);
}

/* What is no error counts as none: of some figures of a row, and as a file may have them. */
static void no_errors(void **state)
{
	static const char strange[] =
		"UPDATE cycles SET units_error = 'x', executions_error = 9e999 WHERE signature = 0;"
		"UPDATE cycles SET units_error = -5, executions_error = x'ff' WHERE signature = 1;"
		"INSERT INTO run VALUES ('cycles_units_error', 'inf'), ('uops_error', -1),"
			"('instructions_error', '1e3x')";
	static const double some[] = { (double)NAN, 2 }, negative[] = { -1, 0 };
	const char *path = fixture_path("none.cw");
	struct profile *p;
	sqlite3 *db;
	char *text;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	profile_estimate(p, some, 2);
	assert_int_equal(profile_cycles(p, 0, 0, 10, 100), 0);
	profile_estimate(p, negative, 2);
	assert_int_equal(profile_cycles(p, 0, 1, 10, 100), 0);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	text = profile_digest_file(path);
	assert_non_null(g_strrstr(text, " 200+-2: 0 100+-2 in 10+-0 1 100+-0 in 10+-0\n"));
	g_free(text);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, strange, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	text = profile_digest_file(path);
	assert_non_null(g_strrstr(text, " 200+-0: 0 100+-0 in 10+-0 1 100+-0 in 10+-0\n"));
	assert_true(g_str_has_prefix(text, "run - 0+-0 0+-1000 0+-0\n"));
	g_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(of_intervals),
		cmocka_unit_test(exact),
		cmocka_unit_test(no_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
