/*
 * Saturating counters, which predictors are made of.
 */
#ifndef CYCLEWISE_CORE_PREDICT_COUNTER_H
#define CYCLEWISE_CORE_PREDICT_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* A step between -max - 1 and max. */
static inline void counter_step(int8_t *c, bool up, int max)
{
	if (up && *c < max)
		++*c;
	else if (!up && *c > -max - 1)
		--*c;
}

/* A step between 0 and max. */
static inline void counter_up(uint8_t *c, unsigned max)
{
	if (*c < max)
		++*c;
}

static inline void counter_down(uint8_t *c)
{
	if (*c)
		--*c;
}

#endif
