#include "core/abstract_time.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/abstract_taint.h"
#include "core/cycle.h"

/*
 * A time, and what it is due to. `who`: in mode TAINT the set of instructions that determine it; in mode PASSAGES the
 * number of the instruction that set it, from 1 on; else unused.
 */
struct when {
	uint64_t t;
	taint who;
};

enum {
	STORE_RING = OUTCOME_FAR + 1,
	WAITING_WINDOW = 1 << 15,      /* cycles; what waits longer counts as issued then */
};

/*
 * A scheduler: entries that are given back out of order. held = taken - given back in cycles <= now; bit c of `some` is set
 * iff cycle c of (now, now + WAITING_WINDOW) gives any back.
 */
struct waiting {
	uint64_t now, held;            /* cycle of dispatch; entries */
	uint32_t entries;
	uint16_t given[WAITING_WINDOW]; /* [cycle % window] */
	uint64_t some[WAITING_WINDOW / 64];
	taint *who;                    /* [cycle % window]: whose issue gave back the last one; NULL: not wanted */
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
	uint64_t record;               /* number of the present instruction, from 1 on */
	taint dispatch_by;             /* mode PASSAGES: whose leaving raised `dispatch` last */
	uint16_t why;                  /* what raised `dispatch` last, enum reason */
	uint16_t why_supply;
};

struct chrono {
	struct flow flow;
	struct abstract_costs cost;
	const struct recipes *recipes;
	unsigned nr_groups;            /* of which the inverse throughput is known */
	enum chrono_mode mode;
	uint64_t inverse[NR_RESOURCES];
	uint64_t resource[NR_RESOURCES];
	struct taint_users users[NR_RESOURCES];

	struct when reg[NR_REGS];
	struct when serial, memory_floor, loads_done, stores_freed, drain;
	struct when pair;              /* what the first of a macro-fused pair resolved */
	uint64_t ring_mask;            /* of rob and queued, by slot */
	struct when *rob;              /* [slot & mask]: its commit */
	struct when *queued;           /* [slot & mask]: its dispatch */
	uint64_t loads_mask, stores_mask;
	struct when *loads, *stores;   /* [n & mask]: commit of the n-th load; drain of the n-th store */
	uint64_t nr_loads, nr_stores;
	struct when *missing;          /* [n % cost.misses]: end of the n-th miss */
	uint64_t nr_missing;
	struct when *written;          /* [n % STORE_RING]: data of the n-th store known */
	uint64_t nr_written;
	struct when *line1, *line2;    /* [slot]: the line is in L1D, L2 */
	uint8_t *from1, *from2;        /* [slot]: enum level that sent it last */
	uint32_t nr_line1, nr_line2;
	struct waiting *scheduler[CORE_SCHEDULERS];

	uint32_t mispredicts;          /* thousandths of one saved up */
	uint64_t cycles, instructions; /* counted */
	uint64_t commit;               /* cycle of the youngest's, + 1 */
	bool broken;                   /* a fault or system call has redirected fetch */

	struct taints taints;
	uint64_t window;               /* of the taint queue */
	struct lately *lately;         /* [number % window] */
	uint32_t *row_of;              /* [nr_row_of]: row + 1; 0: none */
	size_t nr_row_of;
	GArray *rows;                  /* struct causality_row */
	uint64_t critical;
};

#define INLINE static inline __attribute__((always_inline))

/* --- the three operations ---------------------------------------------------------------------------- */

/* ConstrainBy: whether `c` is what `this` waits for now. */
INLINE bool constrain(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c)
{
	if (c->t > this->t) {
		this->t = c->t;
		if (mode != CHRONO_PLAIN)
			this->who = c->who;
		return true;
	}
	if (mode == CHRONO_TAINT && c->t == this->t)
		this->who = taint_union(&v->taints, this->who, c->who);
	return false;
}

/* The same by a time `later` after `c`. */
INLINE bool constrain_after(struct chrono *v, const enum chrono_mode mode, struct when *this, const struct when *c, uint64_t later)
{
	struct when w = { .t = c->t + later, .who = mode != CHRONO_PLAIN ? c->who : 0 };
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
		if (mode == CHRONO_PASSAGES)
			this->who = 0;
		return true;
	}
	if (mode == CHRONO_TAINT && t == this->t && t)
		this->who = taint_union_users(&v->taints, this->who, &v->users[resource]);
	return false;
}

/* UsedBy: for `amount` x inverse throughput, from `least` on where it was idle. */
INLINE void use(struct chrono *v, const enum chrono_mode mode, unsigned resource, uint64_t amount, uint64_t least)
{
	bool idle = v->resource[resource] < least;

	if (mode == CHRONO_TAINT)
		taint_use(&v->taints, &v->users[resource], idle);
	v->resource[resource] = (idle ? least : v->resource[resource]) + amount * v->inverse[resource];
}

/* The instruction itself is among those that determine the time. */
INLINE void add_self(struct chrono *v, const enum chrono_mode mode, struct when *w)
{
	if (mode == CHRONO_TAINT)
		w->who = taint_add(&v->taints, w->who);
	if (mode == CHRONO_PASSAGES)
		w->who = v->taints.now;
}

/* --- schedulers -------------------------------------------------------------------------------------- */

static inline uint64_t cycle_of(uint64_t t)
{
	return t / ABSTRACT_TICKS;
}

