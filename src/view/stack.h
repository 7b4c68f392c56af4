/*
 * How cycle stacks look: a bar of letters on a common scale, a letter and a colour for each event, the
 * legend that says what the letters mean.
 *
 * A component with several events is drawn with the letter of its last event in the order of enum psv, the
 * one farthest down the memory system; its name, where there is room for names, has them all.
 */
#ifndef CYCLEWISE_VIEW_STACK_H
#define CYCLEWISE_VIEW_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "profile/query.h"
#include "record/timed.h"
#include "view/json.h"
#include "view/text.h"

/* Sums of several stacks, by signature, without their standard errors. */
struct stack_sum {
	uint64_t units[1 << NR_PSV], executions[1 << NR_PSV];
	uint64_t total;            /* units */
};

void stack_add(struct stack_sum *sum, const struct stack *s);
/* The components of a sum that have cycles, most first, ties by signature; returns how many. `out` of 1 << NR_PSV. */
size_t stack_ranked(const struct stack_sum *sum, struct share *out);

/* The component with the most cycles (of equals the lowest signature); 0 where the stack is empty. */
uint16_t stack_dominant(const struct stack *s);

/* The bar of `s` where `full` units are `width` columns; exactly `width` columns are printed. */
void stack_bar(struct text *t, const struct stack *s, uint64_t full, unsigned width);
/* `columns` letters of one component. */
void stack_letters(struct text *t, uint16_t signature, unsigned columns);
/* What the letters mean, for the signatures of which `seen` has units. */
void stack_legend(struct text *t, const struct stack_sum *seen);

/* { "Base": cycles, ... }, in ascending order of signature. */
void stack_json(struct json *j, const char *key, const struct stack *s, uint64_t units_per_cycle);

#endif
