/*
 * Issue slots: four counters that put each slot in exactly one of four classes, per thread and marked region.
 *
 * Rename has T slots in each cycle; a slot holds one fused-domain uop. With the uops in fetch order, those that
 * dispatch in a cycle have its first slots (issued); those that the front end has offered and that wait have the
 * next ones (filled); what is left is not filled. Wrong-path and squashed uops count until their squash, the
 * cycle of it included. So in every cycle 0 <= issued <= filled <= T, and
 *
 *      total = (total - filled) + (filled - issued) + (issued - retired) + retired
 *              front end          back end            bad speculation
 *
 * with `retired` those of the issued that commit. `recovery` are unfilled slots in the cycles after a flush and
 * before the first right-path uop is offered: top-down moves them to bad speculation. The flush is the squash,
 * or where nothing had to be squashed, what would have caused it: a mispredicted branch's completion, else the commit.
 *
 * Slots are in one order, that of dispatch, so that a window is a run of them: counted windows and regions start
 * right before the first slot of their first instruction and end right before that of the first one after it
 * (a region's begin mark is in it, its end mark is not). Thus the classes sum per window, too. Over a run that is
 * all counted, total is T times the cycles. Instructions and cycles (of commit, by the walker) are those
 * of the same instructions. Regions nest by depth, per thread; one left without its end mark stays open.
 *
 * Per-cycle state would cost too much: uops are taken in order, and the slots between two dispatches are classed
 * by looking at most T uops ahead. Flushes nested more than FLUSHES deep in squashed code do not count as recovery.
 * Ref: Sites, "issue slots"; Yasin, "A top-down method", ISPASS 2014 (recovery).
 */
#include <glib.h>
#include <string.h>

#include "method/walker.h"
#include "profile/profile.h"

/* The widest rename has 16 slots; uops of that many are at most 32 records, as every other may be a fused second. */
enum { AHEAD = 32, FLUSHES = 4 };

#define NO_FLUSH UINT64_MAX

struct retired { uint64_t instructions, units; };

/* A marked region in one thread. `at_begin`: the thread's counters when it was entered. */
struct region {
	uint64_t entries;
	uint32_t slot_depth, commit_depth;
	struct slot_counts slots, slots_at_begin;
	struct retired retired, retired_at_begin;
};

/* While counting; the four counters by their parts, which are fewer sums a record. */
struct tallies { uint64_t idle, waiting, issued, retired, recovery; };

/* Invariant: all slots before the `used`-th of `cycle` are counted. */
struct slots_lane {
	struct walker walker;
	struct slots_lane *next;       /* in order of creation */
	uint32_t thread;
	bool begun, counting;
	uint64_t cycle;
	uint32_t used;
	struct tallies slots;
	struct retired retired;
	uint64_t uops;
	uint64_t flush[FLUSHES];       /* cycles of flushes after which nothing of the right path came yet */
	uint32_t nr_flushes;
	uint32_t nr_edge, nr_regions;
	struct region *region;         /* [nr_regions] */
	struct timed edge[2 * AHEAD];  /* [nr_edge]: last of the batch before, and then what comes after them */
};

struct slots {
	uint32_t width;
	const struct regions *regions;
	struct slots_lane *first, **end;
};

static int slots_open(void *state, const struct run *run)
{
	struct slots *s = state;

	s->width = (uint32_t)run->desc->rename_width;
	s->regions = run->regions;
	s->end = &s->first;
	return 0;
}

static int slots_lane(void *state, void *lane, uint32_t thread)
{
	struct slots *s = state;
	struct slots_lane *l = lane;

	walker_init(&l->walker);
	l->thread = thread;
	*s->end = l;
	s->end = &l->next;
	return 0;
}

/* --- regions ----------------------------------------------------------------------------------------- */

static struct slot_counts slots_now(const struct slots_lane *l)
{
	const struct tallies *s = &l->slots;

	return (struct slot_counts){ s->idle + s->issued, s->waiting + s->issued, s->issued, s->retired, s->recovery };
}

static struct slot_counts slots_since(const struct slot_counts *now, const struct slot_counts *then)
{
	return (struct slot_counts){ now->total - then->total, now->filled - then->filled, now->issued - then->issued,
	                             now->retired - then->retired, now->recovery - then->recovery };
}

static void slots_add(struct slot_counts *sum, struct slot_counts more)
{
	sum->total += more.total;
	sum->filled += more.filled;
	sum->issued += more.issued;
	sum->retired += more.retired;
	sum->recovery += more.recovery;
}

static void retired_add(struct retired *sum, const struct retired *now, const struct retired *then)
{
	sum->instructions += now->instructions - then->instructions;
	sum->units += now->units - then->units;
}

static struct region *marked(const struct slots *s, struct slots_lane *l, uint32_t insn, bool *begin)
{
	struct mark mark;

	if (!s->regions || !regions_mark(s->regions, insn, &mark))
		return NULL;
	if (mark.region >= l->nr_regions) {
		l->region = g_renew(struct region, l->region, mark.region + 1);
		memset(l->region + l->nr_regions, 0, (mark.region + 1 - l->nr_regions) * sizeof(*l->region));
		l->nr_regions = mark.region + 1;
	}
	*begin = mark.begin;
	return &l->region[mark.region];
}

