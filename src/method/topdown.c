/*
 * Top-down analysis, second level: a part of each class of the first (slots.c), so that the two parts sum to it
 * exactly.
 *
 *   front end        latency: slots of cycles in which it offered nothing at all; the others: bandwidth
 *   bad speculation  branch: slots of wrong-path uops, and those left empty after a mispredicted branch, before the
 *                    first of the right path is offered; the others: machine clears (memory order, exceptions,
 *                    flushes)
 *   back end         memory: slots of uops that waited while the oldest instruction was one with a miss of the data
 *                    cache or TLB, and not done; the others: the core's ports, latencies and structures
 *
 * Here are the first ones of each pair, in slots, of the run, of each thread and marked region; the rest is by
 * subtraction. Slots are those of slots.c: in the order of dispatch, classed by the same rules, from and to the same
 * instructions of a counted window or region; sums are of all that is counted, regions are differences of them. A
 * squash that the core finds without a branch counts as a machine clear with all behind it, but for the wrong paths in
 * its shadow.
 * Ref: Yasin, "A top-down method", ISPASS 2014.
 */
#include <glib.h>
#include <string.h>

#include "method/slot_order.h"
#include "profile/profile.h"

enum { DATA_EVENTS = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

struct span { uint64_t from, to; };
struct parts { uint64_t latency, branch, memory; };

/* A marked region in one thread. */
struct region {
	uint32_t depth;
	struct parts parts;            /* of those that are over ... */
	struct parts since;            /* ... and the lane's at the beginning of the one that is not */
};

struct topdown_lane {
	struct topdown_lane *next;
	struct slot_lane order;
	struct parts parts;
	struct region *region;         /* [nr_regions] */
	uint32_t nr_regions;
	GArray *misses;                /* struct span: cycles in which the oldest had a data miss and was not done;
	                                * from .first on */
	guint first;
	uint64_t seen;                 /* intervals up to this cycle are in `misses` */
};

/* Of a thread that has ended. */
struct ended {
	uint32_t thread;
	struct parts parts;
};
_Static_assert(sizeof(struct ended) <= METHOD_ROW, "what a thread leaves behind is small");

struct topdown {
	struct slot_order order;
	struct topdown_lane *first, **end;
	GArray *ended;                 /* struct ended */
	GArray *regions;               /* struct parts, by index: sums of all those */
};

static int topdown_open(void *state, const struct run *run)
{
	struct topdown *s = state;

	slot_order_init(&s->order, run);
	s->end = &s->first;
	s->ended = g_array_new(FALSE, FALSE, sizeof(struct ended));
	s->regions = g_array_new(FALSE, TRUE, sizeof(struct parts));
	return 0;
}

static int topdown_lane(void *state, void *lane, uint32_t thread)
{
	struct topdown *s = state;
	struct topdown_lane *l = lane;

	slot_lane_init(&l->order, &s->order, thread);
	l->misses = g_array_new(FALSE, FALSE, sizeof(struct span));
	*s->end = l;
	s->end = &l->next;
	return 0;
}

/* --- the oldest instruction -------------------------------------------------------------------------- */

static void add_miss(struct topdown_lane *l, const struct interval *v)
{
	struct span s = { MAX(v->enter, l->seen), v->commit };

	if (v->psv & DATA_EVENTS && s.from < s.to)
		g_array_append_val(l->misses, s);
}

/* The intervals that are final, and those that still may grow: what they grow by comes with a later block. */
static void find_misses(struct topdown_lane *l, const struct walked *w)
{
	const struct interval *open = w->v + w->nr, *end = open + w->nr_open;

	if (l->first) {
		g_array_remove_range(l->misses, 0, l->first);
		l->first = 0;
	}
	for (size_t i = w->nr_notable; i-- > 0; )
		add_miss(l, &w->v[w->notable[i]]);
	for (const struct interval *v = open; v < end; v++)
		add_miss(l, v);
	if (end > w->v)
		l->seen = MAX(l->seen, end[-1].commit);
}

/* Cycles of [from, to) with such a miss; `from` never decreases. */
static uint64_t missing(struct topdown_lane *l, uint64_t from, uint64_t to)
{
	const struct span *s = (const struct span *)(void *)l->misses->data;
	uint64_t sum = 0;

	while (l->first < l->misses->len && s[l->first].to <= from)
		l->first++;
	for (guint i = l->first; i < l->misses->len && s[i].from < to; i++)
		sum += MIN(s[i].to, to) - MAX(s[i].from, from);
	return sum;
}

/*
 * The next uop, offered in the cycle `avail`, waits in the cycles before `to` that are its turn to. It is told when it
 * goes: what it waited before an edge that came in between belongs there.
 */
static void wait(struct topdown_lane *l, uint32_t width, uint64_t avail, uint64_t to, uint64_t turn_after)
{
	struct slot_lane *o = &l->order;
	uint64_t from = slot_wait(o, width, avail, turn_after), sum = 0;

	if (from >= to)
		return;
	for (uint32_t i = slot_first_edge(o, from); i < o->nr_edges; i++) {
		const struct slot_edge *e = &o->edge[i % SLOT_EDGES];
		uint64_t until = MIN(e->cycle, to);
		if (e->counting && from < until)
			sum += missing(l, from, until);
		from = until;
		if (e->region != SLOT_WINDOW)
			l->region[e->region].parts.memory += e->begins ? -sum : sum;
	}
	if (from < to && o->counting)
		sum += missing(l, from, to);
	l->parts.memory += sum;
}

/* --- empty slots ------------------------------------------------------------------------------------- */

/* Slots before the cycle `to`, where `t` is the next to have one, or to have waited for one. */
static void empty(struct topdown_lane *l, uint32_t width, const struct timed *t, uint64_t to)
{
	const struct slot_lane *o = &l->order;
	const struct slot_flush *flush = t->flags & TIMED_WRONG ? NULL : slot_first_flush(o);
	uint64_t avail = t->fetch + t->avail, until = MIN(avail, to);

	/* Nothing at all came in the cycles [from, until): those up to the flush are latency. */
	uint64_t from = o->used ? o->cycle + 1 : o->cycle, recovers = flush ? MAX(flush->cycle + 1, o->cycle) : until;
	if (!o->counting)
		return;
	if (from < MIN(recovers, until))
		l->parts.latency += (MIN(recovers, until) - from) * width;
	if (flush && flush->branch && recovers < until)
		l->parts.branch += (until - recovers) * width - (recovers == o->cycle ? o->used : 0);
}

/* --- records ----------------------------------------------------------------------------------------- */

static void parts_add(struct parts *to, const struct parts *now, const struct parts *then)
{
	to->latency += now->latency - then->latency;
	to->branch += now->branch - then->branch;
	to->memory += now->memory - then->memory;
}

static void mark_dispatches(const struct topdown *s, struct topdown_lane *l, uint32_t insn)
{
	struct mark mark;

	if (!s->order.regions || !regions_mark(s->order.regions, insn, &mark))
		return;
	if (mark.region >= l->nr_regions) {
		l->region = g_renew(struct region, l->region, mark.region + 1);
		memset(l->region + l->nr_regions, 0, (mark.region + 1 - l->nr_regions) * sizeof(*l->region));
		l->nr_regions = mark.region + 1;
	}
	struct region *r = &l->region[mark.region];
	if (mark.begin && !r->depth++) {
		r->since = l->parts;
		slot_edge_push(&l->order, mark.region, true);
	} else if (!mark.begin && r->depth && !--r->depth) {
		parts_add(&r->parts, &l->parts, &r->since);
		slot_edge_push(&l->order, mark.region, false);
	}
}

static void go(const struct topdown *s, struct topdown_lane *l, const struct timed *t)
{
	bool commits = timed_commits(t), wrong = t->flags & TIMED_WRONG, enters = t->dispatch != TIMED_NEVER;
	uint64_t leave = timed_leave(t), to = enters ? timed_dispatch(t) : leave + 1, avail = t->fetch + t->avail;
	uint32_t slot = 0, width = s->order.width;
	struct slot_lane *o = &l->order;

	if (t->avail == TIMED_NEVER)
		return;
	if (to > o->cycle)
		empty(l, width, t, to);
	if (o->nr_flushes && !wrong)
		slot_recovered(o, t);
	slot_advance(o, to);
	if (enters && t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT) && !wrong)
		slot_flushed(o, t);
	if (commits && o->counting != !!(t->flags & TIMED_COUNTED))
		slot_window(o);
	if (commits && t->flags & TIMED_MARK)
		mark_dispatches(s, l, t->insn);
	for (; enters && slot < t->slots && slot_take(o, width, commits, leave); slot++)
		wait(l, width, avail, o->cycle, o->cycle + 1);
	if (o->counting && wrong)
		l->parts.branch += slot;
	for (; slot < t->slots; slot++)
		wait(l, width, avail, leave + 1, leave + 1);
}

