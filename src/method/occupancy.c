#include "method/occupancy.h"

#include <glib.h>
#include <string.h>

void occupancy_init(struct occupancy *o, const struct core_desc *desc, bool any_stall)
{
	*o = (struct occupancy){
		.any_stall = any_stall, .width = (uint32_t)desc->rename_width, .entries = (uint32_t)desc->rob_entries,
		.memory = cpi_memory_cycles(desc), .room = 256,
	};
	o->flights = g_new(struct flight, o->room);
}

void occupancy_fini(struct occupancy *o)
{
	g_free(o->flights);
}

void occupancy_grow(struct occupancy *o)
{
	struct flight *to = g_new(struct flight, 2 * o->room);

	for (uint64_t i = o->first; i < o->last; i++)
		to[i & (2 * o->room - 1)] = *occupancy_flight(o, i);
	g_free(o->flights);
	o->flights = to;
	o->room *= 2;
}

void occupancy_end(struct occupancy *o, uint64_t to)
{
	occupancy_pass(o, to, o->any_stall ? UINT32_MAX : o->entries - 1, false, false);
}

void occupancy_enter_doomed(struct occupancy *o, const struct timed *t)
{
	uint64_t end = timed_leave(t);
	struct doomed *top = o->nr_doomed ? &o->doomed[o->nr_doomed - 1] : NULL;

	o->occupied += t->slots;
	if (top && (top->leave == end || o->nr_doomed == OCCUPANCY_NESTED))
		top->slots += t->slots;
	else
		o->doomed[o->nr_doomed++] = (struct doomed){ end, t->slots };
}

const struct timed *occupancy_follow_doomed(struct occupancy *o, const struct timed *t, const struct timed *end, uint64_t *branches)
{
	uint64_t leave = o->nr_doomed ? o->doomed[o->nr_doomed - 1].leave : UINT64_MAX;
	uint32_t slots = 0;

	for (; t < end && t->flags & TIMED_WRONG; t++) {
		if (t->dispatch != TIMED_NEVER) {
			if (timed_dispatch(t) >= o->now || timed_leave(t) != leave)
				break;
			slots += t->slots;
		}
		*branches += t->flags & TIMED_BRANCH ? 1 : 0;
	}
	if (slots) {
		o->doomed[o->nr_doomed - 1].slots += slots;
		o->occupied += slots;
	}
	return t;
}
