/*
 * The methods of a run and, for each guest thread, the core that models it and the methods' lanes.
 *
 *   steps of a thread ──► what its core foresees ──► pipe ──► its core's time ──► relay ──► every method, on the
 *   thread's lane
 *                the caller's thread                another thread             another thread, or the same (relay.h)
 */
#ifndef CYCLEWISE_RUN_LANES_H
#define CYCLEWISE_RUN_LANES_H

#include "core/core.h"
#include "method/method.h"
#include "run/kanata.h"
#include "run/replay_log.h"
#include "source/source.h"

struct lanes;

/* With the methods of `set`. What `run` points to must outlive the lanes. 0 or -errno. */
int  lanes_new(struct lanes **out, const struct core_ops *model, struct code *code, const struct run *run,
               enum method_set set);
void lanes_free(struct lanes *l);

/* Batches are kept in `s`, too, from now on; it must outlive the lanes. The model must foresee. */
void lanes_keep(struct lanes *l, struct replay_log *s);
/* Records of stages go to `k`, too, from now on; it must outlive the lanes. */
void lanes_log(struct lanes *l, struct kanata *k);
/*
 * Takes a batch to be timed on its thread's core, and copies what it needs of it. 0, or -errno where a new thread's
 * core cannot be made, or the batch cannot be kept.
 */
int  lanes_batch(struct lanes *l, const struct step_batch *b);
/* What the program reads of the counters of `thread`: as of the last step given of it. Waits until that is timed. */
void lanes_read(struct lanes *l, uint32_t thread, struct counters *out);
/* The streams of threads that have not ended do so here (a run that was cut short). */
void lanes_finish(struct lanes *l);
/* Saves what all methods hold, between profile_begin() and profile_commit(). 0 or -errno. */
int  lanes_save(struct lanes *l, struct profile *p);

#endif
