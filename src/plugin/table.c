#include "plugin/table.h"

#include <stdlib.h>

static size_t place(const struct table *t, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (t->size - 1);
}

struct table_slot *table_find(const struct table *t, uint64_t key, const struct table_slot *from)
{
	if (!t->size)
		return NULL;
	size_t i = from ? (size_t)(from - t->slot) + 1 : place(t, key);
	for (i &= t->size - 1; t->slot[i].used; i = (i + 1) & (t->size - 1))
		if (t->slot[i].key == key)
			return &t->slot[i];
	return NULL;
}

static void put(struct table *t, uint64_t key, uint64_t value)
{
	size_t i = place(t, key);
	while (t->slot[i].used)
		i = (i + 1) & (t->size - 1);
	t->slot[i] = (struct table_slot){ key, value, true };
	t->nr++;
}

bool table_add(struct table *t, uint64_t key, uint64_t value)
{
	if (2 * (t->nr + 1) > t->size) {
		struct table bigger = { .size = t->size ? 2 * t->size : 1024 };
		bigger.slot = calloc(bigger.size, sizeof *bigger.slot);
		if (!bigger.slot)
			return false;
		for (size_t i = 0; i < t->size; i++)
			if (t->slot[i].used)
				put(&bigger, t->slot[i].key, t->slot[i].value);
		free(t->slot);
		*t = bigger;
	}
	put(t, key, value);
	return true;
}

void table_fini(struct table *t)
{
	free(t->slot);
	*t = (struct table){ 0 };
}
