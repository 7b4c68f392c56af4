/*
 * The progress line: instructions, speed, time, on a terminal's standard error. It says nothing elsewhere.
 */
#ifndef CYCLEWISE_RUN_PROGRESS_H
#define CYCLEWISE_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "source/source.h"

struct progress {
	bool shown;                /* there is to be a line */
	bool drawn;                /* there is one now */
	uint64_t instructions;
	int64_t start, last;       /* microseconds of the monotonic clock; when the line was last drawn */
};

void progress_init(struct progress *p, bool wanted);
/* Counts a batch, and draws the line anew if the last is half a second old. */
void progress_batch(struct progress *p, const struct step_batch *b);
/* Says in a line of its own, on whatever standard error is, what has gone wrong and what follows from it. */
void progress_warn(struct progress *p, const struct error *e, const char *consequence);
/* Erases the line. */
void progress_fini(struct progress *p);

#endif
