#include "method/walker.h"

#include <assert.h>
#include <string.h>

/* Share of a cycle in which n commit; those with fewer mates than `more`, the oldest, get one unit more: [n]. */
#define SHARE(n) [n] = { CYCLE_UNITS / (n), CYCLE_UNITS % (n) + 1 }
#define SHARES(n) \
	SHARE(n), SHARE(n + 1), SHARE(n + 2), SHARE(n + 3), SHARE(n + 4), SHARE(n + 5), SHARE(n + 6), SHARE(n + 7)
static const struct { uint32_t units, more; } shares[WALKER_MATES + 1] = {
	[0] = { 0, 0 }, /* squashed */
	SHARES(1), SHARES(9), SHARES(17), SHARES(25), SHARES(33), SHARES(41), SHARES(49), SHARES(57),
};

void walker_init(struct walker *w)
{
	w->at = (struct walker_at){ .commit = WALKER_NONE };
	w->squashed = w->given = 0;
}

enum {
	FLUSHES = TIMED_FLUSHER | TIMED_MISPREDICT,
	SELDOM = TIMED_SQUASHED | TIMED_CONTINUED | FLUSHES, /* flags of records that do not just commit */
};

static inline uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Its own wait to be alone in the ROB, as an instruction that serialises. */
static inline bool waits_to_serialise(const struct timed *t)
{
	return timed_dispatch_wait(t) == WAIT_SERIAL && t->flags & TIMED_FLUSHER;
}

/* What it is, Drained for the time being. */
static inline void describe(struct interval *v, const struct timed *t)
{
	v->insn = t->insn;
	v->psv = t->psv;
	v->flags = t->flags;
	v->level = t->level;
	v->flushed = FLUSHED_NOT;
}

static void charge(const struct walker_at *at, struct interval *v, const struct timed *t)
{
	if (at->flushes) {
		v->flusher = at->flusher;
		v->flusher_psv = at->flusher_psv;
		v->flushed = FLUSHED_BY;
	} else if (waits_to_serialise(t)) {
		v->flushed = FLUSHED_ITSELF;
	}
}

static void flush(struct walker_at *at, const struct timed *t)
{
	at->flusher = t->insn;
	at->flusher_psv = t->psv;
	at->flushes = t->flags & FLUSHES;
}

static inline void commit(struct walker_at *at, struct interval *v, const struct timed *t)
{
	uint64_t leave = timed_leave(t);
	bool joins = leave == at->commit;
	uint64_t from = at->from - joins;      /* then at->from is the cycle after `leave` */

	assert(leave >= from);
	describe(v, t);
	v->from = from;
	v->enter = clamp(timed_dispatch(t), from, leave);
	v->commit = leave;
	at->mates = (at->mates & -(uint32_t)joins) + 1; /* no branch, which no predictor would know */
	v->mates = (uint8_t)at->mates;
	at->nr++;
	at->commit = leave;
	at->from = leave + 1;
}

/*
 * What most are, up to the first record that is not so: an instruction of its own that flushes nothing, behind one that
 * does not either. Where the walk is stays in registers.
 */
static const struct timed *walk_plain(struct walker *w, const struct timed *t, const struct timed *end)
{
	struct walker_at at = w->at;
	struct interval *v = &w->v[at.nr];

	for (; t < end && !(t->flags & (TIMED_WRONG | SELDOM)); t++)
		commit(&at, v++, t);
	w->at = at;
	return t;
}

/* It flushes, or one did before it. */
static void walk_flusher(struct walker *w, const struct timed *t)
{
	struct interval *v = &w->v[w->at.nr];

	commit(&w->at, v, t);
	charge(&w->at, v, t);
	flush(&w->at, t);
}

/* The instruction committed last goes on: its interval now ends with this record's commit. */
static void walk_continued(struct walker *w, const struct timed *t)
{
	struct walker_at *at = &w->at;
	uint64_t leave = timed_leave(t);

	if (at->commit == WALKER_NONE) {       /* its beginning is not in the stream */
		walk_flusher(w, t);
		return;
	}
	struct interval *v = &w->v[at->nr - 1];
	v->psv |= t->psv;
	at->flusher_psv |= t->psv;
	if (leave == at->commit)
		return;
	assert(leave >= at->from);
	if (at->mates > 1) {                   /* older ones did commit in that cycle */
		v->from = v->enter = at->from;
		v->mates = 1;
		at->mates = 1;
	}
	v->commit = leave;
	at->commit = leave;
	at->from = leave + 1;
}

