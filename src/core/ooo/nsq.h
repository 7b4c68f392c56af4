/*
 * The non-scheduling queue in front of schedulers (AMD: of floating point): uops whose scheduler is full wait in it, in
 * order, and dispatch goes on until the queue is full, too. Nothing issues from it: of what waits for operands, the
 * schedulers alone choose.
 *
 * A scheduler is a heap of the cycles in which those in it leave. Since uops come in program order, and enter in it,
 * the next enters when the first of those leaves, where there are as many as it has entries. To which scheduler it
 * goes, and for which port it waits there, is settled when it enters: to the port that the fewest wait for, of any
 * scheduler with room.
 */
#ifndef CYCLEWISE_CORE_OOO_NSQ_H
#define CYCLEWISE_CORE_OOO_NSQ_H

#include <assert.h>
#include <stdint.h>

#include "core/cycle.h"
#include "core/params.h"

enum {
	NSQ_RING = 256,                     /* more than the queue has entries */
	SCHEDULER_MOST = 250,                   /* entries of a scheduler, the queue's included */
};

struct departures {
	uint32_t entries, nr;
	uint64_t cycle[SCHEDULER_MOST];         /* [nr], a heap: the parent of n at (n - 1) / 2 is no later */
};

struct nsq {
	uint16_t ports;                         /* of the schedulers that it feeds; 0: there is none */
	uint32_t entries;
	uint64_t nr;                            /* uops that came so far */
	uint64_t enter[NSQ_RING];           /* [n % ring]: cycle in which the n-th enters its scheduler */
	uint8_t feeds[CORE_PORTS];              /* a bit for each scheduler that feeds the port */
	struct departures in[CORE_SCHEDULERS];
	struct departures on[CORE_PORTS];          /* of those in schedulers, by the port that they are bound to;
	                                            * entries: SCHEDULER_MOST */
};

static inline void departures_push(struct departures *l, uint64_t cycle)
{
	assert(l->nr < l->entries);
	uint32_t n = l->nr++;
	for (; n && l->cycle[(n - 1) / 2] > cycle; n = (n - 1) / 2)
		l->cycle[n] = l->cycle[(n - 1) / 2];
	l->cycle[n] = cycle;
}

static inline uint64_t departures_pop(struct departures *l)
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
static inline uint64_t nsq_room(const struct nsq *w, unsigned need)
{
	uint64_t last = w->nr + (need < w->entries ? need : w->entries);

	return last <= w->entries ? 0 : w->enter[(last - 1 - w->entries) % NSQ_RING];
}

/* How many there are in `cycle`; those that have left by then are forgotten. */
static inline uint32_t departures_at(struct departures *l, uint64_t cycle)
{
	while (l->nr && l->cycle[0] <= cycle)
		departures_pop(l);
	return l->nr;
}

/* Where a uop waits for which port. */
struct nsq_place {
	uint8_t scheduler, port;
};

/* Of the schedulers of a port, or of several: the one with the fewest in it in `cycle`. */
static inline struct departures *nsq_emptiest(struct nsq *w, unsigned schedulers, uint64_t cycle)
{
	struct departures *best = &w->in[__builtin_ctz(schedulers)];

	if (schedulers & (schedulers - 1))
		for (; schedulers; schedulers &= schedulers - 1) {
			struct departures *l = &w->in[__builtin_ctz(schedulers)];
			best = departures_at(l, cycle) < departures_at(best, cycle) ? l : best;
		}
	return best;
}

/* The schedulers that feed one of the ports: a bit each. */
static inline unsigned nsq_schedulers(const struct nsq *w, unsigned ports)
{
	unsigned schedulers = 0;

	for (; ports; ports &= ports - 1)
		schedulers |= w->feeds[__builtin_ctz(ports)];
	return schedulers;
}

/*
 * The next uop, for any of `ports`, dispatched in `dispatch`: the cycle in which it enters the scheduler of *place, to
 * wait for its port. That is the port with the fewest that wait for it, of those that a scheduler with room feeds;
 * where all are full, of those that the first with room does.
 */
static inline uint64_t nsq_enter(struct nsq *w, unsigned ports, uint64_t dispatch, struct nsq_place *place)
{
	uint64_t cycle = w->nr ? later(dispatch, w->enter[(w->nr - 1) % NSQ_RING]) : dispatch, first = UINT64_MAX;
	uint32_t fewest = UINT32_MAX;

	for (unsigned rest = nsq_schedulers(w, ports); rest; rest &= rest - 1) {
		struct departures *l = &w->in[__builtin_ctz(rest)];
		uint64_t open = departures_at(l, cycle) < l->entries ? cycle : l->cycle[0];

		first = open < first ? open : first;
	}
	for (unsigned rest = ports; rest; rest &= rest - 1) {
		unsigned p = (unsigned)__builtin_ctz(rest);
		struct departures *l = nsq_emptiest(w, w->feeds[p], first);
		uint32_t n = departures_at(l, first) < l->entries ? departures_at(&w->on[p], first) : UINT32_MAX;

		if (n < fewest) {
			fewest = n;
			*place = (struct nsq_place){ (uint8_t)(l - w->in), (uint8_t)p };
		}
	}
	assert(fewest != UINT32_MAX);
	w->enter[w->nr++ % NSQ_RING] = first;
	return first;
}

/* That uop has left its scheduler and is no longer for its port from `cycle` on. */
static inline void nsq_leave(struct nsq *w, struct nsq_place place, uint64_t cycle)
{
	departures_push(&w->in[place.scheduler], cycle);
	departures_push(&w->on[place.port], cycle);
}

#endif
