/*
 * What goes on while each instruction is in flight, exactly: for every committed instruction, how many slots other
 * (and its own) committed uops took at dispatch, and how many instructions retired, in the cycles from its fetch up to, not
 * with, that of its retirement.
 *
 * Both are differences of running sums, since fetch, dispatch and retirement of what commits are in order: pointers
 * into the queue of those in flight find the sums, each moving only forward.
 */
#ifndef CYCLEWISE_METHOD_INFLIGHT_H
#define CYCLEWISE_METHOD_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/timed.h"

/* One that committed, and what was summed up before it. */
struct flight_path {
	uint64_t fetch, dispatch, leave;
	uint64_t slots_before;         /* dispatched by older ones */
	uint64_t dispatched, retired;  /* slots and instructions before its fetch */
	uint32_t insn;
	bool counted;
};

/* Indices are free-running: of an instruction among all that committed. */
struct inflight {
	struct flight_path *path;      /* [room], ring: [first .. last) */
	uint64_t first, last, room;    /* first: as of the last growth; nobody needs those before it */
	uint64_t slots;                /* dispatched by all */
	uint64_t done;                 /* first whose flight is not summed up */
	uint64_t at_fetch, at_end;     /* first that dispatched not before the fetch of the last, and the end of `done` */
	uint64_t left_fetch, left_end; /* the same of retirement */
};

/* Called for counted ones; a constant where inflight_push() is called, so that it is inlined there. */
typedef void inflight_done(void *ctx, uint32_t insn, uint64_t slots, uint64_t retired);

void inflight_init(struct inflight *f);
void inflight_fini(struct inflight *f);
/* Makes room for more. */
void inflight_grow(struct inflight *f);

/* Sums up the flights that ended before anything younger could dispatch; all of them where nothing younger comes. */
static inline void inflight_sum(struct inflight *f, bool all, inflight_done *done, void *ctx)
{
	const struct flight_path *path = f->path;
	const uint64_t mask = f->room - 1, last = f->last;
	uint64_t at_end = f->at_end, left_end = f->left_end, i = f->done;

	for (; i < last; i++) {
		const struct flight_path *p = &path[i & mask];

		while (at_end < last && path[at_end & mask].dispatch < p->leave)
			at_end++;
		if (at_end == last && !all)
			break;
		while (path[left_end & mask].leave < p->leave)
			left_end++;
		uint64_t slots = at_end < last ? path[at_end & mask].slots_before : f->slots;
		if (p->counted)
			done(ctx, p->insn, slots - p->dispatched, left_end - p->retired);
	}
	f->done = i;
	f->at_end = at_end;
	f->left_end = left_end;
}

/* A committed instruction's first record; `done` is called for those whose flight is known by now. */
static inline void inflight_push(struct inflight *f, const struct timed *t, inflight_done *done, void *ctx)
{
	if (__builtin_expect(f->last - f->first == f->room, 0))
		inflight_grow(f);
	struct flight_path *path = f->path;
	const uint64_t mask = f->room - 1, fetch = t->fetch;
	struct flight_path *p = &path[f->last++ & mask];
	uint64_t at_fetch = f->at_fetch, left_fetch = f->left_fetch;
	*p = (struct flight_path){ .fetch = fetch, .dispatch = timed_dispatch(t), .leave = timed_leave(t),
	                           .slots_before = f->slots, .insn = t->insn, .counted = t->flags & TIMED_COUNTED };
	f->slots += t->slots;
	while (path[at_fetch & mask].dispatch < fetch)
		at_fetch++;
	while (path[left_fetch & mask].leave < fetch)
		left_fetch++;
	p->dispatched = path[at_fetch & mask].slots_before;
	p->retired = left_fetch;
	f->at_fetch = at_fetch;
	f->left_fetch = left_fetch;
	inflight_sum(f, false, done, ctx);
}

/* The stream has ended. */
static inline void inflight_finish(struct inflight *f, inflight_done *done, void *ctx)
{
	inflight_sum(f, true, done, ctx);
}

#endif
