/*
 * Several processes and intervals of the run, written and read back, and that they add nothing to what is said of the
 * whole run.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <sqlite3.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "profile_digest.h"
#include "profile_fake.h"
#include "symbol_fixture.h"

enum { INSNS = 40, INTERVALS = 5 };

static const struct slot_counts slots = { 100, 10, 20, 60, 10 };

/* What is said of the whole run: two threads. */
static void write_run(struct profile *p)
{
	struct fake *f = fake_new();

	for (uint32_t i = 0; i < INSNS; i++) {
		fake_insn(f, MODULE_NONE, 0, 0x1000 + i * 4, 0);
		assert_int_equal(profile_cycles(p, i, 0, 10 + i, i * 7), 0);
		assert_int_equal(profile_cycles(p, i, 64, 1, 5), 0);
	}
	assert_int_equal(profile_set(p, "program", "make"), 0);
	assert_int_equal(profile_thread(p, 0, 1000, 1100, 4000, &slots), 0);
	assert_int_equal(profile_thread(p, 1, 290, 300, 1660, &slots), 0);
	assert_int_equal(profile_region(p, "r", 1, 2, 3, &slots), 0);
	assert_int_equal(profile_state(p, 0, "compute", 4000), 0);
	assert_int_equal(profile_component(p, "fmt", "base", 5660), 0);
	assert_int_equal(profile_event(p, "ST-L1", INSNS), 0);
	assert_int_equal(profile_figure(p, "TEA", "period", 1000), 0);
	assert_int_equal(profile_insn_figure(p, "blocks", 3, "leader", 1), 0);
	assert_int_equal(profile_sample(p, "TEA", 1, 64, 720720), 0);
	assert_int_equal(profile_totals(p), 0);
	assert_int_equal(profile_instructions(p, fake_code(f), fake_maps(f), 0), 0);
	fake_free(f);
}

/* make starts sh, which becomes cc1. */
static void write_processes(struct profile *p)
{
	assert_int_equal(profile_process(p, 2, 1, "/usr/lib/cc1"), 0);
	assert_int_equal(profile_process(p, 0, PROCESS_NONE, "make"), 0);
	assert_int_equal(profile_process(p, 1, 0, "/bin/sh"), 0);
	assert_int_equal(profile_thread_process(p, 1, 2), 0);
}

/* Those of thread 0 in four parts, backwards; one of thread 1. `twist` sets apart. */
static void write_intervals(struct profile *p, uint64_t twist)
{
	for (uint32_t i = 4; i--;) {
		assert_int_equal(profile_interval(p, i, 0, i * 250, i * 1000, 250, 1000 + twist), 0);
		assert_int_equal(profile_interval_cycles(p, i, 64, 10, 600), 0);
		assert_int_equal(profile_interval_cycles(p, i, 0, 240, 400 + twist), 0);
		assert_int_equal(profile_interval_figure(p, "topdown", i, "latency", i + 0.5), 0);
		assert_int_equal(profile_interval_figure(p, "topdown", i, "branch", NAN), 0);
		assert_int_equal(profile_interval_figure(p, "phase", i, "phase", i / 2), 0);
	}
	assert_int_equal(profile_interval(p, 4, 1, 90, 660, 200, 1000), 0);
}

static struct profile *create(const char *path)
{
	struct profile *p;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	return p;
}

static void finish(struct profile *p)
{
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
}

static void processes(void **state)
{
	const char *path = fixture_path("processes.cw");
	const struct query_process *rows;
	const struct query_thread *threads;
	struct profile *p = create(path);
	struct query *q;
	size_t nr;

	write_run(p);
	write_processes(p);
	finish(p);
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_processes(q, &rows, &nr), 0);
	assert_int_equal(nr, 3);
	assert_true(rows[0].process == 0 && rows[0].parent == PROCESS_NONE);
	assert_true(rows[1].process == 1 && rows[1].parent == 0);
	assert_true(rows[2].process == 2 && rows[2].parent == 1);
	assert_string_equal(rows[0].program, "make");
	assert_string_equal(rows[2].program, "/usr/lib/cc1");
	assert_int_equal(query_threads(q, &threads, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(threads[0].thread == 0 && threads[0].process == 0);
	assert_true(threads[1].thread == 1 && threads[1].process == 2 && threads[1].instructions == 290);
	query_free(q);
	profile_close(p);
}

static void check_figures(struct query *q)
{
	const struct query_figure *rows;
	size_t nr;

	assert_int_equal(query_interval_figures(q, "topdown", &rows, &nr), 0);
	assert_int_equal(nr, 8);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(rows[2 * i].interval == i && rows[2 * i].insn == 0 && rows[2 * i + 1].interval == i);
		assert_string_equal(rows[2 * i].name, "latency");
		assert_true(rows[2 * i].value > i + 0.49 && rows[2 * i].value < i + 0.51);
		assert_string_equal(rows[2 * i + 1].name, "branch");
		assert_true(isnan(rows[2 * i + 1].value));
	}
	assert_int_equal(query_interval_figures(q, NULL, &rows, &nr), 0);
	assert_int_equal(nr, 12);
	assert_string_equal(rows[0].method, "phase");
	assert_int_equal(query_interval_figures(q, "none", &rows, &nr), 0);
	assert_int_equal(nr, 0);
}

static void check_share(const struct share *share, unsigned signature, uint64_t units, uint64_t executions)
{
	assert_int_equal(share->signature, signature);
	assert_int_equal(share->units, units);
	assert_int_equal(share->executions, executions);
}

