/*
 * One instruction's times as a timed record: what is in ticks becomes cycles. Part of time.c, which alone includes it.
 *
 * There is a record for each instruction, and no attempt that fails but a faulting one. A rep string is one record, whatever
 * it moves.
 */
#ifndef CYCLEWISE_CORE_GUS_RECORD_H
#define CYCLEWISE_CORE_GUS_RECORD_H

#include "core/gus/state.h"
#include "record/step.h"
#include "record/timed.h"

/* When an instruction passed, in ticks. */
struct passage {
	uint64_t avail, dispatch, ready, issue, complete, leave, drain; /* issue: UINT64_MAX: it has no uops; drain: 0: no store */
	uint64_t front_stall, translation_stall; /* of the instruction cache and its TLB */
	uint64_t dispatch_by, issue_by; /* number of the instruction that was waited for; 0: none */
	uint16_t reason_dispatch, reason_issue; /* enum reason */
	uint16_t psv;
	uint8_t level, code_level;     /* enum level */
	bool mispredicted;             /* and it cost something */
};

/* What held up dispatch, and issue, as a record puts it: by enum reason. */
static const uint8_t dispatch_waits[NR_REASONS] = {
	[RESOURCE_FRONTEND] = WAIT_WIDTH, [REASON_ROB] = WAIT_ROB, [REASON_SCHEDULER] = WAIT_SCHEDULER,
	[REASON_LOAD_QUEUE] = WAIT_LOAD_QUEUE, [REASON_STORE_QUEUE] = WAIT_STORE_QUEUE, [REASON_SERIAL] = WAIT_SERIAL,
};

static const uint8_t issue_waits[NR_REASONS] = {
	[0 ... RESOURCE_UNITS - 1] = WAIT_PORT, [RESOURCE_UNITS ... RESOURCE_PORTS - 1] = WAIT_UNIT,
	[RESOURCE_PORTS ... NR_RESOURCES - 1] = WAIT_PORT, [REASON_NONE] = WAIT_ISSUE_NONE,
	[REASON_LATENCY] = WAIT_OPERAND, [REASON_LOAD] = WAIT_OPERAND, [REASON_ROB ... REASON_STORE_QUEUE] = WAIT_PORT,
	[REASON_MISSES] = WAIT_MSHR, [REASON_BRANCH ... REASON_CODE] = WAIT_PORT, [REASON_SERIAL] = WAIT_FENCE,
};

static const uint8_t code_levels[LEVEL_MEMORY + 1] = {
	[LEVEL_L2] = ILEVEL_L2, [LEVEL_LLC] = ILEVEL_LLC, [LEVEL_MEMORY] = ILEVEL_MEMORY,
};

/* In the cycle that ends at `t` or in which `t` is: of what takes time up to then. */
static inline uint64_t in_ending(uint64_t t)
{
	return t - (t != 0);
}

