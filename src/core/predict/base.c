#include "core/predict/base.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/predict/counter.h"

int base_init(struct base *b, uint32_t entries, unsigned shift)
{
	assert(entries && !(entries & (entries - 1)) && entries >> shift);
	b->direction = calloc(entries, 1);
	b->sure = calloc(entries >> shift, 1);
	b->mask = entries - 1;
	b->shift = shift;
	return b->direction && b->sure ? 0 : -ENOMEM;
}

void base_fini(struct base *b)
{
	free(b->direction);
	free(b->sure);
}

int gshare_init(struct gshare *g, uint32_t entries)
{
	int ret = base_init(&g->bimodal, entries, 0);

	g->counter = calloc(entries, 1);
	g->chooser = calloc(entries, 1);
	g->mask = entries - 1;
	if (ret || !g->counter || !g->chooser)
		return -ENOMEM;
	for (uint32_t i = 0; i < entries; i++)
		g->counter[i] = g->chooser[i] = 1;
	return 0;
}

void gshare_fini(struct gshare *g)
{
	base_fini(&g->bimodal);
	free(g->counter);
	free(g->chooser);
}

static void step(uint8_t *c, bool up)
{
	if (up)
		counter_up(c, 3);
	else
		counter_down(c);
}

void gshare_train(struct gshare *g, uint64_t pc, const struct gshare_lookup *l, bool taken)
{
	if (l->bimodal != l->gshare)
		step(&g->chooser[pc & g->mask], l->gshare == taken);
	step(&g->counter[l->index], taken);
	base_train(&g->bimodal, pc, taken);
}
