#include "method/walker.h"

#include <assert.h>
#include <string.h>

/* Share of a cycle in which n commit, and how many of them, the oldest first, get one unit more: [n]. */
#define SHARE(n) [n] = { CYCLE_UNITS / (n), CYCLE_UNITS % (n) }
#define SHARES(n) SHARE(n), SHARE(n + 1), SHARE(n + 2), SHARE(n + 3), SHARE(n + 4), SHARE(n + 5), SHARE(n + 6), SHARE(n + 7)
static const struct { uint32_t units, more; } shares[WALKER_MATES + 1] = {
	SHARES(1), SHARES(9), SHARES(17), SHARES(25), SHARES(33), SHARES(41), SHARES(49), SHARES(57),
};

void walker_init(struct walker *w)
{
	w->from = w->squashed = 0;
	w->commit = WALKER_NONE;
	w->last = w->last_psv = 0;
	w->last_flushes = false;
	w->open = w->nr = 0;
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

static inline void charge(const struct walker *w, struct interval *v, const struct timed *t)
{
	bool flushed = w->last_flushes;

	v->insn = t->insn;
	v->psv = t->psv;
	v->flags = t->flags;
	v->payer = flushed ? w->last : t->insn;
	v->payer_psv = (uint16_t)(flushed ? w->last_psv : t->psv);
	v->own = !flushed;
	v->empty = flushed || waits_to_serialise(t) ? STATE_FLUSHED : STATE_DRAINED;
}

static inline void pay(struct walker *w, const struct timed *t)
{
	w->last = t->insn;
	w->last_psv = t->psv;
	w->last_flushes = t->flags & (TIMED_FLUSHER | TIMED_MISPREDICT);
}

static inline void commit(struct walker *w, const struct timed *t)
{
	uint64_t leave = timed_leave(t);
	bool joins = leave == w->commit;
	struct interval *v = &w->v[w->nr];
	uint64_t from = joins ? leave : w->from;

	assert(leave >= from);
	charge(w, v, t);
	v->from = from;
	v->enter = clamp(timed_dispatch(t), from, leave);
	v->commit = leave;
	w->open = joins ? w->open : w->nr;
	v->place = (uint8_t)(w->nr - w->open);
	w->nr++;
	w->commit = leave;
	w->from = leave + 1;
	pay(w, t);
}

/* The instruction committed last goes on: its interval now ends with this record's commit. */
static void continued(struct walker *w, const struct timed *t)
{
	uint64_t leave = timed_leave(t);

	if (w->commit == WALKER_NONE) {        /* its beginning is not in the stream */
		commit(w, t);
		return;
	}
	struct interval *v = &w->v[w->nr - 1];
	if (v->own)
		v->payer_psv |= t->psv;
	v->psv |= t->psv;
	w->last_psv |= t->psv;
	if (leave == w->commit)
		return;
	if (v->place) {                        /* older ones did commit in that cycle */
		v->from = v->enter = w->from;
		v->place = 0;
		w->open = w->nr - 1;
	}
	assert(leave >= w->from);
	v->commit = leave;
	w->commit = leave;
	w->from = leave + 1;
}

/* Those that it squashed on its part leave no later than it does, and pay for nothing. */
static void squashed_flusher(struct walker *w, const struct timed *t)
{
	uint64_t end = timed_leave(t) + 1;

	if (end <= w->squashed)
		return;
	w->squashed = end;
	if (end > w->from) {
		struct interval *v = &w->v[w->nr];
		uint64_t enter = t->dispatch == TIMED_NEVER ? end : timed_dispatch(t);

		charge(w, v, t);
		v->from = w->from;
		v->enter = clamp(enter, v->from, end);
		v->commit = end;
		v->place = 0;
		w->nr++;
		w->open = w->nr;
		w->commit = WALKER_NONE;
		w->from = end;
	}
	pay(w, t);
	w->last_flushes = true;
}

static void seldom(struct walker *w, const struct timed *t)
{
	if (t->flags & TIMED_WRONG)
		return;
	if (!(t->flags & TIMED_SQUASHED))
		continued(w, t);
	else if (t->flags & TIMED_FLUSHER)
		squashed_flusher(w, t);
}

/* Gives v[0 .. open) its shares. Backwards, so that each learns from the next whether it is the last of its cycle. */
static size_t give_out(struct walker *w, const struct interval **out)
{
	unsigned n = 1;
	bool last = true;

	for (size_t i = w->open; i-- > 0; ) {
		struct interval *v = &w->v[i];
		n = last ? v->place + 1u : n;
		last = v->place == 0;
		v->units = shares[n].units + (v->place < shares[n].more);
		if (v->flags & TIMED_SQUASHED)
			v->units = 0;
	}
	*out = w->v;
	return w->open;
}

size_t walker_read(struct walker *w, const struct timed **t, const struct timed *end, const struct interval **out)
{
	const struct timed *r = *t, *stop = end - r > WALKER_BLOCK ? r + WALKER_BLOCK : end;

	w->nr -= w->open;
	assert(w->nr <= WALKER_MATES);
	memmove(w->v, w->v + w->open, w->nr * sizeof(*w->v));
	w->open = 0;
	for (; r < stop; r++) {
		if (r->flags & (TIMED_WRONG | TIMED_SQUASHED | TIMED_CONTINUED))
			seldom(w, r);
		else
			commit(w, r);
	}
	*t = stop;
	return give_out(w, out);
}

size_t walker_finish(struct walker *w, const struct interval **out)
{
	w->nr -= w->open;
	memmove(w->v, w->v + w->open, w->nr * sizeof(*w->v));
	w->open = w->nr;
	w->commit = WALKER_NONE;
	size_t n = give_out(w, out);
	w->open = w->nr = 0;
	return n;
}
