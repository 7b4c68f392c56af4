/*
 * Targets of indirect jumps and calls: tagged tables indexed with longer and longer histories, as in TAGE, each
 * entry holding a target; the longest that matches predicts, else the last target, which is the BTB's.
 *
 * Ref: Seznec: A 64-Kbytes ITTAGE indirect branch predictor, CBP-3, 2011. Left out of it: regions of targets,
 * the use of the alternate on weak entries, history that differs from the direction predictor's.
 */
#ifndef CYCLEWISE_CORE_PREDICT_INDIRECT_H
#define CYCLEWISE_CORE_PREDICT_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/predict/history.h"

enum { INDIRECT_TABLES = 8, INDIRECT_TAG_BITS = 11, INDIRECT_SURE_MAX = 3 };

struct indirect_entry {
	uint64_t target;
	uint16_t tag;
	uint8_t sure;                  /* 0 to 3: right so often in a row; at 0 a new target takes the place */
	uint8_t useful;                /* right where the shorter match was wrong */
};

struct indirect {
	struct indirect_entry *entry;  /* [tables][entries of one] */
	unsigned nr_tables;
	uint32_t size;                 /* entries of one table */
	unsigned fold[INDIRECT_TABLES];
};

struct indirect_lookup {
	uint32_t index[INDIRECT_TABLES];
	uint16_t tag[INDIRECT_TABLES];
	int8_t provider;               /* table; -1: none */
	uint64_t target;               /* 0: not known */
	uint64_t shorter;              /* what would have been predicted without the provider */
};

/*
 * `entries` over all tables, a power of two each, 0 for none; the last table's history is the longest, each one
 * before has half of it. Adds the lengths to `shape`. 0 or -ENOMEM.
 */
int indirect_init(struct indirect *t, uint32_t entries, unsigned tables, unsigned longest, struct history_shape *shape);
void indirect_fini(struct indirect *t);

/* `last`: the BTB's target, 0 where it has none. */
void indirect_predict(const struct indirect *t, const struct history *h, const struct history_shape *s, uint64_t pc,
	uint64_t last, struct indirect_lookup *l);
void indirect_train(struct indirect *t, const struct indirect_lookup *l, uint64_t target);

#endif
