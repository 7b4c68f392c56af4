/*
 * Sizes of what holds instructions in flight: reorder buffer, register files, load and store queues, taken
 * branches, schedulers.
 *
 * Two chains of loads that miss all caches take turns, with N fillers behind each load. As long as a load and the one
 * of the other chain behind N fillers are in flight at once, the two misses overlap; with one filler more than the
 * structure holds they do not, and a round takes up to twice the time. What a filler needs says which structure it is:
 * nops the reorder buffer, results the register file, loads and stores their queues, and what waits for
 * the miss itself a scheduler. A structure larger than the reorder buffer cannot be seen.
 * Ref: H. Wong, Measuring Reorder Buffer Capacity, 2013.
 */
#ifndef CYCLEWISE_CALIBRATE_WINDOW_H
#define CYCLEWISE_CALIBRATE_WINDOW_H

#include "calibrate/experiment.h"

/* 0 or -errno. */
int window_measure(struct experiment *x);

#endif
