/*
 * The state of one variant of the abstract core, and the operations on it that Algorithm 1 is made of: ConstrainBy, UsedBy,
 * and schedulers. For time.c, access.h, chrono.c and along.c alone.
 *
 * Everything that runs for each instruction is inlined into one loop for each mode, so that what a mode does not want costs
 * nothing: `mode` is a constant wherever it is tested.
 */
#ifndef CYCLEWISE_CORE_GUS_STATE_H
#define CYCLEWISE_CORE_GUS_STATE_H

#include <glib.h>
#include <string.h>

#include "core/cache/coming.h"
#include "core/gus/slots.h"
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
 * Many of them, what they are due to apart: modes that tell nobody have half as much in their caches. A time there is a struct of its own,
 * so that storing one is known to change no other number.
 */
struct moment { uint64_t t; };
struct times {
	struct moment *at;             /* [nr] */
	taint *who;                    /* [nr]: as of struct when; NULL: the mode does not tell */
};

enum {
	STORE_RING = OUTCOME_FAR + 1,
	NEAR_STORES = 64,              /* so many of it stay in the nearest cache */
	NUMBERED = UINT16_MAX + 1,     /* number of the first record: nobody, 0, is farther back than a record can say */
	BLOCKS = 128,                  /* of fetch, that are remembered: more than prediction runs ahead */
	MOST_MEMORY = 16,              /* of rename.memory */
	WAITING_WINDOW = 1 << 15,      /* cycles; what waits longer counts as issued then */
};

/*
 * A scheduler: entries that are given back out of order. held = taken - given back in cycles <= now; bit c of `some` is set
 * iff cycle c of (now, now + WAITING_WINDOW) gives any back. As long as there is room even so, nobody asks what was given
 * back since: `now` stays behind dispatch.
 */
struct waiting {
	uint64_t now, held;            /* cycle; entries */
	uint64_t at;                   /* ticks of dispatch, the latest so far: now <= its cycle, but after a wait */
	uint32_t entries;
	uint16_t given[WAITING_WINDOW]; /* [cycle % window] */
	uint64_t some[WAITING_WINDOW / 64];
	taint *who;                    /* [cycle % window]: whose issue gave back the last one; NULL: not wanted */
};

/*
 * Miss registers of a level, a ring: when each is free again, sorted, the first at `next`. Who comes takes the one that is
 * free first.
 */
struct registers {
	struct times end;              /* [nr] */
	uint32_t nr, next;
	uint64_t known;                /* ticks from a request in L1 to when the level wants one for it */
};

/* When lines come to a cache: a mode has what it asks for alone, since these are more than fits into the nearest caches. */
struct arrivals {
	uint32_t nr;
	struct times there;            /* [nr]: the line is there */
	uint8_t *from;                 /* [nr]: mode RECORDS: enum level that sent it last; else NULL */
};

/* What became of the last instructions, until they leave the taint queue. */
struct lately {
	uint32_t insn;
	uint16_t reason;
	bool counted;
};

/* What every instruction changes: apart, so that it stays in registers while a batch is timed. */
struct flow {
	struct when dispatch, frontend, supply, retire; /* supply: offered to rename by the front end */
	uint64_t nr_slots;
	uint64_t record;               /* number of the present instruction, from 1 on; mode RECORDS: from NUMBERED on */
	uint64_t fetch;                /* mode RECORDS: cycle of the youngest's */
	unsigned counting;             /* OUTCOME_COUNTED: it is counted, and those before it back to ...; else 0 */
	taint dispatch_by;             /* mode RECORDS: whose leaving raised `dispatch` last */
	uint16_t why;                  /* what raised `dispatch` last, enum reason */
	uint16_t why_supply;
};