static inline void waiting_give(struct waiting *w, uint64_t cycle)
{
	uint64_t at = cycle % WAITING_WINDOW;

	if (w->some[at / 64] >> (at % 64) & 1) {
		w->held -= w->given[at];
		w->given[at] = 0;
		w->some[at / 64] &= ~(UINT64_C(1) << (at % 64));
	}
}

/* The next cycle after now that gives any back; now itself + the window where none does. */
static inline uint64_t waiting_next(const struct waiting *w)
{
	for (uint64_t c = w->now + 1, end = w->now + WAITING_WINDOW; c < end; c = (c | 63) + 1) {
		uint64_t some = w->some[c % WAITING_WINDOW / 64] >> (c % 64);
		if (some)
			return c + (uint64_t)__builtin_ctzll(some);
	}
	return w->now + WAITING_WINDOW;
}

static inline void waiting_advance(struct waiting *w, uint64_t cycle)
{
	while (w->now < cycle) {
		uint64_t c = w->now + 1, some = w->some[c % WAITING_WINDOW / 64] >> (c % 64);
		uint64_t next = some ? c + (uint64_t)__builtin_ctzll(some) : c | 63;
		w->now = next < cycle ? next : cycle;
		waiting_give(w, w->now);
	}
}

/* Dispatch waits until `uops` more fit in; *this is at least the present time of dispatch. */
INLINE bool constrain_scheduler(struct chrono *v, const enum chrono_mode mode, struct when *this, struct waiting *w, unsigned uops)
{
	bool waits = false;

	waiting_advance(w, cycle_of(this->t));
	if (uops > w->entries)
		uops = w->entries;
	while (w->held + uops > w->entries) {
		w->now = waiting_next(w);
		struct when free = { w->now * ABSTRACT_TICKS, mode == CHRONO_TAINT ? w->who[w->now % WAITING_WINDOW] : 0 };
		waiting_give(w, w->now);
		waits = true;
		constrain(v, mode, this, &free);
	}
	w->held += uops;
	return waits;
}

/* They issue at `issue`, and their entries are free in the cycle after. */
INLINE void waiting_issue(const enum chrono_mode mode, struct waiting *w, unsigned uops, const struct when *issue)
{
	uint64_t cycle = cycle_of(issue->t) + 1;

	if (uops > w->entries)
		uops = w->entries;
	if (cycle <= w->now) {
		w->held -= uops;
		return;
	}
	if (cycle >= w->now + WAITING_WINDOW)
		cycle = w->now + WAITING_WINDOW - 1;
	uint64_t at = cycle % WAITING_WINDOW;
	w->given[at] = (uint16_t)(w->given[at] + uops);
	w->some[at / 64] |= UINT64_C(1) << (at % 64);
	if (mode == CHRONO_TAINT)
		w->who[at] = issue->who;
}

/* --- one instruction --------------------------------------------------------------------------------- */

/* What the steps of one instruction hand on to one another. */
struct way {
	const struct recipe *p;
	const struct use *uses;
	unsigned flags;                /* enum outcome_flags */
	uint64_t dispatch;             /* time from which idle resources are used */
	struct when start;             /* earliest issue */
	struct when address, loaded, end, complete;
	struct when data;              /* of its stores */
	struct when own;               /* their lines are there */
	uint64_t store_extra;
	unsigned nr_stores;            /* words */
	uint64_t lines, iterations;    /* of a rep string */
	uint16_t why;                  /* enum reason */
	taint by;                      /* mode PASSAGES: whose result it waited for last */
	uint64_t ready, least;         /* operands there; time of its first issue */
	uint16_t psv;
	uint8_t level, code_level;
	uint64_t front_stall, translation_stall;
};

/* Issues the uops of a part; *w goes from when they are ready to when they start. */
INLINE void issue(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, struct when *w)
{
	const struct part *p = &y->p->part[which];
	const struct use *u = y->uses + p->use, *end = u + p->nr_uses;

	if (!p->uops)
		return;
	for (; u < end; u++) {
		if (constrain_by(v, mode, w, u->resource))
			y->why = u->resource;
		use(v, mode, u->resource, u->amount, y->dispatch);
	}
	if (p->scheduler != RECIPE_NO_SCHEDULER)
		waiting_issue(mode, v->scheduler[p->scheduler], p->uops, w);
	if (mode == CHRONO_PASSAGES && w->t < y->least)
		y->least = w->t;
}

/* Ticks of a translation that the first level does not have; `walk`: the word of its loads, 0: none. */
INLINE uint64_t translate(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, enum outcome_tlb how, uint64_t walk)
{
	uint64_t t = v->cost.second;

	if (how == TLB_WALK) {
		t += v->cost.walk + outcome_level(walk) * v->cost.level[LEVEL_L2] + outcome_slot(walk) * v->cost.level[LEVEL_LLC] +
		     outcome_distance(walk) * v->cost.level[LEVEL_MEMORY];
		if (constrain_by(v, mode, w, RESOURCE_WALK))
			y->why = RESOURCE_WALK;
		bool idle = v->resource[RESOURCE_WALK] < y->dispatch;
		if (mode == CHRONO_TAINT)
			taint_use(&v->taints, &v->users[RESOURCE_WALK], idle);
		v->resource[RESOURCE_WALK] = (idle ? y->dispatch : v->resource[RESOURCE_WALK]) + t / ABSTRACT_TICKS * v->inverse[RESOURCE_WALK];
	}
	return t;
}

