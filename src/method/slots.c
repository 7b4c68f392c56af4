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
 * Nothing looks at cycles. Slots have a place, cycle times T plus a number, so that how many there were is a
 * difference. A uop waits in a slot from when it is offered, or from when it is among the next T to go, which is
 * when the uop T before it has gone, until it goes:
 *
 *      waits = gone(k) - max(offered(k), gone(k - T) + 1)
 *
 * and recovery is looked at where something of the right path comes after a flush. Sums are of the whole stream;
 * windows and regions are differences of them. A uop that waited across the beginning or end of one is only known
 * when it goes: its wait is split then. Flushes nested more than SLOT_FLUSHES deep in squashed code do not count as
 * recovery.
 * Ref: Sites, "issue slots"; Yasin, "A top-down method", ISPASS 2014 (recovery).
 */
#include <glib.h>
#include <string.h>

#include "method/slot_order.h"
#include "method/slots.h"
#include "profile/profile.h"

struct retired { uint64_t instructions, units; };

/* Sums of slots up to a place in their order; `place` is cycle times T plus the number of the slot. */
struct sums { uint64_t place, issued, waiting, retired, recovery, uops; };

/* A marked region in one thread. `at_begin`: the thread's counters when it was entered. */
struct region {
	uint64_t entries;
	uint32_t slot_depth, commit_depth;
	struct sums slots, slots_at_begin;
	struct retired retired, retired_at_begin;
};

/* Of those waiting now, what they waited will be in `sums`. */
struct slots_lane {
	struct slots_lane *next;       /* in order of creation */
	struct slot_lane order;
	struct sums sums;              /* place: not kept here, see place() */
	struct sums counted;           /* of windows that are over ... */
	struct sums since;             /* ... and at the beginning of the one that is not */
	struct retired retired;
	uint32_t nr_regions;
	struct region *region;         /* [nr_regions] */
};

/* Of a thread that has ended. */
struct ended {
	uint32_t thread;
	struct retired retired;
	struct sums sums;
};
_Static_assert(sizeof(struct ended) <= METHOD_ROW, "what a thread leaves behind is small");

struct slots {
	struct slot_order order;
	struct slots_lane *first, **end;
	GArray *ended;                 /* struct ended */
	GArray *regions;               /* struct region, by index: sums of all those */
};

static int slots_open(void *state, const struct run *run)
{
	struct slots *s = state;

	slot_order_init(&s->order, run);
	s->end = &s->first;
	s->ended = g_array_new(FALSE, FALSE, sizeof(struct ended));
	s->regions = g_array_new(FALSE, TRUE, sizeof(struct region));
	return 0;
}

static int slots_lane(void *state, void *lane, uint32_t thread)
{
	struct slots *s = state;
	struct slots_lane *l = lane;

	slot_lane_init(&l->order, &s->order, thread);
	*s->end = l;
	s->end = &l->next;
	return 0;
}

/* --- windows and regions ----------------------------------------------------------------------------- */

static void sums_add(struct sums *to, const struct sums *now, const struct sums *then)
{
	to->place += now->place - then->place;
	to->issued += now->issued - then->issued;
	to->waiting += now->waiting - then->waiting;
	to->retired += now->retired - then->retired;
	to->recovery += now->recovery - then->recovery;
	to->uops += now->uops - then->uops;
}

static struct sums sums_here(const struct slots *s, const struct slots_lane *l)
{
	struct sums here = l->sums;

	here.place = l->order.cycle * s->order.width + l->order.used;
	return here;
}

/* What was counted up to here. */
static struct sums sums_counted(const struct slots *s, const struct slots_lane *l)
{
	struct sums counted = l->counted, here = sums_here(s, l);

	if (l->order.counting)
		sums_add(&counted, &here, &l->since);
	return counted;
}

static struct slot_counts slot_counts(const struct sums *s)
{
	return (struct slot_counts){
		.total = s->place, .filled = s->waiting + s->issued, .issued = s->issued, .retired = s->retired,
		.recovery = s->recovery,
	};
}

static void retired_add(struct retired *sum, const struct retired *now, const struct retired *then)
{
	sum->instructions += now->instructions - then->instructions;
	sum->units += now->units - then->units;
}

/* Something waited from the cycle `from` on, across edges: what it waited before each belongs there. */
static void wait_split(struct slots_lane *l, uint64_t from)
{
	const struct slot_lane *o = &l->order;
	uint64_t counted = 0, at = from;

	for (uint32_t i = slot_first_edge(o, from); i < o->nr_edges; i++) {
		const struct slot_edge *e = &o->edge[i % SLOT_EDGES];
		uint64_t *to = e->region == SLOT_WINDOW ? &l->counted.waiting : &l->region[e->region].slots.waiting;
		counted += e->counting ? e->cycle - at : 0;
		at = e->cycle;
		uint64_t before = e->region == SLOT_WINDOW ? e->cycle - from : counted;
		*to += e->begins ? -before : before;
	}
}

