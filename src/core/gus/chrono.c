/* One variant of the abstract core as a whole: its set-up, what it has counted, and who was on the critical path. */
#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/gus/pairs.h"
#include "core/gus/state.h"

/* --- causality --------------------------------------------------------------------------------------- */

void chrono_critical_one(struct chrono *v, uint64_t n)
{
	const struct retired *l = &v->retired[n & v->retired_mask];

	if (!l->counted)
		return;
	if (l->insn >= v->nr_row_of) {
		size_t nr = v->nr_row_of ? v->nr_row_of : 1024;
		while (nr <= l->insn)
			nr *= 2;
		v->row_of = g_renew(uint32_t, v->row_of, nr);
		for (size_t i = v->nr_row_of; i < nr; i++)
			v->row_of[i] = 0;
		v->nr_row_of = nr;
	}
	if (!v->row_of[l->insn]) {
		g_array_set_size(v->rows, v->rows->len + 1);
		v->row_of[l->insn] = v->rows->len;
	}
	struct causality_row *row = &g_array_index(v->rows, struct causality_row, v->row_of[l->insn] - 1);
	row->count++;
	row->reason[l->reason]++;
	v->critical++;
}

void chrono_finish(struct chrono *v)
{
	uint64_t first = v->flow.record >= v->window ? v->flow.record - v->window + 1 : 1;

	if (v->mode != CHRONO_TAINT)
		return;
	for (uint64_t n = first; n <= v->flow.record; n++)
		if (taint_has(&v->taints, v->flow.retire.who, n))
			chrono_critical_one(v, n);
}

const struct causality_row *chrono_row(const struct chrono *v, uint32_t insn)
{
	if (insn >= v->nr_row_of || !v->row_of[insn])
		return NULL;
	return &g_array_index(v->rows, struct causality_row, v->row_of[insn] - 1);
}

uint64_t chrono_critical(const struct chrono *v)
{
	return v->critical;
}

/* --- counts ------------------------------------------------------------------------------------------ */

uint64_t chrono_cycles(const struct chrono *v)
{
	return v->cycles + (v->flow.counting ? committed(&v->flow) - v->since : 0);
}

uint64_t chrono_instructions(const struct chrono *v)
{
	return v->instructions + (v->flow.counting ? v->flow.record + 1 - v->first : 0);
}

unsigned chrono_count(struct chrono *v, unsigned counting, uint64_t record, uint64_t cycles)
{
	if (counting) {
		v->cycles += cycles - v->since;
		v->instructions += record - v->first;
	}
	v->since = cycles;
	v->first = record;
	return counting ^ OUTCOME_COUNTED;
}

/* --- the whole --------------------------------------------------------------------------------------- */

/* Memory of its own, all zero; where there is none, v->lacks. */
static void *own(struct chrono *v, uint64_t nr, size_t each)
{
	void *p = calloc(nr, each);

	assert(v->nr_owned < MOST_OWNED);
	v->lacks |= !p;
	v->owned[v->nr_owned++] = p;
	return p;
}

static struct times times_new(struct chrono *v, uint64_t nr)
{
	struct times l = { .at = own(v, nr, sizeof *l.at) };

	l.who = tells_who(v->mode) ? own(v, nr, sizeof *l.who) : NULL;
	return l;
}

/*
 * A ring of what the last `entries` did, and of the one before them. What one instruction adds comes when it has
 * looked at those.
 */
static struct times ring(struct chrono *v, uint64_t *mask, uint64_t entries)
{
	uint64_t n = 1;

	while (n <= entries)
		n *= 2;
	*mask = n - 1;
	return times_new(v, n);
}

static struct arrivals arrivals_new(struct chrono *v, int32_t nr)
{
	uint8_t *from = v->mode == CHRONO_RECORDS ? own(v, (uint64_t)nr, sizeof *from) : NULL;

	return (struct arrivals){ .nr = (uint32_t)nr, .there = times_new(v, (uint64_t)nr), .from = from };
}

static struct scheduler *scheduler_new(struct chrono *v, uint32_t entries)
{
	struct scheduler *w = own(v, 1, sizeof *w);

	if (!w)
		return NULL;
	w->entries = entries;
	w->who = v->mode == CHRONO_TAINT ? own(v, SCHEDULER_WINDOW, sizeof *w->who) : NULL;
	return w;
}

