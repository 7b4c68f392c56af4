/* What an instruction of the abstract core passed, and the timed record that is made of it. */
#ifndef CYCLEWISE_CORE_GUS_RECORD_H
#define CYCLEWISE_CORE_GUS_RECORD_H

#include "core/gus/state.h"
#include "record/step.h"
#include "record/timed.h"

/* When an instruction passed, in ticks. */
struct passage {
	uint64_t avail, dispatch, ready, issue, complete, leave, drain; /* issue: UINT64_MAX: it has no uops; drain:
	                                                                   0: no store */
	uint64_t front_stall, translation_stall; /* of the instruction cache and its TLB */
	uint64_t dispatch_by, issue_by; /* number of the instruction that was waited for; 0: none */
	uint16_t reason_dispatch, reason_issue; /* enum reason */
	uint16_t psv;
	uint8_t level, code_level;     /* enum level */
	bool mispredicted;             /* and it cost something */
};

/* The record *t of the instruction, from its passage; `s`: its step, NULL where nobody asks for its address. */
void record(struct chrono *v, const struct recipe *p, unsigned slots, unsigned flags, const struct step *s,
            const struct passage *w, struct timed *restrict t);

#endif
