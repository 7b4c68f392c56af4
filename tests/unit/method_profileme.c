/*
 * ProfileMe: its exact answers against a search through the stream, its samples against the exact answers: the same where every
 * instruction is sampled, near where few are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/sampler.h"
#include "method_fake.h"

static struct profile *profiled(const char *method, const struct stream_config *config, struct timed *t, size_t n, uint64_t period)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct fake_run run = { .method = method_find(method), .profile = p,
	                        .run = { .desc = fake_desc(config), .period = period, .seed = 5 } };

	fake_drive(&run, &t, &n, 1);
	return p;
}

/* NaN where there is none. */
static double value(const struct profile *p, const char *name, uint32_t insn)
{
	for (size_t i = 0; i < p->nr_insn_rows; i++)
		if (p->insn_row[i].insn == insn && !strcmp(p->insn_row[i].name, name))
			return p->insn_row[i].value;
	return NAN;
}

static void assert_near(double a, double b, double tolerance)
{
	if (fabs(a - b) > tolerance)
		fail_msg("%.9f is not %.9f", a, b);
}

static bool is_instruction(const struct timed *t) { return !(t->flags & TIMED_CONTINUED); }

/* A load that waits 5 cycles for its operand and 3 for a port, misses for 40 and waits 2 to retire. */
static void test_stages(void **ctx)
{
	const struct stream_config config = { .width = 4, .rob = 64 };
	struct timed t[] = {
		{ .insn = 1, .avail = 4, .dispatch = 6, .ready = 11, .issue = 14, .complete = 54, .leave = 56, .drain = 52, .slots = 1,
		  .flags = TIMED_COUNTED | TIMED_LOAD },
		{ .insn = 2, .avail = 4, .dispatch = 6, .ready = TIMED_NEVER, .issue = TIMED_NEVER, .complete = TIMED_NEVER,
		  .leave = 56, .slots = 1, .flags = TIMED_COUNTED },
		{ .insn = 3, .fetch = 56, .avail = 4, .dispatch = 6, .ready = 7, .issue = 8, .complete = 9, .leave = 10, .slots = 2,
		  .flags = TIMED_COUNTED },
	};
	static const struct { const char *name; double values[3]; } expected[] = {
		{ "fetch_to_map", { 6, 6, 6 } }, { "map_to_data_ready", { 5, 0, 1 } }, { "data_ready_to_issue", { 3, 0, 1 } },
		{ "issue_to_retire_ready", { 40, 0, 1 } }, { "retire_ready_to_retire", { 2, 50, 1 } },
		{ "load_issue_to_completion", { 38, NAN, NAN } },
	};
	struct profile *p = profiled("profileme", &config, t, G_N_ELEMENTS(t), 1);

	for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++)
		for (uint32_t k = 0; k < 3; k++) {
			char *name = g_strdup_printf("exact/latency/%s", expected[i].name);
			double v = value(p, name, k + 1), e = expected[i].values[k];
			assert_true(v == e || (isnan(v) && isnan(e)));
			g_free(name);
		}
	/* In 56 cycles of four slots the first two took one each; the third is fetched when they retire. */
	assert_true(value(p, "exact/wasted_slots", 1) == 56 * 4 - 2);
	assert_true(value(p, "exact/retired_in_flight", 1) == 0);
	assert_true(value(p, "exact/wasted_slots", 3) == 10 * 4 - 2);
	assert_true(value(p, "exact/retired_in_flight", 3) == 2);
	free(p);
}

static void test_exact(void **ctx)
{
	for (unsigned k = 0; k < 12; k++) {
		struct stream_config config = { .seed = k + 1, .records = 3000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 32 + 16 * k, .trouble = k % 3 * 20, .misses = k % 4 * 15,
		                                .windows = k % 5 == 4 ? 10 : 0 };
		size_t n;
		struct timed *t = stream_new(&config, &n);
		struct profile *p = profiled("profileme", &config, t, n, 0);
		double slots[FAKE_INSNS] = { 0 }, retired[FAKE_INSNS] = { 0 }, cycles[FAKE_INSNS] = { 0 };
		unsigned commits[FAKE_INSNS] = { 0 }, fetched[FAKE_INSNS] = { 0 };
		bool counting = false;

		for (size_t i = 0; i < n; i++) {
			uint32_t insn = t[i].insn;
			if (!is_instruction(&t[i]))
				continue;
			if (timed_commits(&t[i]))
				counting = t[i].flags & TIMED_COUNTED;
			fetched[insn] += counting;
			if (!timed_commits(&t[i]) || !counting)
				continue;
			commits[insn]++;
			cycles[insn] += t[i].leave;
			for (size_t j = 0; j < n; j++) {
				if (!timed_commits(&t[j]) || !is_instruction(&t[j]))
					continue;
				if (timed_dispatch(&t[j]) >= t[i].fetch && timed_dispatch(&t[j]) < timed_leave(&t[i]))
					slots[insn] += t[j].slots;
				retired[insn] += timed_leave(&t[j]) >= t[i].fetch && timed_leave(&t[j]) < timed_leave(&t[i]);
			}
		}
		for (uint32_t insn = 0; insn < FAKE_INSNS; insn++) {
			if (!commits[insn]) {
				assert_true(isnan(value(p, "exact/retired", insn)));
				continue;
			}
			double aborted = 1 - value(p, "exact/retired", insn);
			assert_near(value(p, "exact/retired", insn), (double)commits[insn] / fetched[insn], 1e-12);
			assert_near(value(p, "exact/retired_in_flight", insn), retired[insn] / commits[insn], 1e-9);
			assert_near(value(p, "exact/wasted_slots", insn), (cycles[insn] * config.width - slots[insn]) / commits[insn], 1e-9);
			for (unsigned i = 0; i < 3; i++) {
				static const char *const names[] = { "exact/abort/branch", "exact/abort/memory_order", "exact/abort/exception" };
				double v = value(p, names[i], insn);
				aborted -= isnan(v) ? 0 : v;
			}
			assert_near(aborted, 0, 1e-12);
		}
		free(p);
		free(t);
	}
}

