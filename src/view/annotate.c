/*
 * One function: its source and disassembly, with what each instruction cost and why.
 *
 * Source lines stand before the first instruction of each run of instructions that came from them, as a
 * compiler's listing has them; what was inlined shows the inlined function's lines.
 */
#include <assert.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "method/method.h"
#include "view/head.h"
#include "view/listing.h"
#include "view/number.h"
#include "view/place.h"
#include "view/resources.h"
#include "view/stack.h"
#include "view/view.h"

/* Columns: the bar takes what a wide terminal has over. */
enum { NARROW_BAR = 10, WIDE_BAR = 24, MOSTLY = 12, REST = 76, TEXT = 34 };

static unsigned bar_width(const struct text *t)
{
	unsigned free = t->width > REST + TEXT ? t->width - REST - TEXT : 0;

	return free > WIDE_BAR ? WIDE_BAR : free > NARROW_BAR ? free : NARROW_BAR;
}

static void source_line(struct text *t, struct listing *l, const struct listing_row *row)
{
	const char *text = listing_source(l, row->file, row->line), *slash = strrchr(row->file, '/');
	char where[PLACE_SIZE];

	place_line(slash ? slash + 1 : row->file, row->line, where);
	text_style(t, "1");
	fputs("  ", t->out);
	text_field(t, where, text_columns(where), false, false);
	if (text) {
		fputs(": ", t->out);
		for (; *text == '\t'; text++)
			fputs("    ", t->out);
		text_field(t, text, text_columns(text), false, false);
	}
	text_style(t, NULL);
	fputc('\n', t->out);
}

static void instruction(struct text *t, const struct run_info *run, const struct listing_row *row, uint64_t most)
{
	const struct query_insn *in = row->insn;
	unsigned bar = bar_width(t);
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], d[NUMBER_SIZE], psv[64];

	if (!in) {
		fprintf(t->out, "  %11s %*s", "-", (int)(12 + 1 + 6 + 1 + 8 + 2 + bar + 2 + MOSTLY), "");
	} else {
		fprintf(t->out, "  %11s %12s %5s%% %8s  ", number_grouped(a, in->executions),
		        number_whole(b, in->stack.units, run->units_per_cycle),
		        number_ratio(c, in->stack.units * 100, run->cycles_units ? run->cycles_units : 1, 1),
		        in->executions ? number_ratio(d, in->stack.units / in->executions, run->units_per_cycle, 2)
		                       : "-");
		stack_bar(t, &in->stack, most, bar);
		fputs("  ", t->out);
		text_field(t, in->stack.units ? psv_name(stack_dominant(&in->stack), psv) : "", MOSTLY, true, false);
	}
	fprintf(t->out, " %7" PRIx64 ":  ", row->address);
	text_field(t, row->disassembly, text_columns(row->disassembly), false, false);
	fputc('\n', t->out);
}

static int resources(struct text *t, const struct view_request *r)
{
	struct resources *table;
	int err = r->resources ? resources_new(&table, r->query) : 0;

	if (err || !r->resources)
		return err;
	err = resources_text(t, table, r->function);
	resources_free(table);
	return err;
}

static int text(struct text *t, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);
	const struct query_function *f = r->function;
	struct stack_sum sum = { .total = 0 };
	struct listing *l;
	const struct listing_row *before = NULL;
	char a[NUMBER_SIZE], b[NUMBER_SIZE], name[PLACE_SIZE];
	uint64_t most = 0;
	int err;

	assert(f);
	err = listing_new(&l, r->query, f, r->around);
	if (err)
		return err;
	head_text(t, r);
	text_heading(t, "%s", place_function(f, true, name));
	if (f->file) {
		fputs("  ", t->out);
		text_outside(t->out, place_line(f->file, f->line, name));
		fputc('\n', t->out);
	}
	fprintf(t->out, "  %s cycles, %s%% of the run; ", number_whole(a, f->stack.units, run->units_per_cycle),
	        number_ratio(b, f->stack.units * 100, run->cycles_units ? run->cycles_units : 1, 1));
	if (f->symbol || !r->around)
		fprintf(t->out, "%" PRIu32 " of %zu instructions executed\n\n", f->nr_insns, l->nr);
	else
		fprintf(t->out, "%zu of the %" PRIu32 " instructions executed, around 0x%" PRIx64 "\n\n", l->nr,
		        f->nr_insns, r->around->address);
	for (size_t i = 0; i < l->nr; i++)
		if (l->row[i].insn) {
			stack_add(&sum, &l->row[i].insn->stack);
			if (l->row[i].insn->stack.units > most)
				most = l->row[i].insn->stack.units;
		}
	fprintf(t->out, "  %11s %12s %6s %8s  %-*s  %-*s %8s  %s\n", "executions", "cycles", "share", "each",
	        (int)bar_width(t), "stack", MOSTLY, "mostly", "address", "source, instruction");
	for (size_t i = 0; i < l->nr; i++) {
		const struct listing_row *row = &l->row[i];

		if (row->file && row->line && (!before || before->line != row->line || strcmp(before->file, row->file)))
			source_line(t, l, row);
		if (row->file && row->line)
			before = row;
		instruction(t, run, row, most);
	}
	if (l->partial)
		fprintf(t->out, "\n  What was never executed is not shown: %s.\n", l->partial);
	listing_free(l);
	text_heading(t, "Letters of the stacks");
	stack_legend(t, &sum);
	err = resources(t, r);
	return err ? err : notes_text(t, r);
}

