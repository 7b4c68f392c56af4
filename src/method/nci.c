/*
 * NCI-TEA: TEA's signatures, with the instruction that commits next, as Intel's PEBS takes it: in Compute the oldest of
 * those that commit in the cycle, for all of it; after a flush the first that commits behind it, not who flushed.
 * An instruction squashed at the head of the ROB never commits, so its cycles go to what does instead.
 * Ref: TEA §5 (NCI-TEA), §5.1 (why it is wrong after a flush).
 */
#include "method/sampler.h"

/* An instruction that commits after the block is waited for. */
static void nci_block(void *state, void *lane, const struct block *b)
{
	struct sampler *s = state;
	struct sampler_lane *l = lane;
	const struct interval *v = b->walked.v, *end = v + b->walked.nr;

	ticks_push(&l->ticks, b->tick, b->nr_ticks);
	for (; v < end && ticks_next(&l->ticks) < b->walked.end; v++)
		while (interval_commits(v) && ticks_next(&l->ticks) <= v->commit) {
			struct tick tick = ticks_pop(&l->ticks);
			if (interval_counts(v))
				sampler_add(s, tick, v->insn, v->psv, CYCLE_UNITS);
		}
}

static int nci_save(const void *state, struct profile *out)
{
	return sampler_save(state, "NCI-TEA", PSV_ALL, out);
}

const struct method method_nci = {
	.name = "nci",
	.help = "TEA's events on the next-committing instruction, as PEBS samples",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = nci_block,
	.end = sampler_end,
	.save = nci_save,
	.close = sampler_close,
};
