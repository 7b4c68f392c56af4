/*
 * CPI stack by the front-end miss event table (FMT) of Eyerman et al.: of each cycle that the core lost, which miss
 * event is to blame, as counters in hardware could tell.
 *
 * The table has a row for each branch in flight. A row's instruction-side counters count the cycles in which fetch
 * delivered nothing because of a miss between the branch before and this one; they are added up when the branch
 * commits, so that what was fetched on a wrong path is not. Its penalty counter counts the cycles from its dispatch
 * on; it is added if the branch turns out mispredicted, and so is every cycle from then until the first
 * right-path instruction enters the ROB. Since a timed record already says whether its branch commits, the rows here
 * are three sums since the last committed branch, and the penalty is the number of such cycles from one dispatch to
 * another; tests compare with the table itself.
 *
 * The shared table (sFMT) has one set of instruction-side counters for all branches, and in each ROB entry a bit for an
 * instruction that missed: the first of them to commit adds the counters up and clears all bits, a mispredicted branch
 * that commits clears the counters. So misses on a wrong path are counted if an older miss commits before their branch, and
 * then twice, as they are in the branch's penalty, too. It is the same machine with that in place of the rows.
 *
 * While the ROB is full a cycle belongs to what blocks its head, if that is a miss or a long-latency instruction, and
 * to no front-end counter (§3.3.2, §4.2, §4.3). "L2" is the last level before memory. What is left is the base.
 *
 * The paper leaves open, and here it is so:
 *  - No cycle is counted twice. After a misprediction, cycles in which the first right-path instruction itself
 *    missed belong to that miss; otherwise the branch penalty comes before later instructions' misses.
 *  - A head that missed in several ways counts as L2 miss before TLB miss before L1 miss before long latency.
 *  - The ROB is full in a cycle in which nothing dispatches, if what it held before has not room for the next
 *    to dispatch (or for as much of it as can in one cycle). Entries are held from dispatch to commit or squash.
 *  - Misses after the last branch of the run, and those of squashed attempts, are in the base.
 *  - In counted windows a cycle that is shared with uncounted instructions is in the base.
 * On a core whose schedulers or store queue fill before the ROB does, back-end misses are in the base too: so it
 * is with the paper's counters. Beside them is a variant, FMT-dispatch, for which the ROB counts as full in every cycle in
 * which the next to dispatch is there and does not, for whatever reason; what waits and is squashed before it dispatched
 * does not count.
 * Ref: Eyerman et al., "A performance counter architecture for computing accurate CPI components", ASPLOS 2006, §4.
 */
#include <glib.h>
#include <string.h>

#include "method/cpi.h"
#include "method/feed.h"

/* Who is, or will be, at the ROB's head: what commits, and flushers that are squashed there. */
struct flight {
	uint64_t leave;
	uint32_t slots;                /* held until then by what commits */
	uint8_t blames;                /* enum cpi of a full ROB behind it */
	bool counted;
};

/* A commit that the shared table looks at. */
struct credit {
	uint64_t cycle, dispatch;
	bool missed, mispredicted;
};

/* The shared table. Invariant: cycles before `swept` are in it, and all that committed by then. */
struct shared {
	uint64_t local[CPI_ITLB + 1];  /* [CPI_L1I .. CPI_ITLB] */
	uint64_t swept;
	uint64_t reset;                /* bits of what dispatched before are clear */
	struct credit *credits;        /* [room], ring: to come, in order */
	uint64_t first, last, room;
	GArray *doomed;                /* struct timed: missed and did not dispatch; since the last that did */
};

/* Slots of what is to be squashed in one cycle. */
struct doomed { uint64_t leave; uint32_t slots; };

struct span { uint64_t from, to; };    /* cycles, `to` excluded */

enum { NESTED = 8 };

