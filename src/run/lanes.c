#include "run/lanes.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "method/feed.h"
#include "method/slots.h"
#include "run/pipe.h"
#include "run/relay.h"

/*
 * One guest thread. A thread's core goes when it ends. What its methods have counted goes into their states, and the
 * rest serves another thread; the lanes of methods that cannot part with them stay.
 */
struct lane {
	struct lanes *lanes;
	uint32_t thread;
	struct core *core;             /* NULL: ended */
	struct feed feed;
	struct feed_target *target;    /* [nr_methods] */
};

enum {
	/*
	 * Batches that may have been foreseen, and not timed: a quarter of a million instructions, over which neither
	 * thread is faster for long.
	 */
	AHEAD = 32,
	THREADS = 4,                   /* that have work at a time: the emulator's, reading, timing, methods */
};

/* A batch on its way from the thread that reads to the one that models time. */
struct job {
	struct lane *lane;
	struct step *step;             /* [n + ahead]; not kept where it is timed without */
	size_t n, ahead, room;
	struct foreseen foreseen;
	bool end;
};

struct lanes {
	const struct core_ops *model;
	struct code *code;
	struct run run;
	struct clock clock;
	struct pipe *timing;           /* of struct job */
	struct relay *relay;
	struct replay_log *replay_log; /* NULL: nothing is kept */
	struct kanata *log;            /* NULL: of stages nothing is logged */
	size_t nr_methods;
	const struct method **method;  /* [nr_methods] */
	size_t slots;                  /* which of them has the counters that programs read */
	void **state;                  /* [nr_methods] */
	size_t opened;                 /* of the states */
	GPtrArray *lane;               /* struct lane *, by thread; NULL: not seen yet, or its lane is another's */
	GPtrArray *ending;             /* struct lane *: nothing more was given to them since; some may be under way */
	GPtrArray *spare;              /* struct lane *: to be used again */
	GPtrArray *kept;               /* lanes of methods whose threads have ended */
};

/* In the methods' thread. */
static void lane_over(struct lane *lane)
{
	feed_finish(&lane->feed);
	feed_fini(&lane->feed);
	for (size_t i = 0; i < lane->lanes->nr_methods; i++) {
		struct feed_target *t = &lane->target[i];

		if (t->method->end)
			t->method->end(t->state, t->lane);
	}
}

static void methods_take(void *ctx, void *p, const struct timed *t, size_t n)
{
	struct lane *lane = p;

	if (t && lane->lanes->log)
		kanata_take(lane->lanes->log, lane, t, n);
	if (t)
		feed_batch(&lane->feed, t, n);
	else
		lane_over(lane);
}

static void timed_take(void *ctx, const struct timed *t, size_t n)
{
	struct lane *lane = ctx;

	relay_give(lane->lanes->relay, lane, t, n);
}

static struct timed *timed_room(void *ctx, size_t *n)
{
	struct lane *lane = ctx;

	return relay_room(lane->lanes->relay, lane, n);
}

static void lane_finish(struct lanes *l, struct lane *lane)
{
	l->model->finish(lane->core);
	l->model->close(lane->core);
	lane->core = NULL;
	relay_give(l->relay, lane, NULL, 0);
}

static void job_take(void *ctx, void *slot)
{
	struct lanes *l = ctx;
	struct job *j = slot;

	if (l->model->foresee)
		l->model->batch_foreseen(j->lane->core, j->step, j->n, j->ahead, &j->foreseen);
	else
		l->model->batch(j->lane->core, j->step, j->n, j->ahead);
	if (j->end)
		lane_finish(l, j->lane);
}

static void job_fini(void *slot)
{
	struct job *j = slot;

	g_free(j->step);
	foreseen_fini(&j->foreseen);
}

