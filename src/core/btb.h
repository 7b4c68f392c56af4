/*
 * Branch target buffer: which addresses hold branches that were taken, and where those went last. One level;
 * a core has one or two of them.
 *
 * Full addresses are kept where hardware keeps partial tags: aliasing between distant branches is not modelled.
 */
#ifndef CYCLEWISE_CORE_BTB_H
#define CYCLEWISE_CORE_BTB_H

#include <stdbool.h>
#include <stdint.h>

struct btb_entry {
	uint64_t pc, target;           /* pc 0: free */
};

/* Each set is in order of use, the last used first. */
struct btb {
	struct btb_entry *entry;       /* [sets][ways] */
	uint32_t sets, ways;
	unsigned shift;                /* branches in one aligned block of 1 << shift bytes share a set */
};

/* entries / ways: a power of two, or 0 for none. 0 or -ENOMEM. */
int  btb_init(struct btb *b, uint32_t entries, uint32_t ways, unsigned shift);
void btb_fini(struct btb *b);

/* NULL where it is not there. Changes nothing. Valid until btb_put(). */
const struct btb_entry *btb_find(const struct btb *b, uint64_t pc);
/* Enters it, or makes it the last used with a new target. */
void btb_put(struct btb *b, uint64_t pc, uint64_t target);

#endif
