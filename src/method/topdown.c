/*
 * Top-down analysis, second level: a part of each class of the first (slots.c), so that the two parts sum to it exactly.
 *
 *   front end        latency: slots of cycles in which it offered nothing at all; the others: bandwidth
 *   bad speculation  branch: slots of wrong-path uops, and those left empty after a mispredicted branch, before the first of
 *                    the right path is offered; the others: machine clears (memory order, exceptions, flushes)
 *   back end         memory: slots of uops that waited while the oldest instruction was one with a miss of the data cache
 *                    or TLB, and not done; the others: the core's ports, latencies and structures
 *
 * Here are the first ones of each pair, in slots, per thread; the rest is by subtraction. Slots are those of slots.c: in the
 * order of dispatch, classed by the same rules, from and to the same instructions of a counted window. A squash that the
 * core finds without a branch counts as a machine clear with all behind it, but for the wrong paths in its shadow.
 * Ref: Yasin, "A top-down method", ISPASS 2014.
 */
#include <glib.h>
#include <string.h>

#include "method/feed.h"
#include "profile/profile.h"

enum { WIDTH = 16, FLUSHES = 4, FLIPS = 64 };
enum { DATA_EVENTS = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

#define NEVER UINT64_MAX

struct span { uint64_t from, to; };
struct refill { uint64_t cycle; bool branch; };
struct flip { uint64_t cycle; bool counting; }; /* counting: before it */

struct parts { uint64_t latency, branch, memory; };

/* Invariant as in slots.c: all slots before the `used`-th of `cycle` are classed. */
struct topdown_lane {
	struct topdown_lane *next;
	uint32_t thread;
	bool begun, counting;
	uint64_t cycle, end;
	uint32_t used;
	uint64_t nr;                   /* uops offered */
	uint64_t turn[2 * WIDTH];      /* [nr % (2 * WIDTH)]: first cycle after it went, or was squashed */
	struct parts parts;
	struct refill flush[FLUSHES];   /* after which nothing of the right path came yet */
	uint32_t nr_flushes;
	struct flip flip[FLIPS];       /* by nr_flips % FLIPS */
	uint32_t nr_flips;
	GArray *misses;                /* struct span: cycles in which the oldest had a data miss and was not done; from .first on */
	guint first;
	uint64_t seen;                 /* intervals up to this cycle are in `misses` */
};

struct topdown {
	uint32_t width;
	struct topdown_lane *first, **end;
};

static int topdown_open(void *state, const struct run *run)
{
	struct topdown *s = state;

	s->width = (uint32_t)run->desc->rename_width;
	g_assert(s->width <= WIDTH);
	s->end = &s->first;
	return 0;
}

static int topdown_lane(void *state, void *lane, uint32_t thread)
{
	struct topdown *s = state;
	struct topdown_lane *l = lane;

	l->thread = thread;
	l->nr = s->width;
	l->misses = g_array_new(FALSE, FALSE, sizeof(struct span));
	*s->end = l;
	s->end = &l->next;
	return 0;
}

/* --- the oldest instruction -------------------------------------------------------------------------- */

/* The intervals that are final, and those that still may grow: what they grow by comes with a later block. */
static void find_misses(struct topdown_lane *l, const struct walked *w)
{
	if (l->first) {
		g_array_remove_range(l->misses, 0, l->first);
		l->first = 0;
	}
	for (const struct interval *v = w->v; v < w->v + w->nr + w->nr_open; v++) {
		struct span s = { MAX(v->enter, l->seen), v->commit };
		if (v->psv & DATA_EVENTS && s.from < s.to)
			g_array_append_val(l->misses, s);
		l->seen = MAX(l->seen, v->commit);
	}
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

/* The next uop, offered in the cycle `avail`, waits in the cycles before `to` that are its turn to. */
static void wait(struct topdown_lane *l, uint32_t width, uint64_t avail, uint64_t to, uint64_t turn_after)
{
	uint64_t turn = l->turn[(l->nr - width) % (2 * WIDTH)], from = MAX(avail, turn);
	uint32_t i = l->nr_flips;

	l->turn[l->nr++ % (2 * WIDTH)] = turn_after;
	while (i > 0 && l->nr_flips - i < FLIPS && l->flip[(i - 1) % FLIPS].cycle > from)
		i--;
	for (; i < l->nr_flips && from < to; i++) {
		const struct flip *f = &l->flip[i % FLIPS];
		if (f->counting)
			l->parts.memory += missing(l, from, MIN(f->cycle, to));
		from = f->cycle;
	}
	if (from < to && l->counting)
		l->parts.memory += missing(l, from, to);
}

/* --- empty slots ------------------------------------------------------------------------------------- */

/* Slots before the cycle `to`, where `t` is the next to have one, or to have waited for one. */
static void empty(struct topdown_lane *l, uint32_t width, const struct timed *t, uint64_t to)
{
	uint64_t avail = t->fetch + t->avail, until = MIN(avail, to), flushed = NEVER;
	bool branch = false;

	for (uint32_t i = 0; i < l->nr_flushes && !(t->flags & TIMED_WRONG); i++)
		if (l->flush[i].cycle < flushed) {
			flushed = l->flush[i].cycle;
			branch = l->flush[i].branch;
		}
	/* Nothing at all came in the cycles [from, until): those up to the flush are latency. */
	uint64_t from = l->used ? l->cycle + 1 : l->cycle, recovers = flushed == NEVER ? until : MAX(flushed + 1, l->cycle);
	if (!l->counting)
		return;
	if (from < MIN(recovers, until))
		l->parts.latency += (MIN(recovers, until) - from) * width;
	if (branch && recovers < until)
		l->parts.branch += (until - recovers) * width - (recovers == l->cycle ? l->used : 0);
}

/* Something of the right path came: flushes before its fetch are over. Where it commits, all before it are. */
static void recovered(struct topdown_lane *l, const struct timed *t)
{
	uint32_t n = 0;

	if (t->flags & TIMED_SQUASHED)
		for (uint32_t i = 0; i < l->nr_flushes; i++)
			if (l->flush[i].cycle > t->fetch)
				l->flush[n++] = l->flush[i];
	l->nr_flushes = n;
}

static void flushes(struct topdown_lane *l, const struct timed *t)
{
	bool branch = t->flags & TIMED_MISPREDICT;
	uint64_t cycle = branch && t->complete != TIMED_NEVER ? t->fetch + t->complete : timed_leave(t);

	if (l->nr_flushes < FLUSHES)
		l->flush[l->nr_flushes++] = (struct refill){ cycle, branch };
}

/* --- records ----------------------------------------------------------------------------------------- */

static void advance(struct topdown_lane *l, uint64_t cycle)
{
	if (cycle > l->cycle) {
		l->cycle = cycle;
		l->used = 0;
	}
}

static void flip(struct topdown_lane *l)
{
	l->flip[l->nr_flips++ % FLIPS] = (struct flip){ l->cycle, l->counting };
	l->counting = !l->counting;
}

static void go(const struct topdown *s, struct topdown_lane *l, const struct timed *t)
{
	bool commits = timed_commits(t), wrong = t->flags & TIMED_WRONG, enters = t->dispatch != TIMED_NEVER;
	uint64_t leave = timed_leave(t), to = enters ? timed_dispatch(t) : leave + 1, avail = t->fetch + t->avail;
	uint32_t slot = 0;

	if (t->avail == TIMED_NEVER)
		return;
	if (to > l->cycle)
		empty(l, s->width, t, to);
	if (l->nr_flushes && !wrong)
		recovered(l, t);
	advance(l, to);
	if (enters && t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT) && !wrong)
		flushes(l, t);
	if (commits && l->counting != !!(t->flags & TIMED_COUNTED))
		flip(l);
	for (; enters && slot < t->slots; slot++) {
		if (l->used == s->width) {
			if (!commits && l->cycle >= leave)
				break;
			l->cycle++;
			l->used = 0;
		}
		wait(l, s->width, avail, l->cycle, l->cycle + 1);
		l->used++;
	}
	if (l->counting && wrong)
		l->parts.branch += slot;
	for (; slot < t->slots; slot++)
		wait(l, s->width, avail, leave + 1, leave + 1);
}

static void topdown_block(void *state, void *lane, const struct block *b)
{
	const struct topdown *s = state;
	struct topdown_lane *l = lane;

	if (!l->begun && b->n) {
		l->begun = true;
		l->counting = b->t->flags & TIMED_COUNTED;
	}
	find_misses(l, &b->walked);
	for (const struct timed *t = b->t; t < b->t + b->n; t++)
		go(s, l, t);
	l->end = b->walked.end;
}

/* After the last record nothing is offered any more. */
static void topdown_finish(void *state, void *lane)
{
	const struct topdown *s = state;
	struct topdown_lane *l = lane;
	uint64_t from = l->used ? l->cycle + 1 : l->cycle;

	if (l->counting && from < l->end)
		l->parts.latency += (l->end - from) * s->width;
}

static int topdown_save(const void *state, struct profile *out)
{
	const struct topdown *s = state;
	struct parts sum = { 0 };
	int err;

	for (const struct topdown_lane *l = s->first; l; l = l->next) {
		sum.latency += l->parts.latency;
		sum.branch += l->parts.branch;
		sum.memory += l->parts.memory;
	}
	err = profile_figure(out, "topdown", "frontend_latency", (double)sum.latency);
	if (!err)
		err = profile_figure(out, "topdown", "branch_mispredicts", (double)sum.branch);
	if (!err)
		err = profile_figure(out, "topdown", "memory_bound", (double)sum.memory);
	return err;
}

static void topdown_close(void *state)
{
	struct topdown *s = state;

	for (struct topdown_lane *l = s->first; l; l = l->next)
		g_array_free(l->misses, TRUE);
}

const struct method method_topdown = {
	.name = "topdown",
	.help = "second level of top-down analysis: front-end latency, branch mispredictions, memory",
	.set = METHODS_STAT,
	.state_size = sizeof(struct topdown),
	.lane_size = sizeof(struct topdown_lane),
	.open = topdown_open,
	.lane = topdown_lane,
	.block = topdown_block,
	.finish = topdown_finish,
	.save = topdown_save,
	.close = topdown_close,
};
