/*
 * The critical path of a run by its last-arriving constraints: what determined when the last instruction committed, and
 * so back to the beginning.
 *
 * From each event (offered, dispatched, completed, committed) one goes to the event that lifted its last constraint:
 * the operand that came last, the holder of the entry that was waited for, the branch that was mispredicted, the older
 * instruction in order. A timed record names them: dispatch_by, issue_by, why. An instruction is on the path where its
 * execution is, or its being fetched.
 *
 * The path is walked backwards over a window of records at a time; of each walk, the youngest part is left to the next,
 * which knows what came after it.
 *
 * Not a method of every profile: `cyclewise causality` runs it, and advice is made of it (chains.c).
 * Ref: Fields et al., Focusing processor policies via critical-path prediction (ISCA 2001); Gus §3 (causality).
 */
#ifndef CYCLEWISE_METHOD_CRITICAL_H
#define CYCLEWISE_METHOD_CRITICAL_H

#include <stddef.h>
#include <stdint.h>

#include "record/timed.h"

/* What an instruction on the path was bound by. */
enum bound {
	BOUND_LATENCY, /* an operand came last */
	BOUND_PORT,
	BOUND_UNIT,
	BOUND_MEMORY_ORDER,
	BOUND_MISSES,
	BOUND_FENCE,
	/*
	 * It was offered late: throughput, of the decoders in place of the uop cache, behind a taken branch; its code
	 * was not there; a misprediction.
	 */
	BOUND_FRONTEND,
	BOUND_DECODE,
	BOUND_TAKEN,
	BOUND_CODE,
	BOUND_BRANCH,
	BOUND_RENAME,
	BOUND_ROB,
	BOUND_SCHEDULER,
	BOUND_LOAD_QUEUE,
	BOUND_STORE_QUEUE,
	BOUND_REGISTERS,
	BOUND_BRANCHES,
	BOUND_SERIAL,
	NR_BOUNDS,
};
const char *bound_name(enum bound b);

struct critical_row {
	uint64_t count;                /* executions on the path */
	uint64_t bound[NR_BOUNDS];
	uint64_t carried;              /* of those: in a chain of operands that led from one execution of it to
	                                * another */
};

struct critical;

struct critical *critical_new(void);
void critical_free(struct critical *c);
void critical_batch(struct critical *c, const struct timed *t, size_t n);
/* The stream has ended. */
void critical_finish(struct critical *c);

/* NULL: never on it. Valid until the next call. */
const struct critical_row *critical_row(const struct critical *c, uint32_t insn);
uint64_t critical_total(const struct critical *c);

#endif
