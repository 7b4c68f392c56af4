#include "core/gus/scheduler.h"

/* Those of the cycles in between, a word of them at a time. */
void scheduler_pass(struct scheduler *w, uint64_t cycle)
{
	for (uint64_t from = w->now + 1; from <= cycle; from = (from | 63) + 1) {
		uint64_t *some = &w->some[from % SCHEDULER_WINDOW / 64], last = cycle < (from | 63) ? cycle : from | 63;
		uint64_t gives = *some >> (from % 64) << (from % 64) & UINT64_MAX >> (63 - last % 64);

		*some &= ~gives;
		for (uint16_t *given = &w->given[(from & ~UINT64_C(63)) % SCHEDULER_WINDOW]; gives;
		     gives &= gives - 1) {
			uint16_t *in = &given[__builtin_ctzll(gives)];
			w->held -= *in;
			*in = 0;
		}
	}
	w->now = cycle;
}

/* The next cycle after now that gives any back; now itself where none does. */
static uint64_t scheduler_next(const struct scheduler *w)
{
	for (uint64_t c = w->now + 1, end = w->now + SCHEDULER_WINDOW; c < end; c = (c | 63) + 1) {
		uint64_t some = w->some[c % SCHEDULER_WINDOW / 64] >> (c % 64);
		if (some)
			return c + (uint64_t)__builtin_ctzll(some);
	}
	return w->now;
}

struct when scheduler_room(struct chrono *v, struct when t, struct scheduler *w, unsigned uops)
{
	scheduler_advance(w);
	while (w->held + uops > w->entries) {
		uint64_t next = scheduler_next(w);
		if (next == w->now)
			break;                 /* another part of the same instruction holds them */
		struct when free = { next * ABSTRACT_TICKS,
		                     v->mode == CHRONO_TAINT ? w->who[next % SCHEDULER_WINDOW] : 0 };
		scheduler_pass(w, next);
		constrain_by(v, v->mode, &t, &free);
	}
	return t;
}

uint64_t scheduler_near(struct scheduler *w, uint64_t cycle)
{
	scheduler_advance(w);
	return cycle < w->now + SCHEDULER_WINDOW ? cycle : w->now + SCHEDULER_WINDOW - 1;
}

/* --- several of them --------------------------------------------------------------------------------- */

enum { CHOSEN_BITS = 8 };
_Static_assert(CORE_SCHEDULERS * CHOSEN_BITS <= 64, "there is a place for each scheduler");

bool constrain_schedulers(struct chrono *v, unsigned which, const struct part *p)
{
	const struct use *u = v->use + p->use + p->nr_uses;
	struct when *dispatch = &v->flow.dispatch;
	uint64_t chosen = 0;
	bool waits = false;

	for (unsigned told = 0; told < p->uops; told += u->amount, u++) {
		for (unsigned i = 0; u->resource && i < u->amount; i++) {
			unsigned s = emptiest(v, u->resource, dispatch->t);
			waits |= constrain_scheduler(v, dispatch, v->scheduler[s], 1);
			chosen += UINT64_C(1) << s * CHOSEN_BITS;
		}
	}
	v->chosen[which] = chosen;
	return waits;
}

/* Of those chosen alone: a branch for each scheduler that there is, no predictor would know. */
void schedulers_issue(struct chrono *v, uint64_t chosen, struct when issue, unsigned held)
{
	const uint64_t all = (UINT64_C(1) << CHOSEN_BITS) - 1;

	while (chosen) {
		unsigned s = (unsigned)__builtin_ctzll(chosen) / CHOSEN_BITS;
		scheduler_issue(v->mode, v->scheduler[s], (unsigned)(chosen >> s * CHOSEN_BITS & all), &issue, held);
		chosen &= ~(all << s * CHOSEN_BITS);
	}
}
