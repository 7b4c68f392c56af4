#include "method/inflight.h"

#include <glib.h>

enum { FIRST_ROOM = 256 };

static void growth_init(struct growth *g)
{
	*g = (struct growth){ .room = FIRST_ROOM, .newest = GROWTH_NEVER };
	g->mark = g_new(struct growth_mark, g->room);
}

void inflight_init(struct inflight *f)
{
	growth_init(&f->slots);
	growth_init(&f->retired);
	f->fetch = f->dispatched = f->left = 0;
	f->first = f->last = 0;
	f->room = FIRST_ROOM;
	f->path = g_new(struct flight_path, f->room);
}

void inflight_fini(struct inflight *f)
{
	g_free(f->slots.mark);
	g_free(f->retired.mark);
	g_free(f->path);
	f->slots.mark = f->retired.mark = NULL;
	f->path = NULL;
}

void growth_grow(struct growth *g)
{
	struct growth_mark *to = g_new(struct growth_mark, 2 * g->room);

	for (uint64_t i = g->first; i < g->last; i++)
		to[i & (2 * g->room - 1)] = g->mark[i & (g->room - 1)];
	g_free(g->mark);
	g->mark = to;
	g->room *= 2;
}

void inflight_grow(struct inflight *f)
{
	struct flight_path *to = g_new(struct flight_path, 2 * f->room);

	for (uint64_t i = f->first; i < f->last; i++)
		to[i & (2 * f->room - 1)] = f->path[i & (f->room - 1)];
	g_free(f->path);
	f->path = to;
	f->room *= 2;
}
