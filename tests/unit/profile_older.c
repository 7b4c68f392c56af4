/*
 * Profiles of the versions before: what they hold is read as it stands, what they lack as one process, no intervals and
 * nothing estimated.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "profile_digest.h"
#include "symbol_fixture.h"

/* Some of each table, for any version. */
static const char rows[] =
	"INSERT OR REPLACE INTO run (key, value) VALUES ('program', './shop'), ('units_per_cycle', 720720),"
		"('cycles_units', 100), ('instructions', 30), ('uops', 40),"
		"('arguments', '[\"a\"]'), ('complete', 1), ('exit_status', 0);"
	"INSERT INTO parameter (name, value) VALUES ('rob.entries', '224');"
	"INSERT INTO thread (thread, instructions, uops, units, slots_total, slots_filled, slots_issued, slots_retired,"
		"slots_recovery) VALUES (0, 20, 25, 60, 9, 8, 7, 6, 5), (1, 10, 15, 40, 4, 3, 2, 1, 0);"
	"INSERT INTO region (name, ordinal, entries, instructions, units, slots_total, slots_filled, slots_issued,"
		"slots_retired, slots_recovery) VALUES ('z', 0, 1, 2, 3, 4, 5, 6, 7, 8),"
		"('a', 1, 1, 1, 1, 1, 1, 1, 1, 1);"
	"INSERT INTO module (module, path, build_id) VALUES (1, '/bin/shop', 'c0ffee');"
	"INSERT INTO source (source, path) VALUES (1, 'shop.c');"
	"INSERT INTO function (function, module, symbol, linkage, address, size, source, line)"
		"VALUES (1, 1, 'total', 'total', 4096, 32, 1, 2);"
	"INSERT INTO insn (insn, module, address, pc, length, bytes, function, \"offset\", source, line, disassembly,"
		"form, unmodelled) VALUES (1, 1, 4096, 4096, 3, x'488b07', 1, 0, 1, 2, 'mov', 'MOV64rm', 0),"
		"(2, 1, 4099, 4099, 1, x'c3', 1, 3, 1, 3, 'ret', 'RET', 0);"
	"INSERT INTO inlined (insn, depth, symbol, source, line) VALUES (2, 0, 'square', 1, 7);"
	"INSERT INTO cycles (insn, signature, executions, units) VALUES (1, 0, 10, 30), (1, 64, 5, 50), (2, 0, 15, 20);"
	"INSERT INTO sample (method, insn, signature, weight) VALUES ('TEA', 1, 64, 720720), ('IBS', 2, 0, 360360);"
	"INSERT INTO state (thread, state, units) VALUES (0, 'stalled', 10), (0, 'compute', 50), (1, 'compute', 40);"
	"INSERT INTO component (method, component, units, ordinal) VALUES ('fmt', 'base', 90, 0),"
		"('fmt', 'l1d', 10, 1);"
	"INSERT INTO event (event, count, ordinal) VALUES ('ST-L1', 5, 0);"
	"INSERT INTO unmodelled (form, executions) VALUES ('SDOT', 10);"
	"INSERT INTO figure (method, name, value, ordinal) VALUES ('TEA', 'period', 1000, 0), ('', 'r', NULL, 1);"
	"INSERT INTO insn_figure (method, insn, name, value, ordinal) VALUES ('blocks', 1, 'leader', 1, 0);";

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void make_older(const char *name)
{
	char *command = g_strdup_printf("rm -f %%1/%s; sqlite3 %%1/%s < %%2/version1.sql", name, name);

	assert_true(fixture_run(command));
	execute(fixture_path(name), rows);
	g_free(command);
}

/* The same rows say the same, whatever the version. */
static void same_rows(void **state)
{
	char *older, *newer, *again;
	struct profile *p;

	make_older("older.cw");
	assert_int_equal(profile_create(&p, fixture_path("newer.cw")), 0);
	assert_int_equal(profile_close(p), 0);
	execute(fixture_path("newer.cw"), rows);
	older = profile_digest_file(fixture_path("older.cw"));
	newer = profile_digest_file(fixture_path("newer.cw"));
	assert_string_equal(older, newer);
	assert_non_null(strstr(older, "function /bin/shop total 100+-0: 0 50+-0 in 25+-0 64 50+-0 in 5+-0\n"));
	assert_int_equal(chmod(fixture_path("older.cw"), 0444), 0);
	assert_int_equal(chmod(fixture_folder(), 0555), 0);
	again = profile_digest_file(fixture_path("older.cw"));
	assert_int_equal(chmod(fixture_folder(), 0755), 0);
	assert_string_equal(older, again);
	g_free(older);
	g_free(newer);
	g_free(again);
}

static void what_they_lack(void **state)
{
	const struct query_process *processes;
	const struct query_interval *intervals;
	const struct query_figure *figures;
	const struct query_thread *threads;
	struct profile *p;
	struct query *q;
	size_t nr;

	make_older("lacking.cw");
	assert_int_equal(profile_open(&p, fixture_path("lacking.cw")), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_processes(q, &processes, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(processes[0].process, 0);
	assert_int_equal(processes[0].parent, PROCESS_NONE);
	assert_string_equal(processes[0].program, "./shop");
	assert_int_equal(query_threads(q, &threads, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(threads[0].process == 0 && threads[1].process == 0);
	assert_int_equal(query_intervals(q, &intervals, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(query_interval_figures(q, NULL, &figures, &nr), 0);
	assert_int_equal(nr, 0);
	query_free(q);
	profile_close(p);
}

/* One that is also damaged has the error of a damaged one. */
static void damaged(void **state)
{
	const struct query_thread *threads;
	const struct query_process *processes;
	struct profile *p;
	struct query *q;
	size_t nr;

	make_older("damaged.cw");
	execute(fixture_path("damaged.cw"), "DROP TABLE thread; CREATE TABLE process (x); CREATE TABLE interval (y)");
	assert_int_equal(profile_open(&p, fixture_path("damaged.cw")), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_threads(q, &threads, &nr), -EINVAL);
	assert_non_null(strstr(error_get()->why, "damaged profile: no such table"));
	assert_int_equal(query_processes(q, &processes, &nr), 0);
	assert_int_equal(nr, 1);
	query_free(q);
	profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_rows),
		cmocka_unit_test(what_they_lack),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
