/*
 * Decompositions and solvers: cholesky, durbin, gramschmidt, lu, ludcmp, trisolv.
 *
 * Where the budget does not allow a whole decomposition, the last rows are decomposed, those before taken as done: these
 * read all of the matrix.
 */
#include <math.h>

#include "kernel.h"

static size_t n, m, first, steps;
static double *a, *saved, *b, *x, *y, *z, *q, *r;

/* Diagonally dominant, so that no pivot vanishes. */
static void dominate(void)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			a[i * n + j] = i == j ? 4 * (double)n : 1 + (double)((i + j) % 7) / 8;
}

/* The rows that the kernel changes, as they were. */
static void restore(void)
{
	double *restrict to = a + first * n;

	for (size_t i = 0; i < (n - first) * n; i++)
		to[i] = saved[i];
}

/* A matrix of n by n, of which the rows from `first` on are decomposed; each takes n * n * share iterations. */
static double shape_rows(size_t elements, double budget, double share)
{
	n = root2((double)elements / 2, 8);
	first = 0;
	if ((double)n * (double)n * (double)n * share / 3 > budget) {
		n = root2((double)elements * 0.95, 8);
		first = n - between(budget / ((double)(n * n) * share), 1, n / 16 + 1);
	}
	a = take(n * n);
	saved = take((n - first) * n);
	x = take(n);
	y = take(n);
	b = take(n);
	dominate();
	for (size_t i = 0; i < (n - first) * n; i++)
		saved[i] = a[first * n + i];
	return first ? (double)((n - first) * n * n) * share : (double)(n * n * n) * share / 3;
}

static double shape_cholesky(size_t elements, double budget)
{
	return shape_rows(elements, budget, 0.5);
}

static double shape_ludcmp(size_t elements, double budget)
{
	return shape_rows(elements, budget, 1);
}

/* A = L L', by rows. */
static void cholesky(void)
{
	double (*A)[n] = (void *)a;

	restore();
	for (size_t i = first; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			double sum = 0;
			for (size_t k = 0; k < j; k++)
				sum += A[i][k] * A[j][k];
			A[i][j] = (A[i][j] - sum) / A[j][j];
		}
		double sum = 0;
		for (size_t k = 0; k < i; k++)
			sum += A[i][k] * A[i][k];
		A[i][i] = sqrt(A[i][i] - sum);
	}
}

/* A = L U by rows and columns (Crout), then L y = b and U x = y. */
static void ludcmp(void)
{
	double (*A)[n] = (void *)a;

	restore();
	for (size_t i = first; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double w = A[i][j];
			size_t end = j < i ? j : i;
			for (size_t k = 0; k < end; k++)
				w -= A[i][k] * A[k][j];
			A[i][j] = j < i ? w / A[j][j] : w;
		}
	for (size_t i = first; i < n; i++) {
		double w = b[i];
		for (size_t j = 0; j < i; j++)
			w -= A[i][j] * y[j];
		y[i] = w;
	}
	for (size_t i = n; i-- > first;) {
		double w = y[i];
		for (size_t j = i + 1; j < n; j++)
			w -= A[i][j] * x[j];
		x[i] = w / A[i][i];
	}
}

static double shape_lu(size_t elements, double budget)
{
	double work = 0;

	n = root2((double)elements / 2, 8);
	steps = n;
	if ((double)n * (double)n * (double)n / 3 > budget) {
		n = root2((double)elements * 0.95, 8);
		steps = between(budget / (double)(n * n), 1, n);
	}
	first = steps < n ? n : 0;     /* a few steps change all, but little: no need to restore it */
	a = take(n * n);
	saved = take((n - first) * n);
	dominate();
	for (size_t i = 0; i < (n - first) * n; i++)
		saved[i] = a[i];
	for (size_t k = 0; k < steps; k++)
		work += (double)((n - k) * (n - k));
	return work;
}

