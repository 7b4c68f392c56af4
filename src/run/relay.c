#include "run/relay.h"

#include <glib.h>
#include <string.h>

#include "run/pipe.h"

/*
 * Large batches to another thread, since every one wakes it: 4 MiB, beyond a level-2 cache, within a last-level one.
 * Small ones to the same: 16 KiB.
 */
enum { SLOTS = 4, RECORDS = 16384, RECORDS_HERE = 256 };

struct batch {
	void *lane;
	size_t n;                      /* 0: the lane ends */
	struct timed t[];              /* [relay.records] */
};

struct relay {
	struct pipe *pipe;             /* NULL: there is no other thread ... */
	struct batch *here;            /* ... and one batch */
	size_t records;
	struct batch *open;            /* being filled; NULL: none */
	relay_take *take;
	void *ctx;
};

static void take(void *ctx, void *slot)
{
	const struct relay *r = ctx;
	const struct batch *b = slot;

	r->take(r->ctx, b->lane, b->n ? b->t : NULL, b->n);
}

int relay_new(struct relay **out, bool beside, relay_take *function, void *ctx)
{
	struct relay *r = g_new0(struct relay, 1);
	int err = 0;

	r->take = function;
	r->ctx = ctx;
	r->records = beside ? RECORDS : RECORDS_HERE;
	const size_t size = sizeof(struct batch) + r->records * sizeof(struct timed);
	if (beside)
		err = pipe_new(&r->pipe, "methods", SLOTS, size, take, r);
	else
		r->here = g_malloc0(size);
	if (err) {
		g_free(r);
		return err;
	}
	*out = r;
	return 0;
}

/* The batch that is being filled goes on its way. */
static void close_batch(struct relay *r)
{
	if (r->open && r->pipe)
		pipe_give(r->pipe);
	else if (r->open)
		take(r, r->open);
	r->open = NULL;
}

static struct batch *open_batch(struct relay *r, void *lane)
{
	r->open = r->pipe ? pipe_slot(r->pipe) : r->here;
	r->open->lane = lane;
	r->open->n = 0;
	return r->open;
}

void relay_free(struct relay *r)
{
	if (!r)
		return;
	close_batch(r);
	pipe_free(r->pipe, NULL);
	g_free(r->here);
	g_free(r);
}

struct timed *relay_room(struct relay *r, void *lane, size_t *n)
{
	if (r->open && r->open->lane != lane)
		close_batch(r);
	struct batch *b = r->open ? r->open : open_batch(r, lane);
	*n = r->records - b->n;
	return b->t + b->n;
}

void relay_give(struct relay *r, void *lane, const struct timed *t, size_t n)
{
	struct batch *b = r->open;

	if (b && (b->lane != lane || !t))
		close_batch(r);
	if (!t) {
		open_batch(r, lane);
		close_batch(r);
		return;
	}
	while (n) {
		b = r->open ? r->open : open_batch(r, lane);
		size_t some = MIN(n, r->records - b->n);

		if (t != b->t + b->n)
			memcpy(b->t + b->n, t, some * sizeof *t);
		b->n += some;
		t += some;
		n -= some;
		if (b->n == r->records)
			close_batch(r);
	}
}

void relay_wait(struct relay *r)
{
	close_batch(r);
	if (r->pipe)
		pipe_wait(r->pipe);
}
