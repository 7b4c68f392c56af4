/*
 * Sums by static instruction.
 *
 * An array over the instructions for what each has: reserved address space, used page by page, so that it never
 * moves. And a table by (instruction, signature) or other keys for what few have: open addressing, grows seldom;
 * keys are a caller's 64 bits, not 0. What comes out of it is sorted, so that the order of its rows never shows.
 */
#ifndef CYCLEWISE_METHOD_TALLY_H
#define CYCLEWISE_METHOD_TALLY_H

#include <stddef.h>
#include <stdint.h>

enum { TALLY_INSNS = 1 << 24 };        /* elements of an array: as many as isa/code.c tells apart */

/* Zeroed, `size` bytes an element; NULL with the message set where there is no address space. */
void *tally_array_new(size_t size);
void tally_array_free(void *array, size_t size);

struct tally_row {
	uint64_t key;                  /* 0: free */
	uint64_t count, units;         /* the caller's two sums */
};

struct tally {
	struct tally_row *row;         /* [mask + 1], linear probing, at most half full */
	uint64_t mask;
	size_t nr;
};

void tally_init(struct tally *t);
void tally_fini(struct tally *t);
/* Doubles the table. */
void tally_grow(struct tally *t);

static inline uint64_t tally_hash(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> 24;
}

/* The row of `key`, new ones with sums of 0; valid until the next call. */
static inline struct tally_row *tally_row(struct tally *t, uint64_t key)
{
	uint64_t i = tally_hash(key);

	for (;; i++) {
		struct tally_row *row = &t->row[i & t->mask];
		if (row->key == key)
			return row;
		if (row->key == 0)
			break;
	}
	if (2 * ++t->nr > t->mask) {
		tally_grow(t);
		i = tally_hash(key);
		while (t->row[i & t->mask].key)
			i++;
	}
	t->row[i & t->mask].key = key;
	return &t->row[i & t->mask];
}

/* All rows by ascending key; the caller frees it with g_free(). *nr gets how many. */
struct tally_row *tally_sorted(const struct tally *t, size_t *nr);

/* The key of an instruction's signature, which must not be 0 for instruction 0. */
static inline uint64_t tally_key(uint32_t insn, uint16_t psv) { return (uint64_t)insn << 16 | psv; }
static inline uint32_t tally_insn(uint64_t key) { return (uint32_t)(key >> 16); }
static inline uint16_t tally_psv(uint64_t key) { return (uint16_t)key; }

#endif
