/*
 * Rename and dispatch of the detailed core: width, reorder buffer, queues, schedulers, physical registers, branch tags,
 * serialising instructions, eliminated moves, port binding. Inline, so that the short way of plain instructions in
 * ooo.c is the same code with what they cannot need left out: `plain` is a constant wherever it is passed.
 *
 * Not modelled: a partial allocation of an instruction wider than what is free (all its entries must be).
 */
#ifndef CYCLEWISE_CORE_OOO_RENAME_H
#define CYCLEWISE_CORE_OOO_RENAME_H

#include <assert.h>

#include "core/ooo/ooo.h"

struct wait {
	uint64_t cycle, by;            /* by: record number + 1 */
	uint8_t why;
};

static inline void wait_for(struct wait *w, uint64_t cycle, enum dispatch_wait why, uint64_t by)
{
	if (cycle > w->cycle)
		*w = (struct wait){ cycle, by, (uint8_t)why };
}

/*
 * The last `need` of the entries that a queue of `entries`, of which `taken` were so far, gives next: who has it
 * now.
 */
static inline const struct holder *holder_of(const struct ooo *o, const struct holder *ring, uint64_t taken,
                                             uint64_t entries, unsigned need)
{
	return &ring[(taken + need - entries - 1) & o->ring_mask];
}

/* The cycle from which `need` more registers of bank `b` are free. */
static inline uint64_t registers_free(const struct ooo *o, unsigned b, unsigned need)
{
	uint64_t usable = (uint64_t)o->reg_usable[b];

	if (!need || o->nr_regs[b] + need <= usable)
		return 0;
	return holder_of(o, o->reg[b], o->nr_regs[b], usable, need)->leave + 1;
}

static inline unsigned rob_need(const struct ooo *o, unsigned slots)
{
	unsigned entries = (unsigned)o->desc->rob_entries;

	return slots < entries ? slots : entries;
}

static inline uint64_t rob_free(const struct ooo *o, unsigned slots)
{
	uint64_t entries = (uint64_t)o->desc->rob_entries;
	unsigned need = rob_need(o, slots);

	if (o->nr_slots + need <= entries)
		return 0;
	return holder_of(o, o->rob, o->nr_slots, entries, need)->leave + 1;
}

/* Cycles from which each part but the schedulers lets it dispatch. */
struct limits {
	uint64_t width, serial, rob, integer, vector, loads, stores;
};

/* rename.c, seldom needed: */

/*
 * The ports that compute uops may use today: fused pairs and taken branches issue where branches do, wide vectors close
 * ports.
 */
uint16_t rename_compute_ports(const struct ooo *o, const struct attempt *a, uint16_t ports);
/*
 * Chooses ports (bound: one each; else those of one scheduler), counts the entries that takes; returns whose, as a bit
 * set.
 */
unsigned rename_assign_ports(struct ooo *o, struct attempt *a, uint8_t need[CORE_SCHEDULERS]);
/* Why it waits until `most`: the last to lift is the reason; of several, the one nearest to commit. */
struct wait rename_reason(const struct ooo *o, const struct attempt *a, const struct limits *l, uint64_t most);
void rename_init(struct ooo *o);

/* --- ports ------------------------------------------------------------------------------------------- */

static inline uint16_t uop_ports(const struct ooo *o, const struct attempt *a, const struct uop *u)
{
	bool special = a->pair_ports || a->in->flags & (INSN_BRANCH | INSN_VINT | INSN_FP);

	return special && u->kind == UOP_COMPUTE ? rename_compute_ports(o, a, u->ports) : u->ports;
}

static inline void wait_for_scheduler(struct ooo *o, struct wait *w, unsigned s, unsigned need)
{
	unsigned entries = o->sched_entries[s], n = need < entries ? need : entries;

	while (o->held.held.of[HELD_SCHEDULER + s] + n > entries) {
		uint64_t next = release_next(&o->held);
		assert(next != UINT64_MAX);
		release_advance(&o->held, next);
		wait_for(w, next, WAIT_SCHEDULER, 0);
	}
}

/* Room for `need` more in the queue in front of schedulers. */
static inline void wait_for_queue(struct ooo *o, struct wait *w, unsigned need)
{
	uint64_t room = nsq_room(&o->nsq, need);

	if (room > w->cycle) {
		release_advance(&o->held, room);
		wait_for(w, room, WAIT_SCHEDULER, 0);
	}
}

/* It dispatches in the cycle behind the one it was to. */
static inline void wait_for_next(struct ooo *o, struct attempt *a, struct wait *w)
{
	wait_for(w, a->dispatch + 1, WAIT_WIDTH, 0);
	release_advance(&o->held, w->cycle);
	a->dispatch = w->cycle;
	a->slot_position = 0;
}

