#include "core/gus/sharing.h"

#include <glib.h>
#include <string.h>

#include "core/gus/scheduler.h"

/* --- what costs matter to ---------------------------------------------------------------------------- */

/* Whether two costs differ; they do not afterwards. */
static bool differs(uint64_t *varied, uint64_t as_is)
{
	bool is = *varied != as_is;

	*varied = as_is;
	return is;
}

static uint32_t of_levels(const struct abstract_costs *as_is, struct abstract_costs *c)
{
	uint32_t part = 0;

	for (unsigned level = LEVEL_LLC; level <= LEVEL_MEMORY; level++) {
		uint32_t own = level == LEVEL_LLC ? SHARING_LLC : SHARING_MEMORY;
		if (differs(&c->level[level], as_is->level[level]) | differs(&c->code[level], as_is->code[level]) |
		    differs(&c->write[level].ticks, as_is->write[level].ticks))
			part |= own;
	}
	if (differs(&c->inverse[RESOURCE_LLC], as_is->inverse[RESOURCE_LLC]) |
	    differs(&c->inverse[RESOURCE_LLC_WRITE], as_is->inverse[RESOURCE_LLC_WRITE]))
		part |= SHARING_LLC;
	if (differs(&c->inverse[RESOURCE_MEMORY], as_is->inverse[RESOURCE_MEMORY]))
		part |= SHARING_MEMORY;
	/* Registers of a level are asked for by what the level above lacks. */
	if (differs(&c->misses[MISSES_L2].known, as_is->misses[MISSES_L2].known))
		part |= SHARING_LLC;
	if (differs(&c->misses[MISSES_LLC].known, as_is->misses[MISSES_LLC].known) |
	    differs(&c->misses[MISSES_MEMORY].known, as_is->misses[MISSES_MEMORY].known))
		part |= SHARING_MEMORY;
	return part;
}

uint32_t sharing_depends(const struct abstract_costs *as_is, const struct abstract_costs *varied)
{
	static const unsigned decoders[] = { RESOURCE_FETCH, RESOURCE_PREDECODE, RESOURCE_DECODE, RESOURCE_COMPLEX,
		                             RESOURCE_MICROCODE };
	struct abstract_costs c;
	uint32_t part;

	memcpy(&c, varied, sizeof c);          /* with what lies between its members: all of it is compared */
	part = of_levels(as_is, &c);
	for (unsigned i = 0; i < NR_LATENCIES; i++)
		if (differs(&c.latency[i], as_is->latency[i]))
			part |= (uint32_t)SHARING_LATENCY << i;
	for (unsigned i = 0; i < CORE_UNITS; i++)
		if (differs(&c.inverse[RESOURCE_UNITS + i], as_is->inverse[RESOURCE_UNITS + i]))
			part |= (uint32_t)SHARING_UNIT << i;
	for (size_t i = 0; i < G_N_ELEMENTS(decoders); i++)
		if (differs(&c.inverse[decoders[i]], as_is->inverse[decoders[i]]))
			part |= SHARING_DECODED;
	return memcmp(&c, as_is, sizeof c) ? SHARING_ALL : part;
}

/* --- what is executed -------------------------------------------------------------------------------- */

void sharing_fini(struct sharing *a)
{
	g_free(a->part);
	*a = (struct sharing){ 0 };
}

static uint32_t units(const struct use *u, unsigned nr)
{
	uint32_t part = 0;

	for (unsigned i = 0; i < nr; i++)
		if (u[i].resource >= RESOURCE_UNITS && u[i].resource < RESOURCE_PORTS)
			part |= (uint32_t)SHARING_UNIT << (u[i].resource - RESOURCE_UNITS);
	return part;
}

static uint32_t parts_of(const struct sharing *a, const struct recipes *r, const struct recipe *p)
{
	const uint32_t own = (uint32_t)SHARING_LATENCY << p->class,
		       integer = (uint32_t)SHARING_LATENCY << LATENCY_INTEGER;
	const struct part *split = &p->part[PART_SPLIT];
	uint32_t part = p->latency ? own : 0;

	for (unsigned i = 0; i < p->nr_dst; i++)
		part |= p->dst_latency[i] & DST_WRITEBACK ? integer : p->dst_latency[i] ? own : 0;
	for (unsigned i = 0; i < p->nr_data; i++) {
		part |= p->data_late[i] ? own : 0;
		if (a->bypasses && p->data[i] >= REG_VECTOR)
			part |= (uint32_t)SHARING_LATENCY << LATENCY_FLOAT;
	}
	if (p->sync_uses)
		part |= integer | units(r->use + split->use + split->nr_uses, p->sync_uses);
	for (unsigned i = 0; i <= NR_PARTS; i++)
		part |= units(r->use + p->part[i].use, p->part[i].nr_uses);
	return part | (p->flags & INSN_MICROCODED ? SHARING_DECODED : 0);
}

