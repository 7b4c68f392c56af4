/*
 * From overlapping ranges with priorities to a map in which each address has one owner.
 *
 * Symbols, inlined scopes and perf maps all nest or overlap; each says which of two ranges wins, and lookups
 * want a binary search. This does the flattening once.
 */
#ifndef CYCLEWISE_SYMBOL_INTERVAL_H
#define CYCLEWISE_SYMBOL_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#define INTERVAL_NONE UINT32_MAX

struct interval {
	uint64_t start, end;       /* [start, end); empty ones are ignored */
	uint32_t id;               /* the caller's; not INTERVAL_NONE */
	uint32_t priority;         /* at each address the highest wins; among equals the one given last */
};

/* Disjoint, ascending, none empty; neighbours of one owner that touch are one. */
struct interval_map {
	struct interval *at;       /* [nr]; priority as it was given */
	size_t nr;
};

void interval_map_init(struct interval_map *map, const struct interval *given, size_t nr);
void interval_map_fini(struct interval_map *map);

/* The interval that holds `address`; NULL: none. */
static inline const struct interval *interval_map_find(const struct interval_map *map, uint64_t address)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->nr && map->at[low].start <= address ? &map->at[low] : NULL;
}

#endif
