/*
 * CPI stack by completion stalls, as IBM's POWER5 counts them: a cycle in which nothing commits belongs, with an empty
 * ROB, to the miss of the instruction cache or TLB that is waited for, or to the mispredicted branch that emptied it;
 * else to the miss or the long latency of the instruction at the head. All other cycles are the base.
 *
 * It does not see what drains the ROB first, nor a branch's resolution: that is what is wrong with it.
 * Ref: Eyerman et al., ASPLOS 2006, §2 (the POWER5 mechanism), §3.1.
 */
#include "method/cpi.h"
#include "method/feed.h"

struct power5 { uint64_t units, cycles[NR_CPI]; };

static int power5_open(void *state, const struct run *run)
{
	return 0;
}

static int power5_lane(void *state, void *lane, uint32_t thread)
{
	return 0;
}

static enum cpi empty_for(const struct interval *v)
{
	if (v->flushed)
		return interval_payer_psv(v) & PSV_FL_MB ? CPI_BRANCH : CPI_BASE;
	if (v->psv & PSV_DR_L1)
		return interval_code(v) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I;
	return v->psv & PSV_DR_TLB ? CPI_ITLB : CPI_BASE;
}

static void take(struct power5 *s, const struct interval *v)
{
	if (!interval_counts(v))
		return;
	s->cycles[empty_for(v)] += v->enter - v->from;
	s->cycles[cpi_blames(v->psv, v->flags)] += v->commit - v->enter;
}

/* Those without an event that pay for themselves are the base, which is what is left, but for long latencies. */
static void power5_block(void *state, void *lane, const struct block *b)
{
	struct power5 *s = state;
	const struct walked *w = &b->walked;

	s->units += walked_units(w);
	for (size_t i = 0; i < w->nr_notable; i++)
		take(s, &w->v[w->notable[i]]);
	if (!(w->any & TIMED_LONG))
		return;
	for (const struct interval *v = w->v; v < w->v + w->nr; v++)
		if (v->flags & TIMED_LONG && !interval_is_notable(v))
			take(s, v);
}

static int power5_save(const void *state, struct profile *out)
{
	const struct power5 *s = state;

	return cpi_save(out, "POWER5", s->units, s->cycles);
}

static void power5_close(void *state)
{
}

const struct method method_power5 = {
	.name = "power5",
	.help = "CPI stack by completion stalls, as IBM's POWER5 counts them",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct power5),
	.lane_size = 1,
	.open = power5_open,
	.lane = power5_lane,
	.block = power5_block,
	.end = method_forgets,
	.save = power5_save,
	.close = power5_close,
};
