#include "core/btb.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int btb_init(struct btb *b, uint32_t entries, uint32_t ways, unsigned shift)
{
	b->ways = ways;
	b->sets = entries / ways;
	b->shift = shift;
	assert(!(b->sets & (b->sets - 1)));
	if (!b->sets)
		return 0;
	b->entry = calloc((size_t)b->sets * ways, sizeof *b->entry);
	return b->entry ? 0 : -ENOMEM;
}

void btb_fini(struct btb *b)
{
	free(b->entry);
}

static struct btb_entry *set_of(const struct btb *b, uint64_t pc)
{
	return &b->entry[(size_t)((pc >> b->shift) & (b->sets - 1)) * b->ways];
}

const struct btb_entry *btb_find(const struct btb *b, uint64_t pc)
{
	if (!b->sets)
		return NULL;
	const struct btb_entry *set = set_of(b, pc);

	for (uint32_t i = 0; i < b->ways; i++)
		if (set[i].pc == pc)
			return &set[i];
	return NULL;
}

void btb_put(struct btb *b, uint64_t pc, uint64_t target)
{
	if (!b->sets)
		return;
	struct btb_entry *set = set_of(b, pc);
	uint32_t i = 0;

	if (set[0].pc == pc) {
		set[0].target = target;
		return;
	}
	while (i < b->ways - 1 && set[i].pc != pc)
		i++;
	memmove(set + 1, set, i * sizeof *set);
	set[0] = (struct btb_entry){ .pc = pc, .target = target };
}
