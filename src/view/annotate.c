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
#include "view/inlined.h"
#include "view/listing.h"
#include "view/number.h"
#include "view/place.h"
#include "view/resources.h"
#include "view/source.h"
#include "view/stack.h"
#include "view/view.h"

/* Columns: the bar takes what a wide terminal has over. */
enum { COPIES = 8 };               /* inlined copies shown */
enum { NARROW_BAR = 10, WIDE_BAR = 24, MOSTLY = 12, REST = 76, TEXT = 34 };

static unsigned bar_width(const struct text *t)
{
	unsigned free = t->width > REST + TEXT ? t->width - REST - TEXT : 0;

	return free > WIDE_BAR ? WIDE_BAR : free > NARROW_BAR ? free : NARROW_BAR;
}

static void source_line(struct text *t, struct sources *sources, const struct listing_row *row)
{
	const char *text = sources_line(sources, row->file, row->line), *slash = strrchr(row->file, '/');
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

static void place_of_line(struct text *t, const char *file, uint32_t line)
{
	char name[PLACE_SIZE];

	fputs("  ", t->out);
	text_outside(t->out, place_line(file, line, name));
	fputc('\n', t->out);
}

/* The rows, each run of one source line under that line, and their stacks into `sum`. */
static void rows(struct text *t, const struct view_request *r, struct listing *l, struct stack_sum *sum)
{
	struct sources *sources = sources_new(r);
	const struct run_info *run = query_run(r->query);
	const struct listing_row *before = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (l->row[i].insn) {
			stack_add(sum, &l->row[i].insn->stack);
			if (l->row[i].insn->stack.units > most)
				most = l->row[i].insn->stack.units;
		}
	fprintf(t->out, "  %11s %12s %6s %8s  %-*s  %-*s %8s  %s\n", "executions", "cycles", "share", "each",
	        (int)bar_width(t), "stack", MOSTLY, "mostly", "address", "source, instruction");
	for (size_t i = 0; i < l->nr; i++) {
		const struct listing_row *row = &l->row[i];

		if (row->file && row->line && (!before || before->line != row->line || strcmp(before->file, row->file)))
			source_line(t, sources, row);
		if (row->file && row->line)
			before = row;
		instruction(t, run, row, most);
	}
	sources_free(sources);
}

static void amount(struct text *t, const struct run_info *run, const struct stack *s)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	fprintf(t->out, "%s cycles, %s%% of the run", number_whole(a, s->units, run->units_per_cycle),
	        number_ratio(b, s->units * 100, run->cycles_units ? run->cycles_units : 1, 1));
}

/* A source line of an inlined function, over all its copies. */
struct inlined_line {
	const char *file;
	uint32_t line;
	uint64_t executions, units;    /* executions: of its most executed instruction in each copy */
	uint64_t in_copy;              /* the same in the copy looked at */
};

static gint by_line(gconstpointer a, gconstpointer b)
{
	const struct inlined_line *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static struct inlined_line *merged_line(GArray *lines, const char *file, uint32_t line)
{
	for (guint i = 0; i < lines->len; i++) {
		struct inlined_line *m = &g_array_index(lines, struct inlined_line, i);

		if (m->line == line && !strcmp(m->file, file))
			return m;
	}
	g_array_append_val(lines, ((struct inlined_line){ .file = file, .line = line }));
	return &g_array_index(lines, struct inlined_line, lines->len - 1);
}

/* The lines (struct inlined_line) that have code in copies of `f`, by file and line. 0 or -errno. */
static int merge(struct query *q, const struct query_inlined *f, GArray *lines)
{
	const struct query_insn *in;
	size_t n;
	int err;

	for (uint32_t c = 0; c < f->nr_copies; c++) {
		err = query_copy_insns(q, &f->copy[c], &in, &n);
		if (err)
			return err;
		for (size_t i = 0; i < n; i++) {
			struct inlined_line *m = in[i].file ? merged_line(lines, in[i].file, in[i].line) : NULL;

			if (!m)
				continue;
			m->units += in[i].stack.units;
			m->in_copy = MAX(m->in_copy, in[i].executions);
		}
		for (guint i = 0; i < lines->len; i++) {
			struct inlined_line *m = &g_array_index(lines, struct inlined_line, i);

			m->executions += m->in_copy;
			m->in_copy = 0;
		}
	}
	g_array_sort(lines, by_line);
	return 0;
}

static int merged_text(struct text *t, const struct view_request *r, const struct query_inlined *f)
{
	const struct run_info *run = query_run(r->query);
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct inlined_line));
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], name[PLACE_SIZE];
	int err = merge(r->query, f, lines);

	fputs("\n  Lines of all copies\n", t->out);
	fprintf(t->out, "  %11s %12s %6s  %s\n", "executions", "cycles", "share", "line");
	for (guint i = 0; i < lines->len && !err; i++) {
		const struct inlined_line *m = &g_array_index(lines, struct inlined_line, i);

		fprintf(t->out, "  %11s %12s %5s%%  ", number_grouped(a, m->executions),
		        number_whole(b, m->units, run->units_per_cycle),
		        number_ratio(c, m->units * 100, run->cycles_units ? run->cycles_units : 1, 1));
		text_field(t, place_line(m->file, m->line, name), t->width - 36, false, true);
		fputc('\n', t->out);
	}
	g_array_free(lines, TRUE);
	return err;
}

