/*
 * The non-scheduling queue in front of schedulers (AMD: of floating point): uops whose scheduler is full wait in it, in order, and
 * dispatch goes on until the queue is full, too. Nothing issues from it: of what waits for operands, the schedulers alone choose.
 *
 * A scheduler is a heap of the cycles in which those in it leave. Since uops come in program order, and enter in it, the next
 * enters when the first of those leaves, where there are as many as it has entries. To which scheduler it goes, and for which port it
 * waits there, is settled when it enters:
 * - to the port that the fewest wait for, of any scheduler with room; or
 * - (waiting.alternate, as Zen 3 does) to the schedulers in turn, by the slot of the cycle of dispatch; behind others that wait, by its place among
 *   those that enter in the same cycle. Where one has more than waiting.alternate entries free and another has not, to that one. As long as
 *   none has, what enters in two cycles together is no more than the fullest had free. In a scheduler again to the port that the fewest wait for.
 */
#ifndef CYCLEWISE_CORE_OOO_NSQ_H
#define CYCLEWISE_CORE_OOO_NSQ_H

#include <assert.h>
#include <stdbool.h>
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
	uint8_t schedulers;                     /* that it feeds: a bit each */
	uint32_t alternate;                     /* entries: waiting.alternate; 0: uops go to the port with the fewest */
	uint32_t width;                         /* uops that may enter in a cycle */
	struct entering {
		uint64_t cycle;
		uint32_t nr, most;              /* that entered in the cycle, and that may */
		uint8_t open;                   /* schedulers with more than `alternate` entries free as it began: a bit each */
		bool direct;                    /* they do in the cycle of their dispatch */
	} entering;
	uint8_t recent[CORE_SCHEDULERS];        /* port that its last uop waits for */
	struct departures in[CORE_SCHEDULERS];
	struct departures on[CORE_PORTS];          /* of those in schedulers, by the port that they are bound to; entries: SCHEDULER_MOST */
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

/* The port with the fewest that wait for it, of those that a scheduler with room feeds; where all are full, of those that the first with room does. */
static inline uint64_t nsq_enter_fewest(struct nsq *w, unsigned ports, uint64_t cycle, struct nsq_place *place)
{
	uint64_t first = UINT64_MAX;
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
	return first;
}

/* What may enter in a cycle in which nothing did so far. */
static inline void nsq_begin(struct nsq *w, uint64_t cycle, uint64_t dispatch)
{
	struct entering *e = &w->entering;
	uint32_t before = cycle == e->cycle + 1 ? e->nr : 0, least = UINT32_MAX;

	*e = (struct entering){ .cycle = cycle, .direct = cycle == dispatch };
	for (unsigned rest = w->schedulers; rest; rest &= rest - 1) {
		unsigned s = (unsigned)__builtin_ctz(rest);
		uint32_t room = w->in[s].entries - departures_at(&w->in[s], cycle);

		e->open |= (uint8_t)((room > w->alternate) << s);
		least = room < least ? room : least;
	}
	e->most = e->open ? w->width : least > before ? least - before : 0;
	e->most = e->most < w->width ? e->most : w->width;
}

/* Of schedulers, a bit each, the one that is in turn in that slot. */
static inline unsigned nsq_turn(unsigned schedulers, unsigned slot)
{
	for (unsigned n = slot % (unsigned)__builtin_popcount(schedulers); n; n--)
		schedulers &= schedulers - 1;
	return (unsigned)__builtin_ctz(schedulers);
}

/* Of the ports that the scheduler feeds, the one with the fewest that wait for it; of equals, not that of the last uop. */
static inline unsigned nsq_port(struct nsq *w, unsigned ports, unsigned scheduler, uint64_t cycle)
{
	uint32_t fewest = UINT32_MAX;
	unsigned port = 0;

	for (; ports; ports &= ports - 1) {
		unsigned p = (unsigned)__builtin_ctz(ports);
		uint32_t n = 2 * departures_at(&w->on[p], cycle) + (p == w->recent[scheduler]);

		if (w->feeds[p] >> scheduler & 1 && n < fewest) {
			fewest = n;
			port = p;
		}
	}
	w->recent[scheduler] = (uint8_t)port;
	return port;
}

/* The first cycle behind `cycle` in which all of those schedulers have room. */
static inline uint64_t nsq_again(const struct nsq *w, unsigned schedulers, uint64_t cycle)
{
	uint64_t next = cycle + 1;

	for (; schedulers; schedulers &= schedulers - 1) {
		const struct departures *l = &w->in[__builtin_ctz(schedulers)];
		next = l->nr == l->entries ? later(next, l->cycle[0]) : next;
	}
	return next;
}

/* To the schedulers in turn. */
static inline uint64_t nsq_enter_turn(struct nsq *w, unsigned ports, uint64_t cycle, uint64_t dispatch, unsigned slot, struct nsq_place *place)
{
	unsigned can = nsq_schedulers(w, ports);
	struct entering *e = &w->entering;

	for (;;) {
		if (cycle != e->cycle)
			nsq_begin(w, cycle, dispatch);
		unsigned s = nsq_turn(w->schedulers, e->direct ? slot : e->nr), open = can & e->open;
		if (!(can >> s & 1) || (open && !(open >> s & 1)))
			s = (unsigned)__builtin_ctz(open ? open : can);
		if (e->nr < e->most && w->in[s].nr < w->in[s].entries) {
			e->nr++;
			*place = (struct nsq_place){ (uint8_t)s, (uint8_t)nsq_port(w, ports, s, cycle) };
			return cycle;
		}
		cycle = nsq_again(w, e->open ? 1u << s : w->schedulers, cycle);
	}
}

/*
 * The next uop, for any of `ports`, dispatched in that slot of `dispatch`: the cycle in which it enters the scheduler of *place, to wait for its
 * port.
 */
static inline uint64_t nsq_enter(struct nsq *w, unsigned ports, uint64_t dispatch, unsigned slot, struct nsq_place *place)
{
	uint64_t cycle = w->nr ? later(dispatch, w->enter[(w->nr - 1) % NSQ_RING]) : dispatch;

	cycle = w->alternate ? nsq_enter_turn(w, ports, cycle, dispatch, slot, place) : nsq_enter_fewest(w, ports, cycle, place);
	w->enter[w->nr++ % NSQ_RING] = cycle;
	return cycle;
}

/* That uop has left its scheduler and is no longer for its port from `cycle` on. */
static inline void nsq_leave(struct nsq *w, struct nsq_place place, uint64_t cycle)
{
	departures_push(&w->in[place.scheduler], cycle);
	departures_push(&w->on[place.port], cycle);
}

#endif
