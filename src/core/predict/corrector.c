#include "core/predict/corrector.h"

#include <stdlib.h>
#include <string.h>

#include "core/predict/counter.h"

enum {
	THRESHOLD_START = 35, THRESHOLD_MAX = 511,
	THRESHOLD_STEPS = 8,           /* it moves by one when so many more trainings found it too low, or too high */
	MAIN_WEIGHT = 8,               /* of the main prediction in the sum; twice and three times that where it is surer */
};

/* Bits of history that each table behind the two of bias uses. */
enum { GLOBAL_LONG = 6, GLOBAL_SHORT = 3, BACKWARD_LONG = 16, BACKWARD_SHORT = 8, LOCAL_LONG = 6, LOCAL_SHORT = 3 };

void corrector_init(struct corrector *c)
{
	/* Counters that know nothing cancel each other, and nothing is overruled yet. */
	for (unsigned i = 0; i < CORRECTOR_TABLES; i++)
		memset(c->counter[i], i % 2 ? 0xff : 0, CORRECTOR_ENTRIES);
	c->threshold = THRESHOLD_START * THRESHOLD_STEPS;
	c->choose_high = c->choose_middle = -1;
}

static uint32_t low(uint64_t bits, unsigned n)
{
	return (uint32_t)(bits & ((1u << n) - 1));
}

/* Address and history each spread over the index; each table takes other bits of the address, so that no two clash alike. */
static uint8_t hash(uint64_t pc, uint32_t history, unsigned table)
{
	return (uint8_t)(((uint32_t)pc * 0x9e3779b1u << table ^ history * 0x85ebca6bu) >> 25);
}

bool corrector_predict(const struct corrector *c, const struct corrector_history *h, uint64_t recent, uint64_t pc,
	bool main, uint8_t confidence, struct corrector_lookup *l)
{
	uint16_t local = h->local[pc % CORRECTOR_LOCALS];
	const uint32_t history[CORRECTOR_TABLES] = {
		(uint32_t)main,
		(uint32_t)main << 2 | confidence,
		low(recent, GLOBAL_LONG), low(recent, GLOBAL_SHORT),
		low(h->backward, BACKWARD_LONG), low(h->backward, BACKWARD_SHORT),
		low(local, LOCAL_LONG), low(local, LOCAL_SHORT),
		h->iteration,
	};
	int sum = (main ? MAIN_WEIGHT : -MAIN_WEIGHT) * (1 + confidence);

	#pragma GCC unroll 9 /* CORRECTOR_TABLES: lengths and shifts become constants */
	for (unsigned i = 0; i < CORRECTOR_TABLES; i++) {
		l->index[i] = hash(pc, history[i], i);
		sum += 2 * c->counter[i][l->index[i]] + 1;
	}
	l->sum = (int16_t)sum;
	l->main = main;
	l->confidence = confidence;
	l->taken = sum >= 0;
	if (l->taken != main) {
		int size = abs(sum), threshold = c->threshold / THRESHOLD_STEPS;

		if (confidence == 2 && size < threshold / 4)
			l->taken = main;
		else if (confidence == 2 && size < threshold / 2)
			l->taken = c->choose_high >= 0 ? l->taken : main;
		else if (confidence == 1 && size < threshold / 4)
			l->taken = c->choose_middle >= 0 ? l->taken : main;
	}
	return l->taken;
}

void corrector_train(struct corrector *c, const struct corrector_lookup *l, bool taken)
{
	bool says = l->sum >= 0;
	int size = abs(l->sum), threshold = c->threshold / THRESHOLD_STEPS;

	if (says != l->main) {
		if (l->confidence == 2 && size < threshold / 2 && size >= threshold / 4)
			counter_step(&c->choose_high, says == taken, CORRECTOR_CHOOSER_MAX);
		if (l->confidence == 1 && size < threshold / 4)
			counter_step(&c->choose_middle, says == taken, CORRECTOR_CHOOSER_MAX);
	}
	if (says == taken && size >= threshold)
		return;
	if (says != taken && c->threshold < THRESHOLD_MAX * THRESHOLD_STEPS)
		c->threshold++;
	else if (says == taken && c->threshold > 0)
		c->threshold--;
	for (unsigned i = 0; i < CORRECTOR_TABLES; i++)
		counter_step(&c->counter[i][l->index[i]], taken, CORRECTOR_COUNTER_MAX);
}

void corrector_push(struct corrector_history *h, uint64_t pc, bool backward, bool taken)
{
	uint16_t *local = &h->local[pc % CORRECTOR_LOCALS];

	*local = (uint16_t)(*local << 1 | taken);
	if (!backward)
		return;
	h->backward = (uint16_t)(h->backward << 1 | taken);
	if (taken && h->loop == pc)
		counter_up(&h->iteration, UINT8_MAX);
	else
		h->iteration = 0;
	if (taken)
		h->loop = pc;
}
