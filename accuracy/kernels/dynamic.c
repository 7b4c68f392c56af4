/* A recursive filter and dynamic programs: deriche, floyd-warshall, nussinov. */
#include <math.h>

#include "kernel.h"

static size_t n, steps;
static double *image, *filtered, *forward, *backward;
static int *table;
static int *sequence;

static double shape_deriche(size_t elements, double budget)
{
	(void)budget;
	n = root2((double)elements / 4, 8);
	image = take(n * n);
	filtered = take(n * n);
	forward = take(n * n);
	backward = take(n * n);
	return 6 * (double)(n * n);
}

/* Deriche's edge detector: a recursive filter along the rows both ways, then along the columns. Ref: Deriche, 1990. */
static void deriche(void)
{
	const double alpha = 0.25, decay = exp(-alpha), square = decay * decay;
	const double k = (1 - decay) * (1 - decay) / (1 + 2 * alpha * decay - square);
	const double c1 = k, c2 = k * decay * (alpha - 1), c3 = k * decay * (alpha + 1), c4 = -k * square, b1 = 2 * decay, b2 = -square;
	const double (*I)[n] = (const void *)image;
	double (*restrict O)[n] = (void *)filtered, (*restrict F)[n] = (void *)forward, (*restrict B)[n] = (void *)backward;

	for (size_t i = 0; i < n; i++) {
		double y1 = 0, y2 = 0, x1 = 0, x2 = 0;
		for (size_t j = 0; j < n; j++) {
			double y = c1 * I[i][j] + c2 * x1 + b1 * y1 + b2 * y2;
			x1 = I[i][j];
			y2 = y1;
			y1 = F[i][j] = y;
		}
		x1 = y1 = y2 = 0;
		for (size_t j = n; j-- > 0;) {
			double y = c3 * x1 + c4 * x2 + b1 * y1 + b2 * y2;
			x2 = x1;
			x1 = I[i][j];
			y2 = y1;
			y1 = B[i][j] = y;
		}
	}
	for (size_t i = 0; i < n * n; i++)
		filtered[i] = forward[i] + backward[i];
	for (size_t j = 0; j < n; j++) {
		double y1 = 0, y2 = 0, x1 = 0, x2 = 0;
		for (size_t i = 0; i < n; i++) {
			double y = c1 * O[i][j] + c2 * x1 + b1 * y1 + b2 * y2;
			x1 = O[i][j];
			y2 = y1;
			y1 = F[i][j] = y;
		}
		x1 = y1 = y2 = 0;
		for (size_t i = n; i-- > 0;) {
			double y = c3 * x1 + c4 * x2 + b1 * y1 + b2 * y2;
			x2 = x1;
			x1 = O[i][j];
			y2 = y1;
			y1 = B[i][j] = y;
		}
	}
	for (size_t i = 0; i < n * n; i++)
		filtered[i] = forward[i] + backward[i];
}

static double shape_paths(size_t elements, double budget)
{
	n = root2(2 * (double)elements, 8);
	steps = between(budget / (double)(n * n), 1, n);
	table = (int *)(void *)take(n * n / 2 + 1);
	for (size_t i = 0; i < n * n; i++)
		table[i] = (int)(i * 7919 % 1009) + 1;
	return (double)steps * (double)(n * n);
}

/* Shortest paths by way of the first nodes. */
static void floyd_warshall(void)
{
	int (*restrict D)[n] = (void *)table;

	for (size_t k = 0; k < steps; k++)
		for (size_t i = 0; i < n; i++) {
			int to = D[i][k];
			for (size_t j = 0; j < n; j++) {
				int by = to + D[k][j];
				D[i][j] = by < D[i][j] ? by : D[i][j];
			}
		}
}

static double shape_nussinov(size_t elements, double budget)
{
	n = root2(2 * (double)elements, 8);
	steps = n;
	if ((double)n * (double)n * (double)n / 6 > budget) {
		n = root2(4 * (double)elements * 0.95, 8); /* half of the table is used */
		steps = between(budget / ((double)(n * n) / 2), 1, n);
	}
	table = (int *)(void *)take(n * n / 2 + 1);
	sequence = (int *)(void *)take(n / 2 + 1);
	for (size_t i = 0; i < n * n; i++)
		table[i] = 0;
	for (size_t i = 0; i < n; i++)
		sequence[i] = (int)(i * i % 4);
	return steps == n ? (double)(n * n * n) / 6 : (double)steps * (double)(n * n) / 2;
}

static inline int most(int x, int y)
{
	return x > y ? x : y;
}

/* Pairs of bases in an RNA sequence: the rows of its first bases, those of the others taken as done. Ref: Nussinov, 1978. */
static void nussinov(void)
{
	int (*T)[n] = (void *)table;

	for (size_t i = steps; i-- > 0;)
		for (size_t j = i + 1; j < n; j++) {
			int best = most(T[i][j - 1], i + 1 < n ? T[i + 1][j] : 0);
			if (i + 1 < j)
				best = most(best, T[i + 1][j - 1] + (sequence[i] + sequence[j] == 3));
			for (size_t k = i + 1; k + 1 < j; k++)
				best = most(best, T[i][k] + T[k + 1][j]);
			T[i][j] = best;
		}
}

const struct kernel dynamic_kernels[] = {
	{ "deriche", shape_deriche, deriche, 0 },
	{ "floyd-warshall", shape_paths, floyd_warshall, 0 },
	{ "nussinov", shape_nussinov, nussinov, 0 },
	{ 0 },
};
