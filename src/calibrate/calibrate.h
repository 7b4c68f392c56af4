/*
 * Calibration: all experiments in their order, and the description made of what they found.
 *
 * Place: the room's face to the command. Files: host (what the processor says of itself), shipped (the core nearest to
 * it), assembler, bench (code that is made and timed), statistics (what series say), parent and model (what the
 * description inherited from says), forms (instructions), memory, tlb, window, penalties, prefetchers (structures),
 * ports (where uops go), findings, write (the description).
 */
#ifndef CYCLEWISE_CALIBRATE_CALIBRATE_H
#define CYCLEWISE_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/findings.h"
#include "calibrate/forms.h"
#include "calibrate/host.h"

/* An instruction that is to be measured, by its bytes. */
struct calibrate_wanted {
	const uint8_t *bytes;
	size_t size;
};

struct calibrate_options {
	bool quick;
	const struct calibrate_wanted *wanted; /* [nr_wanted]: measured in place of the built-in list; NULL: the list */
	size_t nr_wanted;
	/* Called before each part; non-zero ends the calibration with that -errno. May be NULL. */
	int (*step)(void *ctx, const char *what);
	void *ctx;
};

struct calibration;

/* Measures the processor it runs on: minutes, or seconds where quick. 0 or -errno (-ENOTSUP: no x86-64). */
int calibration_new(struct calibration **out, const struct calibrate_options *options);
void calibration_free(struct calibration *c);

/*
 * Writes the description to `path` and its instruction costs beside it, with the suffix .costs in place of .core. Each
 * is written whole or not at all. 0 or -errno.
 */
int calibration_write(const struct calibration *c, const char *path, const char *version);

/* All valid until calibration_free(). */
const struct host *calibration_host(const struct calibration *c);
const struct findings *calibration_findings(const struct calibration *c);
const struct forms *calibration_forms(const struct calibration *c);
const char *calibration_parent(const struct calibration *c);

#endif