/*
 * All recipes that there are by now; the first result that comes later to other units changes what is known of those
 * before it.
 */
static void look(struct sharing *a, const struct recipes *r)
{
	if (r->nr > a->room) {
		a->room = 2 * r->nr;
		a->part = g_renew(uint32_t, a->part, a->room);
	}
	for (uint32_t i = a->nr; i < r->nr && !a->bypasses; i++) {
		a->bypasses = r->recipe[i].result & RESULT_BYPASS;
		a->nr = a->bypasses ? 0 : a->nr;
	}
	for (; a->nr < r->nr; a->nr++)
		a->part[a->nr] = parts_of(a, r, &r->recipe[a->nr]);
}

/* What an access, a prefetch, an evicted line, or a line of code reaches. */
static inline uint32_t parts_of_word(uint64_t word)
{
	switch (outcome_kind(word)) {
	case OUTCOME_ACCESSES:
	case OUTCOME_REPEAT:
		return 0;
	case OUTCOME_WALK:             /* whatever its own loads reach */
		return SHARING_LLC | SHARING_MEMORY;
	default:
		return outcome_level(word) == LEVEL_MEMORY ? SHARING_LLC | SHARING_MEMORY
		       : outcome_level(word) == LEVEL_LLC  ? SHARING_LLC
		                                           : 0;
	}
}

uint32_t sharing_parts(struct sharing *a, const struct recipes *r, const uint64_t *word, size_t nr, uint32_t wanted)
{
	const uint64_t *end = word + nr;
	uint32_t part = 0;

	look(a, r);
	while (word < end && wanted & ~part) {
		uint64_t head = *word++;

		part |= a->part[outcome_recipe(head)] | (outcome_flags(head) & OUTCOME_DECODED ? SHARING_DECODED : 0);
		for (const uint64_t *next = word + outcome_words(head); word < next; word++)
			part |= parts_of_word(*word);
	}
	return part & wanted;
}

/* --- states ------------------------------------------------------------------------------------------ */

enum { MOST_SPANS = 48 };

struct span {
	uint64_t *t;                   /* [nr]: times; structs moment and coming are nothing else */
	size_t nr;
};

struct spans {
	struct span at[MOST_SPANS];
	unsigned nr;
};

static void span(struct spans *s, void *t, size_t nr)
{
	g_assert(s->nr < MOST_SPANS);
	if (t && nr)
		s->at[s->nr++] = (struct span){ t, nr };
}

/* All times that constrain something as they are, but those of the flow, of blocks and of schedulers. */
static void all_spans(struct spans *s, struct chrono *v)
{
	struct when *const alone[] = { &v->serial, &v->memory_floor, &v->loads_done, &v->stores_freed,
		                       &v->drain,  &v->leave,        &v->pair };

	s->nr = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(alone); i++)
		span(s, &alone[i]->t, 1);
	span(s, v->resource, NR_RESOURCES);
	span(s, v->reg, NR_REGS);
	span(s, v->rob.at, v->ring_mask + 1);
	span(s, v->queued.at, v->ring_mask + 1);
	span(s, v->loads.at, v->loads_mask + 1);
	span(s, v->stores.at, v->stores_mask + 1);
	span(s, v->memory, MOST_MEMORY);
	for (unsigned i = 0; i < NR_MISSES; i++)
		span(s, v->missing[i].end.at, v->missing[i].nr);
	span(s, v->written.at, STORE_RING);
	span(s, v->stored.at, STORE_RING);
	span(s, v->freed.at, STORE_RING);
	span(s, v->line1.there.at, v->line1.nr);
	span(s, v->coming, v->coming ? 2 * (v->line1.nr / v->ways) : 0);
	span(s, v->line2.there.at, v->line2.nr);
}

