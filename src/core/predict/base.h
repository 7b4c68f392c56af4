/*
 * Direction predictors of two-bit counters: bimodal, which is also what TAGE falls back on, and the hybrid of
 * bimodal and gshare with a chooser (McFarling, Combining Branch Predictors, 1993), the kind that the core of
 * the ASPLOS 2006 paper has.
 *
 * A counter's upper bit is the prediction, its lower one how sure it is. In the bimodal table neighbouring
 * entries may share the lower bit (Seznec).
 */
#ifndef CYCLEWISE_CORE_PREDICT_BASE_H
#define CYCLEWISE_CORE_PREDICT_BASE_H

#include <stdbool.h>
#include <stdint.h>

struct base {
	uint8_t *direction;            /* [entries] */
	uint8_t *sure;                 /* [entries >> shift] */
	uint32_t mask;                 /* entries - 1 */
	unsigned shift;
};

/* Entries are a power of two; all start as weakly not taken. 0 or -ENOMEM. */
int  base_init(struct base *b, uint32_t entries, unsigned shift);
void base_fini(struct base *b);

/* `pc` in units of the ISA's instruction alignment, as everywhere in the predictors. */
static inline bool base_predict(const struct base *b, uint64_t pc)
{
	return b->direction[pc & b->mask];
}

static inline void base_train(struct base *b, uint64_t pc, bool taken)
{
	uint32_t i = (uint32_t)pc & b->mask;
	uint8_t *sure = &b->sure[i >> b->shift];

	if (b->direction[i] == taken)
		*sure = 1;
	else if (*sure)
		*sure = 0;
	else
		b->direction[i] = taken;
}

struct gshare {
	struct base bimodal;
	uint8_t *counter;              /* [entries]: 0 to 3; by pc XOR history */
	uint8_t *chooser;              /* [entries]: 0 to 3; 2 and 3 choose gshare; by pc */
	uint32_t mask;
};

struct gshare_lookup {
	uint32_t index;
	bool bimodal, gshare;
};

int  gshare_init(struct gshare *g, uint32_t entries);
void gshare_fini(struct gshare *g);

/* `history`: the youngest directions, lowest first. */
static inline bool gshare_predict(const struct gshare *g, uint64_t history, uint64_t pc, struct gshare_lookup *l)
{
	l->index = (uint32_t)(pc ^ history) & g->mask;
	l->bimodal = base_predict(&g->bimodal, pc);
	l->gshare = g->counter[l->index] >> 1;
	return g->chooser[pc & g->mask] >> 1 ? l->gshare : l->bimodal;
}

void gshare_train(struct gshare *g, uint64_t pc, const struct gshare_lookup *l, bool taken);

#endif
