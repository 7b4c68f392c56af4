/*
 * TIP: who the core exposes the latency of, time-proportionally, without why: TEA without signatures.
 * Ref: TEA §2; TIP (MICRO 2021).
 */
#include "method/sampler.h"

static void owner(struct sampler *s, struct tick tick, const struct interval *v, const struct interval *end)
{
	if (tick.cycle < v->commit)
		sampler_add(s, tick, tick.cycle < v->enter ? interval_payer(v) : v->insn, 0, CYCLE_UNITS);
	else
		for (; v < end && v->from <= tick.cycle; v++)
			if (interval_counts(v) && v->units)
				sampler_add(s, tick, v->insn, 0, v->units);
}

static void tip_block(void *state, void *lane, const struct block *b)
{
	sampler_at_commit(state, lane, b, owner);
}

static int tip_save(const void *state, struct profile *out)
{
	return sampler_save(state, "TIP", 0, out);
}

const struct method method_tip = {
	.name = "tip",
	.help = "TIP: time-proportional instruction profiling, without events",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = tip_block,
	.end = sampler_end,
	.save = tip_save,
	.close = sampler_close,
};
