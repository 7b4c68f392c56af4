/*
 * Whom each sampling method blames: hand-made streams sampled in every cycle, and random ones against a search through the
 * whole stream for each tick.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/sampler.h"
#include "method_fake.h"
#include "method_reference.h"

#define U CYCLE_UNITS

static struct profile *sampled(const char *method, struct timed *t, size_t n, uint64_t period)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct fake_run run = { .method = method_find(method), .run = { .period = period, .seed = 3 }, .profile = p };

	assert_non_null(run.method);
	fake_drive(&run, &t, &n, 1);
	return p;
}

/* Absolute cycles. */
static struct timed at(uint32_t insn, uint32_t fetch, uint32_t dispatch, uint32_t leave, uint16_t psv, unsigned flags)
{
	return (struct timed){ .insn = insn, .fetch = fetch, .avail = dispatch - fetch, .dispatch = dispatch - fetch,
	                       .leave = leave - fetch, .psv = psv, .slots = 1, .flags = (uint16_t)(flags | TIMED_COUNTED) };
}

enum { LOAD = 1, ADD, BRANCH, WRONG_ONE, NEXT, LAST };

/*
 * A load that misses, an add behind it, a mispredicted branch, what it fetches in vain, and two on the right path.
 * Commit by cycle: load 40 (1..39 on it), add and branch 41, nothing 42..59, next 60, last 61.
 */
static const struct timed story[] = {
	{ .insn = LOAD, .fetch = 0, .avail = 2, .dispatch = 2, .leave = 40, .slots = 1, .psv = PSV_ST_L1 | PSV_ST_LLC | PSV_DR_SQ,
	  .flags = TIMED_COUNTED },
	{ .insn = ADD, .fetch = 0, .avail = 3, .dispatch = 3, .leave = 41, .slots = 1, .flags = TIMED_COUNTED },
	{ .insn = BRANCH, .fetch = 1, .avail = 2, .dispatch = 2, .leave = 40, .slots = 1, .psv = PSV_FL_MB,
	  .flags = TIMED_COUNTED | TIMED_MISPREDICT | TIMED_FLUSHER },
	{ .insn = WRONG_ONE, .fetch = 5, .avail = 4, .dispatch = 4, .leave = 34, .slots = 1, .psv = PSV_ST_L1, .flags = TIMED_WRONG },
	{ .insn = NEXT, .fetch = 41, .avail = 12, .dispatch = 12, .leave = 19, .slots = 1, .psv = PSV_FL_EX, .flags = TIMED_COUNTED },
	{ .insn = LAST, .fetch = 42, .avail = 13, .dispatch = 13, .leave = 19, .slots = 1, .flags = TIMED_COUNTED },
};
enum { CYCLES = 61 };                  /* and cycle 0, which is no tick */

static struct profile *told(const char *method)
{
	struct timed t[G_N_ELEMENTS(story)];

	memcpy(t, story, sizeof(t));
	return sampled(method, t, G_N_ELEMENTS(t), 1);
}

static void assert_told(const char *method, const char *name, uint16_t events, const uint64_t expected[LAST + 1],
                        uint64_t dropped)
{
	struct profile *p = told(method);
	uint64_t sum = 0;

	for (unsigned i = LOAD; i <= LAST; i++) {
		uint16_t psv = i == LOAD ? story[0].psv : i == BRANCH ? PSV_FL_MB : i == NEXT ? PSV_FL_EX : 0;
		assert_int_equal(p->weight[i][psv & events], expected[i]);
		sum += expected[i];
	}
	assert_int_equal(fake_value(p, name, "samples", 0), sum / U);
	assert_int_equal(fake_value(p, name, "dropped", 0), dropped);
	assert_int_equal(fake_value(p, name, "events", 0), events);
	assert_int_equal(fake_value(p, name, "period", 0), 1);
	free(p);
}

static void test_commit(void **ctx)
{
	/* The branch pays for the flush; the add shares its cycle. */
	assert_told("tea", "TEA", PSV_ALL, (const uint64_t[LAST + 1]){
		[LOAD] = 40 * U, [ADD] = U / 2, [BRANCH] = U / 2 + 11 * U, [NEXT] = 8 * U, [LAST] = U }, 0);
	assert_told("tip", "TIP", 0, (const uint64_t[LAST + 1]){
		[LOAD] = 40 * U, [ADD] = U / 2, [BRANCH] = U / 2 + 11 * U, [NEXT] = 8 * U, [LAST] = U }, 0);
	/* It is the next that pays, and the oldest of the cycle. */
	assert_told("nci", "NCI-TEA", PSV_ALL, (const uint64_t[LAST + 1]){
		[LOAD] = 40 * U, [ADD] = U, [NEXT] = 19 * U, [LAST] = U }, 0);
}

