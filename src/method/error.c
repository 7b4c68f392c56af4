#include "method/error.h"

#include <math.h>
#include <stdlib.h>

static int by_cell(const void *p, const void *q)
{
	const struct error_cell *a = p, *b = q;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->psv > b->psv) - (a->psv < b->psv);
}

/* Masks, sorts, merges; how many are left, and their sum. */
static size_t reduce(struct error_cell *c, size_t nr, uint16_t events, uint64_t *total)
{
	size_t n = 0;

	*total = 0;
	for (size_t i = 0; i < nr; i++) {
		c[i].psv &= events;
		*total += c[i].amount;
	}
	if (nr)
		qsort(c, nr, sizeof(*c), by_cell);
	for (size_t i = 0; i < nr; i++) {
		if (n && !by_cell(&c[n - 1], &c[i]))
			c[n - 1].amount += c[i].amount;
		else
			c[n++] = c[i];
	}
	return n;
}

double method_error(struct error_cell *reference, size_t nr_reference, struct error_cell *profile, size_t nr,
                    uint16_t events)
{
	uint64_t of_reference, of_profile;
	unsigned __int128 right = 0, all;

	nr_reference = reduce(reference, nr_reference, events, &of_reference);
	nr = reduce(profile, nr, events, &of_profile);
	all = (unsigned __int128)of_reference * of_profile;
	if (!all)
		return NAN;
	/* min(C * T / W, C_ref), both times W. */
	for (size_t i = 0, k = 0; i < nr; i++) {
		while (k < nr_reference && by_cell(&reference[k], &profile[i]) < 0)
			k++;
		if (k == nr_reference || by_cell(&reference[k], &profile[i]))
			continue;
		unsigned __int128 c = (unsigned __int128)profile[i].amount * of_reference;
		unsigned __int128 r = (unsigned __int128)reference[k].amount * of_profile;
		right += c < r ? c : r;
	}
	return (double)(all - right) / (double)all;
}

/* Of n draws of probability p, 0 < p < 1: E|X - np| = 2 m C(n, m) p^m (1 - p)^(n - m + 1), m = floor(np) + 1. */
static double mean_deviation(double n, double p)
{
	double m = floor(n * p) + 1;
	int sign;

	if (m > n)
		m = n;
	return 2 * m * exp(lgamma_r(n + 1, &sign) - lgamma_r(m + 1, &sign) - lgamma_r(n - m + 1, &sign) + m * log(p) +
	                   (n - m + 1) * log1p(-p));
}

double method_sampling_error(struct error_cell *reference, size_t nr, uint16_t events, uint64_t samples)
{
	uint64_t total;
	double sum = 0;

	nr = reduce(reference, nr, events, &total);
	if (!total || !samples)
		return NAN;
	for (size_t i = 0; i < nr; i++)
		if (reference[i].amount && reference[i].amount < total)
			sum += mean_deviation((double)samples, (double)reference[i].amount / (double)total);
	return sum / 2 / (double)samples;
}