/*
 * What most are: of at most one slot, and nothing begins, ends or is flushed with it. Takes records up to the first
 * that is not so, and returns it.
 */
static const struct timed *go_plain(const struct topdown *s, struct topdown_lane *l, const struct timed *t,
                                    const struct timed *end)
{
	struct slot_lane *o = &l->order;
	const uint32_t usual = slot_usual(o), width = s->order.width;
	struct parts sum = { 0 };
	uint64_t cycle = o->cycle, nr = o->nr;
	uint32_t used = o->used;

	for (; t < end; t++) {
		bool never = t->dispatch == TIMED_NEVER;       /* then its turn is over with its squash, and it gets
		                                                * no slot */
		uint32_t slots = t->slots, gets = never ? 0 : slots, commits = t->flags & TIMED_WRONG ? 0 : UINT32_MAX;
		uint64_t to = t->fetch + (never ? t->leave + 1 : t->dispatch), avail = t->fetch + t->avail;

		if (t->avail == TIMED_NEVER)
			continue;
		uint64_t from = slot_waits_from(o, width, nr, avail);
		if (__builtin_expect(!slot_is_usual(t, usual, commits) | (slots > 1) | (from < o->last_edge), 0))
			break;
		if (to > cycle) {
			uint64_t first = cycle + (used > 0), until = MIN(avail, to);
			sum.latency += first < until ? (until - first) * width : 0;
			cycle = to;
			used = 0;
		}
		o->turn[nr % (2 * SLOT_WIDTH)] = to + !never;
		nr += slots;
		used += gets;
		sum.branch += gets & ~commits;
		if (from < to && slots)
			sum.memory += missing(l, from, to);
	}
	o->cycle = cycle;
	o->used = used;
	o->nr = nr;
	if (o->counting) {
		const struct parts zero = { 0 };
		parts_add(&l->parts, &sum, &zero);
	}
	return t;
}

