#include "core/cache/mshr.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cache/timeless.h"

int mshr_init(struct mshr *m, uint32_t limit, uint64_t window)
{
	uint64_t cycles = 64;

	assert(limit > 0 && limit < INT16_MAX);
	while (cycles < window)
		cycles <<= 1;
	*m = (struct mshr){ .mask = cycles - 1, .end = cycles, .limit = (int32_t)limit };
	m->blocks = calloc(cycles / MSHR_BLOCK, sizeof *m->blocks);
	m->part = calloc(cycles, sizeof *m->part);
	if (m->blocks && m->part)
		return 0;
	mshr_fini(m);
	return -ENOMEM;
}

void mshr_fini(struct mshr *m)
{
	free(m->blocks);
	free(m->part);
	m->blocks = NULL;
	m->part = NULL;
}

uint64_t mshr_find(const struct mshr *m, uint64_t cycle, uint64_t cycles)
{
	if (cycle < m->first || cycle >= m->top)
		return cycle;

	uint64_t begin = cycle, c = cycle;
	while (c < m->top && c - begin < cycles) {
		const struct mshr_block *b = &m->blocks[(c & m->mask) / MSHR_BLOCK];
		uint64_t next = (c | (MSHR_BLOCK - 1)) + 1;

		if (b->whole + b->least >= m->limit)
			begin = next;
		else if (b->whole + b->most >= m->limit)
			for (; c < next && c - begin < cycles; c++)
				begin = b->whole + m->part[c & m->mask] >= m->limit ? c + 1 : begin;
		else
			c = next;
		c = begin > c ? begin : c;
	}
	return begin;
}

/* Makes all before `to` part of the window, forgetting what is too old. */
static void advance(struct mshr *m, uint64_t to)
{
	uint64_t window = m->mask + 1, from = m->end;

	to = (to + MSHR_BLOCK - 1) & ~(uint64_t)(MSHR_BLOCK - 1);
	if (to - from > window)
		from = to - window;
	for (; from < to; from += MSHR_BLOCK) {
		memset(&m->part[from & m->mask], 0, MSHR_BLOCK * sizeof *m->part);
		m->blocks[(from & m->mask) / MSHR_BLOCK] = (struct mshr_block){ 0 };
	}
	m->end = to;
	m->first = to - window;
}

/* One more in cycles [from, to) of the block that begins at `block`. */
static void hold_part(struct mshr *m, uint64_t block, uint64_t from, uint64_t to)
{
	int16_t *part = &m->part[block & m->mask], lo = (int16_t)(from - block), hi = (int16_t)(to - block);
	int16_t most = 0, least = INT16_MAX;

	for (int16_t i = 0; i < MSHR_BLOCK; i++)
		part[i] = (int16_t)(part[i] + ((i >= lo) & (i < hi)));
	for (int16_t i = 0; i < MSHR_BLOCK; i++) {
		most = part[i] > most ? part[i] : most;
		least = part[i] < least ? part[i] : least;
	}
	struct mshr_block *b = &m->blocks[(block & m->mask) / MSHR_BLOCK];
	b->most = most;
	b->least = least;
}

uint64_t mshr_hold(struct mshr *m, uint64_t from, uint64_t cycles)
{
	if (timeless(from))
		return from;
	assert(cycles > 0);
	uint64_t begin = mshr_find(m, from, cycles), to = begin + cycles;

	if (to > m->end)
		advance(m, to);
	for (uint64_t c = begin < m->first ? m->first : begin; c < to;) {
		uint64_t block = c & ~(uint64_t)(MSHR_BLOCK - 1), next = block + MSHR_BLOCK;
		if (c == block && next <= to)
			m->blocks[(block & m->mask) / MSHR_BLOCK].whole++;
		else
			hold_part(m, block, c, to < next ? to : next);
		c = next;
	}
	m->top = to > m->top ? to : m->top;
	return begin;
}
