/*
 * Load and store queues of the detailed core: entries, forwarding, partial overlap, 4 KiB aliases, memory-order
 * violations with a store-set predictor, and the drain of committed stores into L1D.
 *
 * Stores are entered in program order with the cycles at which their address and data are known, their commit
 * and the cycle their entry is freed. A load looks, in the cycle it issues, at the older stores that still have
 * their entry then; the youngest that overlaps decides.
 * Ref: Chrysos and Emer, "Memory dependence prediction using store sets" (ISCA 1998).
 */
#ifndef CYCLEWISE_CORE_OOO_LSQ_H
#define CYCLEWISE_CORE_OOO_LSQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cache/memory.h"
#include "core/ooo/ports.h"
#include "core/order/merge.h"
#include "core/order/shadow.h"
#include "core/params.h"

enum {
	LSQ_RING = 2048,               /* entries that can be remembered; more than any queue holds */
};

struct store {
	uint64_t known, data;          /* cycles: address known, data known */
	uint64_t freed;                /* entry free from this cycle on: written to L1D */
	uint64_t record;               /* number of its timed record */
	uint64_t pc;
};

struct lsq {
	const struct core_desc *desc;
	struct memory *memory;
	uint64_t mask;                 /* of the rings of entries: the next power of two, less one */
	struct store store[LSQ_RING];  /* [number & mask] */
	uint64_t nr_stores;            /* entered so far */
	uint64_t load_leave[LSQ_RING]; /* [number & mask]: commit of that load */
	uint64_t load_record[LSQ_RING];
	uint64_t nr_loads;
	struct shadow shadow;          /* of its stores */
	bool aliases;                  /* 4 KiB aliases cost something */

	struct ports *ports;           /* where lines that come stop stores (l1d.victim_ports); NULL: they do not */
	uint64_t drain_start, drain_done; /* of the youngest store; drain starts never decrease */
	uint32_t drain_used;           /* started in drain_start */
	uint64_t merge_start;          /* store_queue.merge_bytes: cycle in which the youngest stores leave for their
	                                * write */
	uint32_t merge_used;           /* in that cycle */
	struct merge merge;
	uint64_t wrote[MERGE_STORES];  /* [store % MERGE_STORES]: start of its last write */
	uint64_t known_max;            /* latest address of any store so far */

	uint32_t *set;                 /* [memdep.entries] by pc: store set + 1; 0: none */
	uint64_t *last;                /* [memdep.entries] by set: number of its youngest store + 1 */
	uint64_t loads_to_clear;
};

/* What the older stores mean for a load that issues in `cycle`. */
struct lsq_answer {
	const struct store *store;     /* that it reads from, in the queue then; NULL: none. Valid until the next */
	enum source_kind kind;
	unsigned distance;             /* stores back */
	bool alias;                    /* a store in the queue has the same low 12 bits, and that is all */
};

int  lsq_init(struct lsq *q, const struct core_desc *desc, struct memory *memory);
void lsq_fini(struct lsq *q);

/*
 * Of a ring of `entries`, `taken` so far: where the one stands that leaves the n-th entry to who comes next; -1: it is
 * free.
 */
static inline int64_t lsq_holder(const struct lsq *q, uint64_t taken, int32_t entries, unsigned n)
{
	uint64_t last = taken + (n < (unsigned)entries ? n : (unsigned)entries);

	return last <= (unsigned)entries ? -1 : (int64_t)((last - (unsigned)entries - 1) & q->mask);
}

/* Cycle from which `n` load (store) entries are free. */
static inline uint64_t lsq_loads_free(const struct lsq *q, unsigned n)
{
	int64_t i = lsq_holder(q, q->nr_loads, q->desc->load_queue_entries, n);

	return i < 0 ? 0 : q->load_leave[i] + 1;
}

static inline uint64_t lsq_stores_free(const struct lsq *q, unsigned n)
{
	int64_t i = lsq_holder(q, q->nr_stores, q->desc->store_queue_entries, n);

	return i < 0 ? 0 : q->store[i].freed;
}

/* The record that holds the last of them until then; there is one. */
static inline uint64_t lsq_load_holder(const struct lsq *q, unsigned n)
{
	return q->load_record[lsq_holder(q, q->nr_loads, q->desc->load_queue_entries, n)];
}

static inline uint64_t lsq_store_holder(const struct lsq *q, unsigned n)
{
	return q->store[lsq_holder(q, q->nr_stores, q->desc->store_queue_entries, n)].record;
}

/* The store so far back, 1 being the youngest, if it is still in the queue in `cycle`; else NULL. */
static inline const struct store *lsq_store(const struct lsq *q, unsigned back, uint64_t cycle)
{
	const struct store *s = &q->store[(q->nr_stores - back) & q->mask];

	return back - 1 < q->mask && s->freed > cycle ? s : NULL;
}

void lsq_search(const struct lsq *q, uint64_t addr, uint32_t bytes, uint64_t cycle, struct lsq_answer *out);

/* The cycle before which the predictor holds back a load at `pc` that could issue in `cycle`; at least `cycle`. */
uint64_t lsq_hold(struct lsq *q, uint64_t pc, uint64_t cycle);
/* A load at `pc` ran before the older store at `store_pc` to its address. */
void lsq_violation(struct lsq *q, uint64_t pc, uint64_t store_pc);

static inline void lsq_add_load(struct lsq *q, uint64_t leave, uint64_t record)
{
	q->load_leave[q->nr_loads & q->mask] = leave;
	q->load_record[q->nr_loads & q->mask] = record;
	q->nr_loads++;
}
/* A store that commits in `commit`: drains it, in order; returns the cycle its entry is freed. */
uint64_t lsq_add_store(struct lsq *q, uint64_t pc, uint64_t addr, uint32_t bytes, uint64_t known, uint64_t data,
                       uint64_t commit, uint64_t record);

#endif
