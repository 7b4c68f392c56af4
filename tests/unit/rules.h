/*
 * Whether a timed stream keeps the rules that record/timed.h states, for the tests of whatever makes one.
 */
#ifndef CYCLEWISE_TESTS_RULES_H
#define CYCLEWISE_TESTS_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "record/timed.h"

/* Carried from batch to batch of one thread's stream; zeroed at first. */
struct rules {
	uint64_t fetch, avail, dispatch, leave; /* latest so far; leave: of what committed */
	uint64_t squash;               /* of the attempt that squashed last */
	uint64_t cycle;                /* last one anything dispatched in ... */
	uint32_t slots;                /* ... and slots of it taken */
	uint32_t commits;              /* instructions committed in the cycle `leave` */
	uint32_t insn;                 /* of the record before */
	uint16_t flags;
	uint64_t last_leave;           /* of the record before */
};

/* The rule that the record breaks, NULL if none. `width`: rename slots a cycle. */
const char *rules_check(struct rules *r, const struct timed *t, unsigned width);

#endif
