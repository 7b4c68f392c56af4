/*
 * The products of all pairs of columns that PolyBench's correlation spends its time in, out[j][i] = sum over k of
 * data[k][i] * data[k][j] for i >= j, in the versions of table 2 of the Gus paper (the columns are taken for centred and
 * normalised). VERSION:
 *
 *	0  as it stands: down two columns, a number at a time
 *	1  vectorised: along rows, an outcome's row at a time
 *	2  and tiles of 2 by 16 outcomes, read and written at each step of k
 *	3  and hoisted: a tile stays in registers over k
 *	4  and the loops exchanged, so that 16 columns stay in L1 for all j
 *	5  tiles of 4 by 16: more than the 16 registers hold
 *	6  tiles of 3 by 12: what they do hold
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef COLUMNS
#define COLUMNS 144
#endif
/* A row is an odd number of cache lines, so that a column does not fall into few sets of L1. */
enum { ROWS = 96, LANES = 4, PITCH = COLUMNS + 8 };

typedef double vec __attribute__((vector_size(32)));

static double data[ROWS][PITCH] __attribute__((aligned(64))), out[COLUMNS][PITCH] __attribute__((aligned(64)));

#if VERSION == 0

__attribute__((noinline, optimize("no-tree-vectorize"))) void correlate(void)
{
	for (int j = 0; j < COLUMNS; j++)
		for (int i = j; i < COLUMNS; i++)
			for (int k = 0; k < ROWS; k++)
				out[j][i] += data[k][i] * data[k][j];
}

#elif VERSION == 1

__attribute__((noinline)) void correlate(void)
{
	for (int j = 0; j < COLUMNS; j++)
		for (int k = 0; k < ROWS; k++) {
			vec by = data[k][j] - (vec){ 0 };

			for (int i = j / LANES * LANES; i < COLUMNS; i += LANES)
				*(vec *)&out[j][i] += *(vec *)&data[k][i] * by;
		}
}

#else

#if VERSION <= 4
enum { HIGH = 2, WIDE = 16 };
#elif VERSION == 5
enum { HIGH = 4, WIDE = 16 };
#else
enum { HIGH = 3, WIDE = 12 };
#endif
enum { VECS = WIDE / LANES };

/* The tile of outcomes from (j, i). */
static inline __attribute__((always_inline)) void tile(int j, int i)
{
#if VERSION == 2
	for (int k = 0; k < ROWS; k++)
#pragma GCC unroll 4
		for (int h = 0; h < HIGH; h++)
#pragma GCC unroll 4
			for (int v = 0; v < VECS; v++) {
				volatile vec *at = (volatile vec *)&out[j + h][i + v * LANES];

				*at = *at + *(vec *)&data[k][i + v * LANES] * (data[k][j + h] - (vec){ 0 });
			}
#else
	vec sum[HIGH][VECS];

#pragma GCC unroll 4
	for (int h = 0; h < HIGH; h++)
#pragma GCC unroll 4
		for (int v = 0; v < VECS; v++)
			sum[h][v] = *(vec *)&out[j + h][i + v * LANES];
	for (int k = 0; k < ROWS; k++) {
		vec row[VECS];

#pragma GCC unroll 4
		for (int v = 0; v < VECS; v++) {
			row[v] = *(vec *)&data[k][i + v * LANES];
			__asm__("" : "+x" (row[v])); /* loaded once, not by every multiply-add */
		}
#pragma GCC unroll 4
		for (int h = 0; h < HIGH; h++)
#pragma GCC unroll 4
			for (int v = 0; v < VECS; v++)
				sum[h][v] += row[v] * (data[k][j + h] - (vec){ 0 });
	}
#pragma GCC unroll 4
	for (int h = 0; h < HIGH; h++)
#pragma GCC unroll 4
		for (int v = 0; v < VECS; v++)
			*(vec *)&out[j + h][i + v * LANES] = sum[h][v];
#endif
}

__attribute__((noinline)) void correlate(void)
{
#if VERSION <= 3
	for (int j = 0; j < COLUMNS; j += HIGH)
		for (int i = j / WIDE * WIDE; i < COLUMNS; i += WIDE)
			tile(j, i);
#else
	for (int i = 0; i < COLUMNS; i += WIDE)
		for (int j = 0; j < i + WIDE; j += HIGH)
			tile(j, i);
#endif
}

#endif

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	for (int k = 0; k < ROWS; k++)
		for (int i = 0; i < COLUMNS; i++)
			data[k][i] = (k * 31 + i * 17) % 64 / 640.0;
	for (int j = 0; j < COLUMNS; j++)
		for (int i = 0; i < COLUMNS; i++)
			out[j][i] = 1;
	for (int t = 0; t < times; t++)
		correlate();
	double sum = 0;
	for (int j = 0; j < COLUMNS; j++)
		for (int i = j; i < COLUMNS; i++)
			sum += out[j][i];
	printf("%.9g\n", sum);
	return 0;
}
