/*
 * Feeds a thread's stream to the methods of a run.
 *
 *   records ──► walker, clock ──► block ──► method, method, ...
 *
 * The stream is walked once for all of them, in blocks so small that records and intervals are still in the level-1
 * cache when the last method looks at them.
 */
#ifndef CYCLEWISE_METHOD_FEED_H
#define CYCLEWISE_METHOD_FEED_H

#include "method/clock.h"
#include "method/method.h"
#include "method/walker.h"

/* A stretch of a thread's stream. Valid while the method looks at it. */
struct block {
	const struct timed *t;         /* [n], at most WALKER_BLOCK; 0 of them after the stream's end */
	size_t n;
	struct walked walked;          /* what became final with them */
	const struct tick *tick;       /* [nr_ticks]: up to the last commit among them, walked.end or later */
	size_t nr_ticks;
};

/* A method, and its states for the run and the thread. */
struct feed_target {
	const struct method *method;
	void *state, *lane;
};

/* Of one thread. */
struct feed {
	struct clock *clock;
	struct clock_lane ticks;
	struct walker walker;
	const struct feed_target *target; /* [nr_targets], the caller's */
	size_t nr_targets;
};

/* `clock` is the run's, one for all threads. */
void feed_init(struct feed *f, struct clock *clock, uint32_t thread, const struct feed_target *target,
               size_t nr_targets);
void feed_fini(struct feed *f);
void feed_batch(struct feed *f, const struct timed *t, size_t n);
/* The stream has ended. */
void feed_finish(struct feed *f);

#endif
