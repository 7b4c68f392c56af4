/*
 * One instruction's times as a timed record: what is in ticks becomes cycles. There is a record for each instruction,
 * and no attempt that fails but a faulting one. A rep string is one record, whatever it moves.
 */
#include "core/gus/record.h"

#include "core/cycle.h"

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
 * The cycle that `t` is in, from `fetch` on: before that it counts as it, and too far behind it as what a record can
 * hold.
 */
static inline uint32_t since(uint64_t t, uint64_t fetch)
{
	uint64_t cycle = cycle_of(t), after = cycle < fetch ? 0 : cycle - fetch;
	return __builtin_expect(after < TIMED_NEVER - 1, 1) ? (uint32_t)after : TIMED_NEVER - 1;
}

/* The code of the instruction was late: returns the cycle of its fetch, and puts the cycles of that into the record. */
static uint64_t late_code(const struct passage *w, uint64_t front, uint64_t avail, uint64_t youngest, struct timed *t)
{
	uint64_t stall = cycle_of(w->front_stall), translation = cycle_of(w->translation_stall);
	const uint64_t before = front + stall + translation;
	const uint64_t fetch = later(avail > before ? avail - before : 0, youngest), most = avail - fetch;

	if (stall + translation > most) {
		stall = stall > translation ? most - (translation < most ? translation : most) : 0;
		translation = most - stall;
	}
	t->icache_stall = saturate(stall);
	t->itlb_stall = saturate(translation);
	return fetch;
}

/* What is fetched anew behind it. */
static void flushes(unsigned flags, bool mispredicted, struct timed *t)
{
	if (t->flags & TIMED_FLUSHER || flags & OUTCOME_FAULT)
		t->psv |= PSV_FL_EX;
	if (mispredicted) {
		t->flags |= TIMED_MISPREDICT | TIMED_FLUSHER;
		t->psv |= PSV_FL_MB;
	}
	if (flags & OUTCOME_FAULT)
		t->flags |= TIMED_SQUASHED | TIMED_FLUSHER;
}

/* Flags of the outcome that are the record's. */
enum { SAME_FLAGS = OUTCOME_BLOCK | OUTCOME_COUNTED };
_Static_assert((unsigned)OUTCOME_BLOCK == TIMED_PACKET_FIRST && (unsigned)OUTCOME_COUNTED == TIMED_COUNTED,
               "they are the same bits");

void record(struct chrono *v, const struct recipe *p, unsigned slots, unsigned flags, const struct step *s,
            const struct passage *w, struct timed *restrict t)
{
	const uint64_t slot = v->inverse[RESOURCE_FRONTEND], avail = cycle_of(w->avail), leave = in_ending(w->leave);
	const uint64_t dispatch = in_ending(w->dispatch - (slots ? slots - 1 : 0) * slot);
	const bool taken = s ? s->flags & STEP_TAKEN : flags & OUTCOME_TAKEN;
	struct flow *f = &v->flow;
	uint64_t fetch;

	t->icache_stall = t->itlb_stall = 0;
	if (__builtin_expect((w->front_stall | w->translation_stall) != 0, 0))
		fetch = late_code(w, v->front, avail, f->fetch, t);
	else
		fetch = later(avail > v->front ? avail - v->front : 0, f->fetch);
	t->avail = since(w->avail, fetch);
	t->dispatch = since(dispatch, fetch);
	t->ready = since(w->ready, fetch);
	t->issue = since(w->issue == UINT64_MAX ? dispatch : w->issue, fetch);
	t->complete = since(w->complete, fetch);
	t->leave = since(leave, fetch);
	t->drain = since(w->drain ? w->drain - 1 : leave, fetch);
	t->fetch = f->fetch = fetch;
	t->addr = s ? s->addr : 0;
	t->insn = p->insn;
	t->psv = (uint16_t)(w->psv | (w->reason_dispatch == REASON_STORE_QUEUE ? PSV_DR_SQ : 0));
	t->flags = (uint16_t)(p->timed | (flags & SAME_FLAGS) | (taken ? TIMED_TAKEN : 0u) |
	                      (flags & OUTCOME_ENTER ? TIMED_ENTER : 0u));
	t->dispatch_by = back(f->record, w->dispatch_by);
	t->issue_by = back(f->record, w->issue_by);
	t->slots = (uint8_t)slots;
	t->uops = p->uops;
	t->why = (uint8_t)(dispatch_waits[w->reason_dispatch] | issue_waits[w->reason_issue] << 4);
	t->level = timed_level((enum level)w->level, (enum ilevel)code_levels[w->code_level], 0);
	if (__builtin_expect(w->mispredicted || p->timed & TIMED_FLUSHER || flags & OUTCOME_FAULT, 0))
		flushes(flags, w->mispredicted, t);
}