/* Those that it squashed on its part leave no later than it does, and pay for nothing. */
static void walk_squashed_flusher(struct walker *w, const struct timed *t)
{
	struct walker_at *at = &w->at;
	uint64_t end = timed_leave(t) + 1;

	if (end <= w->squashed)
		return;
	w->squashed = end;
	if (end > at->from) {
		struct interval *v = &w->v[at->nr++];
		uint64_t enter = t->dispatch == TIMED_NEVER ? end : timed_dispatch(t);

		describe(v, t);
		charge(at, v, t);
		v->from = at->from;
		v->enter = clamp(enter, v->from, end);
		v->commit = end;
		v->mates = 0;
		at->mates = 0;
		at->commit = WALKER_NONE;
		at->from = end;
	}
	flush(at, t);
}

/* What does not just commit. */
static void walk_seldom(struct walker *w, const struct timed *t)
{
	if (!(t->flags & (TIMED_SQUASHED | TIMED_CONTINUED)))
		walk_flusher(w, t);
	else if (!(t->flags & TIMED_SQUASHED))
		walk_continued(w, t);
	else if (t->flags & TIMED_FLUSHER)
		walk_squashed_flusher(w, t);
}

/*
 * Gives v[0 .. nr - mates) their shares. Backwards, so that each learns from the next whether it is the last of its
 * cycle; without a branch on that, which no predictor would know (a third of the walk's time).
 */
static void give_out(struct walker *w, struct walked *out)
{
	uint64_t empty = 0, stalled = 0;
	uint32_t n = 0;                        /* how many commit in the cycle */
	bool last = true;
	uint16_t any = 0, every = UINT16_MAX;
	size_t nr = 0, final = w->at.nr - w->at.mates;

	for (size_t i = final; i-- > 0; ) {
		struct interval *v = &w->v[i];
		uint32_t mates = v->mates;
		n = last ? mates : n;
		last = mates <= 1;
		v->units = shares[n].units + (mates < shares[n].more);
		empty += v->enter - v->from;
		stalled += v->commit - v->enter;
		any |= v->flags;
		every &= v->flags;
		w->notable[nr] = (uint16_t)i;
		nr += interval_is_notable(v);
	}
	*out = (struct walked){
		.v = w->v, .nr = final, .nr_open = w->at.mates, .notable = w->notable, .nr_notable = nr, .empty = empty,
		.stalled = stalled,
		.from = w->given, .end = walker_end(w), .any = any, .every = every,
	};
	w->given = out->end;
}

/* Forgets what was given out. */
static void keep_open(struct walker *w)
{
	assert(w->at.mates <= WALKER_MATES);
	memmove(w->v, w->v + w->at.nr - w->at.mates, w->at.mates * sizeof(*w->v));
	w->at.nr = w->at.mates;
}

/* Records that are not on the wrong path, up to the first that is. */
static const struct timed *walk_right(struct walker *w, const struct timed *t, const struct timed *end)
{
	while (t < end && !(t->flags & TIMED_WRONG))
		if (w->at.flushes || t->flags & SELDOM)
			walk_seldom(w, t++);
		else
			t = walk_plain(w, t, end);
	return t;
}

void walker_read(struct walker *w, const struct timed *t, size_t n, struct walked *out)
{
	const struct timed *begin = t, *end = t + n;
	size_t nr = 0;

	assert(n <= WALKER_BLOCK);
	keep_open(w);
	while (t < end) {
		const struct timed *from = t;

		if (t->flags & TIMED_WRONG) {
			t++;
			continue;
		}
		t = walk_right(w, t, end);
		w->right[nr++] = (struct stretch){ (uint16_t)(from - begin), (uint16_t)(t - begin) };
	}
	give_out(w, out);
	out->right = w->right;
	out->nr_right = nr;
}

void walker_finish(struct walker *w, struct walked *out)
{
	keep_open(w);
	w->at.mates = 0;
	w->at.commit = WALKER_NONE;
	give_out(w, out);
	w->at.nr = 0;
}
