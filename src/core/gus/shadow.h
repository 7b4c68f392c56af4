/*
 * Which store wrote an 8-byte granule of memory last, byte by byte, as far as the last SHADOW_NODES granules go: more than
 * the stores that a reorder buffer holds have written, and older ones constrain nobody. Part of outcome.c, which alone
 * includes it.
 *
 * A bucket holds the youngest of its chain; a node that the ring has passed by ends it. Most loads read what no store wrote
 * lately: a bucket says of which granules there may be nodes in its chain, so that those look no further.
 */
#ifndef CYCLEWISE_CORE_GUS_SHADOW_H
#define CYCLEWISE_CORE_GUS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/gus/outcome.h"

enum { SHADOW_NODES = 1 << 12, SHADOW_BUCKETS = 1 << 11, SHADOW_PLACES = 4096 / 8, GRANULE = 8, WHOLE_STORE = 4096 };

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

#define SHADOW_GRANULE (UINT64_MAX >> 8)

static inline unsigned bytes_of(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t from = granule * GRANULE < addr ? addr - granule * GRANULE : 0;
	uint64_t to = (granule + 1) * GRANULE > end ? end - granule * GRANULE : GRANULE;
	return (0xffu >> (GRANULE - (to - from))) << from & 0xffu;
}

static inline uint32_t shadow_bit(uint64_t granule)
{
	return 1u << (granule / SHADOW_BUCKETS ^ granule / SHADOW_BUCKETS / 32) % 32;
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

/* Of one granule, those bytes. */
static inline void shadow_write(struct shadow *s, uint64_t granule, unsigned bytes, uint32_t store, bool aliases)
{
	struct shadow_bucket *bucket = &s->bucket[granule % SHADOW_BUCKETS];
	uint32_t others = shadow_holds(s, bucket->youngest) ? bucket->granules : 0;

	s->node[s->nr_nodes % SHADOW_NODES] = (struct shadow_node){
		.granule = granule & SHADOW_GRANULE, .next = shadow_behind(s, bucket->youngest, granule, bytes), .store = store, .bytes = (uint8_t)bytes,
	};
	*bucket = (struct shadow_bucket){ ++s->nr_nodes, others | shadow_bit(granule) };
	if (aliases)
		s->place[granule % SHADOW_PLACES] = (struct shadow_place){ granule, store };
}

/* bytes > 0. */
static inline void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases)
{
	uint32_t store = s->nr_stores++;

	s->extent[store & OUTCOME_FAR] = (struct shadow_extent){ (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX), (uint16_t)addr };
	if (__builtin_expect(addr % GRANULE + bytes <= GRANULE, 1)) {
		shadow_write(s, addr / GRANULE, ((1u << bytes) - 1) << addr % GRANULE, store, aliases);
		return;
	}
	/* Of a huge one (rep stos) the beginning: who reads the rest comes long after it. */
	if (bytes > WHOLE_STORE)
		bytes = WHOLE_STORE;
	for (uint64_t g = addr / GRANULE; g <= (addr + bytes - 1) / GRANULE; g++)
		shadow_write(s, g, bytes_of(g, addr, addr + bytes), store, aliases);
}

/* How many stores back the youngest is that wrote any of the bytes wanted, 0: none; and whether it wrote them all. */
struct source { unsigned distance; bool whole; };

static inline bool shadow_may_have(const struct shadow *s, uint64_t granule)
{
	return s->bucket[granule % SHADOW_BUCKETS].granules & shadow_bit(granule);
}

/* Of bytes of one granule: a bit each. */
static inline struct source shadow_granule(const struct shadow *s, uint64_t granule, unsigned want)
{
	uint32_t at = s->bucket[granule % SHADOW_BUCKETS].youngest;

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

/* Of more than one granule, where one may have been written. */
static inline bool shadow_may_have_any(const struct shadow *s, uint64_t first, uint64_t last)
{
	bool may = shadow_may_have(s, first) | shadow_may_have(s, last);

	for (uint64_t g = first + 1; __builtin_expect(g < last, 0); g++)
		may |= shadow_may_have(s, g);
	return may;
}

/* Of [addr, addr + bytes). */
static inline struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	uint64_t first = addr / GRANULE, last = (addr + bytes - 1) / GRANULE;

	if (__builtin_expect(first == last, 1))
		return shadow_may_have(s, first) ? shadow_granule(s, first, ((1u << bytes) - 1) << addr % GRANULE) : (struct source){ 0, false };
	return shadow_may_have_any(s, first, last) ? shadow_granules(s, addr, bytes) : (struct source){ 0, false };
}

/* How many stores back the youngest is at the place of this granule in another page, 0: none that is near. */
static inline unsigned shadow_alias_of(const struct shadow *s, uint64_t granule)
{
	const struct shadow_place *p = &s->place[granule % SHADOW_PLACES];
	uint32_t back = s->nr_stores - p->store;

	return p->granule && p->granule != granule && back <= OUTCOME_FAR ? back : 0;
}

/* Of more than one place: the nearest; and whether it has all of them. */
static __attribute__((noinline)) struct source shadow_aliases(const struct shadow *s, uint64_t first, uint64_t last)
{
	struct source nearest = { 0, true };

	for (uint64_t g = first; g <= last; g++) {
		unsigned here = shadow_alias_of(s, g);
		nearest.whole &= here && (g == first || here == nearest.distance);
		if (here && (!nearest.distance || here < nearest.distance))
			nearest.distance = here;
	}
	return nearest;
}

/* How many stores back the youngest is at the same place of another page, 0: none that is near; and whether it has all of these places. */
static inline struct source shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	uint64_t first = addr / GRANULE, last = (addr + bytes - 1) / GRANULE;

	if (__builtin_expect(first != last, 0))
		return shadow_aliases(s, first, last);
	unsigned here = shadow_alias_of(s, first);
	return (struct source){ here, here != 0 };
}

#endif
