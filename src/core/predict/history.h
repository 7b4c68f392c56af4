/*
 * The speculative histories that predictors index their tables with, of one of four kinds:
 *
 * 1. Directions and targets of branches as bits, the same folded to a word for each length that a table uses, and
 * the path. A conditional branch adds its direction, an indirect jump or call HISTORY_TARGET bits of its target; others
 * add nothing, since they follow from these. Every branch shifts a bit of its address into the path.
 *
 * One fold serves a table for index and tags alike: it is HISTORY_FOLD bits wide, which is prime, so that few
 * periods of real loops cancel in it; shifts (TAGE) or a multiplication (history_hash) spread it. Real predictors fold
 * each length three times, to the widths of index and tags, and XOR; that costs three times as much here and says the
 * same.
 *
 * A bit leaves a fold when it is as old as the fold's length. The bits that leave next are laid out ahead, in
 * a window a fold, so that a push is the same few vector instructions for all of them.
 *
 * 2. The path alone: a register of HISTORY_STEP bits for each of the last taken branches, of any kind, into which
 * the addresses of a taken branch and its target are XORed, as on the Skylake family. Branches not taken leave no
 * trace. The first lengths of a shape, those of the tables that predict directions, are kept folded to a word, since
 * branches are predicted more often than taken; an indirect prediction folds what it needs.
 * Ref: Yavarzadeh et al.: Half&Half, IEEE S&P 2023 (the register, what enters it, the tables' lengths).
 *
 * 3. The same of taken branches without their targets, as on Zen 5: what enters is the address of a branch's last byte,
 * of whose lowest bits pairs are folded into one, and the target only where the branch is indirect. So a loop whose
 * closing branch folds to the same as that of the loop around it leaves no trace of where it began; but all tables use
 * a second register, too, of the youngest HISTORY_NEAR branches, with address bits unfolded, as TAGE has its history of
 * the path. Measured by timing (zen5.core says how): which bits, that targets of direct branches and branches not taken
 * leave nothing, how far both registers reach. Assumed: HISTORY_STEP, and how address bits from 8 upwards and indirect
 * targets enter, of which no more was seen than that they do.
 *
 * 4. The same of taken conditional branches alone, as on Zen 3: their register tells any two places within 64 KiB
 * apart, and what else is taken, direct or not, leaves nothing in it. A second one is of the youngest HISTORY_PATH_NEAR
 * taken branches of any kind, by the lowest six bits of their addresses, and all that indirect jumps are predicted by.
 * Measured by timing (zen3.core says how), but for HISTORY_STEP, and that both registers are used together.
 */
#ifndef CYCLEWISE_CORE_PREDICT_HISTORY_H
#define CYCLEWISE_CORE_PREDICT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTORY_BITS = 1024,           /* kept; the longest length is less by a window */
	HISTORY_WINDOW = 16,           /* bits that a window is filled with */
	HISTORY_LONGEST = HISTORY_BITS - HISTORY_WINDOW,
	HISTORY_FOLDS = 24,            /* a multiple of 4 */
	HISTORY_FEW = 16,              /* so many suffice for most cores; a multiple of 4 */
	HISTORY_FOLD = 31,             /* bits of a fold */
	HISTORY_PATH = 16,             /* bits of the path */
	HISTORY_TARGET = 4,            /* bits that an indirect target adds */
	HISTORY_STEP = 2,              /* bits that a taken branch moves the register of the path by */
	HISTORY_REGISTER = 1024,       /* bits of it, at most */
	HISTORY_KEPT = 7,              /* lengths kept folded, at most */
	HISTORY_NEAR = 22,             /* taken branches of which addresses unfolded are used, too */
	HISTORY_PATH_NEAR = 8,         /* the same beside a register of conditional ones */
};

enum history_kind { HISTORY_DIRECTIONS, HISTORY_TAKEN_PATH, HISTORY_TAKEN_BRANCHES, HISTORY_TAKEN_CONDITIONALS };