static int copy_text(struct text *t, const struct view_request *r, const struct query_copy *copy, struct stack_sum *sum)
{
	char calls[PLACE_SIZE];
	struct listing *l;
	int err = listing_new_copies(&l, r->query, copy, 1);

	if (err)
		return err;
	fputs("\n  ", t->out);
	text_fill(t, 2, 2, inlined_calls(copy, calls));
	fputs("  ", t->out);
	amount(t, query_run(r->query), &copy->stack);
	fputs("\n\n", t->out);
	rows(t, r, l, sum);
	listing_free(l);
	return 0;
}

static int inlined_text(struct text *t, const struct view_request *r, const struct query_inlined *f,
                        struct stack_sum *sum)
{
	uint32_t most = r->limit && r->limit < f->nr_copies ? (uint32_t)r->limit : r->limit ? f->nr_copies : COPIES;
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;
	int err = 0;

	text_heading(t, "%s  [%s], inlined", f->symbol, slash ? slash + 1 : f->module ? f->module : "?");
	if (f->file)
		place_of_line(t, f->file, f->line);
	fputs("  ", t->out);
	amount(t, query_run(r->query), &f->stack);
	fprintf(t->out, "; inlined at %" PRIu32 " call%s\n", f->nr_copies, f->nr_copies == 1 ? "" : "s");
	if (f->nr_copies > 1)
		err = merged_text(t, r, f);
	for (uint32_t i = 0; i < f->nr_copies && i < most && !err; i++)
		err = copy_text(t, r, &f->copy[i], sum);
	if (f->nr_copies > most)
		fprintf(t->out, "\n  %" PRIu32 " more with fewer cycles: --limit %" PRIu32 " shows all\n",
		        f->nr_copies - most, f->nr_copies);
	return err;
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

static int function_text(struct text *t, const struct view_request *r, struct stack_sum *sum)
{
	const struct run_info *run = query_run(r->query);
	const struct query_function *f = r->function;
	char name[PLACE_SIZE];
	struct listing *l;
	int err = listing_new(&l, r->query, f, r->around);

	if (err)
		return err;
	text_heading(t, "%s", place_function(f, true, name));
	if (f->file)
		place_of_line(t, f->file, f->line);
	fputs("  ", t->out);
	amount(t, run, &f->stack);
	if (f->symbol || !r->around)
		fprintf(t->out, "; %" PRIu32 " of %zu instructions executed\n\n", f->nr_insns, l->nr);
	else
		fprintf(t->out, "; %zu of the %" PRIu32 " instructions executed, around 0x%" PRIx64 "\n\n", l->nr,
		        f->nr_insns, r->around->address);
	rows(t, r, l, sum);
	if (l->partial)
		fprintf(t->out, "\n  What was never executed is not shown: %s.\n", l->partial);
	listing_free(l);
	return 0;
}

static int text(struct text *t, const struct view_request *r)
{
	struct stack_sum sum = { .total = 0 };
	int err;

	assert(r->function || r->nr_inlined);
	head_text(t, r);
	err = r->function ? function_text(t, r, &sum) : 0;
	for (size_t i = 0; i < r->nr_inlined && !err; i++)
		err = inlined_text(t, r, r->inlined[i], &sum);
	if (err)
		return err;
	text_heading(t, "Letters of the stacks");
	stack_legend(t, &sum);
	err = r->function ? resources(t, r) : 0;
	return err ? err : notes_text(t, r);
}

/* The lines that the code came from, each once, in the order of first sight. */
static void source_json(struct json *j, const struct view_request *r, struct listing *l)
{
	struct sources *sources = sources_new(r);

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
		json_string(j, "text", sources_line(sources, row->file, row->line));
		json_end_object(j);
	}
	json_end_array(j);
	sources_free(sources);
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

/* A row of a listing. Only a function's own has what was never executed. */
static void row_json(struct json *j, const struct view_request *r, const struct listing_row *row,
                     struct resources *table)
{
	const struct query_function *f = r->function;

