/*
 * The queue in front of schedulers (AMD: of floating point): uops whose scheduler is full wait in it, in order, and dispatch goes
 * on until the queue is full, too. Nothing issues from it: of what waits for operands, the schedulers alone choose.
 *
 * A scheduler is a heap of the cycles in which those in it leave. Since uops come in program order, and enter in it, the next
 * enters when the first of those leaves, where there are as many as it has entries. It is bound to a port then, the one that the
 * fewest wait for: on a Zen 3, which has two schedulers, chains of additions take 5% more than if each took what port is free.
 * Not modelled: how many go from the queue to the schedulers in a cycle.
 */
#ifndef CYCLEWISE_CORE_WAITING_H
#define CYCLEWISE_CORE_WAITING_H

#include <assert.h>
#include <stdint.h>

#include "core/cycle.h"
#include "core/params.h"

enum {
	WAITING_RING = 256,                     /* more than the queue has entries */
	SCHEDULER_MOST = 250,                   /* entries of a scheduler, the queue's included */
};

struct leaving {
	uint32_t entries, nr;
	uint64_t cycle[SCHEDULER_MOST];         /* [nr], a heap: the parent of n at (n - 1) / 2 is no later */
};

struct waiting {
	uint16_t ports;                         /* of the schedulers that it feeds; 0: there is none */
	uint32_t entries;
	uint64_t nr;                            /* uops that came so far */
	uint64_t enter[WAITING_RING];           /* [n % ring]: cycle in which the n-th enters its scheduler */
	uint8_t scheduler[CORE_PORTS];          /* that feeds the port */
	struct leaving in[CORE_SCHEDULERS];
	struct leaving on[CORE_PORTS];          /* of those in schedulers, by the port that they are bound to; entries: SCHEDULER_MOST */
};

static inline void leaving_push(struct leaving *l, uint64_t cycle)
{
	assert(l->nr < l->entries);
	uint32_t n = l->nr++;
	for (; n && l->cycle[(n - 1) / 2] > cycle; n = (n - 1) / 2)
		l->cycle[n] = l->cycle[(n - 1) / 2];
	l->cycle[n] = cycle;
}

static inline uint64_t leaving_pop(struct leaving *l)
{
	uint64_t first = l->cycle[0], last = l->cycle[--l->nr];
	uint32_t n = 0;

	for (uint32_t child; (child = 2 * n + 1) < l->nr; n = child) {
		child += child + 1 < l->nr && l->cycle[child + 1] < l->cycle[child];
		if (l->cycle[child] >= last)
			break;
		l->cycle[n] = l->cycle[child];
	}
	l->cycle[n] = last;
	return first;
}

/* The cycle from which `need` more uops have room in the queue. */
static inline uint64_t waiting_room(const struct waiting *w, unsigned need)
{
	uint64_t last = w->nr + (need < w->entries ? need : w->entries);

	return last <= w->entries ? 0 : w->enter[(last - 1 - w->entries) % WAITING_RING];
}

/* How many there are in `cycle`; those that have left by then are forgotten. */
static inline uint32_t leaving_at(struct leaving *l, uint64_t cycle)
{
	while (l->nr && l->cycle[0] <= cycle)
		leaving_pop(l);
	return l->nr;
}

/*
 * The next uop, for any of `ports`, dispatched in `dispatch`: the cycle in which it enters the scheduler of *port. That is the port with the
 * fewest that wait for it then, of those whose scheduler has room; where all are full, of the one that has room first.
 */
static inline uint64_t waiting_enter(struct waiting *w, unsigned ports, uint64_t dispatch, unsigned *port)
{
	uint64_t cycle = w->nr ? later(dispatch, w->enter[(w->nr - 1) % WAITING_RING]) : dispatch, first = UINT64_MAX;
	uint32_t fewest = UINT32_MAX;

	for (unsigned rest = ports; rest; rest &= rest - 1) {
		struct leaving *l = &w->in[w->scheduler[__builtin_ctz(rest)]];
		uint64_t open = leaving_at(l, cycle) < l->entries ? cycle : l->cycle[0];

		first = open < first ? open : first;
	}
	for (unsigned rest = ports; rest; rest &= rest - 1) {
		unsigned p = (unsigned)__builtin_ctz(rest);
		struct leaving *l = &w->in[w->scheduler[p]];
		uint32_t n = leaving_at(l, first) < l->entries ? leaving_at(&w->on[p], first) : UINT32_MAX;

		if (n < fewest) {
			fewest = n;
			*port = p;
		}
	}
	assert(fewest != UINT32_MAX);
	w->enter[w->nr++ % WAITING_RING] = first;
	return first;
}

/* That uop has left `port` and its scheduler from `cycle` on. */
static inline void waiting_leave(struct waiting *w, unsigned port, uint64_t cycle)
{
	leaving_push(&w->in[w->scheduler[port]], cycle);
	leaving_push(&w->on[port], cycle);
}

#endif
