#include "view/diagnosis.h"

#include <glib.h>
#include <string.h>

#include "record/timed.h"
#include "view/diagnosis_private.h"

/*
 * Least part of the run's cycles for a place of its own, and for a finding; of causes that are everywhere; to be looked
 * at.
 */
static const double LEAST_PLACE = 0.01, LEAST = 0.01, LEAST_DIFFUSE = 0.1, LEAST_LOOK = 0.0001;
enum { CODE_LINE = 64, LONG_CYCLES = 8 };

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
	struct finding_part *last =
		g->part->len ? &g_array_index(g->part, struct finding_part, g->part->len - 1) : NULL;

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
 * All that an instruction waits for its data is told by the event with the most cycles: a miss of the last level is one
 * of L1, too, and which of them it was changes from one execution to the next.
 */
static uint16_t data_event(const struct query_insn *in, const struct facts *f)
{
	static const uint16_t events[] = { PSV_ST_LLC, PSV_ST_TLB, PSV_ST_L1 };
	uint64_t units[G_N_ELEMENTS(events)] = { 0 };
	unsigned most = 0;

	for (uint32_t k = 0; k < in->stack.nr; k++)
		for (unsigned i = 0; i < G_N_ELEMENTS(events); i++)
			units[i] += cause_event(in->stack.share[k].signature, f) == events[i] ? in->stack.share[k].units
			                                                                      : 0;
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
			const struct cause *cause =
				event ? cause_of(p->causes, t, &in[i], event, met(&in[i], event)) : NULL;
			bool waits = !event && facts_of(t, in[i].insn)->unit &&
			             s->units >= LONG_CYCLES * s->executions * p->units_per_cycle;

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
	GHashTable *lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		   *at = g_hash_table_new(NULL, NULL);
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
	struct finding f = {
		.cause = g->cause, .loop = spread ? NULL : g->loop, .spread = spread, .units = g->units,
		.event = g->event, .bound = g->bound,
	};

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

bool diagnosis_delivers(const struct diagnosis_private *p, const struct cause *c)
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
	if (!g->cause || !diagnosis_delivers(p, g->cause))
		return;
	for (unsigned d = 0; d < NR_DELIVERIES; d++)
		deliver(&p->delivery[d], g, base.delivery[d] * waited(p, g));
	g->cause = NULL;
}

/* Causes of Base that are a little everywhere: a place has to stand out to be told. */
static bool diffuse(const struct cause *c)
{
	return !strcmp(c->event, "Base") &&
	       (!strcmp(c->pattern, "frontend") || !strcmp(c->pattern, "width") || !strcmp(c->pattern, "window"));
}

/* Where an event of the same place costs more, the rest follows from that. */
static bool follows(const struct diagnosis_private *p, const struct group *g)
{
	for (guint i = 0; i < p->group->len && diffuse(g->cause); i++) {
		const struct group *o = p->group->pdata[i];
		if (o->event && o->units > g->units && o->place == g->place && o->line == g->line &&
		    !g_strcmp0(o->file, g->file))
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
	diagnosis_predict(d);
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
