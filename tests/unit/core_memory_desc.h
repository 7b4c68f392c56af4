/* A core description of defaults, for tests that set what they are about, and memory systems made of one. */
#ifndef CYCLEWISE_TESTS_CORE_MEMORY_DESC_H
#define CYCLEWISE_TESTS_CORE_MEMORY_DESC_H

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/cache/memory.h"
#include "core/params.h"

enum { PC = 0x400000 };

static inline void desc_defaults(struct core_desc *d)
{
	*d = (struct core_desc){
#define X(group, name, def, min, max, unit, help, ...) .group##_##name = def,
		CORE_PARAMS(X)
#undef X
	};
#define X(field, key, def, help) snprintf(d->field, sizeof d->field, "%s", def);
	CORE_STRINGS(X)
#undef X
}

/* Every prefetcher off. */
static inline void desc_no_prefetch(struct core_desc *d)
{
	d->prefetch_l1_stride = d->prefetch_l1_next = d->prefetch_l1i_next = 0;
	d->prefetch_l2_adjacent = d->prefetch_l2_stream = 0;
}

/* The memory system of a Skylake-SP, as CORES.md has it measured. */
static inline void desc_skylake(struct core_desc *d)
{
	desc_defaults(d);
	d->l1d_bandwidth = 128;
	d->l2_bandwidth = 28;
	d->llc_victim = 1;
	d->dram_latency_ns = 33;
	d->dram_bandwidth = 13000;
	d->walk_walkers = 2;
	d->walk_overhead = 16;
	d->prefetch_l1_stride = 24;
	d->prefetch_l1_next = 1;
	d->prefetch_l1i_next = 1;
	d->prefetch_l2_stream = 32;
}

/*
 * A memory system whose cycles are easily added up: L1D 5, L2 14, LLC 80 (16 ways, every miss fills it), memory 80
 * beyond that where its row is open, 10 more where none is, 20 more where another is. LRU everywhere, addresses are
 * physical, no prefetchers, buses so wide that they never matter, translations free.
 */
static inline void desc_plain(struct core_desc *d)
{
	desc_defaults(d);
	desc_no_prefetch(d);
	snprintf(d->l1i_replacement, sizeof d->l1i_replacement, "lru");
	snprintf(d->l1d_replacement, sizeof d->l1d_replacement, "lru");
	snprintf(d->l2_replacement, sizeof d->l2_replacement, "lru");
	d->clock_mhz = 1000;
	d->l1d_bandwidth = d->l2_bandwidth = d->l2_write_bandwidth = d->llc_bandwidth = d->llc_write_bandwidth = 256;
	d->llc_size = 2097152;
	d->llc_ways = 16;
	d->dram_latency_ns = 70;
	d->dram_cas_ns = d->dram_rcd_ns = d->dram_rp_ns = 10;
	d->dram_bandwidth = 64000;
	d->page_colour_seed = 0;
	d->ideal.dtlb = d->ideal.itlb = true;
}

/* desc_plain(), changed. */
static inline struct memory *memory_plain(void (*change)(struct core_desc *))
{
	struct core_desc d;
	struct memory *m;

	desc_plain(&d);
	if (change)
		change(&d);
	int err = memory_new(&m, &d);
	assert(!err);
	return m;
}

/* 8 bytes, by the load at `pc`. */
static inline struct access load_by(struct memory *m, uint64_t cycle, uint64_t addr, uint64_t pc)
{
	struct access a;

	memory_load(m, cycle, addr, 8, pc, &a);
	return a;
}

static inline struct access load(struct memory *m, uint64_t cycle, uint64_t addr)
{
	return load_by(m, cycle, addr, PC);
}

#endif
