/*
 * Variant sharing: variants of the abstract core that share the times of the core as it is. Most of what is weighted
 * matters seldom. As long as nothing is executed that a variant's costs matter to, and its state is that of the core as
 * it is, all of it so much later, its times are that core's so much later, and it need not be timed. When something
 * comes that it does matter to, the variant takes over that state and is timed until it is the same again. The figures
 * are those of a variant that is always timed, exactly.
 *
 * Whether two states are the same is asked of what can still constrain anything: times before all that is in flight
 * cannot. What counts in whole cycles, as schedulers do, is the same only where the difference is whole cycles.
 *
 * Place: state.h -> sharing -> run/variants.c.
 */
#ifndef CYCLEWISE_CORE_GUS_SHARING_H
#define CYCLEWISE_CORE_GUS_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gus/time.h"

/* What is executed, as far as costs matter to some of it alone: a bit set. */
enum sharing_part {
	SHARING_LATENCY = 1 << 0,      /* << enum latency_class: an instruction of that class has a latency */
	SHARING_UNIT    = 1 << NR_LATENCIES, /* << unit: its operations */
	SHARING_DECODED = SHARING_UNIT << CORE_UNITS, /* what comes through the decoders, or from the sequencer */
	SHARING_LLC     = SHARING_DECODED << 1, /* what L2 lacks */
	SHARING_MEMORY  = SHARING_LLC << 1, /* what all caches lack */
	SHARING_ALL     = SHARING_MEMORY << 1, /* anything */
};

/* What a core of costs `varied` differs in from one `as_is`; 0: nothing. */
uint32_t sharing_depends(const struct abstract_costs *as_is, const struct abstract_costs *varied);

/* What is known of recipes, so that they are looked at once. All zero: none. */
struct sharing {
	uint32_t *part;                /* [nr], by recipe: of enum sharing_part */
	uint32_t nr, room;
	bool bypasses;                 /* results of some come later to other units: latency.float is in that */
};

void sharing_fini(struct sharing *a);
/* What the instructions whose outcomes are word[0..nr) are, of those `wanted`. */
uint32_t sharing_parts(struct sharing *a, const struct recipes *r, const uint64_t *word, size_t nr, uint32_t wanted);

/* Where a variant is beside the core as it is. All zero at first. */
struct sharing_state {
	bool shared;                   /* it is not timed: all takes place `later` ticks later */
	int64_t later;
	uint64_t beyond;               /* cycles counted more than that core had when it last shared its times; may
	                                * wrap */
};

/*
 * Whether `v`, a variant of which sharing_depends() said `depends`, shares the times of `as_is` in what is to be timed
 * next, of which sharing_parts() said `parts`; else it must be timed, and is where it has to be for that. Both are of
 * mode CHRONO_PLAIN and were given the same outcomes, but v those alone in which it did not share them.
 */
bool sharing_holds(struct sharing_state *way, struct chrono *v, struct chrono *as_is, uint32_t depends, uint32_t parts);
/* Of the variant, as chrono_cycles(). */
uint64_t sharing_cycles(const struct sharing_state *way, const struct chrono *v, const struct chrono *as_is);

#endif
