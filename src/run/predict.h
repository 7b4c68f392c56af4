/*
 * What a run would have taken if: the cycles of a run that was kept (replay_log.h), timed once more on the detailed
 * core as it was, and on cores of which something is supposed (core/suppose.h). Each of them times every step again
 * with all its consequences: a miss that goes may show another behind it, and save nothing. What is foreseen of the run
 * is not found out again.
 *
 * All are fed by one reading of the replay log, side by side in threads; nothing in the figures depends on these.
 */
#ifndef CYCLEWISE_RUN_PREDICT_H
#define CYCLEWISE_RUN_PREDICT_H

#include "run/drive.h"
#include "run/replay_log.h"

/* Events that one static instruction never meets. */
struct never {
	uint32_t insn;                 /* its index in the table of static instructions */
	uint16_t events;               /* enum psv */
};

/*
 * What is supposed: events never met, a load prefetched, another core, or several of them. Nothing: the run as
 * it was.
 */
struct supposition {
	const struct never *never;     /* [nr], in any order */
	size_t nr;
	uint32_t prefetch;             /* static instruction, a load: asked for `distance` of its executions ahead;
	                                * CODE_NONE: none */
	uint32_t distance;             /* at least 1 */
	const struct core_desc *desc;  /* that foresees as the run's does: only what times it differs; NULL: the
	                                * run's */
};

/*
 * cycles[i]: where s[i] is supposed. Cycles are those of counted instructions, each from the
 * commit before it to its own, summed over the guest's threads, as everywhere. `run` is that of the first pass; its
 * model must be one that can suppose (core.h), -ENOTSUP without a message otherwise. 0 or -errno.
 */
int predict(uint64_t *cycles, const struct driven_run *run, const struct replay_log *replay_log,
            const struct supposition *s, unsigned nr);

#endif