static uint16_t saturate(uint64_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

/* How far back; 0: nobody, whose number is 0 and so too far from NUMBERED on, or too far. */
static inline uint16_t back(uint64_t record, uint64_t by)
{
	uint64_t n = record - by;
	return (uint16_t)(n <= UINT16_MAX ? n : 0);
}

/*
 * Ticks behind fetch in whole cycles, NEAR at most: the quotient of a number below 2^31 by the odd part of ABSTRACT_TICKS,
 * exact since 2^47 / 45045 is rounded up by less than 2^-16 of itself (Granlund and Montgomery, PLDI 1994, theorem 4.2).
 */
#define NEAR (UINT64_C(1) << 37)
static inline uint32_t near_cycles(uint64_t t)
{
	const uint64_t odd = ABSTRACT_TICKS >> 6;

	_Static_assert((ABSTRACT_TICKS & 63) == 0 && (ABSTRACT_TICKS >> 6) < (1 << 16), "the quotient is exact");
	return (uint32_t)((t >> 6) * ((UINT64_C(1) << 47) / odd + 1) >> 47);
}

/* Ticks in the cycles that a record gives. */
struct stages { uint64_t dispatch, ready, issue, complete, leave, drain; };

/* `slot`: ticks of one at rename; `slots`: of the instruction. */
static inline struct stages stages_of(const struct passage *w, uint64_t slot, unsigned slots)
{
	uint64_t dispatch = in_ending(w->dispatch - (slots ? slots - 1 : 0) * slot), leave = in_ending(w->leave);

	return (struct stages){ dispatch, w->ready, w->issue == UINT64_MAX ? dispatch : w->issue, w->complete, leave,
	                        w->drain ? w->drain - 1 : leave };
}

static uint32_t squeezed(uint64_t t, uint64_t fetch)
{
	uint64_t cycle = cycle_of(t), after = cycle < fetch ? 0 : cycle - fetch;
	return after < TIMED_NEVER - 1 ? (uint32_t)after : TIMED_NEVER - 1;
}

/* Any stages: before fetch they count as it, and too far behind it as what a record can hold. Made of numbers, so that nobody else keeps them in memory. */
static __attribute__((noinline, cold)) void squeeze(struct timed *t, uint64_t avail, uint64_t dispatch, uint64_t ready, uint64_t issue,
                                                    uint64_t complete, uint64_t leave, uint64_t drain, uint64_t fetch)
{
	t->avail = squeezed(avail, fetch);
	t->dispatch = squeezed(dispatch, fetch);
	t->ready = squeezed(ready, fetch);
	t->issue = squeezed(issue, fetch);
	t->complete = squeezed(complete, fetch);
	t->leave = squeezed(leave, fetch);
	t->drain = squeezed(drain, fetch);
}

/* The code of the instruction was late: returns the cycle of its fetch, and puts the cycles of that into the record. */
static __attribute__((noinline, cold)) uint64_t late_code(uint64_t front_stall, uint64_t translation_stall, uint64_t front, uint64_t avail,
                                                          uint64_t youngest, struct timed *t)
{
	uint64_t stall = cycle_of(front_stall), translation = cycle_of(translation_stall), before = front + stall + translation;
	uint64_t fetch = avail > before ? avail - before : 0;

	if (fetch < youngest)
		fetch = youngest;
	if (stall + translation > avail - fetch) {
		stall = stall > translation ? avail - fetch - (translation < avail - fetch ? translation : avail - fetch) : 0;
		translation = avail - fetch - stall;
	}
	t->icache_stall = saturate(stall);
	t->itlb_stall = saturate(translation);
	return fetch;
}

/* What is fetched anew behind it. */
static __attribute__((noinline)) void flushes(unsigned timed, unsigned flags, bool mispredicted, struct timed *t)
{
	if (mispredicted) {
		t->flags |= TIMED_MISPREDICT | TIMED_FLUSHER;
		t->psv |= PSV_FL_MB;
	}
	if (flags & OUTCOME_FAULT)
		t->flags |= TIMED_SQUASHED | TIMED_FLUSHER;
	if (timed & TIMED_FLUSHER || flags & OUTCOME_FAULT)
		t->psv |= PSV_FL_EX;
}

/* Flags of the outcome that are the record's. */
enum { SAME_FLAGS = OUTCOME_BLOCK | OUTCOME_COUNTED };
_Static_assert((unsigned)OUTCOME_BLOCK == TIMED_PACKET_FIRST && (unsigned)OUTCOME_COUNTED == TIMED_COUNTED, "they are the same bits");

/* The record *t of step *s from its passage; mode and path are constant, and with them what nobody asks for, and what such instructions never do. */
INLINE void record(const struct chrono *v, struct flow *f, const enum chrono_mode mode, const enum recipe_path path, const struct recipe *p,
                   unsigned slots, unsigned flags, const struct step *s, const struct passage *w, struct timed *restrict t)
{
	const uint64_t slot = v->inverse[RESOURCE_FRONTEND];
	const bool brief = mode == CHRONO_BRIEF, briefest = brief && path_is_simple(path); /* it never flushes */
	const struct stages at = stages_of(w, slot, slots);
	uint64_t avail = cycle_of(w->avail), fetch = avail > v->front ? avail - v->front : 0;

	t->icache_stall = t->itlb_stall = 0;
	if (__builtin_expect((w->front_stall | w->translation_stall) != 0, 0))
		fetch = late_code(w->front_stall, w->translation_stall, v->front, avail, f->fetch, t);
	else if (fetch < f->fetch)
		fetch = f->fetch;
	const uint64_t from = fetch * ABSTRACT_TICKS;
	const struct stages after = {
		at.dispatch - from, !brief && at.ready > from ? at.ready - from : 0, brief ? 0 : at.issue - from,
		briefest ? 0 : at.complete - from, at.leave - from, at.drain - from,
	};

	if (__builtin_expect(((avail - fetch) | after.dispatch | after.ready | after.issue | after.complete | after.leave | after.drain) < NEAR, 1)) {
		t->avail = (uint32_t)(avail - fetch);
		t->dispatch = near_cycles(after.dispatch);
		t->ready = near_cycles(after.ready);
		t->issue = near_cycles(after.issue);
		t->complete = near_cycles(after.complete);
		t->leave = near_cycles(after.leave);
		t->drain = near_cycles(after.drain);
	} else {
		squeeze(t, w->avail, at.dispatch, at.ready, at.issue, at.complete, at.leave, at.drain, fetch);
	}
	t->fetch = f->fetch = fetch;
	t->addr = brief ? 0 : s->addr;
	t->insn = p->insn;
	t->psv = (uint16_t)(w->psv | (!path_is_simple(path) && w->reason_dispatch == REASON_STORE_QUEUE ? PSV_DR_SQ : 0));
	t->flags = (uint16_t)(p->timed | (flags & SAME_FLAGS) |
	                      (!path_is_simple(path) && (brief ? flags & OUTCOME_TAKEN : s->flags & STEP_TAKEN) ? TIMED_TAKEN : 0u) |
	                      (path == PATH_ANY && flags & OUTCOME_ENTER ? TIMED_ENTER : 0u));
	t->dispatch_by = brief ? 0 : back(f->record, w->dispatch_by);
	t->issue_by = brief ? 0 : back(f->record, w->issue_by);
	t->slots = (uint8_t)slots;
	t->uops = p->uops;
	t->why = briefest ? 0 : (uint8_t)(dispatch_waits[w->reason_dispatch] | issue_waits[w->reason_issue] << 4);
	t->level = timed_level((enum level)w->level, (enum ilevel)code_levels[w->code_level], 0);
	if (__builtin_expect(w->mispredicted || (path == PATH_ANY && (p->timed & TIMED_FLUSHER || flags & OUTCOME_FAULT)), 0))
		flushes(p->timed, flags, w->mispredicted, t);
}

#endif
