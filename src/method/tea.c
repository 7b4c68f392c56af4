/*
 * TEA: the statistical sampler that a core with performance signature vectors could be built with, over the very
 * same cycles as the golden reference (pics.c).
 *
 * In each sampled cycle it takes who the core exposes the latency of: in Compute all that commit, with equal
 * weights; in Stalled and Drained the instruction that commits next, held back until it does, so that its
 * signature is final; in Flushed the flusher.
 * Ref: TEA §2, §3 (sample selection).
 */
#include "method/sampler.h"
#include "profile/profile.h"

static void owner(struct sampler *s, struct tick tick, const struct interval *v, const struct interval *end)
{
	if (tick.cycle < v->enter)
		sampler_add(s, tick, interval_payer(v), interval_payer_psv(v), CYCLE_UNITS);
	else if (tick.cycle < v->commit)
		sampler_add(s, tick, v->insn, v->psv, CYCLE_UNITS);
	else
		for (; v < end && v->from <= tick.cycle; v++)
			if (interval_counts(v) && v->units)
				sampler_add(s, tick, v->insn, v->psv, v->units);
}

static void tea_block(void *state, void *lane, const struct block *b)
{
	sampler_at_commit(state, lane, b, owner);
}

static int tea_save(const void *state, struct profile *out)
{
	const struct sampler *s = state;
	int err = sampler_save(s, "TEA", PSV_ALL, out);

	return err ? err : profile_set_int(out, "period", (int64_t)clock_period(s->clock));
}

const struct method method_tea = {
	.name = "tea",
	.help = "time-proportional event analysis: statistical sampling of the cycle stacks",
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = tea_block,
	.end = sampler_end,
	.save = tea_save,
	.close = sampler_close,
};