static void test_front_end(void **ctx)
{
	/* Dispatch: 1, 2 load; 3 add, not the branch beside it; 4..9 wrong; 10..53 next; 54, 55 last; then nothing does. */
	const uint64_t dispatch[LAST + 1] = { [LOAD] = 2 * U, [ADD] = U, [NEXT] = 44 * U, [LAST] = 2 * U };
	assert_told("ibs", "IBS", PSV_DR_L1 | PSV_DR_TLB | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, dispatch, 6);
	assert_told("spe", "SPE", PSV_FL_MB | PSV_FL_EX | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, dispatch, 6);
	/* Fetch: 1 branch; 2..5 wrong; 6..41 next; 42 last. */
	assert_told("ris", "RIS", PSV_DR_L1 | PSV_DR_TLB | PSV_DR_SQ | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC,
	            (const uint64_t[LAST + 1]){ [BRANCH] = U, [NEXT] = 36 * U, [LAST] = U }, 4);
	/* As at dispatch, but past the wrong path. */
	assert_told("software", "software", 0,
	            (const uint64_t[LAST + 1]){ [LOAD] = 2 * U, [ADD] = U, [NEXT] = 50 * U, [LAST] = 2 * U }, 0);
}

/* A flusher that is squashed at the head: NCI takes what commits instead, TEA the flusher. */
static void test_squashed_head(void **ctx)
{
	struct timed t[] = { at(1, 0, 1, 5, 0, 0), at(2, 0, 1, 20, PSV_FL_EX, TIMED_SQUASHED | TIMED_FLUSHER),
	                     at(3, 21, 30, 40, PSV_ST_L1, 0) };
	struct profile *tea = sampled("tea", t, G_N_ELEMENTS(t), 1), *nci = sampled("nci", t, G_N_ELEMENTS(t), 1);

	assert_int_equal(tea->weight[2][PSV_FL_EX], (15 + 9) * U);
	assert_int_equal(tea->weight[3][PSV_ST_L1], 11 * U);
	assert_int_equal(nci->weight[2][PSV_FL_EX], 0);
	assert_int_equal(nci->weight[3][PSV_ST_L1], 35 * U);
	free(tea);
	free(nci);
}

/* --- one tick at a time ------------------------------------------------------------------------------- */

enum stage { FETCH, DISPATCH, COMMIT, RIGHT_DISPATCH };

/* Whether the tick meets the record there or before. */
static bool meets(const struct timed *t, enum stage stage, uint64_t cycle)
{
	switch (stage) {
	case FETCH:
		return t->fetch >= cycle;
	case DISPATCH:
		return t->dispatch != TIMED_NEVER && timed_dispatch(t) >= cycle;
	case COMMIT:
		return timed_commits(t) && timed_leave(t) >= cycle;
	default:
		return timed_commits(t) && !(t->flags & TIMED_CONTINUED) && timed_dispatch(t) >= cycle;
	}
}

/* What commits with several records is one instruction with all their events. */
static uint16_t whole_psv(const struct timed *t, size_t n, size_t i)
{
	uint16_t psv = t[i].psv;

	for (size_t k = i; t[k].flags & TIMED_CONTINUED; )
		psv |= t[--k].psv;
	for (size_t k = i + 1; k < n && t[k].flags & TIMED_CONTINUED; k++)
		psv |= t[k].psv;
	return psv;
}

static void check(const char *method, const char *name, enum stage stage, uint16_t events, struct timed *t, size_t n,
                  uint64_t period, uint64_t last)
{
	static uint64_t weight[FAKE_INSNS][FAKE_PSVS];
	struct profile *p = sampled(method, t, n, period);
	struct run run = { .period = period, .seed = 3 };
	struct interval all = { .commit = last, .flags = TIMED_COUNTED };
	struct clock clock;
	struct clock_lane ticks;
	uint64_t dropped = 0;
	size_t i = 0;

	memset(weight, 0, sizeof(weight));
	clock_init(&clock, &run);
	clock_lane_init(&ticks, &clock, 0);
	clock_make(&clock, &ticks, &all, 1);
	for (size_t k = 0; k < ticks.nr; k++) {
		while (i < n && !meets(&t[i], stage, ticks.tick[k].cycle))
			i++;
		if (i == n)
			break;
		size_t end = i;                /* NCI waits until all of it has committed */
		while (stage == COMMIT && end + 1 < n && t[end + 1].flags & TIMED_CONTINUED)
			end++;
		if (!timed_commits(&t[end]))
			dropped++;
		else
			weight[t[end].insn][(stage == COMMIT ? whole_psv(t, n, end) : t[end].psv) & events] += U;
	}
	assert_memory_equal(p->weight, weight, sizeof(weight));
	assert_int_equal(fake_value(p, name, "dropped", 0), dropped);
	clock_lane_fini(&ticks);
	free(p);
}

