#include "isa/index.h"

#include <glib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 14 };

void index_init(struct index *x)
{
	x->slots = g_malloc(FIRST_SLOTS * sizeof *x->slots);
	memset(x->slots, 0xff, FIRST_SLOTS * sizeof *x->slots);
	x->mask = FIRST_SLOTS - 1;
	x->used = 0;
}

void index_fini(struct index *x)
{
	g_free(x->slots);
	x->slots = NULL;
}

void index_grow(struct index *x, uint64_t (*hash_of)(const void *ctx, uint32_t entry), const void *ctx)
{
	uint32_t *old = x->slots, nr_old = x->mask + 1;

	x->mask = nr_old * 2 - 1;
	x->slots = g_malloc((size_t)nr_old * 2 * sizeof *x->slots);
	memset(x->slots, 0xff, (size_t)nr_old * 2 * sizeof *x->slots);
	for (uint32_t i = 0; i < nr_old; i++) {
		if (old[i] == INDEX_FREE)
			continue;
		uint32_t at = (uint32_t)hash_of(ctx, old[i]) & x->mask;
		while (x->slots[at] != INDEX_FREE)
			at = (at + 1) & x->mask;
		x->slots[at] = old[i];
	}
	g_free(old);
}

void index_remove(struct index *x, uint32_t at, uint64_t (*hash_of)(const void *ctx, uint32_t entry), const void *ctx)
{
	uint32_t hole = at;

	for (uint32_t i = (at + 1) & x->mask; x->slots[i] != INDEX_FREE; i = (i + 1) & x->mask) {
		uint32_t home = (uint32_t)hash_of(ctx, x->slots[i]) & x->mask;
		if (((i - home) & x->mask) < ((i - hole) & x->mask))
			continue;
		x->slots[hole] = x->slots[i];
		hole = i;
	}
	x->slots[hole] = INDEX_FREE;
	x->used--;
}
