/*
 * What can be concluded from series of timings, apart from any machine.
 *
 * Noise only ever adds time (interrupts, a busy sibling thread, other guests), but for the error of the clock that is
 * calibrated beside each sample. So the truth is where the fastest samples crowd: not the single fastest, which may owe
 * itself to a clock misread.
 *
 * Place: between the sampler, which fills series, and the experiments, which ask for values.
 */
#ifndef CYCLEWISE_CALIBRATE_STATISTICS_H
#define CYCLEWISE_CALIBRATE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* A value with its spread. Invariant: low <= value <= high where samples > 0. */
struct estimate {
	double value;
	double low, high;          /* the samples that agree lie between; where noisy: the fastest twentieth and the
	                            * median */
	unsigned agreeing, samples;
	bool noisy;                /* no crowd was found: value is the median, for the reader alone */
};

/*
 * The lowest crowd: the smallest x such that `crowd` samples lie within [x, x * (1 + tolerance)]; the value is their
 * mean. `samples` is sorted. Noisy where there is none, or no sample.
 */
struct estimate estimate_floor(double *samples, size_t n, unsigned crowd, double tolerance);

/* The same with a known exact value. */
struct estimate estimate_exact(double value);

/* a - b, a / b, a * factor: the spreads add up, noisy where either is. */
struct estimate estimate_minus(struct estimate a, struct estimate b);
struct estimate estimate_ratio(struct estimate a, struct estimate b);
struct estimate estimate_scaled(struct estimate a, double factor);

/*
 * The nearest integer, but `known` where the spread does not tell these two apart: they are neighbours, and the point
 * halfway between them lies within [low, high] and is nearer to the value than either. What takes two and a half cycles
 * would be rounded by chance.
 */
double estimate_round(struct estimate e, double known);

enum { COMPANY_RECENT = 400 };

/*
 * Which samples had the core for themselves, by how many cycles a no-op took beside each. A sibling thread that is busy
 * makes it more; what is common to all samples cannot be told. Zero: nothing seen yet.
 *
 * accuracy/ tells them so, too, but has few samples in a process, where no crowd would be found: see accuracy/clock.c.
 */
struct company {
	double recent[COMPANY_RECENT]; /* cycles a no-op took beside the latest samples */
	unsigned nr_recent;
	double least;              /* the lowest floor so far, estimate_floor() of COMPANY_RECENT each; 0: not known
	                            * yet */
	unsigned crowded;          /* samples in a row */
};

/*
 * Whether a sample beside which a no-op took so many cycles was crowded. Before COMPANY_RECENT have been seen,
 * none is.
 */
bool company_crowds(struct company *c, double cycles);

/* A step up in y over x: where a structure of x entries is full. */
struct knee {
	bool found;
	double at;                 /* the last x of the lower plateau, by where y crosses halfway up */
	double low, high;          /* x between which the step lies: y a quarter and three quarters up */
	double before, after;      /* y of the two plateaus */
};

/*
 * The step in y[0..n), x ascending: the split into a lower and an upper plateau, medians of at least two points each,
 * that leaves the least distance to the points. Not found where no upper plateau is `rise` times its lower one.
 */
struct knee find_knee(const double *x, const double *y, size_t n, double rise);

/* The index from `first` on where y rises least, by ratio, to its neighbours on both sides: the middle of a plateau. */
size_t flattest(const double *y, size_t n, size_t first);

#endif
