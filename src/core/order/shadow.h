/*
 * Which older store a load reads from, by addresses alone. Whether that store is still in its queue when the load wants
 * to know, and what follows from that, each core finds out in its own time.
 *
 * Kept is which store wrote an 8-byte granule of memory last, byte by byte, as far as the last SHADOW_NODES granules
 * go: more than the stores that a reorder buffer holds have written, and older ones constrain nobody.
 *
 * A bucket holds the youngest of its chain; a node that the ring has passed by ends it. Most loads read what no store
 * wrote lately: a bucket says of which granules there may be nodes in its chain, so that those look no further.
 */
#ifndef CYCLEWISE_CORE_ORDER_SHADOW_H
#define CYCLEWISE_CORE_ORDER_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

enum { SHADOW_FAR = 4095 };            /* stores back that a load may read from; older ones have left every queue */
enum {
	SHADOW_NODES = 1 << 12,
	SHADOW_BUCKETS = 1 << 11,
	SHADOW_PLACES = 4096 / 8,
	SHADOW_BYTES = 8,
	WHOLE_STORE = 4096
};

struct shadow_node {
	uint64_t granule : 56, bytes : 8; /* bytes: written, a bit each */
	uint32_t next, store;          /* lower bits of the number of the next older node + 1, and of its store */
};

struct shadow_bucket {
	uint32_t youngest;             /* lower bits of the number of its node + 1; 0: none */
	uint32_t granules;             /* of its nodes: a bit each by their upper bits; others may be set, too */
};

/*
 * The youngest store to a granule of any page that has this place in it, and the youngest to another of these: one of
 * the two is to another page than a load's.
 */
struct shadow_place {
	struct shadow_at { uint64_t granule; uint32_t store; } of[2]; /* granule: + 1; 0: none */
};

/* Of a store: its bytes, or as many as fit, and the lower bits of its address. */
struct shadow_extent { uint16_t bytes, at; };

struct shadow {
	struct shadow_node node[SHADOW_NODES];
	struct shadow_bucket bucket[SHADOW_BUCKETS];
	uint32_t nr_nodes, nr_stores;
	struct shadow_extent extent[SHADOW_FAR + 1]; /* [lower bits of its number] */
	struct shadow_place place[SHADOW_PLACES]; /* where aliases are looked for */
};

enum source_kind {
	SOURCE_WHOLE,                  /* the load reads just what the store wrote; or nothing that any did */
	SOURCE_NARROW,                 /* it wrote more bytes */
	SOURCE_INSIDE,                 /* the same, and begins at another byte */
	SOURCE_PARTIAL,                /* it wrote some of the bytes, which are not all its own */
};

/* How many stores back the youngest is that wrote any of the bytes wanted, 0: none. */
struct source { unsigned distance; enum source_kind kind; };

/* `bytes` 0: one that writes nothing, but counts; `aliases`: shadow_alias() will be asked. */
void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases);
/* Of [addr, addr + bytes). */
struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes);
/* How many stores back the nearest is at a place of these of another page, 0: none that is near. */
unsigned shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes);

#endif
