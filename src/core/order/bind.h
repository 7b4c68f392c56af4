/*
 * To which ports rename binds a uop that could use several: to a pair of ports (rename.bind_pairs), or to one port in turn
 * (rename.bind_turn). Which port of its pair a uop takes is found out when it issues. Both cores choose so, in core/ooo/rename.c and
 * core/gus/ports.h; when a port is free each keeps in its own way. Binding by counts (rename.bind_ports) is in core/ooo/rename.h.
 */
#ifndef CYCLEWISE_CORE_ORDER_BIND_H
#define CYCLEWISE_CORE_ORDER_BIND_H

#include <stdint.h>

#include "core/params.h"

enum { BIND_PAIRS = CORE_PORTS / 2 };

/*
 * The pairs, and in *paired all of their ports; returns how many. Where ports have twins, these are in the pairs of theirs: which pair
 * a uop is bound to does not depend on how fast ports are.
 */
static inline unsigned bind_pairs(const struct core_desc *d, uint16_t pair[BIND_PAIRS], uint16_t *paired)
{
	unsigned ports = (unsigned)d->rename_bind_pairs, upper = ports, nr = (unsigned)__builtin_popcount(ports) / 2;

	for (; upper && nr; upper &= upper - 1)
		if ((unsigned)__builtin_popcount(upper) == nr)
			break;
	*paired = 0;
	for (unsigned i = 0; i < nr; i++) {
		pair[i] = core_desc_with_twins(d, (uint16_t)((ports & -ports) | (upper & -upper)));
		*paired |= pair[i];
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

/*
 * Of `ports`, the next in turn: the first of those in *behind, or where none of them is there, the first of all. Then *behind is those of
 * `all` behind it. Ports are taken from the lowest number up.
 */
static inline uint16_t bind_in_turn(uint16_t ports, uint16_t all, uint16_t *behind)
{
	uint16_t mine = ports & *behind ? ports & *behind : ports;

	mine &= (uint16_t)-mine;
	*behind = all & (uint16_t)~(mine | (mine - 1u));
	return mine;
}

#endif
