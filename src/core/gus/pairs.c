#include "core/gus/pairs.h"

#include "core/cycle.h"

/* The first cycle from `cycle` on in which something is left. */
static inline uint64_t slots_first(const struct slots *s, uint64_t cycle)
{
	for (;; cycle = (cycle | 63) + 1) {
		uint64_t at = cycle / 64 % SLOTS_WORDS;
		if (s->word[at] != cycle / 64)
			return cycle;
		uint64_t left = ~s->full[at] >> (cycle % 64);
		if (left)
			return cycle + (uint64_t)__builtin_ctzll(left);
	}
}

/* Makes the word of the cycle the present one of its place; false: a later one has it. */
static inline bool slots_keep(struct slots *s, uint64_t cycle)
{
	uint64_t word = cycle / 64, at = word % SLOTS_WORDS;

	if (__builtin_expect(s->word[at] == word, 1))
		return true;
	if (s->word[at] > word)
		return false;
	s->word[at] = word;
	s->full[at] = 0;
	memset(&s->used[at * 64], 0, 64 * sizeof *s->used);
	return true;
}

/* A uop takes that cycle, in which something is left; what it lacks there it takes of the next that are not full. */
static void slots_take(struct slots *s, uint64_t cycle)
{
	for (unsigned amount = WEIGHT_ONE; slots_keep(s, cycle); cycle = slots_first(s, cycle + 1)) {
		uint16_t *used = &s->used[cycle % SLOTS_WINDOW];
		unsigned left = (unsigned)s->capacity - *used, n = amount < left ? amount : left;
		*used = (uint16_t)(*used + n);
		s->full[cycle / 64 % SLOTS_WORDS] |= (uint64_t)(n == left) << (cycle % 64);
		amount -= n;
		if (!amount)
			return;
	}
}

/* Of `ports`, the one that is free first from `cycle` on, and when; of equals the lowest. */
static struct slots *first_free(struct chrono *v, unsigned ports, uint64_t cycle, uint64_t *when)
{
	struct slots *best = NULL;

	for (*when = UINT64_MAX; ports; ports &= ports - 1) {
		struct slots *s = &v->paired[__builtin_ctz(ports)];
		uint64_t free = slots_first(s, cycle);
		if (free < *when) {
			best = s;
			*when = free;
		}
	}
	return best;
}

void pair_replay(struct chrono *v, const struct recipe *p, unsigned ports, uint64_t from, uint64_t ready)
{
	uint64_t free;

	for (unsigned i = 0; i < p->nr_data; i++) {
		const struct woken *by = &v->woken[p->data[i]];
		uint64_t there = v->reg[p->data[i]].t;
		from = later(from, by->there == there ? by->from : there);
	}
	for (uint64_t c = cycle_of(from), end = cycle_of(ready); c < end; c = free + 1) {
		struct slots *s = first_free(v, ports, c, &free);
		if (free >= end)
			return;
		slots_take(s, free);
	}
}

unsigned pair_issue(struct chrono *v, unsigned ports, unsigned resource, const struct when *begin, struct when *w)
{
	uint64_t cycle = cycle_of(w->t), free;
	struct slots *s = first_free(v, ports, cycle, &free);

	slots_take(s, free);
	if (free != cycle) {
		w->t = free * ABSTRACT_TICKS;
		w->who = v->mode == CHRONO_TAINT ? taint_of_users(&v->taints, &v->users[resource]) : 0;
	}
	if (v->mode == CHRONO_TAINT)
		used_by(v, CHRONO_TAINT, resource, 1, begin);
	return free != cycle ? resource : REASON_NONE;
}

void pair_wake(struct chrono *v, const struct recipe *p, uint64_t ready, uint64_t t)
{
	if (p->latency * v->cost.latency[p->class] != ABSTRACT_TICKS)
		return;
	for (unsigned i = 0; i < p->nr_dst; i++)
		v->woken[p->dst[i]] = (struct woken){ t + ABSTRACT_TICKS, ready + ABSTRACT_TICKS };
}
