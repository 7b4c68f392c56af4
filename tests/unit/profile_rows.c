/* What is written comes back, typed and in order; the same content gives the same bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>

#include "method/method.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "symbol_fixture.h"

static const struct slot_counts slots = { 100, 10, 20, 60, 10 };

/* One row in each table that is no matter of instructions; `twist` sets apart. */
static void write_all(struct profile *p, uint64_t twist)
{
	static const char *const arguments[] = { "a b", "\"quoted\"\\", "line\nbreak", "", "\xff", NULL };
	static const char *const nothing[] = { NULL };

	assert_int_equal(profile_set(p, "program", "/bin/true"), 0);
	assert_int_equal(profile_set(p, "emulator", NULL), 0);
	assert_int_equal(profile_set_list(p, "arguments", arguments), 0);
	assert_int_equal(profile_set_list(p, "notes", nothing), 0);
	assert_int_equal(profile_set_int(p, "instructions", 1000 + (int64_t)twist), 0);
	assert_int_equal(profile_set_int(p, "cycles_units", INT64_MAX), 0);
	assert_int_equal(profile_set_int(p, "exit_status", 3), 0);
	assert_int_equal(profile_parameter(p, "rob.entries", "224"), 0);
	assert_int_equal(profile_parameter(p, "l1d.size", "32768"), 0);
	assert_int_equal(profile_thread(p, 1, 5, 6, 7, &slots), 0);
	assert_int_equal(profile_thread(p, 0, 2, 3, 4, &slots), 0);
	assert_int_equal(profile_region(p, "z", 1, 2, 3, &slots), 0);
	assert_int_equal(profile_region(p, "a", 4, 5, 6, &slots), 0);
	assert_int_equal(profile_state(p, 0, "flushed", 4), 0);
	assert_int_equal(profile_state(p, 0, "compute", 1), 0);
	assert_int_equal(profile_state(p, 0, "drained", 3), 0);
	assert_int_equal(profile_state(p, 0, "stalled", 2), 0);
	assert_int_equal(profile_event(p, "FL-MB", 17), 0);
	assert_int_equal(profile_event(p, "DR-L1", 18), 0);
	assert_int_equal(profile_component(p, "fmt", "l1i", 5), 0);
	assert_int_equal(profile_component(p, "fmt", "base", 6), 0);
	assert_int_equal(profile_component(p, "sfmt", "base", 9), 0);
	assert_int_equal(profile_unmodelled(p, "B", 1), 0);
	assert_int_equal(profile_unmodelled(p, "A", 1), 0);
	assert_int_equal(profile_unmodelled(p, "C", 2), 0);
	assert_int_equal(profile_sample(p, "TEA", 7, 0, 720720), 0);
	assert_int_equal(profile_sample(p, "TEA", 3, 2, 360360), 0);
	assert_int_equal(profile_sample(p, "IBS", 3, 0, 720720), 0);
	assert_int_equal(profile_figure(p, "TEA", "period", 1000), 0);
	assert_int_equal(profile_figure(p, "TEA", "error/instruction", 0.1), 0);
	assert_int_equal(profile_figure(p, "", "correlation", (double)NAN), 0);
	assert_int_equal(profile_insn_figure(p, "ProfileMe", 9, "latency", 2.5), 0);
	assert_int_equal(profile_insn_figure(p, "ProfileMe", 3, "latency", 1.5), 0);
}

static void check_counts(const struct query_count *rows, size_t nr, const char *expected)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < nr; i++)
		g_string_append_printf(text, "%s=%llu ", rows[i].name, (unsigned long long)rows[i].count);
	assert_string_equal(text->str, expected);
	g_string_free(text, TRUE);
}

