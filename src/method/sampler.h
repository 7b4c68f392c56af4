/*
 * What the methods that sample share: the ticks of a lane that a method has not come to yet, who is tagged by them, and
 * samples as sums by instruction, signature and the clock's level, so that dropping every second of them is forgetting
 * a level.
 *
 * A method that samples cycles is a file with a block() that says whom a tick meets, and a save() that says which
 * events its hardware knows; its state is a struct sampler or begins with one, its lane a struct sampler_lane.
 * Memory grows with the code that was executed, not with the length of the run.
 */
#ifndef CYCLEWISE_METHOD_SAMPLER_H
#define CYCLEWISE_METHOD_SAMPLER_H

#include "method/feed.h"
#include "method/tally.h"

enum { PSV_ALL = (1 << NR_PSV) - 1 };

/* Ticks made and not passed: [head .. nr) of `tick`. */
struct ticks {
	struct tick *tick;             /* [room] */
	size_t head, nr, room;
};

struct sampler_lane {
	struct ticks ticks;
	struct sampler_lane *next;
};

struct sampler {
	const struct clock *clock;
	bool sweep;
	struct tally samples;          /* units: weight */
	uint64_t dropped[CLOCK_LEVELS];/* samples taken and thrown away, by level */
	uint64_t weighted[CLOCK_LEVELS];/* samples kept of other weights than CYCLE_UNITS, by level */
	struct sampler_lane *lanes;
};

/* For a struct method. */
int  sampler_open(void *state, const struct run *run);
int  sampler_lane(void *state, void *lane, uint32_t thread);
void sampler_end(void *state, void *lane);
void sampler_close(void *state);

/* A sample weighs CYCLE_UNITS in all, so weights are exact. */
void sampler_add(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight);
/* A whole sample of any weight. */
void sampler_add_weighted(struct sampler *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight);
/* The hardware throws the sample away. */
void sampler_drop(struct sampler *s, struct tick tick);
/*
 * By instruction, then signature, under the method's name; with the figures samples, dropped, period and events (the
 * bits that its hardware knows). In a run that sweeps the period, also what there would be at each double of it, as
 * "METHOD/PERIOD". 0 or -errno.
 */
int  sampler_save(const struct sampler *s, const char *method, uint16_t events, struct profile *out);

void ticks_fini(struct ticks *q);
/* Those of a block; at its beginning. */
void ticks_push(struct ticks *q, const struct tick *tick, size_t n);

/* The cycle of the earliest one; UINT64_MAX: there is none. */
static inline uint64_t ticks_next(const struct ticks *q)
{
	return q->head < q->nr ? q->tick[q->head].cycle : UINT64_MAX;
}

static inline struct tick ticks_pop(struct ticks *q) { return q->tick[q->head++]; }

/*
 * For methods that tag in the front end: `tag` is called, for each tick, with the first record of the block that
 * dispatches (or is fetched) in its cycle or, where none does, after it. A record may be tagged several times.
 */
typedef void sampler_tag(struct sampler *s, struct tick tick, const struct timed *t);
void sampler_at_dispatch(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_tag *tag);
void sampler_at_fetch(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_tag *tag);

/*
 * For methods that look at commit: with the interval whose cycle it is, the oldest where several commit in it; `end` is
 * behind the last.
 */
typedef void sampler_owner(struct sampler *s, struct tick tick, const struct interval *v, const struct interval *end);
void sampler_at_commit(struct sampler *s, struct sampler_lane *l, const struct block *b, sampler_owner *owner);

#endif
