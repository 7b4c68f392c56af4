/*
 * Loop predictor: branches that go one way the same number of times and then the other way once. Overrides the
 * rest where it has seen the same number often enough, and where it has paid so far.
 *
 * The table is what was learnt; in which iteration each loop is, is speculative, and stands with the histories
 * in struct branch_state: iteration[entry].
 * Ref: Seznec: A 256 Kbits L-TAGE branch predictor, CBP-2, 2006.
 */
#ifndef CYCLEWISE_CORE_PREDICT_LOOP_H
#define CYCLEWISE_CORE_PREDICT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOOP_WAYS = 4,
	LOOP_SURE = 3,                 /* times the same count was seen, to predict */
	LOOP_AGE = 31,                 /* of a new entry; counts down when others want its place */
	LOOP_SHORTEST = 3,             /* shorter loops are left to the histories */
	LOOP_LONGEST = 65535,
	LOOP_PAYS_MAX = 63,
};

struct loop_entry {
	uint32_t tag;                  /* pc / sets, 0 with age 0: free */
	uint16_t count;                /* branches from entry to exit, that included; 0: not known yet */
	uint8_t sure, age;
	bool body;                     /* the direction that stays in the loop */
};

struct loop {
	struct loop_entry *entry;      /* [sets][ways] */
	uint32_t sets, ways;
	int8_t pays;                   /* -64 to 63: whether it was right where it disagreed; from 0 on it is believed */
	uint8_t turn;                  /* of four mispredictions, one allocates */
};

struct loop_lookup {
	uint32_t entry;                /* where the branch has its entry; LOOP_NONE */
	bool valid, taken;
};

#define LOOP_NONE UINT32_MAX

/* Entries: a power of two, or 0 for none. 0 or -ENOMEM. */
int  loop_init(struct loop *l, uint32_t entries);
void loop_fini(struct loop *l);

void loop_predict_any(const struct loop *l, const uint16_t *iteration, uint64_t pc, struct loop_lookup *at);
static inline void loop_predict(const struct loop *l, const uint16_t *iteration, uint64_t pc, struct loop_lookup *at)
{
	*at = (struct loop_lookup){ .entry = LOOP_NONE };
	if (l->sets)
		loop_predict_any(l, iteration, pc, at);
}
static inline bool loop_believed(const struct loop *l, const struct loop_lookup *at)
{
	return at->valid && l->pays >= 0;
}
/* `others`: what was predicted without it; `missed`: the prediction that was made was wrong. Moves `iteration` on. */
void loop_train_any(struct loop *l, uint16_t *iteration, uint64_t pc, const struct loop_lookup *at, bool taken, bool others,
	bool missed);
static inline void loop_train(struct loop *l, uint16_t *iteration, uint64_t pc, const struct loop_lookup *at, bool taken, bool others,
	bool missed)
{
	if (l->sets)
		loop_train_any(l, iteration, pc, at, taken, others, missed);
}
/* Moves a copy on by a prediction, and learns nothing. */
void loop_advance(const struct loop *l, uint16_t *iteration, const struct loop_lookup *at, bool taken);

#endif
