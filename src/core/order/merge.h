/*
 * Which stores are one write, by their addresses alone: those that follow each other to the same aligned block of
 * store_queue.merge_bytes may be, and one of a part of 4 bytes may have to wait for a write of the same. Whether that
 * write has begun, or is over long enough, each core finds out in its own way: core/ooo/lsq.c and abstract_drain.h.
 */
#ifndef CYCLEWISE_CORE_ORDER_MERGE_H
#define CYCLEWISE_CORE_ORDER_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"

enum {
	MERGE_STORES = 16,             /* that a store of a part of 4 bytes is held against */
	MERGE_WIDTH = 2,               /* stores to one block that leave the queue in a cycle */
	MERGE_RECENT = 5,              /* cycles from a write in which a part of its 4 bytes fails
	                                * (store_queue.part_again) */
};

struct merge {
	uint64_t block;                /* the last of the youngest store, + 1 */
	struct { uint64_t word, end; } store[MERGE_STORES]; /* [store % MERGE_STORES]: their aligned 4 bytes */
	uint64_t nr_stores;
};

/*
 * A store: writes, the first of which may be the youngest; how many stores back one wrote what this is a part of, 0:
 * none.
 */
struct merging {
	uint64_t blocks;
	unsigned part_of;
	bool joins;
};

static inline struct merging merge_store(struct merge *m, const struct core_desc *d, uint64_t addr, uint32_t bytes)
{
	uint64_t size = (uint64_t)d->store_queue_merge_bytes, last = addr + bytes - 1, word = addr / 4,
		 end = last / 4 + 1, n = m->nr_stores++;
	struct merging is = { .blocks = last / size - addr / size + 1, .joins = m->block == addr / size + 1 };

	m->block = last / size + 1;
	if (is.joins && is.blocks > 1) /* what is in the first block comes into a write that waits: only the others
	                                * are written anew */
		word = (addr / size + 1) * size / 4;
	if ((addr | bytes) % 4 && d->store_queue_part_again) {
		for (unsigned back = 1; back <= MERGE_STORES && back <= n && !is.part_of; back++)
			if (m->store[(n - back) % MERGE_STORES].word < end &&
			    word < m->store[(n - back) % MERGE_STORES].end)
				is.part_of = back;
	}
	m->store[n % MERGE_STORES].word = addr / 4;
	m->store[n % MERGE_STORES].end = end;
	return is;
}

#endif
