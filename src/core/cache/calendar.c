#include "core/cache/calendar.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/cache/timeless.h"

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1;
	while (p < n)
		p <<= 1;
	return p;
}

int calendar_init(struct calendar *c, uint64_t window)
{
	uint64_t words = power_of_two(window < 64 ? 64 : window) * CALENDAR_UNITS / 64;

	*c = (struct calendar){ .busy = calloc(words, sizeof *c->busy), .mask = words - 1, .end = words };
	return c->busy ? 0 : -ENOMEM;
}

void calendar_fini(struct calendar *c)
{
	free(c->busy);
	c->busy = NULL;
}

/* Makes `word` part of the window, forgetting what is too old. */
static void advance(struct calendar *c, uint64_t word)
{
	uint64_t words = c->mask + 1;
	uint64_t from = word >= c->end + words ? word + 1 - words : c->end;

	for (uint64_t w = from; w <= word; w++)
		c->busy[w & c->mask] = 0;
	c->end = word + 1;
	if (c->end - c->first > words)
		c->first = c->end - words;
}

/* How many of the lowest bits are set before the first that is not. */
static uint32_t ones(uint64_t bits)
{
	return bits == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~bits);
}

uint64_t calendar_book(struct calendar *c, uint64_t cycle, uint32_t units)
{
	assert(units > 0);
	if (timeless(cycle))
		return cycle;
	uint64_t at = cycle * CALENDAR_UNITS;
	at = at > units ? at - units : 0;
	uint64_t word = at / 64, open = UINT64_MAX << at % 64;

	if (word < c->first)
		return (at + units + CALENDAR_UNITS - 1) / CALENDAR_UNITS;
	for (;; word++, open = UINT64_MAX) {
		if (word >= c->end)
			advance(c, word);
		uint64_t *busy = &c->busy[word & c->mask];
		for (uint64_t free = ~*busy & open; free; free = ~*busy & open) {
			uint32_t begin = (uint32_t)__builtin_ctzll(free), run = ones(free >> begin);
			uint32_t n = run < units ? run : units;

			*busy |= UINT64_MAX >> (64 - n) << begin;
			units -= n;
			if (!units)
				return (word * 64 + begin + n - 1) / CALENDAR_UNITS + 1;
		}
	}
}

uint32_t calendar_units(uint64_t bytes, uint64_t numerator, uint64_t denominator)
{
	uint64_t units = (2 * bytes * CALENDAR_UNITS * denominator + numerator) / (2 * numerator);
	return units ? (uint32_t)units : 1;
}