static void topdown_block(void *state, void *lane, const struct block *b)
{
	const struct topdown *s = state;
	struct topdown_lane *l = lane;

	slot_begin(&l->order, b);
	find_misses(l, &b->walked);
	for (const struct timed *t = b->t, *end = t + b->n; t < end; ) {
		t = go_plain(s, l, t, end);
		if (t < end)
			go(s, l, t++);
	}
	l->order.end = b->walked.end;
}

/* After the last record nothing is offered any more. */
static void topdown_finish(void *state, void *lane)
{
	const struct topdown *s = state;
	struct topdown_lane *l = lane;
	const struct slot_lane *o = &l->order;
	uint64_t from = o->used ? o->cycle + 1 : o->cycle;

	if (o->counting && from < o->end)
		l->parts.latency += (o->end - from) * s->order.width;
}

/* Saved as figures of `name`, which is freed. */
static int save(struct profile *out, char *name, const struct parts *p)
{
	int err = profile_figure(out, name, "frontend_latency", (double)p->latency);

	if (!err)
		err = profile_figure(out, name, "branch_mispredicts", (double)p->branch);
	if (!err)
		err = profile_figure(out, name, "memory_bound", (double)p->memory);
	g_free(name);
	return err;
}

/* One thread's parts of one region; of one that is open, up to now. */
static void region_add(struct parts *sum, const struct topdown_lane *l, uint32_t index)
{
	const struct region *r = &l->region[index];
	const struct parts zero = { 0 };

	parts_add(sum, &r->parts, &zero);
	if (r->depth)
		parts_add(sum, &l->parts, &r->since);
}

