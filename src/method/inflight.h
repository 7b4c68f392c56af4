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
	uint64_t first, last, room;
	uint64_t slots;                /* dispatched by all */
	uint64_t done;                 /* first whose flight is not summed up */
	uint64_t at_fetch, at_end;     /* first that dispatched not before the fetch of the last, and the end of `done` */
	uint64_t left_fetch, left_end; /* the same of retirement */
};

typedef void inflight_done(void *ctx, uint32_t insn, uint64_t slots, uint64_t retired);

void inflight_init(struct inflight *f);
void inflight_fini(struct inflight *f);
/* A committed instruction's first record; `done` is called for counted ones whose flight is known by now. */
void inflight_push(struct inflight *f, const struct timed *t, inflight_done *done, void *ctx);
/* The stream has ended. */
void inflight_finish(struct inflight *f, inflight_done *done, void *ctx);

#endif
