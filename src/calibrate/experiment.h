/*
 * What every experiment is given. Each adds its findings, and tells before each of its parts what it is about to
 * measure.
 */
#ifndef CYCLEWISE_CALIBRATE_EXPERIMENT_H
#define CYCLEWISE_CALIBRATE_EXPERIMENT_H

#include <stdbool.h>

#include "calibrate/bench.h"
#include "calibrate/findings.h"
#include "calibrate/host.h"
#include "calibrate/parent.h"

struct experiment {
	struct bench *bench;
	const struct host *host;
	struct parent *parent;
	struct findings *findings;
	bool quick;                /* coarser scans */
	bool nops_pair;            /* more than one go in a slot of rename: they do not tell how many entries there
	                            * are; ports_measure() says it */
	/* Non-zero ends the calibration with that -errno. */
	int (*step)(void *ctx, const char *what);
	void *ctx;
};

static inline int experiment_step(const struct experiment *x, const char *what)
{
	return x->step ? x->step(x->ctx, what) : 0;
}

#endif
