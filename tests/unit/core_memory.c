/* The memory system from the pipeline's side: exact cycles of hits, misses, merges, stores, splits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "core/cache/memory.h"
#include "core_memory_desc.h"

enum { L1_STEP = 4096, L2_STEP = 65536, A = 0x100000 };

/* The lines at `addr` + i * step, i = 1 to n, take the ways of the set. */
static void evict(struct memory *m, uint64_t cycle, uint64_t addr, uint64_t step, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++)
		load(m, cycle + i * 1000, addr + i * step);
}

#define assert_access(a, done_, level_, l1_, llc_) do { \
	struct access it = a; \
	assert_int_equal(it.done, done_); \
	assert_int_equal(it.level, level_); \
	assert_int_equal(it.l1_miss, l1_); \
	assert_int_equal(it.llc_miss, llc_); \
} while (0)

static void every_level(void **state)
{
	struct memory *m = memory_plain(NULL);

	assert_access(load(m, 1000, A), 1000 + 80 + 90, LEVEL_MEMORY, true, true);
	assert_access(load(m, 2000, A + 8), 2005, LEVEL_L1, false, false);
	assert_access(load(m, 3000, A + 64), 3000 + 80 + 80, LEVEL_MEMORY, true, true); /* the row is open */
	evict(m, 10000, A, L1_STEP, 8);
	assert_access(load(m, 30000, A), 30014, LEVEL_L2, true, false);
	assert_access(load(m, 30100, A), 30105, LEVEL_L1, false, false);
	evict(m, 40000, A, L2_STEP, 16);
	assert_access(load(m, 70000, A), 70080, LEVEL_LLC, true, false);
	evict(m, 80000, A, 131072, 32);
	assert_access(load(m, 130000, A), 130000 + 80 + 100, LEVEL_MEMORY, true, true); /* another row was open */
	memory_free(m);
}

static void on_its_way(void **state)
{
	struct memory *m = memory_plain(NULL);

	assert_access(load(m, 1000, A), 1170, LEVEL_MEMORY, true, true);
	assert_access(load(m, 1010, A + 8), 1170, LEVEL_FILL_BUFFER, true, true);
	assert_access(load(m, 1168, A + 16), 1173, LEVEL_FILL_BUFFER, true, true);
	assert_access(load(m, 1170, A + 24), 1175, LEVEL_L1, false, false);
	/* From L2: on its way, but not from memory. */
	evict(m, 10000, A, L1_STEP, 8);
	assert_access(load(m, 30000, A), 30014, LEVEL_L2, true, false);
	assert_access(load(m, 30001, A), 30014, LEVEL_FILL_BUFFER, true, false);
	memory_free(m);
}

/* A younger load that starts long before the older one: the miss is its own. */
static void earlier_access_has_the_miss(void **state)
{
	struct memory *m = memory_plain(NULL);

	assert_access(load(m, 5000, A), 5170, LEVEL_MEMORY, true, true);
	assert_access(load(m, 1000, A + 8), 1170, LEVEL_MEMORY, true, true);
	assert_access(load(m, 1100, A + 8), 1170, LEVEL_FILL_BUFFER, true, true);
	assert_access(load(m, 5000, A + 8), 5005, LEVEL_L1, false, false);
	memory_free(m);
}

static void two_mshrs(struct core_desc *d)
{
	d->l1d_mshrs = 2;
}

static void miss_registers(void **state)
{
	struct memory *m = memory_plain(two_mshrs);
	struct access a;

	assert_int_equal(load(m, 1000, A).done, 1170);
	assert_int_equal(load(m, 1000, A + 64).done, 1171);  /* the same row, a burst later */
	a = load(m, 1000, A + 128);
	assert_int_equal(a.mshr_wait, 170);
	assert_int_equal(a.done, 1170 + 160);
	a = load(m, 1000, A + 192);
	assert_int_equal(a.mshr_wait, 171);
	assert_int_equal(a.done, 1171 + 160);                /* cas of the one before ended */
	/* Earlier ones contend only with what they overlap. */
	a = load(m, 500, A + 256);
	assert_int_equal(a.mshr_wait, 0);
	assert_int_equal(a.done, 500 + 170);
	memory_free(m);
}

/* Never more than the limit at any cycle, counted from what the loads were told. */
static void miss_registers_recounted(void **state)
{
	enum { CYCLES = 400000, LOADS = 6000 };
	uint8_t *held = calloc(CYCLES, 1);
	struct core_desc d;
	struct memory *m;
	uint64_t random = RANDOM_START, base = 3000;
	unsigned peak = 0;

	assert_non_null(held);
	desc_skylake(&d);
	desc_no_prefetch(&d);
	d.ideal.dtlb = true;
	assert_int_equal(memory_new(&m, &d), 0);
	for (uint64_t i = 0; i < LOADS; i++) {
		next_random(&random);
		uint64_t start = base + random % 3000;
		struct access a = load(m, start, i * 7 % LOADS * 64 * 3);
		assert_int_equal(a.level, LEVEL_MEMORY);
		assert_in_range(a.done, start, CYCLES - 1);
		for (uint64_t c = start + a.mshr_wait; c < a.done; c++) {
			held[c]++;
			peak = held[c] > peak ? held[c] : peak;
		}
		base += random >> 32 & 63;
	}
	assert_int_equal(peak, d.l1d_mshrs);
	memory_free(m);
	free(held);
}

