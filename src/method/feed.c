#include "method/feed.h"

void feed_init(struct feed *f, struct clock *clock, uint32_t thread, const struct feed_target *target,
               size_t nr_targets)
{
	f->clock = clock;
	clock_lane_init(&f->ticks, clock, thread);
	walker_init(&f->walker);
	f->target = target;
	f->nr_targets = nr_targets;
}

void feed_fini(struct feed *f)
{
	clock_lane_fini(&f->ticks);
}

static void give(struct feed *f, const struct block *b)
{
	for (size_t i = 0; i < f->nr_targets; i++)
		f->target[i].method->block(f->target[i].state, f->target[i].lane, b);
}

void feed_batch(struct feed *f, const struct timed *t, size_t n)
{
	struct block b = { .t = t };

	for (; n; t += b.n, n -= b.n) {
		b.t = t;
		b.n = n < WALKER_BLOCK ? n : WALKER_BLOCK;
		walker_read(&f->walker, t, b.n, &b.walked);
		clock_make(f->clock, &f->ticks, f->walker.v, f->walker.at.nr);
		b.tick = f->ticks.tick;
		b.nr_ticks = f->ticks.nr;
		give(f, &b);
	}
}

void feed_finish(struct feed *f)
{
	struct block rest = { .n = 0 };

	walker_finish(&f->walker, &rest.walked);
	give(f, &rest);
	for (size_t i = 0; i < f->nr_targets; i++)
		if (f->target[i].method->finish)
			f->target[i].method->finish(f->target[i].state, f->target[i].lane);
}
