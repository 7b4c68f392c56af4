/*
 * Statistical corrector: sums counters chosen by the address with several histories, and overrules the main
 * predictor where that is statistically biased against.
 *
 * Histories beside the global one are the directions of backward branches, the branch's own ones, and the
 * iteration of the innermost loop (backward branches taken in a row to one target); the latter three are
 * speculative and stand in struct corrector_history.
 * Ref: Seznec: TAGE-SC-L branch predictors again, CBP-5, 2016; the tables are those of its 8 KB version.
 */
#ifndef CYCLEWISE_CORE_PREDICT_CORRECTOR_H
#define CYCLEWISE_CORE_PREDICT_CORRECTOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CORRECTOR_TABLES = 9,          /* two of bias, two global, two backward, two local, one by iteration */
	CORRECTOR_ENTRIES = 128,
	CORRECTOR_LOCALS = 64,
	CORRECTOR_COUNTER_MAX = 31,    /* 6 bits: -32 to 31 */
	CORRECTOR_CHOOSER_MAX = 63,
};

struct corrector_history {
	uint16_t local[CORRECTOR_LOCALS]; /* directions of the branches that share the entry, youngest lowest */
	uint16_t backward;
	uint8_t iteration;             /* saturates */
	uint64_t loop;                 /* pc of the last backward branch taken */
};

struct corrector {
	int8_t counter[CORRECTOR_TABLES][CORRECTOR_ENTRIES];
	int16_t threshold;             /* below it, a sum is not sure; adapts; in steps of 1/8 */
	int8_t choose_high, choose_middle; /* from 0 on, a sum that is not sure is believed against a sure or middling main prediction */
};

struct corrector_lookup {
	uint8_t index[CORRECTOR_TABLES];
	int16_t sum;
	bool main, taken;              /* what it corrects; the outcome */
	uint8_t confidence;            /* of the main prediction: 0 to 2 */
};

void corrector_init(struct corrector *c);
/* `recent`: the youngest global directions. */
bool corrector_predict(const struct corrector *c, const struct corrector_history *h, uint64_t recent, uint64_t pc,
	bool main, uint8_t confidence, struct corrector_lookup *l);
void corrector_train(struct corrector *c, const struct corrector_lookup *l, bool taken);
/* Adds a conditional branch to the histories. */
void corrector_push(struct corrector_history *h, uint64_t pc, bool backward, bool taken);

#endif
