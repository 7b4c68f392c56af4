/*
 * What may be held by a limited number of holders at a time: miss registers (line-fill buffers, super queue),
 * page walkers, outstanding reads of the memory controller.
 *
 * It counts, exactly, how many are held in each cycle: by cycle at the ends of what is held, by block in between, so
 * that to hold one for hundreds of cycles takes a few steps. A miss that starts before those already booked contends
 * only with the ones it overlaps; in no cycle are more than `limit` held. Requests come in program order: one that
 * finds its whole duration free nowhere earlier is put behind.
 *
 * The counters keep a window behind the latest booking; what asks for an older cycle gets it without a wait.
 */
#ifndef CYCLEWISE_CORE_CACHE_MSHR_H
#define CYCLEWISE_CORE_CACHE_MSHR_H

#include <stdbool.h>
#include <stdint.h>

enum { MSHR_BLOCK = 32 };      /* cycles counted together */

/* In a cycle, whole + its own counter are held. */
struct mshr_block {
	int16_t whole;        /* held all through the block */
	int16_t most, least;  /* of its cycles' counters */
};

struct mshr {
	struct mshr_block *blocks; /* [window / MSHR_BLOCK], ring */
	int16_t *part;        /* [window], ring: held in this cycle, but not all through the block */
	uint64_t mask;         /* window - 1 */
	uint64_t first, end;   /* cycles kept: [first, end), of whole blocks */
	uint64_t top;          /* nothing is held at or after this cycle */
	int32_t limit;
};

/* `window`: cycles kept, rounded up to a power of two, at least 64. 0 or -ENOMEM. */
int mshr_init(struct mshr *m, uint32_t limit, uint64_t window);
void mshr_fini(struct mshr *m);

/* The earliest cycle from `cycle` on from which one more could be held for `cycles` (at least 1). */
uint64_t mshr_find(const struct mshr *m, uint64_t cycle, uint64_t cycles);
/* Holds one for [from, from + cycles), or as soon after as it can be held for so long; returns when that begins. */
uint64_t mshr_hold(struct mshr *m, uint64_t from, uint64_t cycles);

/* Whether at least 1 + `spare` are free in `cycle`. */
static inline bool mshr_free(const struct mshr *m, uint64_t cycle, int32_t spare)
{
	uint64_t at = cycle & m->mask;
	int32_t held = cycle < m->first || cycle >= m->top ? 0 : m->blocks[at / MSHR_BLOCK].whole + m->part[at];
	return held + spare < m->limit;
}

#endif
