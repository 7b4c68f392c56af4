/* The sampling clock, and TEA's samples: against the cycle-by-cycle reference, and converging to the golden one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/sampler.h"
#include "method_fake.h"
#include "method_reference.h"

/* One instruction that keeps the core busy from one cycle up to another. */
static struct interval until(uint64_t from, uint64_t commit, unsigned flags)
{
	return (struct interval){ .from = from, .enter = from, .commit = commit, .units = CYCLE_UNITS, .flags = (uint16_t)flags };
}

static size_t ticks_until(struct clock *c, struct clock_lane *l, uint64_t cycle, uint64_t *out, size_t nr)
{
	struct interval v = until(0, cycle, TIMED_COUNTED);

	clock_make(c, l, &v, 1);
	for (size_t i = 0; i < l->nr; i++)
		out[nr++] = l->tick[i].cycle;
	return nr;
}

static void test_clock(void **ctx)
{
	struct run run = { .period = 800, .seed = 7 };
	struct clock c;
	struct clock_lane a, b, other;
	uint64_t one[4000], many[4000], others[4000], low = 900, high = 700;
	size_t n = 0, m;

	clock_init(&c, &run);
	clock_lane_init(&a, &c, 0);
	clock_lane_init(&b, &c, 0);
	clock_lane_init(&other, &c, 1);
	m = ticks_until(&c, &a, 2400000, one, 0);
	for (uint64_t cycle = 10; cycle < 2400000; cycle += 77)
		n = ticks_until(&c, &b, cycle, many, n);
	n = ticks_until(&c, &b, 2400000, many, n);
	assert_int_equal(n, m);
	assert_memory_equal(one, many, n * sizeof(*one));       /* however the stream is cut into batches */
	for (size_t i = 0; i < n; i++) {
		uint64_t d = one[i] - (i ? one[i - 1] : 0);
		low = d < low ? d : low;
		high = d > high ? d : high;
	}
	assert_int_equal(low, 700);                             /* 800 - 800 / 8 */
	assert_int_equal(high, 900);
	assert_in_range(n, 2970, 3030);
	m = ticks_until(&c, &other, 2400000, others, 0);
	assert_memory_not_equal(one, others, 100 * sizeof(*one));
	assert_int_equal(c.level, 0);
	assert_int_equal(c.held, 2 * n + m);
	clock_lane_fini(&a);
	clock_lane_fini(&b);
	clock_lane_fini(&other);
}

/* Over the limit every second tick is dropped and the period doubles: those held stay the even ones. */
static void test_doubling(void **ctx)
{
	struct run run = { .seed = 1 };
	struct clock c;
	struct clock_lane l;
	enum { LIMIT = 1000 };
	uint32_t *level = malloc(100000 * sizeof(*level));
	size_t nr = 0;

	clock_init(&c, &run);
	assert_int_equal(c.limit, 4000000);
	c.limit = LIMIT;
	clock_lane_init(&l, &c, 0);
	for (uint64_t cycle = 1000; cycle <= 10000000; cycle += 1000) {
		struct interval v = until(cycle - 999, cycle, TIMED_COUNTED);
		uint64_t period = clock_period(&c);
		clock_make(&c, &l, &v, 1);
		for (size_t i = 0; i < l.nr; i++)
			level[nr++] = l.tick[i].level;
		size_t held = 0;
		for (size_t i = 0; i < nr; i++)
			held += level[i] >= c.level;
		assert_int_equal(c.held, held);
		assert_true(held <= LIMIT);
		if (clock_period(&c) != period) {
			assert_int_equal(clock_period(&c), 2 * period);
			assert_int_equal(held, LIMIT / 2); /* the 1001st, which is odd, went too */
		}
	}
	assert_int_equal(clock_period(&c), 16000);              /* 10 million cycles / 1000 ticks, and the next power */
	assert_in_range(c.held, 615, 635);
	for (size_t i = 0; i < 1000; i++)                       /* all of the first 1000, then every second one ... */
		assert_int_equal(level[i], __builtin_ctzll(i + 1));
	assert_int_equal(level[1000], 0);
	for (size_t i = 1001; i < 1501; i++)
		assert_int_equal(level[i], __builtin_ctzll(1002 + 2 * (i - 1001)));
	clock_lane_fini(&l);
	free(level);
}

static void test_clock_windows(void **ctx)
{
	struct run run = { .seed = 1 };
	struct clock c;
	struct clock_lane l;
	struct interval v[] = { until(0, 50000, 0), until(50001, 90000, TIMED_COUNTED), until(90001, 95000, 0) };

	clock_init(&c, &run);
	clock_lane_init(&l, &c, 0);
	clock_make(&c, &l, v, 1);
	assert_int_equal(l.nr, 0);
	clock_make(&c, &l, v, 3);
	assert_in_range(l.tick[0].cycle, 50001, 51125);
	assert_in_range(l.tick[l.nr - 1].cycle, 88875, 90000);
	assert_in_range(c.held, 39, 41);
	assert_int_equal(l.nr, c.held);
	clock_make(&c, &l, v, 3);              /* once */
	assert_int_equal(l.nr, 0);
	clock_lane_fini(&l);
}

/* --- TEA --------------------------------------------------------------------------------------------- */

struct sampled { struct ticks ticks; uint64_t weight[FAKE_INSNS][FAKE_PSVS], samples; };

static void add(const struct charge *c, void *ctx)
{
	struct sampled *s = ctx;

	while (ticks_next(&s->ticks) < c->cycle)
		ticks_pop(&s->ticks);
	if (ticks_next(&s->ticks) == c->cycle && c->counted) {
		s->weight[c->insn][c->psv] += c->units;
		s->samples += c->units;
	}
}

