/*
 * Arm's Statistical Profiling Extension: tags what dispatches in the sampled cycle, or the next that does, and writes a
 * packet about it, whatever becomes of it: one that was squashed is marked as not retired, and the profile leaves it
 * out. Those are counted as dropped.
 *
 * Of several that dispatch in a cycle it is the oldest; of an instruction in several records one of them, with its
 * own events, since operations are sampled. Its filters, latencies and addresses are left out.
 * Ref: TEA table 1, §3, §5; Arm Architecture Reference Manual, "The Statistical Profiling Extension".
 */
#include "method/sampler.h"

enum { EVENTS = PSV_FL_MB | PSV_FL_EX | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

static void tag(struct sampler *s, struct tick tick, const struct timed *t)
{
	bool retired = timed_commits(t);

	if (!retired)
		sampler_drop(s, tick);
	else if (t->flags & TIMED_COUNTED)
		sampler_add(s, tick, t->insn, t->psv & EVENTS, CYCLE_UNITS);
}

static void spe_block(void *state, void *lane, const struct block *b)
{
	sampler_at_dispatch(state, lane, b, tag);
}

static int spe_save(const void *state, struct profile *out)
{
	return sampler_save(state, "SPE", EVENTS, out);
}

const struct method method_spe = {
	.name = "spe",
	.help = "Arm's statistical profiling extension: tags at dispatch",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = spe_block,
	.end = sampler_end,
	.save = spe_save,
	.close = sampler_close,
};
