/*
 * A port of a pair that uops are bound to, on the abstract core: how much of it has been taken in each cycle.
 *
 * Other resources know until when they are used, not which cycles. Here these matter: a pair that has nothing to do while others have
 * too much cannot make up for it. A uop takes the first cycle that is not full; uops come in program order, and one that is ready
 * earlier than those before it finds what they left.
 *
 * Cycles are kept in a ring of words of 64. What comes SLOTS_WINDOW later takes a word's place; who still wants a cycle of the old one
 * gets it without a wait, and it is not counted.
 */
#ifndef CYCLEWISE_CORE_GUS_SLOTS_H
#define CYCLEWISE_CORE_GUS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/gus/time.h"

enum { SLOTS_WINDOW = 4096, SLOTS_WORDS = SLOTS_WINDOW / 64 };

struct slots {
	uint64_t word[SLOTS_WORDS];    /* [cycle / 64 % words]: which cycle / 64 that is */
	uint64_t full[SLOTS_WORDS];    /* bit cycle % 64 of it: nothing is left */
	uint16_t used[SLOTS_WINDOW];   /* [cycle % window]: WEIGHT_ONE a uop */
	uint16_t capacity;             /* of a cycle, in the same: WEIGHT_ONE, but where the port is varied */
};

/* The first cycle from `cycle` on in which something is left. */
static inline uint64_t slots_first(const struct slots *s, uint64_t cycle)
{
	for (;; cycle = (cycle | 63) + 1) {
		uint64_t at = cycle / 64 % SLOTS_WORDS;
		if (s->word[at] != cycle / 64)
			return cycle;
		uint64_t left = ~s->full[at] >> (cycle % 64);
		if (left)
			return cycle + (uint64_t)__builtin_ctzll(left);
	}
}

/* Makes the word of the cycle the present one of its place; false: a later one has it. */
static inline bool slots_keep(struct slots *s, uint64_t cycle)
{
	uint64_t word = cycle / 64, at = word % SLOTS_WORDS;

	if (__builtin_expect(s->word[at] == word, 1))
		return true;
	if (s->word[at] > word)
		return false;
	s->word[at] = word;
	s->full[at] = 0;
	memset(&s->used[at * 64], 0, 64 * sizeof *s->used);
	return true;
}

/* A uop takes that cycle, in which something is left; what it lacks there it takes of the next that are not full. */
static inline void slots_take(struct slots *s, uint64_t cycle)
{
	for (unsigned amount = WEIGHT_ONE; slots_keep(s, cycle); cycle = slots_first(s, cycle + 1)) {
		uint16_t *used = &s->used[cycle % SLOTS_WINDOW];
		unsigned left = (unsigned)s->capacity - *used, n = amount < left ? amount : left;
		*used = (uint16_t)(*used + n);
		s->full[cycle / 64 % SLOTS_WORDS] |= (uint64_t)(n == left) << (cycle % 64);
		amount -= n;
		if (!amount)
			return;
	}
}

#endif
