#include "core/order/shadow.h"

#define SHADOW_GRANULE (UINT64_MAX >> 8)

static unsigned bytes_of(uint64_t granule, uint64_t addr, uint64_t end)
{
	uint64_t from = granule * SHADOW_BYTES < addr ? addr - granule * SHADOW_BYTES : 0;
	uint64_t to = (granule + 1) * SHADOW_BYTES > end ? end - granule * SHADOW_BYTES : SHADOW_BYTES;
	return (0xffu >> (SHADOW_BYTES - (to - from))) << from & 0xffu;
}

static uint32_t shadow_bit(uint64_t granule)
{
	return 1u << (granule / SHADOW_BUCKETS ^ granule / SHADOW_BUCKETS / 32) % 32;
}

static bool shadow_holds(const struct shadow *s, uint32_t at)
{
	return at && s->nr_nodes - at < SHADOW_NODES;
}

/*
 * Of the chain from `at` on, where one goes on behind a node that has those bytes of the granule: nobody finds there
 * what it has, too.
 */
static uint32_t shadow_behind(const struct shadow *s, uint32_t at, uint64_t granule, unsigned bytes)
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
static void shadow_write(struct shadow *s, uint64_t granule, unsigned bytes, uint32_t store, bool aliases)
{
	struct shadow_bucket *bucket = &s->bucket[granule % SHADOW_BUCKETS];
	uint32_t others = shadow_holds(s, bucket->youngest) ? bucket->granules : 0;

	s->node[s->nr_nodes % SHADOW_NODES] = (struct shadow_node){
		.granule = granule & SHADOW_GRANULE, .next = shadow_behind(s, bucket->youngest, granule, bytes),
		.store = store, .bytes = (uint8_t)bytes,
	};
	*bucket = (struct shadow_bucket){ ++s->nr_nodes, others | shadow_bit(granule) };
	struct shadow_place *place = &s->place[granule % SHADOW_PLACES];
	if (aliases && place->of[0].granule != granule + 1)
		place->of[1] = place->of[0];
	if (aliases)
		place->of[0] = (struct shadow_at){ granule + 1, store };
}

void shadow_store(struct shadow *s, uint64_t addr, uint64_t bytes, bool aliases)
{
	uint32_t store = s->nr_stores++;

	s->extent[store & SHADOW_FAR] = (struct shadow_extent){ (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX),
	                                                         (uint16_t)addr };
	if (!bytes)
		return;
	if (__builtin_expect(addr % SHADOW_BYTES + bytes <= SHADOW_BYTES, 1)) {
		shadow_write(s, addr / SHADOW_BYTES, ((1u << bytes) - 1) << addr % SHADOW_BYTES, store, aliases);
		return;
	}
	/* Of a huge one (rep stos) the beginning: who reads the rest comes long after it. */
	if (bytes > WHOLE_STORE)
		bytes = WHOLE_STORE;
	for (uint64_t g = addr / SHADOW_BYTES; g <= (addr + bytes - 1) / SHADOW_BYTES; g++)
		shadow_write(s, g, bytes_of(g, addr, addr + bytes), store, aliases);
}

/* How many stores back the youngest is that wrote any of the bytes of one granule, a bit each; 0: none. */
static uint32_t shadow_granule(const struct shadow *s, uint64_t granule, unsigned want)
{
	const struct shadow_bucket *bucket = &s->bucket[granule % SHADOW_BUCKETS];
	uint32_t at = bucket->granules & shadow_bit(granule) ? bucket->youngest : 0;

	while (shadow_holds(s, at)) {
		const struct shadow_node *node = &s->node[(at - 1) % SHADOW_NODES];
		uint32_t back = s->nr_stores - node->store;
		if (back > SHADOW_FAR)
			break;
		if (node->granule == (granule & SHADOW_GRANULE) && node->bytes & want)
			return back;
		at = node->next;
	}
	return 0;
}

struct source shadow_load(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	const uint64_t end = addr + bytes;
	uint32_t nearest = 0;

	for (uint64_t g = addr / SHADOW_BYTES; g * SHADOW_BYTES < end; g++) {
		uint32_t here = shadow_granule(s, g, bytes_of(g, addr, end));
		if (here && (!nearest || here < nearest))
			nearest = here;
	}
	if (!nearest)
		return (struct source){ 0, SOURCE_WHOLE };
	const struct shadow_extent *wrote = &s->extent[(s->nr_stores - nearest) & SHADOW_FAR];
	const uint16_t inside = (uint16_t)(addr - wrote->at);
	if (inside + bytes > wrote->bytes)
		return (struct source){ nearest, SOURCE_PARTIAL };
	return (struct source){ nearest, inside ? SOURCE_INSIDE : bytes < wrote->bytes ? SOURCE_NARROW : SOURCE_WHOLE };
}

/* How many stores back the youngest is at the place of this granule in another page, 0: none that is near. */
static unsigned shadow_alias_of(const struct shadow *s, uint64_t granule)
{
	const struct shadow_at *of = s->place[granule % SHADOW_PLACES].of, *other = &of[of[0].granule == granule + 1];
	uint32_t back = s->nr_stores - other->store;

	return other->granule && back <= SHADOW_FAR ? back : 0;
}

unsigned shadow_alias(const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	unsigned nearest = 0;

	for (uint64_t g = addr / SHADOW_BYTES; g <= (addr + bytes - 1) / SHADOW_BYTES; g++) {
		unsigned here = shadow_alias_of(s, g);
		if (here && (!nearest || here < nearest))
			nearest = here;
	}
	return nearest;
}