/* Slow enough that there is less than one fetched a cycle: then a period of one cycle samples every instruction. */
static void test_every_one(void **ctx)
{
	static const char *const names[] = {
		"retired", "abort/branch", "abort/memory_order", "abort/exception", "latency/fetch_to_map", "latency/map_to_data_ready",
		"latency/data_ready_to_issue", "latency/issue_to_retire_ready", "latency/retire_ready_to_retire",
		"latency/load_issue_to_completion",
	};
	struct stream_config config = { .seed = 3, .records = 20000, .width = 1, .commit_width = 1, .rob = 32, .trouble = 10,
	                                .misses = 20 };
	size_t n;
	struct timed *t = stream_new(&config, &n);
	struct profile *p = profiled("profileme", &config, t, n, 1);
	unsigned seen = 0;

	for (uint32_t insn = 0; insn < FAKE_INSNS; insn++)
		for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
			char *exact = g_strconcat("exact/", names[i], NULL);
			double a = value(p, names[i], insn), b = value(p, exact, insn);
			assert_true(a == b || (isnan(a) && isnan(b)));
			seen += isnan(a) ? 0 : 1;
			g_free(exact);
		}
	assert_true(seen > 300);
	free(p);
	free(t);
}

/* Where only a part is counted, there are as many samples of it as TEA has. */
static void test_window(void **ctx)
{
	struct stream_config config = { .seed = 12, .records = 300000, .width = 4, .commit_width = 4, .rob = 96, .trouble = 5,
	                                .misses = 5 };
	size_t n;
	struct timed *t = stream_new(&config, &n);

	for (size_t i = 0; i < n; i++)
		if (i < n / 2 || i > n / 4 * 3)
			t[i].flags &= (uint16_t)~TIMED_COUNTED;
	struct profile *p = profiled("profileme", &config, t, n, 20), *tea = profiled("tea", &config, t, n, 20);
	double samples = (double)fake_value(p, "ProfileMe", "samples", 0) + (double)fake_value(p, "ProfileMe", "dropped", 0);

	assert_true(fake_value(tea, "TEA", "samples", 0) > 1000);
	assert_near(samples / (double)fake_value(tea, "TEA", "samples", 0), 1, 0.03);
	free(p);
	free(tea);
	free(t);
}

/* As many samples as TEA has; means over all instructions within a few percent of the exact ones. */
static void test_estimates(void **ctx)
{
	static const struct { const char *name; double tolerance; } means[] = {
		{ "retired", 0.01 }, { "latency/fetch_to_map", 0.02 }, { "latency/issue_to_retire_ready", 0.04 },
		{ "wasted_slots", 0.05 }, { "retired_in_flight", 0.05 },
	};
	struct stream_config config = { .seed = 11, .records = 600000, .width = 4, .commit_width = 4, .rob = 96, .trouble = 5,
	                                .misses = 5 };
	size_t n;
	struct timed *t = stream_new(&config, &n);
	struct profile *p = profiled("profileme", &config, t, n, 20), *tea = profiled("tea", &config, t, n, 20);
	double samples = (double)fake_value(p, "ProfileMe", "samples", 0) + (double)fake_value(p, "ProfileMe", "dropped", 0);

	assert_near(samples / (double)fake_value(tea, "TEA", "samples", 0), 1, 0.03);
	assert_true(fake_value(p, "ProfileMe", "dropped", 0) > 1000);
	for (unsigned i = 0; i < G_N_ELEMENTS(means); i++) {
		char *name = g_strconcat("exact/", means[i].name, NULL);
		double estimate = 0, exact = 0;

		for (uint32_t insn = 0; insn < STREAM_INSNS; insn++) {
			double a = value(p, means[i].name, insn), b = value(p, name, insn);
			assert_false(isnan(a) || isnan(b));
			estimate += a;
			exact += b;
		}
		assert_near(estimate / exact, 1, means[i].tolerance);
		g_free(name);
	}
	free(p);
	free(tea);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages), cmocka_unit_test(test_exact), cmocka_unit_test(test_every_one),
		cmocka_unit_test(test_estimates), cmocka_unit_test(test_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
