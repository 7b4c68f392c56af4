/*
 * The first half of Algorithm 1, up to line 26: the front end offers an instruction, and it is dispatched.
 */
#ifndef CYCLEWISE_CORE_GUS_FRONT_H
#define CYCLEWISE_CORE_GUS_FRONT_H

#include "core/gus/scheduler.h"

/* Entries of queues that the instruction takes, as far as its path leaves that open; whether rename does it. */
struct takes {
	unsigned slots, loads, stores;
	bool eliminated;
};

/* --- front end --------------------------------------------------------------------------------------- */

INLINE bool supply_by(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t amount,
                      const struct when *least)
{
	struct flow *f = &v->flow;
	bool waits = constrain_by_resource(v, mode, &f->supply, resource);

	if (waits)
		because(mode, &f->why_supply, resource);
	used_by(v, mode, resource, amount, least);
	return waits;
}

/* By uops, or by the lines read for it: what is in the line of the one before waits with it. */
INLINE void supply_cached(struct chrono *v, const enum chrono_mode mode, const struct way *y, const struct when *least)
{
	uint64_t amount = v->cost.lines ? y->flags / OUTCOME_READ : y->p->decode_uops;

	if (constrain_by_resource(v, mode, &v->flow.supply, RESOURCE_UOPCACHE))
		because(mode, &v->flow.why_supply, RESOURCE_UOPCACHE);
	if (amount)
		used_by(v, mode, RESOURCE_UOPCACHE, amount, least);
}

/* Of its slots, loads or stores, as many as fit into what holds `entries`. */
INLINE uint64_t at_most(unsigned uops, uint32_t entries)
{
	return uops <= 1 || uops < entries ? uops : entries;
}

/* Through the decoders. */
static inline void supply_decoded(struct chrono *v, const struct recipe *p, unsigned flags, const struct when least)
{
	const enum chrono_mode mode = v->mode;

	if (flags & OUTCOME_BLOCK)
		supply_by(v, mode, RESOURCE_FETCH, 1, &least);
	supply_by(v, mode, RESOURCE_PREDECODE, 1, &least);
	supply_by(v, mode, RESOURCE_DECODE, 1, &least);
	if ((p->decode_uops > 1 || p->flags & (INSN_COMPLEX | INSN_MICROCODED)) && v->inverse[RESOURCE_COMPLEX])
		supply_by(v, mode, RESOURCE_COMPLEX, 1, &least);
}

/* The front end offers it: as fast as the uop cache or the decoders deliver, as far ahead as the queue reaches. */
INLINE void offer(struct chrono *v, const enum chrono_mode mode, const struct way *y, unsigned slots)
{
	struct flow *f = &v->flow;
	uint64_t last = f->nr_slots + at_most(slots, v->cost.queue);

	constrain_by_nth(v, mode, &f->supply, &v->queued, (last - v->cost.queue - 1) & v->ring_mask);
	const struct when least = copy_of(mode, &f->supply);
	if (y->flags & OUTCOME_DECODED)
		supply_decoded(v, y->p, y->flags, least);
	else if (!(y->kind & INSN_MICROCODED))
		supply_cached(v, mode, y, &least);
	if (y->kind & INSN_MICROCODED)
		supply_by(v, mode, RESOURCE_MICROCODE, y->p->decode_uops, &least);
}

/* --- dispatch ---------------------------------------------------------------------------------------- */

INLINE void wait_dispatch(struct chrono *v, const enum chrono_mode mode, const struct when *c, unsigned why)
{
	if (constrain_by(v, mode, &v->flow.dispatch, c))
		because(mode, &v->flow.why, why);
}

/* For the one that had its entry. */
INLINE void wait_entry(struct chrono *v, const enum chrono_mode mode, const struct times *l, uint64_t n, unsigned why)
{
	const struct when free = recall(mode, l, n);
	wait_dispatch(v, mode, &free, why);
}

