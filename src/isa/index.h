/*
 * A hash table of instruction indices, keyed by what the caller hashes: open addressing, linear probing, at
 * most half full. The keys are in the entries the indices stand for, so a slot is four bytes.
 */
#ifndef CYCLEWISE_ISA_INDEX_H
#define CYCLEWISE_ISA_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_FREE UINT32_MAX

struct index {
	uint32_t *slots;           /* [mask + 1]; INDEX_FREE or an index */
	uint32_t mask, used;
};

static inline uint64_t index_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

void index_init(struct index *index);
void index_fini(struct index *index);
/* Twice the size, before the caller adds to a table that is half full: `hash_of` gives an entry's hash. */
void index_grow(struct index *index, uint64_t (*hash_of)(const void *ctx, uint32_t entry), const void *ctx);
/* Frees slot `at` and moves up what probed past it. */
void index_remove(struct index *index, uint32_t at, uint64_t (*hash_of)(const void *ctx, uint32_t entry),
                  const void *ctx);

static inline bool index_full(const struct index *index)
{
	return index->used > index->mask / 2;
}

#endif
