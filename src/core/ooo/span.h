/* The accesses of a `rep` string, piece by piece. */
#ifndef CYCLEWISE_CORE_OOO_SPAN_H
#define CYCLEWISE_CORE_OOO_SPAN_H

#include <stdint.h>

#include "core/order/repeat.h"
#include "record/step.h"

enum { PIECE = REPEAT_LINE };

struct rep_span {                          /* what is left of the accesses in one direction */
	const struct step *step, *end;
	uint64_t offset;               /* within the present step */
	uint16_t kind;                 /* STEP_LOAD or STEP_STORE */
};

/* The next piece: at most `bytes`, within a line. Returns how many; 0: the span is used up. */
static inline uint32_t rep_span_take(struct rep_span *p, uint32_t bytes, uint64_t *addr)
{
	while (p->step < p->end && (!(p->step->flags & p->kind) || p->offset >= p->step->bytes)) {
		p->step++;
		p->offset = 0;
	}
	if (p->step >= p->end)
		return 0;
	*addr = p->step->addr + p->offset;
	uint64_t left = p->step->bytes - p->offset, line = PIECE - *addr % PIECE;
	if (bytes > left)
		bytes = (uint32_t)left;
	if (bytes > line)
		bytes = (uint32_t)line;
	p->offset += bytes;
	return bytes;
}

/* How often it went round, and the bytes it read each time. */
static inline uint64_t repeat_iterations(const struct step *s, uint32_t nr_steps, uint32_t *bytes_each)
{
	uint64_t count = 1, bytes = 0;

	for (uint32_t i = 0; i < nr_steps; i++) {
		if (step_kind(&s[i]) == STEP_REPEAT)
			count = s[i].addr;
		else if (s[i].flags & STEP_LOAD)
			bytes += s[i].bytes;
	}
	*bytes_each = count ? (uint32_t)((bytes + count - 1) / count) : 0;
	return count;
}

#endif
