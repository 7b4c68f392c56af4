/*
 * Prefetchers that can be seen: after a short pattern of loads in a page whose lines have all been flushed, one line
 * that was not touched is timed. Either it is there or it is not; many trials give how often it is.
 *
 * Not said by this: how many streams or instructions a prefetcher follows; those sizes stay the parent's.
 */
#ifndef CYCLEWISE_CALIBRATE_PREFETCHERS_H
#define CYCLEWISE_CALIBRATE_PREFETCHERS_H

#include "calibrate/experiment.h"

/* 0 or -errno. */
int prefetchers_measure(struct experiment *x);

#endif
