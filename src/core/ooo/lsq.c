#include "core/ooo/lsq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/cycle.h"

void lsq_search(const struct lsq *q, uint64_t addr, uint32_t bytes, uint64_t cycle, struct lsq_answer *out)
{
	const struct source from = shadow_load(&q->shadow, addr, bytes);
	unsigned alias = 0;

	*out = (struct lsq_answer){
		.kind = from.kind, .distance = from.distance, .store = lsq_store(q, from.distance, cycle),
	};
	if (!out->store && q->aliases)
		alias = shadow_alias(&q->shadow, addr, bytes);
	out->alias = alias && lsq_store(q, alias, cycle);
}

/* --- dependence prediction --------------------------------------------------------------------------- */

static inline uint32_t set_index(const struct lsq *q, uint64_t pc)
{
	uint64_t h = (pc ^ pc >> 17) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((h >> 32) * (uint64_t)(uint32_t)q->desc->memdep_entries >> 32);
}

uint64_t lsq_hold(struct lsq *q, uint64_t pc, uint64_t cycle)
{
	if (!q->desc->memdep_entries)
		return later(cycle, q->known_max);
	if (!--q->loads_to_clear) {
		memset(q->set, 0, sizeof *q->set * (size_t)q->desc->memdep_entries);
		q->loads_to_clear = (uint64_t)q->desc->memdep_clear;
	}
	uint32_t set = q->set[set_index(q, pc)];
	if (!set || !q->last[set - 1])
		return cycle;
	uint64_t n = q->last[set - 1] - 1;
	if (n + q->mask < q->nr_stores)
		return cycle;
	return later(cycle, q->store[n & q->mask].known);
}

void lsq_violation(struct lsq *q, uint64_t pc, uint64_t store_pc)
{
	if (!q->desc->memdep_entries)
		return;
	uint32_t *load = &q->set[set_index(q, pc)], *store = &q->set[set_index(q, store_pc)];
	uint32_t set = *load && *store ? (*load < *store ? *load : *store)
	               : *load         ? *load
	               : *store        ? *store
	                               : set_index(q, pc) + 1;
	*load = *store = set;
	/* The store that was missed is in the queue already: the load that runs again is to wait for it. */
	uint64_t n = q->nr_stores, oldest = n > q->mask ? n - q->mask : 0;
	while (n > oldest && q->store[(n - 1) & q->mask].pc != store_pc)
		n--;
	if (n > oldest)
		q->last[set - 1] = n;
}

/* --- entering ---------------------------------------------------------------------------------------- */

/* The cycle, `start` or the next, in which one of drain_width writes is left; takes it. */
static uint64_t take_write(struct lsq *q, uint64_t start)
{
	if (start == q->drain_start && q->drain_used >= (uint32_t)q->desc->store_queue_drain_width)
		start++;
	if (start != q->drain_start) {
		q->drain_used = 0;
		if (q->ports)
			start = ports_take(q->ports, LANE_WRITE, start);
	}
	q->drain_start = start;
	q->drain_used++;
	return start;
}

/*
 * The cycle in which a store to blocks of store_queue.merge_bytes leaves the queue, at the earliest from `from` on. Of
 * stores to one block MERGE_WIDTH leave in a cycle, of those to several (`alone`) one, with no other.
 */
static uint64_t leave_to_merge(struct lsq *q, uint64_t from, bool alone)
{
	if (from > q->merge_start) {
		q->merge_start = from;
		q->merge_used = 0;
	} else if (q->merge_used >= (alone ? 1 : MERGE_WIDTH)) {
		q->merge_start++;
		q->merge_used = 0;
	}
	q->merge_used += alone ? MERGE_WIDTH : 1;
	return q->merge_start;
}

/*
 * Stores that follow each other to the same block are one write as long as it has not begun. Returns the start of the
 * last write of this one, and in *first that of its first.
 */
