#include "method/inflight.h"

#include <glib.h>

void inflight_init(struct inflight *f)
{
	*f = (struct inflight){ .room = 1024 };
	f->path = g_new(struct flight_path, f->room);
}

void inflight_fini(struct inflight *f)
{
	g_free(f->path);
	f->path = NULL;
}

void inflight_grow(struct inflight *f)
{
	f->first = MIN(MIN(f->done, f->left_end), MIN(f->at_fetch, f->left_fetch));
	if (f->last - f->first < f->room)
		return;
	struct flight_path *to = g_new(struct flight_path, 2 * f->room);

	for (uint64_t i = f->first; i < f->last; i++)
		to[i & (2 * f->room - 1)] = f->path[i & (f->room - 1)];
	g_free(f->path);
	f->path = to;
	f->room *= 2;
}
