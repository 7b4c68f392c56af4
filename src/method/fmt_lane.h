/*
 * What the front-end miss event table and the shared one have in common: the ROB, a row for each branch with the
 * penalty of its misprediction, and the stack so far. Where they differ is in who counts the misses of the instruction
 * side: count what a record missed (fmt_lane_stalls()) between fmt_lane_follow() and fmt_lane_dispatch().
 */
#ifndef CYCLEWISE_METHOD_FMT_LANE_H
#define CYCLEWISE_METHOD_FMT_LANE_H

#include "method/feed.h"
#include "method/fmt_table.h"
#include "method/occupancy.h"

/* Of one thread; the first member of the method's own. */
struct fmt_lane {
	struct fmt_lane *next;
	struct occupancy rob;
	struct fmt_table table;
	uint64_t right;                /* the row being filled behind the last record of the right path */
	uint64_t mispredicted;         /* row of the mispredicted branch that dispatched last, not resolved;
	                                * FMT_NO_ROW: none */
	bool wrong;                    /* behind a mispredicted branch, with or without a row */
	uint64_t overlap, overlap_from; /* cycles lost on both sides; occupancy_long() when the misprediction
	                                 * dispatched */
	uint64_t units;                /* counted, in all intervals the walker gave out */
	uint64_t end;                  /* first cycle that is not final */
	uint64_t shared[CPI_ITLB + 1]; /* cycles; [CPI_L1I .. CPI_ITLB]: the instruction side as sFMT counts it */
	/* Of cycles before `now`; final.now <= end. In sfmt the instruction side is the shared one. */
	struct fmt_stack { uint64_t now, fmt[NR_CPI], sfmt[NR_CPI]; } newest, final;
};

/* The FMT alone. */
extern const struct method method_fmt;

void fmt_lane_init(struct fmt_lane *l, const struct core_desc *desc, bool any_stall);
void fmt_lane_fini(struct fmt_lane *l);
/* The stream has ended; cycles up to l->end count. */
void fmt_lane_finish(struct fmt_lane *l);
/* Wrong-path branches that have rows and nothing else of note; `last` is of the last record with them. */
void fmt_lane_fetch_in_vain(struct fmt_lane *l, uint64_t branches, const struct timed *last);
/* A record that never dispatches. */
static inline void fmt_lane_never(struct fmt_lane *l, const struct timed *t)
{
	if (t->flags & TIMED_WRONG && t->flags & TIMED_BRANCH)
		fmt_lane_fetch_in_vain(l, 1, t);
}

/* Behind each block's records: what became final. */
void fmt_lane_publish(struct fmt_lane *l, const struct walked *w);
/* Saves the sum of a list of lanes, and how far both sides overlap. 0 or -errno. */
int fmt_lanes_save(const struct fmt_lane *l, struct profile *out);
/* Saves the sum of other stacks under another name: the one with the shared instruction side, or of a variant. */
int fmt_lanes_save_as(const struct fmt_lane *l, const char *name, bool shared, struct profile *out);

/*
 * Nothing is squashed or awaited: what the next record is does not matter but to the ROB, if it is no branch and missed
 * nothing.
 */
static inline bool fmt_lane_quiet(const struct fmt_lane *l)
{
	return !l->wrong && l->table.waits == FMT_NO_ROW && l->table.fetch == l->right;
}

/*
 * Cycles in which a front end delivered nothing: [tlb, cache) on account of the TLB, [cache, end) of the instruction
 * cache.
 */
struct fmt_stall { uint64_t tlb, cache, end; };

/*
 * Those before `avail` in which nothing was left to dispatch of what came before: what a fetch buffer still holds feeds
 * the pipeline while fetch waits.
 */
static inline struct fmt_stall fmt_lane_stalls(const struct fmt_lane *l, const struct timed *t, uint64_t avail)
{
	uint64_t cache = avail - (t->icache_stall < avail ? t->icache_stall : avail);
	uint64_t tlb = cache - (t->itlb_stall < cache ? t->itlb_stall : cache);
	uint64_t from = occupancy_idle(&l->rob);
	struct fmt_stall s = { tlb < from ? from : tlb, cache, avail };

	if (avail <= from)
		return (struct fmt_stall){ l->rob.now, l->rob.now, l->rob.now };
	s.cache = cache < s.tlb ? s.tlb : cache > s.end ? s.end : cache;
	return s;
}

static inline enum cpi fmt_lane_code(const struct timed *t)
{
	return timed_code_level(t) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I;
}

/* Whether what t missed, which dispatches, goes into a row: not so on a wrong path whose branch has none. */
static inline bool fmt_lane_counts(const struct fmt_lane *l, const struct timed *t)
{
	return timed_commits(t) || l->wrong;
}

/* So many cycles go into the row of the branch to be fetched next; `before`: occupancy_long() when they began. */
static inline void fmt_lane_stalled(struct fmt_lane *l, const struct timed *t, uint64_t tlb, uint64_t cache,
                                    uint64_t before)
{
	fmt_table_stall(&l->table, CPI_ITLB, tlb);
	fmt_table_stall(&l->table, fmt_lane_code(t), cache);
	if (timed_commits(t) && l->table.waits == FMT_NO_ROW)
		l->overlap += occupancy_long(&l->rob) - before;
}

/* A record of the right path that dispatches: where it follows a wrong one, the rows of that are dropped. */
static inline void fmt_lane_follow(struct fmt_lane *l)
{
	if (l->mispredicted != FMT_NO_ROW)
		fmt_table_resolve(&l->table, l->mispredicted);
	else if (l->table.fetch != l->right)
		fmt_table_squash(&l->table, l->right);
	l->mispredicted = FMT_NO_ROW;
	l->wrong = false;
}

/* t dispatches; `own` cycles of a misprediction before it belong to its own misses. */
static inline void fmt_lane_dispatch(struct fmt_lane *l, const struct timed *t, uint64_t own)
{
	bool right = !(t->flags & TIMED_WRONG);

	occupancy_dispatch(&l->rob, t);
	if (right && l->table.waits != FMT_NO_ROW) {
		l->overlap += occupancy_long(&l->rob) - l->overlap_from;
		fmt_table_recover(&l->table, l->rob.on, own);
	}
	if (!(t->flags & (TIMED_BRANCH | TIMED_MISPREDICT)) || t->flags & TIMED_SQUASHED)
		return;
	fmt_table_retire(&l->table, t->fetch);
	uint64_t row = fmt_table_fetch(&l->table);
	if (row != FMT_NO_ROW)
		fmt_table_dispatch(&l->table, row, l->rob.on, right ? timed_leave(t) : UINT64_MAX);
	if (!right)
		return;
	l->right = l->table.fetch;
	if (t->flags & TIMED_MISPREDICT) {
		l->mispredicted = row;
		l->overlap_from = occupancy_long(&l->rob);
		l->wrong = true;
	}
}

#endif
