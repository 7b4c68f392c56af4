#include "method/slot_order.h"

#include <glib.h>

void slot_order_init(struct slot_order *o, const struct run *run)
{
	o->width = (uint32_t)run->desc->rename_width;
	g_assert(o->width <= SLOT_WIDTH);
	o->regions = run->regions;
}

void slot_lane_init(struct slot_lane *l, const struct slot_order *o, uint32_t thread)
{
	l->thread = thread;
	l->nr = o->width;              /* so many went before cycle 0, as it were */
}

void slot_edge_push(struct slot_lane *l, uint32_t region, bool begins)
{
	l->edge[l->nr_edges++ % SLOT_EDGES] = (struct slot_edge){ l->cycle, region, begins, l->counting };
	l->last_edge = l->cycle;
}

void slot_window(struct slot_lane *l)
{
	slot_edge_push(l, SLOT_WINDOW, !l->counting);
	l->counting = !l->counting;
}

uint32_t slot_first_edge(const struct slot_lane *l, uint64_t from)
{
	uint32_t first = l->nr_edges;

	while (first > 0 && l->nr_edges - first < SLOT_EDGES && l->edge[(first - 1) % SLOT_EDGES].cycle > from)
		first--;
	return first;
}

void slot_flushed(struct slot_lane *l, const struct timed *t)
{
	bool branch = t->flags & TIMED_MISPREDICT;
	uint64_t cycle = branch && t->complete != TIMED_NEVER ? t->fetch + t->complete : timed_leave(t);

	if (l->nr_flushes < SLOT_FLUSHES)
		l->flush[l->nr_flushes++] = (struct slot_flush){ cycle, branch };
}

void slot_recovered(struct slot_lane *l, const struct timed *t)
{
	uint32_t n = 0;

	if (t->flags & TIMED_SQUASHED)
		for (uint32_t i = 0; i < l->nr_flushes; i++)
			if (l->flush[i].cycle > t->fetch)
				l->flush[n++] = l->flush[i];
	l->nr_flushes = n;
}

const struct slot_flush *slot_first_flush(const struct slot_lane *l)
{
	const struct slot_flush *first = NULL;

	for (uint32_t i = 0; i < l->nr_flushes; i++)
		if (!first || l->flush[i].cycle < first->cycle)
			first = &l->flush[i];
	return first;
}
