/*
 * A lattice Boltzmann step in three dimensions with 19 velocities (D3Q19), collision after Bhatnagar, Gross and Krook:
 *
 *	f'_i = f_i + (w_i rho (1 + 3 c_i.u + 4.5 (c_i.u)^2 - 1.5 u^2) - f_i) / tau,   rho = sum f_i,   rho u = sum c_i f_i
 *
 * A cell is 20 numbers, the 19 densities and what fills it up to 160 bytes: it is read as three cache lines, and the outcome
 * goes to 19 cells, each its neighbour in one direction. DISTANCE: cells ahead for which loads to x0, which BOOM would drop
 * and the model takes for prefetches, ask for those lines; 0: none.
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef PLANES
#define PLANES 3
#endif
#ifndef HEIGHT
#define HEIGHT 100
#endif
enum { WIDTH = 100, PLANE = WIDTH * HEIGHT, CELLS = PLANE * (PLANES + 2) };

struct cell { double f[20]; };

/* c * a for c of -1, 0, 1 that the compiler knows, without the products that it may not leave out itself. */
static inline double times(int c, double a)
{
	return c > 0 ? a : c < 0 ? -a : 0;
}

static inline double plus(double sum, int c, double a)
{
	return c > 0 ? sum + a : c < 0 ? sum - a : sum;
}

static inline void ask(const void *line)
{
	__asm__ volatile("ld x0, 0(%0)" : : "r"(line));
}

#define VELOCITIES(X) \
	X(0, 0, 0, 0, 3) \
	X(1, 1, 0, 0, 18) X(2, -1, 0, 0, 18) X(3, 0, 1, 0, 18) X(4, 0, -1, 0, 18) X(5, 0, 0, 1, 18) X(6, 0, 0, -1, 18) \
	X(7, 1, 1, 0, 36) X(8, -1, -1, 0, 36) X(9, 1, -1, 0, 36) X(10, -1, 1, 0, 36) \
	X(11, 1, 0, 1, 36) X(12, -1, 0, -1, 36) X(13, 1, 0, -1, 36) X(14, -1, 0, 1, 36) \
	X(15, 0, 1, 1, 36) X(16, 0, -1, -1, 36) X(17, 0, 1, -1, 36) X(18, 0, -1, 1, 36)

__attribute__((noinline)) void step(const struct cell *restrict from, struct cell *restrict to, double omega)
{
	for (int at = PLANE + WIDTH + 1; at < CELLS - PLANE - WIDTH - 1; at++) {
		const double *f = from[at].f;
#if DISTANCE
		ask(&from[at + DISTANCE].f[0]);
		ask(&from[at + DISTANCE].f[8]);
		ask(&from[at + DISTANCE].f[16]);
#endif
		double rho = 0, x = 0, y = 0, z = 0;
#define MOMENTS(i, cx, cy, cz, w) rho += f[i]; x = plus(x, cx, f[i]); y = plus(y, cy, f[i]); z = plus(z, cz, f[i]);
		VELOCITIES(MOMENTS)
		double by = 1 / rho;
		x *= by;
		y *= by;
		z *= by;
		double unmoved = 1 - 1.5 * (x * x + y * y + z * z);
#define STREAM(i, cx, cy, cz, w) { \
			double along = 3 * plus(plus(times(cx, x), cy, y), cz, z); \
			double rest = rho * (1.0 / (w)) * (unmoved + along * (1 + 0.5 * along)); \
			to[at + (cx) + WIDTH * (cy) + PLANE * (cz)].f[i] = f[i] + omega * (rest - f[i]); \
		}
		VELOCITIES(STREAM)
	}
}

int main(void)
{
	struct cell *a = aligned_alloc(64, sizeof(*a) * CELLS), *b = aligned_alloc(64, sizeof(*b) * CELLS);

	if (!a || !b)
		return 1;
	for (int i = 0; i < CELLS; i++)
		for (int k = 0; k < 20; k++) {
			a[i].f[k] = (1 + (i * 31 + k * 17) % 64 / 640.0) / 19;
			b[i].f[k] = 0;
		}
	step(a, b, 0.6);
	printf("%.12g\n", b[CELLS / 2].f[7]);
	free(a);
	free(b);
	return 0;
}