	if (row->insn) {
		insn_json_open(j, r, row->insn);
		if (table)
			resources_json(j, table, row->insn);
		json_end_object(j);
		return;
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

/* The inlined copies of the function, by line and by call. */
static int inlined_json(struct json *j, const struct view_request *r)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct inlined_line));
	int err = 0;

	json_array(j, "inlined");
	for (size_t i = 0; i < r->nr_inlined && !err; i++) {
		g_array_set_size(lines, 0);
		err = merge(r->query, r->inlined[i], lines);
		inlined_json_open(j, r, r->inlined[i]);
		json_array(j, "lines");
		for (guint k = 0; k < lines->len; k++) {
			const struct inlined_line *m = &g_array_index(lines, struct inlined_line, k);

			json_object(j, NULL);
			json_string(j, "file", m->file);
			line_json(j, m->line);
			json_uint(j, "executions", m->executions);
			cycles_json(j, "cycles", r, m->units);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	g_array_free(lines, TRUE);
	return err;
}

/* All code that the operand names: the function's or, where it was inlined everywhere, that of its copies. */
static int listing_of(struct listing **out, const struct view_request *r)
{
	GArray *copies;
	int err;

	if (r->function)
		return listing_new(out, r->query, r->function, r->around);
	copies = g_array_new(FALSE, FALSE, sizeof(struct query_copy));
	for (size_t i = 0; i < r->nr_inlined; i++)
		g_array_append_vals(copies, r->inlined[i]->copy, r->inlined[i]->nr_copies);
	err = listing_new_copies(out, r->query, (const struct query_copy *)(void *)copies->data, copies->len);
	g_array_free(copies, TRUE);
	return err;
}

static int json(struct json *j, const struct view_request *r)
{
	struct resources *table = NULL;
	struct listing *l;
	int err, more;

	assert(r->function || r->nr_inlined);
	err = r->resources ? resources_new(&table, r->query) : 0;
	if (!err)
		err = listing_of(&l, r);
	if (err) {
		resources_free(table);
		return err;
	}
	json_object(j, NULL);
	head_json(j, r);
	cycles_json(j, "cycles", r, query_run(r->query)->cycles_units);
	json_uint(j, "instructions", query_run(r->query)->instructions);
	json_array(j, "functions");
	if (r->function)
		function_json(j, r, r->function);
	for (size_t i = 0; i < r->nr_inlined && !r->function; i++)
		inlined_function_json(j, r, r->inlined[i]);
	json_end_array(j);
	err = inlined_json(j, r);
	hot_json(j, r, l);
	json_array(j, "code");
	for (size_t i = 0; i < l->nr; i++)
		row_json(j, r, &l->row[i], table);
	json_end_array(j);
	source_json(j, r, l);
	listing_free(l);
	resources_free(table);
	more = notes_json(j, r);
	json_end_object(j);
	return err ? err : more;
}

const struct view view_annotate = {
	.name = "annotate",
	.help = "source and disassembly of one function with the stack of each instruction",
	.text = text,
	.json = json,
};
