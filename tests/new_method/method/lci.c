/*
 * LCI, a sampling method that is not in the program: who committed last, as a monitor outside of the core sees it. It blames
 * what comes before a stall for all of it. Here it shows what a new method takes: this file, and one line of
 * method/list.h (see meson.build).
 * Ref: TIP (MICRO 2021) on last-committed-instruction sampling.
 */
#include "method/sampler.h"

struct lci_lane {
	struct sampler_lane sampler;
	uint32_t last;
	bool counts;
};

static void blame(struct sampler *s, struct lci_lane *l, uint64_t before)
{
	while (ticks_next(&l->sampler.ticks) < before) {
		struct tick tick = ticks_pop(&l->sampler.ticks);
		if (l->counts)
			sampler_add(s, tick, l->last, 0, CYCLE_UNITS);
	}
}

static void lci_block(void *state, void *lane, const struct block *b)
{
	struct lci_lane *l = lane;

	ticks_push(&l->sampler.ticks, b->tick, b->nr_ticks);
	for (const struct interval *v = b->walked.v; v < b->walked.v + b->walked.nr; v++) {
		if (!interval_commits(v))
			continue;
		blame(state, l, v->commit);
		l->last = v->insn;
		l->counts = interval_counts(v);
	}
	blame(state, l, b->walked.end);
}

static int lci_save(const void *state, struct profile *out)
{
	return sampler_save(state, "LCI", 0, out);
}

const struct method method_lci = {
	.name = "lci",
	.help = "last-committed instruction: what a monitor outside of the core sees",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct lci_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = lci_block,
	.save = lci_save,
	.close = sampler_close,
};