/* Which lengths are used: bits of directions, or taken branches. Unused ones have length 0. */
struct history_shape {
	enum history_kind kind;
	unsigned words;                /* of the register that the longest length needs */
	uint64_t last_mask[HISTORY_FOLDS]; /* taken branches: bits of the last word that a length needs */
	uint64_t near_mask[HISTORY_FOLDS]; /* taken branches: bits of the near register that a length uses */
	uint8_t last[HISTORY_FOLDS];   /* ... and which word that is */
	uint32_t out[HISTORY_FOLDS];   /* the bit of the fold that a bit which leaves is in; 0 where the mask drops
	                                * it */
	uint32_t mask[HISTORY_FOLDS];  /* of the fold's bits: below the length where that is less than a window */
	uint32_t path[HISTORY_FOLDS];  /* of the path's bits for this length */
	uint16_t length[HISTORY_FOLDS];
	unsigned nr;
	unsigned kept;                 /* of taken branches: so many lengths, the first ones, are kept folded */
};

struct history {
	uint64_t taken[HISTORY_REGISTER / 64]; /* the register of the path; the youngest taken branch is lowest */
	uint64_t near;                 /* HISTORY_TAKEN_BRANCHES, _CONDITIONALS: the same of the youngest, from
	                                * addresses unfolded */
	uint64_t path_fold[HISTORY_KEPT]; /* of the first lengths: history_fold_taken() */
	uint32_t fold[HISTORY_FOLDS];  /* bit n: parity of the history bits of age n, n + 31, n + 62, ... below
	                                * length */
	uint32_t window[HISTORY_FOLDS];/* bit n: leaves with the n-th push from now */
	uint64_t bits[HISTORY_BITS / 64]; /* a ring: the n-th bit pushed is bit n % 64 of word n / 64 % words */
	uint64_t recent;               /* the 64 youngest, the youngest lowest */
	uint32_t pushed;               /* bits so far; wraps */
	uint32_t path;
};

/* The longest length of a kind. */
static inline unsigned history_longest(enum history_kind kind)
{
	return kind == HISTORY_DIRECTIONS ? HISTORY_LONGEST : HISTORY_REGISTER / HISTORY_STEP;
}

/* The same of what predicts indirect jumps. */
static inline unsigned history_longest_indirect(enum history_kind kind)
{
	return kind == HISTORY_TAKEN_CONDITIONALS ? HISTORY_PATH_NEAR : history_longest(kind);
}

/* Adds a length from 1 to the longest, at most HISTORY_FOLDS of them; returns the number of its fold. */
unsigned history_add_length(struct history_shape *s, unsigned length);
/* The same for an indirect predictor, which may go by the youngest alone. */
unsigned history_add_path(struct history_shape *s, unsigned length);
/* Lays out the bits that the next HISTORY_WINDOW pushes take out of the folds. */
void history_fill_windows(struct history *h, const struct history_shape *s);

__attribute__((always_inline))
static inline void history_push_folds(struct history *restrict h, const struct history_shape *restrict s, unsigned bit,
	unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		uint32_t f = (h->fold[i] << 1 ^ bit) ^ (-(h->window[i] & 1) & s->out[i]);

		h->fold[i] = (f ^ f >> HISTORY_FOLD) & s->mask[i];
		h->window[i] >>= 1;
	}
}

static inline void history_push(struct history *restrict h, const struct history_shape *restrict s, unsigned bit)
{
	uint32_t at = h->pushed % HISTORY_BITS;

	if (at % HISTORY_WINDOW == 0)
		history_fill_windows(h, s);
	/* Two constant counts: that is what makes vector instructions of the loop. */
	if (s->nr <= HISTORY_FEW)
		history_push_folds(h, s, bit, HISTORY_FEW);
	else
		history_push_folds(h, s, bit, HISTORY_FOLDS);
	h->bits[at / 64] = (h->bits[at / 64] & ~(1ull << at % 64)) | (uint64_t)bit << at % 64;
	h->recent = h->recent << 1 | bit;
	h->pushed++;
}

static inline void history_push_target(struct history *h, const struct history_shape *s, uint64_t target)
{
	uint64_t hash = (target ^ target >> 32) * 0x9e3779b97f4a7c15u >> (64 - HISTORY_TARGET);

	for (unsigned i = 0; i < HISTORY_TARGET; i++)
		history_push(h, s, (unsigned)(hash >> i & 1));
}

