/*
 * The resource-centric core of the Gus paper as a timing model: steps -> outcomes -> timed records.
 *
 * It has no wrong path, and no attempt that fails but a faulting one. A result takes insn.latency, also where its
 * operation has not waited in front of its scheduler (insn.queued): whether it did depends on what else is in flight,
 * which this core has by the room that is left, not by who took it. Ref: Gus (Dutilleul et al., 2024) §3.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/core.h"
#include "core/gus/group.h"
#include "core/gus/outcome.h"
#include "core/gus/time.h"

enum { CHUNK = 256 };                  /* instructions at a time, so that what is between stays in the cache */

struct abstract {
	struct timed_sink sink;
	enum chrono_mode mode;
	struct recipes recipes;
	struct outcomes *outcomes;
	struct chrono *chrono;
	struct foreseen foreseen;      /* of a batch that is not parted */
	struct timed out[CHUNK];
};

static void abstract_foresee(struct core *core, const struct step *s, size_t n, size_t ahead, struct foreseen *out)
{
	struct abstract *a = (struct abstract *)core;

	struct foreseen_array *words = &out->of[0];
	struct outcome_stream met = { .word = words->item, .room = words->room / sizeof *met.word };

	outcomes_batch(a->outcomes, s, n, ahead, &met);
	*words = (struct foreseen_array){
		.item = met.word, .bytes = met.nr * sizeof *met.word, .room = met.room * sizeof *met.word,
	};
}

static void abstract_batch_foreseen(struct core *core, const struct step *s, size_t n, size_t ahead,
                                    const struct foreseen *f)
{
	struct abstract *a = (struct abstract *)core;
	const uint64_t *word = f->of[0].item, *end = word + f->of[0].bytes / sizeof *word;

	if (a->mode == CHRONO_TAINT) {
		chrono_batch(a->chrono, word, (size_t)(end - word));
		return;
	}
	while (word < end) {
		size_t most = CHUNK;
		struct timed *t = a->sink.room ? a->sink.room(a->sink.ctx, &most) : a->out;
		a->sink.take(a->sink.ctx, t, chrono_records(a->chrono, &word, end, &s, t, most));
	}
}

static void abstract_batch(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct abstract *a = (struct abstract *)core;

	abstract_foresee(core, s, n, ahead, &a->foreseen);
	abstract_batch_foreseen(core, s, n, ahead, &a->foreseen);
}

/* What needs no time is what is to be brought up to date. */
static void abstract_warm(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct abstract *a = (struct abstract *)core;
	const struct foreseen_array *words = &a->foreseen.of[0];

	abstract_foresee(core, s, n, ahead, &a->foreseen);
	chrono_warm(a->chrono, words->item, words->bytes / sizeof(uint64_t));
}

static void abstract_finish(struct core *core)
{
	struct abstract *a = (struct abstract *)core;

	if (a->mode == CHRONO_TAINT)
		chrono_finish(a->chrono);
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

static int open_mode(struct core **out, const struct core_desc *desc, struct code *code, struct timed_sink sink,
                     enum chrono_mode mode)
{
	struct abstract *a = calloc(1, sizeof *a);
	struct abstract_costs costs;
	int err;

	if (!a)
		return error_errno(ENOMEM, "abstract core");
	a->sink = sink;
	a->mode = mode;
	code->limit = code->limit < RECIPE_INSNS ? code->limit : RECIPE_INSNS;
	abstract_costs_init(&costs, desc);
	err = recipes_init(&a->recipes, desc, code);
	if (!err)
		err = outcomes_new(&a->outcomes, desc, code, &a->recipes);
	if (!err)
		err = chrono_new(&a->chrono, desc, &costs, &a->recipes, mode);
	if (err) {
		abstract_close((struct core *)a);
		return err;
	}
	*out = (struct core *)a;
	return 0;
}

static int abstract_open(struct core **out, const struct core_desc *desc, struct code *code, struct timed_sink sink)
{
	return open_mode(out, desc, code, sink, CHRONO_RECORDS);
}

/* --- causality, by taint ----------------------------------------------------------------------------- */

static int causes_open(struct core **out, const struct core_desc *desc, struct code *code)
{
	return open_mode(out, desc, code, (struct timed_sink){ .take = NULL }, CHRONO_TAINT);
}

static uint64_t causes_insn(const struct core *core, uint32_t insn,
                            void (*bound)(void *ctx, const char *name, uint64_t n), void *ctx)
{
	const struct abstract *a = (const struct abstract *)core;
	const struct causality_row *row = chrono_row(a->chrono, insn);
	char name[128];

	for (unsigned k = 0; row && k < NR_REASONS; k++)
		if (row->reason[k])
			bound(ctx, reason_name(&a->recipes, k, name), row->reason[k]);
	return row ? row->count : 0;
}

static struct causes causes_all(const struct core *core)
{
	const struct chrono *v = ((const struct abstract *)core)->chrono;

	return (struct causes){
		.critical = chrono_critical(v), .instructions = chrono_instructions(v), .cycles = chrono_cycles(v),
	};
}

static const struct causes_ops causes = { .open = causes_open, .insn = causes_insn, .all = causes_all };

const struct core_ops core_abstract = {
	.name = "abstract",
	.help = "resource-centric core: bounds of throughput and latency, fast",
	.open = abstract_open,
	.batch = abstract_batch,
	.foresee = abstract_foresee,
	.batch_foreseen = abstract_batch_foreseen,
	.warm = abstract_warm,
	.foresees_all = true,
	.finish = abstract_finish,
	.close = abstract_close,
	.resources = abstract_resources,
	.variants = &abstract_group,
	.causes = &causes,
};