/* A line comes from `level`: the buses it passes. */
INLINE void transfer(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, enum level level, bool waits)
{
	static const unsigned buses[] = { RESOURCE_L2, RESOURCE_LLC, RESOURCE_MEMORY };
	unsigned nr = level == LEVEL_MEMORY ? 3 : level == LEVEL_LLC ? 2 : 1;

	for (unsigned i = 0; i < nr; i++) {
		if (waits && constrain_by(v, mode, w, buses[i]))
			y->why = (uint16_t)buses[i];
		use(v, mode, buses[i], 1, y->dispatch);
	}
}

/* The line of the access is not in L1D: *w goes from the request to when it is there. */
INLINE void miss(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, uint64_t word)
{
	enum level level = outcome_level(word);
	struct when *slot = &v->missing[v->nr_missing++ % v->cost.misses];

	if (constrain(v, mode, w, slot))
		y->why = REASON_MISSES;
	transfer(v, mode, y, w, level, true);
	w->t += v->cost.level[level];
	uint32_t slot1 = outcome_slot(word) % v->nr_line1, slot2 = outcome_slot2(word) % v->nr_line2;
	if (constrain(v, mode, w, &v->line2[slot2])) {
		y->why = REASON_LOAD;
		level = (enum level)v->from2[slot2];
		if (level == LEVEL_MEMORY)
			y->psv |= PSV_ST_LLC;
	}
	add_self(v, mode, w);
	*slot = *w;
	if (slot2 && outcome_level(word) != LEVEL_L2) {
		v->line2[slot2] = *w;
		v->from2[slot2] = (uint8_t)level;
	}
	v->line1[slot1] = *w;
	v->from1[slot1] = (uint8_t)level;
}

/* Out of line, and by value: so the way of the instruction stays in registers where nothing misses. */
static __attribute__((noinline)) uint64_t miss_plain(struct chrono *v, uint64_t dispatch, uint64_t t, uint64_t word)
{
	struct way y = { .dispatch = dispatch };
	struct when w = { .t = t };

	miss(v, CHRONO_PLAIN, &y, &w, word);
	return w.t;
}

static inline uint16_t events_of(uint64_t word)
{
	return (uint16_t)((outcome_level(word) != LEVEL_L1 ? PSV_ST_L1 : 0) | (outcome_tlb(word) != TLB_HIT ? PSV_ST_TLB : 0) |
	                  (outcome_level(word) == LEVEL_MEMORY ? PSV_ST_LLC : 0));
}

/* The line that an access at *w wants is in L1D, or comes there; returns when. */
INLINE struct when line(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct when *w, uint64_t word)
{
	struct when there = *w;

	if (__builtin_expect(outcome_level(word) == LEVEL_L1, 1)) {
		/* The hit's own latency is the caller's; a line on its way is waited for. */
		there.t += v->cost.load;
		if (outcome_slot(word) < v->nr_line1 && constrain(v, mode, &there, &v->line1[outcome_slot(word)])) {
			y->why = REASON_LOAD;
			y->level = LEVEL_FILL_BUFFER;
			y->psv |= v->from1[outcome_slot(word)] == LEVEL_MEMORY ? PSV_ST_L1 | PSV_ST_LLC : PSV_ST_L1;
		}
		return there;
	}
	if (mode == CHRONO_PLAIN)
		there.t = miss_plain(v, y->dispatch, there.t, word);
	else
		miss(v, mode, y, &there, word);
	return there;
}

INLINE void load_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, uint64_t walk)
{
	struct when w = y->address;
	bool extra = y->p->load_extra;

	if (__builtin_expect(outcome_tlb(word) != TLB_HIT, 0))
		w.t += translate(v, mode, y, &w, outcome_tlb(word), walk);
	struct when there = line(v, mode, y, &w, word);
	if (__builtin_expect(outcome_distance(word), 0)) {
		if (constrain_after(v, mode, &there, &v->written[(v->nr_written - outcome_distance(word)) % STORE_RING], v->cost.forward))
			y->why = REASON_LOAD;
		if (mode == CHRONO_PASSAGES && outcome_distance(word) < v->cost.store_queue && y->level < LEVEL_FORWARD)
			y->level = LEVEL_FORWARD;
	}
	there.t += v->cost.split[outcome_split(word)];
	if (extra)
		there.t += y->p->load_extra * v->cost.load_extra;
	constrain(v, mode, &y->loaded, &there);
	if (mode == CHRONO_PASSAGES) {
		y->psv |= events_of(word);
		if (outcome_level(word) > (enum level)y->level)
			y->level = (uint8_t)outcome_level(word);
	}
}

INLINE void store_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, uint64_t walk)
{
	struct when w = y->address;

	if (outcome_tlb(word) != TLB_HIT) {
		w.t += translate(v, mode, y, &w, outcome_tlb(word), walk);
		if (mode == CHRONO_PASSAGES)
			y->psv |= PSV_ST_TLB;
	}
	struct when there = line(v, mode, y, &w, word);
	constrain(v, mode, &y->own, &there);
	y->store_extra += v->cost.split_store[outcome_split(word)];
	y->nr_stores++;
}

