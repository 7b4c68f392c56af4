#include "method/clock.h"

#include <glib.h>
#include <string.h>

void clock_init(struct clock *c, const struct run *run)
{
	memset(c, 0, sizeof(*c));
	c->period = run->period ? run->period : CLOCK_PERIOD;
	c->limit = run->period ? UINT64_MAX : CLOCK_LIMIT;
	c->seed = run->seed;
}

uint64_t clock_period(const struct clock *c)
{
	return c->period << c->level;
}

uint32_t clock_levels(const struct clock *c)
{
	uint32_t level = CLOCK_LEVELS - 1;

	for (uint64_t ticks = c->ticks[level]; ticks < CLOCK_FEW && level > c->level; )
		ticks += c->ticks[--level];
	return level;
}

/* Ref: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
uint64_t clock_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Cycles to the next tick: uniform in [period - period / 8, period + period / 8]. */
static uint64_t to_next(const struct clock *c, struct clock_lane *l)
{
	uint64_t period = clock_period(c), jitter = period / 8, choices = 2 * jitter + 1;

	return period - jitter + (uint64_t)((unsigned __int128)clock_random(&l->random) * choices >> 64);
}

void clock_lane_init(struct clock_lane *l, const struct clock *c, uint32_t thread)
{
	uint64_t seed = c->seed;

	l->random = clock_random(&seed) + thread;
	l->random = clock_random(&l->random);
	l->room = 16;
	l->tick = g_new(struct tick, l->room);
	l->nr = 0;
	l->number = 0;
	l->next = to_next(c, l);
}

void clock_lane_fini(struct clock_lane *l)
{
	g_free(l->tick);
	l->tick = NULL;
}

static void hold(struct clock *c, struct clock_lane *l)
{
	uint64_t step = (uint64_t)1 << c->level;

	l->number = (l->number + step) & -step;
	uint32_t level = (uint32_t)__builtin_ctzll(l->number);
	if (level >= CLOCK_LEVELS)
		level = CLOCK_LEVELS - 1;
	if (l->nr == l->room) {
		l->room *= 2;
		l->tick = g_renew(struct tick, l->tick, l->room);
	}
	l->tick[l->nr++] = (struct tick){ .cycle = l->next, .level = level };
	c->ticks[level]++;
	if (++c->held > c->limit && c->level < CLOCK_LEVELS - 1)
		c->held -= c->ticks[c->level++];
}

/* Whether (a part of) the cycle is counted, that of v or of those behind it that commit with it. */
static bool counted(const struct interval *v, const struct interval *end, uint64_t cycle)
{
	bool counts = interval_counts(v);

	while (!counts && ++v < end && v->from == cycle)
		counts = interval_counts(v);
	return counts;
}

void clock_make(struct clock *c, struct clock_lane *l, const struct interval *v, size_t n)
{
	l->nr = 0;
	for (const struct interval *end = v + n; v < end && interval_end(end - 1) > l->next; l->next += to_next(c, l)) {
		while (interval_end(v) <= l->next)
			v++;
		if (counted(v, end, l->next))
			hold(c, l);
	}
}
