#include "core/mshr.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };           /* cycles looked at together; a cache line of counters */

int mshr_init(struct mshr *m, uint32_t limit, uint64_t window)
{
	uint64_t cycles = 64;

	assert(limit > 0 && limit < UINT16_MAX);
	while (cycles < window)
		cycles <<= 1;
	*m = (struct mshr){ .mask = cycles - 1, .end = cycles, .limit = (uint16_t)limit };
	m->held = aligned_alloc(BLOCK * sizeof *m->held, cycles * sizeof *m->held);
	if (!m->held)
		return -ENOMEM;
	memset(m->held, 0, cycles * sizeof *m->held);
	return 0;
}

void mshr_fini(struct mshr *m)
{
	free(m->held);
	m->held = NULL;
}

static unsigned count_full(const uint16_t *held, uint16_t limit)
{
	uint16_t full = 0;
	for (unsigned i = 0; i < BLOCK; i++)
		full = (uint16_t)(full + (held[i] >= limit));
	return full;
}

uint64_t mshr_find(const struct mshr *m, uint64_t cycle, uint64_t cycles)
{
	if (cycle < m->first || cycle >= m->top)
		return cycle;

	uint64_t begin = cycle, c = cycle;
	while (c < m->top && c - begin < cycles) {
		const uint16_t *held = &m->held[c & m->mask];
		if (c % BLOCK == 0) {
			unsigned full = count_full(held, m->limit);
			if (full == 0 || full == BLOCK) {
				c += BLOCK;
				begin = full ? c : begin;
				continue;
			}
		}
		c++;
		begin = *held >= m->limit ? c : begin;
	}
	return begin;
}

/* Makes [.., to) part of the window, forgetting what is too old. */
static void advance(struct mshr *m, uint64_t to)
{
	uint64_t window = m->mask + 1;
	uint64_t from = m->end;

	to = (to + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);
	if (to - from >= window)
		from = to - window;
	while (from < to) {
		uint64_t n = window - (from & m->mask);
		n = n < to - from ? n : to - from;
		memset(&m->held[from & m->mask], 0, n * sizeof *m->held);
		from += n;
	}
	m->end = to;
	m->first = to - window;
}

uint64_t mshr_hold(struct mshr *m, uint64_t from, uint64_t cycles)
{
	assert(cycles > 0);
	uint64_t begin = mshr_find(m, from, cycles), to = begin + cycles;

	if (to > m->end)
		advance(m, to);
	for (uint64_t c = begin < m->first ? m->first : begin; c < to;) {
		uint64_t n = m->mask + 1 - (c & m->mask);
		n = n < to - c ? n : to - c;
		uint16_t *held = &m->held[c & m->mask];
		for (uint64_t i = 0; i < n; i++)
			held[i]++;
		c += n;
	}
	m->top = to > m->top ? to : m->top;
	return begin;
}
