#include "run/pipe.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* Slots i % slots for taken <= i < given belong to the taker, the others to the giver. */
struct pipe {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t given, taken;         /* under the lock */
	bool closing;
	pthread_t thread;
	bool running;
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

static void *work(void *data)
{
	struct pipe *p = data;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->taken == p->given && !p->closing)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->taken == p->given)
			break;
		void *slot = slot_at(p, p->taken);
		pthread_mutex_unlock(&p->lock);
		p->take(p->ctx, slot);
		pthread_mutex_lock(&p->lock);
		p->taken++;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pipe_new(struct pipe **out, const char *name, unsigned slots, size_t size, void (*take)(void *ctx, void *slot),
             void *ctx)
{
	struct pipe *p = g_new0(struct pipe, 1);

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->take = take;
	p->ctx = ctx;
	p->slots = slots;
	p->size = size;
	p->slot = g_malloc0_n(slots, size);
	int err = pthread_create(&p->thread, NULL, work, p);
	p->running = !err;
	if (err) {
		error_set(err, name, "a thread for it cannot be had: %s", strerror(err));
		pipe_free(p, NULL);
		return -err;
	}
	pthread_setname_np(p->thread, name);
	*out = p;
	return 0;
}

void pipe_free(struct pipe *p, void (*fini)(void *slot))
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (p->running)
		pthread_join(p->thread, NULL);
	for (unsigned i = 0; fini && i < p->slots; i++)
		fini(slot_at(p, i));
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	g_free(p->slot);
	g_free(p);
}

void *pipe_slot(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->given - p->taken == p->slots)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return slot_at(p, p->given);
}

void pipe_give(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	p->given++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void pipe_wait(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->taken != p->given)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