/* A line that nobody waits for yet. */
INLINE void fill_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	struct when w = y->address;

	transfer(v, mode, y, &w, outcome_level(word), true);
	w.t += v->cost.level[outcome_level(word)];
	add_self(v, mode, &w);
	uint32_t slot1 = outcome_slot(word) % v->nr_line1, slot2 = outcome_slot2(word) % v->nr_line2;
	if (outcome_kind(word) == OUTCOME_FILL_L2) {
		v->line2[slot2] = w;
		v->from2[slot2] = (uint8_t)outcome_level(word);
		return;
	}
	v->from1[slot1] = (uint8_t)outcome_level(word);
	if (constrain(v, mode, &w, &v->line2[slot2]))
		v->from1[slot1] = v->from2[slot2];
	v->line1[slot1] = w;
}

INLINE void write_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	enum level level = outcome_level(word);

	use(v, mode, level == LEVEL_MEMORY ? RESOURCE_MEMORY : level == LEVEL_LLC ? RESOURCE_LLC : RESOURCE_L2, 1, y->dispatch);
}

/* The words of its accesses from *word to `end`, in the order they stand. */
INLINE void accesses(struct chrono *v, const enum chrono_mode mode, struct way *y, const uint64_t *word, const uint64_t *end)
{
	uint64_t walk = 0;

	for (; word < end; word++) {
		switch (outcome_kind(*word)) {
		case OUTCOME_LOAD:
			load_word(v, mode, y, *word, walk);
			y->lines++;
			break;
		case OUTCOME_STORE:
			store_word(v, mode, y, *word, walk);
			break;
		case OUTCOME_SOFT: {
			struct when w = y->address;
			if (outcome_tlb(*word) != TLB_HIT)
				w.t += translate(v, mode, y, &w, outcome_tlb(*word), walk);
			line(v, mode, y, &w, *word);
			break;
		}
		case OUTCOME_SOURCE:
			constrain_after(v, mode, &y->loaded, &v->written[(v->nr_written - outcome_distance(*word)) % STORE_RING], v->cost.forward);
			break;
		case OUTCOME_FILL_L1:
		case OUTCOME_FILL_L2:
			fill_word(v, mode, y, *word);
			break;
		case OUTCOME_WRITE:
			write_word(v, mode, y, *word);
			break;
		case OUTCOME_WALK:
			walk = *word;
			break;
		case OUTCOME_REPEAT:
			y->iterations = *word >> 16;
			break;
		case OUTCOME_CODE:
		case OUTCOME_ACCESSES:
			break;
		}
	}
}

/* --- front end --------------------------------------------------------------------------------------- */

/* The words of its code; returns the first behind them. The stall is the instruction's own. */
INLINE const uint64_t *code_words(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y, const uint64_t *word)
{
	uint64_t walk = 0;

	y->dispatch = f->supply.t;
	y->address = f->supply;
	for (; outcome_kind(*word) != OUTCOME_ACCESSES; word++) {
		switch (outcome_kind(*word)) {
		case OUTCOME_CODE: {
			enum level level = outcome_level(*word);
			uint64_t before = f->supply.t;
			if (outcome_tlb(*word) != TLB_HIT)
				f->supply.t += translate(v, mode, y, &f->supply, outcome_tlb(*word), walk);
			y->translation_stall += f->supply.t - before;
			before = f->supply.t;
			if (level != LEVEL_L1) {
				transfer(v, mode, y, &f->supply, level, true);
				f->supply.t += v->cost.code[level];
				constrain(v, mode, &f->supply, &v->line2[outcome_slot2(*word) % v->nr_line2]);
				y->psv |= PSV_DR_L1;
				y->code_level = (uint8_t)level;
			}
			if (outcome_tlb(*word) != TLB_HIT)
				y->psv |= PSV_DR_TLB;
			y->front_stall += f->supply.t - before;
			add_self(v, mode, &f->supply);
			f->why_supply = REASON_CODE;
			break;
		}
		case OUTCOME_WALK:
			walk = *word;
			break;
		case OUTCOME_WRITE:
			write_word(v, mode, y, *word);
			break;
		case OUTCOME_FILL_L1:
		case OUTCOME_FILL_L2:
			fill_word(v, mode, y, *word);
			break;
		default:
			assert(false);
		}
	}
	return word + 1;
}

INLINE bool supply_by(struct chrono *v, struct flow *f, const enum chrono_mode mode, unsigned resource, uint64_t amount, uint64_t least)
{
	bool waits = constrain_by(v, mode, &f->supply, resource);

	if (waits)
		f->why_supply = (uint16_t)resource;
	use(v, mode, resource, amount, least);
	return waits;
}

/* The front end offers it: as fast as the uop cache or the decoders deliver, as far ahead as the queue reaches. */
INLINE void offer(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	const struct recipe *p = y->p;
	uint64_t last = f->nr_slots + (p->slots < v->cost.queue ? p->slots : v->cost.queue);

	if (last > v->cost.queue)
		constrain(v, mode, &f->supply, &v->queued[(last - v->cost.queue - 1) & v->ring_mask]);
	uint64_t least = f->supply.t;
	if (y->flags & OUTCOME_DECODED) {
		if (y->flags & OUTCOME_BLOCK)
			supply_by(v, f, mode, RESOURCE_FETCH, 1, least);
		supply_by(v, f, mode, RESOURCE_PREDECODE, 1, least);
		supply_by(v, f, mode, RESOURCE_DECODE, 1, least);
		if ((p->decode_uops > 1 || p->flags & (INSN_COMPLEX | INSN_MICROCODED)) && v->inverse[RESOURCE_COMPLEX])
			supply_by(v, f, mode, RESOURCE_COMPLEX, 1, least);
	} else if (!(p->flags & INSN_MICROCODED)) {
		supply_by(v, f, mode, RESOURCE_UOPCACHE, p->decode_uops, least);
	}
	if (p->flags & INSN_MICROCODED)
		supply_by(v, f, mode, RESOURCE_MICROCODE, p->decode_uops, least);
}

