#include "core/gus/access.h"

#include <assert.h>

#include "core/cycle.h"
#include "core/gus/scheduler.h"

/* What `resource` allows, it does. */
static void wait_resource(struct chrono *v, struct way *y, struct when *w, unsigned resource)
{
	if (constrain_by_resource(v, v->mode, w, resource))
		y->why = (uint16_t)resource;
}

/* Ticks of a translation that the first level does not have. */
static uint64_t translate(struct chrono *v, struct way *y, struct when *w, enum outcome_tlb how)
{
	const struct abstract_costs *c = &v->cost;
	uint64_t t = c->second;

	if (how == TLB_WALK) {
		t += c->walk + outcome_level(y->walk) * c->level[LEVEL_L2];
		t += outcome_slot(y->walk) * c->level[LEVEL_LLC] + outcome_distance(y->walk) * c->level[LEVEL_MEMORY];
		wait_resource(v, y, w, RESOURCE_WALK);
		used_by(v, v->mode, RESOURCE_WALK, t / ABSTRACT_TICKS, &y->begin);
	}
	return t;
}

/* --- lines ------------------------------------------------------------------------------------------- */

/*
 * A line comes from `level`: the buses it passes. It comes to where an evicted one was, and so no sooner than the bus
 * down has taken that away.
 */
static void transfer(struct chrono *v, struct way *y, struct when *w, enum level level)
{
	static const unsigned buses[] = { RESOURCE_L2, RESOURCE_LLC, RESOURCE_MEMORY };
	unsigned nr = level == LEVEL_MEMORY ? 3 : level == LEVEL_LLC ? 2 : 1;

	for (unsigned i = 0; i < nr; i++) {
		wait_resource(v, y, w, buses[i]);
		used_by(v, v->mode, buses[i], 1, &y->begin);
	}
	wait_resource(v, y, w, RESOURCE_L2_WRITE);
	if (nr > 1)
		wait_resource(v, y, w, RESOURCE_LLC_WRITE);
}

/* Levels that lack a line which comes from `level`. */
static unsigned registers_of(enum level level)
{
	return level == LEVEL_MEMORY ? NR_MISSES : level == LEVEL_LLC ? MISSES_L2 + 1 : MISSES_L1 + 1;
}

/* Of the levels from `first` on that lack a line which comes from `level`, one register each. */
static void wait_registers(struct chrono *v, struct way *y, struct when *w, unsigned first, enum level level)
{
	for (unsigned i = first; i < registers_of(level); i++) {
		const struct miss_registers *r = &v->missing[i];
		if (!r->nr)
			continue;
		struct when free = recall(v->mode, &r->end, r->next);
		free.t = free.t > r->known ? free.t - r->known : 0;
		if (constrain_by(v, v->mode, w, &free))
			y->why = REASON_MISSES;
	}
}

/* Those are held until the line is there. */
static void hold_registers(struct chrono *v, const struct when *there, unsigned first, enum level level)
{
	for (unsigned i = first; i < registers_of(level); i++) {
		struct miss_registers *r = &v->missing[i];
		if (!r->nr)
			continue;
		uint32_t at = r->next;
		r->next = at + 1 == r->nr ? 0 : at + 1;
		for (uint32_t before; at != r->next; at = before) {
			before = at ? at - 1 : r->nr - 1;
			if (r->end.at[before].t <= there->t)
				break;
			const struct when held = recall(v->mode, &r->end, before);
			set_nth_by(v->mode, &r->end, at, &held);
		}
		set_nth_by(v->mode, &r->end, at, there);
	}
}

static void line_comes(struct chrono *v, struct arrivals *l, uint32_t slot, const struct when *w, enum level from)
{
	set_nth_by(v->mode, &l->there, slot, w);
	if (l->from)
		l->from[slot] = (uint8_t)from;
}

/*
 * A line comes from the level that the word says to L1D, a prefetch for L2 to that: *w goes from the request to when
 * it is there.
 */
static void fetch_line(struct chrono *v, struct way *y, struct when *w, uint64_t word)
{
	const enum outcome_kind kind = outcome_kind(word);
	const enum level from = outcome_level(word);
	const uint32_t slot1 = within(outcome_slot(word), v->line1.nr);
	const uint32_t slot2 = within(outcome_slot2(word), v->line2.nr);
	const unsigned first = kind == OUTCOME_FILL_L2 ? MISSES_L2 : MISSES_L1;
	enum level level = from;
	uint16_t why = y->why;

	wait_registers(v, y, w, first, from);
	transfer(v, y, w, from);
	w->t += v->cost.level[from];
	if (kind == OUTCOME_FILL_L1 || kind == OUTCOME_FILL_L2) { /* nobody waits for it yet */
		y->why = why;
		add_self(v, v->mode, w);
	}
	if (first == MISSES_L1) {
		if (constrain_by_nth(v, v->mode, w, &v->line2.there, slot2)) {
			level = v->line2.from ? (enum level)v->line2.from[slot2] : from;
			y->why = kind == OUTCOME_FILL_L1 ? why : REASON_LOAD;
			y->psv |= kind != OUTCOME_FILL_L1 && level == LEVEL_MEMORY ? PSV_ST_LLC : 0;
		}
		if (v->coming)         /* when it is its set's turn */
			w->t = coming_at(&v->coming[slot1 / v->ways], w->t, v->cost.set_fill);
		if (kind != OUTCOME_FILL_L1)
			add_self(v, v->mode, w);
		line_comes(v, &v->line1, slot1, w, level);
	}
	hold_registers(v, w, first, from);
	if (kind == OUTCOME_FILL_L2 || (kind != OUTCOME_FILL_L1 && slot2 && from != LEVEL_L2))
		line_comes(v, &v->line2, slot2, w, level);
}

