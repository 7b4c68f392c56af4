/*
 * The speculative histories that predictors index their tables with: directions and targets of branches as
 * bits, the same folded to a word for each length that a table uses, and the path.
 *
 * A conditional branch adds its direction, an indirect jump or call HISTORY_TARGET bits of its target; others
 * add nothing, since they follow from these. Every branch shifts a bit of its address into the path.
 *
 * One fold serves a table for index and tags alike: it is FOLD bits wide, which is prime, so that few periods
 * of real loops cancel in it, and a multiplication spreads it (history_hash). Real predictors fold each length
 * three times to the widths of index and tags and XOR; that costs three times as much here and says the same.
 */
#ifndef CYCLEWISE_CORE_HISTORY_H
#define CYCLEWISE_CORE_HISTORY_H

#include <stdint.h>

enum {
	HISTORY_BITS = 1024,           /* kept; the longest length is less */
	HISTORY_FOLDS = 24,            /* a multiple of 4 */
	HISTORY_FOLD = 31,             /* bits of a fold */
	HISTORY_PATH = 16,             /* bits of the path */
	HISTORY_TARGET = 4,            /* bits that an indirect target adds */
};

/* Which lengths are folded. Unused ones have length 0. */
struct history_shape {
	uint16_t length[HISTORY_FOLDS];
	uint32_t out[HISTORY_FOLDS];   /* the bit of the fold that a bit which grew too old is in */
	uint32_t path[HISTORY_FOLDS];  /* mask of the path for this length */
	unsigned nr;
};

struct history {
	uint64_t bits[HISTORY_BITS / 64]; /* a ring; the youngest is at `head`, older ones above it */
	uint64_t recent;               /* the 64 youngest, the youngest lowest */
	uint32_t head;
	uint32_t path;
	uint32_t fold[HISTORY_FOLDS];  /* bit n: parity of the history bits of age n, n + 31, n + 62, ... below length */
};

/* Adds a length from 1 to HISTORY_BITS - 1; returns the number of its fold. */
static inline unsigned history_add_length(struct history_shape *s, unsigned length)
{
	unsigned path = length < HISTORY_PATH ? length : HISTORY_PATH;

	s->length[s->nr] = (uint16_t)length;
	s->out[s->nr] = 1u << length % HISTORY_FOLD;
	s->path[s->nr] = (1u << path) - 1;
	return s->nr++;
}

static inline void history_push(struct history *h, const struct history_shape *s, unsigned bit)
{
	uint32_t in = bit, old[HISTORY_FOLDS];

	for (unsigned i = 0; i < s->nr; i++) {
		uint32_t at = (h->head + s->length[i] - 1) % HISTORY_BITS;

		old[i] = (uint32_t)(h->bits[at / 64] >> at % 64) & 1;
	}
	for (unsigned i = s->nr; i < HISTORY_FOLDS; i++)
		old[i] = 0;
	for (unsigned i = 0; i < HISTORY_FOLDS; i++) {
		uint32_t f = (h->fold[i] << 1 ^ in) ^ (-old[i] & s->out[i]);

		h->fold[i] = (f ^ f >> HISTORY_FOLD) & ((1u << HISTORY_FOLD) - 1);
	}
	h->head = (h->head - 1) % HISTORY_BITS;
	h->bits[h->head / 64] = (h->bits[h->head / 64] & ~(1ull << h->head % 64)) | (uint64_t)bit << h->head % 64;
	h->recent = h->recent << 1 | bit;
}

static inline void history_push_target(struct history *h, const struct history_shape *s, uint64_t target)
{
	uint64_t hash = (target ^ target >> 32) * 0x9e3779b97f4a7c15u >> (64 - HISTORY_TARGET);

	for (unsigned i = 0; i < HISTORY_TARGET; i++)
		history_push(h, s, (unsigned)(hash >> i & 1));
}

/* Index and tag for the table of fold `i`: the highest bits are the best. */
static inline uint64_t history_hash(const struct history *h, const struct history_shape *s, unsigned i, uint64_t pc)
{
	uint32_t key = h->fold[i] ^ (h->path & s->path[i]) << (HISTORY_FOLD - HISTORY_PATH);

	return ((uint32_t)(pc ^ pc >> 32) + ((uint64_t)key << 32)) * 0x9e3779b97f4a7c15u;
}

#endif
