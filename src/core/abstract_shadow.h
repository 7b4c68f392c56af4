/*
 * Which store wrote an 8-byte granule of memory last, byte by byte, as far as the last SHADOW_NODES granules go: more than
 * the stores that a reorder buffer holds have written, and older ones constrain nobody. Part of abstract_outcome.c, which alone
 * includes it.
 *
 * A bucket holds the youngest of its chain; a node that the ring has passed by ends it.
 */
#ifndef CYCLEWISE_CORE_ABSTRACT_SHADOW_H
#define CYCLEWISE_CORE_ABSTRACT_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abstract_outcome.h"

enum { SHADOW_NODES = 1 << 12, SHADOW_BUCKETS = 1 << 12, SHADOW_PLACES = 4096 / 8, GRANULE = 8, WHOLE_STORE = 4096 };

struct shadow_node {
	uint64_t granule : 56, bytes : 8; /* bytes: written, a bit each */
	uint32_t next, store;          /* lower bits of the number of the next older node + 1, and of its store */
};

/* The youngest store to a granule of any page that has this place in it. */
struct shadow_place {
	uint64_t granule;              /* 0: none */
	uint32_t store;
};

struct shadow {
	struct shadow_node node[SHADOW_NODES];
	uint32_t bucket[SHADOW_BUCKETS]; /* the same of the youngest node; 0: none */
	uint32_t nr_nodes, nr_stores;
	uint16_t bytes[OUTCOME_FAR + 1]; /* [lower bits of its number]: of the store, or as many as fit */
	struct shadow_place place[SHADOW_PLACES]; /* where aliases are looked for */
};

#define SHADOW_GRANULE (UINT64_MAX >> 8)

static inline unsigned bytes_of(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t from = granule * GRANULE < addr ? addr - granule * GRANULE : 0;
	uint64_t to = (granule + 1) * GRANULE > end ? end - granule * GRANULE : GRANULE;
	return (0xffu >> (GRANULE - (to - from))) << from & 0xffu;
}

static inline bool shadow_holds(const struct shadow *s, uint32_t at)
{
	return at && s->nr_nodes - at < SHADOW_NODES;
}

/* Of the chain from `at` on, where one goes on behind a node that has those bytes of the granule: nobody finds there what it has, too. */
static inline uint32_t shadow_behind(const struct shadow *s, uint32_t at, uint64_t granule, unsigned bytes)
{
	while (shadow_holds(s, at)) {
		const struct shadow_node *node = &s->node[(at - 1) % SHADOW_NODES];
		if (node->granule != (granule & SHADOW_GRANULE) || node->bytes & ~bytes)
			break;
		at = node->next;
	}
	return at;
}

static inline void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases)
{
	uint32_t store = s->nr_stores++;

	s->bytes[store & OUTCOME_FAR] = (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX);
	/* Of a huge one (rep stos) the beginning: who reads the rest comes long after it. */
	if (bytes > WHOLE_STORE)
		bytes = WHOLE_STORE;
	for (uint64_t g = addr / GRANULE; bytes && g <= (addr + bytes - 1) / GRANULE; g++) {
		uint32_t *bucket = &s->bucket[g % SHADOW_BUCKETS];
		unsigned writes = bytes_of(g, addr, addr + bytes);
		s->node[s->nr_nodes % SHADOW_NODES] = (struct shadow_node){
			.granule = g & SHADOW_GRANULE, .next = shadow_behind(s, *bucket, g, writes), .store = store, .bytes = (uint8_t)writes,
		};
		*bucket = ++s->nr_nodes;
		if (aliases)
			s->place[g % SHADOW_PLACES] = (struct shadow_place){ g, store };
	}
}

/* How many stores back the youngest is that wrote any of the bytes wanted, 0: none; and whether it wrote them all. */
struct source { unsigned distance; bool whole; };

/* Of bytes of one granule: a bit each. */
static inline struct source shadow_granule(const struct shadow *s, uint64_t granule, unsigned want)
{
	uint32_t at = s->bucket[granule % SHADOW_BUCKETS];

	while (shadow_holds(s, at)) {
		const struct shadow_node *node = &s->node[(at - 1) % SHADOW_NODES];
		uint32_t back = s->nr_stores - node->store;
		if (back > OUTCOME_FAR)
			break;
		if (node->granule == (granule & SHADOW_GRANULE) && node->bytes & want)
			return (struct source){ back, (node->bytes & want) == want };
		at = node->next;
	}
	return (struct source){ 0, false };
}

/* Of the granules from the first of [addr, addr + bytes) to its last. */
static __attribute__((noinline)) struct source shadow_granules(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	uint64_t first = addr / GRANULE;
	struct source from = shadow_granule(s, first, bytes_of(first, addr, addr + bytes));

	for (uint64_t g = first + 1; g <= (addr + bytes - 1) / GRANULE; g++) {
		struct source one = shadow_granule(s, g, bytes_of(g, addr, addr + bytes));
		from.whole &= one.whole && one.distance == from.distance;
		if (one.distance && (!from.distance || one.distance < from.distance))
			from.distance = one.distance;
	}
	return from;
}

/* Of [addr, addr + bytes). */
static inline struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	uint64_t place = addr % GRANULE;

	if (__builtin_expect(place + bytes > GRANULE, 0))
		return shadow_granules(s, addr, bytes);
	return shadow_granule(s, addr / GRANULE, ((1u << bytes) - 1) << place);
}

/* How many stores back the youngest is at the same place of another page, 0: none that is near; and whether it has all of these places. */
static inline struct source shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	struct source nearest = { 0, true };
	uint64_t first = addr / GRANULE;

	for (uint64_t g = first; g <= (addr + bytes - 1) / GRANULE; g++) {
		const struct shadow_place *p = &s->place[g % SHADOW_PLACES];
		uint32_t back = s->nr_stores - p->store;
		unsigned here = p->granule && p->granule != g && back <= OUTCOME_FAR ? back : 0;
		nearest.whole &= here && (g == first || here == nearest.distance);
		if (here && (!nearest.distance || here < nearest.distance))
			nearest.distance = here;
	}
	return nearest;
}

#endif
