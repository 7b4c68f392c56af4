/* Series of timings and what they say; statistics.h has the reasons. */
#include "calibrate/statistics.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct estimate estimate_floor(double *samples, size_t n, unsigned crowd, double tolerance)
{
	struct estimate e = { .samples = (unsigned)n, .noisy = true };

	if (n == 0)
		return e;
	qsort(samples, n, sizeof *samples, ascending);
	for (size_t i = 0; i + crowd <= n; i++) {
		double sum = 0;

		if (samples[i + crowd - 1] > samples[i] * (1 + tolerance))
			continue;
		for (size_t k = i; k < n && samples[k] <= samples[i] * (1 + tolerance); k++) {
			sum += samples[k];
			e.high = samples[k];
			e.agreeing++;
		}
		e.low = samples[i];
		e.value = sum / e.agreeing;
		e.noisy = false;
		return e;
	}
	e.low = samples[n / 20];
	e.value = e.high = samples[n / 2];
	return e;
}

struct estimate estimate_exact(double value)
{
	return (struct estimate){ .value = value, .low = value, .high = value, .agreeing = 1, .samples = 1 };
}

/* An exact value has no samples to count: then the other's do, else those of what has fewer. */
static struct estimate combine(struct estimate a, struct estimate b)
{
	bool b_counts = a.samples == 1 || (b.samples != 1 && b.samples < a.samples);

	a.noisy = a.noisy || b.noisy;
	a.agreeing = b_counts ? b.agreeing : a.agreeing;
	a.samples = b_counts ? b.samples : a.samples;
	return a;
}

struct estimate estimate_minus(struct estimate a, struct estimate b)
{
	struct estimate e = combine(a, b);

	e.value = a.value - b.value;
	e.low = a.low - b.high;
	e.high = a.high - b.low;
	return e;
}

struct estimate estimate_ratio(struct estimate a, struct estimate b)
{
	struct estimate e = combine(a, b);

	if (b.low <= 0)
		return (struct estimate){ .noisy = true };
	e.value = a.value / b.value;
	e.low = a.low / b.high;
	e.high = a.high / b.low;
	return e;
}

struct estimate estimate_scaled(struct estimate a, double factor)
{
	a.value *= factor;
	a.low *= factor;
	a.high *= factor;
	return a;
}

double estimate_round(struct estimate e, double known)
{
	double nearest = round(e.value), halfway = (nearest + known) / 2;

	if (fabs(nearest - known) == 1 && halfway >= e.low && halfway <= e.high && fabs(e.value - halfway) <= 0.25)
		return known;
	return nearest;
}

bool company_crowds(struct company *c, double cycles)
{
	static const double crowd = 0.05, agree = 0.01;
	static const double more = 1.04;  /* times the least: the clock's error is less, a busy sibling takes a fifth
	                                   * and more */

	c->recent[c->nr_recent++] = cycles;
	if (c->nr_recent == COMPANY_RECENT) {
		struct estimate e =
			estimate_floor(c->recent, COMPANY_RECENT, (unsigned)(crowd * COMPANY_RECENT), agree);

		if (!e.noisy && (c->least == 0 || e.value < c->least))
			c->least = e.value;
		c->nr_recent = 0;
	}
	c->crowded = c->least > 0 && cycles > c->least * more ? c->crowded + 1 : 0;
	return c->crowded;
}

static double median(const double *y, size_t n)
{
	double *sorted = g_memdup2(y, n * sizeof *y), m;

	qsort(sorted, n, sizeof *sorted, ascending);
	m = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	g_free(sorted);
	return m;
}

/* x where y first crosses `level`, between two points of the series, and stays above it at the next point. */
static double crossing(const double *x, const double *y, size_t n, double level)
{
	for (size_t i = 1; i < n; i++)
		if (y[i] >= level && (i + 1 == n || y[i + 1] >= level)) {
			double t = y[i] > y[i - 1] ? (level - y[i - 1]) / (y[i] - y[i - 1]) : 1;

			return x[i - 1] + (t < 0 ? 0 : t) * (x[i] - x[i - 1]);
		}
	return x[n - 1];
}

struct knee find_knee(const double *x, const double *y, size_t n, double rise)
{
	struct knee k = { .found = false };
	double best = 0;

	/* The split whose two medians explain the series best: the least sum of distances from them. */
	for (size_t split = 2; split + 2 <= n; split++) {
		double before = median(y, split), after = median(y + split, n - split), all = median(y, n), gain = 0;

		if (after < before * rise)
			continue;
		for (size_t i = 0; i < n; i++)
			gain += fabs(y[i] - all) - fabs(y[i] - (i < split ? before : after));
		if (gain <= best)
			continue;
		best = gain;
		k.found = true;
		k.before = before;
		k.after = after;
	}
	if (!k.found)
		return k;
	k.low = crossing(x, y, n, k.before + (k.after - k.before) * 0.25);
	k.at = crossing(x, y, n, k.before + (k.after - k.before) * 0.5);
	k.high = crossing(x, y, n, k.before + (k.after - k.before) * 0.75);
	return k;
}

size_t flattest(const double *y, size_t n, size_t first)
{
	size_t best = first;
	double least = INFINITY;

	for (size_t i = first; i + 1 < n; i++) {
		double rise = y[i + 1] / y[i > first ? i - 1 : i];

		if (rise < least) {
			least = rise;
			best = i;
		}
	}
	return best;
}
