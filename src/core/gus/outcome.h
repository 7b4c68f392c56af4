/*
 * What an execution met on the abstract core, apart from time: which recipe it follows, whether its branch was
 * predicted, whether the uop cache had it, where its lines and translations were, which older stores its loads read
 * from.
 *
 * None of that depends on when things happen, since caches, TLBs and predictors are updated in program order. So it is
 * found out once and timed as often as one likes: all variants of a sensitivity analysis that leave these structures as
 * they are read one stream of outcomes (time.h).
 *
 * The stream is of 64-bit words: a head for each instruction, then its own words in the order of its accesses.
 *
 * Not modelled: the wrong path, ordering of memory by speculation (loads read from the right store), the loop buffer,
 * limits on windows a cycle of a uop cache that is not read line by line (core/order/lines.h).
 * Place: steps -> outcome -> time.c. Ref: Gus §3.1.1 (caches).
 */
#ifndef CYCLEWISE_CORE_GUS_OUTCOME_H
#define CYCLEWISE_CORE_GUS_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gus/recipe.h"
#include "core/order/merge.h"
#include "core/order/shadow.h"
#include "record/step.h"
#include "record/timed.h"

/* Of a head. */
enum outcome_flags {
	OUTCOME_MISPREDICT = 1 << 0,
	OUTCOME_REDIRECT   = 1 << 1,   /* predicted taken to a known target, found at decode only */
	OUTCOME_BTB2       = 1 << 2,   /* the second-level BTB gave the target */
	OUTCOME_TAKEN      = 1 << 3,
	OUTCOME_DECODED    = 1 << 4,   /* through the decoders; else from the uop cache */
	OUTCOME_BLOCK      = 1 << 5,   /* first of its fetch block or window */
	OUTCOME_FAULT      = 1 << 6,
	OUTCOME_ENTER      = 1 << 7,   /* of a signal handler: nothing before it led here */
	OUTCOME_COUNTED    = 1 << 8,
	OUTCOME_LINES      = 1 << 9,   /* the first words are those of its code, up to OUTCOME_ACCESSES */
	OUTCOME_READ       = 1 << 10,  /* times how many reads of lines of the uop cache have passed with it, up to
	                                  OUTCOME_READS */
};
enum { OUTCOME_READS = 15 };

enum outcome_kind {
	/* loads, of which the store at `distance`, if there is one, is this kind of source: */
	OUTCOME_LOAD = SOURCE_WHOLE, OUTCOME_NARROW = SOURCE_NARROW, OUTCOME_INSIDE = SOURCE_INSIDE,
	OUTCOME_PARTIAL = SOURCE_PARTIAL,
	OUTCOME_ALIAS,                 /* a load that has only the low 12 bits of its address in common with that
	                                  store */
	OUTCOME_RENAMED,               /* a load of which rename knows the store that it reads from:
	                                * core/order/memory_renaming.h */
	OUTCOME_STORE, OUTCOME_SOFT,   /* a store; a software prefetch */
	OUTCOME_FILL_L1, OUTCOME_FILL_L2, /* a prefetch: the line is on its way to that level */
	OUTCOME_WRITE,                 /* an evicted line is written to that level */
	OUTCOME_WALK,                  /* of the translation that the next access or code line waits for: how many of
	                                  its loads came from L2 (level), LLC (slot), memory (distance) */
	OUTCOME_CODE,                  /* the line of code it stands in was not in L1I, or its page not in the ITLB */
	OUTCOME_ACCESSES,              /* what follows is of its accesses */
	OUTCOME_REPEAT,                /* iterations of a slow rep string, in the 48 upper bits of the word */
};

enum outcome_tlb { TLB_HIT, TLB_SECOND, TLB_WALK };
enum outcome_split { SPLIT_NONE, SPLIT_LINE, SPLIT_PAGE };


/* head: recipe 24 | flags 14 | words that follow 26 */
static inline uint64_t outcome_head(uint32_t recipe, unsigned flags, uint64_t words)
{
	return recipe | (uint64_t)flags << 24 | words << 38;
}
static inline uint32_t outcome_recipe(uint64_t head) { return (uint32_t)head & 0xffffff; }
static inline unsigned outcome_flags(uint64_t head) { return (unsigned)(head >> 24) & 0x3fff; }
static inline uint64_t outcome_words(uint64_t head) { return head >> 38; }

