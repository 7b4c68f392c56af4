/*
 * TEA: the statistical sampler that a core with performance signature vectors could be built with, over the very
 * same cycles as the golden reference (pics.c).
 *
 * In each sampled cycle it takes who the core exposes the latency of: in Compute all that commit, with equal
 * weights; in Stalled and Drained the instruction that commits next, held back until it does, so that its
 * signature is final; in Flushed the flusher. A sample weighs CYCLE_UNITS, so weights are exact.
 * Ref: TEA §2, §3 (sample selection).
 */
#include "method/sampler.h"
#include "profile/profile.h"

struct tea_lane {
	struct ticks ticks;
	struct tea_lane *next;
};

struct tea {
	struct sampler sampler;
	struct tea_lane *lanes;
};

static int tea_open(void *state, const struct run *run)
{
	struct tea *s = state;

	sampler_init(&s->sampler, run);
	return 0;
}

static int tea_lane(void *state, void *lane, uint32_t thread)
{
	struct tea *s = state;
	struct tea_lane *l = lane;

	l->next = s->lanes;
	s->lanes = l;
	return 0;
}

/* Whose cycle it is, or whose all are that commit in it. */
static void sample(struct sampler *s, struct tick tick, const struct interval *v, const struct interval *end)
{
	if (tick.cycle < v->enter)
		sampler_add(s, tick, v->payer, v->payer_psv, CYCLE_UNITS);
	else if (tick.cycle < v->commit)
		sampler_add(s, tick, v->insn, v->psv, CYCLE_UNITS);
	else
		for (; v < end && v->from <= tick.cycle; v++)
			if (interval_counts(v) && v->units)
				sampler_add(s, tick, v->insn, v->psv, v->units);
}

static void tea_block(void *state, void *lane, const struct block *b)
{
	struct tea *s = state;
	struct tea_lane *l = lane;
	const struct interval *v = b->walked.v, *end = v + b->walked.nr;

	ticks_push(&l->ticks, b->tick, b->nr_ticks);
	while (ticks_next(&l->ticks) < b->walked.end) {
		struct tick tick = ticks_pop(&l->ticks);

		while (interval_end(v) <= tick.cycle)
			v++;
		sample(&s->sampler, tick, v, end);
	}
}

static int tea_save(const void *state, struct profile *out)
{
	const struct tea *s = state;
	int err = sampler_save(&s->sampler, "TEA", out);

	return err ? err : profile_set_int(out, "period", (int64_t)clock_period(s->sampler.clock));
}

static void tea_close(void *state)
{
	struct tea *s = state;

	for (struct tea_lane *l = s->lanes; l; l = l->next)
		ticks_fini(&l->ticks);
	sampler_fini(&s->sampler);
}

const struct method method_tea = {
	.name = "tea",
	.help = "time-proportional event analysis: statistical sampling of the cycle stacks",
	.state_size = sizeof(struct tea),
	.lane_size = sizeof(struct tea_lane),
	.open = tea_open,
	.lane = tea_lane,
	.block = tea_block,
	.save = tea_save,
	.close = tea_close,
};
