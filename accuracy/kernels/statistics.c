/* correlation and covariance of the columns of a table; both leave the table as a second run would. */
#include <math.h>

#include "kernel.h"

static size_t rows, columns;
static double *data, *out, *mean, *deviation;

static double shape(size_t elements, double budget)
{
	columns = between(2 * budget / (double)elements, 4, root2((double)elements / 2, 4));
	rows = (elements - columns * columns) / columns;
	data = take(rows * columns);
	out = take(columns * columns);
	mean = take(columns);
	deviation = take(columns);
	return (double)(rows * columns * columns) / 2;
}

static void centre(void)
{
	double (*restrict D)[columns] = (void *)data;

	for (size_t j = 0; j < columns; j++)
		mean[j] = 0;
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			mean[j] += D[i][j];
	for (size_t j = 0; j < columns; j++)
		mean[j] /= (double)rows;
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			D[i][j] -= mean[j];
}

/* Each column by its deviation, which is 1 from the first run on. */
static void normalise(void)
{
	double (*restrict D)[columns] = (void *)data;

	for (size_t j = 0; j < columns; j++)
		deviation[j] = 0;
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			deviation[j] += D[i][j] * D[i][j];
	for (size_t j = 0; j < columns; j++)
		deviation[j] = sqrt(deviation[j] / (double)rows + 0x1p-30);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			D[i][j] /= deviation[j];
}

/* Products of all pairs of columns, down the rows. */
static void products(void)
{
	const double (*D)[columns] = (const void *)data;
	double (*restrict O)[columns] = (void *)out, by = 1 / (double)rows;

	for (size_t i = 0; i < columns; i++)
		for (size_t j = i; j < columns; j++) {
			double sum = 0;
			for (size_t k = 0; k < rows; k++)
				sum += D[k][i] * D[k][j];
			O[i][j] = O[j][i] = sum * by;
		}
}

static void correlation(void)
{
	centre();
	normalise();
	products();
}

static void covariance(void)
{
	centre();
	products();
}

const struct kernel statistics_kernels[] = {
	{ "correlation", shape, correlation, 0 },
	{ "covariance", shape, covariance, 0 },
	{ 0 },
};
