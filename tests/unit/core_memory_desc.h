/* A core description of defaults, for tests that set what they are about. */
#ifndef CYCLEWISE_TESTS_CORE_MEMORY_DESC_H
#define CYCLEWISE_TESTS_CORE_MEMORY_DESC_H

#include <stdio.h>

#include "core/params.h"

static inline void desc_defaults(struct core_desc *d)
{
	*d = (struct core_desc){
#define X(group, name, def, min, max, unit, help) .group##_##name = def,
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
	d->prefetch_l1_stride = d->prefetch_l1_next = d->prefetch_l1_next_miss = d->prefetch_l1i_next = 0;
	d->prefetch_l2_adjacent = d->prefetch_l2_stream = 0;
}

/* The memory system of a Skylake-SP, as CORES.md has it measured. */
static inline void desc_skylake(struct core_desc *d)
{
	desc_defaults(d);
	d->l1d_bandwidth = 128;
	d->l2_bandwidth = 28;
	d->llc_victim = 1;
	d->dram_latency_ns = 35;
	d->dram_bandwidth = 13000;
	d->walk_walkers = 2;
	d->walk_overhead = 16;
	d->prefetch_l1_stride = 24;
	d->prefetch_l1_next = 1;
	d->prefetch_l1i_next = 1;
	d->prefetch_l2_stream = 32;
}

#endif
