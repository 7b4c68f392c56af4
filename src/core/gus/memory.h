/*
 * The memory system of the abstract core, apart from time: which level has a line, which lines move, which
 * translations are there. Caches, TLBs and prefetchers are those of the detailed core (core/cache/cache.h,
 * core/cache/tlb.h, core/cache/prefetch.h), updated in program order; what they find is written as words of outcomes.
 *
 * Not modelled: that a prefetch is dropped where no miss register is free: it waits for one (access.c).
 */
#ifndef CYCLEWISE_CORE_GUS_MEMORY_H
#define CYCLEWISE_CORE_GUS_MEMORY_H

#include "core/cache/cache.h"
#include "core/cache/prefetch.h"
#include "core/cache/tlb.h"
#include "core/gus/outcome.h"
#include "core/params.h"

struct outcome_lower {
	struct cache lines;
	enum level name;
	bool victim;                   /* filled by evictions of the level above alone */
};

struct outcome_l1 {
	struct cache lines;
	struct tlb tlb;
	bool ideal, ideal_tlb, ideal_below;
};

struct outcome_memory {
	unsigned line_shift, page_shift;
	bool stride_on, next_on, next_on_miss, adjacent;
	unsigned code_next;            /* lines */
	struct outcome_l1 data, code;
	struct outcome_lower lower[2]; /* [nr]: the one behind L1 first */
	unsigned nr;
	struct tlb second;             /* entries NULL: none */
	struct walker walker;
	struct stride stride;
	struct next_line next_line;
	struct streamer streamer;
};

int  outcome_memory_init(struct outcome_memory *m, const struct core_desc *d);
void outcome_memory_fini(struct outcome_memory *m);

/*
 * An access of `bytes` at `vaddr`: a word for each line. what: outcome_access_word(); its distance for the first,
 * simple where it does not split.
 */
void outcome_access(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc,
                    struct outcome_stream *out);
/* Code of the line at `vaddr`. A word only where it is not in L1I and its page in the ITLB. */
void outcome_fetch(struct outcome_memory *m, uint64_t vaddr, struct outcome_stream *out);
void outcome_unmap(struct outcome_memory *m, uint64_t vaddr, uint64_t pages);

#endif
