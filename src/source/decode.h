/*
 * From the words of one lane to the steps of one thread.
 *
 * A block's steps are copied when it is entered, and what its accesses, cuts and the block that follows tell is then
 * filled in. The block under way is the last in the buffer; what is before it is final.
 *
 * The program can write words, too. Each is checked once, where decoder_run() takes it: its kind, that its block is
 * defined and has so many instructions, that its access is of an instruction of the block under way. One that makes no
 * sense is lost, and counted. The records that a block can make are bounded, and so is the buffer by the `limit`.
 *
 * Invariant while a block is under way: instruction i > `last` has its step at step[base + i + extra + more], `last`
 * at step[base + last + extra], followed by `more` records of its own.
 */
#ifndef CYCLEWISE_SOURCE_DECODE_H
#define CYCLEWISE_SOURCE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/ring.h"
#include "record/step.h"
#include "source/blocks.h"

/* The accesses of a rep string so far: one or two spans that grow in one direction each. */
struct rep {
	bool open;
	bool write[2];             /* of each stream: it writes */
	unsigned index;            /* which instruction of the block it is */
	unsigned bytes;            /* of one access */
	enum form form;
	uint64_t low[2], high[2];  /* the span [low, high) of each stream */
	uint64_t made[2];          /* accesses of each */
};

struct decoder {
	struct blocks *blocks;
	GHashTable *handlers;      /* addresses of signal handlers, of all threads */
	struct step *step;         /* [nr], room for `room` */
	size_t nr, room;

	struct block now;          /* the block under way; nr_insns 0: none */
	size_t base;
	unsigned last, extra, more;
	unsigned missing;          /* instructions at its end that were not begun */
	bool strays;               /* it has made all its accesses: what comes is the emulator's own */
	size_t end;                /* of the block before: where its last instruction had its step */
	struct rep rep;
	uint64_t awaited;          /* event whose second word comes next; 0: none */
	bool asked;                /* the thread waits for its counters: all the steps it has made are here, and
	                            * final */
	uint64_t resumes;          /* where it goes on then, if nothing comes between; no block is under way */

	/* For conservation: begun == steps + merged + restarted. */
	uint64_t begun;            /* instruction executions begun, up to the block under way */
	uint64_t merged;           /* of these: further executions of a rep string */
	uint64_t restarted;        /* begun, given up and begun again by the emulator */
	uint64_t lost;             /* records */
};

void decoder_init(struct decoder *d, struct blocks *blocks, GHashTable *handlers);
void decoder_fini(struct decoder *d);

/*
 * Takes words until a block is to be entered while the buffer holds `limit` steps or more, until the thread asks for
 * its counters, or until there are no words. True: one of the former, where it stops depends on the words alone.
 */
bool decoder_run(struct decoder *d, struct ring_reader *r, size_t limit);
/*
 * How many steps at the front may be handed out such that `ahead` stay, and no instruction is torn from its
 * accesses.
 */
static inline size_t decoder_ready(const struct decoder *d, size_t ahead)
{
	size_t end = d->now.nr_insns ? d->base : d->nr;
	size_t n = d->nr > ahead ? d->nr - ahead : 0;

	if (n > end)
		n = end;
	while (n && n < d->nr && step_belongs(&d->step[n]))
		n--;
	return n;
}
/* Removes the first `n` steps, n <= decoder_ready(d, 0); the question, where there was one, has been passed on. */
void decoder_drop(struct decoder *d, size_t n);
/* There are no more words. `begun`: all the thread began, NULL where that is not known; `fault`:
 * the program died of an exception, so that its last instruction may not have completed. */
void decoder_finish(struct decoder *d, const uint64_t *begun, bool fault);
/* The last instruction that a block before the one under way has executed; NULL: none that is still in the buffer. */
static inline const struct step *decoder_last(const struct decoder *d)
{
	return d->end < d->nr && step_kind(&d->step[d->end]) == STEP_INSN ? &d->step[d->end] : NULL;
}

#endif
