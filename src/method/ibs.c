/*
 * AMD's Instruction-Based Sampling: tags what dispatches in the sampled cycle, or the next that does, follows it, and
 * reports it with its events when it retires. A tagged instruction that is squashed, on the wrong path or not, gives no
 * sample.
 *
 * Of several that dispatch in a cycle it is the oldest. It is an op that is tagged: of an instruction in several
 * records, one of them with its own events. Latencies and addresses that the hardware reports too are left out.
 * Ref: TEA table 1, §3, §5; AMD's processor programming references.
 */
#include "method/sampler.h"

enum { EVENTS = PSV_DR_L1 | PSV_DR_TLB | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

static void tag(struct sampler *s, struct tick tick, const struct timed *t)
{
	if (!timed_commits(t))
		sampler_drop(s, tick);
	else if (t->flags & TIMED_COUNTED)
		sampler_add(s, tick, t->insn, t->psv & EVENTS, CYCLE_UNITS);
}

static void ibs_block(void *state, void *lane, const struct block *b)
{
	sampler_at_dispatch(state, lane, b, tag);
}

static int ibs_save(const void *state, struct profile *out)
{
	return sampler_save(state, "IBS", EVENTS, out);
}

const struct method method_ibs = {
	.name = "ibs",
	.help = "AMD's instruction-based sampling: tags at dispatch",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = ibs_block,
	.end = sampler_end,
	.save = ibs_save,
	.close = sampler_close,
};