/* A = L U, each step updating what is right of it and below. */
static void lu(void)
{
	double (*restrict A)[n] = (void *)a;

	restore();
	for (size_t k = 0; k < steps; k++)
		for (size_t i = k + 1; i < n; i++) {
			double factor = A[i][k] /= A[k][k];
			for (size_t j = k + 1; j < n; j++)
				A[i][j] -= factor * A[k][j];
		}
}

static double shape_durbin(size_t elements, double budget)
{
	n = elements / 3;
	steps = between(budget / (2 * (double)n), 1, n - 1);
	r = take(n);
	y = take(n);
	z = take(n);
	for (size_t i = 0; i < n; i++)
		r[i] = (i % 2 ? -0.25 : 0.25) / (double)(i + 1);
	return steps == n - 1 ? (double)n * (double)n : 2 * (double)n * (double)steps;
}

/* The Yule-Walker equations by Levinson's and Durbin's recursion, its last steps. */
static void durbin(void)
{
	double alpha = -r[0], beta = 1;

	y[0] = -r[0];
	for (size_t k = n - steps; k < n; k++) {
		double sum = r[k];
		beta *= 1 - alpha * alpha;
		for (size_t i = 0; i < k; i++)
			sum += r[k - i - 1] * y[i];
		alpha = -sum / beta;
		alpha = alpha > 0.5 ? 0.5 : alpha < -0.5 ? -0.5 : alpha;
		for (size_t i = 0; i < k; i++)
			z[i] = y[i] + alpha * y[k - i - 1];
		for (size_t i = 0; i < k; i++)
			y[i] = z[i];
		y[k] = alpha;
		beta = beta < 0.01 ? 1 : beta;
	}
	for (size_t i = 0; i < n; i++)
		y[i] = r[i];
}

static double shape_gramschmidt(size_t elements, double budget)
{
	n = root2((double)elements / 3, 4);
	m = n;
	steps = between(budget / (2 * (double)(m * n)), 1, n);
	a = take(m * n);
	q = take(m * n);
	r = take(n * n);
	for (size_t i = 0; i < m * n; i++)
		a[i] += (double)(i % (n + 1) == 0) * 8;
	return steps == n ? (double)(m * n * n) : 2 * (double)(m * n * steps);
}

/* A = Q R, column by column. */
static void gramschmidt(void)
{
	double (*restrict A)[n] = (void *)a, (*restrict Q)[n] = (void *)q, (*restrict R)[n] = (void *)r;

	for (size_t k = 0; k < steps; k++) {
		double norm = 0;
		for (size_t i = 0; i < m; i++)
			norm += A[i][k] * A[i][k];
		R[k][k] = sqrt(norm);
		for (size_t i = 0; i < m; i++)
			Q[i][k] = A[i][k] / R[k][k];
		for (size_t j = k + 1; j < n; j++) {
			double sum = 0;
			for (size_t i = 0; i < m; i++)
				sum += Q[i][k] * A[i][j];
			R[k][j] = sum;
			for (size_t i = 0; i < m; i++)
				A[i][j] -= Q[i][k] * sum;
		}
	}
}

static double shape_trisolv(size_t elements, double budget)
{
	(void)budget;
	n = root2(2 * (double)elements * 0.95, 8);
	a = take(n * n);
	x = take(n);
	b = take(n);
	dominate();
	return (double)(n * n) / 2;
}

/* L x = b. */
static void trisolv(void)
{
	const double (*L)[n] = (const void *)a;

	for (size_t i = 0; i < n; i++) {
		double sum = b[i];
		for (size_t j = 0; j < i; j++)
			sum -= L[i][j] * x[j];
		x[i] = sum / L[i][i];
	}
}

const struct kernel solver_kernels[] = {
	{ "cholesky", shape_cholesky, cholesky, 0 },
	{ "durbin", shape_durbin, durbin, 0 },
	{ "gramschmidt", shape_gramschmidt, gramschmidt, 0 },
	{ "lu", shape_lu, lu, 0 },
	{ "ludcmp", shape_ludcmp, ludcmp, 0 },
	{ "trisolv", shape_trisolv, trisolv, 0 },
	{ 0 },
};
