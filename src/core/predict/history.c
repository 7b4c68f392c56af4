#include "core/predict/history.h"

#include <assert.h>

unsigned history_add_length(struct history_shape *s, unsigned length)
{
	unsigned path = length < HISTORY_PATH ? length : HISTORY_PATH;
	unsigned kept = length < HISTORY_WINDOW ? length : HISTORY_FOLD;

	assert(length && length <= history_longest(s->kind) && s->nr < HISTORY_FOLDS);
	unsigned near = s->kind == HISTORY_TAKEN_BRANCHES       ? HISTORY_NEAR
	                : s->kind == HISTORY_TAKEN_CONDITIONALS ? HISTORY_PATH_NEAR
	                                                        : 0;

	s->near_mask[s->nr] = (UINT64_C(1) << HISTORY_STEP * (length < near ? length : near)) - 1;
	if (s->kind != HISTORY_DIRECTIONS) {
		unsigned bits = HISTORY_STEP * length - 1; /* the number of the last one */

		s->last[s->nr] = (uint8_t)(bits / 64);
		s->last_mask[s->nr] = ~UINT64_C(0) >> (63 - bits % 64);
		s->words = s->words > bits / 64 + 1 ? s->words : bits / 64 + 1;
	}
	s->length[s->nr] = (uint16_t)length;
	s->out[s->nr] = length < HISTORY_WINDOW ? 0 : 1u << length % HISTORY_FOLD;
	s->mask[s->nr] = (1u << kept) - 1;
	s->path[s->nr] = (1u << path) - 1;
	return s->nr++;
}

unsigned history_add_path(struct history_shape *s, unsigned length)
{
	unsigned i = history_add_length(s, length);

	if (s->kind == HISTORY_TAKEN_CONDITIONALS) {
		s->last[i] = 0;
		s->last_mask[i] = 0;
	}
	return i;
}

void history_fill_windows(struct history *h, const struct history_shape *s)
{
	enum { WORDS = HISTORY_BITS / 64 };

	for (unsigned i = 0; i < s->nr; i++) {
		uint32_t oldest = (h->pushed - s->length[i]) % HISTORY_BITS, shift = oldest % 64;
		uint64_t low = h->bits[oldest / 64], high = h->bits[(oldest / 64 + 1) % WORDS];

		h->window[i] = (uint32_t)(low >> shift | (shift ? high << (64 - shift) : 0));
	}
}
