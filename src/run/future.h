/*
 * Where loads will access, some of their executions later: what a virtual prefetch needs to know. A reader of its own
 * goes through the replay log ahead of who times it, as far as it must.
 */
#ifndef CYCLEWISE_RUN_FUTURE_H
#define CYCLEWISE_RUN_FUTURE_H

#include "run/replay_log.h"

struct future;

/* Of the static instructions insn[0..nr), which are copied. 0 or -errno. */
int  future_new(struct future **out, const struct replay_log *s, const uint32_t *insn, unsigned nr);
void future_free(struct future *f);

/*
 * Looks as far ahead as batch `b` needs, which is the next one timed: until each instruction that it executes has
 * `most` more executions by the same thread, or the run ends. 0 or -errno.
 */
int  future_reach(struct future *f, const struct step_batch *b, uint32_t most);
/*
 * For each execution of instruction insn[i] in that batch, in order, the address that its thread's execution `distance`
 * (at most `most`) of them later accesses; 0: none, or there is no such execution. NULL where the batch has none. Valid
 * until the next future_reach().
 */
const uint64_t *future_of(const struct future *f, unsigned i, uint32_t distance);

#endif
