#include "run/predict.h"

#include <errno.h>
#include <glib.h>

#include "run/counted.h"
#include "run/future.h"
#include "run/progress.h"
#include "run/workers.h"

/* One core: a variant of one thread of the guest. */
struct instance {
	struct core *core;
	struct suppose suppose;
	struct counted counted;
};

/* The cores of one thread of the guest. */
struct thread_cores {
	struct instance *instance;     /* [nr] */
};

struct prediction_run {
	const struct driven_run *run;
	const struct supposition *s;   /* [nr] */
	unsigned nr;
	uint16_t **never;              /* [nr][instructions]; NULL: nothing is supposed of any */
	unsigned *loads;               /* [nr]: which of the future's instructions it prefetches */
	uint32_t furthest;             /* of all distances */
	struct future *future;         /* NULL: nothing is prefetched */
	struct workers *workers;
	GPtrArray *cores;              /* struct thread_cores *, by thread; NULL: not seen yet */
	uint64_t *cycles;
	/* in hand */
	const struct thread_cores *now;
	const struct step_batch *batch;
	const struct foreseen *seen;
};

/* --- one variant ------------------------------------------------------------------------------------- */

/* What is supposed of each instruction. The table has all that the run executed, and grows no more. */
static uint16_t *never_of(const struct code *code, const struct supposition *s)
{
	if (!s->nr && s->prefetch == CODE_NONE)
		return NULL;
	uint16_t *never = g_new0(uint16_t, code->nr);
	for (size_t i = 0; i < s->nr; i++)
		never[s->never[i].insn] |= s->never[i].events;
	if (s->prefetch != CODE_NONE)
		never[s->prefetch] |= SUPPOSE_PREFETCH;
	return never;
}

/* The loads that are prefetched, each once. */
static int look_ahead(struct prediction_run *r, const struct replay_log *replay_log)
{
	GArray *insn = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	int err = 0;

	for (unsigned i = 0; i < r->nr; i++) {
		const struct supposition *s = &r->s[i];
		guint k = 0;

		if (s->prefetch == CODE_NONE)
			continue;
		while (k < insn->len && g_array_index(insn, uint32_t, k) != s->prefetch)
			k++;
		if (k == insn->len)
			g_array_append_val(insn, s->prefetch);
		r->loads[i] = k;
		r->furthest = MAX(r->furthest, s->distance);
	}
	if (insn->len)
		err = future_new(&r->future, replay_log, &g_array_index(insn, uint32_t, 0), insn->len);
	g_array_free(insn, TRUE);
	return err;
}

/* --- threads of the guest ---------------------------------------------------------------------------- */

static void cores_free(struct prediction_run *r, struct thread_cores *c)
{
	for (unsigned i = 0; c && c->instance && i < r->nr; i++)
		if (c->instance[i].core)
			r->run->model->close(c->instance[i].core);
	if (c)
		g_free(c->instance);
	g_free(c);
}

static int cores_new(struct thread_cores **out, struct prediction_run *r)
{
	struct thread_cores *c = g_new0(struct thread_cores, 1);
	const struct core_ops *model = r->run->model;
	int err = 0;

	*out = c;
	c->instance = g_new0(struct instance, r->nr);
	for (unsigned i = 0; i < r->nr && !err; i++) {
		struct instance *one = &c->instance[i];

		err = model->open(&one->core, r->s[i].desc ? r->s[i].desc : r->run->desc, r->run->code,
		                  (struct timed_sink){ .take = counted_take, .ctx = &one->counted });
		if (err || !r->never[i])
			continue;
		one->suppose =
			(struct suppose){ .insn = r->run->code->insn, .never = r->never[i], .nr = r->run->code->nr };
		model->suppose(one->core, &one->suppose);
	}
	return err;
}

/* Its thread has ended. */
static void cores_end(struct prediction_run *r, struct thread_cores *c)
{
	for (unsigned i = 0; i < r->nr; i++) {
		struct instance *one = &c->instance[i];

		if (!one->core)
			continue;
		r->run->model->finish(one->core);
		r->run->model->close(one->core);
		one->core = NULL;
		r->cycles[i] += one->counted.cycles;
	}
}

/* --- the run ----------------------------------------------------------------------------------------- */

static void time_one(void *ctx, unsigned i)
{
	const struct prediction_run *r = ctx;
	struct instance *c = &r->now->instance[i];
	const struct step_batch *b = r->batch;

	if (r->s[i].prefetch != CODE_NONE)
		c->suppose.future = future_of(r->future, r->loads[i], r->s[i].distance);
	r->run->model->batch_foreseen(c->core, b->step, b->n, b->ahead, r->seen);
}

static int time_batch(struct prediction_run *r, const struct step_batch *b, const struct foreseen *f)
{
	int err = 0;

	if (b->thread >= r->cores->len)
		g_ptr_array_set_size(r->cores, (gint)b->thread + 1);
	if (!r->cores->pdata[b->thread])
		err = cores_new((struct thread_cores **)&r->cores->pdata[b->thread], r);
	if (!err && r->future)
		err = future_reach(r->future, b, r->furthest);
	if (err)
		return err;
	r->now = r->cores->pdata[b->thread];
	r->batch = b;
	r->seen = f;
	workers_do(r->workers, r->nr, time_one, r);
	if (b->end)
		cores_end(r, r->cores->pdata[b->thread]);
	return 0;
}

static int time_all(struct prediction_run *r, const struct replay_log *replay_log)
{
	struct replay_reader *reader;
	const struct foreseen *f;
	struct progress progress;
	struct step_batch b;
	int more = 1, err = replay_reader_new(&reader, replay_log);

	progress_init(&progress, r->run->progress);
	while (!err && (more = replay_log_read(reader, &b, &f)) > 0) {
		err = time_batch(r, &b, f);
		progress_batch(&progress, &b);
	}
	progress_fini(&progress);
	replay_reader_free(reader);
	for (guint i = 0; i < r->cores->len && !err && !more; i++)
		if (r->cores->pdata[i])
			cores_end(r, r->cores->pdata[i]);
	return err ? err : more;
}

int predict(uint64_t *cycles, const struct driven_run *run, const struct replay_log *replay_log,
            const struct supposition *s, unsigned nr)
{
	struct prediction_run r = { .run = run, .s = s, .nr = nr, .cycles = cycles };
	int err;

	if (!run->model->suppose)
		return -ENOTSUP;
	r.never = g_new0(uint16_t *, nr);
	r.loads = g_new0(unsigned, nr);
	r.cores = g_ptr_array_new();
	r.workers = workers_new();
	for (unsigned i = 0; i < nr; i++) {
		cycles[i] = 0;
		r.never[i] = never_of(run->code, &s[i]);
	}
	err = look_ahead(&r, replay_log);
	if (!err)
		err = time_all(&r, replay_log);
	for (guint i = 0; i < r.cores->len; i++)
		cores_free(&r, r.cores->pdata[i]);
	for (unsigned i = 0; i < nr; i++)
		g_free(r.never[i]);
	g_ptr_array_free(r.cores, TRUE);
	workers_free(r.workers);
	future_free(r.future);
	g_free(r.never);
	g_free(r.loads);
	return err;
}