/* Where ports that are spread have got as many uops in the cycle as they are, one more dispatches in the next. */
static inline void wait_for_spread(struct ooo *o, struct attempt *a, struct wait *w)
{
	for (unsigned i = 0; i < a->nr_uops; i++) {
		struct bind_group *g = binder_group(&o->binder, uop_ports(o, a, &a->uop[i]));
		if (g && g->kind == BIND_SPREAD && bind_spread_full(g, a->dispatch))
			return wait_for_next(o, a, w);
	}
}

/* Where as many that access memory as may be were dispatched in the cycle, one more is in the next. */
static inline void wait_for_memory(struct ooo *o, struct attempt *a, struct wait *w)
{
	if (o->memory_cycle == a->dispatch && o->nr_memory >= (unsigned)o->desc->rename_memory)
		wait_for_next(o, a, w);
}

static inline void memory_dispatched(struct ooo *o, uint64_t cycle)
{
	if (o->memory_cycle != cycle) {
		o->memory_cycle = cycle;
		o->nr_memory = 0;
	}
	o->nr_memory++;
}

/* A single uop that is bound by counts, the most frequent of cores that count, by a short way; false: it is none. */
static inline bool schedule_counted(struct ooo *o, struct attempt *a, struct wait *w)
{
	uint16_t ports = uop_ports(o, a, a->uop);
	struct bind_group *g = binder_group(&o->binder, ports);

	if (!g || g->kind > BIND_ALTERNATE)
		return false;
	binder_count(&o->binder, &o->held.held.of[HELD_PORT], a->dispatch);
	o->port[0] = bind_to(&o->binder, g, ports, a->dispatch, a->slot_position);
	unsigned scheduler = o->sched_of_port[__builtin_ctz(o->port[0])];
	if (o->port[0] & o->nsq.ports)
		wait_for_queue(o, w, 1);
	else if (scheduler != NO_SCHEDULER)
		wait_for_scheduler(o, w, scheduler, 1);
	return true;
}

static inline void schedule(struct ooo *o, struct attempt *a, struct wait *w)
{
	if (a->nr_uops == 1 && o->binder.counted && schedule_counted(o, a, w))
		return;
	if (o->binder.spreads)
		wait_for_spread(o, a, w);
	uint8_t need[CORE_SCHEDULERS] = { 0 };
	for (unsigned needed = rename_assign_ports(o, a, need); needed; needed &= needed - 1) {
		unsigned s = (unsigned)__builtin_ctz(needed);
		wait_for_scheduler(o, w, s, need[s]);
	}
	if (o->nr_queued)
		wait_for_queue(o, w, o->nr_queued);
}

/* --- moves ------------------------------------------------------------------------------------------- */

static inline bool eliminate(struct ooo *o, const struct attempt *a)
{
	const struct insn *in = a->in;

	if (!may_share(o, in))
		return false;
	return o->held.held.of[HELD_MOVE + bank_of(in->dst[0])] < o->desc->rename_move_slots;
}

/* --- stack engine ------------------------------------------------------------------------------------ */

/* Before dispatch. */
static inline void rename_stack(struct ooo *o, struct attempt *a)
{
	a->stack_sync = false;
	if (__builtin_expect(!a->in->stack, 1))
		return;
	a->stack_sync = stack_engine_syncs(&o->stack, o->desc, a->in);
	a->slots += a->stack_sync;
	for (unsigned i = 0; a->in->stack != STACK_MOVES && i < a->in->nr_dst; i++)
		if (a->in->dst[i] == o->stack.pointer)
			o->stack_by = o->record + 1;
}

/* rename.c: behind dispatch, where that is so: that uop. */
void rename_stack_sync(struct ooo *o, const struct attempt *a);

/* --- dispatch ---------------------------------------------------------------------------------------- */

/* The in-order part: from `cycle` on, `slots` slots of the rename width. */
static inline void take_slots(struct ooo *o, struct attempt *a, uint64_t cycle)
{
	unsigned width = (unsigned)o->desc->rename_width;

	if (cycle > o->rename_cycle) {
		o->rename_cycle = cycle;
		o->rename_used = 0;
	}
	a->dispatch = o->rename_cycle;
	a->slot_position = o->rename_used;
	if (!a->slots) {
		a->dispatch_last = a->dispatch;
		return;
	}
	o->rename_used += a->slots;
	if (o->rename_used > width) {
		o->rename_cycle += (o->rename_used - 1) / width;
		o->rename_used = (o->rename_used - 1) % width + 1;
	}
	a->dispatch_last = o->rename_cycle;
	if (__builtin_expect(a->in->ends_dispatch, 0))
		o->rename_used = width;
}