static void window(const struct slots *s, struct slots_lane *l)
{
	struct sums here = sums_here(s, l);

	if (l->order.counting)
		sums_add(&l->counted, &here, &l->since);
	else
		l->since = here;
	slot_window(&l->order);
}

static struct region *marked(const struct slots *s, struct slots_lane *l, uint32_t insn, struct mark *mark)
{
	if (!s->order.regions || !regions_mark(s->order.regions, insn, mark))
		return NULL;
	if (mark->region >= l->nr_regions) {
		l->region = g_renew(struct region, l->region, mark->region + 1);
		memset(l->region + l->nr_regions, 0, (mark->region + 1 - l->nr_regions) * sizeof(*l->region));
		l->nr_regions = mark->region + 1;
	}
	return &l->region[mark->region];
}

static void mark_dispatches(const struct slots *s, struct slots_lane *l, uint32_t insn)
{
	struct mark mark;
	struct region *r = marked(s, l, insn, &mark);
	struct sums now = sums_counted(s, l);

	if (!r)
		return;
	if (mark.begin && !r->slot_depth++) {
		r->slots_at_begin = now;
		slot_edge_push(&l->order, mark.region, true);
	} else if (!mark.begin && r->slot_depth && !--r->slot_depth) {
		sums_add(&r->slots, &now, &r->slots_at_begin);
		slot_edge_push(&l->order, mark.region, false);
	}
}

static void mark_commits(const struct slots *s, struct slots_lane *l, const struct interval *v)
{
	struct mark mark;
	struct region *r = marked(s, l, v->insn, &mark);

	if (!r)
		return;
	if (mark.begin && !r->commit_depth++) {
		r->retired_at_begin = l->retired;
		r->entries += interval_counts(v);
	} else if (!mark.begin && r->commit_depth && !--r->commit_depth) {
		retired_add(&r->retired, &l->retired, &r->retired_at_begin);
	}
}

/* --- recovery ---------------------------------------------------------------------------------------- */

/* The slots between the flush and the first of the right path that is offered; all before the cycle `to`. */
static void recovery(struct slots_lane *l, uint32_t width, const struct timed *t, uint64_t to)
{
	const struct slot_lane *o = &l->order;
	uint64_t from = slot_first_flush(o)->cycle + 1, avail = t->fetch + t->avail;

	to = avail < to ? avail : to;
	from = from < o->cycle ? o->cycle : from;
	if (from < to)
		l->sums.recovery += (to - from) * width - (from == o->cycle ? o->used : 0);
}

/* --- slots ------------------------------------------------------------------------------------------- */

/* The next slot's uop, offered in the cycle `avail`, waits in the cycles before `to` that are its turn to. */
static inline void wait(struct slots_lane *l, uint32_t width, uint64_t avail, uint64_t to, uint64_t gone)
{
	uint64_t from = slot_wait(&l->order, width, avail, gone + 1);

	if (from >= to)
		return;
	l->sums.waiting += to - from;
	if (__builtin_expect(from < l->order.last_edge, 0))
		wait_split(l, from);
}

/* Squashed before it had its turn, or when only some of its slots had: those that had none get none. */
static void never(const struct slots *s, struct slots_lane *l, const struct timed *t, uint32_t slots)
{
	for (; slots > 0; slots--)
		wait(l, s->order.width, t->fetch + t->avail, timed_leave(t) + 1, timed_leave(t));
}

/* One record of any kind. Those that were never offered have no slots. */
static void go(const struct slots *s, struct slots_lane *l, const struct timed *t)
{
	bool commits = timed_commits(t), wrong = t->flags & TIMED_WRONG;
	uint64_t leave = timed_leave(t), to = timed_dispatch(t);
	uint32_t slot = 0, width = s->order.width;
	struct slot_lane *o = &l->order;

	if (t->avail == TIMED_NEVER)
		return;
	if (t->dispatch == TIMED_NEVER)
		to = leave + 1;
	if (o->nr_flushes && !wrong) {
		recovery(l, width, t, to);
		slot_recovered(o, t);
	}
	slot_advance(o, to);
	if (t->dispatch == TIMED_NEVER) {
		never(s, l, t, t->slots);
		return;
	}
	if (t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT) && !wrong)
		slot_flushed(o, t);
	if (commits && o->counting != !!(t->flags & TIMED_COUNTED))
		window(s, l);
	if (commits && t->flags & TIMED_MARK)
		mark_dispatches(s, l, t->insn);
	for (; slot < t->slots && slot_take(o, width, commits, leave); slot++)
		wait(l, width, t->fetch + t->avail, o->cycle, o->cycle);
	never(s, l, t, t->slots - slot);
	l->sums.issued += slot;
	l->sums.retired += commits ? slot : 0;
	l->sums.uops += commits ? t->uops : 0;
}

