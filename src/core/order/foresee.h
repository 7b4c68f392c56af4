/*
 * What is known of instructions before they are timed: how their branches are predicted, and the code that is fetched
 * where they are predicted wrongly. Prediction needs no cycles, so that it may run in a thread of its own, ahead of
 * the one that models time.
 *
 * The wrong path is read from the real code by a copy of the predictor's speculative state, up to the most that a core
 * can hold; how much of it is fetched before the squash is for the core to find out (core/ooo/wrongpath.c). The
 * addresses of its loads and stores come from converge.c. branch.wrong_path says how much of this is done.
 */
#ifndef CYCLEWISE_CORE_ORDER_FORESEE_H
#define CYCLEWISE_CORE_ORDER_FORESEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "core/order/converge.h"
#include "core/predict/branch.h"
#include "isa/code.h"
#include "record/step.h"

enum { WRONG_MAX = 512 };              /* instructions of one wrong path */

/* Straight code on a wrong path: entries of the code table one behind the other. */
struct wrong_run {
	struct prediction end;         /* of its last instruction, where that is a branch predicted taken */
	uint32_t first;                /* index of the static instruction */
	uint32_t nr;                   /* at least 1 */
};

/* Of one instruction: a branch; or one that raises an exception or flushes the pipeline, where only the runs count. */
struct forecast {
	struct prediction predicted;
	uint32_t nr_runs;              /* of the wrong path behind it; 0: none, or nothing is known there */
	uint32_t nr_accesses;          /* on that path */
};

/*
 * Of a batch of steps: a forecast for each instruction that foresee_wanted(), in order, and all their runs and
 * accesses.
 */
struct forecasts {
	struct forecast *forecast;
	struct wrong_run *run;
	struct wrong_access *access;
	size_t nr, nr_runs, nr_accesses;
};

/*
 * What is foreseen (core/core.h), as the model that foresees by this file has it: valid until the next batch is
 * foreseen there.
 */
struct forecasts forecasts_of(const struct foreseen *f);

/* Whether the instruction of step `s` has a forecast. */
static inline bool foresee_wanted(const struct insn *in, const struct step *s)
{
	return in->flags & (INSN_BRANCH | INSN_FLUSH) || s->flags & STEP_FAULT;
}

/* A branch that went where `next` is, NULL where that is not known: what was predicted of it. Predictors learn it. */
static inline void foresee_branch(struct branch_unit *u, const struct insn *in, bool taken, const struct insn *next,
                                  struct prediction *p)
{
	branch_resolve(u, in, taken, next ? next->pc : taken && in->target ? in->target : in->pc + in->length, p);
	if (!next && !in->target)
		p->mispredicted = false; /* it did not get to where it went */
}

struct foresight; /* the predictor of one hardware thread, and its copy for wrong paths */

/* 0, -ENOMEM, or -EINVAL as branch_new(). `desc` is copied; `code` outlives the foresight. */
int  foresight_new(struct foresight **out, const struct core_desc *desc, struct code *code);
void foresight_free(struct foresight *f);
/* Whether two cores foresee the same, wherever both can hold as much of a wrong path. */
bool foresight_same(const struct core_desc *a, const struct core_desc *b);
/* Replaces what `out` holds by the forecasts of s[0..n); s[n..n+ahead) follow. */
void foresight_batch(struct foresight *f, const struct step *s, size_t n, size_t ahead, struct foreseen *out);
/* Brings predictors, and what is known of addresses, up to date with these steps. */
void foresight_warm(struct foresight *f, const struct step *s, size_t n, size_t ahead);

#endif
