/*
 * A thread's own counters while it runs, from what the method "slots" has counted of it.
 */
#ifndef CYCLEWISE_METHOD_SLOTS_H
#define CYCLEWISE_METHOD_SLOTS_H

#include "method/walker.h"
#include "record/answer.h"

/*
 * As of the last record that `lane` has seen. `state`, `lane`: those of the method; `w`: the walker of the same stream.
 *
 * Cycles run to the end of the one last committed in, as if nothing more did: the differences between any two readings
 * are whole cycles, and sum. Where only some of what commits in it is counted, that part of it is, rounded down in the
 * sum.
 */
void slots_read(const void *state, const void *lane, const struct walker *w, struct counters *out);

#endif