/* Invariant: cycles before `now` are accounted for; all that dispatched before is in the ROB or has left. */
struct fmt_lane {
	struct fmt_lane *next;
	uint64_t units;                /* counted, in all intervals the walker gave out */
	uint64_t cycles[NR_CPI];       /* [CPI_BASE] unused */
	uint64_t local[CPI_ITLB + 1];  /* [CPI_L1I .. CPI_ITLB]: the row of the next branch */
	struct shared *shared;         /* in place of rows; NULL: rows */
	uint64_t now;
	uint64_t on;                   /* cycles before `now` that front-end counters may count */
	bool last_on;                  /* the cycle now - 1 is one of them */
	bool penalty;                  /* a mispredicted branch dispatched, nothing of the right path since */
	uint64_t penalty_cycle, penalty_on; /* ... its dispatch, and `on` then */
	uint32_t occupied;             /* slots in the ROB */
	uint32_t nr_doomed;
	struct doomed doomed[NESTED];  /* innermost last, which leaves first */
	uint64_t squashed;             /* last squash by a squashed flusher */
	uint64_t fetch;                /* of the record last dispatched */
	uint64_t stalled;              /* first cycle of which no stall is counted yet */
	struct flight *flights;        /* [flight_room], ring: dispatched and not left, in order */
	uint64_t first_flight, last_flight, flight_room;
	struct span *offs;             /* [off_room], ring: front-end counters off; ascending, disjoint; since `fetch` */
	uint64_t first_off, last_off, off_room;
	uint64_t end;                  /* first cycle that is not final */
	struct stack { uint64_t now, cycles[NR_CPI]; } newest, final; /* of cycles before `now`; final.now <= end */
};

enum fmt_kind { ROWS, SHARED, ANY_STALL };

struct fmt {
	enum fmt_kind kind;
	uint32_t width, entries;
	struct fmt_lane *lanes;
};

static int fmt_open(void *state, const struct run *run)
{
	struct fmt *s = state;

	s->width = (uint32_t)run->desc->rename_width;
	s->entries = (uint32_t)run->desc->rob_entries;
	return 0;
}

static int sfmt_open(void *state, const struct run *run)
{
	((struct fmt *)state)->kind = SHARED;
	return fmt_open(state, run);
}

static int any_open(void *state, const struct run *run)
{
	((struct fmt *)state)->kind = ANY_STALL;
	return fmt_open(state, run);
}

static int fmt_lane(void *state, void *lane, uint32_t thread)
{
	struct fmt *s = state;
	struct fmt_lane *l = lane;

	l->flight_room = l->off_room = 256;
	l->flights = g_new(struct flight, l->flight_room);
	l->offs = g_new(struct span, l->off_room);
	if (s->kind == SHARED) {
		l->shared = g_new0(struct shared, 1);
		l->shared->room = 64;
		l->shared->credits = g_new(struct credit, l->shared->room);
		l->shared->doomed = g_array_new(FALSE, FALSE, sizeof(struct timed));
	}
	l->next = s->lanes;
	s->lanes = l;
	return 0;
}

/* --- queues: power-of-two rings of free-running indices ------------------------------------------------ */

/* Doubles a full ring of `room` elements whose oldest is `first`. */
static void *ring_grow(void *ring, size_t size, uint64_t room, uint64_t first)
{
	char *old = ring, *to = g_malloc(2 * room * size);

	for (uint64_t i = first; i < first + room; i++)
		memcpy(to + i % (2 * room) * size, old + i % room * size, size);
	g_free(ring);
	return to;
}

static inline struct flight *flight(const struct fmt_lane *l, uint64_t i)
{
	return &l->flights[i & (l->flight_room - 1)];
}

static inline void push_flight(struct fmt_lane *l, struct flight f)
{
	if (__builtin_expect(l->last_flight - l->first_flight == l->flight_room, 0)) {
		l->flights = ring_grow(l->flights, sizeof(f), l->flight_room, l->first_flight);
		l->flight_room *= 2;
	}
	*flight(l, l->last_flight++) = f;
}

static inline struct span *off(const struct fmt_lane *l, uint64_t i)
{
	return &l->offs[i & (l->off_room - 1)];
}

