#include "core/predict/btb.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int btb_init(struct btb *b, uint32_t entries, uint32_t ways)
{
	b->ways = ways;
	b->sets = entries / ways;
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

const struct btb_entry *btb_find_slow(const struct btb *b, const struct btb_entry *set, uint64_t pc)
{
	for (uint32_t i = 1; i < b->ways; i++)
		if (set[i].pc == pc)
			return &set[i];
	return NULL;
}

/* Each moves to the place of the next one, up to where it stood, or over the last. */
void btb_put_slow(const struct btb *b, struct btb_entry *set, uint64_t pc, uint64_t target)
{
	struct btb_entry moved = { .pc = pc, .target = target };

	for (uint32_t i = 0; i < b->ways; i++) {
		struct btb_entry here = set[i];

		set[i] = moved;
		if (here.pc == pc)
			break;
		moved = here;
	}
}
