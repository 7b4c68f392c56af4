/*
 * A run kept in a file: code and steps, small enough for the tree. What the timing models are held against (fingerprint.c).
 *
 * The steps are kept as what differs from the expected: that behind an instruction comes what came behind it the last time,
 * with the same accesses, a stride further. All of it is compressed with zstd.
 */
#ifndef CYCLEWISE_TESTS_FINGERPRINTS_RECORDING_H
#define CYCLEWISE_TESTS_FINGERPRINTS_RECORDING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/code.h"
#include "record/step.h"

enum { RECORDING_PAGE = 4096, RECORDING_LONGEST = 15 };

/* A static instruction of the run; step.insn is its number. */
struct recording_insn {
	uint64_t pc;
	uint8_t mark;                  /* it begins or ends a marked region */
	uint8_t length;
	uint8_t bytes[RECORDING_LONGEST];
};

/* Code as it stood in memory, for wrong paths: zeros where nothing near was executed. */
struct recording_page {
	uint64_t address;
	uint8_t bytes[RECORDING_PAGE];
};

struct recording {
	enum isa isa;
	GArray *insn;                  /* struct recording_insn */
	GArray *page;                  /* struct recording_page */
	GArray *step;                  /* struct step, of one thread */
};

void recording_init(struct recording *s, enum isa isa);
void recording_fini(struct recording *s);

/* false, with a line on standard error, where the file cannot be written, cannot be read, or is none. */
bool recording_write(const struct recording *s, const char *path);
bool recording_read(struct recording *s, const char *path);

/* Makes the stream's instructions known to `code`, which has none yet, so that their numbers agree. */
void recording_code(const struct recording *s, struct code *code);

#endif
