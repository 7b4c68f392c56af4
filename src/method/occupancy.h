/*
 * What counters at the reorder buffer see of a thread's stream: whether it is full, and who blocks its head.
 *
 * While the ROB is full a cycle belongs to what blocks its head, if that is a miss or a long-latency instruction. In all other
 * counted cycles counters of the front end may run: `on` says how many there were. Records come in the order in which they
 * dispatch; what is asked of the cycles before a record dispatches (occupancy_go_on()) is asked before it enters.
 *
 * The paper leaves open, and here it is so:
 *  - The ROB is full in a cycle in which nothing dispatches, if what it held before has not room for the next
 *    to dispatch (or for as much of it as can in one cycle). Entries are held from dispatch to commit or squash.
 *  - A head that missed in several ways counts as L2 miss before L1 miss before long latency. One that missed the TLB, too,
 *    counts as that until its walk ends: for an L2 miss, until the latency of memory before its data came.
 *  - In counted windows a cycle that is shared with uncounted instructions is not counted.
 * A variant takes the ROB for full in every cycle in which the next to dispatch is there and does not, for whatever reason.
 * Ref: Eyerman et al., ASPLOS 2006, §3.3.2, §4.2, §4.3.
 */
#ifndef CYCLEWISE_METHOD_OCCUPANCY_H
#define CYCLEWISE_METHOD_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "method/cpi.h"

/* Who is, or will be, at the ROB's head: what commits, and flushers that are squashed there. */
struct flight {
	uint64_t leave;
	uint64_t walked;               /* blames the data TLB before this cycle */
	uint32_t slots;                /* held until then by what commits */
	uint8_t blames;                /* enum cpi of a full ROB behind it, from then on */
	bool counted;
};

/* Slots of what is to be squashed in one cycle. */
struct doomed { uint64_t leave; uint32_t slots; };

enum { OCCUPANCY_NESTED = 8 };

/* Invariant: cycles before `now` are accounted for; all that dispatched before is in the ROB or has left. */
struct occupancy {
	uint64_t cycles[NR_CPI];       /* in which the ROB was full, by whom its head blames */
	uint64_t now;
	uint64_t on;                   /* counted cycles before `now` in which it was not */
	bool last_on;                  /* the cycle now - 1 is one of them */
	bool any_stall;                /* the variant */
	uint32_t width, entries;
	uint32_t occupied;             /* slots in the ROB */
	uint32_t nr_doomed;
	struct doomed doomed[OCCUPANCY_NESTED]; /* innermost last, which leaves first */
	uint64_t squashed;             /* after the last squash by a squashed flusher */
	uint64_t memory;               /* cycles: the latency of what misses the last level */
	struct flight *flights;        /* [room], ring: dispatched and not left, in order */
	uint64_t first, last, room;
};

void occupancy_init(struct occupancy *o, const struct core_desc *desc, bool any_stall);
void occupancy_fini(struct occupancy *o);
/* Doubles the ring. */
void occupancy_grow(struct occupancy *o);
/* A record that is to be squashed dispatches. */
void occupancy_enter_doomed(struct occupancy *o, const struct timed *t);

/* The front end's cycles up to, and without, the one in which the last record dispatched. */
static inline uint64_t occupancy_on_at_dispatch(const struct occupancy *o)
{
	return o->on - o->last_on;
}

static inline struct flight *occupancy_flight(const struct occupancy *o, uint64_t i)
{
	return &o->flights[i & (o->room - 1)];
}

/* Those that leave in the cycle `now`, and what was squashed behind them before; whether all that leave now are counted. */
static inline bool occupancy_leave(struct occupancy *o)
{
	bool counted = true;

	do {
		const struct flight *f = occupancy_flight(o, o->first);
		if (f->leave > o->now)
			break;
		counted &= f->counted || f->leave < o->now;
		o->occupied -= f->slots;
	} while (++o->first < o->last);
	return counted;
}

/*
 * On to the cycle `to`. Full is a ROB with more than `room` slots taken, or any where dispatch is `stuck`; `counted`: what
 * cycles are while it is empty.
 */
