/*
 * Accesses without time: the same calls as those with it, at a cycle behind all others. Whatever was on its way has
 * come by then; nothing is booked there, neither bus, miss register, walker nor bank; and what such an access brings is
 * kept as there from the first cycle on.
 */
#ifndef CYCLEWISE_CORE_CACHE_TIMELESS_H
#define CYCLEWISE_CORE_CACHE_TIMELESS_H

#include <stdbool.h>
#include <stdint.h>

#define TIMELESS (UINT64_C(1) << 62)

/* Whether `cycle` is TIMELESS, or so many cycles after it as accesses take. */
static inline bool timeless(uint64_t cycle)
{
	return __builtin_expect(cycle >= TIMELESS, 0);
}

/* The cycle that is kept of what comes in `cycle`. */
static inline uint64_t kept(uint64_t cycle)
{
	return timeless(cycle) ? 0 : cycle;
}

#endif