/* Of all threads. False: nothing is in it. */
static bool region_sum(const struct topdown *s, uint32_t index, struct parts *out)
{
	bool any = index < s->regions->len;

	*out = any ? g_array_index(s->regions, struct parts, index) : (struct parts){ 0 };
	for (const struct topdown_lane *l = s->first; l; l = l->next) {
		if (index >= l->nr_regions)
			continue;
		any = true;
		region_add(out, l, index);
	}
	return any;
}

static void topdown_end(void *state, void *lane)
{
	struct topdown *s = state;
	struct topdown_lane *l = lane, **at = &s->first;
	const struct ended e = { l->order.thread, l->parts };

	g_array_append_val(s->ended, e);
	if (l->nr_regions > s->regions->len)
		g_array_set_size(s->regions, l->nr_regions);
	for (uint32_t i = 0; i < l->nr_regions; i++)
		region_add(&g_array_index(s->regions, struct parts, i), l, i);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	s->end = l->next ? s->end : at;
	g_array_free(l->misses, TRUE);
	g_free(l->region);
}

static int topdown_save(const void *state, struct profile *out)
{
	const struct topdown *s = state;
	const struct parts zero = { 0 };
	const struct regions *regions = s->order.regions;
	uint32_t nr = regions ? regions_count(regions) : 0;
	struct parts sum = { 0 };
	int err;

	for (guint i = 0; i < s->ended->len; i++)
		parts_add(&sum, &g_array_index(s->ended, struct ended, i).parts, &zero);
	for (const struct topdown_lane *l = s->first; l; l = l->next)
		parts_add(&sum, &l->parts, &zero);
	err = save(out, g_strdup(TOPDOWN_RUN), &sum);
	for (guint i = 0; i < s->ended->len && !err; i++) {
		const struct ended *e = &g_array_index(s->ended, struct ended, i);

		err = save(out, g_strdup_printf(TOPDOWN_THREAD, e->thread), &e->parts);
	}
	for (const struct topdown_lane *l = s->first; l && !err; l = l->next)
		err = save(out, g_strdup_printf(TOPDOWN_THREAD, l->order.thread), &l->parts);
	for (uint32_t i = 0; i < nr && !err; i++)
		if (region_sum(s, i, &sum))
			err = save(out, g_strdup_printf(TOPDOWN_REGION, regions_name(regions, i)), &sum);
	return err;
}

static void topdown_close(void *state)
{
	struct topdown *s = state;

	for (struct topdown_lane *l = s->first; l; l = l->next) {
		g_array_free(l->misses, TRUE);
		g_free(l->region);
	}
	g_array_free(s->ended, TRUE);
	g_array_free(s->regions, TRUE);
}

const struct method method_topdown = {
	.name = "topdown",
	.help = "second level of top-down analysis: front-end latency, branch mispredictions, memory; of threads and "
	        "regions too",
	.set = METHODS_STAT,
	.state_size = sizeof(struct topdown),
	.lane_size = sizeof(struct topdown_lane),
	.open = topdown_open,
	.lane = topdown_lane,
	.block = topdown_block,
	.finish = topdown_finish,
	.end = topdown_end,
	.save = topdown_save,
	.close = topdown_close,
};