static inline void occupancy_pass(struct occupancy *o, uint64_t to, uint32_t room, bool stuck, bool counted)
{
	while (o->now < to) {
		uint64_t next = to;

		/* Of those that left before, only squashed ones are there: what commits goes in the cycle it does. */
		while (__builtin_expect(o->nr_doomed && o->doomed[o->nr_doomed - 1].leave < o->now, 0))
			o->occupied -= o->doomed[--o->nr_doomed].slots;
		bool counts = counted, full = stuck || o->occupied > room;
		if (o->first < o->last) {
			const struct flight *head = occupancy_flight(o, o->first);
			if (head->leave == o->now) {
				next = o->now + 1;
				counts = occupancy_leave(o);
			} else if (__builtin_expect(head->leave < o->now, 0)) {
				occupancy_leave(o);    /* as soon as it dispatched */
				continue;
			} else {
				next = next < head->leave ? next : head->leave;
				counts = head->counted;
				if (__builtin_expect(o->nr_doomed && o->doomed[o->nr_doomed - 1].leave < next, 0))
					next = o->doomed[o->nr_doomed - 1].leave + 1;
				if (full && counts) {
					bool walks = o->now < head->walked;
					next = walks && next > head->walked ? head->walked : next;
					o->cycles[walks ? CPI_DTLB : head->blames] += next - o->now;
				}
			}
		} else if (o->nr_doomed && o->doomed[o->nr_doomed - 1].leave < next) {
			next = o->doomed[o->nr_doomed - 1].leave + 1;
		}
		o->last_on = counts && !full;
		o->on += o->last_on ? next - o->now : 0;
		o->now = next;
	}
}

/* On to the cycle `to`, at most that in which t, the next to do so, dispatches. */
static inline void occupancy_go_on(struct occupancy *o, uint64_t to, const struct timed *t)
{
	bool counted = t->flags & TIMED_COUNTED;

	if (o->now >= to)
		return;
	if (__builtin_expect(o->any_stall, 0)) {
		uint64_t avail = t->fetch + t->avail;
		occupancy_pass(o, avail < to ? avail : to, UINT32_MAX, false, counted);
		occupancy_pass(o, to, UINT32_MAX, true, counted);
		return;
	}
	uint32_t slots = t->slots < o->width ? t->slots : o->width;
	occupancy_pass(o, to, o->entries > slots ? o->entries - slots : 0, false, counted);
}

/* Cycles so far in which long misses were to blame for a full ROB. */
static inline uint64_t occupancy_long(const struct occupancy *o)
{
	return o->cycles[CPI_L2D] + o->cycles[CPI_DTLB];
}

/* Of those cycles, the ones in which front-end counters are on. */
static inline uint64_t occupancy_on_until(struct occupancy *o, uint64_t to, const struct timed *t)
{
	uint64_t before = o->on;

	occupancy_go_on(o, to, t);
	return o->on - before;
}

/* A flusher squashed with an older one is not at the head. */
static inline bool occupancy_is_head(struct occupancy *o, const struct timed *t)
{
	if (!(t->flags & TIMED_SQUASHED))
		return true;
	if (!(t->flags & TIMED_FLUSHER) || timed_leave(t) + 1 <= o->squashed)
		return false;
	o->squashed = timed_leave(t) + 1;
	return true;
}

static inline void occupancy_push(struct occupancy *o, const struct timed *t, bool commits)
{
	struct flight f = { .leave = timed_leave(t), .slots = commits ? t->slots : 0, .blames = cpi_blames(t->psv, t->flags),
	                    .counted = t->flags & TIMED_COUNTED };

	if (__builtin_expect((t->psv & (PSV_ST_TLB | PSV_ST_LLC)) == (PSV_ST_TLB | PSV_ST_LLC), 0)) {
		uint64_t data = t->fetch + t->drain;
		f.walked = data > o->memory ? data - o->memory : 0;
	}
	if (__builtin_expect(o->last - o->first == o->room, 0))
		occupancy_grow(o);
	o->occupied += f.slots;
	*occupancy_flight(o, o->last++) = f;
}

/* To the cycle in which t dispatches, included; it enters. */
static inline void occupancy_dispatch(struct occupancy *o, const struct timed *t)
{
	uint64_t cycle = timed_dispatch(t);
	bool commits = timed_commits(t);

	if (o->now <= cycle) {
		occupancy_go_on(o, cycle, t);
		occupancy_pass(o, cycle + 1, UINT32_MAX, false, t->flags & TIMED_COUNTED);
	}
	if (!commits)
		occupancy_enter_doomed(o, t);
	if (!(t->flags & TIMED_WRONG) && occupancy_is_head(o, t))
		occupancy_push(o, t, commits);
}

/* The stream has ended: on to the cycle `to`. */
void occupancy_end(struct occupancy *o, uint64_t to);

/*
 * Wrong-path records from t to `end` that enter with the one before, for the same squash, or never do; the first that is not
 * so. *branches grows by the branches among them.
 */
const struct timed *occupancy_follow_doomed(struct occupancy *o, const struct timed *t, const struct timed *end, uint64_t *branches);

#endif