static void narrow_l2(struct core_desc *d)
{
	d->l2_bandwidth = 28;
}

static void bus_of_l2(void **state)
{
	struct memory *m = memory_plain(narrow_l2);

	for (uint64_t i = 0; i < 600; i++)
		load(m, 1000 + i * 1000, A + i * 64);        /* the first 64 leave L1D */
	/* 2.25 cycles a line. */
	assert_access(load(m, 900000, A), 900014, LEVEL_L2, true, false);
	assert_int_equal(load(m, 900000, A + 64).done, 900017);
	assert_int_equal(load(m, 900000, A + 128).done, 900019);
	assert_int_equal(load(m, 900000, A + 192).done, 900021);
	assert_int_equal(load(m, 900000, A + 256).done, 900023);
	memory_free(m);
}

static void slow_buses(struct core_desc *d)
{
	d->l2_bandwidth = 8;
	d->l2_write_bandwidth = 16;
}

static void slow_buses_apart(struct core_desc *d)
{
	d->l2_size = 0;
	d->llc_latency = d->l2_latency;
	d->llc_bandwidth = 8;
	d->llc_write_bandwidth = 16;
	d->cache_duplex = 1;
}

/* A dirty line on its way down takes the bus between two that go up, unless there is one for each way; a clean one does not. */
static void write_back(void **state)
{
	static const struct {
		void (*change)(struct core_desc *);
		bool dirty;
		uint64_t wait;
	} rows[] = { { slow_buses, false, 8 }, { slow_buses, true, 4 + 8 }, { slow_buses_apart, true, 8 } };

	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		struct memory *m = memory_plain(rows[row].change);
		struct access a;

		evict(m, 1000, A, L1_STEP, 16);              /* 1 to 8 are in L2 alone, 9 to 16 in L1D too */
		if (rows[row].dirty)
			memory_store(m, 50000, A + 9 * L1_STEP, 8, &a);
		else
			load(m, 50000, A + 9 * L1_STEP);
		for (uint64_t i = 10; i <= 16; i++)
			load(m, 50100 + i, A + i * L1_STEP); /* 9 is the oldest now */
		assert_int_equal(load(m, 60000, A + 1 * L1_STEP).done, 60014);
		assert_int_equal(load(m, 60000, A + 2 * L1_STEP).done, 60014 + rows[row].wait);
		memory_free(m);
	}
}

static void small_l1(struct core_desc *d)
{
	d->l1d_bandwidth = 64;
}

static void bytes_of_loads(void **state)
{
	struct memory *m = memory_plain(small_l1);
	struct access a;

	load(m, 1000, A);
	for (uint64_t i = 0; i < 5; i++) {
		memory_load(m, 2000, A, 32, PC, &a);
		assert_int_equal(a.done, 2005 + i / 2);
	}
	memory_load(m, 2001, A, 32, PC, &a);
	assert_int_equal(a.done, 2007);
	memory_load(m, 1999, A, 64, PC, &a);
	assert_int_equal(a.done, 2004);
	memory_free(m);
}

static void stores(void **state)
{
	struct memory *m = memory_plain(NULL);
	struct access a;

	memory_own(m, 1000, A, 8, &a);
	assert_access(a, 1170, LEVEL_MEMORY, true, true);
	memory_store(m, 1100, A, 8, &a);
	assert_access(a, 1171, LEVEL_FILL_BUFFER, true, true);
	memory_store(m, 1171, A + 8, 8, &a);
	assert_access(a, 1172, LEVEL_L1, false, false);
	/* Nobody asked for the line before. */
	memory_store(m, 2000, A + 64, 8, &a);
	assert_access(a, 2000 + 160 + 1, LEVEL_MEMORY, true, true);
	memory_free(m);
}

static void late_ownership(struct core_desc *d)
{
	d->store_queue_prefetch = 0;
}

static void store_asks_when_it_drains(void **state)
{
	struct memory *m = memory_plain(late_ownership);
	struct access a;

	memory_own(m, 1000, A, 8, &a);
	assert_int_equal(a.done, 1000);
	assert_false(a.l1_miss);
	memory_store(m, 3000, A, 8, &a);
	assert_access(a, 3171, LEVEL_MEMORY, true, true);
	memory_free(m);
}

