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

enum { CHUNK = 256 };                  /* instructions at a time, so that what is between stays in the cache */

/* What goes on from record to record: apart, so that it stays in registers. */
struct pace {
	uint64_t record;               /* number of the next, from 1 on */
	uint64_t fetch;                /* of the youngest */
};

struct abstract {
	struct timed_sink sink;
	struct recipes recipes;
	struct outcomes *outcomes;
	struct chrono *chrono;
	struct abstract_costs costs;
	struct foreseen foreseen;      /* of a batch that is not parted */
	struct passage passage[CHUNK];
	struct timed out[CHUNK];
	struct pace pace;
	uint64_t front;                /* cycles from fetch to offered */
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

/* The cycle that ends at `t` or in which `t` is: of what takes time up to then. */
static inline uint64_t cycle_ending(uint64_t t)
{
	return (t - (t != 0)) / ABSTRACT_TICKS;
}

static inline uint64_t cycle_at(uint64_t t)
{
	return t / ABSTRACT_TICKS;
}

static uint16_t saturate(uint64_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

static inline uint16_t back(uint64_t record, uint64_t by)
{
	return by && record - by - 1 < UINT16_MAX ? (uint16_t)(record - by) : 0;
}

/* Stages that are before fetch, or too far behind it for a record. */
static __attribute__((noinline, cold)) void squeeze(uint64_t stage[7])
{
	for (unsigned i = 0; i < 7; i++) {
		if ((int64_t)stage[i] < 0)
			stage[i] = 0;
		if (stage[i] > TIMED_NEVER - 1)
			stage[i] = TIMED_NEVER - 1;
	}
}

/* The code of the instruction was late: returns the cycle of its fetch, and puts the cycles of that into the record. */
static __attribute__((noinline, cold)) uint64_t late_code(const struct passage *w, uint64_t front, uint64_t avail, uint64_t youngest, struct timed *t)
{
	uint64_t stall = cycle_at(w->front_stall), translation = cycle_at(w->translation_stall), before = front + stall + translation;
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
static __attribute__((noinline)) void flushes(const struct step *s, const struct recipe *p, const struct passage *w, struct timed *t)
{
	enum flush flush = FLUSH_NONE;

	if (w->mispredicted) {
		t->flags |= TIMED_MISPREDICT | TIMED_FLUSHER;
		t->psv |= PSV_FL_MB;
		flush = FLUSH_BRANCH;
	}
	if (s->flags & STEP_FAULT)
		t->flags |= TIMED_SQUASHED | TIMED_FLUSHER;
	if (p->timed & TIMED_FLUSHER || s->flags & STEP_FAULT) {
		t->psv |= PSV_FL_EX;
		flush = FLUSH_EXCEPTION;
	}
	t->level = timed_level(timed_data_level(t), timed_code_level(t), flush);
}

/* One record from a passage: what is in ticks becomes cycles. `front`: cycles from fetch to offered; `slot`: ticks of one at rename. */
static inline void record(struct pace *pace, uint64_t front, uint64_t slot, struct timed *restrict t, const struct step *restrict s,
                          const struct recipe *restrict p, uint64_t head, const struct passage *restrict w)
{
	uint64_t avail = cycle_at(w->avail), ready = cycle_at(w->ready), leave = cycle_ending(w->leave);
	uint64_t dispatch = cycle_ending(w->dispatch - (p->slots ? p->slots - 1u : 0u) * slot);
	uint64_t issue = w->issue == UINT64_MAX ? dispatch : cycle_at(w->issue), drain = w->drain ? cycle_ending(w->drain) : leave;
	uint64_t fetch = avail > front ? avail - front : 0;

	t->icache_stall = t->itlb_stall = 0;
	if (__builtin_expect((w->front_stall | w->translation_stall) != 0, 0))
		fetch = late_code(w, front, avail, pace->fetch, t);
	else if (fetch < pace->fetch)
		fetch = pace->fetch;
	uint64_t stage[7] = {
		avail - fetch, dispatch - fetch, ready > fetch ? ready - fetch : 0, issue - fetch, cycle_at(w->complete) - fetch,
		leave - fetch, drain - fetch,
	};
	if (__builtin_expect((stage[0] | stage[1] | stage[2] | stage[3] | stage[4] | stage[5] | stage[6]) >= TIMED_NEVER - 1, 0))
		squeeze(stage);
	t->fetch = fetch;
	t->addr = s->addr;
	t->insn = s->insn;
	t->avail = (uint32_t)stage[0];
	t->dispatch = (uint32_t)stage[1];
	t->ready = (uint32_t)stage[2];
	t->issue = (uint32_t)stage[3];
	t->complete = (uint32_t)stage[4];
	t->leave = (uint32_t)stage[5];
	t->drain = (uint32_t)stage[6];
	t->psv = (uint16_t)(w->psv | (w->reason_dispatch == REASON_STORE_QUEUE ? PSV_DR_SQ : 0));
	t->flags = (uint16_t)(p->timed | (outcome_flags(head) & OUTCOME_BLOCK ? TIMED_PACKET_FIRST : 0u) | (s->flags & STEP_TAKEN ? TIMED_TAKEN : 0u) |
	                      (s->flags & STEP_COUNTED ? TIMED_COUNTED : 0u) | (s->flags & STEP_ENTER ? TIMED_ENTER : 0u));
	t->dispatch_by = back(pace->record, w->dispatch_by);
	t->issue_by = back(pace->record, w->issue_by);
	t->slots = p->slots;
	t->uops = p->uops;
	t->why = (uint8_t)(dispatch_waits[w->reason_dispatch] | issue_waits[w->reason_issue] << 4);
	t->level = timed_level((enum level)w->level, (enum ilevel)code_levels[w->code_level], FLUSH_NONE);
	if (__builtin_expect(w->mispredicted || p->timed & TIMED_FLUSHER || s->flags & STEP_FAULT, 0))
		flushes(s, p, w, t);
	pace->fetch = fetch;
	pace->record++;
}

static void abstract_foresee(struct core *core, const struct step *s, size_t n, size_t ahead, struct foreseen *out)
{
	struct abstract *a = (struct abstract *)core;

	out->met.nr = 0;
	outcomes_batch(a->outcomes, s, n, ahead, &out->met);
}

static void abstract_batch_foreseen(struct core *core, const struct step *s, size_t n, size_t ahead, const struct foreseen *f)
{
	struct abstract *a = (struct abstract *)core;
	const uint64_t *word = f->met.word, *end = word + f->met.nr, slot = a->costs.inverse[RESOURCE_FRONTEND];
	const struct recipe *recipe = a->recipes.recipe;
	struct pace pace = a->pace;

	while (word < end) {
		const uint64_t *head = word;
		size_t nr = chrono_passages(a->chrono, &word, end, a->passage, CHUNK);

		struct timed *t = a->out, *last = t + nr;
		for (const struct passage *w = a->passage; t < last; s++) {
			if (step_kind(s) != STEP_INSN)
				continue;
			record(&pace, a->front, slot, t++, s, &recipe[outcome_recipe(*head)], *head, w++);
			head += 1 + outcome_words(*head);
		}
		a->sink.take(a->sink.ctx, a->out, nr);
	}
	a->pace = pace;
}

static void abstract_batch(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct abstract *a = (struct abstract *)core;

	abstract_foresee(core, s, n, ahead, &a->foreseen);
	abstract_batch_foreseen(core, s, n, ahead, &a->foreseen);
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
	foreseen_fini(&a->foreseen);
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
	a->pace.record = 1;
	abstract_costs_init(&a->costs, desc);
	a->front = cycle_at(a->costs.front);
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
	.foresee = abstract_foresee,
	.batch_foreseen = abstract_batch_foreseen,
	.finish = abstract_finish,
	.close = abstract_close,
};
