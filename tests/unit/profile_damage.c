/*
 * Files that are no profile, or no longer one: each has its error, and no damage makes a reader crash. What the
 * damage leaves readable may say anything, so only that the readers end and report is asserted of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib.h>
#include <sqlite3.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "profile_fake.h"
#include "record/timed.h"
#include "symbol_fixture.h"

enum { MUTANTS = 1500, OLDER_MUTANTS = 300, INSNS = 300, INTERVALS = 100, NOBODY = 65534 };

/* Two processes, intervals, estimates. */
static void write_intervals(struct profile *p)
{
	static const double errors[] = { 1, 2 };

	profile_process(p, 0, PROCESS_NONE, "one");
	profile_process(p, 1, 0, "two");
	profile_thread_process(p, 0, 1);
	for (uint32_t i = 0; i < INTERVALS; i++) {
		profile_estimate(p, errors, 2);
		profile_interval(p, i, 0, i * 100, i * 1000, 100, 1000);
		profile_estimate(p, errors, 2);
		profile_interval_cycles(p, i, 0, 90, 400);
		profile_interval_cycles(p, i, 3, 10, 600);
		profile_interval_figure(p, "topdown", i, "latency", i);
	}
}

static void make_profile(const char *path)
{
	static const struct slot_counts slots = { 5, 4, 3, 2, 1 };
	static const char *const arguments[] = { "one", "two", NULL };
	struct fake *f = fake_new();
	struct profile *p;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	for (uint32_t i = 0; i < INSNS; i++) {
		fake_insn(f, MODULE_NONE, 0, 0x1000 + i * 4, 0);
		profile_cycles(p, i, 0, i, i * 7);
		profile_cycles(p, i, 3, 1, 5);
		profile_sample(p, "TEA", i, 0, i);
		profile_insn_figure(p, "ProfileMe", i, "x", i);
	}
	assert_int_equal(profile_instructions(p, fake_code(f), fake_maps(f), 0), 0);
	profile_set_list(p, "arguments", arguments);
	profile_thread(p, 0, 1, 2, 3, &slots);
	profile_region(p, "r", 1, 2, 3, &slots);
	profile_state(p, 0, "compute", 1);
	profile_event(p, "DR-L1", 1);
	profile_component(p, "fmt", "base", 1);
	profile_figure(p, "TEA", "period", 1);
	profile_parameter(p, "rob.entries", "1");
	profile_unmodelled(p, "FORM", 1);
	write_intervals(p);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	fake_free(f);
}

static void check_process(const struct query_process *process)
{
	assert_true(process->parent < process->process || process->parent == PROCESS_NONE);
}

/* Whatever stands there, its shares are signatures that there are, ascending, and errors are no less than 0. */
static void check_interval(const struct query_interval *interval)
{
	const struct stack *s = &interval->stack;

	assert_true(interval->units_error >= 0 && interval->instructions_error >= 0 && s->units_error >= 0);
	for (uint32_t i = 0; i < s->nr; i++)
		assert_in_range(s->share[i].signature, i ? s->share[i - 1].signature : 0, (1 << NR_PSV) - 1);
}

/* Reads everything that a view may ask for; true: all of it could be read. */
static bool read_everything(const char *path)
{
	const struct query_function *functions, *const *found;
	const struct query_process *processes;
	const struct query_interval *intervals;
	const struct query_insn *insns;
	const void *rows;
	struct profile *p;
	struct query *q;
	size_t nr, total;
	int err = profile_open(&p, path);

	if (!err) {
		err = query_new(&q, p);
		if (!err) {
			err |= query_hot(q, 0, &insns, &nr, &total);
			for (size_t i = 0; !err && i < nr; i++)
				assert_true(strlen(insns[i].disassembly) < 1 << 20 && insns[i].function);
			err |= query_functions(q, &functions, &nr);
			if (!err && nr)
				err |= query_insns(q, functions, &insns, &total);
			err |= query_lines(q, (const struct query_line **)&rows, &nr);
			err |= query_find(q, "f", &found, &nr);
			err |= query_threads(q, (const struct query_thread **)&rows, &nr);
			err |= query_regions(q, (const struct query_region **)&rows, &nr);
			err |= query_states(q, (const struct query_state **)&rows, &nr);
			err |= query_events(q, (const struct query_count **)&rows, &nr);
			err |= query_components(q, "fmt", (const struct query_count **)&rows, &nr);
			err |= query_samples(q, "TEA", (const struct query_sample **)&rows, &nr);
			err |= query_figures(q, NULL, (const struct query_figure **)&rows, &nr);
			err |= query_insn_figures(q, NULL, (const struct query_figure **)&rows, &nr);
			err |= query_parameters(q, (const struct query_parameter **)&rows, &nr);
			err |= query_unmodelled(q, (const struct query_count **)&rows, &nr);
			err |= query_processes(q, &processes, &nr);
			for (size_t i = 0; !err && i < nr; i++)
				check_process(&processes[i]);
			err |= query_intervals(q, &intervals, &nr);
			for (size_t i = 0; !err && i < nr; i++)
				check_interval(&intervals[i]);
			err |= query_interval_figures(q, NULL, (const struct query_figure **)&rows, &nr);
			query_free(q);
		}
		profile_close(p);
	}
	if (err) {
		assert_int_equal(err, -EINVAL);
		assert_string_not_equal(error_get()->why, "");
	}
	return !err;
}

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void mutate(GRand *random, char *bytes, gsize *size)
{
	int nr = g_rand_int_range(random, 1, 16);

	for (int i = 0; i < nr; i++) {
		gsize at = (gsize)g_rand_double_range(random, 0, (double)*size);

		/* Half of the damage goes to the start of a page, where its structure stands. */
		if (g_rand_boolean(random))
			at = at / 4096 * 4096 + (gsize)g_rand_int_range(random, 0, 64);
		if (at < *size)
			bytes[at] = (char)g_rand_int(random);
	}
	if (!g_rand_int_range(random, 0, 10))
		*size = (gsize)g_rand_double_range(random, 0, (double)*size);
}

