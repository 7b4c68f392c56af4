/*
 * Runs one kernel of one size, so that only the kernel counts: between the marks under cyclewise, by the clock natively.
 *
 *     kernels list
 *     kernels NAME BYTES BUDGET [SAMPLES]
 *
 * BYTES: the footprint. BUDGET: innermost iterations wanted in all. Without SAMPLES the kernel runs once to warm up, and
 * then between the marks: for the model. With SAMPLES it is timed so often: see clock.h for the output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xmmintrin.h>

#include "../../include/cyclewise.h"
#include "../clock.h"
#include "kernel.h"

enum { LINE = 8 /* doubles */, PAGE = 512, PATTERN = 64 };

static const struct kernel *const sets[] = { blas_kernels, product_kernels, solver_kernels, statistics_kernels, dynamic_kernels,
                                             stencil_kernels };
static double *arena, *arena_end, pattern[PATTERN]; /* what arrays are filled with */
static unsigned arrays;

double *take(size_t n)
{
	double *a = arena + LINE * (arrays++ % 32);

	arena = a + (n + PAGE - 1) / PAGE * PAGE;
	if (arena > arena_end) {
		fputs("kernels: the arena is too small\n", stderr);
		exit(1);
	}
	for (size_t i = 0; i < n; i += PATTERN)
		memcpy(a + i, pattern, (n - i < PATTERN ? n - i : PATTERN) * sizeof *a);
	return a;
}

size_t between(double x, size_t least, size_t most)
{
	return x <= (double)least ? least : x >= (double)most ? most : (size_t)x;
}

size_t root2(double x, size_t least)
{
	size_t n = least;

	while ((double)((n + 1) * (n + 1)) <= x)
		n++;
	return n;
}

size_t root3(double x, size_t least)
{
	size_t n = least;

	while ((double)((n + 1) * (n + 1) * (n + 1)) <= x)
		n++;
	return n;
}

static const struct kernel *find(const char *name)
{
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		for (const struct kernel *k = sets[s]; k->name; k++)
			if (strcmp(k->name, name) == 0)
				return k;
	return NULL;
}

static int list(void)
{
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		for (const struct kernel *k = sets[s]; k->name; k++)
			printf("%s%s\n", k->name, k->tiled ? " tiled" : "");
	return 0;
}

struct job {
	const struct kernel *kernel;
	unsigned long rounds;
};

static void run(void *context)
{
	const struct job *job = context;

	for (unsigned long i = 0; i < job->rounds; i++)
		job->kernel->run();
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	const struct kernel *kernel = argc >= 4 ? find(argv[1]) : NULL;
	if (!kernel) {
		fputs("usage: kernels list | kernels NAME BYTES BUDGET [SAMPLES]\n", stderr);
		return 2;
	}
	size_t bytes = strtoull(argv[2], NULL, 0), room = 2 * bytes + (1 << 20);
	double budget = strtod(argv[3], NULL);
	arena = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED) {
		perror("kernels");
		return 1;
	}
	/* Pages of 4 KiB, as the core's description has them; denormals are microcode that it leaves out. */
	madvise(arena, room, MADV_NOHUGEPAGE);
	arena_end = arena + room / sizeof *arena;
	_mm_setcsr(_mm_getcsr() | 0x8040);

	for (unsigned i = 0; i < PATTERN; i++)
		pattern[i] = 1 + i * 7 % PATTERN / (double)PATTERN;
	double work = kernel->shape(bytes / sizeof(double), budget);
	struct job job = { kernel, (unsigned long)between(budget / work + 0.5, 1, 1000000) };
	kernel->run();
	if (argc > 4)
		return clock_samples(NULL, run, &job, (unsigned)strtoul(argv[4], NULL, 0));
	CYCLEWISE_BEGIN("kernel");
	run(&job);
	CYCLEWISE_END("kernel");
	return 0;
}
