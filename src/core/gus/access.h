/*
 * What one instruction hands on while it is timed, and its accesses: ports, translations, lines, stores that it reads from.
 * Part of time.c, which alone includes it.
 */
#ifndef CYCLEWISE_CORE_GUS_ACCESS_H
#define CYCLEWISE_CORE_GUS_ACCESS_H

#include "core/cycle.h"
#include "core/gus/state.h"

/* A slot of an array that has `nr`: outcomes may be those of a core with a larger cache. */
static inline uint32_t within(uint32_t slot, uint32_t nr)
{
	return __builtin_expect(slot < nr, 1) ? slot : slot % nr;
}

/* --- one instruction --------------------------------------------------------------------------------- */

/* What the steps of one instruction hand on to one another. */
struct way {
	const struct recipe *p;
	unsigned flags;                /* enum outcome_flags */
	/* Of the recipe, as far as its path leaves it open: */
	uint32_t kind;                 /* enum insn_flags */
	unsigned slots, loads, stores; /* uops that take entries */
	bool eliminated;
	struct when begin;             /* from when on idle resources are used */
	struct when start;             /* earliest issue */
	struct when address, loaded, end, complete;
	struct when data;              /* of its stores */
	struct when own;               /* their lines are there */
	uint64_t store_extra;
	unsigned nr_stores, writes;    /* stores made; lines that they write */
	uint64_t lines, iterations;    /* of a rep string */
	uint16_t why;                  /* enum reason */
	taint by;                      /* mode RECORDS: whose result it waited for last */
	uint64_t ready, least;         /* operands there; time of its first issue */
	uint16_t psv;
	uint8_t level, code_level;
	uint64_t front_stall, translation_stall;
};

/* Waits for resources and uses them. */
INLINE void take(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct use *u, unsigned nr, struct when *w)
{
	for (const struct use *end = u + nr; u < end; u++) {
		if (constrain_by(v, mode, w, u->resource))
			y->why = u->resource;
		use(v, mode, u->resource, u->amount, &y->begin);
	}
}

/* To a port in turn. */
INLINE void bind_port(struct chrono *v, const enum chrono_mode mode, struct way *y, uint16_t ports, struct when *w)
{
	const struct recipes *r = v->recipes;
	uint16_t port = bind_in_turn(ports, r->turn, &v->turn_behind);
	struct use u = { RESOURCE_PORTS, 1 };

	u.resource = (uint16_t)(u.resource + r->nr_pairs);
	for (unsigned before = r->turn & (port - 1u); before; before &= before - 1)
		u.resource++;
	take(v, mode, y, &u, 1, w);
}

/* Of `ports`, the one that is free first from `cycle` on, and when; of equals the lowest. */
INLINE struct slots *first_free(struct chrono *v, unsigned ports, uint64_t cycle, uint64_t *when)
{
	struct slots *best = &v->bound[__builtin_ctz(ports)];

	*when = slots_first(best, cycle);
	for (ports &= ports - 1; ports; ports &= ports - 1) {
		struct slots *s = &v->bound[__builtin_ctz(ports)];
		uint64_t free = slots_first(s, cycle);
		if (free < *when) {
			best = s;
			*when = free;
		}
	}
	return best;
}

/*
 * What waits for the result of one cycle of a uop is woken when that one asks for a port, as if it were sure to get it at once. Where it
 * does not, what waits takes ports in vain until its operands are there, in y->ready. Ref: core/ooo/execute.h, issue_in_vain().
 */
INLINE void issue_in_vain(struct chrono *v, const struct way *y, unsigned ports)
{
	uint64_t woken = y->kind & INSN_LOAD ? later(y->start.t, y->loaded.t) : y->start.t, free;

	for (unsigned i = 0; i < y->p->nr_data; i++) {
		const struct woken *by = &v->woken[y->p->data[i]];
		uint64_t there = v->reg[y->p->data[i]].t;
		woken = later(woken, by->there == there ? by->from : there);
	}
	for (uint64_t c = cycle_of(woken), end = cycle_of(y->ready); c < end; c = free + 1) {
		struct slots *s = first_free(v, ports, c, &free);
		if (free >= end)
			return;
		slots_take(s, free);
	}
}