static uint64_t write_merged(struct lsq *q, uint64_t addr, uint32_t bytes, uint64_t from, uint64_t *first)
{
	const struct core_desc *d = q->desc;
	uint64_t number = q->merge.nr_stores;
	struct merging is = merge_store(&q->merge, d, addr, bytes);
	uint64_t before = q->wrote[(number - is.part_of) % MERGE_STORES], left = leave_to_merge(q, from, is.blocks > 1);

	for (uint64_t i = 0; i < is.blocks; i++) {
		if (i || !is.joins || q->drain_start < left) {
			left = take_write(q, later(left, q->drain_start));
			if (is.part_of && before + MERGE_RECENT > left)
				left = take_write(q, left + (unsigned)d->store_queue_part_again);
		}
		if (!i)
			*first = q->drain_start;
	}
	q->wrote[number % MERGE_STORES] = q->drain_start;
	return q->drain_start;
}

static uint64_t drain_merged(struct lsq *q, uint64_t addr, uint32_t bytes, uint64_t commit)
{
	struct access a;
	uint64_t from = q->desc->store_queue_ordered ? later(commit + 1, q->drain_done) : commit + 1;
	uint64_t first = from, last = write_merged(q, addr, bytes, from, &first);

	/* The second write of a store over a line is among the extra cycles of split.line_store. */
	memory_store(q->memory, first, addr, bytes, &a);
	if (a.done > last + 1)
		q->drain_done = later(q->drain_done, a.done);
	return later(q->drain_done, later(a.done, last + 1));
}

static uint64_t drain(struct lsq *q, uint64_t addr, uint32_t bytes, uint64_t commit)
{
	struct access a;

	if (bytes && q->desc->store_queue_merge_bytes)
		return drain_merged(q, addr, bytes, commit);

	uint64_t start = later(commit + 1, q->drain_start);

	if (q->desc->store_queue_ordered)
		start = later(start, q->drain_done);
	start = take_write(q, start);
	if (!bytes)
		return start + 1;
	memory_store(q->memory, start, addr, bytes, &a);
	if ((addr ^ (addr + bytes - 1)) & ~((uint64_t)q->desc->cache_line - 1))
		a.done = later(a.done, take_write(q, start) + 1);
	/* drain_width writes a cycle: the next may start in the cycle this one is written in L1D. */
	if (a.done > start + 1)
		q->drain_done = later(q->drain_done, a.done);
	return later(q->drain_done, later(a.done, start + 1));
}

uint64_t lsq_add_store(struct lsq *q, uint64_t pc, uint64_t addr, uint32_t bytes, uint64_t known, uint64_t data,
                       uint64_t commit, uint64_t record)
{
	uint64_t number = q->nr_stores++, freed = drain(q, addr, bytes, commit);

	if (!q->desc->store_queue_ordered && number) /* written out of order, freed in order */
		freed = later(freed, q->store[(number - 1) & q->mask].freed);
	q->store[number & q->mask] = (struct store){
		.known = known, .data = data, .freed = freed, .record = record, .pc = pc,
	};
	q->known_max = later(q->known_max, known);
	shadow_store(&q->shadow, addr, bytes, q->aliases);
	if (q->desc->memdep_entries) {
		uint32_t set = q->set[set_index(q, pc)];
		if (set)
			q->last[set - 1] = number + 1;
	}
	return freed;
}

int lsq_init(struct lsq *q, const struct core_desc *desc, struct memory *memory)
{
	memset(q, 0, sizeof *q);
	q->desc = desc;
	q->memory = memory;
	q->loads_to_clear = (uint64_t)desc->memdep_clear;
	uint64_t entries = (uint64_t)(desc->load_queue_entries > desc->store_queue_entries ? desc->load_queue_entries
	                                                                                   : desc->store_queue_entries);
	for (q->mask = 63; q->mask < entries; )
		q->mask = 2 * q->mask + 1;
	q->aliases = desc->alias4k_penalty || desc->load_queue_restart;
	if (desc->memdep_entries) {
		q->set = calloc((size_t)desc->memdep_entries, sizeof *q->set);
		q->last = calloc((size_t)desc->memdep_entries, sizeof *q->last);
		if (!q->set || !q->last)
			return error_errno(ENOMEM, "dependence predictor");
	}
	return 0;
}

void lsq_fini(struct lsq *q)
{
	free(q->set);
	free(q->last);
}
