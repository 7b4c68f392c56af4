/*
 * CPI stack by the shared front-end miss event table (sFMT) of Eyerman et al.: as the FMT (fmt.c), but with one set of
 * instruction-side counters for all branches, and in each ROB entry a bit for an instruction that missed.
 *
 * The first with its bit set to commit adds the counters up, resets them and clears all bits; a mispredicted branch
 * that commits resets them. So misses on a wrong path are counted if an older miss commits before their branch, and
 * then twice, as they are in the branch's penalty, too; and of a miss behind a mispredicted branch what came before
 * that committed is lost.
 *
 * All but these counters is the FMT's, so that one walk makes both stacks: in a run that has this method, it is the
 * FMT, too.
 *
 * Misses on wrong paths count where their record dispatches, or had the pipeline wait until the squash.
 * Ref: Eyerman et al., ASPLOS 2006, §4.1.2.
 */
#include <glib.h>

#include "method/fmt_lane.h"

/* A commit that the counters look at. */
struct credit {
	uint64_t cycle, dispatch;
	bool missed, mispredicted;
};

struct sfmt_lane {
	struct fmt_lane fmt;
	uint64_t local[CPI_ITLB + 1];  /* [CPI_L1I .. CPI_ITLB]: the shared counters */
	uint64_t reset;                /* bits of what dispatched before are clear */
	struct credit *credits;        /* [room], ring: to come, in order */
	uint64_t first, last, room;
	GArray *doomed;                /* struct timed: missed and did not dispatch; since the last that did */
};

struct sfmt {
	const struct core_desc *desc;
	struct fmt_lane *lanes;
};

static int sfmt_open(void *state, const struct run *run)
{
	((struct sfmt *)state)->desc = run->desc;
	return 0;
}

static int sfmt_lane(void *state, void *lane, uint32_t thread)
{
	struct sfmt *s = state;
	struct sfmt_lane *l = lane;

	fmt_lane_init(&l->fmt, s->desc, false);
	l->room = 64;
	l->credits = g_new(struct credit, l->room);
	l->doomed = g_array_new(FALSE, FALSE, sizeof(struct timed));
	l->fmt.next = s->lanes;
	s->lanes = &l->fmt;
	return 0;
}

static struct credit *credit(const struct sfmt_lane *l, uint64_t i)
{
	return &l->credits[i & (l->room - 1)];
}

static void push_credit(struct sfmt_lane *l, struct credit c)
{
	if (l->last - l->first == l->room) {
		struct credit *to = g_new(struct credit, 2 * l->room);

		for (uint64_t i = l->first; i < l->last; i++)
			to[i & (2 * l->room - 1)] = *credit(l, i);
		g_free(l->credits);
		l->credits = to;
		l->room *= 2;
	}
	*credit(l, l->last++) = c;
}

/* What commits up to `cycle`. */
static void give_credit(struct sfmt_lane *l, uint64_t cycle)
{
	for (; l->first < l->last && credit(l, l->first)->cycle <= cycle; l->first++) {
		const struct credit *c = credit(l, l->first);
		bool adds = c->missed && c->dispatch >= l->reset;

		for (unsigned k = CPI_L1I; k <= CPI_ITLB; k++) {
			l->fmt.shared[k] += adds ? l->local[k] : 0;
			l->local[k] = adds || c->mispredicted ? 0 : l->local[k];
		}
		l->reset = adds ? c->cycle : l->reset;
	}
}

/* Nothing was delivered until the cycle `to`; with what commits meanwhile. How many cycles. */
static uint64_t count_until(struct sfmt_lane *l, enum cpi k, uint64_t to, const struct timed *next)
{
	struct occupancy *o = &l->fmt.rob;
	uint64_t cycles = 0;

	while (o->now < to) {
		give_credit(l, o->now);
		uint64_t commit = l->first < l->last ? credit(l, l->first)->cycle : to;
		uint64_t part = occupancy_on_until(o, MIN(commit, to), next);
		l->local[k] += part;
		cycles += part;
	}
	return cycles;
}

struct counted { uint64_t tlb, cache, before; }; /* cycles; occupancy_long() when they began */

/* Of a record that is fed to the pipeline in the cycle `avail`, or squashed by then; `next` dispatches next. */
static struct counted count_stalls(struct sfmt_lane *l, const struct timed *t, uint64_t avail, const struct timed *next)
{
	struct fmt_stall s = fmt_lane_stalls(&l->fmt, t, avail);
	struct counted c;