/*
 * The taken branches of length `i` as a word. Products, for a branch leaves the same bits wherever it is in a word:
 * turned by any number of bits, it would seem in one word what it is elsewhere in another, and iterations of a loop be
 * taken for each other.
 */
static inline uint64_t history_fold_taken(const struct history *h, const struct history_shape *s, unsigned i)
{
	unsigned n = s->last[i];
	uint64_t fold = h->taken[n] & s->last_mask[i];

	while (n--)
		fold = (fold << 32 | fold >> 32) * 0x9e3779b97f4a7c15u ^ h->taken[n];
	uint64_t near = h->near & s->near_mask[i];

	return fold ^ (near << 41 | near >> 23);
}

/* Those that are kept, by registers that have moved. */
static inline void history_keep(struct history *h, const struct history_shape *s)
{
	for (unsigned i = 0; i < s->kept; i++)
		h->path_fold[i] = history_fold_taken(h, s, i);
}

/* Moves the register of the path by a taken branch. `footprint`: what it leaves, at most 64 bits. */
static inline void history_push_footprint(struct history *h, const struct history_shape *s, uint64_t footprint)
{
	uint64_t carry = footprint;

	for (unsigned i = 0; i < s->words; i++) {
		uint64_t w = h->taken[i];

		h->taken[i] = w << HISTORY_STEP ^ carry;
		carry = w >> (64 - HISTORY_STEP);
	}
	history_keep(h, s);
}

/* HISTORY_TAKEN_PATH: a taken branch whose last byte is at `last`. */
static inline void history_push_taken(struct history *h, const struct history_shape *s, uint64_t last, uint64_t target)
{
	uint64_t footprint = (last >> 3 & 3) | (last >> 7 & 3) << 2 | (last >> 11 & 3) << 4 | (last >> 5 & 3) << 6 |
		(last >> 9 & 3) << 8 | (last >> 13 & 63) << 10;

	history_push_footprint(h, s, footprint ^ (target & 63));
}

/* HISTORY_TAKEN_BRANCHES: the same; `target` is 0 where the branch is direct. */
static inline void history_push_taken_branch(struct history *h, const struct history_shape *s, uint64_t last,
                                             uint64_t target)
{
	uint64_t pairs = last ^ last >> 1;
	uint64_t footprint = (last >> 1 & 1) | (pairs >> 2 & 1) << 1 | (pairs >> 4 & 1) << 2 | (pairs >> 6 & 1) << 3 |
		(last >> 8 & 0xfff) << 4;

	h->near = h->near << HISTORY_STEP ^ (last & 0xff);
	history_push_footprint(h, s, footprint ^ target * 0x9e3779b97f4a7c15u >> 48);
}

/* HISTORY_TAKEN_CONDITIONALS: the same. */
static inline void history_push_conditional(struct history *h, const struct history_shape *s, uint64_t last,
                                            bool conditional)
{
	h->near = h->near << HISTORY_STEP ^ (last & 0x3f);
	if (conditional)
		history_push_footprint(h, s, last & 0xffff);
	else
		history_keep(h, s);
}

/* The same where length `i` may be kept. */
static inline uint64_t history_path(const struct history *h, const struct history_shape *s, unsigned i)
{
	return i < s->kept ? h->path_fold[i] : history_fold_taken(h, s, i);
}

/* Index and tag for a table from such a fold and history_address(): bits 32 to 63 are well mixed. */
static inline uint64_t history_mix(uint64_t fold, uint64_t address)
{
	return (fold ^ fold >> 32 ^ address) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t history_address(uint64_t pc)
{
	return pc * 0xd6e8feb86659fd93u >> 20;
}

/* Index and tag for the table of fold `i`: bits 32 to 63 are well mixed. */
static inline uint64_t history_hash(const struct history *h, const struct history_shape *s, unsigned i, uint64_t pc)
{
	if (s->kind != HISTORY_DIRECTIONS)
		return history_mix(history_fold_taken(h, s, i), history_address(pc));
	uint32_t key = h->fold[i] ^ (h->path & s->path[i]) << (HISTORY_FOLD - HISTORY_PATH);

	return ((uint32_t)(pc ^ pc >> 32) + ((uint64_t)key << 32)) * 0x9e3779b97f4a7c15u;
}

#endif
