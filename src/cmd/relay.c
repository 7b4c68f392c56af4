#include "cmd/relay.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

enum { SLOTS = 8, RECORDS = 4096 };    /* 2 MiB: beyond a level-2 cache, within a last-level one */

struct slot {
	void *lane;
	size_t n;                      /* 0: the lane ends */
	struct timed t[RECORDS];
};

/* slot[i % SLOTS] for taken <= i < given belong to the taker, the others to the giver. */
struct relay {
	GMutex lock;
	GCond changed;
	uint64_t given, taken;         /* batches; under the lock */
	bool closing;
	GThread *thread;
	relay_take *take;
	void *ctx;
	struct slot slot[SLOTS];
};

static gpointer work(gpointer p)
{
	struct relay *r = p;

	for (;;) {
		struct slot *s;

		g_mutex_lock(&r->lock);
		while (r->taken == r->given && !r->closing)
			g_cond_wait(&r->changed, &r->lock);
		if (r->taken == r->given) {
			g_mutex_unlock(&r->lock);
			return NULL;
		}
		s = &r->slot[r->taken % SLOTS];
		g_mutex_unlock(&r->lock);

		r->take(r->ctx, s->lane, s->n ? s->t : NULL, s->n);

		g_mutex_lock(&r->lock);
		r->taken++;
		g_cond_broadcast(&r->changed);
		g_mutex_unlock(&r->lock);
	}
}

int relay_new(struct relay **out, relay_take *take, void *ctx)
{
	struct relay *r = g_new0(struct relay, 1);
	GError *e = NULL;

	g_mutex_init(&r->lock);
	g_cond_init(&r->changed);
	r->take = take;
	r->ctx = ctx;
	r->thread = g_thread_try_new("methods", work, r, &e);
	if (!r->thread) {
		error_set(EAGAIN, "a thread for the methods", "%s", e->message);
		g_error_free(e);
		relay_free(r);
		return -EAGAIN;
	}
	*out = r;
	return 0;
}

void relay_free(struct relay *r)
{
	if (!r)
		return;
	g_mutex_lock(&r->lock);
	r->closing = true;
	g_cond_broadcast(&r->changed);
	g_mutex_unlock(&r->lock);
	if (r->thread)
		g_thread_join(r->thread);
	g_mutex_clear(&r->lock);
	g_cond_clear(&r->changed);
	g_free(r);
}

static void give(struct relay *r, void *lane, const struct timed *t, size_t n)
{
	struct slot *s;

	g_mutex_lock(&r->lock);
	while (r->given - r->taken == SLOTS)
		g_cond_wait(&r->changed, &r->lock);
	s = &r->slot[r->given % SLOTS];
	g_mutex_unlock(&r->lock);

	s->lane = lane;
	s->n = n;
	if (n)
		memcpy(s->t, t, n * sizeof *t);

	g_mutex_lock(&r->lock);
	r->given++;
	g_cond_broadcast(&r->changed);
	g_mutex_unlock(&r->lock);
}

void relay_give(struct relay *r, void *lane, const struct timed *t, size_t n)
{
	if (!t) {
		give(r, lane, NULL, 0);
		return;
	}
	for (size_t at = 0; at < n; at += RECORDS)
		give(r, lane, t + at, MIN(n - at, (size_t)RECORDS));
}

void relay_wait(struct relay *r)
{
	g_mutex_lock(&r->lock);
	while (r->taken != r->given)
		g_cond_wait(&r->changed, &r->lock);
	g_mutex_unlock(&r->lock);
}