/* Forgets spans that no fetch from now on can fall into. */
static void forget_off(struct fmt_lane *l)
{
	while (l->first_off < l->last_off && off(l, l->first_off)->to <= l->fetch)
		l->first_off++;
}

static void turn_off(struct fmt_lane *l, uint64_t from, uint64_t to)
{
	if (l->first_off < l->last_off && off(l, l->last_off - 1)->to == from) {
		off(l, l->last_off - 1)->to = to;
		return;
	}
	if (l->last_off - l->first_off == l->off_room) {
		forget_off(l);
		if (l->last_off - l->first_off == l->off_room) {
			l->offs = ring_grow(l->offs, sizeof(*l->offs), l->off_room, l->first_off);
			l->off_room *= 2;
		}
	}
	*off(l, l->last_off++) = (struct span){ from, to };
}

/* Of the cycles [from, to), those in which the front-end counters are on. */
static uint64_t cycles_on(struct fmt_lane *l, uint64_t from, uint64_t to)
{
	uint64_t on = to - from;

	forget_off(l);
	for (uint64_t i = l->first_off; i < l->last_off && off(l, i)->from < to; i++)
		if (off(l, i)->to > from)
			on -= MIN(off(l, i)->to, to) - MAX(off(l, i)->from, from);
	return on;
}

/* --- time ------------------------------------------------------------------------------------------- */

/* Those that left before `now`, of which only squashed ones are there: what commits goes in the cycle it does. */
static inline void leave(struct fmt_lane *l)
{
	while (__builtin_expect(l->nr_doomed && l->doomed[l->nr_doomed - 1].leave < l->now, 0))
		l->occupied -= l->doomed[--l->nr_doomed].slots;
}

/* Those that leave in the cycle `now`, and what was squashed behind them before; whether all that leave now are counted. */
static inline bool leave_head(struct fmt_lane *l)
{
	bool counted = true;

	do {
		const struct flight *f = flight(l, l->first_flight);
		if (f->leave > l->now)
			break;
		counted &= f->counted || f->leave < l->now;
		l->occupied -= f->slots;
	} while (++l->first_flight < l->last_flight);
	return counted;
}

/*
 * Goes on to the cycle `to`. Full is a ROB with more than `room` slots taken, or any where dispatch is `stuck`; `counted`: what
 * cycles are while it is empty.
 */
static inline void go_on(struct fmt_lane *l, uint64_t to, uint32_t room, bool stuck, bool counted)
{
	while (l->now < to) {
		uint64_t next = to;

		leave(l);
		bool counts = counted, full = stuck || l->occupied > room;
		if (l->first_flight < l->last_flight) {
			const struct flight *head = flight(l, l->first_flight);
			if (head->leave == l->now) {
				next = l->now + 1;
				counts = leave_head(l);
			} else if (__builtin_expect(head->leave < l->now, 0)) {
				leave_head(l);         /* as soon as it dispatched */
				continue;
			} else {
				next = MIN(next, head->leave);
				counts = head->counted;
				if (__builtin_expect(l->nr_doomed, 0))
					next = MIN(next, l->doomed[l->nr_doomed - 1].leave + 1);
				l->cycles[head->blames] += full && counts ? next - l->now : 0;
			}
		} else if (l->nr_doomed) {
			next = MIN(next, l->doomed[l->nr_doomed - 1].leave + 1);
		}
		l->last_on = counts && !full;
		if (l->last_on)
			l->on += next - l->now;
		else
			turn_off(l, l->now, next);
		l->now = next;
	}
}

/* --- records ----------------------------------------------------------------------------------------- */

/* Into the row of the next branch go the cycles in which its fetch delivered nothing; how many there were. */
static uint64_t count_stalls(struct fmt_lane *l, const struct timed *t)
{
	uint64_t from = MAX(t->fetch, l->penalty ? MAX(l->stalled, l->penalty_cycle) : l->stalled);
	uint64_t to = MAX(MIN(t->fetch + t->itlb_stall + t->icache_stall, timed_dispatch(t)), from);
	uint64_t miss = CLAMP(t->fetch + t->itlb_stall, from, to);
	uint64_t tlb = cycles_on(l, from, miss), cache = cycles_on(l, miss, to);

	l->stalled = to;
	l->local[CPI_ITLB] += tlb;
	l->local[timed_code_level(t) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I] += cache;
	return tlb + cache;
}

