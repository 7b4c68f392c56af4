#include "method/occupancy.h"

#include <glib.h>
#include <string.h>

void occupancy_init(struct occupancy *o, const struct core_desc *desc, bool any_stall)
{
	*o = (struct occupancy){
		.any_stall = any_stall, .width = (uint32_t)desc->rename_width, .entries = (uint32_t)desc->rob_entries,
		.memory = cpi_memory_cycles(desc), .room = 256, .newest = NO_FLIGHT,
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

/*
 * Those that leave in the cycle `now`, and what was squashed behind them before; whether all that leave now are
 * counted.
 */
static inline bool leave(struct occupancy *o, uint64_t now)
{
	bool counted = true;

	do {
		const struct flight *f = occupancy_flight(o, o->first);
		if (f->leave > now)
			break;
		counted &= f->every & TIMED_COUNTED || f->leave < now;
		o->occupied -= f->slots;
	} while (++o->first < o->last);
	o->newest = o->first < o->last ? o->newest : NO_FLIGHT;
	return counted;
}

/* The first cycle, not after `next`, after the next squash. */
static inline uint64_t before_squash(const struct occupancy *o, uint64_t next)
{
	if (__builtin_expect(!o->nr_doomed, 1))
		return next;
	uint64_t squash = o->doomed[o->nr_doomed - 1].leave;
	return squash < next ? squash + 1 : next;
}

void occupancy_pass(struct occupancy *o, uint64_t to, uint32_t room, bool stuck, bool counted)
{
	uint64_t now = o->now, on = o->on;

	while (now < to) {
		uint64_t next;

		/* Of those that left before, only squashed ones are there: what commits goes in the cycle it does. */
		while (__builtin_expect(o->nr_doomed && o->doomed[o->nr_doomed - 1].leave < now, 0))
			o->occupied -= o->doomed[--o->nr_doomed].slots;
		bool counts = counted, full = stuck || o->occupied > room;
		if (o->first < o->last) {
			const struct flight *head = occupancy_flight(o, o->first);
			if (head->leave == now) {
				next = now + 1;
				counts = leave(o, now);
			} else if (__builtin_expect(head->leave < now, 0)) {
				leave(o, now);         /* as soon as it dispatched */
				continue;
			} else {
				next = before_squash(o, to < head->leave ? to : head->leave);
				counts = head->flags & TIMED_COUNTED;
				if (full && counts) {
					bool walks = now < head->walked;
					next = walks && next > head->walked ? head->walked : next;
					o->cycles[walks ? CPI_DTLB : head->blames] += next - now;
				}
			}
		} else {
			next = before_squash(o, to);
		}
		on += counts && !full ? next - now : 0;
		now = next;
	}
	o->now = now;
	o->on = on;
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

const struct timed *occupancy_follow_doomed(struct occupancy *o, const struct timed *t, const struct timed *end,
                                            uint64_t *branches)
{
	uint64_t nr = 0;

	for (; t < end && t->flags & TIMED_WRONG && !occupancy_missed(t); t++) {
		nr += t->flags & TIMED_BRANCH;
		if (t->dispatch == TIMED_NEVER)
			continue;
		uint64_t cycle = timed_dispatch(t);
		if (o->behind <= cycle)
			occupancy_reach(o, cycle, t);
		if (o->nr_doomed && o->doomed[o->nr_doomed - 1].leave == timed_leave(t)) {
			o->doomed[o->nr_doomed - 1].slots += t->slots;
			o->occupied += t->slots;
		} else {
			occupancy_enter_doomed(o, t);
		}
	}
	*branches += nr / TIMED_BRANCH;
	return t;
}
