/* The error metric: by hand, its bounds, and random profiles against the sum as the paper writes it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "method/error.h"
#include "method/sampler.h"
#include "stream.h"

static double error(const struct error_cell *reference, size_t nr_reference, const struct error_cell *profile, size_t nr,
                    uint16_t events)
{
	struct error_cell *r = malloc(nr_reference * sizeof(*r) + 1), *p = malloc(nr * sizeof(*p) + 1);

	if (nr_reference)
		memcpy(r, reference, nr_reference * sizeof(*r));
	if (nr)
		memcpy(p, profile, nr * sizeof(*p));
	double e = method_error(r, nr_reference, p, nr, events);
	free(r);
	free(p);
	return e;
}

#define ERROR(r, p, events) error(r, G_N_ELEMENTS(r), p, G_N_ELEMENTS(p), events)

static void test_by_hand(void **ctx)
{
	const struct error_cell reference[] = { { 1, 60, PSV_ST_L1 }, { 1, 20, PSV_FL_EX }, { 2, 15, 0 }, { 3, 5, 0 } };
	const struct error_cell same[] = { { 3, 2, 0 }, { 1, 24, PSV_ST_L1 }, { 2, 6, 0 }, { 1, 4, PSV_FL_EX }, { 1, 4, PSV_FL_EX } };
	const struct error_cell elsewhere[] = { { 4, 7, PSV_ST_L1 } };
	const struct error_cell half[] = { { 1, 1, PSV_ST_L1 }, { 2, 1, 0 } };

	assert_true(ERROR(reference, same, PSV_ALL) == 0.0);            /* in another order, scaled by 2.5 and in pieces */
	assert_true(ERROR(reference, elsewhere, PSV_ALL) == 1.0);
	assert_true(ERROR(reference, half, PSV_ALL) == 0.35);           /* min(50, 60) + min(50, 15) */
	/* Hardware without FL-EX: the reference's 20 are in its Base. */
	const struct error_cell blind[] = { { 1, 60, PSV_ST_L1 }, { 1, 20, 0 }, { 2, 15, 0 }, { 3, 5, 0 } };
	assert_true(ERROR(reference, blind, PSV_ALL) == 0.2);
	assert_true(ERROR(reference, blind, PSV_ST_L1) == 0.0);
	assert_true(isnan(error(reference, 4, NULL, 0, PSV_ALL)));
	assert_true(isnan(error(NULL, 0, half, 2, PSV_ALL)));
}

/* Sums as great as those of an hour of cycles stay exact. */
static void test_great(void **ctx)
{
	const uint64_t much = (uint64_t)1 << 61;
	const struct error_cell reference[] = { { 1, much, 0 }, { 2, much, 0 } };
	const struct error_cell profile[] = { { 1, much, 0 }, { 2, much / 2, 0 }, { 3, much / 2, 0 } };

	assert_true(ERROR(reference, profile, PSV_ALL) == 0.25);
}

static void test_random(void **ctx)
{
	uint64_t random = 12345;

	for (unsigned round = 0; round < 200; round++) {
		enum { UNITS = 5, PSVS = 8, CELLS = 60 };
		struct error_cell cell[2][CELLS];
		uint64_t sum[2][UNITS][PSVS] = { 0 }, total[2] = { 0 };
		uint16_t events = (uint16_t)stream_random(&random, PSVS);
		double right = 0;

		for (unsigned side = 0; side < 2; side++)
			for (unsigned i = 0; i < CELLS; i++) {
				struct error_cell c = { stream_random(&random, UNITS), stream_random(&random, 1000),
				                        (uint16_t)stream_random(&random, PSVS) };
				cell[side][i] = c;
				sum[side][c.unit][c.psv & events] += c.amount;
				total[side] += c.amount;
			}
		for (unsigned u = 0; u < UNITS; u++)
			for (unsigned s = 0; s < PSVS; s++) {
				double r = (double)sum[0][u][s], c = (double)sum[1][u][s] * (double)total[0] / (double)total[1];
				right += c < r ? c : r;
			}
		double expected = ((double)total[0] - right) / (double)total[0];
		assert_true(fabs(ERROR(cell[0], cell[1], events) - expected) < 1e-12);
	}
}

static double pure(const struct error_cell *reference, size_t nr, uint16_t events, uint64_t samples)
{
	struct error_cell *r = malloc(nr * sizeof(*r) + 1);

	memcpy(r, reference, nr * sizeof(*r));
	double e = method_sampling_error(r, nr, events, samples);
	free(r);
	return e;
}

/* The mean over all ways in which a few samples of three cells can fall. */
static double all_ways(const double p[3], unsigned n)
{
	double sum = 0, choose[2] = { 1, 1 };

	for (unsigned a = 0; a <= n; choose[0] = choose[0] * (n - a) / (a + 1), a++) {
		choose[1] = 1;
		for (unsigned b = 0; a + b <= n; choose[1] = choose[1] * (n - a - b) / (b + 1), b++) {
			unsigned c = n - a - b;
			double right = fmin((double)a / n, p[0]) + fmin((double)b / n, p[1]) + fmin((double)c / n, p[2]);
			sum += choose[0] * choose[1] * pow(p[0], a) * pow(p[1], b) * pow(p[2], c) * (1 - right);
		}
	}
	return sum;
}

static void test_sampling_error(void **ctx)
{
	const struct error_cell reference[] = { { 1, 50, PSV_ST_L1 }, { 1, 20, 0 }, { 2, 30, 0 } };

	for (unsigned n = 1; n <= 12; n++) {
		assert_true(fabs(pure(reference, 3, PSV_ALL, n) - all_ways((const double[]){ 0.5, 0.2, 0.3 }, n)) < 1e-12);
		assert_true(fabs(pure(reference, 3, 0, n) - all_ways((const double[]){ 0.7, 0.3, 0 }, n)) < 1e-12);
	}
	assert_true(pure(reference, 1, PSV_ALL, 5) == 0.0);
	assert_true(isnan(pure(reference, 3, PSV_ALL, 0)));
	assert_true(pure(reference, 3, PSV_ALL, 1000000) < 1e-3 && pure(reference, 3, PSV_ALL, 1000000) > 1e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_great), cmocka_unit_test(test_random),
		cmocka_unit_test(test_sampling_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
