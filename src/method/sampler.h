/*
 * What methods that sample share: samples as sums by instruction, signature and the clock's level, so that dropping
 * every second of them is forgetting a level; and a lane's ticks that a method has not come to yet.
 *
 * Memory grows with the code that was executed, not with the length of the run.
 */
#ifndef CYCLEWISE_METHOD_SAMPLER_H
#define CYCLEWISE_METHOD_SAMPLER_H

#include "method/feed.h"
#include "method/tally.h"

struct sampler {
	const struct clock *clock;
	struct tally samples;          /* units: weight */
};

void sampler_init(struct sampler *s, const struct run *run);
void sampler_fini(struct sampler *s);
/* A sample weighs CYCLE_UNITS in all, so weights are exact. */
void sampler_add(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight);
/* By instruction, then signature; with the figures `samples` and `period`. 0 or -errno. */
int  sampler_save(const struct sampler *s, const char *method, struct profile *out);

/* Ticks made and not passed: [head .. nr) of `tick`. */
struct ticks {
	struct tick *tick;             /* [room] */
	size_t head, nr, room;
};

void ticks_fini(struct ticks *q);
/* Those of a block; at its beginning. */
void ticks_push(struct ticks *q, const struct tick *tick, size_t n);

/* The cycle of the earliest one; UINT64_MAX: there is none. */
static inline uint64_t ticks_next(const struct ticks *q)
{
	return q->head < q->nr ? q->tick[q->head].cycle : UINT64_MAX;
}

static inline struct tick ticks_pop(struct ticks *q) { return q->tick[q->head++]; }

#endif
