/*
 * What a calibration has found: values with their spread, and which parameter of a core description they go into.
 *
 * Place: the experiments add; write.c makes the description of it, the command shows it.
 */
#ifndef CYCLEWISE_CALIBRATE_FINDINGS_H
#define CYCLEWISE_CALIBRATE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/statistics.h"
#include "core/params.h"

struct finding {
	char *name;                /* "load to use, L2" */
	const char *unit;          /* "cycles"; static */
	struct estimate estimate;
	char *param;               /* "l2.latency"; NULL: for the reader alone */
	int32_t value;             /* that goes into the file, unless the parent's is kept */
	char *note;                /* how it came about, or why it is left to the parent; NULL */
	bool left;                 /* to the parent: too noisy, not found, or out of the parameter's range */
};

struct findings;

struct findings *findings_new(const struct core_desc *parent);
void findings_free(struct findings *f);

/*
 * Adds one. `param` NULL: for the reader. `value` is what the estimate makes of the parameter, with the estimate's
 * spread (which is too wide where the value is a part of what was measured); halfway between two integers it is rounded
 * to the parent's (estimate_round()). Where the estimate is noisy or the value outside the parameter's range, it is
 * left to the parent. In both cases the note says so. The note is a format; NULL: none.
 */
void findings_add(struct findings *f, const char *name, const char *unit, struct estimate e, const char *param,
                  double value, const char *note, ...) __attribute__((format(printf, 7, 8)));

/* One that was looked for and not found, or is not said by timing: left to the parent, with the reason. */
void findings_leave(struct findings *f, const char *name, const char *param, const char *why, ...)
	__attribute__((format(printf, 4, 5)));

size_t findings_count(const struct findings *f);
const struct finding *findings_at(const struct findings *f, size_t i);
/* The one that goes into `param`, not left to the parent; NULL where there is none. */
const struct finding *findings_of(const struct findings *f, const char *param);
/* What a parameter is by now: found, or the parent's. */
int32_t findings_param(const struct findings *f, const char *param);

#endif
