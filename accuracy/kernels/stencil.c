/* Stencils, one step of time a run (two where two arrays take turns): adi, fdtd-2d, heat-3d, jacobi-1d, jacobi-2d, seidel-2d. */
#include "kernel.h"

static size_t n;
static double *a, *b, *u, *v, *p, *q, *ex, *ey, *hz;

static double shape_adi(size_t elements, double budget)
{
	(void)budget;
	n = root2((double)elements / 4, 8);
	u = take(n * n);
	v = take(n * n);
	p = take(n * n);
	q = take(n * n);
	return 4 * (double)(n * n);
}

/*
 * The heat equation by alternating directions: an implicit step along the columns, then one along the rows, each a
 * tridiagonal system for every line. Ref: Peaceman and Rachford, 1955.
 */
static void adi(void)
{
	const double lambda = 0.4, diagonal = 1 + lambda, side = -lambda / 2;
	double (*restrict U)[n] = (void *)u, (*restrict V)[n] = (void *)v, (*restrict P)[n] = (void *)p, (*restrict Q)[n] = (void *)q;

	for (size_t i = 1; i < n - 1; i++) {
		V[0][i] = 1;
		P[i][0] = 0;
		Q[i][0] = V[0][i];
		for (size_t j = 1; j < n - 1; j++) {
			double pivot = 1 / (side * P[i][j - 1] + diagonal);
			P[i][j] = -side * pivot;
			Q[i][j] = (lambda / 2 * (U[j][i - 1] + U[j][i + 1]) + (1 - lambda) * U[j][i] - side * Q[i][j - 1]) * pivot;
		}
		V[n - 1][i] = 1;
		for (size_t j = n - 1; j-- > 1;)
			V[j][i] = P[i][j] * V[j + 1][i] + Q[i][j];
	}
	for (size_t i = 1; i < n - 1; i++) {
		U[i][0] = 1;
		P[i][0] = 0;
		Q[i][0] = U[i][0];
		for (size_t j = 1; j < n - 1; j++) {
			double pivot = 1 / (side * P[i][j - 1] + diagonal);
			P[i][j] = -side * pivot;
			Q[i][j] = (lambda / 2 * (V[i - 1][j] + V[i + 1][j]) + (1 - lambda) * V[i][j] - side * Q[i][j - 1]) * pivot;
		}
		U[i][n - 1] = 1;
		for (size_t j = n - 1; j-- > 1;)
			U[i][j] = P[i][j] * U[i][j + 1] + Q[i][j];
	}
}

static double shape_fdtd(size_t elements, double budget)
{
	(void)budget;
	n = root2((double)elements / 3, 8);
	ex = take(n * n);
	ey = take(n * n);
	hz = take(n * n);
	return 3 * (double)(n * n);
}

/* Maxwell's equations in two dimensions. Ref: Yee, 1966. */
static void fdtd(void)
{
	double (*restrict X)[n] = (void *)ex, (*restrict Y)[n] = (void *)ey, (*restrict H)[n] = (void *)hz;

	for (size_t j = 0; j < n; j++)
		Y[0][j] = 1;
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < n; j++)
			Y[i][j] -= 0.5 * (H[i][j] - H[i - 1][j]);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 1; j < n; j++)
			X[i][j] -= 0.5 * (H[i][j] - H[i][j - 1]);
	for (size_t i = 0; i < n - 1; i++)
		for (size_t j = 0; j < n - 1; j++)
			H[i][j] -= 0.5 * (X[i][j + 1] - X[i][j] + Y[i + 1][j] - Y[i][j]);
}

static double shape_heat(size_t elements, double budget)
{
	(void)budget;
	n = root3((double)elements / 2, 5);
	a = take(n * n * n);
	b = take(n * n * n);
	return 2 * (double)(n * n * n);
}

static void heat_step(const double *from, double *to)
{
	const double (*A)[n][n] = (const void *)from;
	double (*restrict B)[n][n] = (void *)to;

	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			for (size_t k = 1; k < n - 1; k++)
				B[i][j][k] = A[i][j][k] + 0.125 * (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k]) +
					0.125 * (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k]) +
					0.125 * (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]);
}

static void heat(void)
{
	heat_step(a, b);
	heat_step(b, a);
}

static double shape_jacobi_1d(size_t elements, double budget)
{
	(void)budget;
	n = elements / 2;
	a = take(n);
	b = take(n);
	return 2 * (double)n;
}

static void jacobi_1d_step(const double *from, double *restrict to)
{
	for (size_t i = 1; i < n - 1; i++)
		to[i] = (from[i - 1] + from[i] + from[i + 1]) * (1.0 / 3);
}

static void jacobi_1d(void)
{
	jacobi_1d_step(a, b);
	jacobi_1d_step(b, a);
}

static double shape_jacobi_2d(size_t elements, double budget)
{
	(void)budget;
	n = root2((double)elements / 2, 8);
	a = take(n * n);
	b = take(n * n);
	return 2 * (double)(n * n);
}

static void jacobi_2d_step(const double *from, double *to)
{
	const double (*A)[n] = (const void *)from;
	double (*restrict B)[n] = (void *)to;

	for (size_t jj = 1, je; jj < n - 1; jj = je) {
		je = tile_end(jj, n - 1);
		for (size_t i = 1; i < n - 1; i++)
			for (size_t j = jj; j < je; j++)
				B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
	}
}

static void jacobi_2d(void)
{
	jacobi_2d_step(a, b);
	jacobi_2d_step(b, a);
}

static double shape_seidel(size_t elements, double budget)
{
	(void)budget;
	n = root2((double)elements, 8);
	a = take(n * n);
	return (double)(n * n);
}

/* Gauss and Seidel: in place, so that each point waits for the one before. */
static void seidel(void)
{
	double (*A)[n] = (void *)a;

	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j - 1] +
				   A[i + 1][j] + A[i + 1][j + 1]) / 9;
}

const struct kernel stencil_kernels[] = {
	{ "adi", shape_adi, adi, 0 },
	{ "fdtd-2d", shape_fdtd, fdtd, 0 },
	{ "heat-3d", shape_heat, heat, 0 },
	{ "jacobi-1d", shape_jacobi_1d, jacobi_1d, 0 },
	{ "jacobi-2d", shape_jacobi_2d, jacobi_2d, 1 },
	{ "seidel-2d", shape_seidel, seidel, 0 },
	{ 0 },
};
