#include "method/inflight.h"

#include <glib.h>

void inflight_init(struct inflight *f)
{
	*f = (struct inflight){ .room = 1024 };
	f->path = g_new(struct flight_path, f->room);
}

void inflight_fini(struct inflight *f)
{
	g_free(f->path);
	f->path = NULL;
}

static struct flight_path *path(const struct inflight *f, uint64_t i)
{
	return &f->path[i & (f->room - 1)];
}

static void grow(struct inflight *f)
{
	struct flight_path *to = g_new(struct flight_path, 2 * f->room);

	for (uint64_t i = f->first; i < f->last; i++)
		to[i & (2 * f->room - 1)] = *path(f, i);
	g_free(f->path);
	f->path = to;
	f->room *= 2;
}

/* Sums up the flights that ended before anything younger could dispatch; all of them where nothing younger comes. */
static void finish_some(struct inflight *f, bool all, inflight_done *done, void *ctx)
{
	for (; f->done < f->last; f->done++) {
		const struct flight_path *p = path(f, f->done);

		while (f->at_end < f->last && path(f, f->at_end)->dispatch < p->leave)
			f->at_end++;
		if (f->at_end == f->last && !all)
			return;
		while (path(f, f->left_end)->leave < p->leave)
			f->left_end++;
		uint64_t slots = f->at_end < f->last ? path(f, f->at_end)->slots_before : f->slots;
		if (p->counted)
			done(ctx, p->insn, slots - p->dispatched, f->left_end - p->retired);
	}
}

void inflight_push(struct inflight *f, const struct timed *t, inflight_done *done, void *ctx)
{
	f->first = MIN(f->done, MIN(f->at_fetch, f->left_fetch));
	if (f->last - f->first == f->room)
		grow(f);
	struct flight_path *p = path(f, f->last++);
	*p = (struct flight_path){ .fetch = t->fetch, .dispatch = timed_dispatch(t), .leave = timed_leave(t),
	                           .slots_before = f->slots, .insn = t->insn, .counted = t->flags & TIMED_COUNTED };
	f->slots += t->slots;
	while (path(f, f->at_fetch)->dispatch < p->fetch)
		f->at_fetch++;
	while (path(f, f->left_fetch)->leave < p->fetch)
		f->left_fetch++;
	p->dispatched = path(f, f->at_fetch)->slots_before;
	p->retired = f->left_fetch;
	finish_some(f, false, done, ctx);
}

void inflight_finish(struct inflight *f, inflight_done *done, void *ctx)
{
	finish_some(f, true, done, ctx);
}
