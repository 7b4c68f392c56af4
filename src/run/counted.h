/*
 * The cycles of what a core times, where nothing else is wanted of it: those of counted instructions, each from the
 * commit before it to its own.
 */
#ifndef CYCLEWISE_RUN_COUNTED_H
#define CYCLEWISE_RUN_COUNTED_H

#include "record/timed.h"

struct counted {
	uint64_t commit;               /* first cycle after the last */
	uint64_t cycles, instructions;
};

/* The sink of a core: `ctx` is the struct counted. */
static inline void counted_take(void *ctx, const struct timed *t, size_t n)
{
	struct counted *c = ctx;

	for (; n > 0; t++, n--) {
		if (!timed_commits(t))
			continue;
		uint64_t commit = timed_leave(t) + 1;
		if (t->flags & TIMED_COUNTED) {
			c->cycles += commit - c->commit;
			c->instructions += !(t->flags & TIMED_CONTINUED);
		}
		c->commit = commit;
	}
}

#endif
