/*
 * What a run lost the most on: cycles of the golden stacks, gathered by cause and place, and what models predict that
 * the run would take without each.
 *
 * A place is a loop; a source line where there is none; a function where lines are not known. Cycles of a cause that
 * are thinly spread over many places are one finding. How code is delivered (enum delivery) is a matter of all the code
 * in turn, and so one finding of the whole run: of its cycles beyond those at the core's full width, each place gives
 * what part of its path waited for that.
 *
 * Predictions are figures of instructions of the method `advice`, of the instruction that a finding is told by:
 * "EVENT/PATTERN", the cycles if none of its parts ever met the event, "EVENT/PATTERN/DISTANCE" if the one with the
 * most cycles were prefetched so many executions ahead, "EVENT/PATTERN" FINDING_DATA if its parts met none of the
 * events of data; figures of the run of that method: "EVENT/PATTERN" of Base, the cycles on the core that is supposed,
 * FINDING_EVENTS if no finding's event were met, FINDING_DELIVERY on a core with all that is supposed of Base; and
 * figures of the method `relaxed`: NAME, the cycles of the abstract core with twice of the resource NAME, or half where
 * it is a time; "cycles", without. What relaxing a resource saves is divided among all that it stands for, told or not,
 * in proportion to their cycles, and never more than they have.
 *
 * Place in the pipeline: profile -> findings -> the command `advise`, which has them predicted, and the view, which
 * tells them.
 */
#ifndef CYCLEWISE_VIEW_DIAGNOSIS_H
#define CYCLEWISE_VIEW_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/query.h"
#include "record/timed.h"
#include "view/cause.h"
#include "view/facts.h"

/* An instruction's part in a finding. */
struct finding_part {
	const struct query_insn *insn;
	uint64_t units;
	uint64_t executions;           /* that met the event */
};

enum { FINDING_FUNCTIONS = 3 };

/* A function's part in a finding. */
struct finding_function {
	const struct query_function *function;
	uint64_t units;
};

/* What a model says of a finding. Speed-ups are of the whole run; 0: not known. */
struct promise {
	double never;                  /* ooo: the event is never met; of Base: on the core that is supposed */
	double all;                    /* ooo: with what also[0..nr_also) suppose, too */
	const struct cause *also[NR_DELIVERIES - 1];
	unsigned nr_also;
	double data;                   /* ooo: none of the events of data is ever met, of which the finding is told
	                                * by one */
	double prefetched;             /* ooo: the best of the prefetches */
	unsigned distance;             /* of it, in executions */
	double relaxed;                /* abstract: there is more of a resource */
	const char *resource;          /* which */
};

struct finding {
	const struct cause *cause;
	const struct finding_part *part; /* [nr]: the one it is told by, then those with the most cycles first */
	size_t nr;
	const struct query_insn *main; /* part[0].insn */
	const struct loop *loop;       /* NULL: none, or spread */
	bool spread;                   /* over several places */
	unsigned nr_functions;
	struct finding_function hottest[FINDING_FUNCTIONS]; /* [min(nr_functions, FINDING_FUNCTIONS)]: those with the
	                                                     * most cycles first */
	uint64_t units, executions;    /* sums of its parts */
	uint16_t event;                /* one bit; 0: Base */
	const char *bound;             /* Base: the port or unit that is waited for; else NULL */
	uint64_t lines;                /* of code, 64 bytes each, that its parts stand in */
	struct promise promise;
};

struct diagnosis {
	const struct finding *finding; /* [nr]: those with a speed-up, of which most first; then all others, by their
	                                * cycles */
	size_t nr, nr_predicted;
	double events;                 /* speed-up, of ooo, if none of the events of all findings were met; 0: not
	                                * known */
	struct facts_table *facts;
	struct diagnosis_private *priv;
};

/* Valid until diagnosis_free(), or query_free(). 0 or -errno. */
int  diagnosis_new(struct diagnosis **out, struct query *q);
void diagnosis_free(struct diagnosis *f);

enum { FINDING_KEY = 64, FINDING_DATA_EVENTS = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };
#define FINDING_DATA "/data"
#define FINDING_EVENTS "events"
#define FINDING_DELIVERY "delivery"

/* "EVENT/PATTERN" */
const char *finding_key(const struct finding *f, char buf[FINDING_KEY]);
/* The name of a resource of a cause's relax, with {class} and {bound} put in; NULL: there is none for this finding. */
const char *finding_resource(const struct diagnosis *d, const struct finding *f, const char *name);
/* Whether its addresses can be known ahead, so that a prefetch can be thought of. */
bool finding_can_prefetch(const struct diagnosis *d, const struct finding *f);

#endif
