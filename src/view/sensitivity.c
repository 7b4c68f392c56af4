/*
 * Which resource limits the run: a tornado chart of what each would change, and the sentence it comes down to.
 *
 * Read from the figures of the method `sensitivity`: "NAME/capacity", "NAME/WEIGHT" the cycles with the capacity
 * weighted so; a combination's NAME joins those of its resources by '+'. Units are the run's keys "unit.NAME".
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
#include "view/view.h"

enum { MOST_RUNS = 16, NAME = 17, CAPACITY = 20, LISTED = 24 };
enum { NARROWEST = 7, WIDEST = 20, BESIDE_BARS = 2 + NAME + 1 + CAPACITY + 8 + 1 + 1 + 8 + 7 };

struct weighted {
	double weight;
	uint64_t cycles;
};

struct resource {
	const char *unit;              /* NULL: a combination */
	char *name;
	double capacity;
	struct weighted run[MOST_RUNS]; /* [nr], by weight */
	unsigned nr;
	bool time;                     /* relaxed is below 1 */
};

struct study {
	GPtrArray *resources, *combinations; /* struct resource *, those that speed up most first */
	uint64_t cycles;               /* of the core as it is */
};

static void resource_free(gpointer p)
{
	struct resource *r = p;

	g_free(r->name);
	g_free(r);
}

static void study_fini(struct study *s)
{
	g_ptr_array_free(s->resources, TRUE);
	g_ptr_array_free(s->combinations, TRUE);
}

static struct resource *resource_of(struct study *s, struct query *q, const char *name)
{
	GPtrArray *list = strchr(name, '+') ? s->combinations : s->resources;
	char key[256];

	for (guint i = 0; i < list->len; i++)
		if (!strcmp(((struct resource *)list->pdata[i])->name, name))
			return list->pdata[i];
	struct resource *r = g_new0(struct resource, 1);
	r->name = g_strdup(name);
	snprintf(key, sizeof key, "unit.%s", name);
	r->unit = query_value(q, key);
	r->time = r->unit && (!strcmp(r->unit, "cycles") || !strcmp(r->unit, "ns"));
	g_ptr_array_add(list, r);
	return r;
}

static int by_weight(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;
	return x->weight < y->weight ? -1 : x->weight > y->weight;
}

/* The run in which there is most of the resource; NULL: in none there is more. */
static const struct weighted *relaxed(const struct resource *r)
{
	const struct weighted *w = r->nr ? r->time ? &r->run[0] : &r->run[r->nr - 1] : NULL;
	return w && (r->time ? w->weight < 1 : w->weight > 1) ? w : NULL;
}

/* ... and least. */
static const struct weighted *tightened(const struct resource *r)
{
	const struct weighted *w = r->nr ? r->time ? &r->run[r->nr - 1] : &r->run[0] : NULL;
	return w && (r->time ? w->weight > 1 : w->weight < 1) ? w : NULL;
}

static int by_speedup(gconstpointer a, gconstpointer b)
{
	const struct resource *x = *(const struct resource *const *)a, *y = *(const struct resource *const *)b;
	const struct weighted *v = relaxed(x), *w = relaxed(y);
	uint64_t m = v ? v->cycles : UINT64_MAX, n = w ? w->cycles : UINT64_MAX;

	if (m != n)
		return m < n ? -1 : 1;
	v = tightened(x);
	w = tightened(y);
	m = v ? v->cycles : 0;
	n = w ? w->cycles : 0;
	return m != n ? (m > n ? -1 : 1) : strcmp(x->name, y->name);
}

