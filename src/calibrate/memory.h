/*
 * The memory hierarchy: load-to-use latency and bandwidth of each level, line-fill buffers, TLBs and page walks.
 *
 * Latency: a chain of loads through all lines of a footprint in random order, on huge pages, so that neither
 * prefetchers nor TLBs have a part in it. The size of the last level is that which answers: in a guest often far less
 * than the processor's data sheet says. Bandwidth: 16- or 32-byte loads in order, prefetchers on. Line-fill buffers:
 * how many random loads that know their addresses overlap, by the latency of one over the time each takes. TLBs: a
 * chain through one line of each page, less the same number of lines behind one another.
 */
#ifndef CYCLEWISE_CALIBRATE_MEMORY_H
#define CYCLEWISE_CALIBRATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/experiment.h"

/* Memory to measure in, and chains through it. */
struct memory_area {
	uint8_t *base;             /* 2 MiB-aligned */
	size_t size;               /* multiple of 2 MiB */
	bool huge;                 /* it stands in huge pages */
	void *mapping;
	size_t mapped;
	void *cell;                /* where a chain was left, or an offset: the state between samples */
};

/* huge: by huge pages if the system gives them, else by small ones. 0 or -errno. */
int memory_area_init(struct memory_area *a, size_t size, bool huge);
void memory_area_fini(struct memory_area *a);

/*
 * A chain through `n` elements in random order, each `stride` bytes behind the one before: in the lines of a small page
 * in turn (rotate), or always in the first. a->cell is left at its beginning. The same for the same seed.
 */
void memory_chain(struct memory_area *a, size_t n, size_t stride, bool rotate, uint64_t seed);

/* Cycles a load of the chain takes. */
int memory_chase(struct bench *b, struct memory_area *a, size_t n, struct estimate *e);

/* The whole hierarchy. 0 or -errno. */
int memory_measure(struct experiment *x);

#endif
