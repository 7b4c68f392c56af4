#include "core/cache/cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int replacement_parse(enum replacement *out, const char *name, const char *what)
{
	static const char *const names[] = { "lru", "plru", "qlru", "random" };

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(name, names[i])) {
			*out = (enum replacement)i;
			return 0;
		}
	}
	error_set(EINVAL, what, "there is no replacement policy called \"%s\"", name);
	error_remedy("use lru, plru, qlru or random");
	return -EINVAL;
}

static uint32_t leaves(uint32_t ways)
{
	uint32_t n = 1;
	while (n < ways)
		n <<= 1;
	return n;
}

/* A touch turns every node on the way to the leaf away from it. */
static void plru_masks(struct cache *c)
{
	for (uint32_t way = 0; way < c->ways; way++) {
		uint64_t path = 0, away = 0;
		for (uint32_t node = leaves(c->ways) + way; node > 1; node >>= 1) {
			uint64_t bit = 1ull << ((node >> 1) - 1);
			path |= bit;
			away |= node & 1 ? 0 : bit;
		}
		c->keep[way] = ~path;
		c->point[way] = away;
	}
}

int cache_init(struct cache *c, uint32_t sets, uint32_t ways, enum replacement policy)
{
	assert(sets > 0 && ways > 0 && ways <= CACHE_MAX_WAYS);
	uint64_t lines = (uint64_t)sets * ways;
	uint64_t order = policy == REPLACE_LRU ? lines : policy == REPLACE_QLRU ? 2ull * sets : sets;

	*c = (struct cache){
		.ways = ways, .policy = policy, .clock = policy == REPLACE_RANDOM ? 0x9e3779b97f4a7c15 : 0,
	};
	divisor_init(&c->sets, sets);
	c->tags = malloc(lines * sizeof *c->tags);
	c->lines = calloc(lines, sizeof *c->lines);
	c->recent = calloc(sets, sizeof *c->recent);
	c->order = calloc(order, sizeof *c->order);
	if (!c->tags || !c->lines || !c->recent || !c->order) {
		cache_fini(c);
		return -ENOMEM;
	}
	memset(c->tags, 0xff, lines * sizeof *c->tags);
	if (policy == REPLACE_PLRU)
		plru_masks(c);
	if (policy == REPLACE_QLRU)
		memset(c->order, 0xff, order * sizeof *c->order);
	return 0;
}

void cache_fini(struct cache *c)
{
	free(c->tags);
	free(c->lines);
	free(c->recent);
	free(c->order);
	c->tags = NULL;
	c->lines = NULL;
	c->recent = NULL;
	c->order = NULL;
}

int64_t cache_find_slow(struct cache *c, uint64_t line, uint32_t set)
{
	const uint64_t *tags = c->tags + (uint64_t)set * c->ways;

	for (uint32_t way = 0; way < c->ways; way++) {
		if (tags[way] == line)
			return (int64_t)((uint64_t)set * c->ways + way);
	}
	return -1;
}

static uint64_t all_ways(const struct cache *c)
{
	return UINT64_MAX >> (64 - c->ways);
}

/* Way `way` gets `age`; the others age alike until the oldest of them has age 3. */
static void qlru_age(struct cache *c, uint32_t set, uint32_t way, uint32_t age)
{
	uint64_t *low = &c->order[2ull * set], *high = low + 1;
	uint64_t others = all_ways(c) & ~(1ull << way);

	if (others & *low & *high) {
		/* one has age 3 already */
	} else if (others & *high) {
		uint64_t carry = *low & others;
		*low ^= others;
		*high ^= carry;
	} else if (others & *low) {
		*high |= others;
	} else {
		*low |= others;
		*high |= others;
	}
	*low = (*low & ~(1ull << way)) | (uint64_t)(age & 1) << way;
	*high = (*high & ~(1ull << way)) | (uint64_t)(age >> 1) << way;
}

void cache_touch_slow(struct cache *c, uint32_t set, uint32_t way)
{
	c->recent[set] = (uint8_t)way;
	switch (c->policy) {
	case REPLACE_LRU:
		c->order[(uint64_t)set * c->ways + way] = ++c->clock;
		break;
	case REPLACE_PLRU:
		c->order[set] = (c->order[set] & c->keep[way]) | c->point[way];
		break;
	case REPLACE_QLRU:
		qlru_age(c, set, way, 0);
		break;
	case REPLACE_RANDOM:
		break;
	}
}

/* The first that is empty, else the oldest. */
static uint32_t lru_victim(const struct cache *c, uint32_t set)
{
	const uint64_t *when = c->order + (uint64_t)set * c->ways, *tags = c->tags + (uint64_t)set * c->ways;
	uint32_t oldest = 0;

	for (uint32_t way = 0; way < c->ways; way++) {
		if (tags[way] == CACHE_EMPTY)
			return way;
		oldest = when[way] < when[oldest] ? way : oldest;
	}
	return oldest;
}

static uint32_t plru_victim(const struct cache *c, uint32_t set)
{
	uint32_t nr = leaves(c->ways), node = 1;

	while (node < nr)
		node = 2 * node + (c->order[set] >> (node - 1) & 1);
	return node - nr < c->ways ? node - nr : c->ways - 1;
}

static uint32_t qlru_victim(const struct cache *c, uint32_t set)
{
	uint64_t oldest = c->order[2ull * set] & c->order[2ull * set + 1] & all_ways(c);
	return oldest ? (uint32_t)__builtin_ctzll(oldest) : 0;
}

static uint32_t random_victim(struct cache *c)
{
	/* xorshift64 */
	c->clock ^= c->clock << 13;
	c->clock ^= c->clock >> 7;
	c->clock ^= c->clock << 17;
	return (uint32_t)((c->clock >> 32) * c->ways >> 32);
}

static uint32_t choose(struct cache *c, uint32_t set)
{
	const uint64_t *tags = c->tags + (uint64_t)set * c->ways;
	bool from_last = c->policy == REPLACE_QLRU;

	if (c->policy == REPLACE_LRU)
		return lru_victim(c, set);
	for (uint32_t i = 0; i < c->ways; i++) {
		uint32_t way = from_last ? c->ways - 1 - i : i;
		if (tags[way] == CACHE_EMPTY)
			return way;
	}
	switch (c->policy) {
	case REPLACE_LRU:
		break;
	case REPLACE_PLRU:
		return plru_victim(c, set);
	case REPLACE_QLRU:
		return qlru_victim(c, set);
	case REPLACE_RANDOM:
		return random_victim(c);
	}
	__builtin_unreachable();
}

uint64_t cache_insert(struct cache *c, uint64_t line, struct cache_victim *victim)
{
	uint32_t set = cache_set(c, line), way = choose(c, set);
	uint64_t at = (uint64_t)set * c->ways + way;

	victim->line = c->tags[at];
	victim->fill = c->lines[at].fill;
	victim->dirty = victim->line != CACHE_EMPTY && c->lines[at].dirty;
	c->tags[at] = line;
	c->lines[at] = (struct cache_line){ .from = LEVEL_NONE };
	if (c->policy == REPLACE_QLRU) {
		c->recent[set] = (uint8_t)way;
		qlru_age(c, set, way, 1);
	} else {
		cache_touch_slow(c, set, way);
	}
	return at;
}

void cache_drop(struct cache *c, uint64_t at)
{
	c->tags[at] = CACHE_EMPTY;
	c->lines[at].dirty = false;
}
