#include "cmd/relay.h"

#include <glib.h>
#include <string.h>

#include "cmd/pipe.h"

enum { SLOTS = 8, RECORDS = 4096 };    /* 2 MiB: beyond a level-2 cache, within a last-level one */

struct batch {
	void *lane;
	size_t n;                      /* 0: the lane ends */
	struct timed t[RECORDS];
};

struct relay {
	struct pipe *pipe;
	relay_take *take;
	void *ctx;
};

static void take(void *ctx, void *slot)
{
	const struct relay *r = ctx;
	const struct batch *b = slot;

	r->take(r->ctx, b->lane, b->n ? b->t : NULL, b->n);
}

int relay_new(struct relay **out, relay_take *function, void *ctx)
{
	struct relay *r = g_new0(struct relay, 1);
	int err;

	r->take = function;
	r->ctx = ctx;
	err = pipe_new(&r->pipe, "methods", SLOTS, sizeof(struct batch), take, r);
	if (err) {
		g_free(r);
		return err;
	}
	*out = r;
	return 0;
}

void relay_free(struct relay *r)
{
	if (!r)
		return;
	pipe_free(r->pipe, NULL);
	g_free(r);
}

static void give(struct relay *r, void *lane, const struct timed *t, size_t n)
{
	struct batch *b = pipe_slot(r->pipe);

	b->lane = lane;
	b->n = n;
	if (n)
		memcpy(b->t, t, n * sizeof *t);
	pipe_give(r->pipe);
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
	pipe_wait(r->pipe);
}
