/*
 * Instructions that are not timed, between others that are: their lines are there, and their stores count among those
 * that later loads may read from, as ones that left the queue in the first cycle.
 */
#include "core/gus/state.h"

static const struct when nobody;       /* the first cycle */

/* A store that was written before all that is timed from now on. */
static void written(struct chrono *v)
{
	const uint64_t at = v->nr_written++ % STORE_RING;

	set_nth_by(v->mode, &v->written, at, &nobody);
	set_nth_by(v->mode, &v->freed, at, &nobody);
	if (v->stored.at)
		set_nth_by(v->mode, &v->stored, at, &nobody);
}

static void arrive(struct chrono *v, struct arrivals *l, uint32_t slot)
{
	set_nth_by(v->mode, &l->there, within(slot, l->nr), &nobody);
}

/* A word of an access, or of code: where its lines are. Slots of L2 are told from none by not being 0. */
static void warm_word(struct chrono *v, uint64_t word)
{
	switch (outcome_kind(word)) {
	case OUTCOME_WRITE:
	case OUTCOME_WALK:
	case OUTCOME_ACCESSES:
	case OUTCOME_REPEAT:
		return;
	case OUTCOME_CODE:
	case OUTCOME_FILL_L2:
		break;
	default:
		if (outcome_slot(word) != UINT16_MAX)
			arrive(v, &v->line1, outcome_slot(word));
		if (outcome_kind(word) == OUTCOME_STORE && !(outcome_distance(word) & OUTCOME_FURTHER))
			written(v);
	}
	if (outcome_slot2(word))
		arrive(v, &v->line2, outcome_slot2(word));
}

void chrono_warm(struct chrono *v, const uint64_t *word, size_t nr)
{
	const uint64_t *last = word + nr;

	while (word < last) {
		const uint64_t *end = word + 1 + outcome_words(*word);

		while (++word < end)
			warm_word(v, *word);
	}
}