/*
 * Two states: times of `b` are `later` than those of `a`, or neither constrains anything since it is no later than
 * `dead`.
 */
struct pairing {
	int64_t later;
	uint64_t dead_a, dead_b;
};

static inline bool same(const struct pairing *p, uint64_t a, uint64_t b)
{
	return (int64_t)(b - a) == p->later || (a <= p->dead_a && b <= p->dead_b);
}

/*
 * What comes waits for nothing before this: it asks for lines of code no sooner than it is fetched, for all else no
 * sooner than it is dispatched, and for what it reads no longer after that is there than the most that lies between.
 */
static uint64_t dead(const struct chrono *v)
{
	const struct abstract_costs *c = &v->cost;
	uint64_t first = MIN(v->flow.supply.t, v->flow.dispatch.t);
	uint64_t between = c->forward[0] + c->forward[1] + c->narrow + c->offset + c->load_extra * UINT8_MAX +
	                   c->part_recent + c->front + 2 * ABSTRACT_TICKS;

	for (unsigned takes = 0; takes < NR_TAKES; takes++)
		for (unsigned result = 0; result < NR_RESULTS; result++)
			between = MAX(between, v->apart[takes][result]);
	return first > between ? first - between : 0;
}

/* What has been given back up to dispatch is no longer put off: whenever that is done, it is done before it matters. */
static void settle(struct scheduler *w, uint64_t dispatch)
{
	w->at = MAX(w->at, dispatch);
	scheduler_advance(w);
}

static bool same_scheduler(const struct scheduler *a, const struct scheduler *b, const struct pairing *p)
{
	uint64_t c = a->now, left = a->held;
	const uint64_t apart = b->now - a->now;

	if ((int64_t)(b->at - a->at) != p->later || a->held != b->held)
		return false;
	while (left) {                         /* all that they hold is given back in some cycle to come */
		c++;
		if (c - a->now >= SCHEDULER_WINDOW)
			return false;
		if (c % 64 == 0 && !a->some[c % SCHEDULER_WINDOW / 64] && (c + apart) % 64 == 0 &&
		    !b->some[(c + apart) % SCHEDULER_WINDOW / 64]) {
			c |= 63;
			continue;
		}
		uint16_t given = a->given[c % SCHEDULER_WINDOW];
		if (given != b->given[(c + apart) % SCHEDULER_WINDOW])
			return false;
		left -= given;
	}
	return true;
}

/* Blocks of fetch that prediction may still ask of: exactly, since what it asks for takes as long as memory does. */
static bool same_blocks(const struct chrono *a, const struct chrono *b, const struct pairing *p)
{
	uint64_t first = a->nr_blocks > a->cost.runahead ? a->nr_blocks - a->cost.runahead - 1 : 0;

	if (a->nr_blocks != b->nr_blocks)
		return false;
	for (uint64_t n = first; n < a->nr_blocks; n++)
		if ((int64_t)(b->block[n % BLOCKS] - a->block[n % BLOCKS]) != p->later)
			return false;
	return true;
}

static bool same_flow(const struct flow *a, const struct flow *b, const struct pairing *p)
{
	return (int64_t)(b->dispatch.t - a->dispatch.t) == p->later &&
	       (int64_t)(b->frontend.t - a->frontend.t) == p->later &&
	       (int64_t)(b->supply.t - a->supply.t) == p->later && p->later % (int64_t)ABSTRACT_TICKS == 0;
}

/*
 * Whether all that comes takes place *later ticks later on `b` than on `a`, as long as nothing comes that their costs
 * differ in. Neither is changed but in what it has put off.
 */
static bool same_state(struct chrono *a, struct chrono *b, int64_t *later)
{
	struct pairing p = { .later = (int64_t)(b->flow.retire.t - a->flow.retire.t) };
	struct spans of_a, of_b;

	if (a->paired)
		return false;                  /* what their ports have left in each cycle would have to be the same */
	if (!same_flow(&a->flow, &b->flow, &p) || a->mispredicts != b->mispredicts || !same_blocks(a, b, &p))
		return false;
	p.dead_a = dead(a);
	p.dead_b = dead(b);
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++) {
		if (!a->scheduler[i])
			continue;
		settle(a->scheduler[i], a->flow.dispatch.t);
		settle(b->scheduler[i], b->flow.dispatch.t);
		if (!same_scheduler(a->scheduler[i], b->scheduler[i], &p))
			return false;
	}
	all_spans(&of_a, a);
	all_spans(&of_b, b);
	for (unsigned i = 0; i < of_a.nr; i++)
		for (size_t n = 0; n < of_a.at[i].nr; n++)
			if (!same(&p, of_a.at[i].t[n], of_b.at[i].t[n]))
				return false;
	*later = p.later;
	return true;
}