/* Entries of the queues that the instruction needs, and what serialises. */
INLINE void admit(struct chrono *v, const enum chrono_mode mode, const struct way *y, const struct takes takes)
{
	uint64_t last = v->flow.nr_slots + at_most(takes.slots, v->cost.rob);

	wait_entry(v, mode, &v->rob, (last - v->cost.rob - 1) & v->ring_mask, REASON_ROB);
	if (takes.loads) {
		last = v->nr_loads + at_most(takes.loads, v->cost.load_queue);
		wait_entry(v, mode, &v->loads, (last - v->cost.load_queue - 1) & v->loads_mask, REASON_LOAD_QUEUE);
	}
	if (takes.stores) {
		last = v->nr_stores + at_most(takes.stores, v->cost.store_queue);
		wait_entry(v, mode, &v->stores, (last - v->cost.store_queue - 1) & v->stores_mask, REASON_STORE_QUEUE);
	}
	wait_dispatch(v, mode, &v->serial, REASON_SERIAL);
	if (__builtin_expect(y->kind & INSN_SERIALIZE, 0))
		wait_dispatch(v, mode, &v->flow.retire, REASON_SERIAL);
}

INLINE void enter_scheduler(struct chrono *v, const enum chrono_mode mode, const struct part *part, unsigned which)
{
	const struct part *p = &part[which];
	bool waits = false;

	if (!p->uops)
		return;
	if (p->scheduler < CORE_SCHEDULERS)
		waits = constrain_scheduler(v, &v->flow.dispatch, v->scheduler[p->scheduler], p->uops);
	else if (p->scheduler == RECIPE_SCHEDULERS)
		waits = p->uops == 1 ? constrain_emptiest(v, which, p) : constrain_schedulers(v, which, p);
	if (waits)
		because(mode, &v->flow.why, REASON_SCHEDULER);
}

/*
 * One that accesses memory is dispatched in a later cycle than the one that so many before it were that are dispatched
 * in one.
 */
static inline void wait_for_memory(struct chrono *v)
{
	const uint64_t back = v->memory[(v->nr_memory - v->cost.memory) % MOST_MEMORY];
	const uint64_t free = (cycle_of(back) + 1) * ABSTRACT_TICKS;

	if (v->nr_memory >= v->cost.memory && v->flow.frontend.t < free) {
		v->flow.frontend.t = free;
		because(v->mode, &v->flow.why, RESOURCE_FRONTEND);
	}
	v->memory[v->nr_memory++ % MOST_MEMORY] = v->flow.frontend.t;
}

/* Algorithm 1, lines 20 to 26. */
INLINE void dispatch(struct chrono *v, const enum chrono_mode mode, const enum recipe_path path, const struct way *y,
                     const struct takes takes)
{
	struct flow *f = &v->flow;
	const unsigned first = path == PATH_COMPUTE ? PART_COMPUTE : PART_LOAD;
	const unsigned last = path == PATH_COMPUTE ? PART_COMPUTE : PART_STD;

	because(mode, &f->why, REASON_NONE);
	admit(v, mode, y, takes);
	for (unsigned which = first; which <= last; which++)
		enter_scheduler(v, mode, y->p->part, which);
	if (mode == CHRONO_RECORDS)
		f->dispatch_by = f->why == REASON_NONE ? 0 : f->dispatch.who;
	bool bubble = f->frontend.t < f->dispatch.t;
	constrain_by(v, mode, &f->frontend, &f->dispatch);
	if (constrain_by(v, mode, &f->frontend, &f->supply))
		because(mode, &f->why, f->why_supply);
	else if (!bubble)
		because(mode, &f->why, RESOURCE_FRONTEND);
	if ((takes.loads || takes.stores) && v->cost.memory)
		wait_for_memory(v);
	if (takes.slots) {
		f->frontend.t += takes.slots * v->inverse[RESOURCE_FRONTEND];
		add_self(v, mode, &f->frontend);
	}
	constrain_by(v, mode, &f->dispatch, &f->frontend);
	for (unsigned i = 0; i < takes.slots; i++)
		set_nth_by(mode, &v->queued, (f->nr_slots + i) & v->ring_mask, &f->dispatch);
	because(mode, &f->why_supply, REASON_NONE);
}

#endif
