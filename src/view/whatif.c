/*
 * What a run would have taken if: what each event, or prefetch, would change, beside its share of the cycle stacks.
 *
 * Read from the figures of the method `whatif`: "cycles" of the run as it was, "N/cycles" and "N/share" of what-if N.
 * What N is say the run's keys "whatif.N.never" (events), "whatif.N.of" (instructions, in words), "whatif.N.insn"
 * (where it is one) and "whatif.N.distance" (of a prefetch).
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/head.h"
#include "view/number.h"
#include "view/place.h"
#include "view/view.h"

enum { NAME = 13, BAR = 12 };
enum { WORTH = 10 };                   /* a saving to lead with, thousandths */

struct supposed {
	const char *never;             /* NULL: a prefetch */
	const char *of;                /* NULL: one instruction */
	const struct query_insn *in;   /* NULL: several */
	uint64_t distance;
	uint64_t cycles, share;
};

struct study {
	GArray *never, *prefetch;      /* struct supposed */
	uint64_t cycles;               /* of the run as it was */
};

static void study_fini(struct study *s)
{
	g_array_free(s->never, TRUE);
	g_array_free(s->prefetch, TRUE);
}

static const char *value(struct query *q, const char *number, size_t digits, const char *what)
{
	char key[64];

	snprintf(key, sizeof key, "whatif.%.*s.%s", (int)digits, number, what);
	return query_value(q, key);
}

static const struct query_insn *insn_of(const struct query_insn *in, size_t nr, const char *number)
{
	uint64_t wanted = number ? g_ascii_strtoull(number, NULL, 10) : UINT64_MAX;

	for (size_t i = 0; i < nr; i++)
		if (in[i].insn == wanted)
			return &in[i];
	return NULL;
}

static int gather(struct study *s, const struct view_request *r)
{
	const struct query_figure *f;
	const struct query_insn *in;
	size_t n, insns;
	int err = query_figures(r->query, "whatif", &f, &n);

	*s = (struct study){
		.never = g_array_new(FALSE, FALSE, sizeof(struct supposed)),
		.prefetch = g_array_new(FALSE, FALSE, sizeof(struct supposed)),
	};
	if (!err)
		err = query_hot(r->query, 0, &in, &insns, NULL);
	for (size_t i = 0; i < n && !err; i++) {
		size_t digits = strspn(f[i].name, "0123456789");
		const char *distance;

		if (!strcmp(f[i].name, "cycles"))
			s->cycles = (uint64_t)f[i].value;
		if (!digits || strcmp(f[i].name + digits, "/cycles"))
			continue;
		if (i + 1 == n || strcmp(f[i + 1].name + digits, "/share")) {
			err = error_set(EINVAL, f[i].name, "is no figure of a what-if");
			break;
		}
		distance = value(r->query, f[i].name, digits, "distance");
		const struct supposed one = {
			.never = value(r->query, f[i].name, digits, "never"),
			.of = value(r->query, f[i].name, digits, "of"),
			.in = insn_of(in, insns, value(r->query, f[i].name, digits, "insn")),
			.distance = distance ? g_ascii_strtoull(distance, NULL, 10) : 0,
			.cycles = (uint64_t)f[i].value,
			.share = (uint64_t)llround(f[i + 1].value),
		};
		if (!one.of == !one.in || !one.never == !one.distance)
			err = error_set(EINVAL, f[i].name, "is no figure of a what-if");
		else
			g_array_append_val(one.never ? s->never : s->prefetch, one);
	}
	return err;
}

