/* What is concluded from series of timings: synthetic series whose answers are known exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/statistics.h"

#define EXACT 1e-12

static void a_crowd_of_equals(void **state)
{
	double samples[] = { 4, 9, 4, 4, 7, 4, 5 };
	struct estimate e = estimate_floor(samples, 7, 4, 0.01);

	assert_false(e.noisy);
	assert_float_equal(e.value, 4, EXACT);
	assert_float_equal(e.low, 4, EXACT);
	assert_float_equal(e.high, 4, EXACT);
	assert_int_equal(e.agreeing, 4);
	assert_int_equal(e.samples, 7);
}

/* Two samples with a misread clock lie below the crowd, which noise trails off above. */
static void outliers_below_do_not_count(void **state)
{
	double samples[] = { 3.0, 10.05, 30, 10.0, 10.1, 12, 10.02, 3.5, 20, 10.03 };
	struct estimate e = estimate_floor(samples, 10, 5, 0.01);

	assert_false(e.noisy);
	assert_float_equal(e.low, 10.0, EXACT);
	assert_float_equal(e.high, 10.1, EXACT);
	assert_float_equal(e.value, (10.0 + 10.02 + 10.03 + 10.05 + 10.1) / 5, EXACT);
	assert_int_equal(e.agreeing, 5);
}

static void the_lower_of_two_crowds(void **state)
{
	double samples[] = { 2, 2, 2, 1, 1, 1, 2, 2, 2, 2 };

	assert_float_equal(estimate_floor(samples, 10, 3, 0.01).value, 1, EXACT);
	assert_float_equal(estimate_floor(samples, 10, 4, 0.01).value, 2, EXACT);
}

static void no_crowd_is_noise(void **state)
{
	double samples[] = { 5, 1, 2, 3, 4 };
	struct estimate e = estimate_floor(samples, 5, 2, 0.1);

	assert_true(e.noisy);
	assert_float_equal(e.value, 3, EXACT);
	assert_float_equal(e.low, 1, EXACT);
	assert_int_equal(e.agreeing, 0);
	assert_true(estimate_floor(NULL, 0, 2, 0.1).noisy);
	assert_true(estimate_floor(samples, 1, 2, 0.1).noisy);
}

static void spreads_add_up(void **state)
{
	struct estimate a = { 10, 9, 12, 20, 30, false }, b = { 4, 3, 5, 10, 40, false }, c = b, e;

	e = estimate_minus(a, b);
	assert_float_equal(e.value, 6, EXACT);
	assert_float_equal(e.low, 4, EXACT);
	assert_float_equal(e.high, 9, EXACT);
	assert_int_equal(e.agreeing, 20);
	assert_int_equal(e.samples, 30);
	assert_false(e.noisy);
	e = estimate_ratio(a, b);
	assert_float_equal(e.value, 2.5, EXACT);
	assert_float_equal(e.low, 9.0 / 5, EXACT);
	assert_float_equal(e.high, 4, EXACT);
	e = estimate_scaled(a, 0.5);
	assert_float_equal(e.value, 5, EXACT);
	assert_float_equal(e.low, 4.5, EXACT);
	assert_float_equal(e.high, 6, EXACT);
	c.noisy = true;
	assert_true(estimate_minus(a, c).noisy);
	assert_true(estimate_ratio(c, a).noisy);
	c = (struct estimate){ 0, 0, 1, 1, 1, false };
	assert_true(estimate_ratio(a, c).noisy);
	/* An exact value has no samples to count. */
	e = estimate_ratio(estimate_exact(2), a);
	assert_int_equal(e.samples, 30);
	assert_int_equal(e.agreeing, 20);
	e = estimate_exact(7);
	assert_false(e.noisy);
	assert_float_equal(e.value, 7, EXACT);
}

static void a_step(void **state)
{
	double x[20], y[20];
	struct knee k;

	for (int i = 0; i < 20; i++) {
		x[i] = 200 + 4 * i;
		y[i] = x[i] <= 224 ? 420 : 730;
	}
	k = find_knee(x, y, 20, 1.2);
	assert_true(k.found);
	assert_float_equal(k.before, 420, EXACT);
	assert_float_equal(k.after, 730, EXACT);
	/* Between 224 and 228, halfway up. */
	assert_float_equal(k.at, 226, EXACT);
	assert_float_equal(k.low, 225, EXACT);
	assert_float_equal(k.high, 227, EXACT);
	assert_false(find_knee(x, y, 20, 1.8).found);
}

