/*
 * Ports of the abstract core. A uop uses the resources that its recipe lists, which stand for an ideal choice of
 * ports; where a core binds uops to pairs of ports, or to ports in turn (core/order/bind.h), what it is bound to is chosen here
 * each time.
 */
#ifndef CYCLEWISE_CORE_GUS_PORTS_H
#define CYCLEWISE_CORE_GUS_PORTS_H

#include "core/cycle.h"
#include "core/gus/state.h"
#include "core/gus/scheduler.h"

enum { SLOTS_WINDOW = 4096, SLOTS_WORDS = SLOTS_WINDOW / 64 };

/*
 * A port of a pair: how much of it has been taken in each cycle. Other resources know until when they are used, not
 * which cycles. Here these matter: a pair that has nothing to do while others have too much cannot make up for it. A
 * uop takes the first cycle that is not full; uops come in program order, and one that is ready earlier than those
 * before it finds what they left.
 *
 * Cycles are kept in a ring of words of 64. What comes SLOTS_WINDOW later takes a word's place; who still wants a
 * cycle of the old one gets it without a wait, and it is not counted.
 */
struct slots {
	uint64_t word[SLOTS_WORDS];    /* [cycle / 64 % words]: which cycle / 64 that is */
	uint64_t full[SLOTS_WORDS];    /* bit cycle % 64 of it: nothing is left */
	uint16_t used[SLOTS_WINDOW];   /* [cycle % window]: WEIGHT_ONE a uop */
	uint16_t capacity;             /* of a cycle, in the same: WEIGHT_ONE, but where the port is varied */
};

/*
 * Issues a uop, bound by chance to one of the pairs that `u` may use, of which it takes the port that is free first:
 * *w goes to when it starts. Returns what it waited for, or REASON_NONE. Where `in_vain` is its recipe, it has taken
 * ports in vain: it was woken no sooner than `from`, and its operands are there at `ready`.
 */
unsigned bind_to_pair(struct chrono *v, const struct use *u, const struct recipe *in_vain, uint64_t from,
                      uint64_t ready, struct when begin, struct when *w);
/*
 * Where what waits takes ports in vain: the part, of one uop that starts at `t`, has bound it, and its result is there
 * a cycle later.
 */
void wake(struct chrono *v, const struct recipe *p, uint64_t ready, uint64_t t);

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

/* To a port in turn. */
INLINE void bind_port(struct chrono *v, const enum chrono_mode mode, struct way *y, uint16_t ports, struct when *w)
{
	const struct recipes *r = v->recipes;
	uint16_t port = bind_in_turn(ports, r->turn, &v->turn_rest);
	struct use u = { (uint16_t)(RESOURCE_PORTS + r->nr_pairs), 1 };

	for (unsigned before = r->turn & (port - 1u); before; before &= before - 1)
		u.resource++;
	use_resources(v, mode, y, &u, 1, w);
}

INLINE void bind_uops(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, struct when *w)
{
	const struct part *part = &y->p->part[which];
	const struct use *u = v->use + part->use + part->nr_uses;

	for (const struct use *end = u + part->nr_bound; u < end; u++) {
		if (u->amount == BOUND_IN_TURN) {
			bind_port(v, mode, y, u->resource, w);
		} else {
			const bool in_vain = which == PART_COMPUTE && v->cost.in_vain && u->amount < BOUND_LATE;
			const uint64_t from = later(y->start.t, y->kind & INSN_LOAD ? y->loaded.t : 0);
			struct when start = copy_of(mode, w);
			unsigned why = bind_to_pair(v, u, in_vain ? y->p : NULL, from, y->ready,
			                            copy_of(mode, &y->begin), &start);
			y->why = why != REASON_NONE ? (uint16_t)why : y->why;
			*w = copy_of(mode, &start);
		}
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
		bind_uops(v, mode, y, which, w);
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