static const struct supposed *supposed_at(const GArray *list, guint i)
{
	return &g_array_index(list, struct supposed, i);
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void where_json(struct json *j, const struct supposed *w)
{
	if (w->of) {
		json_string(j, "instructions", w->of);
		return;
	}
	place_json(j, w->in);
	json_string(j, "disassembly", w->in->disassembly);
	json_uint(j, "executions", w->in->executions);
}

static void outcome_json(struct json *j, const struct study *s, const struct supposed *w)
{
	json_uint(j, "cycles", w->cycles);
	json_ratio(j, "speedup", s->cycles, w->cycles);
}

static void never_json(struct json *j, const struct study *s, const struct supposed *w)
{
	char **events = g_strsplit(w->never, "+", -1);

	json_object(j, NULL);
	json_array(j, "never");
	for (char **e = events; *e; e++)
		json_string(j, NULL, *e);
	json_end_array(j);
	where_json(j, w);
	json_uint(j, "share", w->share);
	outcome_json(j, s, w);
	json_end_object(j);
	g_strfreev(events);
}

/* A load with all its distances, which stand together; returns the first what-if that is not of it. */
static guint prefetch_json(struct json *j, const struct study *s, guint i)
{
	const struct supposed *first = supposed_at(s->prefetch, i);

	json_object(j, NULL);
	where_json(j, first);
	json_uint(j, "share", first->share);
	json_array(j, "distances");
	for (; i < s->prefetch->len && supposed_at(s->prefetch, i)->in == first->in; i++) {
		json_object(j, NULL);
		json_uint(j, "distance", supposed_at(s->prefetch, i)->distance);
		outcome_json(j, s, supposed_at(s->prefetch, i));
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	return i;
}

static int json(struct json *j, const struct view_request *r)
{
	struct study s;
	int err = gather(&s, r);

	if (!err) {
		json_object(j, NULL);
		head_json(j, r);
		json_uint(j, "instructions", query_run(r->query)->instructions);
		json_uint(j, "cycles", s.cycles);
		json_array(j, "whatifs");
		for (guint i = 0; i < s.never->len; i++)
			never_json(j, &s, supposed_at(s.never, i));
		json_end_array(j);
		json_array(j, "prefetches");
		for (guint i = 0; i < s.prefetch->len; )
			i = prefetch_json(j, &s, i);
		json_end_array(j);
		err = notes_json(j, r);
		json_end_object(j);
	}
	study_fini(&s);
	return err;
}

/* --- text -------------------------------------------------------------------------------------------- */

/* Thousandths of the run's cycles. */
static int64_t thousandths(const struct study *s, double cycles)
{
	return s->cycles ? (int64_t)llround(cycles * 1000 / (double)s->cycles) : 0;
}

static int64_t change(const struct study *s, const struct supposed *w)
{
	return thousandths(s, (double)w->cycles - (double)s->cycles);
}

static void percent(char buf[NUMBER_SIZE], int64_t part, const char *plus)
{
	char number[NUMBER_SIZE];

	snprintf(buf, NUMBER_SIZE, "%s%s%%",
	         part > 0   ? plus
	         : part < 0 ? "-"
	                    : "",
	         number_ratio(number, (uint64_t)(part < 0 ? -part : part), 10, 1));
}

static void bar(struct text *t, int64_t part, int64_t full, const char *style)
{
	unsigned width = text_bar(t, BAR), n = part > 0 ? (unsigned)MIN(part * width / full, (int64_t)width) : 0;

	text_style(t, style);
	for (unsigned i = 0; i < n; i++)
		fputc('#', t->out);
	text_style(t, NULL);
	fprintf(t->out, "%*s", (int)(width - n), "");
}

/* What is saved, of which there may be none, and the speed. */
static void saving(struct text *t, const struct study *s, const struct supposed *w, int64_t full)
{
	char saved[NUMBER_SIZE], speed[NUMBER_SIZE];

	percent(saved, change(s, w), "+");
	fprintf(t->out, "%7s  ", saved);
	bar(t, -change(s, w), full, "32");
	fprintf(t->out, " %6s", w->cycles ? number_ratio(speed, s->cycles, w->cycles, 2) : "");
}

/* The instruction in two lines, the first of which has begun at `column`. */
static void instruction(struct text *t, const struct query_insn *in, unsigned column)
{
	char where[PLACE_SIZE];

	text_field(t, in->disassembly, t->width - column, false, false);
	fprintf(t->out, "\n%*s", (int)column, "");
	text_field(t, place_insn(in, where), t->width - column, false, false);
	fputc('\n', t->out);
}

static void never_text(struct text *t, const struct study *s, const struct supposed *w, int64_t full)
{
	const unsigned column = 2 + NAME + 1 + 7 + 2 + 1 + 7 + 2 + 7 + 2 + 2 * text_bar(t, BAR);
	char share[NUMBER_SIZE];

	percent(share, thousandths(s, (double)w->share), "");
	fputs("  ", t->out);
	text_field(t, strlen(w->never) <= NAME ? w->never : "these events", NAME, true, false);
	fprintf(t->out, " %7s  ", share);
	bar(t, thousandths(s, (double)w->share), full, "33");
	fputc(' ', t->out);
	saving(t, s, w, full);
	fputs("  ", t->out);
	if (w->in) {
		instruction(t, w->in, column);
	} else {
		text_field(t, w->of, t->width - column, false, false);
		fputc('\n', t->out);
	}
}

static guint prefetch_text(struct text *t, const struct study *s, guint i, int64_t full)
{
	const struct supposed *first = supposed_at(s->prefetch, i);
	char share[NUMBER_SIZE];

	percent(share, thousandths(s, (double)first->share), "");
	text_heading(t, "Prefetched");
	fputs("  ", t->out);
	instruction(t, first->in, 2);
	fprintf(t->out, "  its misses are %s of the cycles\n", share);
	fprintf(t->out, "  %-*s %7s  %-*s %6s\n", NAME, "  executions ahead", "cycles", (int)text_bar(t, BAR), "",
	        "speed");
	for (; i < s->prefetch->len && supposed_at(s->prefetch, i)->in == first->in; i++) {
		fprintf(t->out, "  %18" PRIu64 " ", supposed_at(s->prefetch, i)->distance);
		saving(t, s, supposed_at(s->prefetch, i), full);
		fputc('\n', t->out);
	}
	fputs("  What the instructions of the prefetch would cost is not counted.\n", t->out);
	return i;
}

/* The longest bar that is needed, at least 2%. */
static int64_t full_bar(const struct study *s)
{
	int64_t full = 20;

	for (guint i = 0; i < s->never->len; i++) {
		full = MAX(full, -change(s, supposed_at(s->never, i)));
		full = MAX(full, thousandths(s, (double)supposed_at(s->never, i)->share));
	}
	for (guint i = 0; i < s->prefetch->len; i++)
		full = MAX(full, -change(s, supposed_at(s->prefetch, i)));
	return full;
}

static const struct supposed *best_of(const GArray *list)
{
	const struct supposed *best = NULL;

	for (guint i = 0; i < list->len; i++) {
		const struct supposed *w = supposed_at(list, i);
		if (w->in && (!best || w->cycles < best->cycles))
			best = w;
	}
	return best;
}

static void sentence(struct text *t, const struct study *s)
{
	const struct supposed *never = best_of(s->never), *prefetch = best_of(s->prefetch);
	char line[PLACE_SIZE + 200], where[PLACE_SIZE], saved[NUMBER_SIZE], share[NUMBER_SIZE];
	const struct supposed *best = never ? never : prefetch;

	if (!best)
		return;
	percent(saved, MAX(-change(s, best), 0), "");
	percent(share, thousandths(s, (double)best->share), "");
	place_insn(best->in, where);
	where[strcspn(where, " ")] = '\0';
	if (never && s->never->len > 1 && -change(s, best) < WORTH)
		snprintf(line, sizeof line,
		         "None of these would by itself save 1%% of the cycles: the most is %s, without %s of %s. "
		         "--event %s takes "
		         "that event from all instructions at once.",
		         saved, best->never, where, best->never);
	else if (never)
		snprintf(line, sizeof line,
		         "Without %s of %s this run would take %s fewer cycles; its share of them is %s%s.",
		         best->never, where, saved, share,
		         -change(s, best) > 2 * thousandths(s, (double)best->share) ? ": the rest are what it made late"
		                                                                    : "");
	else
		snprintf(line, sizeof line,
		         "Prefetched %" PRIu64
		         " executions ahead, %s would save %s of the cycles; its misses are %s of them.",
		         best->distance, where, saved, share);
	fputs("\n  ", t->out);
	text_style(t, "1");
	text_fill(t, 2, 2, line);
	text_style(t, NULL);
}

static int text(struct text *t, const struct view_request *r)
{
	struct study s;
	int err = gather(&s, r);

	if (!err) {
		int64_t full = full_bar(&s);
		head_text(t, r);
		sentence(t, &s);
		if (s.never->len)
			text_heading(t, "%-*s %8s  %-*s %7s  %-*s %6s  %s", NAME, "Without", "share",
			             (int)text_bar(t, BAR), "", "cycles", (int)text_bar(t, BAR), "", "speed", "of");
		for (guint i = 0; i < s.never->len; i++)
			never_text(t, &s, supposed_at(s.never, i), full);
		for (guint i = 0; i < s.prefetch->len; )
			i = prefetch_text(t, &s, i, full);
		err = notes_text(t, r);
	}
	study_fini(&s);
	return err;
}

const struct view view_whatif = {
	.name = "whatif",
	.help = "what a run would take without given events",
	.text = text,
	.json = json,
};