/* Of a register that what is bound wrote, as long as its time is still `there`: what waits for it tries to issue from `from` on. */
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
	struct registers missing[NR_MISSES];
	struct times written;          /* [n % STORE_RING]: data of the n-th store known */
	struct times stored;           /* [n % STORE_RING]: the register that it stores known; none: no load is renamed */
	struct times freed;            /* [n % STORE_RING]: it has left the store queue */
	uint64_t nr_written;
	struct arrivals line1, line2;     /* of L1D, L2 */
	struct coming *coming;         /* [set of L1D]; NULL: a set takes any number of lines */
	struct coming *array;          /* [those of L2]; NULL: they give any number of lines */
	uint32_t ways, ways2;          /* of L1D, L2 */
	uint64_t memory[MOST_MEMORY];  /* [n % cost.memory]: ticks when the n-th that accesses memory was dispatched */
	uint64_t nr_memory;
	struct times taken;            /* [n % cost.taken_in_flight]: commit of the n-th taken branch; none: they are not limited */
	uint64_t nr_taken;
	struct waiting *scheduler[CORE_SCHEDULERS];
	struct slots *bound;           /* [CORE_PORTS]: those of pairs, to which uops are bound as if by chance; NULL: there are none */
	uint32_t draw;
	uint16_t turn_behind;          /* of the ports in turn, those behind the one that was bound last */
	struct woken woken[NR_REGS + 1];
	uint64_t chosen[NR_PARTS];     /* where its parts may choose: uops of the present instruction in each scheduler, CHOSEN_BITS for one */
	struct times left;             /* [n & left_mask]: the n-th uop left the queue in front of schedulers for its own */
	struct when entered[NR_PARTS]; /* the present instruction's uops, where they pass that queue */
	uint64_t left_mask, nr_left;

	uint64_t block[BLOCKS];        /* [n % BLOCKS]: when the n-th since fetch was redirected was offered */
	uint64_t nr_blocks;
	uint32_t mispredicts;          /* thousandths of one saved up */
	uint64_t cycles, instructions; /* counted, in stretches that are over */
	uint64_t since, first;         /* of the stretch that is not: cycles committed before it; number of its first instruction */
	uint64_t faulted;              /* number of the last that raised an exception */

	struct taints taints;
	uint64_t window;               /* of the taint queue */
	uint64_t lately_mask;
	struct lately *lately;         /* [number & mask]: more than the window */
	uint32_t *row_of;              /* [nr_row_of]: row + 1; 0: none */
	size_t nr_row_of;
	GArray *rows;                  /* struct causality_row */
	uint64_t critical;
};

/* Under a sanitizer, where speed is no matter, all of it in one loop for each mode would take a gigabyte and minutes to compile. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* Constant wherever a path is, as the path is. */
INLINE bool path_is_simple(const enum recipe_path path) { return path == PATH_SIMPLE || path == PATH_LOAD; }
INLINE bool path_takes_words(const enum recipe_path path) { return path >= PATH_LOAD || path == PATH_ANY; }

/* The same wherever the mode is: records are made of what is timed; times come with what they are due to. */
INLINE bool makes_records(const enum chrono_mode mode) { return mode == CHRONO_RECORDS || mode == CHRONO_BRIEF; }
INLINE bool tells_who(const enum chrono_mode mode) { return mode == CHRONO_RECORDS || mode == CHRONO_TAINT; }

/* --- the three operations ---------------------------------------------------------------------------- */

/* *to = *from, of what is kept from instruction to instruction. */
INLINE void keep(const enum chrono_mode mode, struct when *to, const struct when *from)
{
	to->t = from->t;
	if (tells_who(mode))
		to->who = from->who;
}

/* The n-th of many, and of registers. */
INLINE struct when recall(const enum chrono_mode mode, const struct times *l, uint64_t n)
{
	return (struct when){ .t = l->at[n].t, .who = tells_who(mode) ? l->who[n] : 0 };
}

INLINE void keep_at(const enum chrono_mode mode, const struct times *l, uint64_t n, const struct when *from)
{
	l->at[n].t = from->t;
	if (tells_who(mode))
		l->who[n] = from->who;
}

INLINE struct when recall_reg(const struct chrono *v, const enum chrono_mode mode, unsigned reg)
{
	return (struct when){ .t = v->reg[reg].t, .who = tells_who(mode) ? v->reg_who[reg] : 0 };
}