/* To a pair by chance, of which it takes the port that is free first. */
INLINE void bind_to_pair(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, const struct use *u, struct when *w)
{
	const uint16_t *pair = v->recipes->pair;
	unsigned nr = u->amount % BOUND_LATE;

	for (unsigned n = nr > 1 ? bind_by_chance(&v->draw, nr) : 0; n || !(*pair & u->resource); pair++)
		n -= (*pair & u->resource) != 0;
	unsigned ports = *pair & u->resource, resource = RESOURCE_PORTS + (unsigned)(pair - v->recipes->pair);
	if (which == PART_COMPUTE && v->cost.in_vain && u->amount < BOUND_LATE)
		issue_in_vain(v, y, ports);
	uint64_t cycle = cycle_of(w->t), free;
	struct slots *s = first_free(v, ports, cycle, &free);
	if (free != cycle) {
		w->t = free * ABSTRACT_TICKS;
		y->why = (uint16_t)resource;
		if (mode == CHRONO_TAINT)
			w->who = taint_of_users(&v->taints, &v->users[resource]);
		if (mode == CHRONO_RECORDS)
			w->who = 0;
	}
	slots_take(s, free);
	if (mode == CHRONO_TAINT)
		use(v, mode, resource, 1, &y->begin);
}

/* What is bound of a part, and for whom its result is there a cycle after it issues, when that is woken. */
INLINE void bind_uops(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, struct when *w)
{
	const struct recipe *p = y->p;
	const struct part *part = &p->part[which];
	const struct use *u = v->use + part->use + part->nr_uses;

	for (const struct use *end = u + part->nr_bound; u < end; u++) {
		if (u->amount == BOUND_IN_TURN)
			bind_port(v, mode, y, u->resource, w);
		else
			bind_to_pair(v, mode, y, which, u, w);
	}
	if (p->path != PATH_SIMPLE || p->uops != 1 || p->latency * v->cost.latency[p->class] != ABSTRACT_TICKS)
		return;
	for (unsigned i = 0; i < p->nr_dst; i++)
		v->woken[p->dst[i]] = (struct woken){ w->t + ABSTRACT_TICKS, y->ready + ABSTRACT_TICKS };
}

/* Issues the uops of a part; *w goes from when they are ready to when they start. */
INLINE void issue(struct chrono *v, const enum chrono_mode mode, struct way *y, unsigned which, struct when *w)
{
	const struct part *p = &y->p->part[which];

	if (!p->uops)
		return;
	if (which < NR_PARTS && p->scheduler >= CORE_SCHEDULERS && p->scheduler == RECIPE_QUEUED &&
	    constrain_after(v, mode, w, &v->entered[which], ABSTRACT_TICKS))
		y->why = REASON_SCHEDULER;
	take(v, mode, y, v->use + p->use, p->nr_uses, w);
	unsigned held = which == PART_LOAD ? v->cost.holds_entry : 0;
	if (p->scheduler < CORE_SCHEDULERS) {
		struct waiting *s = v->scheduler[p->scheduler];
		waiting_issue(mode, s, p->uops < s->entries ? p->uops : s->entries, w, held);
	} else if (p->scheduler <= RECIPE_BOUND + CORE_SCHEDULERS) {
		bind_uops(v, mode, y, which, w);
		struct waiting *s = p->scheduler < RECIPE_BOUND + CORE_SCHEDULERS ? v->scheduler[p->scheduler - RECIPE_BOUND] : NULL;
		if (s)
			waiting_issue(mode, s, p->uops < s->entries ? p->uops : s->entries, w, held);
	} else if (which < NR_PARTS && p->scheduler != RECIPE_NO_SCHEDULER)
		schedulers_issue(v, mode, v->chosen[which], w, held);
	if (mode == CHRONO_RECORDS && w->t < y->least)
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
		use(v, mode, RESOURCE_WALK, t / ABSTRACT_TICKS, &y->begin);
	}
	return t;
}

INLINE void wait_bus(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, unsigned bus)
{
	if (constrain_by(v, mode, w, bus))
		y->why = (uint16_t)bus;
}

/*
 * A line comes from `level`: the buses it passes. It comes to where an evicted one was, and so no sooner than the bus down
 * has taken that away.
 */
INLINE void transfer(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, enum level level)
{
	static const unsigned buses[] = { RESOURCE_L2, RESOURCE_LLC, RESOURCE_MEMORY };
	unsigned nr = level == LEVEL_MEMORY ? 3 : level == LEVEL_LLC ? 2 : 1;

	for (unsigned i = 0; i < nr; i++) {
		wait_bus(v, mode, y, w, buses[i]);
		use(v, mode, buses[i], 1, &y->begin);
	}
	wait_bus(v, mode, y, w, RESOURCE_L2_WRITE);
	if (nr > 1)
		wait_bus(v, mode, y, w, RESOURCE_LLC_WRITE);
}

