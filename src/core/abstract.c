/*
 * The resource-centric core of the Gus paper as a timing model: steps -> outcomes -> passages -> timed records.
 *
 * It has no wrong path and no attempt that fails but a faulting one, so that there is a record for each step. A rep
 * string is one record, whatever it moves.
 * Ref: Gus (Dutilleul et al., 2024) §3.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/abstract_outcome.h"
#include "core/abstract_time.h"
#include "core/core.h"

enum { CHUNK = 1024 };                 /* steps at a time, so that what is between stays in the cache */

struct abstract {
	struct timed_sink sink;
	struct recipes recipes;
	struct outcomes *outcomes;
	struct chrono *chrono;
	struct abstract_costs costs;
	struct outcome_stream stream;
	struct passage passage[CHUNK];
	struct timed out[CHUNK];
	uint64_t record;               /* number of the next record, from 1 on */
	uint64_t fetch;                /* of the youngest */
};

/* Reasons for which dispatch waits as a record puts them. */
static enum dispatch_wait dispatch_wait(unsigned reason)
{
	switch (reason) {
	case REASON_ROB: return WAIT_ROB;
	case REASON_SCHEDULER: return WAIT_SCHEDULER;
	case REASON_LOAD_QUEUE: return WAIT_LOAD_QUEUE;
	case REASON_STORE_QUEUE: return WAIT_STORE_QUEUE;
	case REASON_SERIAL: return WAIT_SERIAL;
	case RESOURCE_FRONTEND: return WAIT_WIDTH;
	default: return WAIT_NONE;
	}
}

static enum issue_wait issue_wait(unsigned reason)
{
	switch (reason) {
	case REASON_NONE: return WAIT_ISSUE_NONE;
	case REASON_LATENCY: case REASON_LOAD: return WAIT_OPERAND;
	case REASON_MISSES: return WAIT_MSHR;
	case REASON_SERIAL: return WAIT_FENCE;
	default:
		return reason >= RESOURCE_UNITS && reason < RESOURCE_PORTS ? WAIT_UNIT : WAIT_PORT;
	}
}

/* The cycle that ends at `t` or in which `t` is: of what takes time up to then. */
static uint64_t cycle_ending(uint64_t t)
{
	return t ? (t - 1) / ABSTRACT_TICKS : 0;
}

static uint64_t cycle_at(uint64_t t)
{
	return t / ABSTRACT_TICKS;
}

static uint16_t saturate(uint64_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

static uint32_t after(uint64_t fetch, uint64_t cycle)
{
	return cycle > fetch ? cycle - fetch < TIMED_NEVER - 1 ? (uint32_t)(cycle - fetch) : TIMED_NEVER - 1 : 0;
}

static uint16_t back(uint64_t record, uint64_t by)
{
	return by && by < record && record - by <= UINT16_MAX ? (uint16_t)(record - by) : 0;
}

static enum ilevel code_level(unsigned level)
{
	return level == LEVEL_MEMORY ? ILEVEL_MEMORY : level == LEVEL_LLC ? ILEVEL_LLC : level == LEVEL_L2 ? ILEVEL_L2 : ILEVEL_L1;
}

static uint16_t flags_of(const struct recipe *p, unsigned outcome, const struct step *s, const struct passage *w)
{
	unsigned f = (p->flags & INSN_LOAD ? TIMED_LOAD : 0u) | (p->flags & INSN_STORE ? TIMED_STORE : 0u) |
	             (p->branch ? TIMED_BRANCH : 0u) | (p->flags & INSN_LONG ? TIMED_LONG : 0u) | (p->flags & INSN_MARK ? TIMED_MARK : 0u);

	f |= (p->second ? TIMED_FUSED : 0u) | (outcome & OUTCOME_BLOCK ? TIMED_PACKET_FIRST : 0u);
	f |= (s->flags & STEP_TAKEN ? TIMED_TAKEN : 0u) | (s->flags & STEP_COUNTED ? TIMED_COUNTED : 0u) | (s->flags & STEP_ENTER ? TIMED_ENTER : 0u);
	if (s->flags & STEP_FAULT)
		f |= TIMED_SQUASHED | TIMED_FLUSHER;
	if (w->mispredicted)
		f |= TIMED_MISPREDICT | TIMED_FLUSHER;
	if (p->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH))
		f |= TIMED_FLUSHER;
	return (uint16_t)f;
}