/* The lines that the code came from, each once, in the order of first sight. */
static void source_json(struct json *j, struct listing *l)
{
	json_array(j, "source");
	for (size_t i = 0; i < l->nr; i++) {
		const struct listing_row *row = &l->row[i];
		bool seen = !row->file || !row->line;

		for (size_t k = 0; k < i && !seen; k++)
			seen = l->row[k].line == row->line && l->row[k].file && !strcmp(l->row[k].file, row->file);
		if (seen)
			continue;
		json_object(j, NULL);
		json_string(j, "file", row->file);
		json_uint(j, "line", row->line);
		json_string(j, "text", listing_source(l, row->file, row->line));
		json_end_object(j);
	}
	json_end_array(j);
}

static int by_units(gconstpointer a, gconstpointer b)
{
	const struct query_insn *x = *(const struct query_insn *const *)a, *y = *(const struct query_insn *const *)b;

	if (x->stack.units != y->stack.units)
		return x->stack.units < y->stack.units ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address ? 1 : x->insn < y->insn ? -1 : x->insn > y->insn;
}

static void hot_json(struct json *j, const struct view_request *r, struct listing *l)
{
	GPtrArray *hot = g_ptr_array_new();

	for (size_t i = 0; i < l->nr; i++)
		if (l->row[i].insn)
			g_ptr_array_add(hot, (struct query_insn *)(uintptr_t)l->row[i].insn);
	g_ptr_array_sort(hot, by_units);
	json_array(j, "hot");
	for (size_t i = 0; i < hot->len && (!r->limit || i < r->limit); i++)
		insn_json(j, r, hot->pdata[i]);
	json_end_array(j);
	g_ptr_array_free(hot, TRUE);
}

static int json(struct json *j, const struct view_request *r)
{
	const struct query_function *f = r->function;
	struct resources *table = NULL;
	struct listing *l;
	int err;

	assert(f);
	err = r->resources ? resources_new(&table, r->query) : 0;
	if (!err)
		err = listing_new(&l, r->query, f, r->around);
	if (err) {
		resources_free(table);
		return err;
	}
	json_object(j, NULL);
	head_json(j, r);
	cycles_json(j, "cycles", r, query_run(r->query)->cycles_units);
	json_uint(j, "instructions", query_run(r->query)->instructions);
	json_array(j, "functions");
	function_json(j, r, f);
	json_end_array(j);
	hot_json(j, r, l);
	json_array(j, "code");
	for (size_t i = 0; i < l->nr; i++) {
		const struct listing_row *row = &l->row[i];

		if (row->insn) {
			insn_json_open(j, r, row->insn);
			if (table)
				resources_json(j, table, row->insn);
			json_end_object(j);
			continue;
		}
		json_object(j, NULL);
		json_string(j, "module", f->module);
		json_hex(j, "address", row->address);
		json_string(j, "symbol", f->symbol);
		json_uint(j, "offset", row->address - f->address);
		json_string(j, "file", row->file);
		line_json(j, row->line);
		json_string(j, "disassembly", row->disassembly);
		json_uint(j, "executions", 0);
		json_uint(j, "cycles", 0);
		json_object(j, "stack");
		json_end_object(j);
		json_end_object(j);
	}
	json_end_array(j);
	source_json(j, l);
	listing_free(l);
	resources_free(table);
	err = notes_json(j, r);
	json_end_object(j);
	return err;
}

const struct view view_annotate = {
	.name = "annotate",
	.help = "source and disassembly of one function with the stack of each instruction",
	.text = text,
	.json = json,
};