static void test_random(void **ctx)
{
	for (unsigned k = 0; k < 30; k++) {
		struct stream_config config = { .seed = k + 1, .records = 6000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 96, .trouble = k % 3 * 20, .misses = k % 4 * 15 };
		uint64_t period = 1 + k * k, last = 0;
		size_t n;
		struct timed *t = stream_new(&config, &n);

		for (size_t i = 0; i < n; i++) {
			t[i].flags |= TIMED_COUNTED;
			if (!(t[i].flags & TIMED_WRONG) && timed_leave(&t[i]) > last)
				last = timed_leave(&t[i]);
		}
		check("nci", "NCI-TEA", COMMIT, PSV_ALL, t, n, period, last);
		check("ibs", "IBS", DISPATCH, PSV_DR_L1 | PSV_DR_TLB | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, t, n, period, last);
		check("spe", "SPE", DISPATCH, PSV_FL_MB | PSV_FL_EX | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, t, n, period, last);
		check("ris", "RIS", FETCH,
		      PSV_DR_L1 | PSV_DR_TLB | PSV_DR_SQ | PSV_FL_MB | PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC, t, n, period, last);
		check("software", "software", RIGHT_DISPATCH, 0, t, n, period, last);
		struct profile *tea = sampled("tea", t, n, period), *tip = sampled("tip", t, n, period);
		for (unsigned i = 0; i < FAKE_INSNS; i++) {
			uint64_t sum = 0;
			for (unsigned s = 0; s < FAKE_PSVS; s++)
				sum += tea->weight[i][s];
			assert_int_equal(tip->weight[i][0], sum);
		}
		assert_int_equal(fake_value(tip, "TIP", "samples", 0), fake_value(tea, "TEA", "samples", 0));
		free(tea);
		free(tip);
		free(t);
	}
}

/* A sweep holds what runs with each double of the period would have: every second of the samples. */
static void test_sweep(void **ctx)
{
	struct stream_config config = { .seed = 9, .records = 60000, .width = 4, .commit_width = 4, .rob = 96, .trouble = 5,
	                                .misses = 5 };
	size_t n;
	struct timed *t = stream_new(&config, &n);
	struct profile *p = calloc(1, sizeof(*p));
	struct fake_run run = { .method = method_find("tip"), .run = { .period = 100, .seed = 3, .sweep = true }, .profile = p };
	uint64_t samples;
	char name[32];

	fake_drive(&run, &t, &n, 1);
	samples = (uint64_t)fake_value(p, "TIP", "samples", 0);
	assert_true(samples > 200);
	for (uint64_t period = 200; (samples /= 2) >= CLOCK_FEW; period *= 2) {
		g_snprintf(name, sizeof(name), "TIP/%u", (unsigned)period);
		assert_int_equal(fake_value(p, name, "samples", 0), samples);
		assert_int_equal(fake_value(p, name, "period", 0), period);
	}
	free(p);
	free(t);
}

/* --- a method of one's own: all that such a file has ---------------------------------------------------- */

/* The youngest of those that commit with the one that the core waits for. */
static void youngest(struct sampler *s, struct tick tick, const struct interval *v, const struct interval *end)
{
	while (v + 1 < end && v[1].from == v->commit && v[1].commit == v->commit)
		v++;
	sampler_add(s, tick, v->insn, v->psv, CYCLE_UNITS);
}

static void own_block(void *state, void *lane, const struct block *b)
{
	sampler_at_commit(state, lane, b, youngest);
}

static int own_save(const void *state, struct profile *out)
{
	return sampler_save(state, "own", PSV_ALL, out);
}

static const struct method method_own = {
	.name = "own",
	.help = "the youngest of those that commit",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct sampler),
	.lane_size = sizeof(struct sampler_lane),
	.open = sampler_open,
	.lane = sampler_lane,
	.block = own_block,
	.save = own_save,
	.close = sampler_close,
};

static void test_own(void **ctx)
{
	struct timed t[G_N_ELEMENTS(story)], *stream = t;
	size_t n = G_N_ELEMENTS(story);
	struct profile *p = calloc(1, sizeof(*p));
	struct fake_run run = { .method = &method_own, .run = { .period = 1, .seed = 3 }, .profile = p };

	memcpy(t, story, sizeof(t));
	fake_drive(&run, &stream, &n, 1);
	assert_int_equal(p->weight[LOAD][story[0].psv], 40 * U);
	assert_int_equal(p->weight[BRANCH][PSV_FL_MB], U);
	assert_int_equal(p->weight[NEXT][PSV_FL_EX], 19 * U);
	assert_int_equal(p->weight[LAST][0], U);
	assert_int_equal(fake_value(p, "own", "samples", 0), CYCLES);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit), cmocka_unit_test(test_front_end), cmocka_unit_test(test_squashed_head),
		cmocka_unit_test(test_random), cmocka_unit_test(test_sweep), cmocka_unit_test(test_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
