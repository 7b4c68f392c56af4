/*
 * Return address stack: a ring without a count, as in hardware. Calls nested deeper than it overwrite the
 * oldest; returns beyond what was pushed get what an earlier round left there.
 */
#ifndef CYCLEWISE_CORE_PREDICT_RAS_H
#define CYCLEWISE_CORE_PREDICT_RAS_H

#include <stdint.h>

/* `stack`: [entries]; *top: index of the youngest. */
static inline void ras_push(uint64_t *stack, uint32_t entries, uint32_t *top, uint64_t address)
{
	*top = *top + 1 == entries ? 0 : *top + 1;
	stack[*top] = address;
}

static inline void ras_pop(uint32_t entries, uint32_t *top)
{
	*top = *top ? *top - 1 : entries - 1;
}

#endif
