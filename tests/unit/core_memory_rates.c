/*
 * Whole patterns on the parameters of a Skylake-SP, against what CORES.md, section 1.1, has measured on one. The
 * pipeline is stood in for by a window of loads that complete in order, two starting a cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/cache/memory.h"
#include "core_memory_desc.h"

enum { KIB = 1024, MIB = 1024 * 1024, LINE = 64, BASE = 0x10000000 };

static struct memory *skylake(uint32_t page_bits)
{
	struct core_desc d;
	struct memory *m;

	desc_skylake(&d);
	d.page_bits = (int32_t)page_bits;
	assert_int_equal(memory_new(&m, &d), 0);
	return m;
}

/* Tenths of a cycle for each load of a cyclic chase over all lines of `bytes`, in random order, in 2 MiB pages. */
static uint64_t chase(uint64_t bytes)
{
	struct memory *m = skylake(21);
	uint64_t n = bytes / LINE, random = RANDOM_START, cycle = 0, warm = 0, at = 0;
	uint32_t *next = malloc(n * sizeof *next);
	struct access a;

	assert_non_null(next);
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint64_t i = n - 1; i > 0; i--) {
		uint64_t k = next_random(&random) % i;
		uint32_t t = next[i];
		next[i] = next[k];
		next[k] = t;
	}
	for (uint64_t i = 0; i < 4 * n; i++) {
		warm = i == 3 * n ? cycle : warm;
		memory_load(m, cycle, BASE + at * LINE, 8, PC, &a);
		cycle = a.done;
		at = next[at];
	}
	free(next);
	memory_free(m);
	return (cycle - warm) * 10 / n;
}

static void latencies(void **state)
{
	assert_int_equal(chase(16 * KIB), 50);
	assert_int_equal(chase(512 * KIB), 140);
	assert_in_range(chase(2000 * KIB), 790, 820);        /* 79 to 81, a few lines in L2 or memory */
	assert_in_range(chase(16 * MIB), 3050, 3250);        /* 311 */
}

enum { WINDOW = 72, STORES = 56 };

/* Hundredths of a cycle a line: `bytes` read (or written, through 56 store buffers) upwards `passes` times, the last counts. */
static uint64_t stream(uint64_t bytes, int passes, uint32_t step, bool store)
{
	struct memory *m = skylake(12);
	uint64_t done[WINDOW] = { 0 }, window = store ? STORES : WINDOW, last = 0, warm = 0, k = 0, drain = 0, half = 0;

	for (int pass = 0; pass < passes; pass++) {
		warm = last;
		for (uint64_t at = 0; at < bytes; at += step, k++) {
			half = 2 * done[k % window] > half + 1 ? 2 * done[k % window] : half + 1;
			uint64_t start = half / 2;
			struct access a;
			if (store) {
				memory_own(m, start, BASE + at, step, &a);
				drain = drain > start ? drain : start;
				memory_store(m, drain, BASE + at, step, &a);
				drain = a.done;
			} else {
				memory_load(m, start, BASE + at, step, PC, &a);
			}
			last = a.done > last ? a.done : last;
			done[k % window] = last;
		}
	}
	memory_free(m);
	return (last - warm) * 100 * LINE / bytes;
}

static void bandwidths(void **state)
{
	assert_in_range(stream(16 * KIB, 20, 32, false), 99, 101);        /* 63 bytes a cycle */
	assert_in_range(stream(256 * KIB, 8, 32, false), 224, 234);       /* 28 */
	assert_in_range(stream(256 * KIB, 8, 64, false), 224, 234);
	assert_in_range(stream(16 * KIB, 20, 32, true), 199, 201);        /* 31.5 written */
	assert_in_range(stream(256 * KIB, 8, 32, true), 320, 345);        /* 19 written */
	assert_in_range(stream(16 * MIB, 1, 32, false), 1680, 1780);      /* 11.4 GB/s: 17.4 cycles */
}

/* Independent misses, more than enough in the window, fill the 12 line-fill buffers: latency / 12 a line. */
static void parallel_misses(void **state)
{
	enum { LOADS = 40000 };
	struct memory *m = skylake(21);
	uint64_t done[WINDOW] = { 0 }, random = 1234567, last = 0;

	for (uint64_t i = 0; i < LOADS; i++) {
		struct access a;
		uint64_t r = next_random(&random);
		memory_load(m, done[i % WINDOW], BASE + r % (1u << 30) / LINE * LINE, 8, PC + (r >> 40), &a);
		last = a.done > last ? a.done : last;
		done[i % WINDOW] = last;
	}
	memory_free(m);
	assert_in_range(last * 10 / LOADS, 3115 / 12, 3115 / 12 * 11 / 10);
}

/* STLB hit 9; a walk whose last table is in L2 37 to 46. One load a page, rotating over its lines. */
static uint64_t pages(uint64_t n)
{
	struct memory *m = skylake(12);
	uint64_t cycle = 0, warm = 0;
	struct access a;

	for (uint64_t i = 0; i < 4 * n; i++) {
		uint64_t page = i % n * 7 % n;               /* no stride to follow within a page */
		warm = i == 3 * n ? cycle : warm;
		memory_load(m, cycle, BASE + page * 4096 + page % 64 * LINE, 8, PC, &a);
		cycle = a.done;
	}
	memory_free(m);
	return (cycle - warm) * 10 / n;
}

static void translations(void **state)
{
	assert_int_equal(pages(60), 50);
	assert_in_range(pages(400), 140, 145);               /* L1D holds the 400 lines */
	assert_in_range(pages(6000), 140 + 370, 140 + 460);  /* L2 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latencies),
		cmocka_unit_test(bandwidths),
		cmocka_unit_test(parallel_misses),
		cmocka_unit_test(translations),
	};
	return cmocka_run_group_tests_name("core memory rates", tests, NULL, NULL);
}
