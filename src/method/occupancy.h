/*
 * What counters at the reorder buffer see of a thread's stream: whether it is full, and who blocks its head.
 *
 * While the ROB is full a cycle belongs to what blocks its head, if that is a miss or a long-latency instruction. In
 * all other counted cycles counters of the front end may run: `on` says how many there were. Records come in the order
 * in which they dispatch; what is asked of the cycles before a record dispatches (occupancy_go_on()) is asked before it
 * enters. The cycle in which one does is accounted for when the next comes, since who else enters in it, and who does
 * not, decides whether it was full.
 *
 * The paper leaves open, and here it is so:
 *  - The ROB is full in a cycle at whose end it has not room for the next to dispatch (or for as much of it as can in
 *  one
 *    cycle), as SimpleScalar counts it. Entries are held from dispatch to commit or squash, those cycles included.
 *  - A head that missed in several ways counts as L2 miss before L1 miss before long latency. One that missed the TLB,
 *  too,
 *    counts as that until its walk ends: for an L2 miss, until the latency of memory before its data came.
 *  - In counted windows a cycle that is shared with uncounted instructions is not counted.
 * A variant takes the ROB for full in every cycle in which the next to dispatch is there and does not, for whatever
 * reason.
 * Ref: Eyerman et al., ASPLOS 2006, §3.3.2, §4.2, §4.3.
 */
#ifndef CYCLEWISE_METHOD_OCCUPANCY_H
#define CYCLEWISE_METHOD_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "method/cpi.h"

/*
 * Who is, or will be, at the ROB's head: what commits, and flushers that are squashed there. All that leave in one
 * cycle are one entry, as only the oldest of them is ever asked what it waits for.
 */
struct flight {
	uint64_t leave;
	uint64_t walked;               /* blames the data TLB before this cycle */
	uint32_t slots;                /* held until then by those that commit */
	uint16_t flags, every;         /* enum timed_flags: of the oldest; what all of them have */
	uint8_t blames;                /* enum cpi of a full ROB behind it, from then on */
};

/* Slots of what is to be squashed in one cycle. */
struct doomed { uint64_t leave; uint32_t slots; };

enum { OCCUPANCY_NESTED = 8 };

/* Invariant: cycles before `now` are accounted for; all that dispatched up to `now` is in the ROB or has left. */
struct occupancy {
	uint64_t cycles[NR_CPI];       /* in which the ROB was full, by whom its head blames */
	uint64_t now;
	uint64_t on;                   /* counted cycles before `now` in which it was not */
	uint64_t behind;               /* the cycle behind that of the last dispatch */
	bool any_stall;                /* the variant */
	uint32_t width, entries;
	uint32_t occupied;             /* slots in the ROB */
	uint32_t nr_doomed;
	struct doomed doomed[OCCUPANCY_NESTED]; /* innermost last, which leaves first */
	uint64_t squashed;             /* after the last squash by a squashed flusher */
	uint64_t memory;               /* cycles: the latency of what misses the last level */
	struct flight *flights;        /* [room], ring: dispatched and not left, in order */
	uint64_t first, last, room;
	uint64_t newest;               /* `leave` of the last flight; NO_FLIGHT: there is none */
};

#define NO_FLIGHT UINT64_MAX

void occupancy_init(struct occupancy *o, const struct core_desc *desc, bool any_stall);
void occupancy_fini(struct occupancy *o);
/* Doubles the ring. */
void occupancy_grow(struct occupancy *o);

static inline struct flight *occupancy_flight(const struct occupancy *o, uint64_t i)
{
	return &o->flights[i & (o->room - 1)];
}

/* A record that is to be squashed enters. */
void occupancy_enter_doomed(struct occupancy *o, const struct timed *t);

/*
 * On to the cycle `to`. Full is a ROB with more than `room` slots taken, or any where dispatch is `stuck`; `counted`:
 * what cycles are while it is empty.
 */
void occupancy_pass(struct occupancy *o, uint64_t to, uint32_t room, bool stuck, bool counted);