/*
 * What most are: on the right path, where nothing begins, ends or is flushed with it. So it is offered, dispatches and
 * commits. Takes records up to the first that is not so, and returns it; sums stay in registers.
 */
static const struct timed *go_right(const struct slots *s, struct slots_lane *l, const struct timed *t,
                                    const struct timed *end)
{
	struct slot_lane *o = &l->order;
	const uint32_t usual = slot_usual(o), width = s->order.width;
	const uint64_t before = o->nr;
	uint64_t cycle = o->cycle, nr = before, waiting = 0, uops = 0;
	uint32_t used = o->used;

	if (t->fetch + t->avail < o->last_edge) /* its wait may be split; what is behind it is offered no earlier */
		return t;
	for (; t < end && slot_is_usual(t, usual, UINT32_MAX); t++) {
		uint64_t avail = t->fetch + t->avail, to = timed_dispatch(t), from;
		uint32_t slots = t->slots;

		used = to > cycle ? 0 : used;
		cycle = to > cycle ? to : cycle;
		if (__builtin_expect(slots > 1, 0))
			for (; slots; slots--) {
				cycle += used == width;
				used = used == width ? 1 : used + 1;
				from = slot_waits_from(o, width, nr, avail);
				waiting += from < cycle ? cycle - from : 0;
				o->turn[nr++ % (2 * SLOT_WIDTH)] = cycle + 1;
			}
		from = slot_waits_from(o, width, nr, avail);
		used += slots;
		waiting += (from < to ? to - from : 0) & -(uint64_t)slots;
		o->turn[nr % (2 * SLOT_WIDTH)] = to + 1;
		nr += slots;
		uops += t->uops;
	}
	o->cycle = cycle;
	o->used = used;
	o->nr = nr;
	l->sums.waiting += waiting;
	l->sums.issued += nr - before;
	l->sums.retired += nr - before;
	l->sums.uops += uops;
	return t;
}

/* The same for what may be on the wrong path, and has at most one slot. */
static const struct timed *go_plain(const struct slots *s, struct slots_lane *l, const struct timed *t,
                                    const struct timed *end)
{
	struct slot_lane *o = &l->order;
	const uint32_t usual = slot_usual(o), width = s->order.width;
	uint64_t cycle = o->cycle, nr = o->nr, waiting = 0, issued = 0, retired = 0, uops = 0;
	uint32_t used = o->used;

	for (; t < end; t++) {
		bool never = t->dispatch == TIMED_NEVER; /* then its turn is over with its squash, and it gets no
		                                          * slot */
		uint32_t slots = t->slots, gets = never ? 0 : slots, commits = t->flags & TIMED_WRONG ? 0 : UINT32_MAX;
		uint64_t to = t->fetch + (never ? t->leave + 1 : t->dispatch), avail = t->fetch + t->avail;

		if (t->avail == TIMED_NEVER)
			continue;
		uint64_t from = slot_waits_from(o, width, nr, avail);
		if (__builtin_expect(!slot_is_usual(t, usual, commits) | (slots > 1) | (from < o->last_edge), 0))
			break;
		used = to > cycle ? gets : used + gets;
		cycle = to > cycle ? to : cycle;
		waiting += from < to ? (to - from) * slots : 0;
		o->turn[nr % (2 * SLOT_WIDTH)] = to + !never;
		nr += slots;
		issued += gets;
		retired += gets & commits;
		uops += t->uops & commits;
	}
	o->cycle = cycle;
	o->used = used;
	o->nr = nr;
	l->sums.waiting += waiting;
	l->sums.issued += issued;
	l->sums.retired += retired;
	l->sums.uops += uops;
	return t;
}

static void retire(const struct slots *s, struct slots_lane *l, const struct walked *w)
{
	if (w->every & w->any & TIMED_COUNTED && !(w->any & (TIMED_MARK | TIMED_SQUASHED))) {
		l->retired.instructions += w->nr;
		l->retired.units += (w->end - w->from) * CYCLE_UNITS;
		return;
	}
	for (const struct interval *v = w->v; v < w->v + w->nr; v++) {
		if (v->flags & TIMED_MARK && interval_commits(v))
			mark_commits(s, l, v);
		if (!interval_counts(v))
			continue;
		l->retired.instructions += interval_commits(v);
		l->retired.units += (v->commit - v->from) * CYCLE_UNITS + v->units;
	}
}

static void slots_block(void *state, void *lane, const struct block *b)
{
	const struct slots *s = state;
	struct slots_lane *l = lane;

	const struct walked *w = &b->walked;
	bool right = w->nr_right == 1 && w->right[0].to - w->right[0].from == (int)b->n;

	slot_begin(&l->order, b);
	for (const struct timed *t = b->t, *end = t + b->n; t < end; ) {
		t = right ? go_right(s, l, t, end) : go_plain(s, l, t, end);
		if (t < end)
			go(s, l, t++);
	}
	retire(s, l, w);
	l->order.end = w->end;
}