/* Before the first cycle there is nothing: what would be there stays dead. */
static inline uint64_t shifted(uint64_t t, int64_t later)
{
	return later < 0 && t < (uint64_t)-later ? 0 : t + (uint64_t)later;
}

static void follow_scheduler(struct scheduler *to, const struct scheduler *from, int64_t later)
{
	uint64_t left = from->held;

	to->at = shifted(from->at, later);
	to->now = shifted(from->now, later / (int64_t)ABSTRACT_TICKS);
	to->held = from->held;
	memset(to->given, 0, sizeof to->given);
	memset(to->some, 0, sizeof to->some);
	for (uint64_t n = 1; left && n < SCHEDULER_WINDOW; n++) {
		uint64_t at = (to->now + n) % SCHEDULER_WINDOW;
		uint16_t given = from->given[(from->now + n) % SCHEDULER_WINDOW];
		if (!given)
			continue;
		to->given[at] = given;
		to->some[at / 64] |= UINT64_C(1) << (at % 64);
		left -= given;
	}
}

static void follow_flow(struct flow *to, const struct flow *from, int64_t later)
{
	*to = *from;
	to->dispatch.t = shifted(from->dispatch.t, later);
	to->frontend.t = shifted(from->frontend.t, later);
	to->supply.t = shifted(from->supply.t, later);
	to->retire.t = shifted(from->retire.t, later);
}

/* `to` is now what `from` is, so much later. It has counted what `from` has; its costs stay. */
static void follow(struct chrono *to, const struct chrono *from, int64_t later)
{
	struct spans of_to, of_from;

	all_spans(&of_to, to);
	all_spans(&of_from, (struct chrono *)from); /* which is only read */
	for (unsigned i = 0; i < of_from.nr; i++)
		for (size_t n = 0; n < of_from.at[i].nr; n++)
			of_to.at[i].t[n] = shifted(of_from.at[i].t[n], later);
	to->reg[REG_NONE].t = 0;
	for (unsigned i = 0; i < BLOCKS; i++)
		to->block[i] = shifted(from->block[i], later);
	for (unsigned i = 0; i < CORE_SCHEDULERS; i++)
		if (from->scheduler[i])
			follow_scheduler(to->scheduler[i], from->scheduler[i], later);
	follow_flow(&to->flow, &from->flow, later);
	for (unsigned i = 0; i < NR_MISSES; i++)
		to->missing[i].next = from->missing[i].next;
	memcpy(to->result, from->result, sizeof to->result);
	to->nr_loads = from->nr_loads;
	to->nr_stores = from->nr_stores;
	to->nr_written = from->nr_written;
	to->nr_memory = from->nr_memory;
	to->nr_blocks = from->nr_blocks;
	to->mispredicts = from->mispredicts;
	to->binder = from->binder;
	to->faulted = from->faulted;
	to->cycles = from->cycles;
	to->instructions = from->instructions;
	to->first = from->first;
	to->since = from->since + (uint64_t)(later / (int64_t)ABSTRACT_TICKS);
}

/* --- variants ---------------------------------------------------------------------------------------- */

bool sharing_holds(struct sharing_state *way, struct chrono *v, struct chrono *as_is, uint32_t depends, uint32_t parts)
{
	const bool touched = depends & (parts | SHARING_ALL);

	if (way->shared && touched)
		follow(v, as_is, way->later);
	if (!way->shared && !touched && same_state(as_is, v, &way->later)) {
		way->beyond += chrono_cycles(v) - chrono_cycles(as_is);
		way->shared = true;
	}
	way->shared &= !touched;
	return way->shared;
}

uint64_t sharing_cycles(const struct sharing_state *way, const struct chrono *v, const struct chrono *as_is)
{
	return chrono_cycles(way->shared ? as_is : v) + way->beyond;
}
