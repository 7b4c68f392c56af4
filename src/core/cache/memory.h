/*
 * The memory system of one core: caches, miss registers, TLBs with a page walker, prefetchers, DRAM.
 *
 * Instruction-driven: each call is one access with the cycle at which it starts, and gets the cycle at which
 * it is done; calls come in program order, so cycles may go back and forth by a window. Lines carry the cycle
 * of their fill, miss registers and buses are calendars: an access that starts before an earlier call's takes
 * the place it really would have had.
 */
#ifndef CYCLEWISE_CORE_CACHE_MEMORY_H
#define CYCLEWISE_CORE_CACHE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"
#include "record/timed.h"

struct memory;

struct access {
	uint64_t done;         /* load: data usable (l1d.latency included); store: written to L1D; fetch: bytes there */
	uint64_t tlb_done;     /* translation known; equal to the start where the first-level TLB hit */
	uint64_t mshr_wait;    /* cycles it waited for a free miss register */
	enum level level;      /* where the line came from: L1, FILL_BUFFER (already on its way), L2, LLC, MEMORY */
	bool write;            /* asked for to be written: needed when the store is, not now */
	bool l1_miss;          /* not in L1 at the start (a line still on its way is a miss) */
	bool tlb_miss;         /* missed the first-level TLB */
	bool tlb_merged;       /* ... and found the page's walk begun by another access */
	bool llc_miss;         /* came, or is on its way, from memory */
};

/*
 * Cycles in which lines come into L1D, and in which changed ones leave it, for who stops stores and closes ports then
 * (l1d.victim_ports); of more than it holds, the first.
 */
struct line_traffic {
	uint32_t nr_come, nr_leave;
	uint64_t come[16], leave[16];
};

int memory_new(struct memory **out, const struct core_desc *desc);
void memory_free(struct memory *m);
/* From now on they are added to `to`, which the caller empties. */
void memory_tell_passing(struct memory *m, struct line_traffic *to);

/*
 * A load of `bytes` at `vaddr` starting its L1D access (address generated) at `cycle`; `pc` trains the prefetchers.
 * Splits over lines or pages access both halves: done is the later, split.*_latency included.
 */
void memory_load(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct access *a);
/* A committed store drains: it owns the L1D write port from `cycle`; done is when its line is there and written. */
void memory_store(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, struct access *a);
/*
 * A store's address became known at `cycle`: starts its translation and, with store_queue.prefetch, the miss; books no
 * port.
 */
void memory_own(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, struct access *a);
/*
 * An access on the wrong path, squashed at `until`: what it asks for before then comes, and stays. `done` is UINT64_MAX
 * where nothing was asked for. A store's address is known then: as memory_own().
 */
void memory_wrong(struct memory *m, uint64_t cycle, uint64_t until, uint64_t vaddr, uint32_t bytes, bool store,
                  struct access *a);
/* Instruction bytes of the line at `vaddr` wanted at `cycle`. */
void memory_fetch(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a);
/* Software prefetch, or an instruction prefetch by a decoupled front end: same effects, nobody waits. */
void memory_prefetch(struct memory *m, uint64_t cycle, uint64_t vaddr, bool code);
/*
 * What accesses from now on never meet (enum psv; core/suppose.h): those to code DR-L1 and DR-TLB, the others ST-L1,
 * ST-TLB and ST-LLC. Set for one instruction's accesses; 0: they meet what they meet.
 */
void memory_suppose(struct memory *m, bool code, uint16_t never);
/* Translations of [vaddr, vaddr + pages * 4096) are gone. */
void memory_unmap(struct memory *m, uint64_t vaddr, uint64_t pages);

#endif
