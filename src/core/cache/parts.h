/*
 * What the memory systems of both cores (memory.c, core/gus/memory.c) have alike: caches and TLBs as a description has
 * them, and what is forgotten when a mapping goes.
 *
 * Set-up returns 0, or -errno, the message set where the description is wrong; `group` is that of the parameters.
 */
#ifndef CYCLEWISE_CORE_CACHE_PARTS_H
#define CYCLEWISE_CORE_CACHE_PARTS_H

#include "core/cache/cache.h"
#include "core/cache/tlb.h"
#include "core/params.h"

/* That the lines of all caches have one size, a power of two. */
int parts_lines(const struct core_desc *d);
/* `size` and `line`: bytes. */
int parts_cache(struct cache *c, const char *group, const char *replacement, int32_t size, int32_t ways, int32_t line);
int parts_tlb(struct tlb *t, const char *group, int32_t entries, int32_t ways);

/*
 * Translations of [vaddr, vaddr + pages * 4096) are gone from tlb[nr], any of which may have no entries, and from the
 * walker's.
 */
void parts_unmap(struct walker *w, struct tlb *const tlb[], unsigned nr, uint64_t vaddr, uint64_t pages);

#endif
