/*
 * Sampling by interrupt, as a profiler does without help of the hardware: the sampled cycle raises an interrupt, which
 * the front end takes; what the core holds by then still drains, and the address the handler finds is that of the first
 * instruction that had not dispatched. The skid is all that was in flight.
 *
 * Wrong-path instructions are never found: their branch resolves first. The handler itself costs nothing, as for all
 * methods. It knows no events.
 * Ref: TEA §1 (event-driven approaches), TIP (MICRO 2021) on software sampling.
 */
#include "method/sampler.h"

static uint64_t dispatch_of(const struct timed *t)
{
	return timed_commits(t) && !(t->flags & TIMED_CONTINUED) ? timed_dispatch(t) : 0;
}

static void software_block(void *state, void *lane, const struct block *b)
{
	struct sampler_lane *l = lane;

	ticks_push(&l->ticks, b->tick, b->nr_ticks);
	if (ticks_next(&l->ticks) == UINT64_MAX)
		return;
	for (const struct timed *t = b->t; t < b->t + b->n; t++)
		while (ticks_next(&l->ticks) <= dispatch_of(t)) {
			struct tick tick = ticks_pop(&l->ticks);
			if (t->flags & TIMED_COUNTED)
				sampler_add(state, tick, t->insn, 0, CYCLE_UNITS);
		}
}

static int software_save(const void *state, struct profile *out)
{
	return sampler_save(state, "software", 0, out);
}

const struct method method_software = {
	.name = "software",
	.help = "sampling by interrupt, which skids past what is in flight",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = software_block,
	.end = sampler_end,
	.save = software_save,
	.close = sampler_close,
};
