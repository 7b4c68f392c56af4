/*
 * How long instructions without any event hold up commit: whether nine events are enough to explain the long stalls.
 * The figure is the 99th percentile, over all such stalls, of their length in cycles.
 *
 * Lengths are counted exactly below LENGTHS cycles, and as that where they are longer.
 * Ref: TEA §3 (99% of stalls without an event last under 5.8 cycles).
 */
#include "method/feed.h"
#include "profile/profile.h"

enum { LENGTHS = 4096 };

struct stalls { uint64_t count[LENGTHS + 1]; }; /* by cycles; [0] unused */

static int stalls_open(void *state, const struct run *run)
{
	return 0;
}

static int stalls_lane(void *state, void *lane, uint32_t thread)
{
	return 0;
}

static void stalls_block(void *state, void *lane, const struct block *b)
{
	struct stalls *s = state;
	const struct walked *w = &b->walked;

	for (const struct interval *v = w->v; v < w->v + w->nr; v++) {
		uint64_t length = v->commit - v->enter;

		if (length && !v->psv && interval_counts(v) && interval_commits(v))
			s->count[length < LENGTHS ? length : LENGTHS]++;
	}
}

static int stalls_save(const void *state, struct profile *out)
{
	const struct stalls *s = state;
	uint64_t all = 0, sum = 0, length = 0;

	for (uint64_t i = 1; i <= LENGTHS; i++)
		all += s->count[i];
	while (length < LENGTHS && sum * 100 < all * 99)
		sum += s->count[++length];
	return all ? profile_figure(out, "stalls", "eventless_p99", (double)length) : 0;
}

static void stalls_close(void *state)
{
}

const struct method method_stalls = {
	.name = "stalls",
	.help = "how long instructions without any event hold up commit",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct stalls),
	.lane_size = 1,
	.open = stalls_open,
	.lane = stalls_lane,
	.block = stalls_block,
	.end = method_forgets,
	.save = stalls_save,
	.close = stalls_close,
};
