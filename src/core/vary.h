/*
 * What of a core can be weighted: the resources of a sensitivity analysis, and how each weight is put into effect.
 *
 * A resource has a capacity; a weight multiplies it. Relaxed is below 1 where the capacity is a time, above 1 elsewhere.
 * A group of ports is relaxed by making each of its ports twice as fast, not only the bound that the group stands for.
 *
 * Most resources are parameters of the description, and act on every model. Ports, unpipelined units and the latencies of
 * instructions are none: the abstract core takes them as costs (vary_costs()), the detailed one as a table of static
 * instructions of its own (vary_code.h).
 * Ref: Gus §3.2 (sensitivity).
 */
#ifndef CYCLEWISE_CORE_VARY_H
#define CYCLEWISE_CORE_VARY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abstract_time.h"
#include "core/params.h"

enum vary_kind {
	VARY_PARAMETERS,               /* of the description */
	VARY_PORTS, VARY_UNIT, VARY_LATENCY, /* of static instructions */
	VARY_BRANCHES,                 /* mispredictions: every weight-th costs something */
	VARY_TAKEN,                    /* taken branches that the front end follows in a cycle */
};

enum { VARY_MAX = 96, VARY_NAME = 64, VARY_PARAMS = 8, VARY_SETS = 32 };

struct vary {
	char name[VARY_NAME];
	const char *unit;              /* of the capacity; "cycles" or "ns": a time */
	double capacity;
	enum vary_kind kind;
	bool time;                     /* relaxed is below 1 */
	bool outcome;                  /* changes what executions meet, not only when (abstract_outcome.h) */
	uint8_t nr_params;
	uint16_t param[VARY_PARAMS];   /* rows of core_params[] */
	uint16_t ports;                /* VARY_PORTS */
	uint8_t unit_nr;               /* VARY_UNIT: from 0 on */
	uint8_t classes;               /* VARY_LATENCY: a bit for each enum latency_class */
};

/*
 * All resources of a core, at most VARY_MAX, in a fixed order; returns how many. sets[0..nr_sets): groups of ports
 * that are looked at beside single ports. `abstract`: of the abstract core, else of the detailed one.
 */
unsigned vary_list(struct vary out[VARY_MAX], const struct core_desc *d, const uint16_t *sets, unsigned nr_sets, bool abstract);

/*
 * Puts the weight (in thousandths) into effect. On a description: values are rounded and held within their ranges; returns
 * whether that changed anything. On costs: for what is not in the description.
 */
bool vary_desc(const struct vary *v, uint32_t weight, struct core_desc *d);
void vary_costs(const struct vary *v, uint32_t weight, struct abstract_costs *c);

/* Whether two resources are in part the same, so that to relax both says nothing new. */
bool vary_overlaps(const struct vary *a, const struct vary *b);

#endif
