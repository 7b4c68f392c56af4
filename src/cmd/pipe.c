#include "cmd/pipe.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Slots i % slots for taken <= i < given belong to the taker, the others to the giver. */
struct pipe {
	GMutex lock;
	GCond changed;
	uint64_t given, taken;         /* under the lock */
	bool closing;
	GThread *thread;
	void (*take)(void *ctx, void *slot);
	void *ctx;
	unsigned slots;
	size_t size;
	char *slot;                    /* [slots][size] */
};

static void *slot_at(const struct pipe *p, uint64_t i)
{
	return p->slot + i % p->slots * p->size;
}

static gpointer work(gpointer data)
{
	struct pipe *p = data;

	g_mutex_lock(&p->lock);
	for (;;) {
		while (p->taken == p->given && !p->closing)
			g_cond_wait(&p->changed, &p->lock);
		if (p->taken == p->given)
			break;
		void *slot = slot_at(p, p->taken);
		g_mutex_unlock(&p->lock);
		p->take(p->ctx, slot);
		g_mutex_lock(&p->lock);
		p->taken++;
		g_cond_broadcast(&p->changed);
	}
	g_mutex_unlock(&p->lock);
	return NULL;
}

int pipe_new(struct pipe **out, const char *name, unsigned slots, size_t size, void (*take)(void *ctx, void *slot), void *ctx)
{
	struct pipe *p = g_new0(struct pipe, 1);
	GError *e = NULL;

	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	p->take = take;
	p->ctx = ctx;
	p->slots = slots;
	p->size = size;
	p->slot = g_malloc0_n(slots, size);
	p->thread = g_thread_try_new(name, work, p, &e);
	if (!p->thread) {
		error_set(EAGAIN, name, "a thread for it cannot be had: %s", e->message);
		g_error_free(e);
		pipe_free(p, NULL);
		return -EAGAIN;
	}
	*out = p;
	return 0;
}

void pipe_free(struct pipe *p, void (*fini)(void *slot))
{
	if (!p)
		return;
	g_mutex_lock(&p->lock);
	p->closing = true;
	g_cond_broadcast(&p->changed);
	g_mutex_unlock(&p->lock);
	if (p->thread)
		g_thread_join(p->thread);
	for (unsigned i = 0; fini && i < p->slots; i++)
		fini(slot_at(p, i));
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p->slot);
	g_free(p);
}

void *pipe_slot(struct pipe *p)
{
	g_mutex_lock(&p->lock);
	while (p->given - p->taken == p->slots)
		g_cond_wait(&p->changed, &p->lock);
	g_mutex_unlock(&p->lock);
	return slot_at(p, p->given);
}

void pipe_give(struct pipe *p)
{
	g_mutex_lock(&p->lock);
	p->given++;
	g_cond_broadcast(&p->changed);
	g_mutex_unlock(&p->lock);
}

void pipe_wait(struct pipe *p)
{
	g_mutex_lock(&p->lock);
	while (p->taken != p->given)
		g_cond_wait(&p->changed, &p->lock);
	g_mutex_unlock(&p->lock);
}