static int gather(struct study *s, const struct view_request *req)
{
	const struct run_info *run = query_run(req->query);
	const struct query_figure *f;
	size_t n;
	int err = query_figures(req->query, "sensitivity", &f, &n);

	*s = (struct study){
		.resources = g_ptr_array_new_with_free_func(resource_free),
		.combinations = g_ptr_array_new_with_free_func(resource_free),
		.cycles = run->cycles_units / run->units_per_cycle,
	};
	for (size_t i = 0; i < n && !err; i++) {
		const char *slash = strrchr(f[i].name, '/');
		char *name = slash ? g_strndup(f[i].name, (gsize)(slash - f[i].name)) : NULL;

		if (!name) {
			err = error_set(EINVAL, f[i].name, "is no figure of a sensitivity analysis");
			break;
		}
		struct resource *r = resource_of(s, req->query, name);
		if (!strcmp(slash, "/capacity"))
			r->capacity = f[i].value;
		else if (r->nr < MOST_RUNS)
			r->run[r->nr++] = (struct weighted){ g_ascii_strtod(slash + 1, NULL), (uint64_t)f[i].value };
		g_free(name);
	}
	for (guint i = 0; i < s->resources->len; i++) {
		struct resource *r = s->resources->pdata[i];
		qsort(r->run, r->nr, sizeof *r->run, by_weight);
	}
	g_ptr_array_sort(s->resources, by_speedup);
	g_ptr_array_sort(s->combinations, by_speedup);
	return err;
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void weight_json(struct json *j, const char *key, double value)
{
	json_ratio(j, key, (uint64_t)llround(value * 1000), 1000);
}

static void resource_json(struct json *j, const struct study *s, const struct resource *r)
{
	const struct weighted *best = relaxed(r);

	json_object(j, NULL);
	json_string(j, "name", r->name);
	if (r->unit) {
		json_string(j, "unit", r->unit);
		weight_json(j, "capacity", r->capacity);
	}
	json_array(j, "runs");
	for (unsigned i = 0; i < r->nr; i++) {
		json_object(j, NULL);
		weight_json(j, "weight", r->run[i].weight);
		json_uint(j, "cycles", r->run[i].cycles);
		json_ratio(j, "speedup", s->cycles, r->run[i].cycles);
		json_end_object(j);
	}
	json_end_array(j);
	json_ratio(j, "speedup", best ? s->cycles : 0, best ? best->cycles : 0);
	json_end_object(j);
}

static int json(struct json *j, const struct view_request *req)
{
	struct study s;
	int err = gather(&s, req);

	if (!err) {
		json_object(j, NULL);
		head_json(j, req);
		json_uint(j, "instructions", query_run(req->query)->instructions);
		json_uint(j, "cycles", s.cycles);
		json_array(j, "resources");
		for (guint i = 0; i < s.resources->len && (!req->limit || i < req->limit); i++)
			resource_json(j, &s, s.resources->pdata[i]);
		json_end_array(j);
		json_array(j, "combinations");
		for (guint i = 0; i < s.combinations->len; i++)
			resource_json(j, &s, s.combinations->pdata[i]);
		json_end_array(j);
		err = notes_json(j, req);
		json_end_object(j);
	}
	study_fini(&s);
	return err;
}

/* --- text -------------------------------------------------------------------------------------------- */

/* Thousandths of the run's cycles that `cycles` are more. */
static int64_t change(const struct study *s, uint64_t cycles)
{
	return s->cycles ? (int64_t)llround(((double)cycles - (double)s->cycles) * 1000 / (double)s->cycles) : 0;
}

static void percent(struct text *t, const struct study *s, const struct weighted *w)
{
	char buf[24];

	if (w) {
		int64_t c = change(s, w->cycles);
		snprintf(buf, sizeof buf, "%s%" PRId64 ".%" PRId64 "%%",
		         c > 0   ? "+"
		         : c < 0 ? "-"
		                 : "",
		         (c < 0 ? -c : c) / 10, (c < 0 ? -c : c) % 10);
	}
	fprintf(t->out, "%8s", w ? buf : "");
}

/* A bar on either side: `width` columns where it is `full` thousandths or more. */
struct scale {
	int64_t full;
	int width;
};

static int columns(const struct study *s, const struct weighted *w, const struct scale *bar)
{
	int64_t c = w ? change(s, w->cycles) : 0;

	if (c < 0)
		c = -c;
	return (int)MIN(c * bar->width / bar->full, (int64_t)bar->width);
}

/* What there is of it: a figure of the core, or in words where every instruction has one of its own. */
static void capacity_words(char *buf, size_t size, const struct resource *r)
{
	char number[NUMBER_SIZE];

	if (g_str_has_prefix(r->name, "latency"))
		snprintf(buf, size, "of each instruction");
	else if (!strcmp(r->name, "branch"))
		snprintf(buf, size, "each misprediction");
	else
		snprintf(buf, size, "%s %s", number_trimmed(number, (uint64_t)llround(r->capacity * 1000), 1000),
		         r->unit);
}

/* What limits is on the right: fewer cycles with more of it. */
static void row(struct text *t, const struct study *s, const struct resource *r, const struct scale *bar)
{
	const struct weighted *less = tightened(r), *more = relaxed(r);
	int left = columns(s, less, bar), right = columns(s, more, bar);
	char capacity[48] = "", speedup[NUMBER_SIZE];

	if (r->unit)
		capacity_words(capacity, sizeof capacity, r);
	fputs("  ", t->out);
	text_field(t, r->name, r->unit ? NAME : NAME + 1 + CAPACITY, true, false);
	if (r->unit) {
		fputc(' ', t->out);
		text_field(t, capacity, CAPACITY, true, false);
	}
	percent(t, s, less);
	fprintf(t->out, " %*s", bar->width - left, "");
	text_style(t, "31");
	for (int i = 0; i < left; i++)
		fputc('#', t->out);
	text_style(t, NULL);
	fputc('|', t->out);
	text_style(t, "32");
	for (int i = 0; i < right; i++)
		fputc('#', t->out);
	text_style(t, NULL);
	fprintf(t->out, "%*s", bar->width - right, "");
	percent(t, s, more);
	fprintf(t->out, " %6s\n", more && more->cycles ? number_ratio(speedup, s->cycles, more->cycles, 2) : "");
}

/* "half the latency", "twice the p23", "half the mispredictions". */
static void relaxing(char *buf, size_t size, const struct resource *r)
{
	char number[NUMBER_SIZE];
	double w = relaxed(r)->weight;

	if (!strcmp(r->name, "branch") && w == 2)
		snprintf(buf, size, "half the mispredictions");
	else if (r->time && w == 0.5)
		snprintf(buf, size, "half the %s", r->name);
	else if (!r->time && w == 2)
		snprintf(buf, size, "twice the %s", r->name);
	else
		snprintf(buf, size, "%s times the %s", number_trimmed(number, (uint64_t)llround(w * 1000), 1000),
		         r->name);
}

/* The best combination, if it says more than its parts. */
static const struct resource *together(const struct study *s, const struct resource *top)
{
	const struct resource *best = s->combinations->len ? s->combinations->pdata[0] : NULL;

	if (!best || !relaxed(best))
		return NULL;
	/* Of combinations as good to a thousandth, the one with the fewest parts. */
	for (guint i = 1; i < s->combinations->len; i++) {
		const struct resource *c = s->combinations->pdata[i];
		if (relaxed(c) && strlen(c->name) < strlen(best->name) &&
		    change(s, relaxed(c)->cycles) <= change(s, relaxed(best)->cycles) + 1)
			best = c;
	}
	return change(s, relaxed(best)->cycles) + 10 < change(s, relaxed(top)->cycles) ? best : NULL;
}

static void sentence(struct text *t, const struct study *s)
{
	const struct resource *top = s->resources->len ? s->resources->pdata[0] : NULL;
	char what[160], line[800], fewer[NUMBER_SIZE], joint[NUMBER_SIZE];

	if (!top || !relaxed(top))
		return;
	int64_t c = change(s, relaxed(top)->cycles);
	const struct resource *both = together(s, top);
	int at;

	relaxing(what, sizeof what, top);
	if (c <= -20)
		at = snprintf(line, sizeof line, "What limits this run is %s: with %s it would take %s%% fewer cycles.",
		              top->name, what, number_ratio(fewer, (uint64_t)-c, 10, 1));
	else
		at = snprintf(line, sizeof line,
		              "No resource limits this run by itself: even %s would save only %s%% of its cycles.",
		              what, number_ratio(fewer, (uint64_t)(c < 0 ? -c : 0), 10, 1));
	if (both)
		snprintf(line + at, sizeof line - (size_t)at, " Relaxed together, %s would save %s%%.", both->name,
		         number_ratio(joint, (uint64_t)-change(s, relaxed(both)->cycles), 10, 1));
	fputs("\n  ", t->out);
	text_style(t, "1");
	text_fill(t, 2, 2, line);
	text_style(t, NULL);
}

static int text(struct text *t, const struct view_request *req)
{
	struct study s;
	int err = gather(&s, req);
	/* never a full bar for less than 2% */
	struct scale bar = { 20, CLAMP(((int)t->width - BESIDE_BARS) / 2, NARROWEST, WIDEST) };

	if (err) {
		study_fini(&s);
		return err;
	}
	head_text(t, req);
	sentence(t, &s);
	for (guint i = 0; i < s.resources->len; i++) {
		const struct resource *r = s.resources->pdata[i];
		bar.full = MAX(bar.full, relaxed(r) ? -change(&s, relaxed(r)->cycles) : 0);
		bar.full = MAX(bar.full, tightened(r) ? MIN(change(&s, tightened(r)->cycles), (int64_t)1000) : 0);
	}
	text_heading(t, "%-*s %-*s %8s %*s|%-*s %7s %6s", NAME, "Resource", CAPACITY, "  there is", "less", bar.width,
	             "slower ", bar.width, " faster", "more", "speed");
	guint shown = 0, limit = req->limit ? (guint)req->limit : req->verbose ? G_MAXUINT : LISTED;
	for (; shown < s.resources->len && shown < limit; shown++)
		row(t, &s, s.resources->pdata[shown], &bar);
	if (shown < s.resources->len)
		fprintf(t->out, "  %u more change less (-v shows them)\n", s.resources->len - shown);
	if (s.combinations->len) {
		text_heading(t, "Together");
		for (guint i = 0; i < s.combinations->len; i++)
			row(t, &s, s.combinations->pdata[i], &bar);
	}
	study_fini(&s);
	return notes_text(t, req);
}

const struct view view_sensitivity = {
	.name = "sensitivity",
	.help = "which resource limits the run: what each would change",
	.text = text,
	.json = json,
};