/* Levels that lack a line which comes from `level`. */
INLINE unsigned registers_of(enum level level)
{
	return level == LEVEL_MEMORY ? NR_MISSES : level == LEVEL_LLC ? MISSES_L2 + 1 : MISSES_L1 + 1;
}

/* Of the levels from `first` on that lack a line which comes from `level`, one register each. */
INLINE void wait_registers(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, unsigned first, enum level level)
{
	for (unsigned i = first; i < registers_of(level); i++) {
		const struct registers *r = &v->missing[i];
		if (!r->nr)
			continue;
		struct when free = recall(mode, &r->end, r->next);
		free.t = free.t > r->known ? free.t - r->known : 0;
		if (constrain(v, mode, w, &free))
			y->why = REASON_MISSES;
	}
}

/* Those are held until the line is there. */
INLINE void hold_registers(struct chrono *v, const enum chrono_mode mode, const struct when *there, unsigned first, enum level level)
{
	for (unsigned i = first; i < registers_of(level); i++) {
		struct registers *r = &v->missing[i];
		if (!r->nr)
			continue;
		uint32_t at = r->next;
		r->next = at + 1 == r->nr ? 0 : at + 1;
		for (uint32_t before; at != r->next; at = before) {
			before = at ? at - 1 : r->nr - 1;
			if (r->end.at[before].t <= there->t)
				break;
			const struct when held = recall(mode, &r->end, before);
			keep_at(mode, &r->end, at, &held);
		}
		keep_at(mode, &r->end, at, there);
	}
}

/* A line that could come to the slot of L1D at *w comes when it is its set's turn. */
INLINE void wait_turn(struct chrono *v, struct when *w, uint32_t slot)
{
	if (v->coming)
		w->t = coming_at(&v->coming[slot / v->ways], w->t, v->cost.set_fill);
}

/* Its array gives a line of L2 that could come at *w when it is its turn. The slot's set is the last bits of the line's address. */
INLINE void wait_array(struct chrono *v, struct when *w, uint32_t slot2)
{
	if (v->array && slot2)
		w->t = coming_at(&v->array[(slot2 - 1) / v->ways2 % v->cost.arrays], w->t, v->cost.array_busy);
}

/* The line of the access is not in L1D: *w goes from the request to when it is there. */
INLINE void miss(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, uint64_t word)
{
	enum level from = outcome_level(word), level = from;

	wait_registers(v, mode, y, w, MISSES_L1, from);
	transfer(v, mode, y, w, from);
	w->t += v->cost.level[from];
	uint32_t slot1 = within(outcome_slot(word), v->line1.nr), slot2 = within(outcome_slot2(word), v->line2.nr);
	struct when below = recall(mode, &v->line2.there, slot2);
	if (constrain(v, mode, w, &below)) {
		y->why = REASON_LOAD;
		if (makes_records(mode)) {
			level = (enum level)v->line2.from[slot2];
			if (level == LEVEL_MEMORY)
				y->psv |= PSV_ST_LLC;
		}
	}
	if (from == LEVEL_L2)
		wait_array(v, w, slot2);
	wait_turn(v, w, slot1);
	add_self(v, mode, w);
	hold_registers(v, mode, w, MISSES_L1, from);
	if (slot2 && from != LEVEL_L2)
		line_comes(mode, &v->line2, slot2, w, level);
	line_comes(mode, &v->line1, slot1, w, level);
}

/* A prefetch: a line that nobody waits for yet. What it waits for itself is not what the instruction does. */
INLINE void fill(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, uint64_t word)
{
	enum level from = outcome_level(word);
	uint32_t slot1 = within(outcome_slot(word), v->line1.nr), slot2 = within(outcome_slot2(word), v->line2.nr);
	unsigned first = outcome_kind(word) == OUTCOME_FILL_L1 ? MISSES_L1 : MISSES_L2;
	uint16_t why = y->why;

	wait_registers(v, mode, y, w, first, from);
	transfer(v, mode, y, w, from);
	y->why = why;
	w->t += v->cost.level[from];
	add_self(v, mode, w);
	if (first == MISSES_L2) {
		hold_registers(v, mode, w, first, from);
		line_comes(mode, &v->line2, slot2, w, from);
		return;
	}
	struct when below = recall(mode, &v->line2.there, slot2);
	bool waits = constrain(v, mode, w, &below);
	wait_turn(v, w, slot1);
	hold_registers(v, mode, w, first, from);
	line_comes(mode, &v->line1, slot1, w, makes_records(mode) && waits ? (enum level)v->line2.from[slot2] : from);
}

