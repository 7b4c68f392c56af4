/*
 * Where the cycles went: the whole run's stack, then functions, source lines and instructions, most first.
 */
#include <inttypes.h>
#include <stdint.h>

#include "method/method.h"
#include "view/head.h"
#include "view/inlined.h"
#include "view/place.h"
#include "view/stack.h"
#include "view/number.h"
#include "view/view.h"

/* Entries shown; times more with -v. */
enum { FUNCTIONS = 10, INLINED = 5, LINES = 10, INSTRUCTIONS = 16, VERBOSE = 4 };
enum { NAME = 26, BAR = 24 };      /* columns */
enum { SMALLEST = 500 };           /* components below this fraction of the run are shown as one, but with -v */

static size_t few(const struct view_request *r, size_t n, size_t usual)
{
	size_t limit = r->limit ? r->limit : r->verbose ? usual * VERBOSE : usual;

	return n < limit ? n : limit;
}

/* The numbers that begin each row: cycles and their share of the run. */
static void amount(struct text *t, const struct run_info *run, uint64_t units)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	fprintf(t->out, "%15s %5s%%", number_whole(a, units, run->units_per_cycle),
	        number_ratio(b, units * 100, run->cycles_units ? run->cycles_units : 1, 1));
}

static void component(struct text *t, const struct run_info *run, const char *name, uint64_t units)
{
	amount(t, run, units);
	fputs("  ", t->out);
	text_field(t, name, NAME, true, false);
	fputs("  ", t->out);
}

static void whole_run(struct text *t, const struct view_request *r, const struct stack_sum *sum)
{
	const struct run_info *run = query_run(r->query);
	struct share share[1 << NR_PSV];
	size_t n = stack_ranked(sum, share), shown = 0;
	unsigned bar = t->width - 26 - NAME;
	uint64_t rest = sum->total;
	char a[NUMBER_SIZE], name[64], closing[160];

	text_heading(t, "Where the cycles went");
	for (; shown < n && (r->verbose || share[shown].units >= sum->total / SMALLEST); shown++) {
		component(t, run, psv_name(share[shown].signature, name), share[shown].units);
		stack_letters(t, share[shown].signature,
		              (unsigned)((unsigned __int128)share[shown].units * bar / share[0].units));
		fputc('\n', t->out);
		rest -= share[shown].units;
	}
	if (shown < n) {
		snprintf(name, sizeof name, "%zu other%s", n - shown, n - shown == 1 ? "" : "s");
		component(t, run, name, rest);
		fputc('\n', t->out);
	}
	if (sum->total == run->cycles_units)
		snprintf(closing, sizeof closing,
		         "sum of all components of all instructions: exactly the run's cycles");
	else
		snprintf(closing, sizeof closing,
		         "sum of all components of all instructions: but the run has %s: this profile is damaged",
		         number_whole(a, run->cycles_units, run->units_per_cycle));
	fprintf(t->out, "%15s         ", number_whole(a, sum->total, run->units_per_cycle));
	text_fill(t, 24, 24, closing);
}

static void functions(struct text *t, const struct view_request *r, const struct query_function *f, size_t all)
{
	const struct run_info *run = query_run(r->query);
	size_t n = few(r, all, FUNCTIONS);
	uint64_t sum = 0;

	text_heading(t, "Functions (%zu of %zu)", n, all);
	fprintf(t->out, "%15s %6s %6s  %-*s  %s\n", "cycles", "share", "sum", BAR, "stack", "function");
	for (size_t i = 0; i < n; i++) {
		char a[NUMBER_SIZE], name[PLACE_SIZE];

		sum += f[i].stack.units;
		amount(t, run, f[i].stack.units);
		fprintf(t->out, " %5s%%  ", number_ratio(a, sum * 100, run->cycles_units ? run->cycles_units : 1, 1));
		stack_bar(t, &f[i].stack, f[0].stack.units, BAR);
		fputs("  ", t->out);
		text_field(t, place_function(&f[i], true, name), t->width - 34 - BAR, false, false);
		fputc('\n', t->out);
	}
}

static void inlined(struct text *t, const struct view_request *r, const struct query_inlined *f, size_t all)
{
	const struct run_info *run = query_run(r->query);
	size_t n = few(r, all, INLINED);

	if (!all)
		return;
	text_heading(t, "Inlined functions (%zu of %zu): their cycles are in those of the functions above", n, all);
	fprintf(t->out, "%15s %6s %6s  %-*s  %s\n", "cycles", "share", "copies", BAR, "stack", "function");
	for (size_t i = 0; i < n; i++) {
		char name[PLACE_SIZE], calls[PLACE_SIZE], line[2 * PLACE_SIZE];

		amount(t, run, f[i].stack.units);
		fprintf(t->out, " %6" PRIu32 "  ", f[i].nr_copies);
		stack_bar(t, &f[i].stack, f[0].stack.units, BAR);
		fputs("  ", t->out);
		if (f[i].nr_copies == 1)
			snprintf(line, sizeof line, "%s, %s", f[i].symbol, inlined_calls(f[i].copy, calls));
		else if (f[i].file)
			snprintf(line, sizeof line, "%s  %s", f[i].symbol, place_line(f[i].file, f[i].line, name));
		else
			snprintf(line, sizeof line, "%s", f[i].symbol);
		text_field(t, line, t->width - 34 - BAR, false, false);
		fputc('\n', t->out);
	}
}

