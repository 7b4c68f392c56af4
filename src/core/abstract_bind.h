/*
 * To which ports rename binds a uop that could use several, on the abstract core: to a pair of ports (rename.bind_pairs), or to one port
 * in turn (rename.bind_turn). Which port of its pair a uop takes is found out when it issues. Choices are those of core/rename.c.
 */
#ifndef CYCLEWISE_CORE_ABSTRACT_BIND_H
#define CYCLEWISE_CORE_ABSTRACT_BIND_H

#include <stdint.h>

#include "core/params.h"

enum { BIND_PAIRS = CORE_PORTS / 2 };

/* The pairs, with the twins of their ports: which pair a uop is bound to does not depend on how fast they are. Returns how many. */
static inline unsigned bind_pairs(const struct core_desc *d, uint16_t pair[BIND_PAIRS])
{
	unsigned ports = (unsigned)d->rename_bind_pairs, upper = ports, nr = (unsigned)__builtin_popcount(ports) / 2;

	for (; upper && nr; upper &= upper - 1)
		if ((unsigned)__builtin_popcount(upper) == nr)
			break;
	for (unsigned i = 0; i < nr; i++) {
		pair[i] = core_desc_with_twins(d, (uint16_t)((ports & -ports) | (upper & -upper)));
		ports &= ports - 1;
		upper &= upper - 1;
	}
	return nr;
}

/* One of `nr` pairs, as if by chance: a linear congruential generator, Numerical Recipes', of which the upper bits are drawn. */
static inline unsigned bind_by_chance(uint32_t *draw, unsigned nr)
{
	enum { MULTIPLIER = 1664525, INCREMENT = 1013904223 };

	*draw = *draw * MULTIPLIER + INCREMENT;
	return (*draw >> 16) * nr >> 16;
}

/* Of `ports`, the next in turn: the first of those in `behind`, which are behind the last one; of all, the first again behind the last. */
static inline uint16_t bind_in_turn(uint16_t ports, uint16_t all, uint16_t *behind)
{
	uint16_t mine = ports & *behind ? ports & *behind : ports;

	mine &= (uint16_t)-mine;
	*behind = all & (uint16_t)~(mine | (mine - 1u));
	return mine;
}

#endif
