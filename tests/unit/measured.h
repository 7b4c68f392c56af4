/*
 * Instruction sequences that were timed on real hardware (data/cores/NAME.measured), run through the model.
 *
 * The model runs them as the timing did: copies one behind another in a loop, its registers and memory such that every
 * copy does the same. Sequences are not executed: addresses are those that the file gives, branches are not taken.
 */
#ifndef CYCLEWISE_TESTS_MEASURED_H
#define CYCLEWISE_TESTS_MEASURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEASURED_ROWS = 512, MEASURED_BYTES = 256, MEASURED_ACCESSES = 32 };

/* One row of the file; its text lives as long as the set. */
struct measured_row {
	const char *name, *note;       /* note: why the row's figures differ; "" where they agree */
	const char *low_text, *half_text, *public_text; /* as the file has them */
	double low, half;              /* cycles of a part: first percentile, median */
	double published;              /* the same; negative: none known */
	unsigned parts;                /* equal parts of the sequence */
	struct { int64_t offset; uint16_t bytes; } access[MEASURED_ACCESSES]; /* taken in turn */
	unsigned nr_accesses;
	uint8_t bytes[MEASURED_BYTES];
	size_t size;
};

struct measured {
	struct measured_row row[MEASURED_ROWS];
	unsigned nr;
	char *text;
};

/* 0 or -errno with error_set(): the file and its line. `m` is the caller's and large. */
int measured_read(struct measured *m, const char *path);
void measured_fini(struct measured *m);

/*
 * Cycles that a part of each row takes on core `name`, into cycles[m->nr]; with the cost file at `costs`, NULL for the
 * core's own. 0 or -errno with error_set().
 */
int measured_model(const struct measured *m, const char *name, const char *costs, double *cycles);

/*
 * Whether a figure and a measured one agree: within 5%; and since the guest's sibling thread takes slots and ports in
 * most samples, a measured figure of up to a cycle may be a third above what the core does alone.
 */
bool measured_agrees(const struct measured_row *row, double cycles);

#endif