/* --- dispatch ---------------------------------------------------------------------------------------- */

INLINE void wait_dispatch(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct when *c, unsigned why)
{
	if (constrain(v, mode, &f->dispatch, c))
		f->why = (uint16_t)why;
}

/* Entries of the queues that the instruction needs, and what serialises. */
INLINE void admit(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct recipe *p)
{
	uint64_t last = f->nr_slots + (p->slots < v->cost.rob ? p->slots : v->cost.rob);

	if (last > v->cost.rob)
		wait_dispatch(v, f, mode, &v->rob[(last - v->cost.rob - 1) & v->ring_mask], REASON_ROB);
	if (p->part[PART_LOAD].uops) {
		last = v->nr_loads + p->part[PART_LOAD].uops;
		if (last > v->cost.load_queue)
			wait_dispatch(v, f, mode, &v->loads[(last - v->cost.load_queue - 1) & v->loads_mask], REASON_LOAD_QUEUE);
	}
	if (p->part[PART_STA].uops) {
		last = v->nr_stores + p->part[PART_STA].uops;
		if (last > v->cost.store_queue)
			wait_dispatch(v, f, mode, &v->stores[(last - v->cost.store_queue - 1) & v->stores_mask], REASON_STORE_QUEUE);
	}
	wait_dispatch(v, f, mode, &v->serial, REASON_SERIAL);
	if (__builtin_expect(p->flags & INSN_SERIALIZE, 0))
		wait_dispatch(v, f, mode, &f->retire, REASON_SERIAL);
}

INLINE void enter_schedulers(struct chrono *v, struct flow *f, const enum chrono_mode mode, const struct recipe *p)
{
	for (unsigned k = 0; k < NR_PARTS; k++) {
		const struct part *part = &p->part[k];
		if (!part->uops || part->scheduler == RECIPE_NO_SCHEDULER)
			continue;
		if (constrain_scheduler(v, mode, &f->dispatch, v->scheduler[part->scheduler], part->uops))
			f->why = REASON_SCHEDULER;
	}
}

/* Algorithm 1, lines 20 to 26. */
INLINE void dispatch(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	const struct recipe *p = y->p;

	f->why = REASON_NONE;
	admit(v, f, mode, p);
	enter_schedulers(v, f, mode, p);
	f->dispatch_by = f->why == REASON_NONE ? 0 : f->dispatch.who;
	bool bubble = f->frontend.t < f->dispatch.t;
	constrain(v, mode, &f->frontend, &f->dispatch);
	if (constrain(v, mode, &f->frontend, &f->supply))
		f->why = f->why_supply;
	else if (!bubble)
		f->why = RESOURCE_FRONTEND;
	f->frontend.t += p->slots * v->inverse[RESOURCE_FRONTEND];
	add_self(v, mode, &f->frontend);
	constrain(v, mode, &f->dispatch, &f->frontend);
	for (unsigned i = 0; i < p->slots; i++)
		v->queued[(f->nr_slots + i) & v->ring_mask] = f->dispatch;
	f->why_supply = REASON_NONE;
}

/* --- execution --------------------------------------------------------------------------------------- */

INLINE void wait_fence(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, const struct when *c)
{
	if (constrain(v, mode, w, c))
		y->why = REASON_SERIAL;
}

/* By its address: loads, and the addresses of stores. */
INLINE void execute_memory(struct chrono *v, const enum chrono_mode mode, struct way *y, const uint64_t *word, const uint64_t *end)
{
	const struct recipe *p = y->p;

	for (unsigned i = 0; i < p->nr_addr; i++)
		if (constrain(v, mode, &y->address, &v->reg[p->addr[i]])) {
			y->why = REASON_LATENCY;
			y->by = y->address.who;
		}
	wait_fence(v, mode, y, &y->address, &v->memory_floor);
	if (__builtin_expect(p->flags & INSN_LOCKED, 0))
		wait_fence(v, mode, y, &y->address, &v->stores_freed);
	if (p->part[PART_LOAD].uops) {
		issue(v, mode, y, PART_LOAD, &y->address);
		y->loaded = y->address;
		y->loaded.t += word == end && !(p->flags & INSN_PREFETCH) ? v->cost.load : 0; /* a predicated access that was not made */
	}
	if (p->part[PART_STA].uops) {
		struct when known = y->address;
		issue(v, mode, y, PART_STA, &known);
		y->complete = known;
		y->complete.t += ABSTRACT_TICKS;
		y->data = known;
		if (!p->part[PART_LOAD].uops)
			y->address = known;
		y->own = known;
	}
	accesses(v, mode, y, word, end);
}