static void choose(struct lanes *l, enum method_set set)
{
	size_t nr = 0;

	while (method_list[nr])
		nr++;
	l->method = g_new(const struct method *, nr);
	for (size_t i = 0; i < nr; i++)
		if (method_in(method_list[i], set))
			l->method[l->nr_methods++] = method_list[i];
	while (l->method[l->slots] != method_find("slots"))
		l->slots++;
}

/* Whether a core makes its records of what it foresaw alone, without steps. */
static bool without_steps(const struct lanes *l)
{
	bool asked = false;

	for (size_t i = 0; i < l->nr_methods; i++)
		asked |= l->method[i]->addresses;
	return l->model->foresees_all && !asked;
}

/*
 * Whether the methods are worth a thread. A model that foresees all has little left to do with time, so that methods
 * that ask for no addresses go with it where there are fewer processors than threads.
 */
static bool beside(const struct lanes *l)
{
	return !without_steps(l) || g_get_num_processors() >= THREADS;
}

int lanes_new(struct lanes **out, const struct core_ops *model, struct code *code, const struct run *run,
              enum method_set set)
{
	struct lanes *l = g_new0(struct lanes, 1);
	int err = 0;

	l->model = model;
	l->code = code;
	l->run = *run;
	l->run.clock = &l->clock;
	clock_init(&l->clock, run);
	l->lane = g_ptr_array_new();
	l->ending = g_ptr_array_new();
	l->spare = g_ptr_array_new();
	l->kept = g_ptr_array_new_with_free_func(g_free);
	choose(l, set);
	l->state = g_new0(void *, l->nr_methods);
	for (size_t i = 0; i < l->nr_methods && !err; i++) {
		l->state[i] = g_malloc0(l->method[i]->state_size);
		err = l->method[i]->open(l->state[i], &l->run);
		l->opened += !err;
	}
	if (!err)
		err = relay_new(&l->relay, beside(l), methods_take, l);
	if (!err)
		err = pipe_new(&l->timing, "timing", AHEAD, sizeof(struct job), job_take, l);
	if (err) {
		lanes_free(l);
		return err;
	}
	*out = l;
	return 0;
}

static void lane_free(struct lanes *l, struct lane *lane)
{
	if (lane->core)
		l->model->close(lane->core);
	feed_fini(&lane->feed);
	for (size_t i = 0; i < l->nr_methods; i++)
		g_free(lane->target[i].lane);
	g_free(lane->target);
	g_free(lane);
}

void lanes_free(struct lanes *l)
{
	if (!l)
		return;
	pipe_free(l->timing, job_fini);
	relay_free(l->relay);
	for (size_t i = 0; i < l->opened; i++)
		l->method[i]->close(l->state[i]);
	for (size_t i = 0; i < l->nr_methods; i++)
		g_free(l->state[i]);
	for (guint i = 0; i < l->lane->len; i++)
		if (l->lane->pdata[i])
			lane_free(l, l->lane->pdata[i]);
	for (guint i = 0; i < l->spare->len; i++)
		lane_free(l, l->spare->pdata[i]);
	g_ptr_array_free(l->lane, TRUE);
	g_ptr_array_free(l->ending, TRUE);
	g_ptr_array_free(l->spare, TRUE);
	g_ptr_array_free(l->kept, TRUE);
	g_free(l->state);
	g_free(l->method);
	g_free(l);
}

/* All that was given has been timed, and taken by the methods. */
static void settle(struct lanes *l)
{
	pipe_wait(l->timing);
	relay_wait(l->relay);
}

/*
 * One of a thread that has ended, or a new one. The log of stages tells threads by their lanes: then all are new. All
 * threads are at rest.
 */
static struct lane *lane_spare(struct lanes *l)
{
	struct lane *lane;

	for (guint i = 0; i < l->ending->len; i++) {
		lane = l->ending->pdata[i];
		l->lane->pdata[lane->thread] = NULL;
		g_ptr_array_add(l->spare, lane);
	}
	g_ptr_array_set_size(l->ending, 0);
	if (l->spare->len && !l->log)
		return g_ptr_array_remove_index_fast(l->spare, l->spare->len - 1);
	lane = g_new0(struct lane, 1);
	lane->lanes = l;
	lane->target = g_new0(struct feed_target, l->nr_methods);
	return lane;
}

