/*
 * What is taken at dispatch and given back in a later cycle, out of order: scheduler entries, the counts of
 * uops bound to each port, unresolved branches, slots of eliminated moves. A ring of cycles says how many of
 * each kind are given back when.
 *
 * Invariant: held[k] = acquired so far - given back in cycles <= now. Bit c of `some` is set iff cycle c in
 * (now, now + RELEASE_WINDOW) gives anything back. Releases beyond the window wait in `far`, a binary heap by cycle.
 */
#ifndef CYCLEWISE_CORE_OOO_RELEASE_H
#define CYCLEWISE_CORE_OOO_RELEASE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"

enum {
	RELEASE_WINDOW = 1024,                          /* cycles */
	HELD_SCHEDULER = 0,                             /* kinds: schedulers, ports, ... */
	HELD_PORT = HELD_SCHEDULER + CORE_SCHEDULERS,
	HELD_BRANCH = HELD_PORT + CORE_PORTS,
	HELD_MOVE,                                      /* one each bank */
	RELEASE_KINDS = 32,                             /* those, rounded up so that a row is half a cache line */
	RELEASE_FAR = 1 << 15,                          /* every uop of the largest reorder buffer, with its port */
};

struct release_far {
	uint64_t cycle;
	uint8_t kind;
};

/*
 * A count of each kind. A row is subtracted from another as four words: no count is below what it loses, so none
 * borrows.
 */
union release_row {
	uint8_t of[RELEASE_KINDS];
	uint64_t word[RELEASE_KINDS / 8];
};

struct release {
	uint64_t now;                                   /* cycle of dispatch */
	union release_row held;
	union release_row given[RELEASE_WINDOW];        /* [cycle % window] */
	uint64_t some[RELEASE_WINDOW / 64];
	struct release_far far[RELEASE_FAR];
	uint32_t nr_far;
};

void release_far_push(struct release *r, uint64_t cycle, unsigned kind);
void release_far_pull(struct release *r);

/* One of `kind`, taken before, is given back in `cycle`: free for others from that cycle on. */
static inline void release_at(struct release *r, unsigned kind, uint64_t cycle)
{
	if (cycle <= r->now) {
		r->held.of[kind]--;
		return;
	}
	if (cycle - r->now >= RELEASE_WINDOW) {
		release_far_push(r, cycle, kind);
		return;
	}
	uint64_t slot = cycle % RELEASE_WINDOW;
	r->given[slot].of[kind]++;
	r->some[slot / 64] |= UINT64_C(1) << (slot % 64);
}

/* One of `kind` is taken now and given back in `cycle`. */
static inline void release_add(struct release *r, unsigned kind, uint64_t cycle)
{
	assert(r->held.of[kind] < UINT8_MAX);
	r->held.of[kind]++;
	release_at(r, kind, cycle);
}

/* Two kinds at once: `kind` is given back in `cycle`, `next` in the cycle behind it. */
static inline void release_add_two(struct release *r, unsigned kind, unsigned next, uint64_t cycle)
{
	if (cycle - r->now - 1 >= RELEASE_WINDOW - 2) { /* now or before, or far */
		release_add(r, kind, cycle);
		release_add(r, next, cycle + 1);
		return;
	}
	assert(r->held.of[kind] < UINT8_MAX && r->held.of[next] < UINT8_MAX);
	r->held.of[kind]++;
	r->held.of[next]++;
	uint64_t slot = cycle % RELEASE_WINDOW, behind = (cycle + 1) % RELEASE_WINDOW;
	r->given[slot].of[kind]++;
	r->some[slot / 64] |= UINT64_C(1) << (slot % 64);
	r->given[behind].of[next]++;
	r->some[behind / 64] |= UINT64_C(1) << (behind % 64);
}

/* The next cycle after now that gives anything back; UINT64_MAX: none. */
static inline uint64_t release_next(const struct release *r)
{
	uint64_t c = r->now + 1, end = r->now + RELEASE_WINDOW;
	while (c < end) {
		uint64_t slot = c % RELEASE_WINDOW;
		uint64_t w = r->some[slot / 64] >> (slot % 64);
		if (w) {
			c += (uint64_t)__builtin_ctzll(w);
			return c < end ? c : r->nr_far ? r->far[0].cycle : UINT64_MAX;
		}
		c = (c | 63) + 1;
	}
	return r->nr_far ? r->far[0].cycle : UINT64_MAX;
}

static inline void release_take(struct release *r, uint64_t cycle)
{
	uint64_t slot = cycle % RELEASE_WINDOW;
	if (!(r->some[slot / 64] >> (slot % 64) & 1))
		return;
	for (int k = 0; k < RELEASE_KINDS / 8; k++) {
		r->held.word[k] -= r->given[slot].word[k];
		r->given[slot].word[k] = 0;
	}
	r->some[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

static inline void release_step(struct release *r, uint64_t cycle)
{
	r->now = cycle;
	if (r->nr_far)
		release_far_pull(r);
	release_take(r, cycle);
}

/* Time goes on to `cycle`. */
static inline void release_advance(struct release *r, uint64_t cycle)
{
	if (r->now + 1 == cycle) {
		release_step(r, cycle);
		return;
	}
	while (r->now < cycle) {
		uint64_t next = release_next(r);
		release_step(r, next < cycle ? next : cycle);
	}
}

#endif