/* One record from a passage: what is in ticks becomes cycles. */
static void record(struct abstract *a, struct timed *t, const struct step *s, uint64_t head, const struct passage *w)
{
	const struct recipe *p = &a->recipes.recipe[outcome_recipe(head)];
	unsigned outcome = outcome_flags(head), serial = p->flags & (INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_SYSCALL | INSN_FLUSH);
	uint64_t avail = cycle_at(w->avail), front = cycle_at(a->costs.front);
	uint64_t stall = cycle_at(w->front_stall), translation = cycle_at(w->translation_stall);
	uint64_t slots_before = (p->slots ? p->slots - 1u : 0u) * a->costs.inverse[RESOURCE_FRONTEND];
	uint64_t fetch = avail > front + stall + translation ? avail - front - stall - translation : 0;
	enum flush flush = FLUSH_NONE;
	uint16_t psv = w->psv;

	a->fetch = fetch > a->fetch ? fetch : a->fetch;
	if (stall + translation > avail - a->fetch) {
		stall = stall > translation ? avail - a->fetch - (translation < avail - a->fetch ? translation : avail - a->fetch) : 0;
		translation = avail - a->fetch - stall;
	}
	if (w->mispredicted) {
		psv |= PSV_FL_MB;
		flush = FLUSH_BRANCH;
	}
	if (serial || s->flags & STEP_FAULT) {
		psv |= PSV_FL_EX;
		flush = FLUSH_EXCEPTION;
	}
	if (w->reason_dispatch == REASON_STORE_QUEUE)
		psv |= PSV_DR_SQ;
	uint64_t dispatch = cycle_ending(w->dispatch - slots_before), leave = cycle_ending(w->leave);
	uint64_t issue = w->issue == UINT64_MAX ? dispatch : cycle_at(w->issue);
	*t = (struct timed){
		.fetch = a->fetch, .addr = s->addr, .insn = s->insn,
		.avail = after(a->fetch, avail), .dispatch = after(a->fetch, dispatch), .ready = after(a->fetch, cycle_at(w->ready)),
		.issue = after(a->fetch, issue), .complete = after(a->fetch, cycle_at(w->complete)), .leave = after(a->fetch, leave),
		.drain = after(a->fetch, w->drain ? cycle_ending(w->drain) : leave),
		.psv = psv, .flags = flags_of(p, outcome, s, w), .icache_stall = saturate(stall), .itlb_stall = saturate(translation),
		.dispatch_by = back(a->record, w->dispatch_by), .issue_by = back(a->record, w->issue_by),
		.slots = p->slots, .uops = p->uops,
		.why = (uint8_t)(dispatch_wait(w->reason_dispatch) | issue_wait(w->reason_issue) << 4),
		.level = timed_level((enum level)w->level, code_level(w->code_level), flush),
	};
	a->record++;
}

static void chunk(struct abstract *a, const struct step *s, size_t n, size_t ahead)
{
	a->stream.nr = 0;
	size_t nr = outcomes_batch(a->outcomes, s, n, ahead, &a->stream), i = 0;
	const uint64_t *word = a->stream.word;

	chrono_batch(a->chrono, a->stream.word, a->stream.nr, a->passage);
	for (; i < nr; s++) {
		if (step_kind(s) != STEP_INSN)
			continue;
		record(a, &a->out[i], s, *word, &a->passage[i]);
		word += 1 + outcome_words(*word);
		i++;
	}
	if (nr)
		a->sink.take(a->sink.ctx, a->out, nr);
}

static void abstract_batch(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct abstract *a = (struct abstract *)core;

	for (size_t i = 0; i < n; i += CHUNK) {
		size_t m = n - i < CHUNK ? n - i : CHUNK;
		chunk(a, s + i, m, n + ahead - i - m);
	}
}

static void abstract_finish(struct core *core)
{
}

static void abstract_close(struct core *core)
{
	struct abstract *a = (struct abstract *)core;

	if (!a)
		return;
	chrono_free(a->chrono);
	outcomes_free(a->outcomes);
	outcome_stream_fini(&a->stream);
	recipes_fini(&a->recipes);
	free(a);
}

static int abstract_open(struct core **out, const struct core_desc *desc, struct code *code, struct timed_sink sink)
{
	struct abstract *a = calloc(1, sizeof *a);
	int err;

	if (!a)
		return error_errno(ENOMEM, "abstract core");
	a->sink = sink;
	a->record = 1;
	abstract_costs_init(&a->costs, desc);
	err = recipes_init(&a->recipes, desc, code);
	if (!err)
		err = outcomes_new(&a->outcomes, desc, code, &a->recipes);
	if (!err)
		err = chrono_new(&a->chrono, desc, &a->costs, &a->recipes, CHRONO_PASSAGES);
	if (err) {
		abstract_close((struct core *)a);
		return err;
	}
	*out = (struct core *)a;
	return 0;
}

const struct core_ops core_abstract = {
	.name = "abstract",
	.help = "resource-centric core: bounds of throughput and latency, fast",
	.open = abstract_open,
	.batch = abstract_batch,
	.finish = abstract_finish,
	.close = abstract_close,
};
