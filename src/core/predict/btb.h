/*
 * Branch target buffer: which addresses hold branches that were taken, and where those went last. One level;
 * a core has one or two of them.
 *
 * Full addresses are kept where hardware keeps partial tags: aliasing between distant branches is not modelled.
 */
#ifndef CYCLEWISE_CORE_PREDICT_BTB_H
#define CYCLEWISE_CORE_PREDICT_BTB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BTB_BLOCK = 4 };                /* log2 of the bytes of code whose branches compete for one set */

struct btb_entry {
	uint64_t pc, target;           /* pc 0: free */
};

/* Each set is in order of use, the last used first. */
struct btb {
	struct btb_entry *entry;       /* [sets][ways] */
	uint32_t sets, ways;
};

/* entries / ways: a power of two, or 0 for none. 0 or -ENOMEM. */
int  btb_init(struct btb *b, uint32_t entries, uint32_t ways);
void btb_fini(struct btb *b);

const struct btb_entry *btb_find_slow(const struct btb *b, const struct btb_entry *set, uint64_t pc);
void btb_put_slow(const struct btb *b, struct btb_entry *set, uint64_t pc, uint64_t target);

static inline struct btb_entry *btb_set(const struct btb *b, uint64_t pc)
{
	return &b->entry[(size_t)((pc >> BTB_BLOCK) & (b->sets - 1)) * b->ways];
}

/* NULL where it is not there. Changes nothing. Valid until btb_put(). */
static inline const struct btb_entry *btb_find(const struct btb *b, uint64_t pc)
{
	if (!b->sets)
		return NULL;
	const struct btb_entry *set = btb_set(b, pc);

	return set->pc == pc ? set : btb_find_slow(b, set, pc);
}

/* Enters it, or makes it the last used with a new target. */
static inline void btb_put(struct btb *b, uint64_t pc, uint64_t target)
{
	if (!b->sets)
		return;
	struct btb_entry *set = btb_set(b, pc);

	if (set->pc == pc)
		set->target = target;
	else
		btb_put_slow(b, set, pc, target);
}

#endif