/* --- the shared table ---------------------------------------------------------------------------------- */

static void push_credit(struct shared *h, struct credit c)
{
	if (h->last - h->first == h->room) {
		h->credits = ring_grow(h->credits, sizeof(c), h->room, h->first);
		h->room *= 2;
	}
	h->credits[h->last++ & (h->room - 1)] = c;
}

/* What committed up to `cycle`. */
static void give_credit(struct fmt_lane *l, uint64_t cycle)
{
	struct shared *h = l->shared;

	for (; h->first < h->last && h->credits[h->first & (h->room - 1)].cycle <= cycle; h->first++) {
		const struct credit *c = &h->credits[h->first & (h->room - 1)];
		bool adds = c->missed && c->dispatch >= h->reset;

		for (unsigned k = CPI_L1I; k <= CPI_ITLB; k++) {
			l->cycles[k] += adds ? h->local[k] : 0;
			h->local[k] = adds || c->mispredicted ? 0 : h->local[k];
		}
		h->reset = adds ? c->cycle : h->reset;
	}
}

/* Fetch delivered nothing in [from, to): into the counters, with what commits meanwhile. */
static void sweep(struct fmt_lane *l, enum cpi k, uint64_t from, uint64_t to)
{
	struct shared *h = l->shared;

	from = MAX(from, h->swept);
	if (from >= to)
		return;
	give_credit(l, from);
	while (h->first < h->last && h->credits[h->first & (h->room - 1)].cycle < to) {
		uint64_t commit = h->credits[h->first & (h->room - 1)].cycle;
		h->local[k] += cycles_on(l, from, commit);
		from = commit;
		give_credit(l, from);
	}
	h->local[k] += cycles_on(l, from, to);
	h->swept = to;
}

static void sweep_stalls(struct fmt_lane *l, const struct timed *t)
{
	uint64_t end = timed_commits(t) ? timed_dispatch(t) : timed_leave(t);
	uint64_t tlb = MIN(t->fetch + t->itlb_stall, end), cache = MIN(t->fetch + t->itlb_stall + t->icache_stall, end);

	sweep(l, CPI_ITLB, t->fetch, tlb);
	sweep(l, timed_code_level(t) == ILEVEL_MEMORY ? CPI_L2I : CPI_L1I, tlb, cache);
}

static bool stalled(const struct timed *t) { return t->icache_stall | t->itlb_stall; }

/* Those that did not dispatch: they are gone, so that all about their cycles is known. */
static void sweep_doomed(struct fmt_lane *l)
{
	GArray *doomed = l->shared->doomed;

	for (guint i = 0; i < doomed->len; i++)
		sweep_stalls(l, &g_array_index(doomed, struct timed, i));
	g_array_set_size(doomed, 0);
}

/* With a record that dispatches. */
static void share(struct fmt_lane *l, const struct timed *t)
{
	struct shared *h = l->shared;

	sweep_doomed(l);
	l->fetch = t->fetch;
	if (stalled(t))
		sweep_stalls(l, t);
	if (timed_commits(t) && (stalled(t) || t->flags & TIMED_MISPREDICT))
		push_credit(h, (struct credit){ timed_leave(t), timed_dispatch(t), stalled(t), t->flags & TIMED_MISPREDICT });
}

/* --- dispatch ------------------------------------------------------------------------------------------ */

static uint64_t on_at_dispatch(const struct fmt_lane *l)
{
	return l->on - l->last_on;
}

