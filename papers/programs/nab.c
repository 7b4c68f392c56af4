/*
 * Born radii of a molecule: for each atom the integral over the others' spheres, whose form depends on whether two spheres
 * are apart, overlap, or one is in the other (Hawkins, Cramer and Truhlar's sum over pairs), and beyond a cutoff is not taken.
 *
 * With the compiler's default, comparisons that must not signal are put between a read and a write of the floating-point
 * flags, each of which flushes BOOM's pipeline; -ffinite-math-only and -ffast-math leave these out.
 */
#include <math.h>
#include <stdio.h>

#ifndef ATOMS
#define ATOMS 180
#endif

static double x[ATOMS], y[ATOMS], z[ATOMS], radius[ATOMS], born[ATOMS];

__attribute__((noinline)) void radii(double cutoff)
{
	for (int i = 0; i < ATOMS; i++) {
		double sum = 0, mine = radius[i];

		for (int j = 0; j < ATOMS; j++) {
			double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j], square = dx * dx + dy * dy + dz * dz;

			if (isgreater(square, cutoff * cutoff) || i == j)
				continue;
			double d = sqrt(square), theirs = radius[j];
			if (d > mine + theirs) {
				double far = 1 / (d + theirs), near = 1 / (d - theirs);
				sum += theirs * near * far - 0.5 * (near - far) * theirs / d;
			} else if (d > fabs(mine - theirs)) {
				double near = 1 / mine, far = 1 / (d + theirs);
				sum += 0.25 * (near - far) * (1 + (d - theirs) * near);
			}
		}
		born[i] = 1 / (1 / mine - 0.5 * sum);
	}
}

int main(void)
{
	double sum = 0;

	for (int i = 0; i < ATOMS; i++) {
		x[i] = i * 7 % 13 * 1.9;
		y[i] = i * 5 % 17 * 1.7;
		z[i] = i * 3 % 11 * 2.1;
		radius[i] = 1.2 + i % 5 * 0.15;
	}
	for (int k = 0; k < 3; k++)
		radii(14);
	for (int i = 0; i < ATOMS; i++)
		sum += born[i];
	printf("%.12g\n", sum);
	return 0;
}
