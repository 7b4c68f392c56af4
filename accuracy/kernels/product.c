/* Chains of products: 2mm, 3mm, atax, bicg, doitgen, mvt. */
#include "kernel.h"

static size_t ni, nj, nk, nr, nq, np;
static double *a, *b, *c, *d, *e, *f, *g, *x, *y, *p, *q, *r, *s, *row;

/* C <- C + A B. */
static void accumulate(size_t rows, size_t columns, size_t depth, const double *left, const double *right, double *out)
{
	const double (*A)[depth] = (const void *)left, (*B)[columns] = (const void *)right;
	double (*restrict C)[columns] = (void *)out;

	for (size_t kk = 0, ke; kk < depth; kk = ke) {
		ke = tile_end(kk, depth);
		for (size_t jj = 0, je; jj < columns; jj = je) {
			je = tile_end(jj, columns);
			for (size_t i = 0; i < rows; i++)
				for (size_t k = kk; k < ke; k++)
					for (size_t j = jj; j < je; j++)
						C[i][j] += A[i][k] * B[k][j];
		}
	}
}

static void scale(double *v, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		v[i] *= by;
}

static double shape_2mm(size_t elements, double budget)
{
	size_t square = root2((double)elements / 5, 4);

	nj = 2 * (double)square * (double)square * (double)square <= budget ? square : root2((double)elements * 0.45, 4);
	ni = between(budget / (2 * (double)(nj * nj)), 1, nj == square ? square : nj / 16 + 1);
	a = take(ni * nj);
	b = take(nj * nj);
	c = take(nj * nj);
	d = take(ni * nj);
	e = take(ni * nj);
	return 2 * (double)(ni * nj * nj);
}

/* D <- beta D + alpha A B C. */
static void two_products(void)
{
	scale(d, ni * nj, 0);
	accumulate(ni, nj, nj, a, b, d);
	scale(d, ni * nj, 1.5 / (double)nj);
	scale(e, ni * nj, 0.25);
	accumulate(ni, nj, nj, d, c, e);
}

static double shape_3mm(size_t elements, double budget)
{
	size_t square = root2((double)elements / 7, 4);

	nk = 3 * (double)square * (double)square * (double)square <= budget ? square : root2((double)elements * 0.85, 4);
	ni = between(budget / (double)(nk * nk), 1, nk == square ? square : nk / 16 + 1);
	a = take(ni * nk);
	b = take(nk * ni);
	c = take(ni * nk);
	d = take(nk * nk);
	e = take(ni * ni);
	f = take(ni * nk);
	g = take(ni * nk);
	return (double)(ni * nk * nk) + 2 * (double)(ni * ni * nk);
}

/* G <- (A B)(C D). */
static void three_products(void)
{
	scale(e, ni * ni, 0);
	scale(f, ni * nk, 0);
	scale(g, ni * nk, 0);
	accumulate(ni, ni, nk, a, b, e);
	accumulate(ni, nk, nk, c, d, f);
	accumulate(ni, nk, ni, e, f, g);
}

static double shape_square(size_t elements, double budget)
{
	(void)budget;
	ni = root2((double)elements, 4);
	a = take(ni * ni);
	x = take(ni);
	y = take(ni);
	p = take(ni);
	q = take(ni);
	r = take(ni);
	s = take(ni);
	return 2 * (double)(ni * ni);
}

/* y <- A'(A x). */
static void atax(void)
{
	const double (*A)[ni] = (const void *)a;

	scale(y, ni, 0);
	for (size_t i = 0; i < ni; i++) {
		double sum = 0;
		for (size_t j = 0; j < ni; j++)
			sum += A[i][j] * x[j];
		for (size_t j = 0; j < ni; j++)
			y[j] += A[i][j] * sum;
	}
}

/* s <- A'r, q <- A p. */
static void bicg(void)
{
	const double (*A)[ni] = (const void *)a;
	double *restrict out = s;

	scale(s, ni, 0);
	for (size_t i = 0; i < ni; i++) {
		double sum = 0;
		for (size_t j = 0; j < ni; j++) {
			out[j] += r[i] * A[i][j];
			sum += A[i][j] * p[j];
		}
		q[i] = sum;
	}
}

/* x <- A p, then y <- A'q by columns. */
static void mvt(void)
{
	const double (*A)[ni] = (const void *)a;

	for (size_t i = 0; i < ni; i++) {
		double sum = 0;
		for (size_t j = 0; j < ni; j++)
			sum += A[i][j] * p[j];
		x[i] = sum;
	}
	scale(y, ni, 0);
	for (size_t jj = 0, je; jj < ni; jj = je) {
		je = tile_end(jj, ni);
		for (size_t i = 0; i < ni; i++) {
			double sum = 0;
			for (size_t j = jj; j < je; j++)
				sum += A[j][i] * q[j];
			y[i] += sum;
		}
	}
}

static double shape_doitgen(size_t elements, double budget)
{
	np = between(budget / (double)elements, 8, root2((double)elements / 4, 8));
	np = np > 48 ? 48 : np;
	nq = 8;
	nr = between((double)(elements - np * np) / (double)(nq * np), 1, elements);
	a = take(nr * nq * np);
	c = take(np * np);
	row = take(np);
	return (double)(nr * nq * np * np);
}

/* A[r][q] <- A[r][q] C, scaled to stay in range. */
static void doitgen(void)
{
	double (*A)[np] = (void *)a, by = 1 / (1.5 * (double)np);
	const double (*C)[np] = (const void *)c;
	double *restrict sum = row;

	for (size_t rq = 0; rq < nr * nq; rq++) {
		for (size_t j = 0; j < np; j++)
			sum[j] = 0;
		for (size_t k = 0; k < np; k++)
			for (size_t j = 0; j < np; j++)
				sum[j] += A[rq][k] * C[k][j];
		for (size_t j = 0; j < np; j++)
			A[rq][j] = sum[j] * by;
	}
}

const struct kernel product_kernels[] = {
	{ "2mm", shape_2mm, two_products, 1 },
	{ "3mm", shape_3mm, three_products, 1 },
	{ "atax", shape_square, atax, 0 },
	{ "bicg", shape_square, bicg, 0 },
	{ "doitgen", shape_doitgen, doitgen, 0 },
	{ "mvt", shape_square, mvt, 1 },
	{ 0 },
};
