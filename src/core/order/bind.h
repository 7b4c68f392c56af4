/*
 * To which port rename binds a uop that could use several (rename.bind). The abstract core follows turns and pairs; an
 * ideal choice of ports stands for the rest. When a port is free each model keeps in its own way.
 *
 * Ref: uiCA's description of port binding on the Skylake family (figures): counts, and ports that alternate.
 */
#ifndef CYCLEWISE_CORE_ORDER_BIND_H
#define CYCLEWISE_CORE_ORDER_BIND_H

#include <stdbool.h>
#include <string.h>

#include "core/params.h"

/* uiCA: an odd slot takes the least loaded port where the loads differ by so much. */
enum { BIND_UNEQUAL = 3 };

enum { BIND_PAIRS = CORE_PORTS / 2 };

/* Ports among which uops are shared by one rule, and where that stands. */
struct bind_group {
	enum bind_kind kind;
	uint16_t ports;                /* and their twins, but of those that alternate, which are two */
	/* turn: those behind the one bound last; spread: those that got none in `cycle` */
	uint16_t rest;
	/* spread: uops that it got in `cycle`, and that it may; alternate: uops so far */
	uint32_t nr, most;
	uint64_t cycle;
	uint16_t pair[BIND_PAIRS];     /* pair: `most` of them, each with its twins */
	uint32_t draw;                 /* pair: see bind_by_chance() */
};

struct binder {
	struct bind_group group[CORE_BINDS + 1];
	unsigned nr;
	uint16_t counted, paired;      /* ports that any group shares by counts, and in pairs */
	bool spreads;                  /* a group is spread over schedulers */
	uint8_t count[CORE_PORTS];     /* uops bound to each port, as at the start of `counted_in` */
	uint64_t counted_in;
};

/* What rename.bind says. */
void binder_init(struct binder *b, const struct core_desc *d);
/* One more group, behind those; of no ports: none. */
void binder_add(struct binder *b, const struct core_desc *d, enum bind_kind kind, uint16_t ports);

/* The first group that a uop of those ports is bound by; NULL: none, it takes any of them. */
static inline struct bind_group *binder_group(struct binder *b, uint16_t ports)
{
	for (struct bind_group *g = b->group, *end = g + b->nr; g < end; g++) {
		bool any = ports & g->ports, others = ports & ~g->ports;
		if (g->kind >= BIND_TURN ? any : g->kind == BIND_ALTERNATE ? ports == g->ports : any && !others)
			return g;
	}
	return NULL;
}

/* The counts that uops are bound by are those at the start of the cycle of dispatch. */
static inline void binder_count(struct binder *b, const uint8_t count[CORE_PORTS], uint64_t cycle)
{
	if (b->counted_in != cycle) {
		memcpy(b->count, count, sizeof b->count);
		b->counted_in = cycle;
	}
}

/*
 * The least loaded of `ports`, of equals the highest numbered; for odd slots of the cycle the next in that order,
 * unless it is far more loaded. Free of branches on the counts, which are as good as random.
 */
static inline uint16_t bind_by_count(const uint8_t count[CORE_PORTS], uint16_t ports, unsigned slot)
{
	unsigned first = UINT32_MAX, second = UINT32_MAX;

	if (!(ports & (ports - 1)))
		return ports;
	for (unsigned rest = ports; rest; rest &= rest - 1) {
		unsigned p = (unsigned)__builtin_ctz(rest), key = (unsigned)count[p] << 4 | (15 - p);
		unsigned more = key > first ? key : first;
		first = key < first ? key : first;
		second = more < second ? more : second;
	}
	bool odd = slot & 1 && second >> 4 < (first >> 4) + BIND_UNEQUAL;
	return (uint16_t)(1u << (15 - ((odd ? second : first) & 15)));
}

/*
 * Of `ports`, the next in turn: the first of those in *rest, or where none of them is there, the first of all. Then
 * *rest is those of `all` behind it. Ports are taken from the lowest number up.
 */
static inline uint16_t bind_in_turn(uint16_t ports, uint16_t all, uint16_t *rest)
{
	uint16_t mine = ports & *rest ? ports & *rest : ports;

	mine &= (uint16_t)-mine;
	*rest = all & (uint16_t)~(mine | (mine - 1u));
	return mine;
}

/* One of `nr`, as if by chance: the upper bits of a linear congruential generator, that of Numerical Recipes. */
static inline unsigned bind_by_chance(uint32_t *draw, unsigned nr)
{
	enum { MULTIPLIER = 1664525, INCREMENT = 1013904223 };

	*draw = *draw * MULTIPLIER + INCREMENT;
	return (*draw >> 16) * nr >> 16;
}

/* One of the pairs that have a port for the uop; its ports outside of pairs stay open to it whichever pair that is. */
static inline uint16_t bind_pair(struct bind_group *g, uint16_t ports)
{
	uint16_t mine[BIND_PAIRS];
	unsigned nr = 0;

	for (unsigned i = 0; i < g->most; i++)
		if (ports & g->pair[i])
			mine[nr++] = ports & (uint16_t)(g->pair[i] | ~g->ports);
	return nr < 2 ? ports : mine[bind_by_chance(&g->draw, nr)];
}

/* What ports that are spread got is that of the cycle of dispatch. */
static inline void bind_spread_from(struct bind_group *g, uint64_t cycle)
{
	if (g->cycle != cycle) {
		g->cycle = cycle;
		g->rest = g->ports;
		g->nr = 0;
	}
}

/* Whether they have got as many uops in the cycle as they are: one more dispatches in the next. */
static inline bool bind_spread_full(struct bind_group *g, uint64_t cycle)
{
	bind_spread_from(g, cycle);
	return g->nr >= g->most;
}

/* Of those that are left of bind_to(), the uop has got these. */
static inline void bind_spread_took(struct bind_group *g, uint16_t ports)
{
	g->rest &= (uint16_t)~ports;
	g->nr++;
}

/*
 * The port, of `ports`, to which its group binds a uop that dispatches in that slot of the cycle; of ports that are
 * spread, those that got none in the cycle, where it can use any, and bind_spread_took() is to say which it got.
 */
static inline uint16_t bind_to(struct binder *b, struct bind_group *g, uint16_t ports, uint64_t cycle, unsigned slot)
{
	switch (g->kind) {
	case BIND_COUNT:
		return bind_by_count(b->count, ports, slot);
	case BIND_ALTERNATE:           /* the upper one first */
		return g->nr++ & 1 ? ports & (uint16_t)-ports : ports & (ports - 1);
	case BIND_TURN:
		return bind_in_turn(ports & g->ports, g->ports, &g->rest);
	case BIND_PAIR:
		return bind_pair(g, ports);
	default:
		bind_spread_from(g, cycle);
		return ports & g->rest ? ports & g->rest : ports;
	}
}

#endif