/* A ramp of five points between the plateaus, and one outlier far left of it. */
static void a_ramp_with_an_outlier(void **state)
{
	double x[20], y[20];
	struct knee k;

	for (int i = 0; i < 20; i++) {
		x[i] = i;
		y[i] = i < 8 ? 100 : i < 12 ? 100 + 25 * (i - 7) : 200;
	}
	y[3] = 500;
	k = find_knee(x, y, 20, 1.5);
	assert_true(k.found);
	assert_float_equal(k.before, 100, EXACT);
	assert_float_equal(k.after, 200, EXACT);
	assert_float_equal(k.low, 8, EXACT);
	assert_float_equal(k.at, 9, EXACT);
	assert_float_equal(k.high, 10, EXACT);
}

static void no_step(void **state)
{
	double x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, flat[8] = { 5, 5, 5, 5, 5, 5, 5, 5 }, down[8] = { 9, 9, 9, 9, 5, 5, 5, 5 };

	assert_false(find_knee(x, flat, 8, 1.05).found);
	assert_false(find_knee(x, down, 8, 1.05).found);
	assert_false(find_knee(x, flat, 3, 1.05).found);
}

/* Halfway between two integers the known one is taken; not where the spread, or the value, says which it is. */
static void halfway_to_what_is_known(void **state)
{
	static const struct { double value, low, high, known, rounded; } t[] = {
		{ 0.49, 0.48, 0.51, 0, 0 }, { 0.49, 0.48, 0.51, 1, 1 }, { 0.51, 0.49, 0.52, 0, 0 }, { 0.51, 0.49, 0.52, 1, 1 },
		{ 0.51, 0.49, 0.52, 2, 1 }, { 0.49, 0.48, 0.51, -1, 0 }, /* no neighbour */
		{ 0.52, 0.51, 0.53, 0, 1 }, { 0.48, 0.47, 0.49, 1, 0 },  /* the spread does not reach halfway */
		{ 2.74, 2.10, 3.40, 2, 2 }, { 2.76, 2.10, 3.40, 2, 3 }, { 3.01, 2.40, 3.60, 2, 3 }, /* nearer to an integer */
		{ 2.5, 2.5, 2.5, 2, 2 }, { 2.5, 2.5, 2.5, 3, 3 }, { -0.5, -0.5, -0.5, 0, 0 }, { 7, 7, 7, 6, 7 },
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		double rounded = estimate_round((struct estimate){ .value = t[i].value, .low = t[i].low, .high = t[i].high }, t[i].known);
		if (rounded != t[i].rounded)
			fail_msg("%g (%g to %g), known %g: %g", t[i].value, t[i].low, t[i].high, t[i].known, rounded);
	}
}

static void the_flattest_point(void **state)
{
	double y[] = { 4, 4, 9, 14, 14, 14.1, 20, 40, 50, 50.5, 51, 200, 300 };

	assert_int_equal(flattest(y, 13, 2), 4);
	assert_int_equal(flattest(y, 13, 6), 9);
	assert_int_equal(flattest(y, 13, 0), 0);
}

/* Tells a run of samples, of which every tenth is `other`, how many cycles a no-op took; how many of them are crowded. */
static unsigned crowded(struct company *company, double cycles, double other)
{
	unsigned nr = 0;

	for (int i = 0; i < COMPANY_RECENT; i++)
		nr += company_crowds(company, i % 10 == 9 ? other : cycles);
	return nr;
}

/* On a processor of eight slots: busy at first, then less, then not; a clock misread now and then makes no better core. */
static void a_busy_sibling_leaves_less(void **state)
{
	struct company company = { 0 };

	assert_int_equal(crowded(&company, 1 / 6.2, 1 / 6.25), 0);
	assert_int_equal(crowded(&company, 1 / 6.2, 1 / 5.9), COMPANY_RECENT / 10);
	assert_int_equal(crowded(&company, 1 / 7.9, 1 / 6.2), 1); /* the last one: then enough has been seen */
	assert_int_equal(crowded(&company, 1 / 6.2, 1 / 7.9), COMPANY_RECENT * 9 / 10);
	assert_float_equal((company.least * 7.9), 1, EXACT);
	assert_int_equal(company.crowded, 0);
	for (int i = 0; i < COMPANY_RECENT; i++)
		assert_int_equal(company_crowds(&company, i % 40 ? 1 / 7.9 : 1 / 9.0), 0);
	assert_float_equal((company.least * 7.9), 1, EXACT);
	assert_true(company_crowds(&company, 1 / 7.5));
	assert_true(company_crowds(&company, 1 / 7.5));
	assert_int_equal(company.crowded, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crowd_of_equals),
		cmocka_unit_test(outliers_below_do_not_count),
		cmocka_unit_test(the_lower_of_two_crowds),
		cmocka_unit_test(no_crowd_is_noise),
		cmocka_unit_test(spreads_add_up),
		cmocka_unit_test(a_step),
		cmocka_unit_test(a_ramp_with_an_outlier),
		cmocka_unit_test(no_step),
		cmocka_unit_test(halfway_to_what_is_known),
		cmocka_unit_test(the_flattest_point),
		cmocka_unit_test(a_busy_sibling_leaves_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