static void mark_dispatches(const struct slots *s, struct slots_lane *l, uint32_t insn)
{
	bool begin;
	struct region *r = marked(s, l, insn, &begin);
	struct slot_counts now = slots_now(l);

	if (!r)
		return;
	if (begin && !r->slot_depth++)
		r->slots_at_begin = now;
	else if (!begin && r->slot_depth && !--r->slot_depth)
		slots_add(&r->slots, slots_since(&now, &r->slots_at_begin));
}

static void mark_commits(const struct slots *s, struct slots_lane *l, const struct interval *v)
{
	bool begin;
	struct region *r = marked(s, l, v->insn, &begin);

	if (!r)
		return;
	if (begin && !r->commit_depth++) {
		r->retired_at_begin = l->retired;
		r->entries += interval_counts(v);
	} else if (!begin && r->commit_depth && !--r->commit_depth) {
		retired_add(&r->retired, &l->retired, &r->retired_at_begin);
	}
}

/* --- slots ------------------------------------------------------------------------------------------- */

/* Cycles after this one recover from a flush, as long as nothing is offered; NO_FLUSH: they do not. */
static uint64_t recovers_from(const struct slots_lane *l, const struct timed *t)
{
	uint64_t from = NO_FLUSH;

	if (t->flags & TIMED_WRONG)
		return from;
	for (uint32_t i = 0; i < l->nr_flushes; i++)
		from = l->flush[i] < from ? l->flush[i] : from;
	return from;
}

/* Something of the right path came: flushes before its fetch are over. Where it commits, all before it are. */
static void recovered(struct slots_lane *l, const struct timed *t)
{
	uint32_t n = 0;

	if (t->flags & TIMED_SQUASHED)
		for (uint32_t i = 0; i < l->nr_flushes; i++)
			if (l->flush[i] > t->fetch)
				l->flush[n++] = l->flush[i];
	l->nr_flushes = n;
}

static void flushes(struct slots_lane *l, const struct timed *t)
{
	bool at_execution = t->flags & TIMED_MISPREDICT && t->complete != TIMED_NEVER;

	if (l->nr_flushes < FLUSHES)
		l->flush[l->nr_flushes++] = at_execution ? t->fetch + t->complete : timed_leave(t);
}

/* Classes all slots from the present one up to the cycle `to`; t is the next to go, `end` behind the last known. */
static void idle_slots(struct slots_lane *l, uint32_t width, const struct timed *t, const struct timed *end, uint64_t to)
{
	uint64_t flush = l->nr_flushes && t < end ? recovers_from(l, t) : NO_FLUSH;
	uint64_t total = 0, held = 0, recovery = 0;
	uint32_t waiting = 0, free = width - l->used;

	for (uint64_t x = l->cycle, next; x < to; x = next, free = width) {
		for (next = to; waiting < width && t < end; waiting += t++->slots) {
			uint64_t avail = t->fetch + t->avail;
			if (avail > x) {
				next = avail < to ? avail : to;
				break;
			}
		}
		if (x <= flush && flush < next - 1)
			next = flush + 1;

		uint64_t more = next - x - 1;  /* cycles like x, all of whose slots are idle */
		uint64_t idle = free + more * width;
		total += idle;
		held += (waiting < free ? waiting : free) + more * (waiting < width ? waiting : width);
		recovery += flush < x && !waiting ? idle : 0;
	}
	l->cycle = to;
	l->used = 0;
	if (!l->counting)
		return;
	l->slots.idle += total;
	l->slots.waiting += held;
	l->slots.recovery += recovery;
}

/* How many of its slots are filled by its squash: what had none then gets none. */
static uint32_t slots_squashed(const struct slots_lane *l, uint32_t width, const struct timed *t)
{
	uint64_t leave = timed_leave(t);
	uint64_t most = leave < l->cycle ? 0 : (leave - l->cycle + 1) * width - l->used;

	return most < t->slots ? (uint32_t)most : t->slots;
}

/* One record: `end` is behind the last one known. Those that were never offered have no slots. */
static inline void go(const struct slots *s, struct slots_lane *l, const struct timed *t, const struct timed *end)
{
	bool commits = timed_commits(t);
	uint64_t to = timed_dispatch(t);
	uint32_t slots = t->slots;

	if (__builtin_expect(t->dispatch == TIMED_NEVER, 0)) {
		if (t->avail == TIMED_NEVER)
			return;
		to = timed_leave(t) + 1;
		slots = 0;
	}
	if (to > l->cycle) {
		if (to > l->cycle + 1 || l->used < s->width)
			idle_slots(l, s->width, t, end, to);
		l->cycle = to;
		l->used = 0;
	}
	if (__builtin_expect(l->nr_flushes && !(t->flags & TIMED_WRONG), 0))
		recovered(l, t);
	if (__builtin_expect(t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT) && !(t->flags & TIMED_WRONG), 0))
		flushes(l, t);
	if (commits) {
		l->counting = t->flags & TIMED_COUNTED;
		if (__builtin_expect(t->flags & TIMED_MARK, 0))
			mark_dispatches(s, l, t->insn);
	} else if (slots) {
		slots = slots_squashed(l, s->width, t);
	}
	for (l->used += slots; __builtin_expect(l->used > s->width, 0); l->used -= s->width)
		l->cycle++;
	if (!l->counting)
		return;
	l->slots.issued += slots;
	l->slots.retired += commits ? slots : 0;
	l->uops += commits ? t->uops : 0;
}

