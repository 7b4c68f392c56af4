/* Updates of the BLAS: gemm, gemver, gesummv, symm, syr2k, syrk, trmm. */
#include "kernel.h"

static const double alpha = 1.5, beta = 0.25;
static size_t ni, nj, nk;
static double *a, *b, *c, *u1, *v1, *u2, *v2, *w, *x, *y, *z;

/* One big factor of n by n; as many rows on the other side as the budget allows. */
static double shape_gemm(size_t elements, double budget)
{
	size_t square = root2((double)elements / 3, 4), wide = root2((double)elements * 0.9, 4);

	nj = nk = (double)square * (double)square * (double)square <= budget ? square : wide;
	ni = between(budget / (double)(nj * nk), 1, nj == square ? square : wide / 16 + 1);
	a = take(ni * nk);
	b = take(nk * nj);
	c = take(ni * nj);
	return (double)(ni * nj * nk);
}

static void gemm(void)
{
	const double (*A)[nk] = (const void *)a, (*B)[nj] = (const void *)b;
	double (*restrict C)[nj] = (void *)c;

	for (size_t i = 0; i < ni; i++)
		for (size_t j = 0; j < nj; j++)
			C[i][j] *= beta;
	for (size_t kk = 0, ke; kk < nk; kk = ke) {
		ke = tile_end(kk, nk);
		for (size_t jj = 0, je; jj < nj; jj = je) {
			je = tile_end(jj, nj);
			for (size_t i = 0; i < ni; i++)
				for (size_t k = kk; k < ke; k++)
					for (size_t j = jj; j < je; j++)
						C[i][j] += alpha * A[i][k] * B[k][j];
		}
	}
}

static double shape_gemver(size_t elements, double budget)
{
	(void)budget;
	ni = root2((double)elements, 4);
	a = take(ni * ni);
	u1 = take(ni);
	v1 = take(ni);
	u2 = take(ni);
	v2 = take(ni);
	w = take(ni);
	x = take(ni);
	y = take(ni);
	z = take(ni);
	return 3 * (double)(ni * ni);
}

/* A <- A + u1 v1' - u2 v2', x <- beta A'y + z, w <- alpha A x. */
static void gemver(void)
{
	double (*restrict A)[ni] = (void *)a;

	for (size_t i = 0; i < ni; i++)
		for (size_t j = 0; j < ni; j++)
			A[i][j] += u1[i] * v1[j] - u2[i] * v2[j];
	for (size_t i = 0; i < ni; i++)
		x[i] = z[i];
	for (size_t jj = 0, je; jj < ni; jj = je) {
		je = tile_end(jj, ni);
		for (size_t i = 0; i < ni; i++)
			for (size_t j = jj; j < je; j++)
				x[j] += beta * A[i][j] * y[i];
	}
	for (size_t i = 0; i < ni; i++) {
		double sum = 0;
		for (size_t j = 0; j < ni; j++)
			sum += A[i][j] * x[j];
		w[i] = alpha * sum;
	}
}

static double shape_gesummv(size_t elements, double budget)
{
	(void)budget;
	ni = root2((double)elements / 2, 4);
	a = take(ni * ni);
	b = take(ni * ni);
	x = take(ni);
	y = take(ni);
	return (double)(ni * ni);
}

static void gesummv(void)
{
	const double (*A)[ni] = (const void *)a, (*B)[ni] = (const void *)b;

	for (size_t i = 0; i < ni; i++) {
		double first = 0, second = 0;
		for (size_t j = 0; j < ni; j++) {
			first += A[i][j] * x[j];
			second += B[i][j] * x[j];
		}
		y[i] = alpha * first + beta * second;
	}
}

/* A triangle of m by m, and columns beside it. */
static double shape_triangle(size_t elements, double budget)
{
	size_t square = root2((double)elements / 3, 4);

	ni = (double)square * (double)square * (double)square <= 2 * budget ? square : root2((double)elements * 0.8, 4);
	nj = ni == square ? square : between(2 * budget / (double)(ni * ni), 1, ni / 10 + 1);
	a = take(ni * ni);
	b = take(ni * nj);
	c = take(ni * nj);
	return (double)(ni * ni * nj) / 2;
}

