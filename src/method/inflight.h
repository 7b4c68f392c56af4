/*
 * What goes on while each instruction is in flight, exactly: for every committed instruction, how many slots other
 * (and its own) committed uops took at dispatch, and how many instructions retired, in the cycles from its fetch up to,
 * not with, that of its retirement.
 *
 * Both are differences of running sums. Fetch, dispatch and retirement of what commits are in order, so each sum need
 * be remembered from the last fetch on only, and once for all that came in a cycle. A flight is summed up when
 * something dispatches in the cycle of its end or later.
 */
#ifndef CYCLEWISE_METHOD_INFLIGHT_H
#define CYCLEWISE_METHOD_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/timed.h"

/*
 * A running sum: what it was before each cycle in which it grew, from the last one asked for on. Cycles never
 * decrease.
 */
struct growth {
	struct growth_mark { uint64_t cycle, before; } *mark; /* [room], ring: [first .. last) */
	uint64_t first, last, room;
	uint64_t newest;               /* cycle of the last growth; GROWTH_NEVER: none */
	uint64_t sum;
};

#define GROWTH_NEVER UINT64_MAX

/* A counted instruction that has dispatched, and not yet retired when the last one dispatched. */
struct flight_path {
	uint64_t leave;
	uint64_t dispatched;           /* slots before its fetch */
	uint32_t insn;
};

struct inflight {
	struct growth slots, retired;  /* slots by dispatch, instructions by retirement */
	uint64_t fetch;                /* cycle of the last fetch */
	uint64_t dispatched, left;     /* slots and instructions before it */
	struct flight_path *path;      /* [room], ring: [first .. last) */
	uint64_t first, last, room;
};

/* Called for counted ones; constants where inflight_push() is called, so that they are inlined there. */
typedef void inflight_done(void *ctx, uint32_t insn, uint64_t count);

void inflight_init(struct inflight *f);
void inflight_fini(struct inflight *f);
/* Double a ring. */
void growth_grow(struct growth *g);
void inflight_grow(struct inflight *f);

static inline void growth_add(struct growth *g, uint64_t cycle, uint64_t amount)
{
	if (cycle != g->newest) {
		if (__builtin_expect(g->last - g->first == g->room, 0))
			growth_grow(g);
		g->mark[g->last++ & (g->room - 1)] = (struct growth_mark){ cycle, g->sum };
		g->newest = cycle;
	}
	g->sum += amount;
}

/* Before the cycle, which is not before one asked for earlier. */
static inline uint64_t growth_before(struct growth *g, uint64_t cycle)
{
	uint64_t i = g->first;

	for (; i < g->last; i++)
		if (g->mark[i & (g->room - 1)].cycle >= cycle)
			break;
	g->first = i;
	return i < g->last ? g->mark[i & (g->room - 1)].before : g->sum;
}

/* Before the cycle of the last growth, if none after it was asked for. */
static inline uint64_t growth_before_newest(const struct growth *g)
{
	return g->mark[(g->last - 1) & (g->room - 1)].before;
}

/* Sums up the flights that ended by the cycle. */
static inline void inflight_end(struct inflight *f, uint64_t cycle, inflight_done *slots, void *ctx)
{
	uint64_t i = f->first;

	for (; i < f->last; i++) {
		const struct flight_path *p = &f->path[i & (f->room - 1)];

		if (p->leave > cycle)
			break;
		slots(ctx, p->insn, f->slots.sum - p->dispatched);
	}
	f->first = i;
}

/* A committed instruction's first record. Where counted, `retired` is called for it now, `slots` when that is known. */
static inline void inflight_push(struct inflight *f, const struct timed *t, inflight_done *slots,
                                 inflight_done *retired, void *ctx)
{
	uint64_t dispatch = timed_dispatch(t), leave = timed_leave(t);

	if (t->fetch != f->fetch) {
		f->fetch = t->fetch;
		f->dispatched = growth_before(&f->slots, t->fetch);
		f->left = growth_before(&f->retired, t->fetch);
	}
	if (dispatch != f->slots.newest)
		inflight_end(f, dispatch, slots, ctx);
	growth_add(&f->slots, dispatch, t->slots);
	growth_add(&f->retired, leave, 1);
	if (!(t->flags & TIMED_COUNTED))
		return;
	retired(ctx, t->insn, growth_before_newest(&f->retired) - f->left);
	if (__builtin_expect(leave == dispatch, 0)) {
		slots(ctx, t->insn, growth_before_newest(&f->slots) - f->dispatched);
		return;
	}
	if (__builtin_expect(f->last - f->first == f->room, 0))
		inflight_grow(f);
	f->path[f->last++ & (f->room - 1)] = (struct flight_path){ leave, f->dispatched, t->insn };
}

/* The stream has ended. */
static inline void inflight_finish(struct inflight *f, inflight_done *slots, void *ctx)
{
	inflight_end(f, UINT64_MAX, slots, ctx);
}

#endif
