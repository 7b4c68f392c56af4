/*
 * What models promise of each finding, read from the figures that diagnosis.h names, and the order of findings by it.
 */
#include <glib.h>
#include <string.h>

#include "view/diagnosis_private.h"

/* Least speed-up that is worth telling; the largest part of the run that can be saved. */
static const double LEAST_SPEEDUP = 1.005, LEAST_RELAXED = 1.02, MOST_SAVED = 0.99;

const char *finding_key(const struct finding *f, char buf[FINDING_KEY])
{
	g_snprintf(buf, FINDING_KEY, "%s/%s", f->cause->event, f->cause->pattern);
	return buf;
}

static const char *resource_name(const struct facts_table *t, const struct query_insn *main, const char *bound,
                                 const char *name)
{
	static const char *const classes[] = { "latency.integer", "latency.multiply", "latency.float",
		                               "latency.vector" };
	unsigned class = (unsigned)facts_of(t, main->insn)->class;

	if (!strcmp(name, "{class}"))
		return classes[class < G_N_ELEMENTS(classes) ? class : 0];
	return strcmp(name, "{bound}") ? name : bound;
}

const char *finding_resource(const struct diagnosis *d, const struct finding *f, const char *name)
{
	return resource_name(d->facts, f->main, f->bound, name);
}

bool finding_can_prefetch(const struct diagnosis *d, const struct finding *f)
{
	return f->event & FINDING_DATA_EVENTS && cause_known_ahead(d->facts, facts_of(d->facts, f->part[0].insn->insn));
}

/* A resource's figure; NULL: it was not relaxed. */
static const struct query_figure *figure_of(const struct diagnosis_private *p, const char *name)
{
	for (size_t i = 0; name && i < p->nr_relaxed; i++)
		if (!strcmp(p->relaxed[i].name, name))
			return &p->relaxed[i];
	return NULL;
}

/* `latency` and `latency.float` relax the same. */
static bool same_family(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && !strncmp(a, b, n);
}

/* Units of all places that the resource stands for. */
static uint64_t units_of_resource(const struct diagnosis *d, const char *resource)
{
	const GPtrArray *relaxing = d->priv->relaxing;
	uint64_t units = 0;

	for (guint i = 0; i < relaxing->len; i++) {
		const struct group *g = relaxing->pdata[i];
		const struct query_insn *main = g->main ? g->main : g_array_index(g->part, struct finding_part, 0).insn;
		bool stands = false;

		for (const char *const *r = g->cause->relax; *r; r++) {
			const char *name = resource_name(d->facts, main, g->bound, *r);
			stands |= name && same_family(name, resource);
		}
		units += stands ? g->units : 0;
	}
	return units;
}

static void predict_relaxed(const struct diagnosis *d, struct finding *f)
{
	const struct query_figure *cycles = figure_of(d->priv, "cycles");

	for (const char *const *r = f->cause->relax; r && *r && cycles; r++) {
		const struct query_figure *figure = figure_of(d->priv, finding_resource(d, f, *r));

		if (!figure || figure->value <= 0 || figure->value >= cycles->value)
			continue;
		uint64_t units = MAX(units_of_resource(d, figure->name), f->units);
		double saved = (1 - figure->value / cycles->value) * (double)f->units / (double)units;
		double speedup = 1 / (1 - MIN(saved, MIN(MOST_SAVED, (double)f->units / (double)d->priv->total)));

		if (speedup > f->promise.relaxed) {
			f->promise.relaxed = speedup;
			f->promise.resource = figure->name;
		}
	}
}

/* The speed-up by which a figure of the run of the method `advice` is; 0: there is none. */
static double run_speedup(const struct diagnosis_private *p, const char *name)
{
	for (size_t i = 0; i < p->nr_run; i++)
		if (!strcmp(p->run[i].name, name) && p->run[i].value > 0)
			return (double)p->total / (double)p->units_per_cycle / p->run[i].value;
	return 0;
}

static void predict_delivery(const struct diagnosis_private *p, struct finding *f)
{
	char key[FINDING_KEY];

	if (diagnosis_delivers(p, f->cause))
		f->promise.never = run_speedup(p, finding_key(f, key));
}

static void predict_event(const struct diagnosis_private *p, struct finding *f, double cycles)
{
	char key[FINDING_KEY];
	size_t length = strlen(finding_key(f, key));

	for (size_t i = 0; i < p->nr_advice; i++) {
		const struct query_figure *figure = &p->advice[i];
		double speedup = figure->value > 0 ? cycles / figure->value : 0;

		if (figure->insn != f->main->insn || strncmp(figure->name, key, length))
			continue;
		if (!figure->name[length]) {
			f->promise.never = speedup;
		} else if (!strcmp(figure->name + length, FINDING_DATA)) {
			f->promise.data = speedup;
		} else if (speedup > f->promise.prefetched) {
			f->promise.prefetched = speedup;
			f->promise.distance = (unsigned)g_ascii_strtoull(figure->name + length + 1, NULL, 10);
		}
	}
}

/* The speed-up that it is ranked by; 0: none worth telling. */
static double speedup(const struct finding *f)
{
	double most = MAX(f->promise.never, f->promise.prefetched);

	return MAX(most >= LEAST_SPEEDUP ? most : 0, f->promise.relaxed >= LEAST_RELAXED ? f->promise.relaxed : 0);
}

static int by_speedup(gconstpointer a, gconstpointer b)
{
	const struct finding *x = a, *y = b;
	double m = speedup(x), n = speedup(y);

	if (m != n)
		return m > n ? -1 : 1;
	if (x->units != y->units)
		return x->units > y->units ? -1 : 1;
	if (x->main->insn != y->main->insn)
		return x->main->insn < y->main->insn ? -1 : 1;
	return x->event != y->event ? (x->event < y->event ? -1 : 1) : strcmp(x->cause->pattern, y->cause->pattern);
}

/* All ways of delivery are told with the one that saves most. */
static void predict_all(const struct diagnosis *d)
{
	const struct diagnosis_private *p = d->priv;
	struct promise *first = NULL;

	for (size_t i = 0; i < d->nr_predicted; i++) {
		struct finding *f = &g_array_index(p->finding, struct finding, i);

		if (!diagnosis_delivers(p, f->cause))
			continue;
		if (first)
			first->also[first->nr_also++] = f->cause;
		else
			first = &f->promise;
	}
	if (first && first->nr_also)
		first->all = run_speedup(p, FINDING_DELIVERY);
}

void diagnosis_predict(struct diagnosis *d)
{
	struct diagnosis_private *p = d->priv;

	for (guint i = 0; i < p->finding->len; i++) {
		struct finding *f = &g_array_index(p->finding, struct finding, i);

		predict_event(p, f, (double)p->total / (double)p->units_per_cycle);
		predict_delivery(p, f);
		predict_relaxed(d, f);
	}
	g_array_sort(p->finding, by_speedup);
	d->finding = (const struct finding *)(const void *)p->finding->data;
	d->nr = p->finding->len;
	while (d->nr_predicted < d->nr && speedup(&d->finding[d->nr_predicted]) > 0)
		d->nr_predicted++;
	predict_all(d);
	d->events = run_speedup(p, FINDING_EVENTS);
}