static void lines(struct text *t, const struct view_request *r, const struct query_line *l, size_t all)
{
	const struct run_info *run = query_run(r->query);
	size_t n = few(r, all, LINES);

	if (!all || (all == 1 && !l[0].file))
		return;
	text_heading(t, "Source lines (%zu of %zu)", n, all);
	fprintf(t->out, "%15s %6s %13s  %-*s  %s\n", "cycles", "share", "executions", BAR, "stack", "line");
	for (size_t i = 0; i < n; i++) {
		char a[NUMBER_SIZE], name[PLACE_SIZE];

		amount(t, run, l[i].stack.units);
		fprintf(t->out, " %13s  ", number_grouped(a, l[i].executions));
		stack_bar(t, &l[i].stack, l[0].stack.units, BAR);
		fputs("  ", t->out);
		text_field(t, l[i].file ? place_line(l[i].file, l[i].line, name) : "(no line information)",
		           t->width - 41 - BAR, false, true);
		fputc('\n', t->out);
	}
}

static void instructions(struct text *t, const struct view_request *r, const struct query_insn *in, size_t n,
                         size_t all)
{
	const struct run_info *run = query_run(r->query);

	text_heading(t, "Instructions (%zu of %zu)", n, all);
	fprintf(t->out, "%15s %6s %13s %8s  %-*s  %s\n", "cycles", "share", "executions", "each", BAR / 2, "stack",
	        "instruction");
	for (size_t i = 0; i < n; i++) {
		char a[NUMBER_SIZE], b[NUMBER_SIZE], name[PLACE_SIZE], psv[64];

		amount(t, run, in[i].stack.units);
		fprintf(t->out, " %13s %8s  ", number_grouped(a, in[i].executions),
		        in[i].executions
		                ? number_ratio(b, in[i].stack.units / in[i].executions, run->units_per_cycle, 2)
		                : "-");
		stack_bar(t, &in[i].stack, in[0].stack.units, BAR / 2);
		fputs("  ", t->out);
		text_field(t, in[i].disassembly, t->width - 50 - BAR / 2, false, false);
		fprintf(t->out, "\n%52s", "");
		text_field(t, psv_name(stack_dominant(&in[i].stack), psv), BAR / 2, true, false);
		fputs("  ", t->out);
		text_field(t, place_insn(&in[i], name), t->width - 54 - BAR / 2, false, false);
		fputc('\n', t->out);
	}
}

static int text(struct text *t, const struct view_request *r)
{
	const struct query_function *f;
	const struct query_inlined *c;
	const struct query_line *l;
	const struct query_insn *in;
	struct stack_sum sum = { .total = 0 };
	size_t nf, nc, nl, ni, all;
	int err;

	head_text(t, r);
	err = query_functions(r->query, &f, &nf);
	if (!err)
		err = query_inlined(r->query, &c, &nc);
	if (!err)
		err = query_lines(r->query, &l, &nl);
	if (!err)
		err = query_hot(r->query, few(r, SIZE_MAX, INSTRUCTIONS), &in, &ni, &all);
	if (err)
		return err;
	for (size_t i = 0; i < nf; i++)
		stack_add(&sum, &f[i].stack);
	if (nf) {
		whole_run(t, r, &sum);
		functions(t, r, f, nf);
		inlined(t, r, c, nc);
		lines(t, r, l, nl);
		instructions(t, r, in, ni, all);
		text_heading(t, "Letters of the stacks");
		stack_legend(t, &sum);
	} else {
		fputs("\nNothing was counted.\n", t->out);
	}
	return notes_text(t, r);
}

static int json(struct json *j, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);
	const struct query_function *f;
	const struct query_inlined *c;
	const struct query_insn *in;
	size_t nf, nc, ni;
	int err = query_functions(r->query, &f, &nf);

	if (!err)
		err = query_inlined(r->query, &c, &nc);
	if (!err)
		err = query_hot(r->query, r->limit, &in, &ni, NULL);
	if (err)
		return err;
	json_object(j, NULL);
	head_json(j, r);
	cycles_json(j, "cycles", r, run->cycles_units);
	json_uint(j, "instructions", run->instructions);
	json_array(j, "functions");
	for (size_t i = 0; i < nf && (!r->limit || i < r->limit); i++)
		function_json(j, r, &f[i]);
	json_end_array(j);
	json_array(j, "inlined");
	for (size_t i = 0; i < nc && (!r->limit || i < r->limit); i++) {
		inlined_json_open(j, r, &c[i]);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "hot");
	for (size_t i = 0; i < ni; i++)
		insn_json(j, r, &in[i]);
	json_end_array(j);
	err = notes_json(j, r);
	json_end_object(j);
	return err;
}

const struct view view_report = {
	.name = "report",
	.help = "where the cycles went: functions, lines, instructions, with their stacks",
	.text = text,
	.json = json,
};