/* The first of the right path after a misprediction is in the ROB; `own` cycles belong to its own misses. */
static void end_penalty(struct fmt_lane *l, uint64_t own)
{
	uint64_t dispatch = l->now - 1;

	l->cycles[CPI_BRANCH] += on_at_dispatch(l) - l->penalty_on - own;
	l->penalty = false;
	l->first_off = l->last_off;            /* no later fetch is before the branch's dispatch */
	turn_off(l, l->penalty_cycle, dispatch + !l->last_on);
}

static void enter_doomed(struct fmt_lane *l, const struct timed *t)
{
	uint64_t end = timed_leave(t);
	struct doomed *top = l->nr_doomed ? &l->doomed[l->nr_doomed - 1] : NULL;

	l->occupied += t->slots;
	if (top && (top->leave == end || l->nr_doomed == NESTED))
		top->slots += t->slots;
	else
		l->doomed[l->nr_doomed++] = (struct doomed){ end, t->slots };
}

/* Wrong-path records that enter with the one before, for the same squash, or never do; the first that is not so. */
static const struct timed *follow_doomed(struct fmt_lane *l, const struct timed *t, const struct timed *end)
{
	uint64_t leave = l->nr_doomed ? l->doomed[l->nr_doomed - 1].leave : UINT64_MAX;
	uint32_t slots = 0;

	for (; t < end && t->flags & TIMED_WRONG; t++) {
		if (t->dispatch == TIMED_NEVER)
			continue;
		if (timed_dispatch(t) >= l->now || timed_leave(t) != leave)
			break;
		slots += t->slots;
		l->fetch = t->fetch;
	}
	if (slots) {
		l->doomed[l->nr_doomed - 1].slots += slots;
		l->occupied += slots;
	}
	return t;
}

/* A flusher squashed with an older one is not at the head. */
static bool is_head(struct fmt_lane *l, const struct timed *t)
{
	if (!(t->flags & TIMED_SQUASHED))
		return true;
	if (!(t->flags & TIMED_FLUSHER) || timed_leave(t) + 1 <= l->squashed)
		return false;
	l->squashed = timed_leave(t) + 1;
	return true;
}

static void dispatch(const struct fmt *s, struct fmt_lane *l, const struct timed *t)
{
	bool counted = t->flags & TIMED_COUNTED, commits = timed_commits(t);
	uint64_t cycle = timed_dispatch(t), own = 0;

	if (l->now <= cycle) {
		uint32_t slots = MIN(t->slots, s->width);
		if (l->now < cycle && s->kind == ANY_STALL) {
			go_on(l, MIN(t->fetch + t->avail, cycle), UINT32_MAX, false, counted);
			go_on(l, cycle, UINT32_MAX, true, counted);
		} else if (l->now < cycle) {
			go_on(l, cycle, s->entries > slots ? s->entries - slots : 0, false, counted);
		}
		go_on(l, cycle + 1, UINT32_MAX, false, counted);
	}
	if (l->shared)
		share(l, t);
	l->fetch = t->fetch;
	if (!commits)
		enter_doomed(l, t);
	if (t->flags & TIMED_WRONG)
		return;
	if (commits && t->icache_stall | t->itlb_stall)
		own = count_stalls(l, t);
	if (l->penalty)
		end_penalty(l, own);
	if (is_head(l, t)) {
		struct flight f = { timed_leave(t), commits ? t->slots : 0, cpi_blames(t->psv, t->flags), counted };
		l->occupied += f.slots;
		push_flight(l, f);
	}
	if (!commits || !(t->flags & (TIMED_BRANCH | TIMED_MISPREDICT)))
		return;
	for (unsigned k = CPI_L1I; k <= CPI_ITLB; k++) {
		l->cycles[k] += l->shared ? 0 : l->local[k];
		l->local[k] = 0;
	}
	if (t->flags & TIMED_MISPREDICT) {
		l->penalty = true;
		l->penalty_cycle = l->now - 1;
		l->penalty_on = on_at_dispatch(l);
	}
}

static void take(struct fmt_lane *l, const struct walked *w)
{
	if (w->every & w->any & TIMED_COUNTED) {
		l->units += (w->end - w->from) * CYCLE_UNITS;
		return;
	}
	for (const struct interval *v = w->v; v < w->v + w->nr; v++)
		l->units += interval_counts(v) ? (v->commit - v->from) * CYCLE_UNITS + v->units : 0;
}

