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

enum { BLOCK = 256, AHEAD = 16, FLUSHES = 4 }; /* AHEAD: the widest rename */

/* A record with slots. */
struct offer {
	uint64_t fetch, avail;
	uint64_t end;                  /* dispatch; where it never does, the cycle after its squash */
	uint64_t leave;
	uint64_t flush;                /* cycle of the flush it causes; NO_FLUSH: none */
	uint32_t insn;
	uint16_t flags;
	uint8_t slots;
	bool dispatches;
};

#define NO_FLUSH UINT64_MAX

struct retired { uint64_t instructions, units; };

/* A marked region in one thread. `at_begin`: the thread's counters when it was entered. */
struct region {
	uint64_t entries;
	uint32_t slot_depth, commit_depth;
	struct slot_counts slots, slots_at_begin;
	struct retired retired, retired_at_begin;
};

/* Invariant: all slots before the `used`-th of `cycle` are counted, and no uop before offer[0] is still to come. */
struct slots_lane {
	struct walker walker;
	struct slots_lane *next;       /* in order of creation */
	uint32_t thread;
	bool begun, counting;
	uint64_t cycle;
	uint32_t used;
	struct slot_counts slots;      /* while counting */
	struct retired retired;
	uint64_t uops;
	uint64_t flush[FLUSHES];       /* cycles of flushes after which nothing of the right path came yet */
	uint32_t nr_flushes;
	uint32_t nr_offers, nr_regions;
	struct region *region;         /* [nr_regions] */
	struct offer offer[BLOCK + AHEAD];
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

	if (!r)
		return;
	if (begin && !r->slot_depth++)
		r->slots_at_begin = l->slots;
	else if (!begin && r->slot_depth && !--r->slot_depth)
		slots_add(&r->slots, slots_since(&l->slots, &r->slots_at_begin));
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
static uint64_t recovers_from(const struct slots_lane *l, const struct offer *o)
{
	uint64_t from = NO_FLUSH;

	if (o->flags & TIMED_WRONG)
		return from;
	for (uint32_t i = 0; i < l->nr_flushes; i++)
		from = l->flush[i] < from ? l->flush[i] : from;
	return from;
}

/* Something of the right path came: flushes before its fetch are over. Where it commits, all before it are. */
static void recovered(struct slots_lane *l, const struct offer *o)
{
	uint32_t n = 0;

	if (o->flags & TIMED_SQUASHED)
		for (uint32_t i = 0; i < l->nr_flushes; i++)
			if (l->flush[i] > o->fetch)
				l->flush[n++] = l->flush[i];
	l->nr_flushes = n;
}

/* Classes all slots from the present one up to the cycle `end`; o[0] is the next to go, `last` the last offer known. */
static void idle_slots(struct slots_lane *l, uint32_t width, const struct offer *o, const struct offer *last, uint64_t end)
{
	uint64_t flush = l->nr_flushes && o <= last ? recovers_from(l, o) : NO_FLUSH;
	uint64_t total = 0, filled = 0, recovery = 0;
	uint32_t waiting = 0, free = width - l->used;

	for (uint64_t x = l->cycle, next; x < end; x = next, free = width) {
		while (waiting < width && o <= last && o->avail <= x)
			waiting += o++->slots;
		next = waiting < width && o <= last && o->avail < end ? o->avail : end;
		if (x <= flush && flush < next - 1)
			next = flush + 1;

		uint64_t more = next - x - 1;  /* cycles like x, all of whose slots are idle */
		uint64_t idle = free + more * width;
		uint64_t held = (waiting < free ? waiting : free) + more * (waiting < width ? waiting : width);
		total += idle;
		filled += held;
		recovery += flush < x && !waiting ? idle : 0;
	}
	l->cycle = end;
	l->used = 0;
	if (!l->counting)
		return;
	l->slots.total += total;
	l->slots.filled += filled;
	l->slots.recovery += recovery;
}

static inline void issue(struct slots_lane *l, uint32_t width, const struct offer *o)
{
	bool commits = !(o->flags & (TIMED_WRONG | TIMED_SQUASHED));
	uint32_t slots = o->slots;

	if (!commits) {                        /* what had no slot by its squash gets none */
		uint64_t most = o->leave < l->cycle ? 0 : (o->leave - l->cycle + 1) * width - l->used;
		slots = most < slots ? (uint32_t)most : slots;
	}
	uint32_t used = l->used + slots;
	while (__builtin_expect(used > width, 0)) {
		used -= width;
		l->cycle++;
	}
	l->used = used;
	if (!l->counting)
		return;
	l->slots.total += slots;
	l->slots.filled += slots;
	l->slots.issued += slots;
	l->slots.retired += commits ? slots : 0;
}

static inline void go(const struct slots *s, struct slots_lane *l, const struct offer *o, const struct offer *last)
{
	bool commits = !(o->flags & (TIMED_WRONG | TIMED_SQUASHED));

	if (o->end > l->cycle)
		idle_slots(l, s->width, o, last, o->end);
	if (l->nr_flushes && !(o->flags & TIMED_WRONG))
		recovered(l, o);
	if (o->flush != NO_FLUSH && l->nr_flushes < FLUSHES)
		l->flush[l->nr_flushes++] = o->flush;
	if (commits) {
		l->counting = o->flags & TIMED_COUNTED;
		if (o->flags & TIMED_MARK)
			mark_dispatches(s, l, o->insn);
	}
	if (o->dispatches)
		issue(l, s->width, o);
}

/* Takes the offers that have AHEAD more behind them. */
static void go_on(const struct slots *s, struct slots_lane *l, uint32_t ahead)
{
	uint32_t n = l->nr_offers > ahead ? l->nr_offers - ahead : 0;
	const struct offer *last = l->offer + l->nr_offers - 1;

	for (uint32_t i = 0; i < n; i++)
		go(s, l, &l->offer[i], last);
	l->nr_offers -= n;
	memmove(l->offer, l->offer + n, l->nr_offers * sizeof(*l->offer));
}

static inline uint64_t flush_of(const struct timed *t)
{
	if (!(t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT)) || t->flags & TIMED_WRONG)
		return NO_FLUSH;
	return t->flags & TIMED_MISPREDICT && t->complete != TIMED_NEVER ? t->fetch + t->complete : timed_leave(t);
}

