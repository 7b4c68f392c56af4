#include "view/diagnosis.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "record/timed.h"

/* Least part of the run's cycles for a place of its own, and for a finding; of causes that are everywhere; to be looked at. */
static const double LEAST_PLACE = 0.01, LEAST = 0.01, LEAST_DIFFUSE = 0.1, LEAST_LOOK = 0.0001;
/* Least speed-up that is worth telling. */
static const double LEAST_SPEEDUP = 1.005, LEAST_RELAXED = 1.02, MOST_SAVED = 0.99;
enum { CODE_LINE = 64, LONG_CYCLES = 8 };

/* Parts of one cause at one place. */
struct group {
	const struct cause *cause;     /* NULL: Base, found out when all parts are there */
	const void *place;             /* struct loop *, or struct query_function * */
	const char *file;              /* of a place that is no loop; interned by its query */
	uint32_t line;
	const struct loop *loop;
	uint16_t event;
	GArray *part;                  /* struct finding_part */
	uint64_t units;
	const char *bound;             /* Base: as of struct finding */
	const struct query_insn *main; /* Base: NULL: the first part */
};

/* Parts of places that wait for code to be delivered in one way. */
struct delivered {
	const struct cause *cause;
	const struct group *group;     /* the last that has any */
	unsigned nr_groups;
	GArray *part;                  /* struct finding_part */
};

struct diagnosis_private {
	struct causes *causes;
	GPtrArray *group;              /* struct group * */
	struct delivered delivery[NR_DELIVERIES];
	GPtrArray *relaxing;           /* struct group *: those that resources stand for */
	GHashTable *at;                /* the same, by key */
	GArray *finding;               /* struct finding */
	const struct query_figure *relaxed, *advice, *run; /* [nr_relaxed], [nr_advice], [nr_run] */
	size_t nr_relaxed, nr_advice, nr_run;
	uint64_t total, units_per_cycle; /* units of the run */
	uint64_t width;                /* of the core, instructions a cycle; 0: not known */
};

/* --- groups ------------------------------------------------------------------------------------------ */

static guint group_hash(gconstpointer p)
{
	const struct group *g = p;
	return g_direct_hash(g->cause) ^ g_direct_hash(g->place) * 31 ^ g->line * 131;
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
	const struct group *x = a, *y = b;
	return x->cause == y->cause && x->place == y->place && x->line == y->line && !g_strcmp0(x->file, y->file);
}

static void group_free(gpointer p)
{
	struct group *g = p;

	g_array_unref(g->part);
	g_free(g);
}

static struct group *group_of(struct diagnosis_private *p, const struct facts_table *t, const struct query_insn *in,
                              const struct cause *cause, uint16_t event)
{
	struct group key = { .cause = cause, .loop = facts_loop(t, in), .event = event }, *g;

	key.place = key.loop ? (const void *)key.loop : in->function;
	if (!key.loop) {
		key.file = in->file;
		key.line = in->line;
	}
	g = g_hash_table_lookup(p->at, &key);
	if (g)
		return g;
	g = g_memdup2(&key, sizeof key);
	g->part = g_array_new(FALSE, FALSE, sizeof(struct finding_part));
	g_hash_table_add(p->at, g);
	g_ptr_array_add(p->group, g);
	return g;
}

/* Several signatures of one instruction may have one cause. */
static void add_part(struct group *g, const struct query_insn *in, uint64_t units, uint64_t executions)
{
	struct finding_part *last = g->part->len ? &g_array_index(g->part, struct finding_part, g->part->len - 1) : NULL;

	g->units += units;
	if (last && last->insn == in) {
		last->units += units;
		last->executions += executions;
		return;
	}
	struct finding_part part = { in, units, executions };
	g_array_append_val(g->part, part);
}

static uint64_t met(const struct query_insn *in, uint16_t event)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < in->stack.nr; i++)
		if (in->stack.share[i].signature & event)
			n += in->stack.share[i].executions;
	return n;
}

/*
 * All that an instruction waits for its data is told by the event with the most cycles: a miss of the last level is one of L1,
 * too, and which of them it was changes from one execution to the next.
 */