/* By its data: what it computes. y->end is its start afterwards, and the time of a result of latency 0. */
INLINE void execute_compute(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	const struct recipe *p = y->p;

	if (p->eliminated)
		y->end = (struct when){ 0 };   /* renamed: neither dispatch nor a port is waited for */
	for (unsigned i = 0; i < p->nr_data; i++) {
		struct when w = v->reg[p->data[i]];
		uint64_t late = p->data_late[i] * v->cost.latency[p->class];
		w.t = w.t > late ? w.t - late : 0;
		if (constrain(v, mode, &y->end, &w)) {
			y->why = REASON_LATENCY;
			y->by = y->end.who;
		}
	}
	if (p->flags & INSN_LOAD && constrain(v, mode, &y->end, &y->loaded) && y->why == REASON_NONE)
		y->why = REASON_LOAD;
	y->ready = y->end.t;
	issue(v, mode, y, PART_COMPUTE, &y->end);
	if (__builtin_expect(p->flags & INSN_REP, 0)) {
		uint64_t lines = y->nr_stores > y->lines ? y->nr_stores : y->lines;
		y->end.t += v->cost.repeat_startup + (p->flags & INSN_STORE ? lines * v->cost.repeat_line : y->iterations * v->cost.repeat_slow);
	}
}

INLINE void write_results(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	const struct recipe *p = y->p;
	uint64_t each = v->cost.latency[p->class];
	struct when start = y->end;

	if (!p->eliminated)
		add_self(v, mode, &start);
	y->end = start;
	y->end.t += p->latency * each;
	constrain(v, mode, &y->complete, &y->end);
	for (unsigned i = 0; i < p->nr_dst; i++) {
		uint8_t latency = p->dst_latency[i];
		struct when *reg = &v->reg[p->dst[i]];
		if (latency & DST_WRITEBACK) {
			*reg = y->address;
			reg->t += (latency & (DST_WRITEBACK - 1u)) * v->cost.latency[LATENCY_INTEGER];
			add_self(v, mode, reg);
		} else {
			*reg = start;
			reg->t += latency * each;
		}
		constrain(v, mode, &y->complete, reg);
	}
}

INLINE void execute_stores(struct chrono *v, const enum chrono_mode mode, struct way *y)
{
	struct when s = y->start;

	if (y->p->branch)
		s = y->data;                   /* a call stores the address behind it */
	else
		constrain(v, mode, &s, &y->end);
	issue(v, mode, y, PART_STD, &s);
	s.t += ABSTRACT_TICKS;
	add_self(v, mode, &s);
	constrain(v, mode, &y->data, &s);
	constrain(v, mode, &y->complete, &y->data);
	for (unsigned i = 0; i < y->nr_stores; i++)
		v->written[v->nr_written++ % STORE_RING] = y->data;
}

INLINE void fences(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	uint32_t flags = y->p->flags;

	if (flags & INSN_FENCE) {
		constrain(v, mode, &y->complete, &v->loads_done);
		constrain(v, mode, &y->complete, &v->stores_freed);
		y->complete.t += v->cost.fence;
		add_self(v, mode, &y->complete);
	}
	if (flags & INSN_LOCKED) {
		struct when end = y->address;
		end.t += v->cost.lock;
		add_self(v, mode, &end);
		constrain(v, mode, &y->complete, &end);
		for (unsigned i = 0; i < y->p->nr_dst; i++)
			constrain(v, mode, &v->reg[y->p->dst[i]], &end);
	}
	if (flags & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE))
		constrain(v, mode, &v->memory_floor, &y->complete);
	if (flags & INSN_DISPATCH_SERIALIZE)
		constrain(v, mode, &y->complete, &f->retire);
}

/* --- retiring ---------------------------------------------------------------------------------------- */

INLINE void retire(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y, uint64_t *drained)
{
	const struct recipe *p = y->p;
	unsigned slots = p->slots, loads = p->part[PART_LOAD].uops, stores = p->part[PART_STA].uops;

	if (slots) {
		constrain_after(v, mode, &f->retire, &y->complete, v->cost.commit);
		f->retire.t += slots * v->inverse[RESOURCE_RETIRE];
		add_self(v, mode, &f->retire);
	} else {
		constrain_after(v, mode, &f->retire, &y->complete, v->cost.commit);
	}
	for (unsigned i = 0; i < slots; i++)
		v->rob[f->nr_slots++ & v->ring_mask] = f->retire;
	while (loads--)
		v->loads[v->nr_loads++ & v->loads_mask] = f->retire;
	if (p->flags & INSN_LOAD)
		constrain(v, mode, &v->loads_done, &y->loaded);
	if (!stores && !y->nr_stores)
		return;
	constrain(v, mode, &v->drain, &f->retire);
	constrain(v, mode, &v->drain, &y->own);
	v->drain.t += (y->nr_stores ? y->nr_stores : 1) * v->inverse[RESOURCE_DRAIN] + y->store_extra;
	add_self(v, mode, &v->drain);
	v->stores_freed = v->drain;
	while (stores--)
		v->stores[v->nr_stores++ & v->stores_mask] = v->drain;
	*drained = v->drain.t;
}

