/*
 * The clock of the methods that sample cycles: when each of a thread's samples is due.
 *
 * There is one clock for all of them, which ticks once a block (feed.h), so that they sample the very same cycles,
 * whatever stage of the pipeline a method looks at. Ticks are `period` cycles apart, give or take a jitter, uniform
 * within an eighth of it, from a generator seeded by the run's seed and the thread.
 *
 * Without a period of the user's it starts at 1000 cycles; whenever the run holds more than `limit` ticks, every
 * second one of each thread is dropped and the period doubles. A tick's `level` is how many doublings it survives, so
 * that a method can keep its samples summed up by level and forget those below the clock's, none kept one by one.
 *
 * Ticks are handed out up to the last commit of a block, squash included: ahead of what is final. Cycles that
 * are not counted have none.
 * Ref: TEA §4 (all methods sample in the same cycles).
 */
#ifndef CYCLEWISE_METHOD_CLOCK_H
#define CYCLEWISE_METHOD_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "method/walker.h"

enum { CLOCK_PERIOD = 1000, CLOCK_LIMIT = 4000000, CLOCK_LEVELS = 32, CLOCK_FEW = 50 };

struct clock {
	uint64_t period;               /* cycles, at level 0 */
	uint64_t seed;
	uint64_t limit;                /* ticks held; UINT64_MAX: the period stays */
	uint64_t held;                 /* sum of ticks[level ..] */
	uint64_t ticks[CLOCK_LEVELS];  /* by level of the tick */
	uint32_t level;                /* doublings so far */
};

struct tick {
	uint64_t cycle;
	uint32_t level;                /* below the clock's: dropped */
};

struct clock_lane {
	uint64_t next;                 /* cycle of the tick not yet made */
	uint64_t number;               /* of the last tick, in ticks of level 0, from 1 */
	uint64_t random;
	struct tick *tick;             /* [room]; the last [nr] made */
	size_t nr, room;
};

/* The generator of the jitter: the next of 64 bits, of any state. */
uint64_t clock_random(uint64_t *state);

void clock_init(struct clock *c, const struct run *run);
void clock_lane_init(struct clock_lane *l, const struct clock *c, uint32_t thread);
void clock_lane_fini(struct clock_lane *l);
/* Makes the ticks in the cycles of v[0 .. n), intervals in order, after those that had been made. */
void clock_make(struct clock *c, struct clock_lane *l, const struct interval *v, size_t n);
/* In force now, in cycles. */
uint64_t clock_period(const struct clock *c);
/* How often the period may double from the first one with some CLOCK_FEW ticks left. */
uint32_t clock_levels(const struct clock *c);

#endif