/* What has dispatched may be ahead of what is final: a checkpoint has the stack of an earlier cycle, the base the rest. */
static void publish(struct fmt_lane *l)
{
	if (l->newest.now > l->end)
		return;
	l->final = l->newest;
	l->newest.now = l->now;
	memcpy(l->newest.cycles, l->cycles, sizeof(l->cycles));
}

static void fmt_block(void *state, void *lane, const struct block *b)
{
	const struct fmt *s = state;
	struct fmt_lane *l = lane;

	for (const struct timed *t = b->t, *end = t + b->n; t < end; t++) {
		if (t->flags & TIMED_WRONG && s->kind != SHARED)
			t = follow_doomed(l, t, end);
		if (t < end && t->dispatch != TIMED_NEVER)
			dispatch(s, l, t);
		else if (s->kind == SHARED && t < end && stalled(t))
			g_array_append_vals(l->shared->doomed, t, 1);
	}
	take(l, &b->walked);
	l->end = b->walked.end;
	publish(l);
}

static void fmt_finish(void *state, void *lane)
{
	const struct fmt *s = state;
	struct fmt_lane *l = lane;

	go_on(l, l->end, s->kind == ANY_STALL ? UINT32_MAX : s->entries - 1, false, false);
	if (l->shared) {
		sweep_doomed(l);
		give_credit(l, UINT64_MAX);
	}
	if (l->penalty)
		l->cycles[CPI_BRANCH] += l->on - l->penalty_on;
	l->penalty = false;
	memcpy(l->final.cycles, l->cycles, sizeof(l->cycles));
}

static int fmt_save(const void *state, struct profile *out)
{
	static const char *const names[] = { [ROWS] = "fmt", [SHARED] = "sFMT", [ANY_STALL] = "FMT-dispatch" };
	const struct fmt *s = state;
	uint64_t units = 0, cycles[NR_CPI] = { 0 };

	for (const struct fmt_lane *l = s->lanes; l; l = l->next) {
		units += l->units;
		for (unsigned k = CPI_BASE + 1; k < NR_CPI; k++)
			cycles[k] += l->final.cycles[k];
	}
	return cpi_save(out, names[s->kind], units, cycles);
}

static void fmt_close(void *state)
{
	struct fmt *s = state;

	for (struct fmt_lane *l = s->lanes; l; l = l->next) {
		g_free(l->flights);
		g_free(l->offs);
		if (!l->shared)
			continue;
		g_array_free(l->shared->doomed, TRUE);
		g_free(l->shared->credits);
		g_free(l->shared);
	}
}

const struct method method_fmt = {
	.name = "fmt",
	.help = "CPI stack by the front-end miss event table (Eyerman et al.)",
	.state_size = sizeof(struct fmt),
	.lane_size = sizeof(struct fmt_lane),
	.open = fmt_open,
	.lane = fmt_lane,
	.block = fmt_block,
	.finish = fmt_finish,
	.save = fmt_save,
	.close = fmt_close,
};

const struct method method_sfmt = {
	.name = "sfmt",
	.help = "the same with instruction-side counters that all branches share (sFMT)",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct fmt),
	.lane_size = sizeof(struct fmt_lane),
	.open = sfmt_open,
	.lane = fmt_lane,
	.block = fmt_block,
	.finish = fmt_finish,
	.save = fmt_save,
	.close = fmt_close,
};

const struct method method_fmt_dispatch = {
	.name = "fmt_dispatch",
	.help = "the same with any back-end stall of dispatch in place of a full ROB",
	.set = METHODS_STUDY,
	.state_size = sizeof(struct fmt),
	.lane_size = sizeof(struct fmt_lane),
	.open = any_open,
	.lane = fmt_lane,
	.block = fmt_block,
	.finish = fmt_finish,
	.save = fmt_save,
	.close = fmt_close,
};