/* Where fetch goes on, and from when on dispatch may. Returns whether a misprediction cost anything. */
INLINE bool follow(struct chrono *v, struct flow *f, const enum chrono_mode mode, struct way *y)
{
	uint32_t flags = y->p->flags;
	uint64_t after = 0;

	if (y->flags & OUTCOME_TAKEN && supply_by(v, f, mode, RESOURCE_TAKEN, 1, f->supply.t) && mode == CHRONO_TAINT)
		y->why = RESOURCE_TAKEN;
	if (y->flags & OUTCOME_MISPREDICT) {
		v->mispredicts += v->cost.mispredicts;
		if (v->mispredicts >= WEIGHT_ONE) {
			v->mispredicts -= WEIGHT_ONE;
			if (constrain_after(v, mode, &f->supply, &y->end, v->cost.mispredict))
				f->why_supply = REASON_BRANCH;
			return true;
		}
	} else if (y->flags & (OUTCOME_REDIRECT | OUTCOME_BTB2)) {
		f->supply.t += y->flags & OUTCOME_REDIRECT ? v->cost.redirect : v->cost.btb2;
		add_self(v, mode, &f->supply);
		f->why_supply = RESOURCE_TAKEN;
	}
	if (__builtin_expect(!(flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH)) && !(y->flags & OUTCOME_FAULT), 1))
		return false;
	if (flags & INSN_SERIALIZE)
		constrain_after(v, mode, &v->serial, &f->retire, v->cost.serialize);
	if (flags & INSN_DISPATCH_SERIALIZE)
		constrain_after(v, mode, &v->serial, &y->complete, ABSTRACT_TICKS);
	if (y->flags & OUTCOME_FAULT)
		after = v->cost.exception;
	else if (flags & INSN_SYSCALL)
		after = v->cost.syscall;
	else if (flags & INSN_FLUSH)
		after = v->cost.flush;
	if (after && constrain_after(v, mode, &f->supply, &f->retire, after))
		f->why_supply = REASON_SERIAL;
	v->broken = y->flags & OUTCOME_FAULT;
	return false;
}

/* --- causality --------------------------------------------------------------------------------------- */

