/*
 * The state of one variant of the abstract core, and the operations of Algorithm 1 on it: ConstrainBy, SetBy, UsedBy.
 * For the timing half of the core (time.c and what it calls) and sharing.c alone.
 *
 * Where `mode` is a constant, what it does not want costs nothing: so it is in what every instruction does. What few
 * do is compiled once, and asks v->mode.
 */
#ifndef CYCLEWISE_CORE_GUS_STATE_H
#define CYCLEWISE_CORE_GUS_STATE_H

#include <glib.h>
#include <string.h>

#include "core/cache/coming.h"
#include "core/gus/taint.h"
#include "core/gus/time.h"

/*
 * A time, and what it is due to. `who`: in mode TAINT the set of instructions that determine it; in mode RECORDS the
 * number of the instruction that set it, 0 nobody's; else unused.
 */
struct when {
	uint64_t t;
	taint who;
};

/*
 * Many of them, what they are due to apart: modes that tell nobody have half as much in their caches. A time there is
 * a struct of its own, so that storing one is known to change no other number.
 */
struct moment { uint64_t t; };
struct times {
	struct moment *at;             /* [nr] */
	taint *who;                    /* [nr]: as of struct when; NULL: the mode does not tell */
};

enum {
	STORE_RING = SHADOW_FAR + 1,
	NEAR_STORES = 64,              /* so many of it stay in the nearest cache */
	NUMBERED = UINT16_MAX + 1,     /* number of the first record: nobody, 0, is farther back than a record can
	                                  say */
	BLOCKS = 128,                  /* of fetch, that are remembered: more than prediction runs ahead */
	MOST_MEMORY = 16,              /* of rename.memory */
	MOST_OWNED = 64,
	SCHEDULER_WINDOW = 1 << 15,      /* cycles; what waits longer counts as issued then */
};

/*
 * A scheduler: entries that are given back out of order. held = taken - given back in cycles <= now; bit c of `some`
 * is set iff cycle c of (now, now + SCHEDULER_WINDOW) gives any back. As long as there is room even so, nobody asks
 * what was given back since: `now` stays behind dispatch.
 */
struct scheduler {
	uint64_t now, held;            /* cycle; entries */
	uint64_t at;                   /* ticks of dispatch, the latest so far: now <= its cycle, but after a wait */
	uint32_t entries;
	uint16_t given[SCHEDULER_WINDOW]; /* [cycle % window] */
	uint64_t some[SCHEDULER_WINDOW / 64];
	taint *who;                    /* [cycle % window]: whose issue gave back the last one; NULL: not wanted */
};

/*
 * Miss registers of a level, a ring: when each is free again, sorted, the first at `next`. Who comes takes the one
 * that is free first.
 */
struct miss_registers {
	struct times end;              /* [nr] */
	uint32_t nr, next;
	uint64_t known;                /* ticks from a request in L1 to when the level wants one for it */
};

/*
 * When lines come to a cache: a mode has what it asks for alone, since these are more than fits into the nearest
 * caches.
 */
struct arrivals {
	uint32_t nr;
	struct times there;            /* [nr]: the line is there */
	uint8_t *from;                 /* [nr]: mode RECORDS: enum level that sent it last; else NULL */
};

/* What became of the last instructions, until they leave the taint queue. */
struct retired {
	uint32_t insn;
	uint16_t reason;
	bool counted;
};

/* What every instruction changes: apart, so that it stays in registers while a batch is timed. */
struct flow {
	struct when dispatch, frontend, supply, retire; /* supply: offered to rename by the front end */
	uint64_t nr_slots;
	uint64_t record;               /* number of the present instruction, from 1 on; mode RECORDS: from NUMBERED
	                                  on */
	uint64_t fetch;                /* mode RECORDS: cycle of the youngest's */
	unsigned counting;             /* OUTCOME_COUNTED: it is counted, and those before it back to ...; else 0 */
	taint dispatch_by;             /* mode RECORDS: whose leaving raised `dispatch` last */
	uint16_t why;                  /* what raised `dispatch` last, enum reason */
	uint16_t why_supply;
};

/*
 * Of a register that what is bound to a pair wrote, as long as its time is still `there`: what waits for it is woken
 * at `from`.
 */
struct woken { uint64_t there, from; };

struct chrono {
	struct flow flow;
	struct abstract_costs cost;
	const struct recipes *recipes;
	const struct recipe *recipe;   /* theirs, and the uses: they never move */
	const struct use *use;
	unsigned nr_groups;            /* of which the inverse throughput is known */
	enum chrono_mode mode;
	uint64_t front;                /* cycles from fetch to offered */
	uint64_t inverse[NR_RESOURCES];
	uint64_t resource[NR_RESOURCES];
	struct taint_users users[NR_RESOURCES];

