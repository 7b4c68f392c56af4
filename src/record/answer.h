/*
 * A thread's own counters, and how they come back to it while it runs: the one thing that goes from the reader to the
 * program.
 *
 *      program            plugin                            reader
 *      mark of          answer_expect()
 *      cyclewise_read() WIRE_ASK ──── lane ────────────────► all before it is timed
 *                       answer_wait() ◄── struct answer ──── answer_give()
 *                       into the program's memory
 *
 * Each lane has one struct answer: a thread waits for the one before it asks again.
 */
#ifndef CYCLEWISE_RECORD_ANSWER_H
#define CYCLEWISE_RECORD_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/ring.h"

/*
 * Laid out as struct cyclewise_counters of cyclewise.h, which says what they are. Of what is counted (the region of
 * interest, else everything), up to an instruction of the thread, itself included.
 */
struct counters {
	uint64_t cycles;                   /* to the end of the cycle it commits in */
	uint64_t instructions;             /* committed */
	uint64_t slots_total;              /* to its dispatch: 0 <= retired, issued <= filled <= total */
	uint64_t slots_filled;
	uint64_t slots_issued;
	uint64_t slots_retired;            /* those of the issued that commit sooner or later */
};

struct answer {                      /* shared; all zero is fine */
	_Atomic uint32_t given;            /* futex: 1 once `counters` is what the thread last asked for */
	struct counters counters;
};

/* The asking side. Before the question can be seen by the other. */
void answer_expect(struct answer *a);
/* Waits for the answer. False: it does not come, since the other side is gone or wants no more. */
bool answer_wait(struct answer *a, const struct ring_peer *peer, struct counters *out);
/* The answering side. */
void answer_give(struct answer *a, const struct counters *counters);

#endif
