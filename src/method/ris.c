/*
 * IBM's random instruction sampling: tags while instruction groups are formed in fetch, and reports what was tagged
 * with its events when it completes. A tagged instruction that is squashed gives no sample.
 *
 * The sampled cycle's first fetched instruction is tagged, or the first after it.
 * Ref: TEA table 1, §3, §5; Power ISA, "Sampled Instruction Event Register".
 */
#include "method/sampler.h"

enum { EVENTS = PSV_DR_L1 | PSV_DR_TLB | PSV_DR_SQ | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

static void tag(struct sampler *s, struct tick tick, const struct timed *t)
{
	if (!timed_commits(t))
		sampler_drop(s, tick);
	else if (t->flags & TIMED_COUNTED)
		sampler_add(s, tick, t->insn, t->psv & EVENTS, CYCLE_UNITS);
}

static void ris_block(void *state, void *lane, const struct block *b)
{
	sampler_at_fetch(state, lane, b, tag);
}

static int ris_save(const void *state, struct profile *out)
{
	return sampler_save(state, "RIS", EVENTS, out);
}

const struct method method_ris = {
	.name = "ris",
	.help = "IBM's random instruction sampling: tags at fetch",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = ris_block,
	.end = sampler_end,
	.save = ris_save,
	.close = sampler_close,
};