static uint16_t data_event(const struct query_insn *in, const struct facts *f)
{
	static const uint16_t events[] = { PSV_ST_LLC, PSV_ST_TLB, PSV_ST_L1 };
	uint64_t units[G_N_ELEMENTS(events)] = { 0 };
	unsigned most = 0;

	for (uint32_t k = 0; k < in->stack.nr; k++)
		for (unsigned i = 0; i < G_N_ELEMENTS(events); i++)
			units[i] += cause_event(in->stack.share[k].signature, f) == events[i] ? in->stack.share[k].units : 0;
	for (unsigned i = 1; i < G_N_ELEMENTS(events); i++)
		most = units[i] > units[most] ? i : most;
	return events[most];
}

static void gather(struct diagnosis_private *p, const struct facts_table *t)
{
	const struct query_insn *in;
	size_t nr;

	in = facts_insns(t, &nr);
	for (size_t i = 0; i < nr; i++) {
		uint16_t data = data_event(&in[i], facts_of(t, in[i].insn));

		for (uint32_t k = 0; k < in[i].stack.nr; k++) {
			const struct share *s = &in[i].stack.share[k];
			uint16_t event = cause_event(s->signature, facts_of(t, in[i].insn));

			event = event & FINDING_DATA_EVENTS ? data : event;
			const struct cause *cause = event ? cause_of(p->causes, t, &in[i], event, met(&in[i], event)) : NULL;
			bool waits = !event && facts_of(t, in[i].insn)->unit && s->units >= LONG_CYCLES * s->executions * p->units_per_cycle;

			if (waits)
				cause = cause_find(p->causes, "Base", "unit");
			struct group *g = group_of(p, t, &in[i], cause, event);
			add_part(g, &in[i], s->units, s->executions);
			if (waits)
				g->bound = facts_of(t, in[i].insn)->unit;
		}
	}
}

/* --- from groups to findings ------------------------------------------------------------------------- */

static int by_units(gconstpointer a, gconstpointer b)
{
	const struct finding_part *x = a, *y = b;

	if (x->units != y->units)
		return x->units > y->units ? -1 : 1;
	if (x->insn->address != y->insn->address)
		return x->insn->address < y->insn->address ? -1 : 1;
	return (x->insn->insn > y->insn->insn) - (x->insn->insn < y->insn->insn);
}

static int by_function_units(gconstpointer a, gconstpointer b)
{
	const struct finding_function *x = a, *y = b;

	if (x->units != y->units)
		return x->units > y->units ? -1 : 1;
	if (x->function->address != y->function->address)
		return x->function->address < y->function->address ? -1 : 1;
	return g_strcmp0(x->function->module, y->function->module);
}

/* Lines of code and functions that the parts stand in. */
static void count_places(struct finding *f)
{
	GHashTable *lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL), *at = g_hash_table_new(NULL, NULL);
	GArray *functions = g_array_new(FALSE, FALSE, sizeof(struct finding_function));

	for (size_t i = 0; i < f->nr; i++) {
		gint64 line = (gint64)(f->part[i].insn->pc / CODE_LINE);
		gpointer key = (gpointer)(uintptr_t)f->part[i].insn->function;
		guint nr = GPOINTER_TO_UINT(g_hash_table_lookup(at, key));

		g_hash_table_add(lines, g_memdup2(&line, sizeof line));
		if (!nr) {
			struct finding_function one = { .function = f->part[i].insn->function };
			g_array_append_val(functions, one);
			nr = functions->len;
			g_hash_table_insert(at, key, GUINT_TO_POINTER(nr));
		}
		g_array_index(functions, struct finding_function, nr - 1).units += f->part[i].units;
	}
	f->lines = g_hash_table_size(lines);
	f->nr_functions = functions->len;
	g_array_sort(functions, by_function_units);
	for (guint i = 0; i < functions->len && i < FINDING_FUNCTIONS; i++)
		f->hottest[i] = g_array_index(functions, struct finding_function, i);
	g_hash_table_destroy(lines);
	g_hash_table_destroy(at);
	g_array_free(functions, TRUE);
}

/* The part of `main` before the others, whose order stays. NULL: that with the most cycles is it. */
static void put_first(GArray *parts, const struct query_insn *main)
{
	guint i = 0;

	while (main && g_array_index(parts, struct finding_part, i).insn != main)
		i++;
	struct finding_part first = g_array_index(parts, struct finding_part, i);
	g_array_remove_index(parts, i);
	g_array_prepend_val(parts, first);
}

