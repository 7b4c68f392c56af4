/*
 * A hash table from 64-bit keys to 64-bit values. Unlike GLib's it reports that memory ran out instead of ending the
 * process: the emulator goes on without being followed. A key may be there several times.
 */
#ifndef CYCLEWISE_PLUGIN_TABLE_H
#define CYCLEWISE_PLUGIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key, value;
	bool used;
};

/* All zero is an empty table. */
struct table {
	struct table_slot *slot;         /* [size], open addressing, at most half full */
	size_t nr, size;                 /* size: 0 or a power of two */
};

/* The next slot with `key` after `from` (NULL: the first); NULL: no more. Valid until table_add(). */
struct table_slot *table_find(const struct table *t, uint64_t key, const struct table_slot *from);
/* False: out of memory, nothing changed. */
bool table_add(struct table *t, uint64_t key, uint64_t value);
void table_fini(struct table *t);

#endif
