/*
 * Which store wrote an 8-byte granule of memory last, byte by byte, as far as the last SHADOW_NODES granules go: more
 * than the stores that a reorder buffer holds have written, and older ones constrain nobody.
 *
 * A bucket holds the youngest of its chain; a node that the ring has passed by ends it. Most loads read what no store
 * wrote lately: a bucket says of which granules there may be nodes in its chain, so that those look no further.
 */
#ifndef CYCLEWISE_CORE_GUS_SHADOW_H
#define CYCLEWISE_CORE_GUS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/gus/outcome.h"

enum { SHADOW_NODES = 1 << 12, SHADOW_BUCKETS = 1 << 11, SHADOW_PLACES = 4096 / 8, SHADOW_BYTES = 8, WHOLE_STORE = 4096 };

struct shadow_node {
	uint64_t granule : 56, bytes : 8; /* bytes: written, a bit each */
	uint32_t next, store;          /* lower bits of the number of the next older node + 1, and of its store */
};

struct shadow_bucket {
	uint32_t youngest;             /* lower bits of the number of its node + 1; 0: none */
	uint32_t granules;             /* of its nodes: a bit each by their upper bits; others may be set, too */
};

/* The youngest store to a granule of any page that has this place in it. */
struct shadow_place {
	uint64_t granule;              /* 0: none */
	uint32_t store;
};

/* Of a store: its bytes, or as many as fit, and the lower bits of its address. */
struct shadow_extent { uint16_t bytes, at; };

struct shadow {
	struct shadow_node node[SHADOW_NODES];
	struct shadow_bucket bucket[SHADOW_BUCKETS];
	uint32_t nr_nodes, nr_stores;
	struct shadow_extent extent[OUTCOME_FAR + 1]; /* [lower bits of its number] */
	struct shadow_place place[SHADOW_PLACES]; /* where aliases are looked for */
};

/* How many stores back the youngest is that wrote any of the bytes wanted, 0: none; and whether it wrote them all. */
struct source { unsigned distance; bool whole; };

/* `bytes` > 0; `aliases`: shadow_alias() will be asked. */
void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases);
/* Of [addr, addr + bytes). */
struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes);
/* How many stores back the nearest is at a place of these of another page, 0: none that is near. */
unsigned shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes);

#endif
