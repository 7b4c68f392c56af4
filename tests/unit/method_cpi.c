/* The CPI stacks that are wrong by design: POWER5's completion stalls against the cycle-by-cycle reference, naive ones by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/cpi.h"
#include "method_fake.h"
#include "method_reference.h"

#define U CYCLE_UNITS
static const char *const names[NR_CPI] = {
	"base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch", "long_latency",
};

static struct timed at(uint32_t dispatch, uint32_t leave, uint16_t psv, unsigned flags)
{
	return (struct timed){ .fetch = dispatch - 2, .avail = 2, .dispatch = 2, .complete = leave - dispatch + 1,
	                       .leave = leave - dispatch + 2, .slots = 1, .psv = psv, .flags = (uint16_t)(flags | TIMED_COUNTED) };
}

/* `cycles` other than the base's are as said. */
static void assert_stack(const char *method, const char *name, const struct core_desc *desc, const struct timed *t, size_t n,
                         const int64_t cycles[NR_CPI])
{
	struct profile *p = fake_profile(method_find(method), desc, t, n), *pics = fake_profile(method_find("pics"), NULL, t, n);
	int64_t base = (int64_t)fake_total_units(pics);

	for (unsigned k = CPI_BASE + 1; k < NR_CPI; k++) {
		assert_int_equal(fake_value(p, name, names[k], 0), cycles[k] * U);
		base -= cycles[k] * U;
	}
	assert_int_equal(fake_value(p, name, "base", 0), base);
	free(p);
	free(pics);
}

#define STACK(...) (const int64_t[NR_CPI]){ __VA_ARGS__ }

static void test_power5(void **ctx)
{
	struct timed t[] = {
		at(2, 3, 0, 0),
		at(10, 11, PSV_DR_L1, 0),                               /* empty 4..9, stalled in 10 */
		at(20, 21, PSV_DR_L1, 0),                               /* 12..19, from memory */
		at(24, 40, PSV_DR_TLB | PSV_ST_L1 | PSV_ST_TLB, TIMED_LOAD), /* 22, 23; 24..39 */
		at(25, 60, PSV_ST_LLC | PSV_ST_L1, TIMED_LOAD),         /* 41..59 */
		at(25, 70, 0, TIMED_LONG),                              /* 61..69 */
		at(25, 71, PSV_FL_MB, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER),
		at(80, 81, PSV_DR_L1, 0),                               /* the branch's: 72..79 */
	};

	t[1].level = timed_level(LEVEL_NONE, ILEVEL_L2, 0);
	t[2].level = timed_level(LEVEL_NONE, ILEVEL_MEMORY, 0);
	assert_stack("power5", "POWER5", NULL, t, G_N_ELEMENTS(t),
	             STACK([CPI_L1I] = 6, [CPI_L2I] = 8, [CPI_ITLB] = 2, [CPI_DTLB] = 16, [CPI_L2D] = 19, [CPI_LONG_LATENCY] = 9,
	                   [CPI_BRANCH] = 8));
}

struct reference { const struct timed *t; uint64_t units[NR_CPI]; };

static void add(const struct charge *c, void *ctx)
{
	struct reference *r = ctx;
	const struct timed *head = &r->t[c->head];
	enum cpi k = CPI_BASE;

	if (!c->counted)
		return;
	if (c->state == STATE_STALLED)
		k = cpi_blames(c->psv, head->flags);
	else if (c->state == STATE_FLUSHED && c->psv & PSV_FL_MB)
		k = CPI_BRANCH;
	else if (c->state == STATE_DRAINED && c->psv & PSV_DR_L1)
		k = timed_code_level(head) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I;
	else if (c->state == STATE_DRAINED && c->psv & PSV_DR_TLB)
		k = CPI_ITLB;
	r->units[k] += c->units;
}

static void test_power5_random(void **ctx)
{
	uint64_t seen[NR_CPI] = { 0 };

	for (unsigned i = 0; i < 60; i++) {
		struct stream_config config = { .seed = i + 1, .records = 4000, .width = 1 + i % 6, .commit_width = 1 + i % 9,
		                                .rob = 32 + i * 4, .trouble = i % 3 * 20, .misses = i % 4 * 15,
		                                .windows = i % 5 == 4 ? 10 : 0 };
		size_t n;
		struct timed *t = stream_new(&config, &n);
		struct reference r = { .t = t };
		struct profile *p = fake_profile(method_find("power5"), NULL, t, n);

		reference_walk(t, n, add, &r);
		for (unsigned k = 0; k < NR_CPI; k++) {
			assert_int_equal(fake_value(p, "POWER5", names[k], 0), r.units[k]);
			seen[k] += r.units[k];
		}
		free(p);
		free(t);
	}
	for (unsigned k = 0; k < NR_CPI; k++)
		assert_true(seen[k] > 100 * (uint64_t)U);
}

/* Second level 14, last level 50, memory 50 + (60 + 20 + 20) ns at 2 GHz = 250, second TLB 9, front end 1 + 4 + 1 + 1. */
static void describe(struct core_desc *d)
{
	d->l2_size = d->llc_size = 1 << 20;
	d->l2_latency = 14;
	d->llc_latency = 50;
	d->dram_latency_ns = 60;
	d->dram_rcd_ns = d->dram_cas_ns = 20;
	d->clock_mhz = 2000;
	d->stlb_entries = 1024;
	d->stlb_latency = 9;
	d->branch_mispredict = d->decode_latency = d->rename_latency = 1;
	d->fetch_latency = 4;
}