/* Instruction `n`, the oldest of the taint queue, helped to determine what is looked at. */
static void critical(struct chrono *v, uint64_t n)
{
	const struct lately *l = &v->lately[n % v->window];

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

INLINE void judge(struct chrono *v, struct flow *f, const struct way *y)
{
	uint64_t n = f->record;

	if (n > v->window && taint_has(&v->taints, f->dispatch.who, n - v->window))
		critical(v, n - v->window);
	v->lately[n % v->window] = (struct lately){
		y->p->insn, y->why == REASON_NONE ? f->why : y->why, (y->flags & OUTCOME_COUNTED) != 0,
	};
}

void chrono_finish(struct chrono *v)
{
	uint64_t first = v->flow.record >= v->window ? v->flow.record - v->window + 1 : 1;

	if (v->mode != CHRONO_TAINT)
		return;
	for (uint64_t n = first; n <= v->flow.record; n++)
		if (taint_has(&v->taints, v->flow.retire.who, n))
			critical(v, n);
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

/* --- the stream -------------------------------------------------------------------------------------- */

INLINE const uint64_t *one(struct chrono *v, struct flow *f, const enum chrono_mode mode, const uint64_t *word, struct passage *out)
{
	const struct recipes *r = v->recipes;
	uint64_t head = *word++;
	const uint64_t *end = word + outcome_words(head);
	struct way y;
	uint64_t drained = 0;

	y.p = &r->recipe[outcome_recipe(head)];
	y.uses = r->use;
	y.flags = outcome_flags(head);
	y.why = REASON_NONE;
	y.by = 0;
	y.nr_stores = 0;
	y.store_extra = 0;
	y.lines = y.iterations = 0;
	y.psv = 0;
	y.level = LEVEL_NONE;
	y.code_level = LEVEL_L1;
	y.front_stall = y.translation_stall = 0;
	y.least = UINT64_MAX;
	y.ready = 0;
	f->record++;
	if (mode != CHRONO_PLAIN)
		v->taints.now = f->record;
	if (__builtin_expect(y.flags & OUTCOME_ENTER && !v->broken && f->record > 1, 0) &&
	    constrain_after(v, mode, &f->supply, &f->retire, v->cost.exception))
		f->why_supply = REASON_SERIAL;
	v->broken = false;

	if (__builtin_expect(y.flags & OUTCOME_LINES, 0))
		word = code_words(v, f, mode, &y, word);
	if (!y.p->second) {
		offer(v, f, mode, &y);
		dispatch(v, f, mode, &y);
	}
	y.start = f->dispatch;
	y.start.t += v->cost.issue;
	y.dispatch = y.start.t;
	y.address = y.end = y.data = y.own = y.start;
	y.loaded = y.complete = f->dispatch;
	if (y.p->second) {
		y.end = y.complete = v->pair;
	} else {
		if (y.p->flags & (INSN_LOAD | INSN_STORE | INSN_PREFETCH) || y.p->nr_addr || word < end)
			execute_memory(v, mode, &y, word, end);
		execute_compute(v, mode, &y);
		write_results(v, mode, &y);
		if (y.p->part[PART_STA].uops || y.nr_stores)
			execute_stores(v, mode, &y);
		if (__builtin_expect(y.p->flags & (INSN_FENCE | INSN_LOCKED | INSN_ACQUIRE | INSN_DISPATCH_SERIALIZE), 0))
			fences(v, f, mode, &y);
		v->pair = y.end;
	}
	if (mode == CHRONO_PASSAGES) {
		out->avail = f->supply.t;
		out->dispatch_by = y.p->second ? 0 : f->dispatch_by;
		out->reason_dispatch = f->why;
	}
	retire(v, f, mode, &y, &drained);
	bool mispredicted = follow(v, f, mode, &y);
	if (mode == CHRONO_TAINT)
		judge(v, f, &y);

	uint64_t commit = (f->retire.t + ABSTRACT_TICKS - 1) / ABSTRACT_TICKS;
	if (y.flags & OUTCOME_COUNTED) {
		v->cycles += commit - v->commit;
		v->instructions++;
	}
	v->commit = commit;
	if (mode == CHRONO_PASSAGES) {
		out->dispatch = f->dispatch.t;
		out->ready = y.ready;
		out->issue = y.least;
		out->complete = y.complete.t;
		out->leave = f->retire.t;
		out->drain = drained;
		out->front_stall = y.front_stall;
		out->translation_stall = y.translation_stall;
		out->issue_by = y.by;
		out->reason_issue = y.why;
		out->psv = y.psv;
		out->level = y.level;
		out->code_level = y.code_level;
		out->mispredicted = mispredicted;
	}
	return end;
}

/* Groups of ports that have become known: what their use costs. */
static void learn_groups(struct chrono *v)
{
	for (; v->nr_groups < v->recipes->nr_groups; v->nr_groups++) {
		uint16_t ports = v->recipes->group[v->nr_groups];
		uint64_t capacity = 0;
		for (unsigned i = 0; i < CORE_PORTS; i++)
			if (ports >> i & 1)
				capacity += v->cost.port_weight[i];
		v->inverse[RESOURCE_PORTS + v->nr_groups] = (ABSTRACT_TICKS * WEIGHT_ONE + capacity / 2) / capacity;
	}
}

void chrono_batch(struct chrono *v, const uint64_t *word, size_t nr, struct passage *p)
{
	const uint64_t *end = word + nr;
	struct flow f = v->flow;

	learn_groups(v);
	switch (v->mode) {
	case CHRONO_PLAIN:
		while (word < end)
			word = one(v, &f, CHRONO_PLAIN, word, NULL);
		break;
	case CHRONO_PASSAGES:
		while (word < end)
			word = one(v, &f, CHRONO_PASSAGES, word, p++);
		break;
	case CHRONO_TAINT:
		while (word < end)
			word = one(v, &f, CHRONO_TAINT, word, NULL);
		break;
	}
	v->flow = f;
}

uint64_t chrono_cycles(const struct chrono *v)
{
	return v->cycles;
}

uint64_t chrono_instructions(const struct chrono *v)
{
	return v->instructions;
}

/* --- the whole --------------------------------------------------------------------------------------- */

/* A ring that holds `entries` and what one instruction adds. */
static int ring(struct when **out, uint64_t *mask, uint64_t entries)
{
	uint64_t n = 512;

	while (n < entries + UINT8_MAX + 1)
		n *= 2;
	*mask = n - 1;
	*out = calloc(n, sizeof **out);
	return *out ? 0 : -ENOMEM;
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

static int make_taint(struct chrono *v)
{
	int err;

	v->window = 2 * (uint64_t)v->cost.rob;
	v->rows = g_array_new(FALSE, TRUE, sizeof(struct causality_row));
	v->lately = calloc(v->window, sizeof *v->lately);
	err = v->lately ? taints_init(&v->taints, (uint32_t)v->window + 1) : -ENOMEM;
	for (unsigned i = 0; i < NR_RESOURCES && !err; i++)
		err = taint_users_init(&v->users[i], &v->taints);
	return err;
}

static int make(struct chrono *v, const struct core_desc *d)
{
	uint64_t slots = v->cost.rob > v->cost.queue ? v->cost.rob : v->cost.queue;
	int err = ring(&v->rob, &v->ring_mask, slots);

	if (!err)
		err = ring(&v->queued, &v->ring_mask, slots);
	if (!err)
		err = ring(&v->loads, &v->loads_mask, v->cost.load_queue);
	if (!err)
		err = ring(&v->stores, &v->stores_mask, v->cost.store_queue);
	v->nr_line1 = (uint32_t)(d->l1d_size / d->l1d_line);
	v->nr_line2 = 1 + (uint32_t)((d->l2_size ? d->l2_size : d->llc_size) / d->l1d_line);
	v->missing = calloc(v->cost.misses, sizeof *v->missing);
	v->written = calloc(STORE_RING, sizeof *v->written);
	v->line1 = calloc(v->nr_line1, sizeof *v->line1);
	v->line2 = calloc(v->nr_line2, sizeof *v->line2);
	v->from1 = calloc(v->nr_line1, 1);
	v->from2 = calloc(v->nr_line2, 1);
	if (!v->missing || !v->written || !v->line1 || !v->line2 || !v->from1 || !v->from2)
		err = -ENOMEM;
	if (!err)
		err = make_schedulers(v);
	if (!err && v->mode == CHRONO_TAINT)
		err = make_taint(v);
	return err;
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
	v->mode = mode;
	for (unsigned i = 0; i < RESOURCE_PORTS; i++)
		v->inverse[i] = costs->inverse[i];
	v->flow.supply.t = costs->front;    /* cycle 0 is the first fetch */
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
	free(v->rob);
	free(v->queued);
	free(v->loads);
	free(v->stores);
	free(v->missing);
	free(v->written);
	free(v->line1);
	free(v->line2);
	free(v->from1);
	free(v->from2);
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