/* The line that an access at *w wants is in L1D, or comes there; returns when. */
static struct when line(struct chrono *v, struct way *y, const struct when *w, uint64_t word)
{
	struct when there = *w;

	if (outcome_level(word) == LEVEL_L1)
		hit(v, v->mode, y, &there, word);
	else
		fetch_line(v, y, &there, word);
	return there;
}

/* --- loads that older stores concern ----------------------------------------------------------------- */

/* A load that starts anew, *w, which one does at a time. */
static void start_anew(struct chrono *v, struct way *y, struct when *w)
{
	if (!v->inverse[RESOURCE_RESTART])
		return;
	wait_resource(v, y, w, RESOURCE_RESTART);
	used_by(v, v->mode, RESOURCE_RESTART, 1, &y->begin);
}

/*
 * The store at `distance` is in the way of a load at *w, as long as it has not left its queue. They leave in order: a
 * near one, whose time is in the cache still, is asked first.
 */
static void collide(struct chrono *v, struct way *y, struct when *w, uint64_t word)
{
	unsigned distance = outcome_distance(word), near = distance < NEAR_STORES ? distance : NEAR_STORES;
	uint64_t number = (v->nr_written - distance) % STORE_RING;

	if (v->freed.at[(v->nr_written - near) % STORE_RING].t <= w->t || v->freed.at[number].t <= w->t)
		return;
	if (outcome_kind(word) == OUTCOME_PARTIAL) {
		constrain_by_nth(v, v->mode, w, &v->freed, number);
		y->why = REASON_LOAD;
		w->t += v->cost.forward_fail;
		return;
	}
	start_anew(v, y, w);
	w->t += v->cost.alias;
}

static uint16_t events_of(uint64_t word)
{
	return (uint16_t)((outcome_level(word) != LEVEL_L1 ? PSV_ST_L1 : 0) |
	                  (outcome_tlb(word) != TLB_HIT ? PSV_ST_TLB : 0) |
	                  (outcome_level(word) == LEVEL_MEMORY ? PSV_ST_LLC : 0));
}

static void load_word(struct chrono *v, struct way *y, uint64_t word)
{
	const enum outcome_kind kind = outcome_kind(word);
	const bool collides = kind == OUTCOME_PARTIAL || kind == OUTCOME_ALIAS;
	struct when w = y->address;

	w.t += y->p->address_extra * v->cost.load_extra;
	if (outcome_tlb(word) != TLB_HIT)
		w.t += translate(v, y, &w, outcome_tlb(word));
	if (outcome_split(word) != SPLIT_NONE) {
		issue(v, v->mode, y, PART_SPLIT, &w);
		if (outcome_split(word) == SPLIT_PAGE)
			start_anew(v, y, &w);
	}
	if (collides && outcome_distance(word))
		collide(v, y, &w, word);
	struct when there = line(v, y, &w, word);
	if (outcome_distance(word) && !collides)
		forward(v, v->mode, y, &there, word, w.t);
	there.t += v->cost.split[outcome_split(word)];
	load_at(v, v->mode, y, word, there);
	y->psv |= events_of(word);
	if (outcome_level(word) > (enum level)y->level)
		y->level = (uint8_t)outcome_level(word);
}

/* --- words ------------------------------------------------------------------------------------------- */

static void store_word(struct chrono *v, struct way *y, uint64_t word)
{
	struct when w = y->address;

	if (outcome_tlb(word) != TLB_HIT) {
		w.t += translate(v, y, &w, outcome_tlb(word));
		y->psv |= PSV_ST_TLB;
	}
	store_at(v, v->mode, y, word, line(v, y, &w, word));
	y->store_extra += v->cost.split_store[outcome_split(word)];
}

static void soft_word(struct chrono *v, struct way *y, uint64_t word)
{
	struct when w = y->address;

	if (outcome_tlb(word) != TLB_HIT)
		w.t += translate(v, y, &w, outcome_tlb(word));
	line(v, y, &w, word);
}

static void write_word(struct chrono *v, struct way *y, uint64_t word)
{
	const struct bus *bus = &v->cost.write[outcome_level(word)];

	used_for(v, v->mode, bus->resource, bus->ticks, &y->begin);
}

