/* Sparse linear algebra: conjugate gradients on a matrix of 9 places a row, most of them far from the diagonal. */
#include "draw.h"

enum { ROWS = 24000, PLACES = 9, STEPS = 8 };

static double value[ROWS][PLACES], x[ROWS], r[ROWS], p[ROWS], q[ROWS];
static int32_t column[ROWS][PLACES];

static void product(void)
{
	for (int i = 0; i < ROWS; i++) {
		double sum = 20 * p[i];

		for (int k = 0; k < PLACES; k++)
			sum += value[i][k] * p[column[i][k]];
		q[i] = sum;
	}
}

static double dot(const double *a, const double *b)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		sum += a[i] * b[i];
	return sum;
}

int main(void)
{
	for (int i = 0; i < ROWS; i++) {
		for (int k = 0; k < PLACES; k++) {
			column[i][k] = (int32_t)draw(ROWS);
			value[i][k] = 1.0 / (1 + (i + column[i][k]) % 7);
		}
		r[i] = p[i] = 1 + i % 3;
	}
	double rr = dot(r, r);
	for (int step = 0; step < STEPS; step++) {
		product();
		double alpha = rr / dot(p, q), before = rr;
		for (int i = 0; i < ROWS; i++) {
			x[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		rr = dot(r, r);
		for (int i = 0; i < ROWS; i++)
			p[i] = r[i] + rr / before * p[i];
	}
	printf("%.12g %.12g\n", rr, x[ROWS / 2]);
	return 0;
}
