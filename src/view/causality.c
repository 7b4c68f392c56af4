/*
 * Which instructions determine the length of the run: their shares of its critical path, and what binds them there.
 *
 * Read from the figures of single instructions of the method `causality`: "share", and "bound/NAME", the part of the
 * instruction's executions on the path that NAME bound.
 */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "view/head.h"
#include "view/number.h"
#include "view/place.h"
#include "view/view.h"

enum { LISTED = 20, BAR = 12, BY = 24, BOUNDS = 3 };

struct cause {
	const struct query_insn *in;
	double share;
	const struct query_figure *figure; /* [nr]: its bounds */
	size_t nr;
};

static int by_share(gconstpointer a, gconstpointer b)
{
	const struct cause *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->in->address != y->in->address)
		return x->in->address < y->in->address ? -1 : 1;
	return x->in->insn < y->in->insn ? -1 : x->in->insn > y->in->insn;
}

/* All instructions on the path, those with the largest share first; free with g_array_free(). */
static int gather(GArray **out, const struct view_request *r)
{
	const struct query_figure *f;
	const struct query_insn *in;
	GHashTable *at = g_hash_table_new(NULL, NULL);
	size_t nr, insns;
	int err = query_insn_figures(r->query, "causality", &f, &nr);

	*out = g_array_new(FALSE, FALSE, sizeof(struct cause));
	if (!err)
		err = query_hot(r->query, 0, &in, &insns, NULL);
	for (size_t i = 0; i < insns && !err; i++)
		g_hash_table_insert(at, GUINT_TO_POINTER(in[i].insn), (gpointer)(uintptr_t)&in[i]);
	for (size_t i = 0; i < nr && !err; ) {
		struct cause c = { .in = g_hash_table_lookup(at, GUINT_TO_POINTER(f[i].insn)) };
		uint32_t insn = f[i].insn;

		for (; i < nr && f[i].insn == insn; i++) {
			if (!strcmp(f[i].name, "share")) {
				c.share = f[i].value;
				c.figure = &f[i] + 1;
				c.nr = 0;
			} else if (c.figure) {
				c.nr++;
			}
		}
		if (c.in && c.figure)
			g_array_append_val(*out, c);
	}
	g_hash_table_destroy(at);
	g_array_sort(*out, by_share);
	return err;
}

/* The name of a bound, behind "bound/". */
static const char *bound_name(const struct query_figure *f)
{
	const char *slash = strchr(f->name, '/');

	return slash ? slash + 1 : f->name;
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void cause_json(struct json *j, const struct cause *c)
{
	json_object(j, NULL);
	place_json(j, c->in);
	json_string(j, "disassembly", c->in->disassembly);
	json_uint(j, "executions", c->in->executions);
	json_share(j, "share", c->share);
	json_object(j, "resources");
	for (size_t i = 0; i < c->nr; i++)
		json_real(j, bound_name(&c->figure[i]), c->figure[i].value);
	json_end_object(j);
	json_end_object(j);
}

static int json(struct json *j, const struct view_request *r)
{
	GArray *causes;
	int err = gather(&causes, r);

	if (!err) {
		json_object(j, NULL);
		head_json(j, r);
		cycles_json(j, "cycles", r, query_run(r->query)->cycles_units);
		json_array(j, "instructions");
		for (guint i = 0; i < causes->len && (!r->limit || i < r->limit); i++)
			cause_json(j, &g_array_index(causes, struct cause, i));
		json_end_array(j);
		err = notes_json(j, r);
		json_end_object(j);
	}
	g_array_free(causes, TRUE);
	return err;
}

/* --- text -------------------------------------------------------------------------------------------- */

static char *percent(char buf[NUMBER_SIZE], double part)
{
	return number_ratio(buf, (uint64_t)llround(part * 1000), 10, 1);
}

/* The bounds with the largest parts, in words. */
static void bounds(char *buf, size_t size, const struct cause *c)
{
	bool taken[64] = { false };
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned n = 0; n < BOUNDS; n++) {
		size_t best = c->nr;
		char part[NUMBER_SIZE];

		for (size_t i = 0; i < c->nr && i < sizeof taken / sizeof *taken; i++)
			if (!taken[i] && (best == c->nr || c->figure[i].value > c->figure[best].value))
				best = i;
		if (best == c->nr || (n && c->figure[best].value < 0.05))
			break;
		taken[best] = true;
		at += (size_t)snprintf(buf + at, size - at, "%s%s %s%%", n ? ", " : "", bound_name(&c->figure[best]),
		                       number_ratio(part, (uint64_t)llround(c->figure[best].value * 100), 1, 0));
		if (at >= size)
			break;
	}
}

static void row(struct text *t, const struct cause *c, double most, double sum)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], d[NUMBER_SIZE], where[PLACE_SIZE], by[256];
	unsigned width = text_bar(t, BAR), bar = most > 0 ? (unsigned)(c->share / most * width) : 0;

	fprintf(t->out, "  %5s%% %5s%% %13s  ", percent(a, c->share), percent(b, sum),
	        number_grouped(d, c->in->executions));
	text_style(t, "36");
	for (unsigned i = 0; i < width; i++)
		fputc(i < bar ? '#' : ' ', t->out);
	text_style(t, NULL);
	fputs("  ", t->out);
	text_field(t, c->in->disassembly, t->width - 33 - width, false, false);
	fprintf(t->out, "\n%*s", (int)(33 + width), "");
	bounds(by, sizeof by, c);
	text_field(t, by, BY, true, false);
	fputs("  ", t->out);
	text_field(t, place_insn(c->in, where), t->width - 35 - BY - width, false, false);
	fputc('\n', t->out);
}

static int text(struct text *t, const struct view_request *r)
{
	GArray *causes;
	int err = gather(&causes, r);
	double sum = 0;

	if (!err) {
		guint n = MIN(causes->len, r->limit ? (guint)r->limit : LISTED);
		head_text(t, r);
		text_heading(t, "Critical path: instructions (%u of %u)", n, causes->len);
		fprintf(t->out, "  %6s %6s %13s  %-*s  %s\n", "share", "sum", "executions", (int)text_bar(t, BAR), "",
		        "instruction");
		for (guint i = 0; i < n; i++) {
			const struct cause *c = &g_array_index(causes, struct cause, i);
			sum += c->share;
			row(t, c, g_array_index(causes, struct cause, 0).share, sum);
		}
		if (!causes->len)
			fputs("  no instruction that was counted is on it\n", t->out);
		err = notes_text(t, r);
	}
	g_array_free(causes, TRUE);
	return err;
}

const struct view view_causality = {
	.name = "causality",
	.help = "the critical path: instructions, and what binds them",
	.text = text,
	.json = json,
};