static void add_finding(struct diagnosis_private *p, struct group *g, bool spread)
{
	struct finding f = { .cause = g->cause, .loop = spread ? NULL : g->loop, .spread = spread, .units = g->units, .event = g->event, .bound = g->bound };

	g_array_sort(g->part, by_units);
	if (!spread)
		put_first(g->part, g->main);
	f.part = &g_array_index(g->part, struct finding_part, 0);
	f.nr = g->part->len;
	f.main = f.part[0].insn;
	for (size_t i = 0; i < f.nr; i++)
		f.executions += f.part[i].executions;
	count_places(&f);
	g_array_append_val(p->finding, f);
}

static bool is_delivery(const struct diagnosis_private *p, const struct cause *c)
{
	for (unsigned d = 0; d < NR_DELIVERIES; d++)
		if (c == p->delivery[d].cause)
			return true;
	return false;
}

/* What the group's cycles are beyond those of a front end that delivers all that the core can take. */
static double waited(const struct diagnosis_private *p, const struct group *g)
{
	uint64_t executions = 0, least;

	for (guint i = 0; i < g->part->len; i++)
		executions += g_array_index(g->part, struct finding_part, i).executions;
	least = p->width ? executions * p->units_per_cycle / p->width : 0;
	return g->units > least ? (double)(g->units - least) / (double)g->units : 0;
}

static void deliver(struct delivered *d, const struct group *g, double part)
{
	if (part <= 0)
		return;
	d->group = g;
	d->nr_groups++;
	for (guint i = 0; i < g->part->len; i++) {
		struct finding_part p = g_array_index(g->part, struct finding_part, i);

		p.units = (uint64_t)((double)p.units * part);
		g_array_append_val(d->part, p);
	}
}

/* Base: the cause is that of the group's critical path. */
static void find_cause(struct diagnosis_private *p, const struct facts_table *t, struct group *g)
{
	GPtrArray *in = g_ptr_array_new();
	struct base_cause base;

	for (guint i = 0; i < g->part->len; i++)
		g_ptr_array_add(in, (gpointer)(uintptr_t)g_array_index(g->part, struct finding_part, i).insn);
	if (cause_base(&base, p->causes, t, (const struct query_insn *const *)(const void *)in->pdata, in->len)) {
		g->cause = base.cause;
		g->bound = base.bound;
		g->main = base.main;
	}
	g_ptr_array_free(in, TRUE);
	if (!g->cause || !is_delivery(p, g->cause))
		return;
	for (unsigned d = 0; d < NR_DELIVERIES; d++)
		deliver(&p->delivery[d], g, base.delivery[d] * waited(p, g));
	g->cause = NULL;
}

/* Causes of Base that are a little everywhere: a place has to stand out to be told. */
static bool diffuse(const struct cause *c)
{
	return !strcmp(c->event, "Base") && (!strcmp(c->pattern, "frontend") || !strcmp(c->pattern, "width") || !strcmp(c->pattern, "window"));
}

/* Where an event of the same place costs more, the rest follows from that. */
static bool follows(const struct diagnosis_private *p, const struct group *g)
{
	for (guint i = 0; i < p->group->len && diffuse(g->cause); i++) {
		const struct group *o = p->group->pdata[i];
		if (o->event && o->units > g->units && o->place == g->place && o->line == g->line && !g_strcmp0(o->file, g->file))
			return true;
	}
	return false;
}

static bool large(const struct diagnosis_private *p, const struct group *g)
{
	return (double)g->units >= (diffuse(g->cause) ? LEAST_DIFFUSE : LEAST_PLACE) * (double)p->total;
}

/* Small groups of one cause, at whatever place, as one. What the front end delivers in general is no advice then. */
static void add_spread(struct diagnosis_private *p, const struct cause *cause)
{
	struct group *all = NULL;

	for (guint i = 0; i < p->group->len; i++) {
		struct group *g = p->group->pdata[i];
		if (g->cause != cause || large(p, g))
			continue;
		if (!all) {
			all = g_memdup2(g, sizeof *g);
			all->part = g_array_new(FALSE, FALSE, sizeof(struct finding_part));
			all->units = 0;
			g_ptr_array_add(p->group, all);
			all->cause = NULL;
		}
		g_array_append_vals(all->part, g->part->data, g->part->len);
		all->units += g->units;
	}
	if (all && (double)all->units >= LEAST * (double)p->total && strcmp(cause->pattern, "frontend")) {
		all->cause = cause;
		add_finding(p, all, true);
	}
}