/* On to the cycle `to`, at most that in which t, the next to do so, dispatches. */
static inline void occupancy_go_on(struct occupancy *o, uint64_t to, const struct timed *t)
{
	bool counted = t->flags & TIMED_COUNTED;

	if (o->now >= to)
		return;
	if (__builtin_expect(o->any_stall, 0)) {
		uint64_t avail = t->fetch + t->avail, from = avail > o->behind ? avail : o->behind;
		if (o->now < from)
			occupancy_pass(o, from < to ? from : to, UINT32_MAX, false, counted);
		occupancy_pass(o, to, UINT32_MAX, true, counted);
		return;
	}
	uint32_t slots = t->slots < o->width ? t->slots : o->width;
	occupancy_pass(o, to, o->entries > slots ? o->entries - slots : 0, false, counted);
}

/* The first cycle in which nothing has dispatched that is not accounted for. */
static inline uint64_t occupancy_idle(const struct occupancy *o)
{
	return o->behind > o->now ? o->behind : o->now;
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

/* t, to leave in the cycle `leave`, behind those that leave in others. */
static inline void occupancy_append(struct occupancy *o, const struct timed *t, uint64_t leave, uint32_t slots)
{
	uint8_t blames = t->flags & TIMED_LONG ? CPI_LONG_LATENCY : CPI_BASE;
	uint64_t walked = 0;

	if (__builtin_expect(t->psv & (PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC), 0)) {
		uint64_t data = t->fetch + t->drain;
		blames = (uint8_t)cpi_blames(t->psv, t->flags);
		if ((t->psv & (PSV_ST_TLB | PSV_ST_LLC)) == (PSV_ST_TLB | PSV_ST_LLC))
			walked = data > o->memory ? data - o->memory : 0;
	}
	if (__builtin_expect(o->last - o->first == o->room, 0))
		occupancy_grow(o);
	struct flight *f = occupancy_flight(o, o->last++);
	f->leave = leave;
	f->walked = walked;
	f->slots = slots;
	f->flags = f->every = t->flags;
	f->blames = blames;
	o->newest = leave;
}

static inline void occupancy_push(struct occupancy *o, const struct timed *t, uint32_t slots)
{
	uint64_t leave = timed_leave(t);

	o->occupied += slots;
	if (leave == o->newest) {
		struct flight *f = occupancy_flight(o, o->last - 1);
		f->slots += slots;
		f->every &= t->flags;
	} else {
		occupancy_append(o, t, leave, slots);
	}
}

/* To the cycle in which t, the next to do so, dispatches, the first in it. */
static inline void occupancy_reach(struct occupancy *o, uint64_t cycle, const struct timed *t)
{
	occupancy_go_on(o, cycle, t);
	o->behind = cycle + 1;
}

/* The same; it enters. */
static inline void occupancy_dispatch(struct occupancy *o, const struct timed *t)
{
	uint64_t cycle = timed_dispatch(t);
	bool commits = timed_commits(t);

	if (o->behind <= cycle)
		occupancy_reach(o, cycle, t);
	if (!commits)
		occupancy_enter_doomed(o, t);
	if (!(t->flags & TIMED_WRONG) && occupancy_is_head(o, t))
		occupancy_push(o, t, commits ? t->slots : 0);
}

static inline bool occupancy_missed(const struct timed *t) { return t->icache_stall | t->itlb_stall; }

/*
 * Records from t to `end` that commit, are no branches and missed nothing in the front end, dispatch; the first that is
 * not so.
 */
static inline const struct timed *occupancy_follow_plain(struct occupancy *o, const struct timed *t,
                                                         const struct timed *end)
{
	const uint16_t special = TIMED_WRONG | TIMED_SQUASHED | TIMED_BRANCH | TIMED_MISPREDICT;

	for (; t < end && !(t->flags & special) && !occupancy_missed(t); t++) {
		uint64_t cycle = timed_dispatch(t);

		if (o->behind <= cycle)
			occupancy_reach(o, cycle, t);
		occupancy_push(o, t, t->slots);
	}
	return t;
}

/* The stream has ended: on to the cycle `to`. */
void occupancy_end(struct occupancy *o, uint64_t to);

/*
 * Wrong-path records from t to `end` that missed nothing in the front end dispatch, or never do; the first that is not
 * so. *branches grows by the branches among them.
 */
const struct timed *occupancy_follow_doomed(struct occupancy *o, const struct timed *t, const struct timed *end,
                                            uint64_t *branches);

#endif
