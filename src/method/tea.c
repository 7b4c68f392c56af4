/*
 * TEA: the statistical sampler that a core with performance signature vectors could be built with, over the very
 * same cycles as the golden reference (pics.c).
 *
 * In each sampled cycle it takes who the core exposes the latency of: in Compute all that commit, with equal
 * weights; in Stalled and Drained the instruction that commits next, held back until it does, so that its
 * signature is final; in Flushed the flusher. A sample weighs CYCLE_UNITS, so weights are exact.
 *
 * Samples are kept as sums by instruction, signature and the clock's level: dropping every second of them is
 * forgetting a level. Memory grows with the code that was executed, not with the length of the run.
 * Ref: TEA §2, §3 (sample selection).
 */
#include <glib.h>

#include "method/clock.h"
#include "method/tally.h"
#include "method/walker.h"
#include "profile/profile.h"

enum { LEVEL_BITS = 5 };
_Static_assert(CLOCK_LEVELS <= 1 << LEVEL_BITS, "a level fits into a key");
#define KEY_USED ((uint64_t)1 << 63)   /* no key is 0 */

struct tea_lane {
	struct walker walker;
	struct clock_lane clock;
	struct tea_lane *next;
};

struct tea {
	struct clock clock;
	struct tally samples;          /* units: weight; by KEY_USED | tally_key() << LEVEL_BITS | level */
	struct tea_lane *lanes;
};

static int tea_open(void *state, const struct run *run)
{
	struct tea *s = state;

	clock_init(&s->clock, run);
	tally_init(&s->samples);
	return 0;
}

static int tea_lane(void *state, void *lane, uint32_t thread)
{
	struct tea *s = state;
	struct tea_lane *l = lane;

	walker_init(&l->walker);
	clock_lane_init(&l->clock, &s->clock, thread);
	l->next = s->lanes;
	s->lanes = l;
	return 0;
}

static void sample(struct tea *s, struct tick tick, uint32_t insn, uint16_t psv, uint32_t weight)
{
	if (tick.level < s->clock.level)
		return;
	tally_row(&s->samples, KEY_USED | tally_key(insn, psv) << LEVEL_BITS | tick.level)->units += weight;
}

static void take(struct tea *s, struct tea_lane *l, const struct interval *v, size_t n)
{
	struct tick tick = clock_tick(&l->clock);

	for (size_t i = 0; i < n; i++) {
		bool counts = interval_counts(&v[i]);

		if (__builtin_expect(v[i].commit < tick.cycle, 1))
			continue;
		for (; tick.cycle < v[i].commit; clock_pass(&l->clock), tick = clock_tick(&l->clock)) {
			if (!counts || tick.cycle < v[i].from)
				continue;
			if (tick.cycle < v[i].enter)
				sample(s, tick, v[i].payer, v[i].payer_psv, CYCLE_UNITS);
			else
				sample(s, tick, v[i].insn, v[i].psv, CYCLE_UNITS);
		}
		if (counts && tick.cycle == v[i].commit && v[i].units)
			sample(s, tick, v[i].insn, v[i].psv, v[i].units);
	}
}

static void tea_batch(void *state, void *lane, const struct timed *t, size_t n)
{
	struct tea *s = state;
	struct tea_lane *l = lane;
	const struct timed *end = t + n;
	const struct interval *v;

	clock_batch(&s->clock, &l->clock, t, n);
	while (t < end) {
		size_t nr = walker_read(&l->walker, &t, end, &v);
		take(s, l, v, nr);
	}
}

static void tea_finish(void *state, void *lane)
{
	struct tea_lane *l = lane;
	const struct interval *v;
	size_t nr = walker_finish(&l->walker, &v);

	take(state, l, v, nr);
}

static int tea_save(const void *state, struct profile *out)
{
	const struct tea *s = state;
	size_t nr;
	struct tally_row *rows = tally_sorted(&s->samples, &nr);
	uint64_t total = 0, weight = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		uint64_t key = (rows[i].key & ~KEY_USED) >> LEVEL_BITS;
		bool last = i + 1 == nr || (rows[i + 1].key & ~KEY_USED) >> LEVEL_BITS != key;

		if ((rows[i].key & ((1 << LEVEL_BITS) - 1)) >= s->clock.level)
			weight += rows[i].units;
		if (!last || !weight)
			continue;
		err = profile_sample(out, "TEA", tally_insn(key), tally_psv(key), weight);
		total += weight;
		weight = 0;
	}
	g_free(rows);
	if (!err)
		err = profile_figure(out, "TEA", "samples", (double)total / CYCLE_UNITS);
	if (!err)
		err = profile_figure(out, "TEA", "period", (double)clock_period(&s->clock));
	if (!err)
		err = profile_set_int(out, "period", (int64_t)clock_period(&s->clock));
	return err;
}

static void tea_close(void *state)
{
	struct tea *s = state;

	for (struct tea_lane *l = s->lanes; l; l = l->next)
		clock_lane_fini(&l->clock);
	tally_fini(&s->samples);
}

const struct method method_tea = {
	.name = "tea",
	.help = "time-proportional event analysis: statistical sampling of the cycle stacks",
	.state_size = sizeof(struct tea),
	.lane_size = sizeof(struct tea_lane),
	.open = tea_open,
	.lane = tea_lane,
	.batch = tea_batch,
	.finish = tea_finish,
	.save = tea_save,
	.close = tea_close,
};
