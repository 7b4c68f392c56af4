/*
 * CPI stacks as event counters give them: each kind of miss, times a fixed penalty; what is left is the base, which may
 * be negative. `naive` counts the misses of all that was fetched, `naive_non_spec` those of instructions that commit.
 *
 * The penalties are the core's latencies: of the second-level cache for a miss of the first, of memory (a closed row)
 * for one of the last, of the second-level TLB (or of a page walk in the second-level cache) for one of the first, of
 * the front end for a mispredicted branch. Nothing overlaps and nothing is hidden: that is what is wrong with them. An
 * instruction that missed in several ways counts in each; long latencies are in the base.
 *
 * A miss is counted where a cache or TLB would count it: once for each line or walk that was asked for. What waits for
 * one that is on its way already is none, whoever asked: on the right path it goes uncounted by naive_non_spec, too,
 * where that was the wrong one. Not counted are misses of stores' lines, which are no events of theirs (TEA has loads'
 * alone), and prefetches.
 * Ref: Eyerman et al., ASPLOS 2006, §2 (naive, naive_non_spec), §3.
 */
#include "method/cpi.h"
#include "method/feed.h"

struct naive {
	uint64_t penalty[NR_CPI];
	uint64_t units;
	uint64_t misses[2][NR_CPI];    /* of what commits, and of what does not */
};

struct naive_lane { bool counting; }; /* what committed last: what is fetched behind it goes with it */

static int naive_open(void *state, const struct run *run)
{
	struct naive *s = state;
	const struct core_desc *d = run->desc;
	uint64_t l2 = (uint64_t)(d->l2_size ? d->l2_latency : d->llc_latency);
	uint64_t walk = (uint64_t)d->walk_overhead + (uint64_t)d->walk_levels * l2;

	s->penalty[CPI_L1I] = s->penalty[CPI_L1D] = l2;
	s->penalty[CPI_L2I] = s->penalty[CPI_L2D] = cpi_memory_cycles(d);
	s->penalty[CPI_ITLB] = s->penalty[CPI_DTLB] = d->stlb_entries ? (uint64_t)d->stlb_latency : walk;
	s->penalty[CPI_BRANCH] =
		(uint64_t)(d->branch_mispredict + d->fetch_latency + d->decode_latency + d->rename_latency);
	return 0;
}

static int naive_lane(void *state, void *lane, uint32_t thread)
{
	return 0;
}

static void count(uint64_t misses[NR_CPI], const struct timed *t)
{
	enum level level = timed_data_level(t);

	if (t->psv & PSV_DR_L1 && !(t->level & MERGED_CODE))
		misses[timed_code_level(t) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I]++;
	if (t->psv & PSV_ST_L1 && level > LEVEL_FILL_BUFFER)
		misses[level == LEVEL_MEMORY ? CPI_L2D : CPI_L1D]++;
	if (t->psv & PSV_DR_TLB && !(t->level & MERGED_ITLB))
		misses[CPI_ITLB]++;
	if (t->psv & PSV_ST_TLB && !(t->level & MERGED_DTLB))
		misses[CPI_DTLB]++;
	if (t->psv & PSV_FL_MB)
		misses[CPI_BRANCH]++;
}

static void naive_block(void *state, void *lane, const struct block *b)
{
	struct naive *s = state;
	struct naive_lane *l = lane;

	for (const struct timed *t = b->t; t < b->t + b->n; t++) {
		bool commits = timed_commits(t);

		if (commits)
			l->counting = t->flags & TIMED_COUNTED;
		if (t->psv && l->counting)
			count(s->misses[!commits], t);
	}
	s->units += walked_units(&b->walked);
}

static int naive_save(const void *state, struct profile *out)
{
	const struct naive *s = state;
	uint64_t all[NR_CPI], committed[NR_CPI];

	for (unsigned k = 0; k < NR_CPI; k++) {
		committed[k] = s->misses[0][k] * s->penalty[k];
		all[k] = committed[k] + s->misses[1][k] * s->penalty[k];
	}
	int err = cpi_save(out, "naive", s->units, all);
	return err ? err : cpi_save(out, "naive_non_spec", s->units, committed);
}

static void naive_close(void *state)
{
}

const struct method method_naive = {
	.name = "naive",
	.help = "CPI stacks as misses times a fixed penalty, with and without the wrong path",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct naive),
	.lane_size = sizeof(struct naive_lane),
	.open = naive_open,
	.lane = naive_lane,
	.block = naive_block,
	.save = naive_save,
	.close = naive_close,
};