/* All of a thread's ticks at once. */
static void find_ticks(struct ticks *q, struct clock *clock, uint32_t thread, const struct timed *t, size_t n)
{
	struct clock_lane l;
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++)
		last = timed_leave(&t[i]) > last ? timed_leave(&t[i]) : last;
	struct interval v = until(0, last, TIMED_COUNTED);
	clock_lane_init(&l, clock, thread);
	clock_make(clock, &l, &v, 1);
	ticks_push(q, l.tick, l.nr);
	clock_lane_fini(&l);
}

static struct profile *profile_tea(struct timed *const *t, const size_t *n, unsigned threads, uint64_t period)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct fake_run run = { .method = method_find("tea"), .run = { .period = period, .seed = 3 }, .profile = p };

	fake_drive(&run, t, n, threads);
	return p;
}

static void test_reference(void **ctx)
{
	for (unsigned k = 0; k < 40; k++) {
		struct stream_config config = { .seed = k + 1, .records = 6000, .width = 4, .commit_width = 1 + k % 9, .rob = 96,
		                                .trouble = k % 3 * 20, .misses = k % 4 * 15 };
		uint64_t period = 1 + k * k;
		struct run run = { .period = period, .seed = 3 };
		struct sampled *s = calloc(1, sizeof(*s));
		struct clock clock;
		struct timed *t[2];
		size_t n[2];

		clock_init(&clock, &run);
		for (unsigned i = 0; i < 2; i++, config.seed += 1000) {
			t[i] = stream_new(&config, &n[i]);
			find_ticks(&s->ticks, &clock, i, t[i], n[i]);
			reference_walk(t[i], n[i], add, s);
			ticks_fini(&s->ticks);
			s->ticks = (struct ticks){ 0 };
		}
		struct profile *p = profile_tea(t, n, 2, period);
		assert_memory_equal(p->weight, s->weight, sizeof(p->weight));
		assert_int_equal(s->samples % CYCLE_UNITS, 0);
		assert_int_equal(fake_value(p, "TEA", "samples", 0), s->samples / CYCLE_UNITS);
		assert_int_equal(fake_value(p, "TEA", "period", 0), period);
		if (period == 1) {             /* every cycle: the golden reference itself */
			struct profile *pics = calloc(1, sizeof(*pics));
			struct fake_run golden = { .method = method_find("pics"), .profile = pics };
			fake_drive(&golden, t, n, 2);
			assert_int_equal(s->samples + CYCLE_UNITS * 2, fake_total_units(pics)); /* all but cycle 0 */
			free(pics);
		}
		free(p);
		free(s);
		free(t[0]);
		free(t[1]);
	}
}

/* E = (total - sum of min(C, C_ref)) / total of TEA §4, at the granularity of instructions, in parts of a million. */
static uint64_t error_ppm(const struct profile *pics, const struct profile *tea)
{
	double total = (double)fake_total_units(pics), weights = 0, right = 0;

	for (unsigned i = 0; i < FAKE_INSNS; i++)
		for (unsigned s = 0; s < FAKE_PSVS; s++)
			weights += (double)tea->weight[i][s];
	for (unsigned i = 0; i < FAKE_INSNS; i++)
		for (unsigned s = 0; s < FAKE_PSVS; s++) {
			double c = (double)tea->weight[i][s] / weights, r = (double)pics->units[i][s] / total;
			right += c < r ? c : r;
		}
	return (uint64_t)((1 - right) * 1e6 + 0.5);
}

/* A million cycles: the more of them are sampled, the smaller the error. */
static void test_converges(void **ctx)
{
	static const struct { uint64_t period, error; } expected[] = {
		{ 10000, 700014 }, { 1000, 282375 }, { 100, 75909 }, { 10, 11388 }, { 1, 2 /* cycle 0 is no tick */ },
	};
	struct stream_config config = { .seed = 99, .records = 400000, .width = 4, .commit_width = 4, .rob = 128, .trouble = 5,
	                                .misses = 10 };
	size_t n;
	struct timed *t = stream_new(&config, &n);
	struct profile *pics = fake_profile(method_find("pics"), NULL, t, n);

	for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
		struct profile *tea = profile_tea(&t, &n, 1, expected[i].period);
		assert_int_equal(error_ppm(pics, tea), expected[i].error);
		free(tea);
	}
	free(pics);
	free(t);
}

/* By default over 4 million samples make the period double. */
static void test_adapts(void **ctx)
{
	enum { N = 900, EACH = 10000000 };
	struct timed *t = calloc(N, sizeof(*t));
	size_t n = N;
	struct profile *p;

	for (unsigned i = 0; i < N; i++)       /* 9e9 cycles */
		t[i] = (struct timed){ .fetch = (uint64_t)i * EACH, .dispatch = 1, .leave = EACH, .slots = 1, .insn = i % 2,
		                       .flags = TIMED_COUNTED };
	p = profile_tea(&t, &n, 1, 0);
	assert_int_equal(fake_value(p, "TEA", "period", 0), 4000);
	assert_int_equal(fake_value(p, "run", "period", 0), 4000);
	assert_in_range(fake_value(p, "TEA", "samples", 0), 2249000, 2251000);
	assert_int_equal((p->weight[0][0] + p->weight[1][0]) / CYCLE_UNITS, fake_value(p, "TEA", "samples", 0));
	assert_in_range(p->weight[0][0] / CYCLE_UNITS, 1124000, 1126000);
	free(p);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock), cmocka_unit_test(test_doubling), cmocka_unit_test(test_clock_windows),
		cmocka_unit_test(test_reference), cmocka_unit_test(test_converges), cmocka_unit_test(test_adapts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
