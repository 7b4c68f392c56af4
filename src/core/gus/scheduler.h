/*
 * Schedulers of the abstract core, and issue: entries that uops take at dispatch and give back out of order, when they
 * issue. Then a uop uses the resources that its recipe lists, which stand for an ideal choice of ports; where a core
 * binds uops to ports in turn, or to pairs (core/order/bind.h), these are chosen here each time. What is asked of each
 * instruction is inlined; what happens where a scheduler is full is in scheduler.c.
 */
#ifndef CYCLEWISE_CORE_GUS_SCHEDULER_H
#define CYCLEWISE_CORE_GUS_SCHEDULER_H

#include "core/cycle.h"
#include "core/gus/pairs.h"
#include "core/gus/state.h"

/* To `cycle`, which is later than now: gives back what was to be by then. */
void scheduler_pass(struct scheduler *w, uint64_t cycle);
/*
 * When `uops` more fit in that do not at the time of dispatch `t`; later than that, but where the instruction itself
 * holds too many.
 */
struct when scheduler_room(struct chrono *v, struct when t, struct scheduler *w, unsigned uops);
/* The cycle in which entries can be given back that issue in the one before `cycle`. */
uint64_t scheduler_near(struct scheduler *w, uint64_t cycle);

/* As constrain_emptiest() of several uops: v->chosen[which] says how many to each. */
bool constrain_schedulers(struct chrono *v, unsigned which, const struct part *p);
/* Those chosen, `held` cycles after they issue. */
void schedulers_issue(struct chrono *v, uint64_t chosen, struct when issue, unsigned held);

/* To the cycle of dispatch, if it is not there yet. */
static inline void scheduler_advance(struct scheduler *w)
{
	uint64_t cycle = cycle_of(w->at);

	if (cycle > w->now)
		scheduler_pass(w, cycle);
}

/* Dispatch waits until `uops` more fit in; *this is at least the present time of dispatch. */
INLINE bool constrain_scheduler(struct chrono *v, struct when *this, struct scheduler *w, unsigned uops)
{
	const uint64_t before = this->t;

	if (uops > w->entries)
		uops = w->entries;
	w->at = before > w->at ? before : w->at;
	if (__builtin_expect(w->held + uops > w->entries, 0))
		*this = scheduler_room(v, *this, w, uops);
	w->held += uops;
	return this->t != before;
}

/* Of a set of schedulers, the one with most entries free in the cycle of `t`. */
static inline unsigned emptiest(struct chrono *v, unsigned set, uint64_t t)
{
	unsigned best = 0;
	int64_t most = INT64_MIN;

	for (; set; set &= set - 1) {
		unsigned s = (unsigned)__builtin_ctz(set);
		struct scheduler *w = v->scheduler[s];
		w->at = t > w->at ? t : w->at;
		scheduler_advance(w);
		int64_t room = (int64_t)w->entries - (int64_t)w->held;
		if (room > most) {
			most = room;
			best = s;
		}
	}
	return best;
}

/*
 * Dispatch by a part of one uop, which goes to the emptiest scheduler that it may be in: v->chosen[which] is its
 * number.
 */
INLINE bool constrain_emptiest(struct chrono *v, unsigned which, const struct part *p)
{
	struct when *dispatch = &v->flow.dispatch;
	unsigned s = emptiest(v, v->use[p->use + p->nr_uses].resource, dispatch->t);

	v->chosen[which] = s;
	return constrain_scheduler(v, dispatch, v->scheduler[s], 1);
}

/* Their entries, as many as dispatch took, are free in the cycle after they issue, or `held` cycles later. */
INLINE void scheduler_issue(const enum chrono_mode mode, struct scheduler *w, unsigned entries,
                            const struct when *issue, unsigned held)
{
	uint64_t cycle = cycle_of(issue->t) + 1 + held;

	if (__builtin_expect(cycle - w->now - 1 >= SCHEDULER_WINDOW - 1, 0)) {
		cycle = scheduler_near(w, cycle);
		if (cycle <= w->now) {
			w->held -= entries;
			return;
		}
	}
	uint64_t at = cycle % SCHEDULER_WINDOW;
	w->given[at] = (uint16_t)(w->given[at] + entries);
	w->some[at / 64] |= UINT64_C(1) << (at % 64);
	if (mode == CHRONO_TAINT)
		w->who[at] = issue->who;
}

/* --- issue ------------------------------------------------------------------------------------------- */

/* Algorithm 1, lines 33 to 35: waits for resources and uses them. */
INLINE void use_resources(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct use *u,
                          unsigned nr, struct when *w)
{
	for (const struct use *end = u + nr; u < end; u++) {
		if (constrain_by_resource(v, mode, w, u->resource))
			y->why = u->resource;
		used_by(v, mode, u->resource, u->amount, &y->begin);
	}
}

/* To a port of a pair; what a compute uop waits for may have woken it too soon. */
INLINE void issue_in_pair(struct chrono *v, const enum chrono_mode mode, struct way *y, uint16_t ports,
                          unsigned resource, bool compute, struct when *w)
{
	const uint64_t woken = later(y->start.t, y->kind & INSN_LOAD ? y->loaded.t : 0);
	struct when begin = copy_of(mode, &y->begin), start = copy_of(mode, w);

	if (compute && y->p->nr_data)
		pair_replay(v, y->p, ports, woken, y->ready);
	unsigned why = pair_issue(v, ports, resource, &begin, &start);
	y->why = why != REASON_NONE ? (uint16_t)why : y->why;
	*w = copy_of(mode, &start);
}

/* Those that are bound go to a port in turn each, or to a pair. */
INLINE void bind_uops(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct part *p,
                      struct when *w)
{
	const struct use *bound = v->use + p->use + p->nr_uses;

	for (const struct use *end = bound + p->nr_bound; bound < end; bound++) {
		struct bind_group *g = &v->binder.group[bound->amount];
		uint16_t ports = g->kind == BIND_PAIR ? bind_pair(g, bound->resource)
		                                      : bind_in_turn(bound->resource, g->ports, &g->rest);
		struct use u = { RESOURCE_PORTS, 1 };

		for (const uint16_t *own = v->recipes->group; !(*own & ports); own++)
			u.resource++;
		if (g->kind == BIND_PAIR)
			issue_in_pair(v, mode, y, ports, u.resource, p == &y->p->part[PART_COMPUTE], w);
		else
			use_resources(v, mode, y, &u, 1, w);
	}
}

/* Issues the uops of a part; *w goes from when they are ready to when they start. */
INLINE void issue(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, struct when *w)
{
	const struct part *p = &y->p->part[which];
	const unsigned held = which == PART_LOAD ? v->cost.holds_entry : 0;

	if (!p->uops)
		return;
	use_resources(v, mode, y, v->use + p->use, p->nr_uses, w);
	if (p->nr_bound)
		bind_uops(v, mode, y, p, w);
	if (p->scheduler < CORE_SCHEDULERS) {
		struct scheduler *s = v->scheduler[p->scheduler];
		scheduler_issue(mode, s, p->uops < s->entries ? p->uops : s->entries, w, held);
	} else if (p->scheduler == RECIPE_SCHEDULERS && p->uops == 1)
		scheduler_issue(mode, v->scheduler[v->chosen[which]], 1, w, held);
	else if (p->scheduler == RECIPE_SCHEDULERS)
		schedulers_issue(v, v->chosen[which], copy_of(mode, w), held);
	if (mode == CHRONO_RECORDS && w->t < y->least)
		y->least = w->t;
}

#endif
