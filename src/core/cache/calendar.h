/*
 * The calendar of something that serves one request at a time: a bus, a bank, a channel.
 *
 * Time is cut into eighths of a cycle, one bit each, so that 64 bytes at 28 bytes a cycle need no rounding to
 * whole cycles. A request takes the first free eighths from the moment it is there, wherever they are: requests
 * come in program order, and one that starts earlier than those already booked finds the gaps they left. What is
 * booked stays booked. Over every stretch of time, the eighths handed out are no more than there are.
 *
 * The calendar keeps a window behind the latest booking; what asks for an older cycle gets it without a wait.
 */
#ifndef CYCLEWISE_CORE_CACHE_CALENDAR_H
#define CYCLEWISE_CORE_CACHE_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_UNITS = 8 };   /* a cycle */

struct calendar {
	uint64_t *busy;        /* [words], ring: bit b of word w is unit w * 64 + b */
	uint64_t mask;         /* words - 1 */
	uint64_t first, end;   /* words kept: [first, end), end - first <= words */
};

/* `window`: cycles kept, at least 64, rounded up to a power of two. 0 or -ENOMEM. */
int calendar_init(struct calendar *c, uint64_t window);
void calendar_fini(struct calendar *c);

/*
 * Books `units` (at least 1) so that the transfer would end at `cycle` were nothing in its way, and returns the
 * cycle it does end at, rounded up.
 */
uint64_t calendar_book(struct calendar *c, uint64_t cycle, uint32_t units);

/* Units that `bytes` take at `numerator / denominator` bytes a cycle: to the nearest, at least 1. */
uint32_t calendar_units(uint64_t bytes, uint64_t numerator, uint64_t denominator);

#endif