static void slots_finish(void *state, void *lane)
{
	struct slots_lane *l = lane;

	slot_advance(&l->order, l->order.end);
}

void slots_read(const void *state, const void *lane, const struct walker *w, struct counters *out)
{
	const struct slots_lane *l = lane;
	struct sums sums = sums_counted(state, l);
	struct retired retired = l->retired;
	size_t nr, counted = 0;
	const struct interval *v = walker_open(w, &nr), *end = v + nr;

	for (; v < end; v++) {
		if (!interval_counts(v))
			continue;
		retired.instructions += interval_commits(v);
		retired.units += (v->commit - v->from) * CYCLE_UNITS;
		counted++;
	}
	if (nr)
		retired.units += CYCLE_UNITS * counted / nr;
	*out = (struct counters){
		.cycles = retired.units / CYCLE_UNITS, .instructions = retired.instructions, .slots_total = sums.place,
		.slots_filled = sums.waiting + sums.issued, .slots_issued = sums.issued, .slots_retired = sums.retired,
	};
}

/* One thread's counts of one region; of one that is open, up to now. */
static void region_add(struct region *sum, const struct slots_lane *l, const struct sums *now, uint32_t index)
{
	const struct region *r = &l->region[index];
	const struct retired none = { 0 };
	const struct sums zero = { 0 };

	sum->entries += r->entries;
	sums_add(&sum->slots, &r->slots, &zero);
	retired_add(&sum->retired, &r->retired, &none);
	if (r->slot_depth)
		sums_add(&sum->slots, now, &r->slots_at_begin);
	if (r->commit_depth)
		retired_add(&sum->retired, &l->retired, &r->retired_at_begin);
}

/* Of all threads. */
static struct region region_sum(const struct slots *s, uint32_t index)
{
	struct region sum = { 0 };

	if (index < s->regions->len)
		sum = g_array_index(s->regions, struct region, index);
	for (const struct slots_lane *l = s->first; l; l = l->next) {
		struct sums now = sums_counted(s, l);

		if (index < l->nr_regions)
			region_add(&sum, l, &now, index);
	}
	return sum;
}

static void slots_end(void *state, void *lane)
{
	struct slots *s = state;
	struct slots_lane *l = lane, **at = &s->first;
	const struct ended e = { l->order.thread, l->retired, sums_counted(s, l) };

	g_array_append_val(s->ended, e);
	if (l->nr_regions > s->regions->len)
		g_array_set_size(s->regions, l->nr_regions);
	for (uint32_t i = 0; i < l->nr_regions; i++)
		region_add(&g_array_index(s->regions, struct region, i), l, &e.sums, i);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	s->end = l->next ? s->end : at;
	g_free(l->region);
}

static int save_thread(struct profile *out, uint32_t thread, const struct retired *retired, const struct sums *sums)
{
	struct slot_counts slots = slot_counts(sums);

	return profile_thread(out, thread, retired->instructions, sums->uops, retired->units, &slots);
}

static int slots_save(const void *state, struct profile *out)
{
	const struct slots *s = state;
	const struct regions *regions = s->order.regions;
	uint32_t nr = regions ? regions_count(regions) : 0;
	int err = 0;

	for (guint i = 0; i < s->ended->len && !err; i++) {
		const struct ended *e = &g_array_index(s->ended, struct ended, i);

		err = save_thread(out, e->thread, &e->retired, &e->sums);
	}
	for (const struct slots_lane *l = s->first; l && !err; l = l->next) {
		struct sums now = sums_counted(s, l);

		err = save_thread(out, l->order.thread, &l->retired, &now);
	}
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct region r = region_sum(s, i);
		struct slot_counts slots = slot_counts(&r.slots);
		if (r.entries || slots.total)
			err = profile_region(out, regions_name(regions, i), r.entries, r.retired.instructions,
			                     r.retired.units, &slots);
	}
	return err;
}

static void slots_close(void *state)
{
	struct slots *s = state;

	for (struct slots_lane *l = s->first; l; l = l->next)
		g_free(l->region);
	g_array_free(s->ended, TRUE);
	g_array_free(s->regions, TRUE);
}

const struct method method_slots = {
	.name = "slots",
	.help = "issue slots: total, filled, issued and retired, of each thread and marked region",
	.state_size = sizeof(struct slots),
	.lane_size = sizeof(struct slots_lane),
	.open = slots_open,
	.lane = slots_lane,
	.block = slots_block,
	.finish = slots_finish,
	.end = slots_end,
	.save = slots_save,
	.close = slots_close,
};
