/*
 * Translation: set-associative arrays of pages with LRU replacement, and the page walker's plan of loads.
 *
 * A TLB here is an array only; who looks where, in which order and what that costs is translation.c's. An entry carries
 * the cycle at which its walk ends, as a cache line carries that of its fill.
 *
 * Physical addresses do not exist in a user-mode run: each page gets the frame that a keyed one-to-one hash of its
 * number says, so that physically indexed caches and DRAM banks see pages spread as an operating system spreads them.
 * Page tables live in a region of their own; their entries are 8 bytes, 512 to a table, as on x86-64, AArch64 (4 KiB
 * granule) and RISC-V. Not modelled: large pages beside small ones, accessed and dirty bits, global entries.
 */
#ifndef CYCLEWISE_CORE_CACHE_TLB_H
#define CYCLEWISE_CORE_CACHE_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cache/divisor.h"

#define TLB_EMPTY UINT64_MAX

enum { TLB_HINTS = 256, WALK_MAX_LEVELS = 5 };

struct tlb_entry {
	uint64_t page;         /* virtual page number, or TLB_EMPTY */
	uint64_t frame;
	uint64_t ready;        /* cycle its walk ends */
	uint64_t used;         /* for LRU */
	uint64_t wait;         /* cycles from the access that missed to `ready` */
};

struct tlb {
	struct tlb_entry *entries; /* [sets][ways] */
	uint32_t ways;
	struct divisor sets;
	uint64_t clock;
	uint16_t hint[TLB_HINTS]; /* by low bits of the page: entry where one such page was found last */
};

/* 0 or -ENOMEM. entries >= ways > 0, at most 65536 entries; what does not fill a set is left out. */
int tlb_init(struct tlb *t, uint32_t entries, uint32_t ways);
void tlb_fini(struct tlb *t);
struct tlb_entry *tlb_find_slow(struct tlb *t, uint64_t page);
/* Puts `page` in place of the least recently used of its set. */
struct tlb_entry *tlb_insert(struct tlb *t, uint64_t page);
/* Drops every page in [from, to]. */
void tlb_drop(struct tlb *t, uint64_t from, uint64_t to);

/* The entry, which then is the most recently used; NULL: absent. */
static inline struct tlb_entry *tlb_find(struct tlb *t, uint64_t page)
{
	struct tlb_entry *e = &t->entries[t->hint[page % TLB_HINTS]];

	if (__builtin_expect(e->page != page, 0))
		return tlb_find_slow(t, page);
	e->used = ++t->clock;
	return e;
}

struct walker {
	struct tlb directory[WALK_MAX_LEVELS]; /* [level]: entries of that level, 0 being the last, whose are not
	                                        * kept here */
	uint32_t levels;       /* loads of a walk that finds nothing cached */
	uint32_t cached;       /* entries of each directory; 0: none are cached */
	uint32_t page_bits;
	uint64_t seed;
};

/* page_bits: 12 to 30; `levels`: of a 4 KiB page; a page of 2^21 (2^30) bytes has one (two) less. 0 or -ENOMEM. */
int page_walker_init(struct walker *w, uint32_t levels, uint32_t cached, uint32_t page_bits, uint32_t seed);
void page_walker_fini(struct walker *w);
/*
 * The physical addresses of the entries to be loaded, the last level's last; how many (at least 1). Caches the
 * directories.
 */
uint32_t page_walker_plan(struct walker *w, uint64_t page, uint64_t address[WALK_MAX_LEVELS]);
/* Forgets all directory entries, as an invalidation does. */
void page_walker_flush(struct walker *w);
/* The frame of a page: one-to-one over 57-bit addresses. seed 0: the page itself. */
uint64_t page_walker_frame(const struct walker *w, uint64_t page);

/* Its entry, where that is the one that was found last of such pages; else NULL. Does not touch it. */
static inline const struct tlb_entry *tlb_at_hand(const struct tlb *t, uint64_t page)
{
	const struct tlb_entry *e = &t->entries[t->hint[page % TLB_HINTS]];

	return e->page == page ? e : NULL;
}

/* page_walker_frame(), from the TLB where that has it at hand. */
static inline uint64_t tlb_frame(const struct tlb *t, const struct walker *w, uint64_t page)
{
	const struct tlb_entry *e = tlb_at_hand(t, page);

	return e ? e->frame : page_walker_frame(w, page);
}

#endif
