/*
 * What of a core can be weighted: the resources of a sensitivity analysis, and how each weight is put into effect.
 *
 * A resource has a capacity; a weight multiplies it. Relaxed is below 1 where the capacity is a time, above 1
 * elsewhere. A group of ports is relaxed by making each of its ports twice as fast, not only the bound that the group
 * stands for.
 *
 * Most resources are parameters of the description, and act on every model. Ports, unpipelined units and the latencies
 * of instructions are none: a model may take them as costs (the abstract core: vary_costs()), or by a table of static
 * instructions that is a variant's own (vary_code.h). And a model may have resources of its own.
 * Ref: Gus §3.2 (sensitivity).
 */
#ifndef CYCLEWISE_CORE_VARY_H
#define CYCLEWISE_CORE_VARY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"

enum { WEIGHT_ONE = 1000 };            /* weights are in thousandths */

enum vary_kind {
	VARY_PARAMETERS,               /* of the description */
	VARY_PORTS, VARY_UNIT, VARY_LATENCY, /* of static instructions */
	VARY_OWN,                      /* of a model's own */
};

enum { VARY_MAX = 96, VARY_NAME = 64, VARY_PARAMS = 8, VARY_SETS = 32 };

struct vary {
	char name[VARY_NAME];
	const char *unit;              /* of the capacity; "cycles" or "ns": a time */
	double capacity;
	enum vary_kind kind;
	bool time;                     /* relaxed is below 1 */
	bool outcome;                  /* changes what executions meet, not only when (core/gus/outcome.h) */
	uint8_t nr_params;
	uint16_t param[VARY_PARAMS];   /* rows of core_params[] */
	uint16_t ports;                /* VARY_PORTS */
	uint8_t unit_nr;               /* VARY_UNIT: from 0 on */
	uint8_t classes;               /* VARY_LATENCY: a bit for each enum latency_class */
	uint8_t own;                   /* VARY_OWN: which, as the model numbers them */
};

enum { VARIANT_PARTS = 3 };

/* A variant of a core: what is weighted, all alike, and what is made ideal beside it. */
struct variant {
	struct core_ideal ideal;
	const struct vary *part[VARIANT_PARTS];
	unsigned nr;
	uint32_t weight;               /* relaxing, in thousandths: 2000 halves a time and doubles what else there is */
};

/* What the capacity of a part is weighted with. */
static inline uint32_t variant_weight(const struct variant *v, const struct vary *part)
{
	return part->time ? WEIGHT_ONE * WEIGHT_ONE / v->weight : v->weight;
}

/*
 * All resources of a core, at most VARY_MAX, in a fixed order; returns how many. sets[0..nr_sets): groups of ports
 * that are looked at beside single ports. `own` adds the model's own (core_ops.resources); NULL: it has none.
 */
unsigned vary_list(struct vary out[VARY_MAX], const struct core_desc *d, const uint16_t *sets, unsigned nr_sets,
                   unsigned (*own)(struct vary *out, const struct core_desc *d));

/*
 * Puts the weight (in thousandths) into effect on a description: values are rounded and held within their ranges.
 * Returns whether that changed anything; what is not in the description always may.
 */
bool vary_desc(const struct vary *v, uint32_t weight, struct core_desc *d);

/* Whether two resources are in part the same, so that to relax both says nothing new. */
bool vary_overlaps(const struct vary *a, const struct vary *b);

#endif
