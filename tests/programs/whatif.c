/*
 * Programs in pairs, for end-to-end tests of what-ifs: `whatif NAME`, which meets an event, and `whatif NAME changed`, which
 * does the same work with its source or data changed so that just that event goes.
 *
 *  sort     a branch on random bits; the bits sorted                          FL-MB
 *  pages    loads from lines of different pages; from as many of few pages    ST-TLB
 *  shrink   loads from more than any cache holds; from what L2 holds          ST-LLC (with large pages)
 *  fit      loads from what L2 holds; from what L1 holds                      ST-L1
 *  chase    `shrink`, each load at the address that the one before gave       ST-LLC (with large pages)
 *  serial   a serialising instruction; one of its length that is not          FL-EX
 *  fetch    `shrink`, with a prefetch of a line that is there; of the line of the 16th iteration to come
 *
 * The kernel of each is k_NAME.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, used, aligned(64)))

enum { LINE = 64, PAGE = 4096, HUGE = 1 << 21, AHEAD = 16 };

static uint64_t seed = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (seed >> 20) % n;
}

static char *area(size_t bytes)
{
	char *p = aligned_alloc(HUGE, (bytes + HUGE - 1) / HUGE * HUGE);

	memset(p, 1, bytes);
	return p;
}

/* --- FL-MB ------------------------------------------------------------------------------------------- */

NOINLINE uint64_t k_sort(const uint8_t *bits, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (bits[i])
			sum += i;
		__asm__ volatile("" : "+r"(sum));      /* a branch, and not a conditional move */
	}
	return sum;
}

static uint64_t sort(int changed)
{
	enum { N = 80000 };
	uint8_t *bits = malloc(N);

	for (size_t i = 0; i < N; i++)
		bits[i] = changed ? i >= N / 2 : (uint8_t)random_below(2);
	return k_sort(bits, N);
}

/* --- loads ------------------------------------------------------------------------------------------- */

/* Independent loads, from `base` and the offsets. */
#define GATHER(name) \
NOINLINE uint64_t name(const char *base, const uint32_t *offset, size_t n) \
{ \
	uint64_t sum = 0; \
	for (size_t i = 0; i < n; i++) \
		sum += *(const volatile uint64_t *)(base + offset[i]); \
	return sum; \
}
GATHER(k_warm)
GATHER(k_pages)
GATHER(k_shrink)
GATHER(k_fit)

/* Random ones of `cells`, which are `stride` bytes apart, and `skew` more each within the stride. */
static uint32_t *offsets(size_t n, size_t cells, size_t stride, size_t skew)
{
	uint32_t *offset = malloc((n + AHEAD) * sizeof *offset);

	for (size_t i = 0; i < n + AHEAD; i++) {
		uint64_t cell = random_below(cells);
		offset[i] = (uint32_t)(cell * stride + cell * skew % stride);
	}
	return offset;
}

static uint64_t pages(int changed)
{
	enum { N = 40000, CELLS = 2048 };
	size_t stride = changed ? LINE : PAGE;
	const char *base = area(CELLS * stride);
	const uint32_t *offset = offsets(N, CELLS, stride, changed ? 0 : LINE);

	return k_warm(base, offset, N) + k_pages(base, offset, N);
}

static uint64_t shrink(int changed)
{
	enum { N = 20000 };
	size_t bytes = changed ? 640 << 10 : 32 << 20;

	return k_shrink(area(bytes), offsets(N, bytes / LINE, LINE, 0), N);
}

static uint64_t fit(int changed)
{
	enum { N = 60000 };
	size_t bytes = changed ? 16 << 10 : 240 << 10;

	return k_fit(area(bytes), offsets(N, bytes / LINE, LINE, 0), N);
}

NOINLINE uint64_t k_chase(const char *p, size_t n)
{
	for (; n; n--)
		p = *(const char *const volatile *)p;
	return (uint64_t)p;
}

static uint64_t chase(int changed)
{
	enum { N = 10000 };
	size_t cells = (changed ? 640 << 10 : 32 << 20) / LINE, at = 0;
	char *base = area(cells * LINE);
	uint32_t *order = malloc(cells * sizeof *order);

	for (size_t i = 0; i < cells; i++)
		order[i] = (uint32_t)i;
	for (size_t i = cells - 1; i > 0; i--) {       /* one cycle through all (Sattolo) */
		size_t j = random_below(i);
		uint32_t t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (size_t i = 0; i < cells; i++)
		*(char **)(base + i * LINE) = base + (size_t)order[i] * LINE;
	return k_chase(base + at, N) != 0;
}

/* --- FL-EX ------------------------------------------------------------------------------------------- */

#if defined __x86_64__
#define SERIALISE "lfence\n\t"
#define NOT "xchg %%ax, %%ax\n\tnop\n\t"
#elif defined __riscv
#define SERIALISE "fsflags zero\n\t"
#define NOT "addi zero, zero, 0\n\t"
#endif

#define SERIAL(name, what) \
NOINLINE uint64_t name(size_t n) \
{ \
	uint64_t a = 3, b = 3; \
	for (; n; n--) { \
		__asm__ volatile(what : "+r"(a), "+r"(b)); \
		for (int i = 0; i < 8; i++) { \
			a *= a; \
			b *= b; \
			__asm__ volatile("" : "+r"(a), "+r"(b)); \
		} \
	} \
	return a + b; \
}
SERIAL(k_serial, SERIALISE)
SERIAL(k_serial_not, NOT)

static uint64_t serial(int changed)
{
	enum { N = 4000 };

	return changed ? k_serial_not(N) : k_serial(N);
}

/* --- a prefetch -------------------------------------------------------------------------------------- */

/* On RISC-V a load into x0 is one; the prefetches of the others do not say to an emulator where they go. */
#if defined __riscv
#define FETCH(p) __asm__ volatile("ld zero, 0(%0)" : : "r"(p))
#else
#define FETCH(p) __builtin_prefetch(p)
#endif

/* So long a chain behind each load that the reorder buffer holds few of them. */
NOINLINE uint64_t k_fetch(const char *base, const uint32_t *offset, uint64_t ahead, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		FETCH(base + (offset[i + AHEAD] & ahead));
		sum += *(const volatile uint64_t *)(base + offset[i]);
		for (int k = 0; k < 16; k++) {
			sum *= sum;
			__asm__ volatile("" : "+r"(sum));
		}
	}
	return sum;
}

static uint64_t fetch(int changed)
{
	enum { N = 5000 };
	size_t bytes = 32 << 20;

	return k_fetch(area(bytes), offsets(N, bytes / LINE, LINE, 0), changed ? UINT64_MAX : 0, N);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; uint64_t (*run)(int changed); } pairs[] = {
		{ "sort", sort }, { "pages", pages }, { "shrink", shrink }, { "fit", fit }, { "chase", chase }, { "serial", serial },
		{ "fetch", fetch },
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs && argc > 1; i++) {
		if (strcmp(pairs[i].name, argv[1]))
			continue;
		printf("%llu\n", (unsigned long long)pairs[i].run(argc > 2));
		return 0;
	}
	fprintf(stderr, "usage: whatif sort|pages|shrink|fit|chase|serial|fetch [changed]\n");
	return 2;
}