INLINE void keep_reg(struct chrono *v, const enum chrono_mode mode, unsigned reg, const struct when *from)
{
	v->reg[reg].t = from->t;
	if (tells_who(mode))
		v->reg_who[reg] = from->who;
}

/* ConstrainBy: whether `c` is what `this` waits for now. */
INLINE bool constrain(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c)
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
INLINE bool constrain_at(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct times *l, uint64_t n)
{
	const struct when w = recall(mode, l, n);
	return constrain(v, mode, this, &w);
}

INLINE bool constrain_reg(struct chrono *v, const enum chrono_mode mode, struct when *this, unsigned reg)
{
	const struct when w = recall_reg(v, mode, reg);
	return constrain(v, mode, this, &w);
}

/* Why the flow waits: mode PLAIN does not ask. */
INLINE void because(const enum chrono_mode mode, uint16_t *why, unsigned reason)
{
	if (mode != CHRONO_PLAIN)
		*why = (uint16_t)reason;
}

/* The same by a time `later` after `c`. */
INLINE bool constrain_after(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c, uint64_t later)
{
	struct when w = { .t = c->t + later, .who = tells_who(mode) ? c->who : 0 };
	return constrain(v, mode, this, &w);
}

/* The same by a resource. */
INLINE bool constrain_by(struct chrono *v, const enum chrono_mode mode, struct when *this, unsigned resource)
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
 * UsedBy: for so many ticks, from `least` on where it was idle. Who determines that determines when the resource is free again:
 * algorithm 1 forgets them (line 12), and so the path before each time that a resource begins to be busy.
 */
INLINE void use_for(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t ticks, const struct when *least)
{
	bool idle = v->resource[resource] < least->t;

	if (mode == CHRONO_TAINT)
		taint_use(&v->taints, &v->users[resource], idle, least->who);
	v->resource[resource] = (idle ? least->t : v->resource[resource]) + ticks;
}

/* The same for `amount` x inverse throughput. */
INLINE void use(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t amount, const struct when *least)
{
	use_for(v, mode, resource, amount * v->inverse[resource], least);
}

/* The instruction itself is among those that determine the time. */
INLINE void add_self(struct chrono *v, const enum chrono_mode mode, struct when *w)
{
	if (mode == CHRONO_TAINT)
		w->who = taint_add(&v->taints, w->who);
	if (mode == CHRONO_RECORDS)
		w->who = v->taints.now;
}

/* --- lines of caches --------------------------------------------------------------------------------- */

INLINE void line_comes(const enum chrono_mode mode, struct arrivals *l, uint32_t slot, const struct when *w, enum level from)
{
	keep_at(mode, &l->there, slot, w);
	if (makes_records(mode))
		l->from[slot] = (uint8_t)from;
}

/*
 * Mode CHRONO_PLAIN: the lines of L2 that words name are what many variants have more of than a cache holds: asked for ahead. What stands
 * there in other words does no harm. One variant alone has them at hand.
 */
INLINE void lines_ahead(struct chrono *const *v, unsigned nr_v, const uint64_t *word, const uint64_t *end)
{
	for (; word < end; word++) {
		unsigned slot = outcome_slot2(*word);
		for (unsigned i = 0; __builtin_expect(slot != 0, 0) && i < nr_v; i++)
			__builtin_prefetch(&v[i]->line2.there.at[slot]);
	}
}

/* --- schedulers -------------------------------------------------------------------------------------- */

static inline uint64_t cycle_of(uint64_t t)
{
	return t / ABSTRACT_TICKS;
}

/* To `cycle`, which is later than now: those given back in the cycles in between, a word of them at a time. */
static inline void waiting_pass(struct waiting *w, uint64_t cycle)
{
	for (uint64_t from = w->now + 1; from <= cycle; from = (from | 63) + 1) {
		uint64_t *some = &w->some[from % WAITING_WINDOW / 64], last = cycle < (from | 63) ? cycle : from | 63;
		uint64_t gives = *some >> (from % 64) << (from % 64) & UINT64_MAX >> (63 - last % 64);

		*some &= ~gives;
		for (uint16_t *given = &w->given[(from & ~UINT64_C(63)) % WAITING_WINDOW]; gives; gives &= gives - 1) {
			uint16_t *in = &given[__builtin_ctzll(gives)];
			w->held -= *in;
			*in = 0;
		}
	}
	w->now = cycle;
}