/* Out of line, and by value: so the way of the instruction stays in registers where nothing misses. */
static __attribute__((noinline)) uint64_t miss_plain(struct chrono *v, uint64_t begin, uint64_t t, uint64_t word)
{
	struct way y = { .begin = { .t = begin } };
	struct when w = { .t = t };

	miss(v, CHRONO_PLAIN, &y, &w, word);
	return w.t;
}

static __attribute__((noinline)) void fill_plain(struct chrono *v, uint64_t begin, uint64_t t, uint64_t word)
{
	struct way y = { .begin = { .t = begin } };
	struct when w = { .t = t };

	fill(v, CHRONO_PLAIN, &y, &w, word);
}

INLINE void fill_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	struct when w = y->address;

	if (mode == CHRONO_PLAIN)
		fill_plain(v, y->begin.t, w.t, word);
	else
		fill(v, mode, y, &w, word);
}

static inline uint16_t events_of(uint64_t word)
{
	return (uint16_t)((outcome_level(word) != LEVEL_L1 ? PSV_ST_L1 : 0) | (outcome_tlb(word) != TLB_HIT ? PSV_ST_TLB : 0) |
	                  (outcome_level(word) == LEVEL_MEMORY ? PSV_ST_LLC : 0));
}

/* In L1D: *there goes from the request to when it is. A line on its way is waited for. */
INLINE void hit(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *there, uint64_t word)
{
	there->t += v->cost.load[outcome_simple(word)];
	if (outcome_slot(word) >= v->line1.nr)
		return;
	struct when comes = recall(mode, &v->line1.there, outcome_slot(word));
	if (constrain(v, mode, there, &comes)) {
		y->why = REASON_LOAD;
		if (makes_records(mode)) {
			y->level = LEVEL_FILL_BUFFER;
			y->psv |= v->line1.from[outcome_slot(word)] == LEVEL_MEMORY ? PSV_ST_L1 | PSV_ST_LLC : PSV_ST_L1;
		}
	}
}

/* The line that an access at *w wants is in L1D, or comes there; returns when. */
INLINE struct when line(struct chrono *v, const enum chrono_mode mode, struct way *y, const struct when *w, uint64_t word)
{
	struct when there = *w;

	if (__builtin_expect(outcome_level(word) == LEVEL_L1, 1)) {
		hit(v, mode, y, &there, word);
		return there;
	}
	if (mode == CHRONO_PLAIN)
		there.t = miss_plain(v, y->begin.t, there.t, word);
	else
		miss(v, mode, y, &there, word);
	return there;
}

/* A load that starts anew, *w, which one does at a time. */
INLINE void start_anew(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w)
{
	if (!v->inverse[RESOURCE_RESTART])
		return;
	if (constrain_by(v, mode, w, RESOURCE_RESTART))
		y->why = RESOURCE_RESTART;
	use(v, mode, RESOURCE_RESTART, 1, &y->begin);
}

/*
 * The store at `distance` is in the way of a load at *w, as long as it has not left its queue. They leave in order: a near one, whose
 * time is in the cache still, is asked first.
 */
INLINE void collide(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *w, uint64_t word)
{
	unsigned distance = outcome_distance(word), near = distance < NEAR_STORES ? distance : NEAR_STORES;
	uint64_t number = (v->nr_written - distance) % STORE_RING;

	if (v->freed.at[(v->nr_written - near) % STORE_RING].t <= w->t || v->freed.at[number].t <= w->t)
		return;
	if (outcome_kind(word) != OUTCOME_PARTIAL) {
		if (outcome_kind(word) == OUTCOME_ALIAS_PART && outcome_split(word) != SPLIT_NONE && v->cost.alias_again) {
			issue(v, mode, y, PART_SPLIT, w);
			issue(v, mode, y, PART_SPLIT, w);
		}
		start_anew(v, mode, y, w);
		w->t += v->cost.alias;
		return;
	}
	constrain_at(v, mode, w, &v->freed, number);
	y->why = REASON_LOAD;
	w->t += v->cost.forward_fail;
}

/*
 * What a load at `t` reads comes from the store at `distance`: *there goes to when, which is no sooner than from L1D, and from the middle
 * of a store that has not left its queue later than that.
 */
