/*
 * The state of a diagnosis, for two files alone: diagnosis.c gathers groups and makes findings of them, promise.c reads
 * what is predicted.
 */
#ifndef CYCLEWISE_VIEW_DIAGNOSIS_PRIVATE_H
#define CYCLEWISE_VIEW_DIAGNOSIS_PRIVATE_H

#include <glib.h>

#include "view/diagnosis.h"

/* Parts of one cause at one place. */
struct group {
	const struct cause *cause;     /* NULL: Base, found out when all parts are there */
	const void *place;             /* struct loop *, or struct query_function * */
	const char *file;              /* of a place that is no loop; interned by its query */
	uint32_t line;
	const struct loop *loop;
	uint16_t event;
	GArray *part;                  /* struct finding_part */
	uint64_t units;
	const char *bound;             /* Base: as of struct finding */
	const struct query_insn *main; /* Base: NULL: the first part */
};

/* Parts of places that wait for code to be delivered in one way. */
struct delivered {
	const struct cause *cause;
	const struct group *group;     /* the last that has any */
	unsigned nr_groups;
	GArray *part;                  /* struct finding_part */
};

struct diagnosis_private {
	struct causes *causes;
	GPtrArray *group;              /* struct group * */
	struct delivered delivery[NR_DELIVERIES];
	GPtrArray *relaxing;           /* struct group *: those that resources stand for */
	GHashTable *at;                /* the same, by key */
	GArray *finding;               /* struct finding */
	const struct query_figure *relaxed, *advice, *run; /* [nr_relaxed], [nr_advice], [nr_run] */
	size_t nr_relaxed, nr_advice, nr_run;
	uint64_t total, units_per_cycle; /* units of the run */
	uint64_t width;                /* of the core, instructions a cycle; 0: not known */
};

/* Whether the cause is one of the ways in which code is delivered. */
bool diagnosis_delivers(const struct diagnosis_private *p, const struct cause *c);
/* Puts the promises into all findings, and these in order; d->finding, nr, nr_predicted and events are set. */
void diagnosis_predict(struct diagnosis *d);

#endif