/* Takes records that have AHEAD more behind them; the last ones wait at the edge for the next batch. */
static void go_on(const struct slots *s, struct slots_lane *l, const struct timed *t, size_t n)
{
	size_t more = n < AHEAD ? n : AHEAD, i = 0;
	const struct timed *end = l->edge + l->nr_edge + more;

	memcpy(l->edge + l->nr_edge, t, more * sizeof(*t));
	for (; i < l->nr_edge && l->edge + i + AHEAD < end; i++)
		go(s, l, &l->edge[i], end);
	if (n < AHEAD) {
		l->nr_edge += (uint32_t)(n - i);
		memmove(l->edge, l->edge + i, l->nr_edge * sizeof(*t));
		return;
	}
	for (i = 0; i < n - AHEAD; i++)
		go(s, l, &t[i], t + n);
	memcpy(l->edge, t + n - AHEAD, AHEAD * sizeof(*t));
	l->nr_edge = AHEAD;
}

static void retire(const struct slots *s, struct slots_lane *l, const struct interval *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (__builtin_expect(v[i].flags & TIMED_MARK && interval_commits(&v[i]), 0))
			mark_commits(s, l, &v[i]);
		if (!interval_counts(&v[i]))
			continue;
		l->retired.instructions += interval_commits(&v[i]);
		l->retired.units += (v[i].commit - v[i].from) * CYCLE_UNITS + v[i].units;
	}
}

static void slots_batch(void *state, void *lane, const struct timed *t, size_t n)
{
	const struct slots *s = state;
	struct slots_lane *l = lane;
	const struct timed *end = t + n;
	const struct interval *v;

	if (!l->begun && n) {
		l->begun = true;
		l->counting = t->flags & TIMED_COUNTED;
	}
	go_on(s, l, t, n);
	while (t < end) {
		size_t nr = walker_read(&l->walker, &t, end, &v);
		retire(s, l, v, nr);
	}
}

static void slots_finish(void *state, void *lane)
{
	const struct slots *s = state;
	struct slots_lane *l = lane;
	const struct interval *v;
	const struct timed *end = l->edge + l->nr_edge;
	size_t nr = walker_finish(&l->walker, &v);

	retire(s, l, v, nr);
	for (const struct timed *t = l->edge; t < end; t++)
		go(s, l, t, end);
	l->nr_edge = 0;
	if (walker_end(&l->walker) > l->cycle)
		idle_slots(l, s->width, end, end, walker_end(&l->walker));
}

/* All threads' counts of one region; of one that is open, up to now. */
static struct region region_sum(const struct slots *s, uint32_t index)
{
	struct region sum = { 0 };

	for (const struct slots_lane *l = s->first; l; l = l->next) {
		struct slot_counts now = slots_now(l);

		if (index >= l->nr_regions)
			continue;
		const struct region *r = &l->region[index];
		const struct retired none = { 0 };
		sum.entries += r->entries;
		slots_add(&sum.slots, r->slots);
		retired_add(&sum.retired, &r->retired, &none);
		if (r->slot_depth)
			slots_add(&sum.slots, slots_since(&now, &r->slots_at_begin));
		if (r->commit_depth)
			retired_add(&sum.retired, &l->retired, &r->retired_at_begin);
	}
	return sum;
}

static int slots_save(const void *state, struct profile *out)
{
	const struct slots *s = state;
	uint32_t nr = s->regions ? regions_count(s->regions) : 0;
	int err = 0;

	for (const struct slots_lane *l = s->first; l && !err; l = l->next) {
		struct slot_counts now = slots_now(l);
		err = profile_thread(out, l->thread, l->retired.instructions, l->uops, l->retired.units, &now);
	}
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct region r = region_sum(s, i);
		if (r.entries || r.slots.total)
			err = profile_region(out, regions_name(s->regions, i), r.entries, r.retired.instructions,
			                     r.retired.units, &r.slots);
	}
	return err;
}

static void slots_close(void *state)
{
	struct slots *s = state;

	for (struct slots_lane *l = s->first; l; l = l->next)
		g_free(l->region);
}

const struct method method_slots = {
	.name = "slots",
	.help = "issue slots: total, filled, issued and retired, of each thread and marked region",
	.state_size = sizeof(struct slots),
	.lane_size = sizeof(struct slots_lane),
	.open = slots_open,
	.lane = slots_lane,
	.batch = slots_batch,
	.finish = slots_finish,
	.save = slots_save,
	.close = slots_close,
};
