/*
 * What prefetchers watch and when they ask for a line. They name lines only; memory.c and hierarchy.c find out
 * whether a line is there already and whether a miss register is free, and drop the request otherwise.
 *
 * None crosses a 4 KiB page: beyond it physical addresses are unknown to the hardware.
 *  - stride: by instruction (low 8 bits of its address), into L1D: last address, stride, two-bit confidence.
 *  - next line (Intel's DCU prefetcher): an ascending access within a line filled recently.
 *  - streamer, into L2 (or the last level): pages with two moves in the same direction, some lines ahead.
 * The rules that need no state (next line on a miss, the other line of a pair) stand where they are used.
 * Ref: Intel 64 and IA-32 Architectures Optimization Reference Manual, data prefetching; measured on Cascade Lake.
 */
#ifndef CYCLEWISE_CORE_CACHE_PREFETCH_H
#define CYCLEWISE_CORE_CACHE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { PREFETCH_PAGE_BITS = 12, STRIDE_TAGS = 256, NEXT_LINES = 16, STREAM_DEGREE = 2 };
#define STRIDE_LONGEST 2048u            /* bytes: the longest stride that is followed */

/* Lines of the 4 KiB page that follow `line`. */
static inline uint64_t lines_left(uint32_t line_shift, uint64_t line)
{
	uint64_t page_lines = 1ull << (PREFETCH_PAGE_BITS - line_shift);
	return page_lines - 1 - (line & (page_lines - 1));
}

struct stride_entry {
	uint64_t last;         /* address */
	int64_t stride;        /* bytes; 0: none worth following */
	uint16_t tag;
	uint8_t confidence;    /* 0 to 3; from 2 on it prefetches */
};

struct stride {
	struct stride_entry *entries; /* [nr] */
	uint32_t nr, next;     /* next: to be replaced */
	int64_t longest;       /* bytes */
	uint16_t where[STRIDE_TAGS]; /* by tag: entry + 1; 0: none */
};

/* entries <= STRIDE_TAGS: more could not be told apart. 0 or -ENOMEM. */
int stride_init(struct stride *s, uint32_t entries, uint32_t longest);
void stride_fini(struct stride *s);
uint64_t stride_train_slow(struct stride *s, struct stride_entry *e, uint64_t vaddr, int64_t step);
void stride_enter(struct stride *s, uint64_t pc, uint64_t vaddr);

/* A load of `vaddr` by `pc`: the address to be prefetched, or 0. */
static inline uint64_t stride_train(struct stride *s, uint64_t pc, uint64_t vaddr)
{
	uint16_t where = s->where[pc % STRIDE_TAGS];

	if (!where) {
		stride_enter(s, pc, vaddr);
		return 0;
	}
	struct stride_entry *e = &s->entries[where - 1];
	int64_t step = (int64_t)(vaddr - e->last);
	e->last = vaddr;
	if (__builtin_expect(step != e->stride || e->confidence < 3, 0))
		return stride_train_slow(s, e, vaddr, step);
	uint64_t next = vaddr + (uint64_t)step;
	return (next ^ vaddr) >> PREFETCH_PAGE_BITS || !step ? 0 : next;
}

/* Lines filled lately, by their low bits. */
struct next_line {
	struct { uint64_t line; uint32_t offset; } recent[NEXT_LINES]; /* offset: of the latest access to it */
};

void next_line_init(struct next_line *n);
/* `line` is being filled for an access at `offset` in it; UINT32_MAX: for none. */
void next_line_filled(struct next_line *n, uint64_t line, uint32_t offset);

/* An access: whether the line after it is to be fetched. Once a line. */
static inline bool next_line_train(struct next_line *n, uint64_t line, uint32_t offset)
{
	uint32_t i = (uint32_t)line % NEXT_LINES;

	if (__builtin_expect(n->recent[i].line != line, 1))
		return false;
	bool ascends = offset > n->recent[i].offset;
	n->recent[i].offset = offset;
	if (ascends)
		n->recent[i].line = UINT64_MAX;
	return ascends;
}

struct stream {
	uint64_t used;         /* for LRU */
	int32_t last, head;    /* line within the page: of the latest access; furthest prefetched */
	int8_t direction;      /* 1, -1; 0: one access only */
	uint8_t moves;         /* in that direction, up to 2; with 2 it prefetches */
};

struct streamer {
	uint64_t *pages;       /* [nr] */
	struct stream *streams; /* [nr] */
	uint32_t nr, recent;   /* recent: used last */
	uint32_t ahead, degree; /* lines */
	uint32_t page_lines, page_shift; /* lines of a 4 KiB page, and log2 of that */
	uint64_t clock;
};

/* nr 0: never prefetches. 0 or -ENOMEM. */
int streamer_init(struct streamer *s, uint32_t nr, uint32_t ahead, uint32_t degree, uint32_t line_bytes);
void streamer_fini(struct streamer *s);
/* A request for `line`: how many lines to prefetch, in out[]. */
uint32_t streamer_train(struct streamer *s, uint64_t line, uint64_t out[STREAM_DEGREE]);

#endif
