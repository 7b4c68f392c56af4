/*
 * What the detailed core makes of a few instructions over and over: the part of a measured time that is not the event's
 * own, where the description already has it.
 *
 * Straight code, whose caches, TLBs and branches never cost anything. Place: beside parent.h, whose bounds know of no
 * queues.
 */
#ifndef CYCLEWISE_CALIBRATE_MODEL_H
#define CYCLEWISE_CALIBRATE_MODEL_H

#include <stdint.h>

#include "calibrate/findings.h"
#include "calibrate/parent.h"

/* The parent's description with all that has been found so far. */
void model_description(const struct parent *p, const struct findings *f, struct core_desc *d);

/* An access of each instruction: addresses count from any multiple of 4096. bytes 0: it makes none. */
struct model_access {
	uint16_t addr, bytes;
};

/* Cycles that a round of the sequence takes, access[k] the k-th instruction's; d->ideal is set. 0 or -errno. */
int model_round(struct parent *p, struct core_desc *d, const struct sequence *s, const struct model_access *access,
                double *cycles);

#endif