static void check_lists(struct query *q)
{
	const struct query_count *counts;
	const struct query_parameter *parameters;
	const struct query_sample *samples;
	const struct query_figure *figures;
	size_t nr;

	assert_int_equal(query_events(q, &counts, &nr), 0);
	check_counts(counts, nr, "FL-MB=17 DR-L1=18 ");
	assert_int_equal(query_components(q, "fmt", &counts, &nr), 0);
	check_counts(counts, nr, "l1i=5 base=6 ");
	assert_int_equal(query_components(q, "none", &counts, &nr), 0);
	check_counts(counts, nr, "");
	assert_int_equal(query_component_methods(q, &counts, &nr), 0);
	check_counts(counts, nr, "fmt=11 sfmt=9 ");
	assert_int_equal(query_unmodelled(q, &counts, &nr), 0);
	check_counts(counts, nr, "C=2 A=1 B=1 ");
	assert_int_equal(query_sample_methods(q, &counts, &nr), 0);
	check_counts(counts, nr, "IBS=720720 TEA=1081080 ");
	assert_int_equal(query_parameters(q, &parameters, &nr), 0);
	assert_int_equal(nr, 2);
	assert_string_equal(parameters[0].name, "l1d.size");
	assert_string_equal(parameters[1].value, "224");
	assert_int_equal(query_samples(q, "TEA", &samples, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(samples[0].insn == 3 && samples[0].signature == 2 && samples[0].weight == 360360);
	assert_true(samples[1].insn == 7 && samples[1].signature == 0);
	assert_int_equal(query_figures(q, NULL, &figures, &nr), 0);
	assert_int_equal(nr, 3);
	assert_true(isnan(figures[0].value));
	assert_int_equal(query_figures(q, "TEA", &figures, &nr), 0);
	assert_int_equal(nr, 2);
	assert_string_equal(figures[0].name, "period");
	assert_true(figures[1].value > 0.0999 && figures[1].value < 0.1001);
	assert_int_equal(query_insn_figures(q, "ProfileMe", &figures, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(figures[0].insn == 3 && figures[1].insn == 9);
}

static void check_all(struct profile *p)
{
	const struct query_thread *threads;
	const struct query_region *regions;
	const struct query_state *states;
	const struct run_info *run;
	struct query *q;
	size_t nr;

	assert_int_equal(query_new(&q, p), 0);
	run = query_run(q);
	assert_string_equal(run->program, "/bin/true");
	assert_null(run->emulator);
	assert_int_equal(run->nr_arguments, 5);
	assert_string_equal(run->arguments[0], "a b");
	assert_string_equal(run->arguments[1], "\"quoted\"\\");
	assert_string_equal(run->arguments[2], "line\nbreak");
	assert_string_equal(run->arguments[3], "");
	assert_string_equal(run->arguments[4], "\xef\xbf\xbd");
	assert_null(run->arguments[5]);
	assert_int_equal(run->nr_notes, 0);
	assert_null(run->notes[0]);
	assert_int_equal(run->instructions, 1001);
	assert_int_equal(run->cycles_units, INT64_MAX);
	assert_int_equal(run->units_per_cycle, CYCLE_UNITS);
	assert_false(run->complete);
	assert_true(run->ended);
	assert_int_equal(run->exit_status, 3);
	assert_string_equal(query_value(q, "instructions"), "1001");
	assert_null(query_value(q, "emulator"));
	assert_int_equal(query_threads(q, &threads, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(threads[0].thread == 0 && threads[0].instructions == 2 && threads[0].uops == 3 && threads[0].units == 4);
	assert_memory_equal(&threads[1].slots, &slots, sizeof(slots));
	assert_int_equal(query_regions(q, &regions, &nr), 0);
	assert_int_equal(nr, 2);
	assert_string_equal(regions[0].name, "z");
	assert_true(regions[1].entries == 4 && regions[1].instructions == 5 && regions[1].units == 6);
	assert_memory_equal(&regions[1].slots, &slots, sizeof(slots));
	assert_int_equal(query_states(q, &states, &nr), 0);
	assert_int_equal(nr, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(states[i].units, i + 1);
	assert_string_equal(states[1].state, "stalled");
	check_lists(q);
	query_free(q);
}

static struct profile *create(const char *path)
{
	struct profile *p;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	return p;
}

static void round_trip(void **state)
{
	const char *path = fixture_path("rows.cw");
	struct profile *p = create(path);

	write_all(p, 1);
	assert_int_equal(profile_commit(p), 0);
	check_all(p);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_open(&p, path), 0);
	check_all(p);
	assert_int_equal(profile_close(p), 0);
}

static void in_memory(void **state)
{
	struct profile *p = create(NULL);

	write_all(p, 1);
	assert_int_equal(profile_commit(p), 0);
	check_all(p);
	assert_int_equal(profile_begin(p), 0);
	check_all(p);                      /* the last checkpoint stays until the next is whole */
	assert_int_equal(profile_close(p), 0);
}

static void nothing_written(void **state)
{
	const char *path = fixture_path("empty.cw");
	const struct query_insn *insns;
	const struct query_function *functions;
	const struct query_line *lines;
	const struct run_info *run;
	struct profile *p;
	struct query *q;
	size_t nr, total;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	run = query_run(q);
	assert_true(!run->complete && !run->ended && !run->program && !run->nr_arguments);
	assert_int_equal(query_hot(q, 0, &insns, &nr, &total), 0);
	assert_int_equal(nr + total, 0);
	assert_int_equal(query_functions(q, &functions, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(query_lines(q, &lines, &nr), 0);
	assert_int_equal(nr, 0);
	query_free(q);
	assert_int_equal(profile_close(p), 0);
}

static void assert_same_files(const char *a, const char *b)
{
	char *x, *y;
	gsize x_size, y_size;

	assert_true(g_file_get_contents(a, &x, &x_size, NULL));
	assert_true(g_file_get_contents(b, &y, &y_size, NULL));
	assert_int_equal(x_size, y_size);
	assert_memory_equal(x, y, x_size);
	g_free(x);
	g_free(y);
}

/* However many checkpoints went before. */
static void same_bytes(void **state)
{
	const char *once = fixture_path("once.cw"), *often = fixture_path("often.cw");
	struct profile *p = create(once);

	write_all(p, 1);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	p = create(often);
	for (uint64_t i = 0; i < 5; i++) {
		write_all(p, 100 - i);
		assert_int_equal(profile_commit(p), 0);
		assert_int_equal(profile_begin(p), 0);
	}
	write_all(p, 1);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	assert_same_files(once, often);
}

/* A row that is set again is replaced; what was not committed is dropped. */
static void replaced_and_dropped(void **state)
{
	const char *path = fixture_path("twice.cw");
	struct profile *p = create(path);
	struct query *q;

	assert_int_equal(profile_set_int(p, "complete", 1), 0);
	assert_int_equal(profile_set(p, "core", "one"), 0);
	assert_int_equal(profile_set(p, "core", "two"), 0);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_begin(p), 0);
	assert_int_equal(profile_set(p, "core", "three"), 0);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_string_equal(query_run(q)->core, "two");
	assert_true(query_run(q)->complete);
	query_free(q);
	profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(in_memory),
		cmocka_unit_test(nothing_written),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(replaced_and_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
