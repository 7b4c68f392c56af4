#include "method/clock.h"

#include <glib.h>
#include <string.h>

static const struct tick no_tick = { .cycle = UINT64_MAX };

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

/* Ref: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Cycles to the next tick: uniform in [period - period / 8, period + period / 8]. */
static uint64_t interval(const struct clock *c, struct clock_lane *l)
{
	uint64_t period = clock_period(c), jitter = period / 8, choices = 2 * jitter + 1;

	return period - jitter + (uint64_t)((unsigned __int128)splitmix(&l->random) * choices >> 64);
}

void clock_lane_init(struct clock_lane *l, const struct clock *c, uint32_t thread)
{
	uint64_t seed = c->seed;

	l->random = splitmix(&seed) + thread;
	l->random = splitmix(&l->random);
	l->room = 16;
	l->queue = g_new(struct tick, l->room);
	l->queue[0] = no_tick;
	l->head = l->nr = 0;
	l->number = l->horizon = 0;
	l->next = interval(c, l);
}

void clock_lane_fini(struct clock_lane *l)
{
	g_free(l->queue);
	l->queue = NULL;
}

static void hold(struct clock *c, struct clock_lane *l)
{
	uint64_t step = (uint64_t)1 << c->level;

	l->number = (l->number + step) & -step;
	uint32_t level = (uint32_t)__builtin_ctzll(l->number);
	if (level >= CLOCK_LEVELS)
		level = CLOCK_LEVELS - 1;
	if (l->nr + 2 > l->room) {
		l->room *= 2;
		l->queue = g_renew(struct tick, l->queue, l->room);
	}
	l->queue[l->nr++] = (struct tick){ .cycle = l->next, .level = level };
	c->ticks[level]++;
	if (++c->held > c->limit && c->level < CLOCK_LEVELS - 1)
		c->held -= c->ticks[c->level++];
}

void clock_batch(struct clock *c, struct clock_lane *l, const struct timed *t, size_t n)
{
	uint64_t horizon = l->horizon;
	unsigned flags = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t leave = timed_leave(&t[i]);
		horizon = leave > horizon ? leave : horizon;
		flags |= t[i].flags;
	}
	l->horizon = horizon;
	l->nr -= l->head;
	memmove(l->queue, l->queue + l->head, l->nr * sizeof(*l->queue));
	l->head = 0;
	for (; l->next <= horizon; l->next += interval(c, l))
		if (flags & TIMED_COUNTED)
			hold(c, l);
	l->queue[l->nr] = no_tick;
}
