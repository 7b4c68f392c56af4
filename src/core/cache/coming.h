/*
 * Lines come into one set of L1D (l1d.set_fill) some cycles apart: when one does. Times are of any unit, all of one.
 */
#ifndef CYCLEWISE_CORE_CACHE_COMING_H
#define CYCLEWISE_CORE_CACHE_COMING_H

#include <stdint.h>

/* The last lines that came one right after the other: the first at `begin`, another not before `end`. */
struct coming {
	uint64_t begin, end;
};

/* One that could come at `t` comes when it is its turn: before those, or behind them. */
static inline uint64_t coming_at(struct coming *c, uint64_t t, uint64_t apart)
{
	if (t + apart <= c->begin)
		return t;
	if (t > c->end)
		c->begin = t;
	t = t > c->end ? t : c->end;
	c->end = t + apart;
	return t;
}

#endif