/*
 * Other words: kind 4 | level 3 | simple 1 | tlb 2 | split 2 | distance 12 .. | slot of L1D 16 | slot of L2 24
 * `simple`: of a load, what hits L1D comes after l1d.simple_latency. `distance`: how many stores back the one is that
 * a load is about, 1 being the youngest before it; 0: none. Of a store: 1 where the line is a further one of the store
 * before, else outcome_of_merging(). Slots say which of the cache's lines it is, so that whoever times can keep the
 * time of its arrival there.
 */
struct outcome_word { uint8_t kind, level, simple, tlb, split; uint16_t distance, slot; uint32_t slot2; };

static inline uint64_t outcome_pack(const struct outcome_word *w)
{
	return w->kind | (unsigned)w->level << 4 | (unsigned)w->simple << 7 | (unsigned)w->tlb << 8 |
	       (unsigned)w->split << 10 | (unsigned)w->distance << 12 | (uint64_t)w->slot << 24 |
	       (uint64_t)w->slot2 << 40;
}
/* Of an access what is known before its lines are looked up, a word without the rest. */
#define OUTCOME_SIMPLE (UINT64_C(1) << 7)
static inline uint64_t outcome_access_word(enum outcome_kind kind, unsigned distance, bool simple)
{
	return kind | (uint64_t)simple << 7 | (uint64_t)distance << 12;
}
/*
 * Of a store's first line: the writes of it, as far as addresses say; where stores are merged. joins 1 | part of 5 |
 * blocks 5
 */
enum { OUTCOME_FURTHER = 1, OUTCOME_BLOCKS = 31 };
static inline unsigned outcome_of_merging(const struct merging *is)
{
	const unsigned blocks = (unsigned)(is->blocks < OUTCOME_BLOCKS ? is->blocks : OUTCOME_BLOCKS);

	return (unsigned)is->joins << 1 | is->part_of << 2 | blocks << 7;
}
static inline struct merging outcome_merging(unsigned distance)
{
	return (struct merging){ .joins = distance >> 1 & 1, .part_of = distance >> 2 & 31, .blocks = distance >> 7 };
}
static inline enum outcome_kind outcome_kind(uint64_t w) { return (enum outcome_kind)(w & 15); }
static inline enum level outcome_level(uint64_t w) { return (enum level)(w >> 4 & 7); }
static inline bool outcome_simple(uint64_t w) { return w >> 7 & 1; }
static inline enum outcome_tlb outcome_tlb(uint64_t w) { return (enum outcome_tlb)(w >> 8 & 3); }
static inline enum outcome_split outcome_split(uint64_t w) { return (enum outcome_split)(w >> 10 & 3); }
static inline unsigned outcome_distance(uint64_t w) { return (unsigned)(w >> 12) & 0xfff; }
static inline unsigned outcome_slot(uint64_t w) { return (unsigned)(w >> 24) & 0xffff; }
static inline unsigned outcome_slot2(uint64_t w) { return (unsigned)(w >> 40); }

/* Growing array of words: grows with the largest batch, then stays. */
struct outcome_stream {
	uint64_t *word;                /* [nr] */
	size_t nr, room;
};

void outcome_stream_fini(struct outcome_stream *s);
void outcome_stream_grow(struct outcome_stream *s);

static inline void outcome_push(struct outcome_stream *s, uint64_t word)
{
	if (__builtin_expect(s->nr == s->room, 0))
		outcome_stream_grow(s);
	s->word[s->nr++] = word;
}

struct outcomes;

/* `recipes` may be shared by several, which must then be used one after the other. All must outlive it. 0 or -errno. */
int  outcomes_new(struct outcomes **out, const struct core_desc *desc, const struct code *code,
                  struct recipes *recipes);
void outcomes_free(struct outcomes *o);

/*
 * Appends the outcomes of s[0..n) to `out`, as core_ops.batch(): s[n..n+ahead) follow. Returns how many instructions
 * that were.
 */
size_t outcomes_batch(struct outcomes *o, const struct step *s, size_t n, size_t ahead, struct outcome_stream *out);

#endif