static void make_taint(struct chrono *v)
{
	v->window = 2 * (uint64_t)v->cost.rob;
	v->rows = g_array_new(FALSE, TRUE, sizeof(struct causality_row));
	v->retired_mask = 1;
	while (v->retired_mask <= v->window)
		v->retired_mask *= 2;
	v->retired = own(v, v->retired_mask--, sizeof *v->retired);
	v->lacks |= taints_init(&v->taints, (uint32_t)v->window + 1) != 0;
	for (unsigned i = 0; i < NR_RESOURCES && !v->lacks; i++)
		v->lacks |= taint_users_init(&v->users[i], &v->taints) != 0;
}

static void make(struct chrono *v, const struct core_desc *d)
{
	const uint64_t slots = v->cost.rob > v->cost.queue ? v->cost.rob : v->cost.queue;

	v->rob = ring(v, &v->ring_mask, slots);
	v->queued = ring(v, &v->ring_mask, slots);
	v->loads = ring(v, &v->loads_mask, v->cost.load_queue);
	v->stores = ring(v, &v->stores_mask, v->cost.store_queue);
	v->line1 = arrivals_new(v, d->l1d_size / d->cache_line);
	v->line2 = arrivals_new(v, 1 + (d->l2_size ? d->l2_size : d->llc_size) / d->cache_line);
	v->written = times_new(v, STORE_RING);
	v->freed = times_new(v, STORE_RING);
	if (d->forward_renamed)
		v->stored = times_new(v, STORE_RING);
	v->ways = (uint32_t)d->l1d_ways;
	v->coming = d->l1d_set_fill ? own(v, v->line1.nr / v->ways, sizeof *v->coming) : NULL;
	for (unsigned i = 0; i < NR_MISSES; i++) {
		const struct misses *m = &v->cost.misses[i];
		v->missing[i] = (struct miss_registers){ .nr = m->most, .known = m->known };
		if (m->most)
			v->missing[i].end = times_new(v, m->most);
	}
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++)
		v->scheduler[i] = v->cost.scheduler[i] ? scheduler_new(v, v->cost.scheduler[i]) : NULL;
	v->binder = v->recipes->binder;
	if (v->binder.paired)
		v->paired = own(v, CORE_PORTS, sizeof *v->paired);
	for (unsigned i = 0; v->paired && i < CORE_PORTS; i++)
		v->paired[i].capacity = (uint16_t)v->cost.port_weight[i];
	if (v->mode == CHRONO_TAINT)
		make_taint(v);
}

/* Who waits for a vector register's result beyond its latency, and how long. */
static void forwarding(struct chrono *v)
{
	for (unsigned takes = 0; takes < NR_TAKES; takes++)
		for (unsigned result = 0; result < NR_RESULTS; result++)
			v->apart[takes][result] =
				(takes & TAKES_UNIT ? 0 : (result & RESULT_BYPASS) * v->cost.latency[LATENCY_FLOAT]) +
				(takes & TAKES_FLOAT && result & RESULT_INTEGER ? v->cost.bypass : 0);
}

int chrono_new(struct chrono **out, const struct core_desc *d, const struct abstract_costs *costs,
               const struct recipes *recipes, enum chrono_mode mode)
{
	struct chrono *v = calloc(1, sizeof *v);

	*out = NULL;
	if (!v)
		return error_errno(ENOMEM, "abstract core");
	v->cost = *costs;
	v->recipes = recipes;
	v->recipe = recipes->recipe;
	v->use = recipes->use;
	v->mode = mode;
	v->front = cycle_of(costs->front);
	for (unsigned i = 0; i < RESOURCE_PORTS; i++)
		v->inverse[i] = costs->inverse[i];
	forwarding(v);
	v->flow.supply.t = costs->front;    /* cycle 0 is the first fetch */
	v->flow.record = v->faulted = mode == CHRONO_RECORDS ? NUMBERED - 1 : 0;
	make(v, d);
	if (v->lacks) {
		chrono_free(v);
		return error_errno(ENOMEM, "abstract core");
	}
	*out = v;
	return 0;
}

void chrono_free(struct chrono *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < v->nr_owned; i++)
		free(v->owned[i]);
	for (unsigned i = 0; i < NR_RESOURCES; i++)
		taint_users_fini(&v->users[i]);
	taints_fini(&v->taints);
	g_free(v->row_of);
	if (v->rows)
		g_array_free(v->rows, TRUE);
	free(v);
}