static void check_mutants(const char *sound, unsigned nr)
{
	const char *path = fixture_path("mutant.cw");
	GRand *random = g_rand_new_with_seed(1);
	unsigned readable = 0;
	char *whole, *bytes;
	gsize size, kept;

	assert_true(read_everything(sound));
	assert_true(g_file_get_contents(sound, &whole, &size, NULL));
	bytes = g_malloc(size);
	for (unsigned i = 0; i < nr; i++) {
		memcpy(bytes, whole, size);
		kept = size;
		mutate(random, bytes, &kept);
		assert_true(g_file_set_contents_full(path, bytes, (gssize)kept, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
		readable += read_everything(path);
	}
	assert_in_range(readable, nr / 100, nr / 2);
	g_free(bytes);
	g_free(whole);
	g_rand_free(random);
}

static void mutants(void **state)
{
	make_profile(fixture_path("sound.cw"));
	check_mutants(fixture_path("sound.cw"), MUTANTS);
}

/* Read by way of what an older one lacks. */
static void older_mutants(void **state)
{
	make_profile(fixture_path("older.cw"));
	execute(fixture_path("older.cw"), "PRAGMA user_version = 1");
	check_mutants(fixture_path("older.cw"), OLDER_MUTANTS);
}

/* Cut anywhere, it is told to be cut short. */
static void truncated(void **state)
{
	static const unsigned keeps[] = { 100, 4095, 4096, 5000, 16384 };
	const char *path = fixture_path("cut.cw");
	struct profile *p;
	char *whole;
	gsize size;

	make_profile(fixture_path("whole.cw"));
	assert_true(g_file_get_contents(fixture_path("whole.cw"), &whole, &size, NULL));
	assert_true(size > 16384);
	for (unsigned i = 0; i < G_N_ELEMENTS(keeps); i++) {
		assert_true(g_file_set_contents(path, whole, keeps[i], NULL));
		assert_int_equal(profile_open(&p, path), -EINVAL);
		assert_string_equal(error_get()->why, "damaged profile: it has been cut short");
	}
	assert_true(g_file_set_contents(path, whole, (gssize)size - 1, NULL));
	assert_int_equal(profile_open(&p, path), -EINVAL);
	g_free(whole);
}

static void check_error(const char *path, int expected, const char *why)
{
	struct profile *p;

	assert_int_equal(profile_open(&p, path), expected);
	assert_string_equal(error_get()->what, path);
	if (!strstr(error_get()->why, why))
		fail_msg("%s: %s", path, error_get()->why);
	assert_string_not_equal(error_get()->remedy, "");
}

static void no_profiles(void **state)
{
	check_error(fixture_path("none.cw"), -ENOENT, "No such file");
	check_error(fixture_folder(), -EINVAL, "is a directory");
	check_error("/dev/null", -EINVAL, "not a regular file");
	assert_true(fixture_run("mkfifo %1/pipe.cw; : > %1/empty.cw; echo text > %1/text.cw; head -c 9999 /dev/zero > %1/zero.cw"));
	check_error(fixture_path("pipe.cw"), -EINVAL, "not a regular file");
	check_error(fixture_path("empty.cw"), -EINVAL, "is empty");
	check_error(fixture_path("text.cw"), -EINVAL, "is not a profile of cyclewise");
	check_error(fixture_path("zero.cw"), -EINVAL, "is not a profile of cyclewise");
	execute(fixture_path("other.cw"), "CREATE TABLE run (key, value)");
	check_error(fixture_path("other.cw"), -EINVAL, "is an SQLite database, but not a profile");
}

/* Views find a component's name by its events. */
static void strange_events(void **state)
{
	static const char *const signatures[] = { "-1", "512", "4294967296", "'text'" };
	const char *path = fixture_path("events.cw");
	char sql[100];

	for (unsigned i = 0; i < G_N_ELEMENTS(signatures); i++) {
		make_profile(path);
		snprintf(sql, sizeof sql, "UPDATE OR REPLACE cycles SET signature = %s WHERE insn = (SELECT max(insn) FROM cycles)", signatures[i]);
		execute(path, sql);
		assert_false(read_everything(path));
		assert_string_equal(error_get()->why, "damaged profile: an instruction with events that there are not");
		make_profile(path);
		snprintf(sql, sizeof sql, "UPDATE OR REPLACE interval_cycles SET signature = %s WHERE interval = 1",
		         signatures[i]);
		execute(path, sql);
		assert_false(read_everything(path));
		assert_string_equal(error_get()->why, "damaged profile: an interval with events that there are not");
	}
}

static void altered(void **state)
{
	make_profile(fixture_path("newer.cw"));
	execute(fixture_path("newer.cw"), "PRAGMA user_version = 99");
	check_error(fixture_path("newer.cw"), -EINVAL, "is a profile of version 99");
	make_profile(fixture_path("unversioned.cw"));
	execute(fixture_path("unversioned.cw"), "PRAGMA user_version = 0");
	check_error(fixture_path("unversioned.cw"), -EINVAL, "makes no sense");
	make_profile(fixture_path("norun.cw"));
	execute(fixture_path("norun.cw"), "DROP VIEW hot; DROP TABLE run");
	check_error(fixture_path("norun.cw"), -EINVAL, "no such table: run");
	make_profile(fixture_path("noinsn.cw"));
	execute(fixture_path("noinsn.cw"), "DROP VIEW hot; DROP TABLE insn");
	assert_false(read_everything(fixture_path("noinsn.cw")));
	assert_non_null(strstr(error_get()->why, "no such"));
}

/* Values that no writer writes: readers stay within their arrays. */
static void nonsense(void **state)
{
	const char *path = fixture_path("nonsense.cw");

	make_profile(path);
	execute(path, "UPDATE insn SET function = 1000000000000 WHERE insn % 3 = 0; UPDATE insn SET function = -5 WHERE insn % 3 = 1;"
	        "UPDATE insn SET module = 77, source = 'text', line = -1, bytes = zeroblob(5000), disassembly = NULL;"
	        "INSERT INTO function VALUES (9000000000, 1, 'a', 'a', 0, 0, 5, 5), (3, 99, NULL, 'a', 0, 0, 5, 5);"
	        "INSERT INTO module VALUES (-1, 'a', NULL), (16000000, NULL, NULL); INSERT INTO source VALUES (12, NULL);"
	        "UPDATE cycles SET units = -1, executions = 'many', signature = signature + 70000;"
	        "INSERT INTO cycles (insn, signature, executions, units) VALUES ('text', 'text', 'text', 'text'),"
	        "(-1, -1, -1, -1);"
	        "UPDATE run SET value = '{\"a\":[1,null]}' WHERE key = 'arguments'; INSERT INTO run VALUES ('notes', x'00ff');"
	        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO inlined SELECT 5, i, 'f', i, i, i FROM n;");
	read_everything(path);
}

/* The same of processes, intervals and standard errors: all of it can be read, and means nothing. */
static void nonsense_of_intervals(void **state)
{
	const char *path = fixture_path("intervals.cw");

	make_profile(path);
	execute(path, "UPDATE process SET parent = 1, program = x'00ff';"
	        "INSERT INTO process VALUES (-1, -5, NULL), (8589934592, 'x', 1);"
	        "UPDATE thread SET process = -3, units_error = 'text', uops_error = -1, slots_total_error = 9e999;"
	        "UPDATE interval SET thread = 'text', begin_units = -1, units_error = -9e999 WHERE interval % 3 = 1;"
	        "UPDATE interval SET instructions = x'ff', begin_instructions = NULL WHERE interval % 3 = 2;"
	        "INSERT INTO interval (interval) VALUES (-1), (4294967296), (8589934592);"
	        "INSERT INTO interval_cycles VALUES (-1, 0, 'many', -1, 'a', 'b'), (4294967296, 0, 1, 1, 1, -1),"
	        "(77777, 1, 1, 1, 1, 1);"
	        "INSERT INTO interval_cycles VALUES ('text', 'text', 'text', 'text', 'text', 'text');"
	        "INSERT INTO interval_figure VALUES ('a', 'text', 'b', 'c', 'd', 'e'),"
	        "('a', -1, 'b', 9e999, 0, -9e999);"
	        "UPDATE cycles SET units_error = 9e999, executions_error = -9e999;"
	        "UPDATE event SET count_error = 'x';");
	assert_true(read_everything(path));
	execute(path, "DROP TABLE interval_cycles");
	assert_false(read_everything(path));
	make_profile(path);
	execute(path, "ALTER TABLE thread DROP COLUMN process");
	assert_false(read_everything(path));
	assert_non_null(strstr(error_get()->why, "damaged profile: no such column"));
}

/* A database that has more in it than values. None of it runs, and the file says what it is refused for. */
static void programs(void **state)
{
	static const char *const sql[] = {
		"ALTER TABLE run RENAME TO old; CREATE VIEW run AS WITH RECURSIVE c(x) AS "
		"(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT key, value FROM old UNION ALL SELECT x, x FROM c",
		"CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
		"ALTER TABLE module ADD COLUMN more AS (zeroblob(1000000000))",
		"ALTER TABLE module ADD COLUMN more INT CHECK (length(zeroblob(1000000000)) > more)",
		"CREATE INDEX i ON module (length(path))",
		"CREATE INDEX i ON module (path) WHERE length(path) > 5",
		"CREATE VIRTUAL TABLE v USING fts5(a)",
	};
	const char *path = fixture_path("programs.cw");

	for (unsigned i = 0; i < G_N_ELEMENTS(sql); i++) {
		make_profile(path);
		assert_true(read_everything(path));
		execute(path, sql[i]);
		check_error(path, -EINVAL, "was not written by cyclewise");
	}
	make_profile(path);
	execute(path, "CREATE INDEX i ON module (path, build_id)");
	assert_true(read_everything(path));
}

/* Values longer than any that is written, and a table of which every row is looked for in all. */
static void too_much(void **state)
{
	const char *path = fixture_path("much.cw");

	make_profile(path);
	execute(path, "UPDATE run SET value = zeroblob(20000000) WHERE key = 'arguments'");
	assert_false(read_everything(path));
	assert_non_null(strstr(error_get()->why, "too big"));
	make_profile(path);
	execute(path, "DROP VIEW hot; CREATE TABLE other (insn, module, address, pc, length, bytes, function, \"offset\", source, line,"
	        "disassembly, form, unmodelled); DROP TABLE insn; ALTER TABLE other RENAME TO insn;"
	        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11999) INSERT INTO insn (insn) SELECT i FROM n;"
	        "INSERT OR REPLACE INTO cycles (insn, signature, executions, units) SELECT insn, 0, 1, 1 FROM insn;");
	assert_false(read_everything(path));
	assert_non_null(strstr(error_get()->why, "would not end"));
}

/* Cycles that no sum can hold: sums stop at the most. */
static void saturated(void **state)
{
	const char *path = fixture_path("saturated.cw");
	const struct query_function *f;
	const struct query_line *l;
	struct profile *p;
	struct query *q;
	uint64_t units = 0, lines = 0;
	size_t nr;

	make_profile(path);
	execute(path, "UPDATE cycles SET units = 9223372036854775807 WHERE insn > 5; UPDATE cycles SET units = -7 WHERE insn = 2");
	assert_true(read_everything(path));
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_functions(q, &f, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		units += f[i].stack.units;
	assert_int_equal(query_lines(q, &l, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		lines += l[i].stack.units;
	assert_int_equal(units, INT64_MAX);
	assert_int_equal(lines, INT64_MAX);
	query_free(q);
	profile_close(p);
}

static void unreadable(void **state)
{
	const char *path = fixture_path("secret.cw");
	struct profile *p;
	pid_t child;
	int status;

	make_profile(path);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(fixture_folder(), 0755), 0);
	child = fork();
	if (!child) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(2);
		_exit(profile_open(&p, path) != -EACCES);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutants),
		cmocka_unit_test(older_mutants),
		cmocka_unit_test(truncated),
		cmocka_unit_test(no_profiles),
		cmocka_unit_test(strange_events),
		cmocka_unit_test(altered),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(nonsense_of_intervals),
		cmocka_unit_test(programs),
		cmocka_unit_test(too_much),
		cmocka_unit_test(saturated),
		cmocka_unit_test(unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
