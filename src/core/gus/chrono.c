/* One variant of the abstract core as a whole: its set-up, what it has counted, and who was on the critical path. */
#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/gus/state.h"

/* --- causality --------------------------------------------------------------------------------------- */

void chrono_critical_one(struct chrono *v, uint64_t n)
{
	const struct lately *l = &v->lately[n & v->lately_mask];

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

static int times_init(struct times *l, enum chrono_mode mode, uint64_t nr)
{
	l->at = calloc(nr, sizeof *l->at);
	l->who = tells_who(mode) ? calloc(nr, sizeof *l->who) : NULL;
	return l->at && (l->who || !tells_who(mode)) ? 0 : -ENOMEM;
}

static void times_fini(struct times *l)
{
	free(l->at);
	free(l->who);
}

/* A ring of what the last `entries` did, and of the one before them. What one instruction adds comes when it has looked at those. */
static int ring(struct times *l, enum chrono_mode mode, uint64_t *mask, uint64_t entries)
{
	uint64_t n = 1;

	while (n <= entries)
		n *= 2;
	*mask = n - 1;
	return times_init(l, mode, n);
}

static int arrivals_init(struct arrivals *l, enum chrono_mode mode, uint32_t nr)
{
	l->nr = nr;
	l->from = makes_records(mode) ? calloc(nr, sizeof *l->from) : NULL;
	return l->from || !makes_records(mode) ? times_init(&l->there, mode, nr) : -ENOMEM;
}

static void arrivals_fini(struct arrivals *l)
{
	times_fini(&l->there);
	free(l->from);
}

static int make_schedulers(struct chrono *v)
{
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++) {
		if (!v->cost.scheduler[i])
			continue;
		v->scheduler[i] = calloc(1, sizeof *v->scheduler[i]);
		if (!v->scheduler[i])
			return -ENOMEM;
		v->scheduler[i]->entries = v->cost.scheduler[i];
		if (v->mode == CHRONO_TAINT) {
			v->scheduler[i]->who = calloc(WAITING_WINDOW, sizeof *v->scheduler[i]->who);
			if (!v->scheduler[i]->who)
				return -ENOMEM;
		}
	}
	return 0;
}

static int make_bound(struct chrono *v)
{
	v->turn_behind = v->recipes->turn;
	if (!v->recipes->nr_pairs)
		return 0;
	v->bound = calloc(CORE_PORTS, sizeof *v->bound);
	for (unsigned i = 0; v->bound && i < CORE_PORTS; i++)
		v->bound[i].capacity = (uint16_t)v->cost.port_weight[i];
	return v->bound ? 0 : -ENOMEM;
}

static int make_registers(struct chrono *v)
{
	for (unsigned i = 0; i < NR_MISSES; i++) {
		const struct misses *m = &v->cost.misses[i];
		v->missing[i] = (struct registers){ .nr = m->most, .known = m->known };
		if (!m->most)
			continue;
		if (times_init(&v->missing[i].end, v->mode, m->most))
			return -ENOMEM;
	}
	return 0;
}

static int make_taint(struct chrono *v)
{
	int err;

	v->window = 2 * (uint64_t)v->cost.rob;
	v->rows = g_array_new(FALSE, TRUE, sizeof(struct causality_row));
	v->lately_mask = 1;
	while (v->lately_mask <= v->window)
		v->lately_mask *= 2;
	v->lately = calloc(v->lately_mask--, sizeof *v->lately);
	err = v->lately ? taints_init(&v->taints, (uint32_t)v->window + 1) : -ENOMEM;
	for (unsigned i = 0; i < NR_RESOURCES && !err; i++)
		err = taint_users_init(&v->users[i], &v->taints);
	return err;
}

static int make(struct chrono *v, const struct core_desc *d)
{
	uint64_t slots = v->cost.rob > v->cost.queue ? v->cost.rob : v->cost.queue;
	int err = ring(&v->rob, v->mode, &v->ring_mask, slots);

	if (!err)
		err = ring(&v->queued, v->mode, &v->ring_mask, slots);
	if (!err)
		err = ring(&v->loads, v->mode, &v->loads_mask, v->cost.load_queue);
	if (!err)
		err = ring(&v->stores, v->mode, &v->stores_mask, v->cost.store_queue);
	if (!err && v->cost.waiting)
		err = ring(&v->left, v->mode, &v->left_mask, v->cost.waiting);
	if (!err)
		err = arrivals_init(&v->line1, v->mode, (uint32_t)(d->l1d_size / d->l1d_line));
	if (!err)
		err = arrivals_init(&v->line2, v->mode, 1 + (uint32_t)((d->l2_size ? d->l2_size : d->llc_size) / d->l1d_line));
	if (!err)
		err = times_init(&v->written, v->mode, STORE_RING);
	if (!err)
		err = times_init(&v->freed, v->mode, STORE_RING);
	if (!err && d->forward_renamed)
		err = times_init(&v->stored, v->mode, STORE_RING);
	if (!err && v->cost.taken_in_flight)
		err = times_init(&v->taken, v->mode, v->cost.taken_in_flight);
	v->ways = (uint32_t)d->l1d_ways;
	v->ways2 = (uint32_t)d->l2_ways;
	v->array = d->l2_size && d->l2_array_busy ? calloc(v->cost.arrays, sizeof *v->array) : NULL;
	v->coming = d->l1d_set_fill ? calloc(v->line1.nr / v->ways, sizeof *v->coming) : NULL;
	if ((d->l1d_set_fill && !v->coming) || (d->l2_size && d->l2_array_busy && !v->array))
		err = -ENOMEM;
	if (!err)
		err = make_registers(v);
	if (!err)
		err = make_schedulers(v);
	if (!err)
		err = make_bound(v);
	if (!err && v->mode == CHRONO_TAINT)
		err = make_taint(v);
	return err;
}

/* Who waits for a vector register's result beyond its latency, and how long. */
static void forwarding(struct chrono *v)
{
	for (unsigned takes = 0; takes < NR_TAKES; takes++)
		for (unsigned result = 0; result < NR_RESULTS; result++)
			v->apart[takes][result] = (takes & TAKES_UNIT ? 0 : (result & RESULT_BYPASS) * v->cost.latency[LATENCY_FLOAT]) +
			                          (takes & TAKES_FLOAT && result & RESULT_INTEGER ? v->cost.bypass : 0);
}

int chrono_new(struct chrono **out, const struct core_desc *d, const struct abstract_costs *costs, const struct recipes *recipes,
               enum chrono_mode mode)
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
	v->flow.record = v->faulted = makes_records(mode) ? NUMBERED - 1 : 0;
	if (make(v, d)) {
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
	times_fini(&v->rob);
	times_fini(&v->queued);
	times_fini(&v->loads);
	times_fini(&v->stores);
	times_fini(&v->left);
	times_fini(&v->taken);
	free(v->bound);
	for (unsigned i = 0; i < NR_MISSES; i++)
		times_fini(&v->missing[i].end);
	times_fini(&v->written);
	times_fini(&v->freed);
	times_fini(&v->stored);
	arrivals_fini(&v->line1);
	free(v->coming);
	free(v->array);
	arrivals_fini(&v->line2);
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++) {
		if (v->scheduler[i])
			free(v->scheduler[i]->who);
		free(v->scheduler[i]);
	}
	for (unsigned i = 0; i < NR_RESOURCES; i++)
		taint_users_fini(&v->users[i]);
	taints_fini(&v->taints);
	free(v->lately);
	g_free(v->row_of);
	if (v->rows)
		g_array_free(v->rows, TRUE);
	free(v);
}