void access_word(struct chrono *v, struct way *y, uint64_t word)
{
	struct when w = y->address;

	switch (outcome_kind(word)) {
	case OUTCOME_STORE:
		store_word(v, y, word);
		break;
	case OUTCOME_SOFT:
		soft_word(v, y, word);
		break;
	case OUTCOME_FILL_L1:
	case OUTCOME_FILL_L2:
		fetch_line(v, y, &w, word);
		break;
	case OUTCOME_WRITE:
		write_word(v, y, word);
		break;
	case OUTCOME_WALK:
		y->walk = word;
		break;
	case OUTCOME_REPEAT:
		y->iterations = word >> 16;
		break;
	case OUTCOME_CODE:
	case OUTCOME_ACCESSES:
		break;
	default:
		load_word(v, y, word);
	}
}

/* When the line of code wanted at `t` was asked for: prediction runs some blocks ahead of fetch, and prefetches. */
static uint64_t asked(const struct chrono *v, uint64_t t)
{
	uint32_t ahead = v->cost.runahead;

	return ahead && v->nr_blocks ? v->block[v->nr_blocks > ahead ? (v->nr_blocks - ahead - 1) % BLOCKS : 0] : t;
}

static void code_word(struct chrono *v, struct way *y, uint64_t word)
{
	struct when *supply = &v->flow.supply;
	const enum level level = outcome_level(word);
	uint64_t before = supply->t, there = asked(v, before), translated;

	if (outcome_tlb(word) != TLB_HIT)
		there += translate(v, y, supply, outcome_tlb(word));
	translated = there > before ? there - before : 0;
	if (level != LEVEL_L1) {
		transfer(v, y, supply, level);
		there += v->cost.code[level];
		constrain_by_nth(v, v->mode, supply, &v->line2.there, within(outcome_slot2(word), v->line2.nr));
		y->psv |= PSV_DR_L1;
		y->code_level = (uint8_t)level;
	}
	if (outcome_tlb(word) != TLB_HIT)
		y->psv |= PSV_DR_TLB;
	supply->t = later(supply->t, there);
	translated = translated < supply->t - before ? translated : supply->t - before;
	y->translation_stall += translated;
	y->front_stall += supply->t - before - translated;
	add_self(v, v->mode, supply);
	because(v->mode, &v->flow.why_supply, REASON_CODE);
}

const uint64_t *code_words(struct chrono *v, struct way *y, const uint64_t *word)
{
	y->begin = y->address = v->flow.supply;
	for (; outcome_kind(*word) != OUTCOME_ACCESSES; word++) {
		if (outcome_kind(*word) == OUTCOME_CODE)
			code_word(v, y, *word);
		else
			access_word(v, y, *word);
	}
	return word + 1;
}

/* --- stores that have committed ---------------------------------------------------------------------- */

/* When the write of v->drain began. */
static uint64_t write_start(const struct chrono *v, uint64_t end)
{
	uint64_t each = v->inverse[RESOURCE_DRAIN];

	return end > each ? end - each : 0;
}

/* A store, the `number`th, that leaves no sooner than `left`. */
static void drain_one(struct chrono *v, struct when left, uint64_t number, uint64_t word)
{
	struct merging is = outcome_merging(outcome_distance(word));
	bool alone = is.blocks > 1;    /* to several blocks: none leaves with it */

	constrain_by(v, v->mode, &left, &v->leave);
	left.t = alone ? cycle_of(left.t + ABSTRACT_TICKS - 1) * ABSTRACT_TICKS : left.t;
	set_by(v->mode, &v->leave, &left);
	v->leave.t += alone ? ABSTRACT_TICKS : v->cost.leave;
	left.t = cycle_of(left.t) * ABSTRACT_TICKS;
	is.blocks -= is.joins && write_start(v, v->drain.t) >= left.t;
	if (is.blocks) {
		constrain_by(v, v->mode, &v->drain, &left);
		const uint64_t part = v->freed.at[(number - is.part_of) % STORE_RING].t;
		if (is.part_of && write_start(v, part) + v->cost.part_recent > v->drain.t)
			v->drain.t += v->cost.part_again;
		v->drain.t += is.blocks * v->inverse[RESOURCE_DRAIN];
		add_self(v, v->mode, &v->drain);
	}
	set_nth_by(v->mode, &v->freed, number % STORE_RING, &v->drain);
}

void drain_merged(struct chrono *v, struct when from, unsigned nr, uint64_t extra, const uint64_t *word,
                  const uint64_t *end)
{
	from.t = cycle_of(from.t + ABSTRACT_TICKS - 1) * ABSTRACT_TICKS;
	for (; word < end; word++)
		if (outcome_kind(*word) == OUTCOME_STORE && !(outcome_distance(*word) & OUTCOME_FURTHER))
			drain_one(v, from, v->nr_written - nr--, *word);
	if (!extra)
		return;
	v->drain.t += extra;
	constrain_by(v, v->mode, &v->leave, &v->drain);
	set_nth_by(v->mode, &v->freed, (v->nr_written - 1) % STORE_RING, &v->drain);
}
