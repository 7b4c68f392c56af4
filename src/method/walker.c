#include "method/walker.h"

#include <assert.h>
#include <string.h>

/* Share of a cycle in which n commit, and how many of them, the oldest first, get one unit more: [n]. */
#define SHARE(n) [n] = { CYCLE_UNITS / (n), CYCLE_UNITS % (n) }
#define SHARES(n) SHARE(n), SHARE(n + 1), SHARE(n + 2), SHARE(n + 3), SHARE(n + 4), SHARE(n + 5), SHARE(n + 6), SHARE(n + 7)
static const struct { uint32_t units, more; } shares[WALKER_MATES + 1] = {
	[0] = { 0, 0 }, /* squashed */
	SHARES(1), SHARES(9), SHARES(17), SHARES(25), SHARES(33), SHARES(41), SHARES(49), SHARES(57),
};

void walker_init(struct walker *w)
{
	w->at = (struct walker_at){ .commit = WALKER_NONE };
	w->squashed = w->given = 0;
}

static inline uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Its own wait to be alone in the ROB, as an instruction that serialises. */
static inline bool waits_to_serialise(const struct timed *t)
{
	return timed_dispatch_wait(t) == WAIT_SERIAL && t->flags & TIMED_FLUSHER;
}

static inline void charge(const struct walker_at *at, struct interval *v, const struct timed *t)
{
	v->insn = t->insn;
	v->psv = t->psv;
	v->flags = t->flags;
	v->code = (uint8_t)timed_code_level(t);
	v->own = !at->last_flushes;
	if (__builtin_expect(at->last_flushes, 0)) {
		v->payer = at->last;
		v->payer_psv = at->last_psv;
		v->empty = STATE_FLUSHED;
	} else {
		v->payer = t->insn;
		v->payer_psv = t->psv;
		v->empty = waits_to_serialise(t) ? STATE_FLUSHED : STATE_DRAINED;
	}
}

static inline void pay(struct walker_at *at, const struct timed *t)
{
	at->last = t->insn;
	at->last_psv = t->psv;
	at->last_flushes = t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT);
}

static inline void commit(struct walker_at *at, struct interval *v, const struct timed *t)
{
	uint64_t leave = timed_leave(t);
	bool joins = leave == at->commit;
	uint64_t from = at->from - joins;      /* then at->from is the cycle after `leave` */

	assert(leave >= from);
	charge(at, v, t);
	v->from = from;
	v->enter = clamp(timed_dispatch(t), from, leave);
	v->commit = leave;
	at->open = joins ? at->open : at->nr;
	v->place = (uint8_t)(at->nr - at->open);
	v->mates = (uint8_t)(v->place + 1);
	at->nr++;
	at->commit = leave;
	at->from = leave + 1;
	pay(at, t);
}

/* The instruction committed last goes on: its interval now ends with this record's commit. */
static void continued(struct walker_at *at, struct interval *v, const struct timed *t)
{
	uint64_t leave = timed_leave(t);

	if (at->commit == WALKER_NONE) {       /* its beginning is not in the stream */
		commit(at, v, t);
		return;
	}
	v--;
	if (v->own)
		v->payer_psv |= t->psv;
	v->psv |= t->psv;
	at->last_psv |= t->psv;
	if (leave == at->commit)
		return;
	assert(leave >= at->from);
	if (v->place) {                        /* older ones did commit in that cycle */
		v->from = v->enter = at->from;
		v->place = 0;
		v->mates = 1;
		at->open = at->nr - 1;
	}
	v->commit = leave;
	at->commit = leave;
	at->from = leave + 1;
}

/* Those that it squashed on its part leave no later than it does, and pay for nothing. */
static void squashed_flusher(struct walker *w, const struct timed *t)
{
	struct walker_at *at = &w->at;
	uint64_t end = timed_leave(t) + 1;

	if (end <= w->squashed)
		return;
	w->squashed = end;
	if (end > at->from) {
		struct interval *v = &w->v[at->nr];
		uint64_t enter = t->dispatch == TIMED_NEVER ? end : timed_dispatch(t);

		charge(at, v, t);
		v->from = at->from;
		v->enter = clamp(enter, v->from, end);
		v->commit = end;
		v->place = v->mates = 0;
		at->open = ++at->nr;
		at->commit = WALKER_NONE;
		at->from = end;
	}
	pay(at, t);
	at->last_flushes = true;
}

static void seldom(struct walker *w, const struct timed *t)
{
	if (!(t->flags & TIMED_SQUASHED))
		continued(&w->at, &w->v[w->at.nr], t);
	else if (t->flags & TIMED_FLUSHER)
		squashed_flusher(w, t);
}

/*
 * Gives v[0 .. open) its shares. Backwards, so that each learns from the next whether it is the last of its cycle;
 * without a branch on that, which no predictor would know (a third of the walk's time).
 */
static void give_out(struct walker *w, struct walked *out)
{
	uint32_t n = 0, last = UINT32_MAX;     /* all ones: is the last */
	uint16_t any = 0, every = UINT16_MAX;
	size_t nr = 0;

	for (size_t i = w->at.open; i-- > 0; ) {
		struct interval *v = &w->v[i];
		n = (v->mates & last) | (n & ~last);
		last = (uint32_t)(v->place == 0) * UINT32_MAX;
		v->units = shares[n].units + (v->place < shares[n].more);
		any |= v->flags;
		every &= v->flags;
		w->notable[nr] = (uint16_t)i;
		nr += (v->psv != 0) | !v->own;
	}
	*out = (struct walked){
		.v = w->v, .nr = w->at.open, .nr_open = w->at.nr - w->at.open, .notable = w->notable, .nr_notable = nr, .from = w->given, .end = walker_end(w),
		.any = any, .every = every,
	};
	w->given = out->end;
}

/* Forgets what was given out. */
static void keep_open(struct walker *w)
{
	w->at.nr -= w->at.open;
	assert(w->at.nr <= WALKER_MATES);
	memmove(w->v, w->v + w->at.open, w->at.nr * sizeof(*w->v));
	w->at.open = 0;
}

/* Records that are not on the wrong path, up to the first that is. */
static const struct timed *walk_right(struct walker *w, const struct timed *t, const struct timed *end)
{
	struct walker_at at = w->at;

	for (; t < end && !(t->flags & TIMED_WRONG); t++) {
		if (__builtin_expect(t->flags & (TIMED_SQUASHED | TIMED_CONTINUED), 0)) {
			w->at = at;
			seldom(w, t);
			at = w->at;
		} else {
			commit(&at, &w->v[at.nr], t);
		}
	}
	w->at = at;
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
	w->at.open = w->at.nr;
	w->at.commit = WALKER_NONE;
	give_out(w, out);
	w->at.open = w->at.nr = 0;
}
