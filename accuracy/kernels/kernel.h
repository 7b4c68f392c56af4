/*
 * The kernels of the accuracy suite: the thirty computations that PolyBench names, written from their mathematics.
 *
 * A kernel works in one arena, so that the footprint decides which level of the hierarchy it lives in. Where a whole
 * run would take more inner iterations than the budget, the kernel does fewer of its outermost steps, over all its data.
 * Nothing here depends on time or chance. Values stay in the normal range, run after run.
 */
#ifndef CYCLEWISE_ACCURACY_KERNEL_H
#define CYCLEWISE_ACCURACY_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct kernel {
	const char *name;
	/* Takes the arrays from the arena, `elements` doubles in all; returns the innermost iterations of one run, about. */
	double (*shape)(size_t elements, double budget);
	void (*run)(void);
	int tiled;                     /* has loops that TILE changes */
};

extern const struct kernel blas_kernels[], product_kernels[], solver_kernels[], statistics_kernels[], dynamic_kernels[],
	stencil_kernels[];             /* each ends with a NULL name */

/* The next n doubles of the arena, each 1 to 2; 64-byte aligned, one line further into the page each time. */
double *take(size_t n);
/* Square and cube roots of counts, at least `least`. */
size_t root2(double x, size_t least);
size_t root3(double x, size_t least);
size_t between(double x, size_t least, size_t most);

/* Iterations of a tile, or all of them. */
#ifdef TILED
enum { TILE = 32 };
#else
#define TILE ((size_t)1 << 40)
#endif
static inline size_t tile_end(size_t start, size_t n)
{
	return n - start > TILE ? start + TILE : n;
}

#endif