	struct moment reg[NR_REGS + 1]; /* that of REG_NONE stays 0; one more, RECIPE_NOWHERE, is never read */
	taint reg_who[NR_REGS + 1];    /* as of struct times */
	uint8_t result[NR_REGS];       /* RESULT_, of vector registers */
	uint64_t apart[NR_TAKES][NR_RESULTS]; /* ticks more until who takes so has such a result */
	struct when serial, memory_floor, loads_done, stores_freed, drain;
	struct when leave;             /* where stores are merged: the next may leave for its write */
	struct when pair;              /* what the first of a macro-fused pair resolved */
	uint64_t ring_mask;            /* of rob and queued, by slot */
	struct times rob;              /* [slot & mask]: its commit */
	struct times queued;           /* [slot & mask]: its dispatch */
	uint64_t loads_mask, stores_mask;
	struct times loads, stores;    /* [n & mask]: commit of the n-th load; drain of the n-th store */
	uint64_t nr_loads, nr_stores;
	struct miss_registers missing[NR_MISSES];
	struct times written;          /* [n % STORE_RING]: data of the n-th store known */
	struct times stored;           /* [n % STORE_RING]: the register that it stores known; none: no load is
	                                  renamed */
	struct times freed;            /* [n % STORE_RING]: it has left the store queue */
	uint64_t nr_written;
	struct arrivals line1, line2;     /* of L1D, L2 */
	struct coming *coming;         /* [set of L1D]; NULL: a set takes any number of lines */
	uint32_t ways;                 /* of L1D */
	uint64_t memory[MOST_MEMORY];  /* [n % MOST_MEMORY]: ticks when the n-th that accesses memory was dispatched */
	uint64_t nr_memory;
	struct scheduler *scheduler[CORE_SCHEDULERS];
	struct binder binder;
	struct slots *paired;          /* [CORE_PORTS]: those that uops are bound to in pairs; NULL: there are none */
	struct woken woken[NR_REGS + 1];
	uint64_t chosen[NR_PARTS + 1]; /* where its parts may choose: uops of the present instruction in each
	                                  scheduler, CHOSEN_BITS for one */

	uint64_t block[BLOCKS];        /* [n % BLOCKS]: when the n-th since fetch was redirected was offered */
	uint64_t nr_blocks;
	uint32_t mispredicts;          /* thousandths of one saved up */
	uint64_t cycles, instructions; /* counted, in stretches that are over */
	uint64_t since, first;         /* of the stretch that is not: cycles committed before it; number of its first
	                                  instruction */
	uint64_t faulted;              /* number of the last that raised an exception */

	struct taints taints;
	uint64_t window;               /* of the taint queue */
	uint64_t retired_mask;
	struct retired *retired;       /* [number & mask]: more than the window */
	uint32_t *row_of;              /* [nr_row_of]: row + 1; 0: none */
	size_t nr_row_of;
	GArray *rows;                  /* struct causality_row */
	uint64_t critical;
	void *owned[MOST_OWNED];       /* [nr_owned]: memory of its own */
	unsigned nr_owned;
	bool lacks;                    /* there was no more of it */
};

/* What the steps of one instruction hand on to one another. */
struct way {
	const struct recipe *p;
	unsigned flags;                /* enum outcome_flags */
	uint32_t kind;                 /* enum insn_flags */
	struct when begin;             /* from when on idle resources are used */
	struct when start;             /* earliest issue */
	struct when address, loaded, end, complete;
	struct when data;              /* of its stores */
	struct when own;               /* their lines are there */
	uint64_t walk;                 /* the word of the loads of a page walk that the next access waits for */
	uint64_t store_extra;
	unsigned nr_stores, writes;    /* stores made; lines that they write */
	uint64_t lines, iterations;    /* of a rep string; 0 iterations: it is fast */
	uint16_t why;                  /* enum reason */
	taint by;                      /* mode RECORDS: whose result it waited for last */
	uint64_t ready, least;         /* operands there; time of its first issue */
	uint16_t psv;
	uint8_t level, code_level;
	uint64_t front_stall, translation_stall;
};

#define INLINE static inline __attribute__((always_inline))

/* Whether times come with what they are due to. */
INLINE bool tells_who(const enum chrono_mode mode) { return mode != CHRONO_PLAIN; }

static inline uint64_t cycle_of(uint64_t t)
{
	return t / ABSTRACT_TICKS;
}

/* A slot of an array that has `nr`: outcomes may be those of a core with a larger cache. */
static inline uint32_t within(uint32_t slot, uint32_t nr)
{
	return __builtin_expect(slot < nr, 1) ? slot : slot % nr;
}

/* --- the three operations ---------------------------------------------------------------------------- */

/* *to = *from, of what is kept from instruction to instruction. */
INLINE void set_by(const enum chrono_mode mode, struct when *to, const struct when *from)
{
	to->t = from->t;
	if (tells_who(mode))
		to->who = from->who;
}

/*
 * What was just changed, of it what the mode wants: no more is read than was written, so that it need not be in memory
 * by then.
 */