INLINE void forward(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *there, uint64_t word, uint64_t t)
{
	enum outcome_kind kind = outcome_kind(word);
	bool narrow = kind == OUTCOME_NARROW || kind == OUTCOME_INSIDE;
	uint64_t after = v->cost.forward[!!(y->kind & INSN_VECTOR_MEM)] + (narrow ? v->cost.narrow : 0);

	if (kind == OUTCOME_INSIDE && v->freed.at[(v->nr_written - outcome_distance(word)) % STORE_RING].t > t)
		there->t += v->cost.offset;
	const struct when written = recall(mode, &v->written, (v->nr_written - outcome_distance(word)) % STORE_RING);

	if (constrain_after(v, mode, there, &written, after))
		y->why = REASON_LOAD;
	if (makes_records(mode) && outcome_distance(word) < v->cost.store_queue && y->level < LEVEL_FORWARD)
		y->level = LEVEL_FORWARD;
}

INLINE void load_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, uint64_t walk)
{
	struct when w = y->address;

	w.t += y->p->address_extra * v->cost.load_extra;
	if (__builtin_expect(outcome_tlb(word) != TLB_HIT, 0))
		w.t += translate(v, mode, y, &w, outcome_tlb(word), walk);
	if (__builtin_expect(outcome_split(word) != SPLIT_NONE, 0)) {
		issue(v, mode, y, PART_SPLIT, &w);
		if (outcome_split(word) == SPLIT_PAGE)
			start_anew(v, mode, y, &w);
	}
	bool collides = outcome_kind(word) >= OUTCOME_PARTIAL && outcome_kind(word) <= OUTCOME_ALIAS_PART;
	if (__builtin_expect(collides && outcome_distance(word), 0))
		collide(v, mode, y, &w, word);
	struct when there = line(v, mode, y, &w, word);
	if (__builtin_expect(outcome_distance(word) && !collides, 0))
		forward(v, mode, y, &there, word, w.t);
	there.t += v->cost.split[outcome_split(word)];
	const uint64_t extra = (uint64_t)(y->p->load_extra - y->p->address_extra) * v->cost.load_extra;
	there.t += extra;
	if (__builtin_expect(outcome_kind(word) == OUTCOME_RENAMED, 0)) {
		constrain(v, mode, &y->complete, &there);
		const struct when stored = recall(mode, &v->stored, (v->nr_written - outcome_distance(word)) % STORE_RING);
		constrain_after(v, mode, &y->loaded, &stored, extra);
	} else {
		constrain(v, mode, &y->loaded, &there);
	}
	if (makes_records(mode)) {
		y->psv |= events_of(word);
		if (outcome_level(word) > (enum level)y->level)
			y->level = (uint8_t)outcome_level(word);
	}
}

/* A load that hits L1D and its TLB in one line, and reads from no store: what most are. */
INLINE bool plain_load(uint64_t word)
{
	const struct outcome_word simple = { .simple = true };

	return ((word & 0xffffff) | outcome_pack(&simple)) == (outcome_pack(&simple) | (unsigned)OUTCOME_LOAD | LEVEL_L1 << 4);
}

INLINE void load_plain(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	struct when there = y->address;

	there.t += y->p->address_extra * v->cost.load_extra;
	hit(v, mode, y, &there, word);
	there.t += (uint64_t)(y->p->load_extra - y->p->address_extra) * v->cost.load_extra;
	constrain(v, mode, &y->loaded, &there);
	if (makes_records(mode) && y->level == LEVEL_NONE)
		y->level = LEVEL_L1;
}

INLINE void store_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, uint64_t walk)
{
	struct when w = y->address;

	if (outcome_tlb(word) != TLB_HIT) {
		w.t += translate(v, mode, y, &w, outcome_tlb(word), walk);
		if (makes_records(mode))
			y->psv |= PSV_ST_TLB;
	}
	struct when there = line(v, mode, y, &w, word);
	constrain(v, mode, &y->own, &there);
	y->store_extra += v->cost.split_store[outcome_split(word)];
	y->nr_stores += !(outcome_distance(word) & OUTCOME_FURTHER);
	y->writes++;
}

INLINE void write_word(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	const struct bus *bus = &v->cost.write[outcome_level(word)];

	use_for(v, mode, bus->resource, bus->ticks, &y->begin);
}

/* The words of its accesses from *word to `end`, in the order they stand. */
INLINE void accesses(struct chrono *v, const enum chrono_mode mode, struct way *y, const uint64_t *word, const uint64_t *end)
{
	uint64_t walk = 0;

	for (; word < end; word++) {
		switch (outcome_kind(*word)) {
		case OUTCOME_LOAD:
		case OUTCOME_NARROW:
		case OUTCOME_INSIDE:
		case OUTCOME_PARTIAL:
		case OUTCOME_ALIAS:
		case OUTCOME_ALIAS_PART:
		case OUTCOME_RENAMED:
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

#endif
