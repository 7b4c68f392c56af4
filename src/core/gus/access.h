/*
 * Accesses of the abstract core: translations, lines and the buses and miss registers they pass, stores that loads read
 * from, stores that leave their queue. What nearly every load is, a hit of L1D, is inlined; all else is not.
 */
#ifndef CYCLEWISE_CORE_GUS_ACCESS_H
#define CYCLEWISE_CORE_GUS_ACCESS_H

#include "core/gus/state.h"

/* Any word of an instruction's accesses. */
void access_word(struct chrono *v, struct way *y, uint64_t word);
/* The words of its code: returns the first behind them. What stalls the front end is the instruction's own. */
const uint64_t *code_words(struct chrono *v, struct way *y, const uint64_t *word);
/*
 * Where stores are merged (store_queue.merge_bytes), they leave the queue in whole cycles, several of them in one, and
 * those that follow each other to one block are one write as long as that has not begun, as in core/ooo/lsq.c: the `nr`
 * stores among the words of an instruction, from `from` on; `extra`: of splits.
 */
void drain_merged(struct chrono *v, struct when from, unsigned nr, uint64_t extra, const uint64_t *word,
                  const uint64_t *end);

/* In L1D: *there goes from the request to when it is. A line on its way is waited for. */
INLINE void hit(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *there, uint64_t word)
{
	there->t += v->cost.load[outcome_simple(word)];
	if (outcome_slot(word) >= v->line1.nr)
		return;
	if (constrain_by_nth(v, mode, there, &v->line1.there, outcome_slot(word))) {
		y->why = REASON_LOAD;
		if (mode == CHRONO_RECORDS) {
			y->level = LEVEL_FILL_BUFFER;
			y->psv |= PSV_ST_L1;
			y->psv |= v->line1.from[outcome_slot(word)] == LEVEL_MEMORY ? PSV_ST_LLC : 0;
		}
	}
}

/*
 * What a load at `t` reads comes from the store at its distance: *there goes to when, which is no sooner than from
 * L1D, and from the middle of a store that has not left its queue later than that.
 */
INLINE void forward(struct chrono *v, const enum chrono_mode mode, struct way *y, struct when *there, uint64_t word,
                    uint64_t t)
{
	const enum outcome_kind kind = outcome_kind(word);
	const uint64_t number = (v->nr_written - outcome_distance(word)) % STORE_RING;
	const bool narrow = kind == OUTCOME_NARROW || kind == OUTCOME_INSIDE;
	const struct when written = recall(mode, &v->written, number);
	const uint64_t after = v->cost.forward[!!(y->kind & INSN_VECTOR_MEM)] + (narrow ? v->cost.narrow : 0);

	if (kind == OUTCOME_INSIDE && v->freed.at[number].t > t)
		there->t += v->cost.offset;
	if (constrain_by_later(v, mode, there, &written, after))
		y->why = REASON_LOAD;
	if (mode == CHRONO_RECORDS && outcome_distance(word) < v->cost.store_queue && y->level < LEVEL_FORWARD)
		y->level = LEVEL_FORWARD;
}

/* A load of which the line, and what it reads from a store, is there then. */
INLINE void load_at(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, struct when there)
{
	const uint64_t extra = (uint64_t)(y->p->load_extra - y->p->address_extra) * v->cost.load_extra;

	there.t += extra;
	if (outcome_kind(word) == OUTCOME_RENAMED) {
		constrain_by(v, mode, &y->complete, &there);
		there = recall(mode, &v->stored, (v->nr_written - outcome_distance(word)) % STORE_RING);
		there.t += extra;
	}
	constrain_by(v, mode, &y->loaded, &there);
	y->lines++;
}

INLINE void store_at(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word, struct when there)
{
	constrain_by(v, mode, &y->own, &there);
	y->nr_stores += !(outcome_distance(word) & OUTCOME_FURTHER);
	y->writes++;
}

/* A load or store that hits L1D and its TLB in one line, no store in its way: what most are. */
INLINE bool is_hit(uint64_t word)
{
	const unsigned loads = 1u << OUTCOME_LOAD | 1u << OUTCOME_NARROW | 1u << OUTCOME_INSIDE | 1u << OUTCOME_RENAMED;

	_Static_assert(TLB_HIT == 0 && SPLIT_NONE == 0, "they have no bit");
	return (word & 0xf70) == LEVEL_L1 << 4 && (loads | 1u << OUTCOME_STORE) >> outcome_kind(word) & 1;
}

INLINE void access_hit(struct chrono *v, const enum chrono_mode mode, struct way *y, uint64_t word)
{
	struct when there = y->address;

	if (outcome_kind(word) == OUTCOME_STORE) {
		hit(v, mode, y, &there, word);
		store_at(v, mode, y, word, there);
		return;
	}
	there.t += y->p->address_extra * v->cost.load_extra;
	const uint64_t t = there.t;
	hit(v, mode, y, &there, word);
	if (outcome_distance(word))
		forward(v, mode, y, &there, word, t);
	load_at(v, mode, y, word, there);
	if (mode == CHRONO_RECORDS && y->level == LEVEL_NONE)
		y->level = LEVEL_L1;
}

#endif