/* The next cycle after now that gives any back; now itself where none does. */
static inline uint64_t waiting_next(const struct waiting *w)
{
	for (uint64_t c = w->now + 1, end = w->now + WAITING_WINDOW; c < end; c = (c | 63) + 1) {
		uint64_t some = w->some[c % WAITING_WINDOW / 64] >> (c % 64);
		if (some)
			return c + (uint64_t)__builtin_ctzll(some);
	}
	return w->now;
}

/* To `cycle`, the first after now that gives any back. */
static inline void waiting_give(struct waiting *w, uint64_t cycle)
{
	uint64_t at = cycle % WAITING_WINDOW;

	w->held -= w->given[at];
	w->given[at] = 0;
	w->some[at / 64] &= ~(UINT64_C(1) << (at % 64));
	w->now = cycle;
}

/* To the cycle of dispatch, if it is not there yet. */
static inline void waiting_advance(struct waiting *w)
{
	uint64_t cycle = cycle_of(w->at);

	if (cycle > w->now)
		waiting_pass(w, cycle);
}

/* When `uops` more fit in that do not at the time of dispatch `t`; later than that, but where the instruction itself holds too many. */
static __attribute__((noinline)) struct when waiting_room(struct chrono *v, const enum chrono_mode mode, struct when t, struct waiting *w, unsigned uops)
{
	waiting_advance(w);
	while (w->held + uops > w->entries) {
		uint64_t next = waiting_next(w);
		if (next == w->now)
			break;                 /* another part of the same instruction holds them */
		struct when free = { next * ABSTRACT_TICKS, mode == CHRONO_TAINT ? w->who[next % WAITING_WINDOW] : 0 };
		waiting_give(w, next);
		constrain(v, mode, &t, &free);
	}
	return t;
}

/* Dispatch waits until `uops` more fit in; *this is at least the present time of dispatch. */
INLINE bool constrain_scheduler(struct chrono *v, const enum chrono_mode mode, struct when *this, struct waiting *w, unsigned uops)
{
	const uint64_t before = this->t;

	if (uops > w->entries)
		uops = w->entries;
	w->at = before > w->at ? before : w->at;
	if (__builtin_expect(w->held + uops > w->entries, 0))
		*this = waiting_room(v, mode, *this, w, uops);
	w->held += uops;
	return this->t != before;
}

/* The cycle in which entries can be given back that issue in the one before `cycle`. */
static __attribute__((noinline)) uint64_t waiting_near(struct waiting *w, uint64_t cycle)
{
	waiting_advance(w);
	return cycle < w->now + WAITING_WINDOW ? cycle : w->now + WAITING_WINDOW - 1;
}

/* Their entries, as many as dispatch took, are free in the cycle after they issue, or `held` cycles later. */
INLINE void waiting_issue(const enum chrono_mode mode, struct waiting *w, unsigned entries, const struct when *issue, unsigned held)
{
	uint64_t cycle = cycle_of(issue->t) + 1 + held;

	if (__builtin_expect(cycle - w->now - 1 >= WAITING_WINDOW - 1, 0)) {
		cycle = waiting_near(w, cycle);
		if (cycle <= w->now) {
			w->held -= entries;
			return;
		}
	}
	uint64_t at = cycle % WAITING_WINDOW;
	w->given[at] = (uint16_t)(w->given[at] + entries);
	w->some[at / 64] |= UINT64_C(1) << (at % 64);
	if (mode == CHRONO_TAINT)
		w->who[at] = issue->who;
}

/* Of a set of schedulers, the one with most entries free in the cycle of `t`. */
static inline unsigned emptiest(struct chrono *v, unsigned set, uint64_t t)
{
	unsigned best = 0;
	int64_t most = INT64_MIN;

	for (; set; set &= set - 1) {
		unsigned s = (unsigned)__builtin_ctz(set);
		struct waiting *w = v->scheduler[s];
		w->at = t > w->at ? t : w->at;
		waiting_advance(w);
		int64_t room = (int64_t)w->entries - (int64_t)w->held;
		if (room > most) {
			most = room;
			best = s;
		}
	}
	return best;
}

