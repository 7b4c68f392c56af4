/*
 * What the files of the memory system share: its state, and the common case, both translation and line where they were
 * found last, which is inlined; all else is out of line.
 *
 *   memory.c             set-up, accesses of the pipeline, splits over lines and pages
 *   l1.c                 L1 misses and prefetchers
 *   translation.c        first-level TLB misses: second level, page walks
 *   warm.c               accesses without time (timeless.h)
 */
#ifndef CYCLEWISE_CORE_CACHE_STATE_H
#define CYCLEWISE_CORE_CACHE_STATE_H

#include "core/cache/cache.h"
#include "core/cache/coming.h"
#include "core/cache/hierarchy.h"
#include "core/cache/memory.h"
#include "core/cache/mshr.h"
#include "core/cache/prefetch.h"
#include "core/cache/tlb.h"

enum { CACHE_PORT_WINDOW = 2048 };

/* Bytes that loads have read from L1D, by cycle: cycle << 16 | bytes. */
struct port {
	uint64_t used[CACHE_PORT_WINDOW];
	uint32_t bytes;        /* a cycle */
};

/*
 * Lines come into one set of L1D some cycles apart (l1d.set_fill). As long as one waits for its turn, the line that it
 * is to take the place of is still there: evicted in the order of the program, it may be hit by many in the order of
 * time.
 */
enum { EVICTING = 64 };                 /* a power of two */

struct evicting {
	uint64_t line, fill, until;    /* there from `fill` to `until` */
};

struct set_fill {
	uint64_t cycles;       /* 0: not modelled */
	struct coming *coming; /* [set] */
	struct evicting evicting[EVICTING]; /* by a hash of the line */
};

struct l1 {
	struct cache lines;
	struct set_fill set;
	struct mshr mshr;
	uint64_t latency;
	enum reader reader;
	bool ideal, ideal_tlb;
	bool supposed_hit, supposed_near, supposed_translated; /* of the access in hand: memory_suppose() */
	struct tlb tlb;
};

struct memory {
	uint32_t line_shift, page_shift;
	uint64_t line_mask, page_mask;
	struct l1 data, code;
	struct port port;
	struct stride stride;
	struct next_line next_line;
	bool stride_on, next_on, next_on_miss;
	bool own_early;        /* store_queue.prefetch */
	struct line_traffic *passing; /* NULL: nobody asked */
	uint32_t code_next;    /* lines */
	uint64_t split_line, split_page, split_line_store, split_page_store; /* cycles */

	struct hierarchy below;
	struct tlb second;     /* entries: NULL where there is none */
	uint64_t second_latency;
	struct walker walker;
	struct mshr walks;
	uint64_t walk_overhead;
	bool walk_below;       /* its loads start at L2, not at L1D */
};

/* ---- l1.c ---- */

int memory_l1_init(struct memory *m, const struct core_desc *d, uint64_t window);
void memory_l1_fini(struct memory *m);
/* `line` is not there at `cycle`; it may be on its way, at `at`. The cycle it is there. */
uint64_t memory_read_slow(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, uint32_t offset, int64_t at,
	struct access *a);
/* Dropped where the line is there or on its way, or no miss register is free. */
void memory_prefetch_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line);

/* ---- translation.c ---- */

/* What lies behind the first-level TLBs. */
int memory_translation_init(struct memory *m, const struct core_desc *d, uint64_t window);
void memory_translation_fini(struct memory *m);
/* `page` was not found at `cycle`, or as `e`, whose walk goes on; sets tlb_done, tlb_miss and tlb_merged. */
struct tlb_entry *memory_translate_slow(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t page,
                                        struct tlb_entry *e, struct access *a);

/* ---- the common case ---- */

/* The cycle `line` is there for an access that starts at `cycle`: that cycle itself on a hit. */
static inline uint64_t read_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, uint32_t offset,
	struct access *a)
{
	int64_t at = cache_access(&l->lines, line);

	if (__builtin_expect(at >= 0 && l->lines.lines[at].fill <= cycle, 1)) {
		a->level = LEVEL_L1;
		return cycle;
	}
	return memory_read_slow(m, l, cycle, line, offset, at, a);
}

/* The physical line of `vaddr` for an access that starts at `cycle`; sets tlb_done, tlb_miss and tlb_merged. */
static inline uint64_t translate(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	uint64_t page = vaddr >> m->page_shift;
	struct tlb_entry *e = tlb_find(&l->tlb, page);

	a->tlb_done = cycle;
	if (__builtin_expect(!e || e->ready > cycle, 0))
		e = memory_translate_slow(m, l, cycle, page, e, a);
	return (e->frame << m->page_shift | (vaddr & m->page_mask)) >> m->line_shift;
}

#endif
