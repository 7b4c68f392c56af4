#include "profile_digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glib.h>
#include <inttypes.h>

static void add(GString *text, const char *between, uint64_t count, double error)
{
	g_string_append_printf(text, "%s%" PRIu64 "+-%g", between, count, error);
}

static void add_stack(GString *text, const struct stack *s)
{
	add(text, " ", s->units, s->units_error);
	g_string_append_c(text, ':');
	for (uint32_t i = 0; i < s->nr; i++) {
		g_string_append_printf(text, " %u", s->share[i].signature);
		add(text, " ", s->share[i].units, s->share[i].units_error);
		add(text, " in ", s->share[i].executions, s->share[i].executions_error);
	}
	g_string_append_c(text, '\n');
}

static void add_slots(GString *text, const struct slot_counts *slots, const struct slot_errors *errors)
{
	add(text, " ", slots->total, errors->total);
	add(text, " ", slots->filled, errors->filled);
	add(text, " ", slots->issued, errors->issued);
	add(text, " ", slots->retired, errors->retired);
	add(text, " ", slots->recovery, errors->recovery);
	g_string_append_c(text, '\n');
}

static void add_counts(GString *text, const char *what, const struct query_count *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		g_string_append_printf(text, "%s %s", what, rows[i].name);
		add(text, " ", rows[i].count, rows[i].count_error);
		g_string_append_c(text, '\n');
	}
}

static void add_run(GString *text, struct query *q)
{
	const struct run_info *run = query_run(q);

	g_string_append_printf(text, "run %s", run->program ? run->program : "-");
	add(text, " ", run->cycles_units, run->cycles_units_error);
	add(text, " ", run->instructions, run->instructions_error);
	add(text, " ", run->uops, run->uops_error);
	g_string_append_c(text, '\n');
}

static void add_code(GString *text, struct query *q)
{
	const struct query_function *functions;
	const struct query_insn *insns;
	const struct query_line *lines;
	uint64_t by_function = 0, by_line = 0, by_insn = 0;
	size_t nr, total;

	assert_int_equal(query_functions(q, &functions, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		g_string_append_printf(text, "function %s %s", functions[i].module, functions[i].symbol);
		add_stack(text, &functions[i].stack);
		by_function += functions[i].stack.units;
	}
	assert_int_equal(query_lines(q, &lines, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		g_string_append_printf(text, "line %s:%u", lines[i].file, lines[i].line);
		add_stack(text, &lines[i].stack);
		by_line += lines[i].stack.units;
	}
	assert_int_equal(query_hot(q, 0, &insns, &nr, &total), 0);
	assert_int_equal(nr, total);
	for (size_t i = 0; i < nr; i++) {
		g_string_append_printf(text, "insn %u %s", insns[i].insn, insns[i].disassembly);
		g_string_append_printf(text, " %" PRIx64, insns[i].address);
		add_stack(text, &insns[i].stack);
		by_insn += insns[i].stack.units;
	}
	assert_int_equal(by_function, by_insn);
	assert_int_equal(by_line, by_insn);
}

static void add_threads(GString *text, struct query *q)
{
	const struct query_thread *threads;
	const struct query_region *regions;
	const struct query_state *states;
	size_t nr;

	assert_int_equal(query_threads(q, &threads, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct query_thread *t = &threads[i];

		g_string_append_printf(text, "thread %u", t->thread);
		add(text, " ", t->instructions, t->instructions_error);
		add(text, " ", t->uops, t->uops_error);
		add(text, " ", t->units, t->units_error);
		add_slots(text, &t->slots, &t->slots_error);
	}
	assert_int_equal(query_regions(q, &regions, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct query_region *r = &regions[i];

		g_string_append_printf(text, "region %s", r->name);
		add(text, " ", r->entries, r->entries_error);
		add(text, " ", r->instructions, r->instructions_error);
		add(text, " ", r->units, r->units_error);
		add_slots(text, &r->slots, &r->slots_error);
	}
	assert_int_equal(query_states(q, &states, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		g_string_append_printf(text, "state %u %s", states[i].thread, states[i].state);
		add(text, " ", states[i].units, states[i].units_error);
		g_string_append_c(text, '\n');
	}
}

static void add_figures(GString *text, struct query *q)
{
	const struct query_count *counts, *methods;
	const struct query_figure *figures;
	const struct query_sample *samples;
	size_t nr, nr_methods;

	assert_int_equal(query_events(q, &counts, &nr), 0);
	add_counts(text, "event", counts, nr);
	assert_int_equal(query_unmodelled(q, &counts, &nr), 0);
	add_counts(text, "unmodelled", counts, nr);
	assert_int_equal(query_component_methods(q, &methods, &nr_methods), 0);
	add_counts(text, "components", methods, nr_methods);
	for (size_t i = 0; i < nr_methods; i++) {
		assert_int_equal(query_components(q, methods[i].name, &counts, &nr), 0);
		add_counts(text, methods[i].name, counts, nr);
	}
	assert_int_equal(query_sample_methods(q, &methods, &nr_methods), 0);
	add_counts(text, "samples", methods, nr_methods);
	for (size_t i = 0; i < nr_methods; i++) {
		assert_int_equal(query_samples(q, methods[i].name, &samples, &nr), 0);
		for (size_t k = 0; k < nr; k++)
			g_string_append_printf(text, "sample %u %u %" PRIu64 "\n", samples[k].insn, samples[k].signature,
			                       samples[k].weight);
	}
	assert_int_equal(query_figures(q, NULL, &figures, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		g_string_append_printf(text, "%s %s %g+-%g\n", figures[i].method, figures[i].name,
		                       figures[i].value, figures[i].value_error);
	assert_int_equal(query_insn_figures(q, NULL, &figures, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		g_string_append_printf(text, "%s %s of %u %g+-%g\n", figures[i].method, figures[i].name, figures[i].insn,
		                       figures[i].value, figures[i].value_error);
}

char *profile_digest(struct query *q)
{
	GString *text = g_string_new(NULL);

	add_run(text, q);
	add_code(text, q);
	add_threads(text, q);
	add_figures(text, q);
	return g_string_free(text, FALSE);
}

char *profile_digest_file(const char *path)
{
	struct profile *p;
	struct query *q;
	char *text;

	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	text = profile_digest(q);
	query_free(q);
	assert_int_equal(profile_close(p), 0);
	return text;
}
