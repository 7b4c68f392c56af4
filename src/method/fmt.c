/*
 * CPI stack by the front-end miss event table (FMT) of Eyerman et al.: of each cycle that the core lost, which miss
 * event is to blame, as counters in hardware could tell.
 *
 *   a row for each branch in flight (fmt_table.h): instruction-side misses, penalty of a misprediction
 *   the ROB (occupancy.h): while it is full a cycle is its head's, and no front-end counter runs
 *
 * Beside the stack, how many cycles were lost to the front end and to a long miss of the back end at once: those that a
 * full ROB takes from the front end's counters on account of L2 or TLB misses.
 *
 * The rows behind a mispredicted branch are dropped when it is resolved, so that misses on the wrong path are not
 * counted. The penalty is counted from the branch's dispatch to that of the first instruction of the right path. "L2"
 * is the last level before memory. What is left is the base.
 *
 * The paper leaves open, and here it is so:
 *  - "No instructions are fed into the pipeline" is read behind the fetch buffer: cycles in which it still had some are
 *  not
 *    lost to the miss.
 *  - No cycle is counted twice. After a misprediction, cycles in which the first right-path instruction itself
 *    missed belong to that miss; otherwise the branch penalty comes before later instructions' misses.
 *  - Misses after the last branch of the run, and those of squashed attempts, are in the base.
 * On a core whose schedulers or store queue fill before the ROB does, back-end misses are in the base too: so it
 * is with the paper's counters. Beside them is a variant, FMT-dispatch, for which the ROB counts as full in every cycle
 * in which the next to dispatch is there and does not, for whatever reason; what waits and is squashed before it
 * dispatched does not count.
 * Ref: Eyerman et al., "A performance counter architecture for computing accurate CPI components", ASPLOS 2006, §4;
 * table 1.
 */
#include "method/fmt_lane.h"
#include "profile/profile.h"

struct fmt {
	const struct core_desc *desc;
	struct fmt_lane *lanes;        /* the last is `ended` */
	struct fmt_lane ended;         /* the sums of all threads that are over */
	bool any_stall;
};

static int fmt_open(void *state, const struct run *run)
{
	struct fmt *s = state;

	s->desc = run->desc;
	s->lanes = &s->ended;
	return 0;
}

static int any_open(void *state, const struct run *run)
{
	((struct fmt *)state)->any_stall = true;
	return fmt_open(state, run);
}

static int fmt_lane(void *state, void *lane, uint32_t thread)
{
	struct fmt *s = state;
	struct fmt_lane *l = lane;

	fmt_lane_init(l, s->desc, s->any_stall);
	l->next = s->lanes;
	s->lanes = l;
	return 0;
}

/* Into the row of the branch to be fetched next; how many cycles there were. */
static uint64_t count_stalls(struct fmt_lane *l, const struct timed *t)
{
	struct fmt_stall s = fmt_lane_stalls(l, t, t->fetch + t->avail);

	occupancy_go_on(&l->rob, s.tlb, t);
	uint64_t before = occupancy_long(&l->rob);
	uint64_t tlb = occupancy_on_until(&l->rob, s.cache, t), cache = occupancy_on_until(&l->rob, s.end, t);

	fmt_lane_stalled(l, t, tlb, cache, before);
	return tlb + cache;
}

static void dispatch(struct fmt_lane *l, const struct timed *t)
{
	bool right = !(t->flags & TIMED_WRONG);
	uint64_t own = 0;

	if (right)
		fmt_lane_follow(l);
	if (occupancy_missed(t) && fmt_lane_counts(l, t))
		own = count_stalls(l, t);
	fmt_lane_dispatch(l, t, own);
}

static void fmt_block(void *state, void *lane, const struct block *b)
{
	struct fmt_lane *l = lane;

	for (const struct timed *t = b->t, *end = t + b->n; t < end; t++) {
		if (t->flags & TIMED_WRONG) {
			uint64_t branches = 0;
			const struct timed *to = occupancy_follow_doomed(&l->rob, t, end, &branches);
			fmt_lane_fetch_in_vain(l, branches, to - 1);
			t = to;
		}
		if (fmt_lane_quiet(l))
			t = occupancy_follow_plain(&l->rob, t, end);
		if (t == end)
			break;
		if (t->dispatch != TIMED_NEVER)
			dispatch(l, t);
		else
			fmt_lane_never(l, t);
	}
	fmt_lane_publish(l, &b->walked);
}

static void fmt_finish(void *state, void *lane)
{
	fmt_lane_finish(lane);
}

static void fmt_end(void *state, void *lane)
{
	struct fmt *s = state;
	struct fmt_lane *l = lane, **at = &s->lanes;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	s->ended.units += l->units;
	s->ended.overlap += l->overlap;
	for (unsigned k = 0; k < NR_CPI; k++)
		s->ended.final.fmt[k] += l->final.fmt[k];
	fmt_lane_fini(l);
}

static int fmt_save(const void *state, struct profile *out)
{
	const struct fmt *s = state;

	return s->any_stall ? fmt_lanes_save_as(s->lanes, "FMT-dispatch", false, out) : fmt_lanes_save(s->lanes, out);
}

static void fmt_close(void *state)
{
	for (struct fmt_lane *l = ((struct fmt *)state)->lanes; l; l = l->next)
		fmt_lane_fini(l);
}

const struct method method_fmt = {
	.name = "fmt",
	.help = "CPI stack by the front-end miss event table (Eyerman et al.)",
	.set = METHODS_FILE,
	.state_size = sizeof(struct fmt),
	.lane_size = sizeof(struct fmt_lane),
	.open = fmt_open,
	.lane = fmt_lane,
	.block = fmt_block,
	.finish = fmt_finish,
	.end = fmt_end,
	.save = fmt_save,
	.close = fmt_close,
};

const struct method method_fmt_dispatch = {
	.name = "fmt_dispatch",
	.help = "the same with any back-end stall of dispatch in place of a full ROB",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct fmt),
	.lane_size = sizeof(struct fmt_lane),
	.open = any_open,
	.lane = fmt_lane,
	.block = fmt_block,
	.finish = fmt_finish,
	.end = fmt_end,
	.save = fmt_save,
	.close = fmt_close,
};