/* All that waits for one way of delivery: a finding, at a place where it is only one. */
static void add_delivery(struct diagnosis_private *p, const struct delivered *d)
{
	struct group *g;

	if (!d->nr_groups)
		return;
	g = g_new0(struct group, 1);
	g->part = g_array_ref(d->part);
	g->loop = d->nr_groups == 1 ? d->group->loop : NULL;
	g_ptr_array_add(p->group, g);
	for (guint i = 0; i < g->part->len; i++)
		g->units += g_array_index(g->part, struct finding_part, i).units;
	if ((double)g->units < LEAST * (double)p->total)
		return;
	g->cause = d->cause;
	add_finding(p, g, d->nr_groups > 1);
}

static void collect(struct diagnosis_private *p, const struct facts_table *t)
{
	GPtrArray *small = g_ptr_array_new();
	guint nr = p->group->len;

	for (guint i = 0; i < nr; i++) {
		struct group *g = p->group->pdata[i];

		if (!g->cause && (double)g->units >= LEAST_LOOK * (double)p->total)
			find_cause(p, t, g);
		if (g->cause && follows(p, g))
			g->cause = NULL;
		if (g->cause && g->cause->relax)
			g_ptr_array_add(p->relaxing, g);
		if (g->cause && large(p, g))
			add_finding(p, g, false);
		else if (g->cause && !g_ptr_array_find(small, g->cause, NULL))
			g_ptr_array_add(small, (gpointer)(uintptr_t)g->cause);
	}
	for (guint i = 0; i < small->len; i++)
		add_spread(p, small->pdata[i]);
	for (unsigned d = 0; d < NR_DELIVERIES; d++)
		add_delivery(p, &p->delivery[d]);
	g_ptr_array_free(small, TRUE);
}

/* --- predictions ------------------------------------------------------------------------------------- */

const char *finding_key(const struct finding *f, char buf[FINDING_KEY])
{
	g_snprintf(buf, FINDING_KEY, "%s/%s", f->cause->event, f->cause->pattern);
	return buf;
}

static const char *resource_name(const struct facts_table *t, const struct query_insn *main, const char *bound, const char *name)
{
	static const char *const classes[] = { "latency.integer", "latency.multiply", "latency.float", "latency.vector" };
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

	if (is_delivery(p, f->cause))
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

		if (!is_delivery(p, f->cause))
			continue;
		if (first)
			first->also[first->nr_also++] = f->cause;
		else
			first = &f->promise;
	}
	if (first && first->nr_also)
		first->all = run_speedup(p, FINDING_DELIVERY);
}

static void predict(struct diagnosis *d)
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

/* --- the whole --------------------------------------------------------------------------------------- */

int diagnosis_new(struct diagnosis **out, struct query *q)
{
	struct diagnosis *d = g_new0(struct diagnosis, 1);
	struct diagnosis_private *p = d->priv = g_new0(struct diagnosis_private, 1);
	int err;

	p->group = g_ptr_array_new_with_free_func(group_free);
	p->at = g_hash_table_new(group_hash, group_equal);
	p->finding = g_array_new(FALSE, FALSE, sizeof(struct finding));
	for (unsigned i = 0; i < NR_DELIVERIES; i++)
		p->delivery[i].part = g_array_new(FALSE, FALSE, sizeof(struct finding_part));
	p->relaxing = g_ptr_array_new();
	p->total = query_run(q)->cycles_units;
	p->units_per_cycle = query_run(q)->units_per_cycle;
	p->width = query_run(q)->width;
	err = causes_new(&p->causes);
	if (!err)
		err = facts_new(&d->facts, q);
	if (!err)
		err = query_figures(q, "relaxed", &p->relaxed, &p->nr_relaxed);
	if (!err)
		err = query_insn_figures(q, "advice", &p->advice, &p->nr_advice);
	if (!err)
		err = query_figures(q, "advice", &p->run, &p->nr_run);
	if (err) {
		diagnosis_free(d);
		return err;
	}
	for (unsigned i = 0; i < NR_DELIVERIES; i++)
		p->delivery[i].cause = cause_delivery(p->causes, i);
	gather(p, d->facts);
	collect(p, d->facts);
	predict(d);
	*out = d;
	return 0;
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	causes_free(d->priv->causes);
	facts_free(d->facts);
	g_hash_table_destroy(d->priv->at);
	g_ptr_array_free(d->priv->group, TRUE);
	g_ptr_array_free(d->priv->relaxing, TRUE);
	for (unsigned i = 0; i < NR_DELIVERIES; i++)
		g_array_unref(d->priv->delivery[i].part);
	g_array_free(d->priv->finding, TRUE);
	g_free(d->priv);
	g_free(d);
}
