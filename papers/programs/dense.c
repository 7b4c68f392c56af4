/* Dense linear algebra: a product of matrices in tiles, then elimination with pivots. */
#include <math.h>

#include "draw.h"

enum { N = 144, TILE = 24 };

static double a[N][N], b[N][N], c[N][N];

static void product(void)
{
	for (int ii = 0; ii < N; ii += TILE)
		for (int kk = 0; kk < N; kk += TILE)
			for (int i = ii; i < ii + TILE; i++)
				for (int k = kk; k < kk + TILE; k++)
					for (int j = 0; j < N; j++)
						c[i][j] += a[i][k] * b[k][j];
}

static double determinant(void)
{
	double log_of = 0;

	for (int k = 0; k < N; k++) {
		int pivot = k;

		for (int i = k + 1; i < N; i++)
			if (fabs(c[i][k]) > fabs(c[pivot][k]))
				pivot = i;
		for (int j = 0; j < N; j++) {
			double t = c[k][j];
			c[k][j] = c[pivot][j];
			c[pivot][j] = t;
		}
		log_of += log(fabs(c[k][k]));
		for (int i = k + 1; i < N; i++) {
			double f = c[i][k] / c[k][k];

			for (int j = k; j < N; j++)
				c[i][j] -= f * c[k][j];
		}
	}
	return log_of;
}

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = draw(1000) / 1000.0;
			b[i][j] = draw(1000) / 1000.0;
		}
	product();
	printf("%.9f\n", determinant());
	return 0;
}