/* A lane for method `i`: the one that is there, where it was parted with. */
static void *target_lane(struct lanes *l, struct lane *lane, size_t i)
{
	const struct method *m = l->method[i];
	void *old = lane->target[i].lane;

	if (old && m->end)
		return memset(old, 0, m->lane_size);
	if (old)
		g_ptr_array_add(l->kept, old);
	return g_malloc0(m->lane_size);
}

/* The methods are told of a new thread with their own thread at rest. */
static int lane_new(struct lanes *l, uint32_t thread)
{
	int err;

	settle(l);
	struct lane *lane = lane_spare(l);
	lane->thread = thread;
	feed_init(&lane->feed, &l->clock, thread, lane->target, l->nr_methods);
	err = l->model->open(&lane->core, l->run.desc, l->code,
	                     (struct timed_sink){ .take = timed_take, .ctx = lane, .room = timed_room });
	for (size_t i = 0; i < l->nr_methods && !err; i++) {
		lane->target[i] = (struct feed_target){ l->method[i], l->state[i], target_lane(l, lane, i) };
		err = l->method[i]->lane(l->state[i], lane->target[i].lane, thread);
	}
	if (thread >= l->lane->len)
		g_ptr_array_set_size(l->lane, (gint)thread + 1);
	l->lane->pdata[thread] = lane;
	return err;
}

void lanes_keep(struct lanes *l, struct replay_log *s)
{
	assert(l->model->foresee);
	l->replay_log = s;
}

void lanes_log(struct lanes *l, struct kanata *k)
{
	l->log = k;
}

static void keep_steps(struct job *j, const struct step_batch *b)
{
	if (j->room < b->n + b->ahead) {
		j->room = b->n + b->ahead;
		j->step = g_renew(struct step, j->step, j->room);
	}
	if (b->n + b->ahead) /* a thread may end before its first instruction */
		memcpy(j->step, b->step, (b->n + b->ahead) * sizeof *j->step);
}

int lanes_batch(struct lanes *l, const struct step_batch *b)
{
	struct job *j;
	int err = 0;

	if (b->thread >= l->lane->len || !l->lane->pdata[b->thread]) {
		err = lane_new(l, b->thread);
		if (err)
			return err;
	}
	j = pipe_slot(l->timing);
	j->lane = l->lane->pdata[b->thread];
	j->n = b->n;
	j->ahead = b->ahead;
	j->end = b->end;
	if (!without_steps(l))
		keep_steps(j, b);
	if (l->model->foresee)
		l->model->foresee(j->lane->core, b->step, b->n, b->ahead, &j->foreseen);
	if (l->replay_log)
		err = replay_log_put(l->replay_log, b, &j->foreseen);
	if (b->end)
		g_ptr_array_add(l->ending, j->lane);
	pipe_give(l->timing);
	return err;
}

void lanes_read(struct lanes *l, uint32_t thread, struct counters *out)
{
	const struct lane *lane = l->lane->pdata[thread];

	settle(l);
	*out = (struct counters){ 0 };
	if (!lane->core)
		return;
	slots_read(l->state[l->slots], lane->target[l->slots].lane, &lane->feed.walker, out);
}

void lanes_finish(struct lanes *l)
{
	pipe_wait(l->timing);
	for (guint i = 0; i < l->lane->len; i++) {
		struct lane *lane = l->lane->pdata[i];

		if (lane && lane->core)
			lane_finish(l, lane);
	}
}

int lanes_save(struct lanes *l, struct profile *p)
{
	int err = 0;

	settle(l);
	for (size_t i = 0; i < l->nr_methods && !err; i++)
		err = l->method[i]->save(l->state[i], p);
	return err;
}
