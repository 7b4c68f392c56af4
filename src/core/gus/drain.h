/*
 * The writes of stores that have committed. One after the other, each once its line is there; where stores are merged
 * (store_queue.merge_bytes), they leave the queue in whole cycles, several of them in one, and those that follow each other to one block
 * are one write as long as that has not begun, as in core/ooo/lsq.c. Part of time.c, which alone includes it.
 */
#ifndef CYCLEWISE_CORE_GUS_DRAIN_H
#define CYCLEWISE_CORE_GUS_DRAIN_H

#include "core/gus/access.h"

/* When the write of v->drain began. */
static inline uint64_t write_start(const struct chrono *v, uint64_t end)
{
	uint64_t each = v->inverse[RESOURCE_DRAIN];

	return end > each ? end - each : 0;
}

/* A store, the `number`th, that leaves no sooner than `left`. */
static inline void drain_one(struct chrono *v, const enum chrono_mode mode, struct when left, uint64_t number, uint64_t word)
{
	struct merging is = outcome_merging(outcome_distance(word));
	bool alone = is.blocks > 1;    /* to several blocks: none leaves with it */

	constrain(v, mode, &left, &v->leave);
	left.t = alone ? cycle_of(left.t + ABSTRACT_TICKS - 1) * ABSTRACT_TICKS : left.t;
	keep(mode, &v->leave, &left);
	v->leave.t += alone ? ABSTRACT_TICKS : v->cost.leave;
	left.t = cycle_of(left.t) * ABSTRACT_TICKS;
	is.blocks -= is.joins && write_start(v, v->drain.t) >= left.t;
	if (is.blocks) {
		constrain(v, mode, &v->drain, &left);
		if (is.part_of && write_start(v, v->freed.at[(number - is.part_of) % STORE_RING].t) + v->cost.part_recent > v->drain.t)
			v->drain.t += v->cost.part_again;
		v->drain.t += is.blocks * v->inverse[RESOURCE_DRAIN];
		add_self(v, mode, &v->drain);
	}
	keep_at(mode, &v->freed, number % STORE_RING, &v->drain);
}

/* Out of line, and by value, as miss_plain(): the stores among the words of an instruction, from `from` on; `extra`: of splits. */
static __attribute__((noinline)) void drain_merged(struct chrono *v, const enum chrono_mode mode, struct when from, unsigned nr, uint64_t extra,
                                                   const uint64_t *word, const uint64_t *end)
{
	from.t = cycle_of(from.t + ABSTRACT_TICKS - 1) * ABSTRACT_TICKS;
	for (; word < end; word++)
		if (outcome_kind(*word) == OUTCOME_STORE && !(outcome_distance(*word) & OUTCOME_FURTHER))
			drain_one(v, mode, from, v->nr_written - nr--, *word);
	if (!extra)
		return;
	v->drain.t += extra;
	constrain(v, mode, &v->leave, &v->drain);
	keep_at(mode, &v->freed, (v->nr_written - 1) % STORE_RING, &v->drain);
}

/* The stores of an instruction, whose words are [word, end): they have left the queue at v->drain. */
INLINE void drain(struct chrono *v, const enum chrono_mode mode, const struct when *retire, const struct way *y, const uint64_t *word,
                  const uint64_t *end)
{
	if (__builtin_expect(v->cost.leave && y->nr_stores && !(y->kind & INSN_REP), 0)) {
		struct when from = *retire;
		constrain(v, mode, &from, &y->own);
		drain_merged(v, mode, from, y->nr_stores, y->store_extra, word, end);
		keep(mode, &v->stores_freed, &v->drain);
		return;
	}
	constrain(v, mode, &v->drain, retire);
	constrain(v, mode, &v->drain, &y->own);
	v->drain.t += (y->writes ? y->writes : 1) * v->inverse[RESOURCE_DRAIN] + y->store_extra;
	add_self(v, mode, &v->drain);
	keep(mode, &v->stores_freed, &v->drain);
	for (unsigned i = 1; i <= y->nr_stores; i++)
		keep_at(mode, &v->freed, (v->nr_written - i) % STORE_RING, &v->drain);
}

#endif