/* C <- alpha A B + beta C, A symmetric, of which the lower triangle is there. */
static void symm(void)
{
	const double (*A)[ni] = (const void *)a, (*B)[nj] = (const void *)b;
	double (*restrict C)[nj] = (void *)c;

	for (size_t i = 0; i < ni; i++)
		for (size_t j = 0; j < nj; j++) {
			double sum = 0;
			for (size_t k = 0; k < i; k++) {
				C[k][j] += alpha * B[i][j] * A[i][k];
				sum += B[k][j] * A[i][k];
			}
			C[i][j] = beta * C[i][j] + alpha * (B[i][j] * A[i][i] + sum);
		}
	for (size_t i = 0; i < ni * nj; i++)
		c[i] *= 0x1p-12;       /* run after run in range */
}

/* B <- A'B, A unit lower triangular; scaled, to stay in range. */
static void trmm(void)
{
	const double (*A)[ni] = (const void *)a, scale = 1 / (double)ni;
	double (*restrict B)[nj] = (void *)b;

	for (size_t i = 0; i < ni; i++) {
		for (size_t k = i + 1; k < ni; k++)
			for (size_t j = 0; j < nj; j++)
				B[i][j] += A[k][i] * B[k][j];
		for (size_t j = 0; j < nj; j++)
			B[i][j] *= scale;
	}
}

/* C of n by n, A (and B) of n by m: rows as the budget allows. */
static double shape_rank(size_t elements, double budget, size_t matrices)
{
	ni = between(2 * budget / (double)elements, 2, root2((double)elements / (double)(matrices + 1), 2));
	nk = (elements - ni * ni) / (matrices * ni);
	a = take(ni * nk);
	b = matrices > 1 ? take(ni * nk) : NULL;
	c = take(ni * ni);
	return (double)(ni * ni * nk) / 2;
}

static double shape_syrk(size_t elements, double budget)
{
	return shape_rank(elements, budget, 1);
}

static double shape_syr2k(size_t elements, double budget)
{
	return shape_rank(elements, budget, 2);
}

/* C <- alpha A A' + beta C, the lower triangle. */
static void syrk(void)
{
	const double (*A)[nk] = (const void *)a;
	double (*restrict C)[ni] = (void *)c;

	for (size_t i = 0; i < ni; i++)
		for (size_t j = 0; j <= i; j++)
			C[i][j] *= beta;
	for (size_t kk = 0, ke; kk < nk; kk = ke) {
		ke = tile_end(kk, nk);
		for (size_t i = 0; i < ni; i++)
			for (size_t j = 0; j <= i; j++) {
				double sum = 0;
				for (size_t k = kk; k < ke; k++)
					sum += A[i][k] * A[j][k];
				C[i][j] += alpha * sum;
			}
	}
}

/* C <- alpha A B' + alpha B A' + beta C, the lower triangle. */
static void syr2k(void)
{
	const double (*A)[nk] = (const void *)a, (*B)[nk] = (const void *)b;
	double (*restrict C)[ni] = (void *)c;

	for (size_t i = 0; i < ni; i++)
		for (size_t j = 0; j <= i; j++)
			C[i][j] *= beta;
	for (size_t kk = 0, ke; kk < nk; kk = ke) {
		ke = tile_end(kk, nk);
		for (size_t i = 0; i < ni; i++)
			for (size_t j = 0; j <= i; j++) {
				double sum = 0;
				for (size_t k = kk; k < ke; k++)
					sum += A[i][k] * B[j][k] + B[i][k] * A[j][k];
				C[i][j] += alpha * sum;
			}
	}
}

const struct kernel blas_kernels[] = {
	{ "gemm", shape_gemm, gemm, 1 },
	{ "gemver", shape_gemver, gemver, 1 },
	{ "gesummv", shape_gesummv, gesummv, 0 },
	{ "symm", shape_triangle, symm, 0 },
	{ "syr2k", shape_syr2k, syr2k, 1 },
	{ "syrk", shape_syrk, syrk, 1 },
	{ "trmm", shape_triangle, trmm, 0 },
	{ 0 },
};
