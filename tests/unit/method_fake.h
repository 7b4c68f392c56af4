/*
 * What the tests of the methods put in place of the rooms around: a profile that records what is saved into it,
 * region and code tables of the streams of stream.h, and a driver.
 */
#ifndef CYCLEWISE_TESTS_METHOD_FAKE_H
#define CYCLEWISE_TESTS_METHOD_FAKE_H

#include <glib.h>
#include <stdbool.h>

#include "method/feed.h"
#include "profile/profile.h"
#include "stream.h"

enum { FAKE_INSNS = STREAM_MARK + 2 * STREAM_REGIONS, FAKE_PSVS = 1 << NR_PSV, FAKE_THREADS = 4 };

/* One saved row by name: state, component, event, figure, form or integer of the run. */
struct fake_row { char method[32], name[32]; uint32_t thread; uint64_t value; };

struct profile {
	uint64_t executions[FAKE_INSNS][FAKE_PSVS], units[FAKE_INSNS][FAKE_PSVS]; /* profile_cycles */
	uint64_t weight[FAKE_INSNS][FAKE_PSVS];                                   /* profile_sample */
	size_t nr_cycles, nr_samples;
	struct fake_row row[128];
	size_t nr_rows;
	struct fake_insn_row { char method[32], name[64]; uint32_t insn; double value; } insn_row[8192]; /* profile_insn_figure */
	size_t nr_insn_rows;
	struct fake_counters { bool set; uint64_t entries, instructions, uops, units; struct slot_counts slots; }
		thread[FAKE_THREADS], region[STREAM_REGIONS];
};

/* The value of the row, -1 where there is none; thread 0 where it has none. */
int64_t fake_value(const struct profile *p, const char *method, const char *name, uint32_t thread);

/* The same of a figure of one instruction, rounded; -1 where there is none. */
int64_t fake_insn_value(const struct profile *p, const char *method, const char *name, uint32_t insn);

/* One method over one or more threads, their batches interleaved; sizes of batches are random. */
struct fake_run {
	const struct method *method;
	struct run run;
	struct profile *profile;       /* saved into at the end */
	bool checkpoints;              /* also into `checkpoint`, each time anew, now and then; then check(check_ctx) */
	void (*check)(const struct profile *checkpoint, void *ctx);
	void *check_ctx;
};
void fake_drive(const struct fake_run *r, struct timed *const *streams, const size_t *lengths, unsigned threads);
/* The same for one thread and all defaults: fills and returns a new profile; free with free(). */
struct profile *fake_profile(const struct method *method, const struct core_desc *desc, const struct timed *t, size_t n);

uint64_t fake_total_units(const struct profile *p);
/* Whether regions' marks are known: the `regions` of struct run for the streams of stream.h. */
const struct regions *fake_regions(void);
/* A code table of FAKE_INSNS instructions; every eighth is unmodelled, of one of two forms. */
struct code *fake_code(void);
/* A core of the toy of stream.h. */
struct core_desc *fake_desc(const struct stream_config *config);

#endif
