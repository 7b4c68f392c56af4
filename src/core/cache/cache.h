/*
 * A set-associative array of lines with its replacement policy: what every level of the memory system is made of.
 *
 * Lines are named by number (physical address / line size). Each carries the cycle at which it is filled, so that
 * a line still on its way can be told from one that is there, and by whom it is sent. The array knows nothing of
 * time otherwise: lines are touched and replaced in the order of the calls, which is program order.
 *
 * Policies: lru; plru, a binary tree; qlru, two-bit ages as QLRU_H00_M1_R2_U1 (hit: age 0; new: age 1; victim: the
 * last empty way, else the leftmost of age 3; after each access the other ways age until one has age 3); random,
 * from a fixed sequence. But for qlru, the first empty way is filled first. Where ways are no power of two, a
 * tree's missing leaves stand for the last way.
 * Ref: Abel & Reineke, nanoBench (naming of the QLRU family, and its reference simulator).
 */
#ifndef CYCLEWISE_CORE_CACHE_CACHE_H
#define CYCLEWISE_CORE_CACHE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cache/divisor.h"
#include "record/timed.h"

enum replacement { REPLACE_LRU, REPLACE_PLRU, REPLACE_QLRU, REPLACE_RANDOM };

enum { CACHE_MAX_WAYS = 64 };

#define CACHE_EMPTY UINT64_MAX /* no line has this number */

struct cache_line {
	uint64_t fill;         /* cycle it is there */
	uint32_t wait;         /* cycles from the request that missed to the fill */
	uint8_t from;          /* enum level: who sends it */
	bool dirty;
};

struct cache {
	uint64_t *tags;        /* [sets][ways]: line number, or CACHE_EMPTY */
	struct cache_line *lines; /* [sets][ways] */
	uint8_t *recent;       /* [sets]: way touched last */
	uint32_t ways;
	enum replacement policy;
	struct divisor sets;
	/*
	 * lru: [sets][ways], the touch it was last; plru: [sets], the tree, bit n - 1 for node n, set where the right
	 * half is older; qlru: [sets][2], low and high bits of the ways' ages.
	 */
	uint64_t *order;
	uint64_t clock;        /* lru: the last touch; random: state of the sequence */
	uint64_t keep[CACHE_MAX_WAYS], point[CACHE_MAX_WAYS]; /* plru: a touch is tree & keep | point */
};

struct cache_victim {
	uint64_t line;         /* CACHE_EMPTY: none */
	uint64_t fill;
	bool dirty;
};

/* "lru", "plru", "qlru", "random". 0 or -EINVAL with the message set; `what` names the parameter. */
int replacement_parse(enum replacement *out, const char *name, const char *what);

/* sets > 0, 0 < ways <= CACHE_MAX_WAYS. 0 or -ENOMEM. */
int cache_init(struct cache *c, uint32_t sets, uint32_t ways, enum replacement policy);
void cache_fini(struct cache *c);

void cache_touch_slow(struct cache *c, uint32_t set, uint32_t way);
int64_t cache_find_slow(struct cache *c, uint64_t line, uint32_t set);

static inline uint32_t cache_set(const struct cache *c, uint64_t line)
{
	uint32_t set;
	divide(&c->sets, line, &set);
	return set;
}

/* Where `line` is, an index into lines[], or -1. Does not touch it. */
static inline int64_t cache_find(struct cache *c, uint64_t line)
{
	uint32_t set = cache_set(c, line);
	uint64_t at = (uint64_t)set * c->ways + c->recent[set];

	if (__builtin_expect(c->tags[at] == line, 1))
		return (int64_t)at;
	return cache_find_slow(c, line, set);
}

/* A hit in that way counts for the replacement policy. */
static inline void cache_touch(struct cache *c, uint32_t set, uint32_t way)
{
	/* To touch again what was touched last changes nothing, but where a new line's age differs from a hit's. */
	if (__builtin_expect(c->recent[set] != way || c->policy == REPLACE_QLRU, 0))
		cache_touch_slow(c, set, way);
}

/* Both: a hit counts. */
static inline int64_t cache_access(struct cache *c, uint64_t line)
{
	uint32_t set = cache_set(c, line);
	uint64_t at = (uint64_t)set * c->ways + c->recent[set];

	/* As cache_touch(). */
	if (__builtin_expect(c->tags[at] == line && c->policy != REPLACE_QLRU, 1))
		return (int64_t)at;
	int64_t found = cache_find_slow(c, line, set);
	if (found >= 0)
		cache_touch_slow(c, set, (uint32_t)((uint64_t)found - (uint64_t)set * c->ways));
	return found;
}

/*
 * Puts `line`, which is absent, in place of the policy's victim, and touches it; returns where. Its state is all
 * zero.
 */
uint64_t cache_insert(struct cache *c, uint64_t line, struct cache_victim *victim);

/* The line is gone; its way is the first to be filled. */
void cache_drop(struct cache *c, uint64_t at);

#endif