static void test_naive(void **ctx)
{
	struct core_desc *d = calloc(1, sizeof(*d));
	struct timed t[] = {
		at(2, 3, PSV_DR_L1 | PSV_DR_TLB, 0), at(3, 4, PSV_ST_L1 | PSV_ST_TLB, TIMED_LOAD), at(3, 5, PSV_ST_L1 | PSV_ST_LLC, TIMED_LOAD),
		at(4, 6, PSV_FL_MB, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER), at(5, 5, PSV_ST_L1 | PSV_ST_LLC, TIMED_WRONG),
		at(6, 6, PSV_DR_L1, TIMED_WRONG), at(9, 20, PSV_DR_L1, 0), at(21, 30, PSV_ST_L1, 0),
	};

	t[0].level = timed_level(LEVEL_NONE, ILEVEL_LLC, 0);
	t[1].level = timed_level(LEVEL_L2, ILEVEL_L1, 0);
	t[2].level = t[4].level = timed_level(LEVEL_MEMORY, ILEVEL_L1, 0);
	t[6].level = timed_level(LEVEL_NONE, ILEVEL_MEMORY, 0);
	t[7].level = timed_level(LEVEL_L2, ILEVEL_L1, 0);
	t[7].flags = 0;                        /* not counted */
	describe(d);
	assert_stack("naive", "naive_non_spec", d, t, G_N_ELEMENTS(t),
	             STACK([CPI_L1I] = 14, [CPI_L2I] = 250, [CPI_ITLB] = 9, [CPI_L1D] = 14, [CPI_L2D] = 250, [CPI_DTLB] = 9,
	                   [CPI_BRANCH] = 7));
	assert_stack("naive", "naive", d, t, G_N_ELEMENTS(t),   /* the base is far below 0 */
	             STACK([CPI_L1I] = 28, [CPI_L2I] = 250, [CPI_ITLB] = 9, [CPI_L1D] = 14, [CPI_L2D] = 500, [CPI_DTLB] = 9,
	                   [CPI_BRANCH] = 7));
	free(d);
}

/* Sixteen loads of one line in one page, and the code they stand on: a miss of each; four loads of another line on a wrong path. */
static void test_naive_counts_lines(void **ctx)
{
	struct core_desc *d = calloc(1, sizeof(*d));
	struct timed t[16 + 1 + 4 + 4];

	for (uint32_t i = 0; i < 16; i++) {
		t[i] = at(400, 800 + i, PSV_ST_L1 | PSV_ST_LLC | PSV_ST_TLB, TIMED_LOAD);
		t[i].level = timed_level(i ? LEVEL_FILL_BUFFER : LEVEL_MEMORY, ILEVEL_L1, i ? MERGED_DTLB : 0);
	}
	t[0].psv |= PSV_DR_L1 | PSV_DR_TLB;
	t[0].level |= timed_level(LEVEL_NONE, ILEVEL_MEMORY, 0);
	t[16] = at(401, 900, PSV_FL_MB, TIMED_BRANCH | TIMED_MISPREDICT | TIMED_FLUSHER);
	for (uint32_t i = 17; i < 21; i++) {
		t[i] = at(402, 899, PSV_ST_L1, TIMED_LOAD | TIMED_WRONG);
		t[i].level = timed_level(i > 17 ? LEVEL_FILL_BUFFER : LEVEL_L2, ILEVEL_L1, 0);
	}
	t[20].psv |= PSV_DR_L1 | PSV_DR_TLB;
	for (uint32_t i = 21; i < 25; i++)     /* the right path waits for what the wrong one asked for */
		t[i] = at(910, 911, 0, 0);
	t[21].psv = PSV_DR_L1 | PSV_DR_TLB | PSV_ST_L1 | PSV_ST_TLB;
	t[21].level = timed_level(LEVEL_FILL_BUFFER, ILEVEL_L2, MERGED_CODE | MERGED_ITLB | MERGED_DTLB);
	describe(d);
	assert_stack("naive", "naive_non_spec", d, t, G_N_ELEMENTS(t),
	             STACK([CPI_L2I] = 250, [CPI_ITLB] = 9, [CPI_L2D] = 250, [CPI_DTLB] = 9, [CPI_BRANCH] = 7));
	assert_stack("naive", "naive", d, t, G_N_ELEMENTS(t),
	             STACK([CPI_L1I] = 14, [CPI_L2I] = 250, [CPI_ITLB] = 18, [CPI_L1D] = 14, [CPI_L2D] = 250, [CPI_DTLB] = 9, [CPI_BRANCH] = 7));
	free(d);
}

/* Long latencies count with the base, which may be negative; the first of equals is the worst. */
static void test_error(void **ctx)
{
	const int64_t reference[NR_CPI] = { 50 * U, 10 * U, 0, 0, 20 * U, 15 * U, 0, 5 * U, 0 };
	const int64_t same[NR_CPI] = { 30 * U, 10 * U, 0, 0, 20 * U, 15 * U, 0, 5 * U, 20 * U };
	const int64_t wrong[NR_CPI] = { INT64_C(-10) * U, 10 * U, 0, 0, 20 * U, 55 * U, 8 * U, 5 * U, 12 * U };
	struct cpi_error e = cpi_error(same, reference, 100 * U);

	assert_true(e.max == 0 && e.average == 0 && e.worst == CPI_BASE);
	e = cpi_error(wrong, reference, 100 * U);
	assert_true(e.max > 0.4799 && e.max < 0.4801 && e.worst == CPI_BASE);
	assert_true(e.average > 0.1199 && e.average < 0.1201);      /* 48, 40 and 8, of eight */
	e = cpi_error(reference, wrong, 200 * U);
	assert_true(e.max > 0.2399 && e.max < 0.2401);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power5), cmocka_unit_test(test_power5_random), cmocka_unit_test(test_naive),
		cmocka_unit_test(test_naive_counts_lines), cmocka_unit_test(test_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
