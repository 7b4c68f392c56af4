#include "run/workers.h"

#include <glib.h>
#include <stdbool.h>

enum { MOST_WORKERS = 64 };

struct job {
	void (*part)(void *ctx, unsigned i);
	void *ctx;
	gint next, nr;                 /* the part to be taken next */
};

struct workers {
	GThread *thread[MOST_WORKERS];
	unsigned nr;
	GMutex lock;
	GCond changed;
	struct job job;
	unsigned round, busy;          /* under the lock: of the present job; workers still at it */
	bool closing;
};

static void work_off(struct workers *w)
{
	gint i;

	while ((i = g_atomic_int_add(&w->job.next, 1)) < w->job.nr)
		w->job.part(w->job.ctx, (unsigned)i);
}

static gpointer work(gpointer p)
{
	struct workers *w = p;
	unsigned round = 0;

	g_mutex_lock(&w->lock);
	for (;;) {
		while (w->round == round && !w->closing)
			g_cond_wait(&w->changed, &w->lock);
		if (w->closing)
			break;
		round = w->round;
		g_mutex_unlock(&w->lock);
		work_off(w);
		g_mutex_lock(&w->lock);
		if (--w->busy == 0)
			g_cond_broadcast(&w->changed);
	}
	g_mutex_unlock(&w->lock);
	return NULL;
}

struct workers *workers_new(void)
{
	struct workers *w = g_new0(struct workers, 1);
	unsigned nr = g_get_num_processors();

	g_mutex_init(&w->lock);
	g_cond_init(&w->changed);
	while (w->nr + 1 < nr && w->nr < MOST_WORKERS) {
		w->thread[w->nr] = g_thread_try_new("variants", work, w, NULL);
		if (!w->thread[w->nr])
			break;
		w->nr++;
	}
	return w;
}

unsigned workers_threads(const struct workers *w)
{
	return w->nr + 1;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	g_mutex_lock(&w->lock);
	w->closing = true;
	g_cond_broadcast(&w->changed);
	g_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->nr; i++)
		g_thread_join(w->thread[i]);
	g_mutex_clear(&w->lock);
	g_cond_clear(&w->changed);
	g_free(w);
}

void workers_begin(struct workers *w, unsigned nr, void (*part)(void *ctx, unsigned i), void *ctx)
{
	g_mutex_lock(&w->lock);
	w->job = (struct job){ part, ctx, 0, (gint)nr };
	w->round++;
	w->busy = w->nr;
	g_cond_broadcast(&w->changed);
	g_mutex_unlock(&w->lock);
}

void workers_end(struct workers *w)
{
	work_off(w);
	g_mutex_lock(&w->lock);
	while (w->busy)
		g_cond_wait(&w->changed, &w->lock);
	g_mutex_unlock(&w->lock);
}

void workers_do(struct workers *w, unsigned nr, void (*part)(void *ctx, unsigned i), void *ctx)
{
	workers_begin(w, nr, part, ctx);
	workers_end(w);
}