static void check_intervals(struct query *q)
{
	const struct query_interval *rows;
	size_t nr;

	assert_int_equal(query_intervals(q, &rows, &nr), 0);
	assert_int_equal(nr, INTERVALS);
	for (uint32_t i = 0; i < 4; i++) {
		const struct query_interval *r = &rows[i];

		assert_true(r->interval == i && r->thread == 0 && r->instructions == 250 && r->units == 1000);
		assert_true(r->begin_instructions == i * 250 && r->begin_units == i * 1000);
		assert_int_equal(r->stack.nr, 2);
		assert_int_equal(r->stack.units, r->units);
		check_share(&r->stack.share[0], 0, 400, 240);
		check_share(&r->stack.share[1], 64, 600, 10);
	}
	assert_true(rows[4].interval == 4 && rows[4].thread == 1 && rows[4].begin_units == 660);
	assert_int_equal(rows[4].stack.nr, 0);
	assert_non_null(rows[4].stack.share);
	check_figures(q);
}

static void intervals(void **state)
{
	const char *path = fixture_path("intervals.cw");
	struct profile *p = create(path);
	struct query *q;

	write_run(p);
	write_intervals(p, 7);
	write_intervals(p, 0);             /* rows that are set again are replaced */
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(query_new(&q, p), 0);
	check_intervals(q);
	query_free(q);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	check_intervals(q);
	query_free(q);
	profile_close(p);
}

/* By number, 1 is the later: the order is that in which they follow each other. */
static void in_order_of_the_run(void **state)
{
	const struct query_interval *rows;
	struct profile *p = create(NULL);
	struct query *q;
	size_t nr;

	assert_int_equal(profile_interval(p, 0, 1, 0, 0, 1, 1), 0);
	assert_int_equal(profile_interval(p, 1, 0, 500, 5, 1, 1), 0);
	assert_int_equal(profile_interval(p, 2, 0, 400, 9, 1, 1), 0);
	assert_int_equal(profile_interval_cycles(p, 1, 0, 1, 1), 0);
	assert_int_equal(profile_interval_cycles(p, 0, 1, 2, 3), 0);
	assert_int_equal(profile_interval_cycles(p, 9, 0, 5, 5), 0); /* of none */
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_intervals(q, &rows, &nr), 0);
	assert_int_equal(nr, 3);
	assert_true(rows[0].interval == 2 && rows[1].interval == 1 && rows[2].interval == 0);
	assert_true(rows[0].stack.nr == 0 && rows[1].stack.nr == 1 && rows[2].stack.nr == 1);
	assert_true(rows[1].stack.share[0].units == 1 && rows[2].stack.share[0].units == 3);
	query_free(q);
	profile_close(p);
}

/* A sum of a column, as a user would ask for it. */
static sqlite3_int64 ask(const char *path, const char *sql)
{
	sqlite3_stmt *s;
	sqlite3_int64 answer;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	answer = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return answer;
}

static void nothing_is_counted_twice(void **state)
{
	const char *without = fixture_path("without.cw"), *with = fixture_path("with.cw");
	struct profile *p = create(without);
	char *plain, *more;

	write_run(p);
	finish(p);
	p = create(with);
	write_run(p);
	write_processes(p);
	write_intervals(p, 0);
	assert_int_equal(profile_totals(p), 0);
	finish(p);
	plain = profile_digest_file(without);
	more = profile_digest_file(with);
	assert_string_equal(plain, more);
	assert_int_equal(ask(with, "SELECT sum(units) FROM cycles"), 5660);
	assert_int_equal(ask(with, "SELECT sum(units) FROM thread"), 5660);
	assert_int_equal(ask(with, "SELECT round(sum(cycles) * 720720) FROM hot"), 5660);
	assert_int_equal(ask(with, "SELECT value FROM run WHERE key = 'cycles_units'"), 5660);
	assert_int_equal(ask(with, "SELECT sum(units) FROM interval_cycles"), 4000);
	g_free(plain);
	g_free(more);
}

/* However many checkpoints went before; the last one's rows alone are there. */
static void same_bytes(void **state)
{
	const char *once = fixture_path("once.cw"), *often = fixture_path("often.cw");
	struct profile *p = create(once);
	char *x, *y;
	gsize x_size, y_size;

	write_run(p);
	write_processes(p);
	write_intervals(p, 0);
	finish(p);
	p = create(often);
	for (uint32_t i = 0; i < 3; i++) {
		write_run(p);
		assert_int_equal(profile_process(p, 100 + i, 0, "another"), 0);
		assert_int_equal(profile_interval(p, 100 + i, 0, 0, 0, 1, 1), 0);
		write_intervals(p, i);
		assert_int_equal(profile_commit(p), 0);
		assert_int_equal(profile_begin(p), 0);
	}
	write_run(p);
	write_processes(p);
	write_intervals(p, 0);
	finish(p);
	assert_true(g_file_get_contents(once, &x, &x_size, NULL));
	assert_true(g_file_get_contents(often, &y, &y_size, NULL));
	assert_int_equal(x_size, y_size);
	assert_memory_equal(x, y, x_size);
	g_free(x);
	g_free(y);
}

/* A run that says nothing of processes or intervals. */
static void none(void **state)
{
	const struct query_process *rows;
	const struct query_interval *parts;
	struct profile *p = create(NULL);
	struct query *q;
	size_t nr;

	write_run(p);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_processes(q, &rows, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(query_intervals(q, &parts, &nr), 0);
	assert_int_equal(nr, 0);
	query_free(q);
	profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes),
		cmocka_unit_test(intervals),
		cmocka_unit_test(in_order_of_the_run),
		cmocka_unit_test(nothing_is_counted_twice),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