static void splits(void **state)
{
	struct memory *m = memory_plain(NULL);
	struct access a;

	for (uint64_t i = 0; i < 4; i++)
		load(m, 1000 + i * 1000, A + 4096 - 128 + i * 64);
	memory_load(m, 9000, A + 4096 - 68, 8, PC, &a);
	assert_access(a, 9005 + 6, LEVEL_L1, false, false);
	memory_load(m, 9100, A + 4096 - 4, 8, PC, &a);
	assert_access(a, 9105 + 7, LEVEL_L1, false, false);
	memory_load(m, 9200, A + 4096 - 8, 8, PC, &a);
	assert_access(a, 9205, LEVEL_L1, false, false);
	memory_store(m, 9300, A + 4096 - 68, 8, &a);
	assert_access(a, 9301 + 1, LEVEL_L1, false, false);
	memory_store(m, 9400, A + 4096 - 4, 8, &a);
	assert_access(a, 9401 + 24, LEVEL_L1, false, false);
	/* The second half misses. */
	memory_load(m, 9500, A + 4096 + 128 - 4, 8, PC, &a);
	assert_access(a, 9500 + 160 + 6, LEVEL_MEMORY, true, true);
	/* Three lines. */
	memory_load(m, 9900, A + 4096 - 4, 72, PC, &a);
	assert_access(a, 9905 + 7, LEVEL_L1, false, false);
	memory_free(m);
}

static void code(void **state)
{
	struct memory *m = memory_plain(NULL);
	struct access a;

	memory_fetch(m, 1000, A, &a);
	assert_access(a, 1170, LEVEL_MEMORY, true, true);
	memory_fetch(m, 1001, A + 16, &a);
	assert_access(a, 1170, LEVEL_FILL_BUFFER, true, true);
	memory_fetch(m, 1200, A + 32, &a);
	assert_access(a, 1201, LEVEL_L1, false, false);
	/* L2 holds code and data. */
	assert_access(load(m, 2000, A), 2014, LEVEL_L2, true, false);
	memory_free(m);
}

/* The same calls, the same cycles. */
static uint64_t fingerprint(void)
{
	struct core_desc d;
	struct memory *m;
	uint64_t random = 1234567, sum = 0, cycle = 0;

	desc_skylake(&d);
	snprintf(d.llc_replacement, sizeof d.llc_replacement, "random");
	assert_int_equal(memory_new(&m, &d), 0);
	for (int i = 0; i < 200000; i++) {
		struct access a;
		next_random(&random);
		uint64_t addr = random % (i % 3 ? 1 << 15 : 1 << 23), start = cycle + (random >> 40) % 500;
		if (i % 7 == 0)
			memory_store(m, start, addr, 8, &a);
		else if (i % 7 == 1)
			memory_fetch(m, start, addr, &a);
		else
			memory_load(m, start, addr, 8, random >> 30 & 31, &a);
		assert_true(a.done > start && a.done < start + 100000);
		sum = sum * 31 + a.done + (uint64_t)a.level;
		cycle += random >> 60;
	}
	memory_free(m);
	return sum;
}

static void deterministic(void **state)
{
	assert_int_equal(fingerprint(), fingerprint());
}

static void refused(struct core_desc *d, const char *what, const char *why)
{
	struct memory *m;

	assert_int_equal(memory_new(&m, d), -22);
	assert_null(m);
	assert_string_equal(error_get()->what, what);
	assert_string_equal(error_get()->why, why);
}

static void wrong_descriptions(void **state)
{
	struct core_desc d;

	desc_plain(&d);
	d.cache_line = 48;
	refused(&d, "cache.line", "48 is not a power of two");
	desc_plain(&d);
	d.l1d_size = 0;
	refused(&d, "l1d", "0 bytes are less than one set of 8 lines");
	desc_plain(&d);
	d.l2_size = 512;
	refused(&d, "l2", "512 bytes are less than one set of 16 lines");
	desc_plain(&d);
	d.dtlb_entries = 2;
	refused(&d, "dtlb", "a TLB of 2 entries has no set of 4");
	desc_plain(&d);
	d.stlb_entries = 4;
	refused(&d, "stlb", "a TLB of 4 entries has no set of 12");
	desc_plain(&d);
	snprintf(d.llc_replacement, sizeof d.llc_replacement, "belady");
	refused(&d, "llc", "there is no replacement policy called \"belady\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level),
		cmocka_unit_test(on_its_way),
		cmocka_unit_test(earlier_access_has_the_miss),
		cmocka_unit_test(miss_registers),
		cmocka_unit_test(miss_registers_recounted),
		cmocka_unit_test(bus_of_l2),
		cmocka_unit_test(write_back),
		cmocka_unit_test(bytes_of_loads),
		cmocka_unit_test(stores),
		cmocka_unit_test(store_asks_when_it_drains),
		cmocka_unit_test(splits),
		cmocka_unit_test(code),
		cmocka_unit_test(deterministic),
		cmocka_unit_test(wrong_descriptions),
	};
	return cmocka_run_group_tests_name("core memory", tests, NULL, NULL);
}