INLINE struct when copy_of(const enum chrono_mode mode, const struct when *from)
{
	return (struct when){ .t = from->t, .who = tells_who(mode) ? from->who : 0 };
}

/* The n-th of many, and of registers. */
INLINE struct when recall(const enum chrono_mode mode, const struct times *l, uint64_t n)
{
	return (struct when){ .t = l->at[n].t, .who = tells_who(mode) ? l->who[n] : 0 };
}

INLINE void set_nth_by(const enum chrono_mode mode, const struct times *l, uint64_t n, const struct when *from)
{
	l->at[n].t = from->t;
	if (tells_who(mode))
		l->who[n] = from->who;
}

INLINE struct when recall_reg(const struct chrono *v, const enum chrono_mode mode, unsigned reg)
{
	return (struct when){ .t = v->reg[reg].t, .who = tells_who(mode) ? v->reg_who[reg] : 0 };
}

INLINE void set_reg_by(struct chrono *v, const enum chrono_mode mode, unsigned reg, const struct when *from)
{
	v->reg[reg].t = from->t;
	if (tells_who(mode))
		v->reg_who[reg] = from->who;
}

/* ConstrainBy: whether `c` is what `this` waits for now. */
INLINE bool constrain_by(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c)
{
	if (c->t > this->t) {
		this->t = c->t;
		if (tells_who(mode))
			this->who = c->who;
		return true;
	}
	if (mode == CHRONO_TAINT && c->t == this->t)
		this->who = taint_union(&v->taints, this->who, c->who);
	return false;
}

/* The same by the n-th of many, and by a register. */
INLINE bool constrain_by_nth(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct times *l,
                             uint64_t n)
{
	const struct when w = recall(mode, l, n);
	return constrain_by(v, mode, this, &w);
}

INLINE bool constrain_by_reg(struct chrono *v, const enum chrono_mode mode, struct when *this, unsigned reg)
{
	const struct when w = recall_reg(v, mode, reg);
	return constrain_by(v, mode, this, &w);
}

/* Why the flow waits: mode PLAIN does not ask. */
INLINE void because(const enum chrono_mode mode, uint16_t *why, unsigned reason)
{
	if (mode != CHRONO_PLAIN)
		*why = (uint16_t)reason;
}

/* The same by a time `later` after `c`. */
INLINE bool constrain_by_later(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c,
                               uint64_t later)
{
	struct when w = { .t = c->t + later, .who = tells_who(mode) ? c->who : 0 };
	return constrain_by(v, mode, this, &w);
}

/* The same by a resource. */
INLINE bool constrain_by_resource(struct chrono *v, const enum chrono_mode mode, struct when *this, unsigned resource)
{
	uint64_t t = v->resource[resource];

	if (t > this->t) {
		this->t = t;
		if (mode == CHRONO_TAINT)
			this->who = taint_of_users(&v->taints, &v->users[resource]);
		if (mode == CHRONO_RECORDS)
			this->who = 0;
		return true;
	}
	if (mode == CHRONO_TAINT && t == this->t && t)
		this->who = taint_union_users(&v->taints, this->who, &v->users[resource]);
	return false;
}

/*
 * UsedBy: for so many ticks, from `least` on where it was idle. Who determines that determines when the resource is
 * free again: algorithm 1 forgets them (line 12), and so the path before each time that a resource begins to be busy.
 */
INLINE void used_for(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t ticks,
                     const struct when *least)
{
	bool idle = v->resource[resource] < least->t;

	if (mode == CHRONO_TAINT)
		taint_use(&v->taints, &v->users[resource], idle, least->who);
	v->resource[resource] = (idle ? least->t : v->resource[resource]) + ticks;
}

/* The same for `amount` x inverse throughput. */
INLINE void used_by(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t amount,
                    const struct when *least)
{
	used_for(v, mode, resource, amount * v->inverse[resource], least);
}

/* The instruction itself is among those that determine the time. */
INLINE void add_self(struct chrono *v, const enum chrono_mode mode, struct when *w)
{
	if (mode == CHRONO_TAINT)
		w->who = taint_add(&v->taints, w->who);
	if (mode == CHRONO_RECORDS)
		w->who = v->taints.now;
}

/* Cycles up to the last commit, that of the youngest. */
static inline uint64_t committed(const struct flow *f)
{
	return (f->retire.t + ABSTRACT_TICKS - 1) / ABSTRACT_TICKS;
}

/*
 * chrono.c: the instruction `record`, which has not been timed, is the first that is counted, or is not;
 * `cycles`: committed(). Returns flow.counting.
 */
unsigned chrono_count(struct chrono *v, unsigned counting, uint64_t record, uint64_t cycles);
/* chrono.c: instruction `n`, the oldest of the taint queue, helped to determine what was looked at. */
void chrono_critical_one(struct chrono *v, uint64_t n);

#endif