enum { CHOSEN_BITS = 8 };
_Static_assert(CORE_SCHEDULERS * CHOSEN_BITS <= 64, "there is a place for each scheduler");

/* As constrain_scheduler() of the part's uops, each of which goes to the emptiest that it may be in. *chosen: how many to each. */
INLINE bool constrain_schedulers(struct chrono *v, const enum chrono_mode mode, struct when *this, uint64_t *chosen, const struct part *p)
{
	const struct use *u = v->use + p->use + p->nr_uses;
	bool waits = false;

	*chosen = 0;
	for (unsigned told = 0; told < p->uops; told += u->amount, u++) {
		for (unsigned i = 0; u->resource && i < u->amount; i++) {
			unsigned s = emptiest(v, u->resource, this->t);
			waits |= constrain_scheduler(v, mode, this, v->scheduler[s], 1);
			*chosen += UINT64_C(1) << s * CHOSEN_BITS;
		}
	}
	return waits;
}

/*
 * The same where a queue stands in front of some of them: a uop waits in it, behind those that came before, until its scheduler
 * has room, and dispatch waits for room in the queue.
 */
INLINE bool constrain_queue(struct chrono *v, const enum chrono_mode mode, struct when *this, unsigned which, const struct part *p)
{
	const struct use *u = v->use + p->use + p->nr_uses;
	struct when enter = { 0 };
	uint64_t chosen = 0;
	bool waits = false;

	if (v->nr_left)
		enter = recall(mode, &v->left, (v->nr_left - 1) & v->left_mask);
	for (unsigned told = 0; told < p->uops; told += u->amount, u++) {
		for (unsigned i = 0; u->resource && i < u->amount; i++) {
			bool queued = u->resource & v->recipes->queued;
			if (queued && v->nr_left >= v->cost.waiting)
				waits |= constrain_at(v, mode, this, &v->left, (v->nr_left - v->cost.waiting) & v->left_mask);
			if (queued)
				constrain(v, mode, &enter, this);
			unsigned s = emptiest(v, u->resource, queued ? enter.t : this->t);
			bool full = constrain_scheduler(v, mode, queued ? &enter : this, v->scheduler[s], 1);
			if (queued)
				keep_at(mode, &v->left, v->nr_left++ & v->left_mask, &enter);
			else
				waits |= full;
			chosen += UINT64_C(1) << s * CHOSEN_BITS;
		}
	}
	v->chosen[which] = chosen;
	keep(mode, &v->entered[which], &enter);
	return waits;
}

/* Of those chosen alone: a branch for each scheduler that there is, no predictor would know. */
INLINE void schedulers_issue(struct chrono *v, const enum chrono_mode mode, uint64_t chosen, const struct when *issue, unsigned held)
{
	const uint64_t all = (UINT64_C(1) << CHOSEN_BITS) - 1;

	while (chosen) {
		unsigned s = (unsigned)__builtin_ctzll(chosen) / CHOSEN_BITS;
		waiting_issue(mode, v->scheduler[s], (unsigned)(chosen >> s * CHOSEN_BITS & all), issue, held);
		chosen &= ~(all << s * CHOSEN_BITS);
	}
}

/* Cycles up to the last commit, that of the youngest. */
static inline uint64_t committed(const struct flow *f)
{
	return (f->retire.t + ABSTRACT_TICKS - 1) / ABSTRACT_TICKS;
}

/* chrono.c: the instruction `record`, which has not been timed, is the first that is counted, or is not; `cycles`: committed(). Returns flow.counting. */
unsigned chrono_count(struct chrono *v, unsigned counting, uint64_t record, uint64_t cycles);
/* chrono.c: instruction `n`, the oldest of the taint queue, helped to determine what was looked at. */
void chrono_critical_one(struct chrono *v, uint64_t n);

#endif