/* What was never offered has no slots. The second of a fused pair has none of its own: the first flushes in its place. */
static void offer(struct slots_lane *l, const struct timed *t, const struct timed *end)
{
	uint32_t n = l->nr_offers;
	uint64_t uops = 0;

	for (; t < end; t++) {
		struct offer *o = &l->offer[n];
		bool dispatches = t->dispatch != TIMED_NEVER;

		o->fetch = t->fetch;
		o->avail = t->fetch + t->avail;
		o->leave = timed_leave(t);
		o->end = dispatches ? timed_dispatch(t) : o->leave + 1;
		o->flush = flush_of(t);
		o->insn = t->insn;
		o->flags = t->flags;
		o->slots = t->slots;
		o->dispatches = dispatches;
		uops += timed_commits(t) && t->flags & TIMED_COUNTED ? t->uops : 0u;
		if (__builtin_expect(!t->slots && n && o->flush != NO_FLUSH, 0))
			o[-1].flush = o->flush;
		n += t->slots && t->avail != TIMED_NEVER;
	}
	l->nr_offers = n;
	l->uops += uops;
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
	while (t < end) {
		const struct timed *from = t;
		size_t nr = walker_read(&l->walker, &t, end, &v);
		retire(s, l, v, nr);
		offer(l, from, t);
		go_on(s, l, AHEAD);
	}
}

static void slots_finish(void *state, void *lane)
{
	const struct slots *s = state;
	struct slots_lane *l = lane;
	const struct interval *v;
	size_t nr = walker_finish(&l->walker, &v);

	retire(s, l, v, nr);
	go_on(s, l, 0);
	if (l->walker.from > l->cycle)
		idle_slots(l, s->width, l->offer, l->offer - 1, l->walker.from);
}

/* All threads' counts of one region; of one that is open, up to now. */
static struct region region_sum(const struct slots *s, uint32_t index)
{
	struct region sum = { 0 };

	for (const struct slots_lane *l = s->first; l; l = l->next) {
		if (index >= l->nr_regions)
			continue;
		const struct region *r = &l->region[index];
		const struct retired none = { 0 };
		sum.entries += r->entries;
		slots_add(&sum.slots, r->slots);
		retired_add(&sum.retired, &r->retired, &none);
		if (r->slot_depth)
			slots_add(&sum.slots, slots_since(&l->slots, &r->slots_at_begin));
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

	for (const struct slots_lane *l = s->first; l && !err; l = l->next)
		err = profile_thread(out, l->thread, l->retired.instructions, l->uops, l->retired.units, &l->slots);
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
