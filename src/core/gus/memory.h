/*
 * The memory system of the abstract core, apart from time: which level has a line, which lines move, which
 * translations are there. Caches, TLBs and prefetchers are those of the detailed core (core/cache/cache.h, core/cache/tlb.h, core/cache/prefetch.h),
 * updated in program order; what they find is written as words of outcomes.
 *
 * Where the lines that were found lately are, and their pages in the TLB, is kept by their virtual numbers. As long as both are still
 * there, neither is looked up; a page's frame never changes.
 *
 * Not modelled: that a prefetch is dropped where no miss register is free: it waits for one (access.h).
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

struct known_line {
	uint64_t virtual, physical;    /* numbers of the line; virtual UINT64_MAX: none */
	uint32_t entry, at, set, way;  /* of data.tlb.entries; of data.lines */
};

enum { KNOWN_LINES = 256 };

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
	struct known_line known[KNOWN_LINES]; /* [virtual % KNOWN_LINES] */
};

int  outcome_memory_init(struct outcome_memory *m, const struct core_desc *d);
void outcome_memory_fini(struct outcome_memory *m);

void outcome_prefetch(struct outcome_memory *m, uint64_t line, struct outcome_stream *out);
/* An access of `bytes` at `vaddr`: a word for each line. what: outcome_access_word(); its distance for the first, simple where it does not split. */
void outcome_access(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc,
                    struct outcome_stream *out);
/* Code of the line at `vaddr`. A word only where it is not in L1I and its page in the ITLB. */
void outcome_fetch(struct outcome_memory *m, uint64_t vaddr, struct outcome_stream *out);
void outcome_unmap(struct outcome_memory *m, uint64_t vaddr, uint64_t pages);

/* What a load of `line` makes L1D's own prefetchers do. */
static inline void outcome_train(struct outcome_memory *m, uint64_t line, uint64_t vaddr, uint64_t pc, struct outcome_stream *out)
{
	uint32_t offset = (uint32_t)vaddr & ((1u << m->line_shift) - 1);

	if (m->next_on && next_line_train(&m->next_line, line, offset) && lines_left(m->line_shift, line))
		outcome_prefetch(m, line + 1, out);
	if (m->stride_on) {
		uint64_t next = stride_train(&m->stride, pc, vaddr);
		if (next && (next ^ vaddr) >> m->line_shift)
			outcome_prefetch(m, line + (next >> m->line_shift) - (vaddr >> m->line_shift), out);
	}
}

/* Where all that [vaddr, last] takes is at hand, touched as an access does; NULL: that is to be found out. */
static inline const struct known_line *outcome_at_hand(struct outcome_memory *m, uint64_t vaddr, uint64_t last)
{
	const uint64_t line = vaddr >> m->line_shift;
	const struct known_line *k = &m->known[line % KNOWN_LINES];
	struct tlb_entry *page = &m->data.tlb.entries[k->entry];

	if (__builtin_expect(k->virtual != line || last >> m->line_shift != line || page->page != vaddr >> m->page_shift ||
	                     m->data.lines.tags[k->at] != k->physical, 0))
		return NULL;
	page->used = ++m->data.tlb.clock;
	cache_touch(&m->data.lines, k->set, k->way);
	return k;
}

/* outcome_access() by a short way where that is so: what is known of the line then, else NULL. */
static inline const struct known_line *outcome_touch(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc,
                                                     struct outcome_stream *out)
{
	const struct known_line *k = outcome_at_hand(m, vaddr, vaddr + bytes - 1);

	if (k)
		outcome_push(out, what | LEVEL_L1 << 4 | (uint64_t)k->at << 24);
	else
		outcome_access(m, what, vaddr, bytes, pc, out);
	return k;
}

/* outcome_access() of a load, of a store. */
static inline void outcome_load(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct outcome_stream *out)
{
	const struct known_line *k = outcome_touch(m, what, vaddr, bytes, pc, out);

	if (k)
		outcome_train(m, k->physical, vaddr, pc, out);
}

static inline void outcome_store(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct outcome_stream *out)
{
	const struct known_line *k = outcome_touch(m, what, vaddr, bytes, pc, out);

	if (k)
		m->data.lines.lines[k->at].dirty = true;
}

#endif