/* The first cycle with room for a slot; where an instruction's stay together, for so many, or all of a cycle. */
static inline uint64_t width_free(const struct ooo *o, unsigned slots)
{
	unsigned width = (unsigned)o->desc->rename_width, whole = slots < width ? slots : width;
	unsigned need = o->desc->rename_whole && whole ? whole : 1;

	return o->rename_cycle + (o->rename_used + need > width);
}

/* All that holds dispatch back but the schedulers. */
static inline struct wait dispatch_limit(const struct ooo *o, struct attempt *a, bool plain)
{
	const struct insn *in = a->in;
	struct limits l = {
		.width = width_free(o, a->slots),
		.rob = rob_free(o, a->slots),
		.integer = registers_free(o, BANK_INTEGER, in->nr_integer),
		.vector = registers_free(o, BANK_VECTOR, in->nr_vector),
	};

	if (!plain && in->flags & (INSN_SERIALIZE | INSN_SYSCALL) && !(a->never & PSV_FL_EX))
		l.serial = o->commit_cycle + 1;
	if (!plain && a->nr_uops && in->nr_loads)
		l.loads = lsq_loads_free(&o->lsq, in->nr_loads);
	if (!plain && may_share(o, in))
		l.integer = l.vector = 0;
	uint64_t most = later(later(l.width, l.rob), later(l.integer, l.vector));
	if (!plain && in->flags & INSN_STORE && a->nr_uops) {
		l.stores = lsq_stores_free(&o->lsq, store_entries(a));
		if (l.stores > later(most, a->fetched.avail)) {
			a->psv |= PSV_DR_SQ & ~a->never;
			l.stores = a->never & PSV_DR_SQ ? 0 : l.stores;
		}
	}
	most = later(later(most, later(l.serial, o->serial_until)), later(l.loads, l.stores));
	if (most <= a->fetched.avail)
		return (struct wait){ a->fetched.avail, 0, WAIT_NONE };
	return rename_reason(o, a, &l, most);
}

__attribute__((always_inline))
static inline void rename_dispatch(struct ooo *o, struct attempt *a, bool plain)
{
	const struct core_desc *d = o->desc;
	const struct insn *in = a->in;

	a->slot_position = 0;
	if (!plain && a->fused) {
		a->dispatch = a->dispatch_last = later(o->rename_cycle, a->fetched.avail);
		if (a->dispatch > o->rename_cycle)
			take_slots(o, a, a->dispatch);
		return;
	}
	struct wait w = dispatch_limit(o, a, plain);
	release_advance(&o->held, w.cycle);
	if (!plain && in->branch && d->branch_in_flight) {
		while (o->held.held.of[HELD_BRANCH] >= d->branch_in_flight) {
			uint64_t next = release_next(&o->held);
			release_advance(&o->held, next);
			wait_for(&w, next, WAIT_BRANCHES, 0);
		}
	}
	a->dispatch = w.cycle;
	a->slot_position = w.cycle > o->rename_cycle ? 0 : o->rename_used;
	if (!plain && in->flags & INSN_MOVE)
		a->eliminated = eliminate(o, a);
	if (a->eliminated)
		a->nr_uops = 0;
	bool memory = !plain && d->rename_memory && a->nr_uops && in->flags & (INSN_LOAD | INSN_STORE);
	if (memory)
		wait_for_memory(o, a, &w);
	if (a->nr_uops)
		schedule(o, a, &w);
	if (memory)
		memory_dispatched(o, w.cycle);
	take_slots(o, a, w.cycle);
	if (a->eliminated)
		o->held.held.of[HELD_MOVE + bank_of(in->dst[0])]++;
	a->dispatch_wait = w.why;
	a->dispatch_by = w.by;
	frontend_dispatched(&o->front, a->slots, a->dispatch_last);
}

/* --- commit ------------------------------------------------------------------------------------------ */

static inline void take_registers(struct ooo *o, unsigned b, unsigned n, uint64_t leave)
{
	for (; n; n--, o->nr_regs[b]++)
		o->reg[b][o->nr_regs[b] & o->ring_mask] = (struct holder){ leave, o->record };
}

/* The ROB slots and registers of a committed instruction are free from `leave` on. */
static inline void rename_committed(struct ooo *o, const struct attempt *a)
{
	for (unsigned i = 0; i < a->slots; i++, o->nr_slots++)
		o->rob[o->nr_slots & o->ring_mask] = (struct holder){ a->leave, o->record };
	if (a->fused || a->eliminated)
		return;
	take_registers(o, BANK_INTEGER, a->in->nr_integer, a->leave);
	take_registers(o, BANK_VECTOR, a->in->nr_vector, a->leave);
}

#endif
