/*
 * The memory system brought up to date without time: TLBs, page-walk caches, caches at all levels with what they evict,
 * and prefetchers with the lines that they ask for. What is touched is there afterwards, also where it was on its way.
 *
 * It is memory.h's rules at the cycle of timeless.h, and differs from timed accesses where those depend on time: no
 * prefetch is dropped for want of a miss register, and DRAM's rows stay open as they were.
 */
#ifndef CYCLEWISE_CORE_CACHE_WARM_H
#define CYCLEWISE_CORE_CACHE_WARM_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

/*
 * A load or store (`write`) by the instruction at `pc`. `known`: of a store, its address is known before it is written,
 * as of all but the pieces of rep strings.
 */
void memory_warm_data(struct memory *m, uint64_t vaddr, uint32_t bytes, bool write, bool known, uint64_t pc);
/* A software prefetch. */
void memory_warm_soft(struct memory *m, uint64_t vaddr);
/* Code of the line at `vaddr`. */
void memory_warm_code(struct memory *m, uint64_t vaddr);

#endif
