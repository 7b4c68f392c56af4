/*
 * Execution ports and unpipelined units as calendars: a bit for every cycle of a window that slides with
 * dispatch. A uop takes the first free cycle at or after it is ready; since uops come in program order, an
 * older one always chooses first, and a younger one may still slip in front of an older one that waits.
 *
 * Invariant: bits of cycles before `base` are never looked at again; the word of a cycle is cleared when
 * the base passes it, so every bit in [base, base + PORT_WINDOW) belongs to exactly one cycle.
 * Beyond the window (a chain of dependent misses) nothing is booked: such a uop is alone there in practice.
 */
#ifndef CYCLEWISE_CORE_OOO_PORTS_H
#define CYCLEWISE_CORE_OOO_PORTS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"

enum {
	PORT_WINDOW = 32768,                   /* cycles */
	PORT_WORDS = PORT_WINDOW / 64,
	LANE_RESTART = CORE_PORTS + CORE_UNITS, /* what starts loads anew */
	LANE_WRITE,                            /* L1D is written: by stores, and lines that come (l1d.victim_ports) */
	LANE_CLOSED,                           /* set where ports were closed (ports_close()) */
	PORT_LANES,                            /* ports, then units, then these */
};

struct ports {
	uint64_t busy[PORT_WORDS][PORT_LANES]; /* bit c % 64 of word c / 64: taken in cycle c */
	uint64_t base;                         /* multiple of 64 */
};

/* The window may forget what is before `cycle`. */
static inline void ports_advance(struct ports *p, uint64_t cycle)
{
	cycle &= ~UINT64_C(63);
	if (cycle - p->base >= PORT_WINDOW) {
		if (cycle > p->base)
			*p = (struct ports){ .base = cycle };
		return;
	}
	for (; p->base < cycle; p->base += 64) {
		uint64_t *w = p->busy[p->base / 64 % PORT_WORDS];
		for (int i = 0; i < PORT_LANES; i++)
			w[i] = 0;
	}
}

/* The first cycle at or after `cycle` in which `lane` is free; does not book. */
static inline uint64_t ports_first(const struct ports *p, unsigned lane, uint64_t cycle)
{
	uint64_t limit = p->base + PORT_WINDOW;

	if (cycle >= limit)
		return cycle;
	uint64_t free = ~p->busy[cycle / 64 % PORT_WORDS][lane] >> (cycle % 64);
	if (free)
		return cycle + (uint64_t)__builtin_ctzll(free);
	for (cycle = (cycle | 63) + 1; cycle < limit; cycle += 64) {
		free = ~p->busy[cycle / 64 % PORT_WORDS][lane];
		if (free)
			return cycle + (uint64_t)__builtin_ctzll(free);
	}
	return cycle;
}

/*
 * The first cycle at or after `cycle` in which one of `lanes` (a bit each) is free, and `unit` too unless that is 0;
 * *lane: the lowest that is. UINT64_MAX where there are no lanes. Does not book.
 */
static inline uint64_t ports_first_of(const struct ports *p, unsigned lanes, unsigned unit, uint64_t cycle,
                                      unsigned *lane)
{
	uint64_t first = UINT64_MAX;

	for (; lanes; lanes &= lanes - 1) {
		unsigned one = (unsigned)__builtin_ctz(lanes);
		uint64_t c = ports_first(p, one, cycle);
		while (unit) {
			uint64_t free = ports_first(p, unit, c);
			if (free == c)
				break;
			c = ports_first(p, one, free);
		}
		if (c < first) {
			first = c;
			*lane = one;
		}
	}
	return first;
}

static inline void ports_book(struct ports *p, unsigned lane, uint64_t cycle)
{
	assert(cycle >= p->base);
	if (cycle < p->base + PORT_WINDOW)
		p->busy[cycle / 64 % PORT_WORDS][lane] |= UINT64_C(1) << (cycle % 64);
}

/* Books the first cycle at or after `cycle` in which `lane` is free: that cycle. */
static inline uint64_t ports_take(struct ports *p, unsigned lane, uint64_t cycle)
{
	cycle = ports_first(p, lane, cycle);
	ports_book(p, lane, cycle);
	return cycle;
}

/* The first cycle at or after `cycle` from which `lane` is free for `length` cycles. */
static inline uint64_t ports_first_run(const struct ports *p, unsigned lane, uint64_t cycle, unsigned length)
{
	for (;;) {
		cycle = ports_first(p, lane, cycle);
		unsigned n = 1;
		while (n < length && ports_first(p, lane, cycle + n) == cycle + n)
			n++;
		if (n >= length)
			return cycle;
		cycle += n + 1;
	}
}

/*
 * Holds a unit for `length` cycles from `cycle` on, in which it is free. Where an older uop has booked it already, what
 * is left is held behind that: in hardware the older one, which was not ready yet, would wait for the younger. The sum
 * of the cycles is right, and it is the younger uop's successors that are late instead.
 */
static inline void ports_hold(struct ports *p, unsigned lane, uint64_t cycle, unsigned length)
{
	ports_book(p, lane, cycle);
	while (--length) {
		cycle = ports_first(p, lane, cycle + 1);
		ports_book(p, lane, cycle);
	}
}

static inline void ports_book_run(struct ports *p, unsigned lane, uint64_t cycle, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		ports_book(p, lane, cycle + i);
}

/*
 * Closes each of `lanes` (a bit each) for a cycle, the first from `cycle` on that nobody has taken. `told`: that
 * ports_closed() can tell.
 */
static inline void ports_close(struct ports *p, unsigned lanes, uint64_t cycle, bool told)
{
	for (; lanes; lanes &= lanes - 1) {
		unsigned lane = (unsigned)__builtin_ctz(lanes);
		uint64_t first = ports_first(p, lane, cycle);
		ports_book(p, lane, first);
		if (told)
			ports_book(p, LANE_CLOSED, first);
	}
}

/* Whether a lane was closed in `cycle`, which is told once. */
static inline bool ports_closed(struct ports *p, uint64_t cycle)
{
	bool closed = ports_first(p, LANE_CLOSED, cycle) != cycle;

	if (closed)
		p->busy[cycle / 64 % PORT_WORDS][LANE_CLOSED] &= ~(UINT64_C(1) << cycle % 64);
	return closed;
}

#endif