	occupancy_go_on(&l->fmt.rob, s.tlb, next);
	c.before = occupancy_long(&l->fmt.rob);
	c.tlb = count_until(l, CPI_ITLB, s.cache, next);
	c.cache = count_until(l, fmt_lane_code(t), s.end, next);
	return c;
}

/* Those that did not dispatch; they wait until their squash at most. */
static void count_doomed(struct sfmt_lane *l, const struct timed *next)
{
	for (guint i = 0; i < l->doomed->len; i++) {
		const struct timed *t = &g_array_index(l->doomed, struct timed, i);

		if (t->avail != TIMED_NEVER)
			count_stalls(l, t, t->fetch + t->avail, next);
		else
			count_stalls(l, t, MIN(t->fetch + t->itlb_stall + t->icache_stall, timed_leave(t)), next);
	}
	g_array_set_size(l->doomed, 0);
}

static void dispatch(struct sfmt_lane *l, const struct timed *t)
{
	bool commits = timed_commits(t), missed = occupancy_missed(t);
	uint64_t own = 0;

	if (l->doomed->len)
		count_doomed(l, t);
	if (!(t->flags & TIMED_WRONG))
		fmt_lane_follow(&l->fmt);
	if (missed) {
		struct counted c = count_stalls(l, t, t->fetch + t->avail, t);
		if (fmt_lane_counts(&l->fmt, t)) {
			fmt_lane_stalled(&l->fmt, t, c.tlb, c.cache, c.before);
			own = c.tlb + c.cache;
		}
	}
	fmt_lane_dispatch(&l->fmt, t, own);
	if (commits && (missed || t->flags & TIMED_MISPREDICT))
		push_credit(l,
		            (struct credit){ timed_leave(t), timed_dispatch(t), missed, t->flags & TIMED_MISPREDICT });
}

static void sfmt_block(void *state, void *lane, const struct block *b)
{
	struct sfmt_lane *l = lane;

	for (const struct timed *t = b->t, *end = t + b->n; t < end; t++) {
		bool doomed = l->doomed->len;          /* then what dispatches next counts them */
		if (t->flags & TIMED_WRONG && !doomed) {
			uint64_t branches = 0;
			const struct timed *to = occupancy_follow_doomed(&l->fmt.rob, t, end, &branches);
			fmt_lane_fetch_in_vain(&l->fmt, branches, to - 1);
			t = to;
		}
		if (fmt_lane_quiet(&l->fmt) && !doomed)
			t = occupancy_follow_plain(&l->fmt.rob, t, end);
		if (t == end)
			break;
		if (t->dispatch != TIMED_NEVER) {
			dispatch(l, t);
			continue;
		}
		if (occupancy_missed(t))
			g_array_append_vals(l->doomed, t, 1);
		fmt_lane_never(&l->fmt, t);
	}
	fmt_lane_publish(&l->fmt, &b->walked);
}

static void sfmt_finish(void *state, void *lane)
{
	struct sfmt_lane *l = lane;

	give_credit(l, UINT64_MAX);
	fmt_lane_finish(&l->fmt);
}

static int sfmt_save(const void *state, struct profile *out)
{
	const struct fmt_lane *lanes = ((const struct sfmt *)state)->lanes;
	int err = fmt_lanes_save(lanes, out);

	return err ? err : fmt_lanes_save_as(lanes, "sFMT", true, out);
}

static void sfmt_close(void *state)
{
	for (struct fmt_lane *f = ((struct sfmt *)state)->lanes; f; f = f->next) {
		struct sfmt_lane *l = (struct sfmt_lane *)f;

		fmt_lane_fini(f);
		g_free(l->credits);
		g_array_free(l->doomed, TRUE);
	}
}

const struct method method_sfmt = {
	.name = "sfmt",
	.help = "FMT, and the CPI stack by the table with instruction-side counters that all branches share (sFMT)",
	.set = METHODS_STUDY,
	.covers = &method_fmt,
	.state_size = sizeof(struct sfmt),
	.lane_size = sizeof(struct sfmt_lane),
	.open = sfmt_open,
	.lane = sfmt_lane,
	.block = sfmt_block,
	.finish = sfmt_finish,
	.save = sfmt_save,
	.close = sfmt_close,
};
