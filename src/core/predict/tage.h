/*
 * TAGE: tagged tables indexed with geometrically longer histories; the longest that matches predicts.
 *
 * What a table's entry holds: a partial tag, a 3-bit counter whose sign is the prediction, and a 2-bit useful
 * count. A misprediction allocates an entry in a table of longer history whose entry is not useful; where none
 * can be had, a tick counts, and all useful counts are halved whenever it runs over. Where the provider's counter is
 * weak, a counter by address (use_alternate) says whether the next longest match is the better guess.
 *
 * A table may have ways, as the Skylake family's have: then an index names a set of them, and an allocation takes
 * a way of the set that is not useful.
 *
 * Not modelled: banks shared by tables (each table has its entries for itself), the delay between prediction
 * and training.
 * Ref: Seznec, Michaud: A case for (partially) TAgged GEometric history length branch prediction, JILP 2006;
 * Seznec: TAGE-SC-L branch predictors again, CBP-5, 2016 (figures, as gem5 has them).
 */
#ifndef CYCLEWISE_CORE_PREDICT_TAGE_H
#define CYCLEWISE_CORE_PREDICT_TAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/predict/base.h"
#include "core/predict/history.h"

enum {
	TAGE_TABLES = 16,
	TAGE_WAYS = 8,
	TAGE_COUNTER_MAX = 3,          /* counters: -4 to 3, negative: not taken */
	TAGE_USEFUL_MAX = 3,
	TAGE_ALTERNATES = 16,          /* use_alternate counters, by address */
	TAGE_ALTERNATE_MAX = 7,        /* -8 to 7 */
	TAGE_TICK_MAX = 1024,
};

/* Beside its tag. */
struct tage_entry {
	int8_t counter;
	uint8_t useful;
};

struct tage {
	struct base base;
	struct tage_entry *entry;      /* all tables, one behind the other */
	uint16_t *tag;                 /* of each entry: those of a set lie side by side */
	uint32_t nr_entries;
	unsigned nr_tables;
	uint32_t first[TAGE_TABLES];   /* of its entries */
	uint32_t mask[TAGE_TABLES];    /* its entries - 1; with the ways of a set apart, those of its first */
	uint8_t ways[TAGE_TABLES];
	uint8_t all_ways;              /* the same, where it is that of all tables; else 0 */
	uint32_t tag_mask[TAGE_TABLES];
	int8_t use_alternate[TAGE_ALTERNATES];
	uint32_t tick;
	uint32_t random;               /* state of the generator that spreads allocations */
};

/* One prediction, kept until it is trained. */
struct tage_lookup {
	uint32_t index[TAGE_TABLES];   /* into tage->entry and tage->tag: the one that matches, else the first of its
	                                * set */
	uint32_t tag[TAGE_TABLES];
	int8_t provider, alternate;    /* tables; -1: the base predictor */
	bool provider_taken, alternate_taken;
	bool weak;                     /* the provider's counter is one of the two weakest */
	bool taken;                    /* the prediction */
};

/*
 * `tables` is "entries/history/tag bits[/ways] ..." with growing histories, which become the first lengths of `shape`:
 * it must be empty but for its kind. 0, -ENOMEM, or -EINVAL with the error set about `what`.
 */
int  tage_init(struct tage *t, const char *what, const char *tables, uint32_t base_entries, unsigned hysteresis_shift,
	struct history_shape *shape);
void tage_fini(struct tage *t);

bool tage_predict(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc,
	struct tage_lookup *l);
/* The same prediction where nothing will be trained with it: looks no further than it must. */
bool tage_guess(const struct tage *t, const struct history *h, const struct history_shape *s, uint64_t pc);
/* `h` may have moved on since the prediction. */
void tage_train(struct tage *t, uint64_t pc, const struct tage_lookup *l, bool taken);

#endif
