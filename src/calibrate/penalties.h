/*
 * What single events cost: store-to-load forwarding, mispredicted branches, accesses across lines and pages, aliases,
 * atomic operations and fences.
 *
 * What forwarding from the youngest stores takes, and over how many it takes no time, since rename finds what was
 * stored. Each is the time of a kernel in which the event happens every time, less one like it in which it does not.
 * Half of the branches of a random pattern, new for every sample, are mispredicted: so the difference from a pattern
 * that is all the same, doubled, is the time from fetch to fetch of a branch whose operand is a load.
 */
#ifndef CYCLEWISE_CALIBRATE_PENALTIES_H
#define CYCLEWISE_CALIBRATE_PENALTIES_H

#include "calibrate/experiment.h"

/* 0 or -errno. */
int penalties_measure(struct experiment *x);

#endif
