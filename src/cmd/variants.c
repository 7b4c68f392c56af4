#include "cmd/variants.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "cmd/counted.h"
#include "cmd/progress.h"
#include "cmd/workers.h"
#include "core/abstract_outcome.h"
#include "core/foresee.h"
#include "core/vary_along.h"
#include "core/vary_code.h"
#include "isa/costs.h"

enum {
	TOGETHER = 3,                  /* variants of the abstract core at most, by chrono_batch_together() */
	GATHERED = 4,                  /* batches that it times at a time: so threads wait for one another seldom, and what was met stays in a cache */
};

const struct variant variant_as_is = { .nr = 0 };

/* One variant, the same for all threads of the guest. */
struct plan {
	struct variant variant;
	struct core_desc *desc;        /* weighted */
	struct abstract_costs costs;
	int outcomes;                  /* which of crowd->met it reads; 0: those of the core as it is */
	uint32_t depends;              /* abstract core: what its costs matter to, enum along_part; 0: nothing, it is the core as it is */
	int sees;                      /* detailed: which of crowd->seer */
	uint64_t cycles, instructions; /* of threads that have ended */
};

/* One core. */
struct instance {
	struct chrono *chrono;
	struct along_way way;          /* of `chrono` */
	struct core *core;
	struct vary_code *code;        /* the instructions as the variant has them; NULL: as they are */
	struct core_desc *desc;        /* that goes with them */
	struct counted counted;        /* of `core` */
};

struct met {                           /* what executions meet */
	struct outcomes *outcomes;
	struct outcome_stream stream[2]; /* of the batch that is timed, and of the next: variants.turn */
};

struct seer {                          /* what is foreseen: by this thread alone, since it adds to the table of instructions */
	struct foresight *foresight;
	struct foreseen seen;
};

/* The cores of one thread of the guest. */
struct crowd {
	struct variants *all;
	struct recipes recipes;
	GPtrArray *met;                /* struct met *: as plans number them */
	GPtrArray *seer;               /* struct seer *: as plans number them */
	GPtrArray *instance;           /* struct instance *, by plan */
	struct along seen;
};

/* Of the plans that are timed, those that are side by side, since they read the same outcomes. */
struct group { guint first, end; };

/* What the workers do for each of the plans. */
struct job {
	struct crowd *crowd;
	unsigned turn;                 /* abstract core: which stream */
	const struct step *step;       /* detailed core */
	size_t n, ahead;
};

struct variants {
	struct driven_run run;
	bool abstract;
	GPtrArray *plan;               /* struct plan * */
	GPtrArray *crowd;              /* struct crowd *, by guest thread; NULL: not seen yet */
	struct workers *workers;
	GArray *timed;                 /* abstract core: guint, the plans that do not go along */
	GArray *group;                 /* struct group, of `timed`, as workers take them */
	struct job job;                /* theirs */
	unsigned turn;                 /* 0 or 1: which streams get the next batch */
	unsigned gathered;             /* abstract core: batches in them, of the crowd of `gathers`, that nobody times yet */
	struct crowd *gathers;
};

static struct plan *plan_at(const struct variants *v, guint i)
{
	return v->plan->pdata[i];
}

/* --- one core ---------------------------------------------------------------------------------------- */

static void instance_free(struct variants *v, struct instance *c)
{
	if (!c)
		return;
	chrono_free(c->chrono);
	if (c->core)
		v->run.model->close(c->core);
	vary_code_free(c->code);
	g_free(c->desc);
	g_free(c);
}

static int instance_new(struct instance **out, struct crowd *crowd, const struct plan *p)
{
	struct variants *v = crowd->all;
	struct instance *c = g_new0(struct instance, 1);
	struct code *code = v->run.code;
	int err = 0;

	if (v->abstract) {
		err = chrono_new(&c->chrono, p->desc, &p->costs, &crowd->recipes, CHRONO_PLAIN);
	} else {
		if (vary_code_wanted(p->variant.part, p->variant.nr)) {
			c->desc = g_memdup2(p->desc, sizeof *p->desc);
			err = vary_code_new(&c->code, code, p->variant.part, p->variant.nr, p->variant.weight, c->desc);
			code = c->code ? vary_code(c->code) : NULL;
		}
		if (!err)
			err = v->run.model->open(&c->core, c->desc ? c->desc : p->desc, code, (struct timed_sink){ .take = counted_take, .ctx = &c->counted });
	}
	if (err) {
		instance_free(v, c);
		return err;
	}
	*out = c;
	return 0;
}

/* The core as it is, which others may go along with; NULL: there is none. */
static struct instance *as_is(const struct crowd *c)
{
	for (guint i = 0; i < c->instance->len; i++)
		if (!plan_at(c->all, i)->depends)
			return c->instance->pdata[i];
	return NULL;
}

/* Its cycles so far, of plan `i`; *instructions: those counted. */
static uint64_t instance_cycles(const struct crowd *c, guint i, uint64_t *instructions)
{
	const struct instance *one = c->instance->pdata[i], *with = as_is(c);

	*instructions = one->chrono ? chrono_instructions(one->way.along ? with->chrono : one->chrono) : one->counted.instructions;
	return one->chrono ? along_cycles(&one->way, one->chrono, with ? with->chrono : NULL) : one->counted.cycles;
}

/* --- workers ----------------------------------------------------------------------------------------- */

/* What plan `i` does of a job, on the detailed core. */
static void time_detailed(void *ctx, unsigned i)
{
	const struct job *j = ctx;
	struct variants *v = j->crowd->all;
	const struct instance *c = j->crowd->instance->pdata[i];
	const struct seer *s = j->crowd->seer->pdata[plan_at(v, i)->sees];

	if (c->code)
		vary_code_follow(c->code);
	v->run.model->batch_foreseen(c->core, j->step, j->n, j->ahead, &s->seen);
}

static guint timed_at(const struct variants *v, guint i)
{
	return g_array_index(v->timed, guint, i);
}

/* What the timed plans of group `i` do, on the abstract core. */
static void time_abstract(void *ctx, unsigned i)
{
	const struct job *j = ctx;
	const struct variants *v = j->crowd->all;
	const struct group *p = &g_array_index(v->group, struct group, i);
	const struct met *m = j->crowd->met->pdata[plan_at(v, timed_at(v, p->first))->outcomes];
	const struct outcome_stream *s = &m->stream[j->turn];
	struct chrono *c[TOGETHER];

	for (guint next = p->first; next < p->end; next++) {
		const struct instance *one = j->crowd->instance->pdata[timed_at(v, next)];
		c[next - p->first] = one->chrono;
	}
	chrono_batch_together(c, p->end - p->first, s->word, s->nr);
}

/* No group has more than leaves something for each thread: so the last are small, and no thread waits long for another to end. */
static void make_groups(struct variants *v)
{
	const guint nr = v->timed->len, threads = workers_threads(v->workers);

	g_array_set_size(v->group, 0);
	for (struct group p = { 0 }; p.first < nr; p.first = p.end) {
		guint most = MIN(TOGETHER, (nr - p.first + threads - 1) / threads);
		for (p.end = p.first + 1; p.end < nr && p.end - p.first < most; p.end++)
			if (plan_at(v, timed_at(v, p.end))->outcomes != plan_at(v, timed_at(v, p.first))->outcomes)
				break;
		g_array_append_val(v->group, p);
	}
}

/* Which plans are timed in the batch whose outcomes are in stream `turn`. */
static void choose(struct crowd *c, unsigned turn)
{
	struct variants *v = c->all;
	struct instance *with = as_is(c);
	uint32_t wanted = 0, parts = 0;

	for (guint i = 0; with && i < v->plan->len; i++)
		wanted |= plan_at(v, i)->depends & ALONG_ALL ? 0 : plan_at(v, i)->depends;
	if (wanted) {
		const struct outcome_stream *s = &((const struct met *)c->met->pdata[0])->stream[turn];
		parts = along_parts(&c->seen, &c->recipes, s->word, s->nr, wanted);
	}
	g_array_set_size(v->timed, 0);
	for (guint i = 0; i < v->plan->len; i++) {
		struct instance *one = c->instance->pdata[i];
		if (!with || one == with || !along_goes(&one->way, one->chrono, with->chrono, plan_at(v, i)->depends, parts))
			g_array_append_val(v->timed, i);
	}
	make_groups(v);
}

static void times_begin(struct variants *v)
{
	if (v->abstract) {
		choose(v->job.crowd, v->job.turn);
		workers_begin(v->workers, v->group->len, time_abstract, &v->job);
	} else {
		workers_begin(v->workers, v->plan->len, time_detailed, &v->job);
	}
}

/* --- crowds ------------------------------------------------------------------------------------------ */

static void met_free(gpointer p)
{
	struct met *m = p;

	outcomes_free(m->outcomes);
	outcome_stream_fini(&m->stream[0]);
	outcome_stream_fini(&m->stream[1]);
	g_free(m);
}

static void seer_free(gpointer p)
{
	struct seer *s = p;

	foresight_free(s->foresight);
	foreseen_fini(&s->seen);
	g_free(s);
}

/* With room for the wrong paths of the largest of its variants. */
static int seer_new(struct seer **out, const struct variants *v, const struct core_desc *desc)
{
	struct seer *s = g_new0(struct seer, 1);
	struct core_desc largest = *desc;
	int err;

	largest.rob_entries = WRONG_MAX;
	err = foresight_new(&s->foresight, &largest, v->run.code);
	if (err) {
		seer_free(s);
		return err;
	}
	*out = s;
	return 0;
}

static void foresee(struct crowd *c, const struct step *s, size_t n, size_t ahead)
{
	for (guint i = 0; i < c->seer->len; i++) {
		struct seer *one = c->seer->pdata[i];
		foresight_batch(one->foresight, s, n, ahead, &one->seen);
	}
}

static void crowd_dismiss(struct crowd *c)
{
	for (guint i = 0; i < c->instance->len; i++)
		instance_free(c->all, c->instance->pdata[i]);
	g_ptr_array_set_size(c->instance, 0);
	g_ptr_array_set_size(c->met, 0);
	g_ptr_array_set_size(c->seer, 0);
}

static void crowd_free(struct crowd *c)
{
	if (!c)
		return;
	crowd_dismiss(c);
	g_ptr_array_free(c->instance, TRUE);
	g_ptr_array_free(c->met, TRUE);
	g_ptr_array_free(c->seer, TRUE);
	along_fini(&c->seen);
	recipes_fini(&c->recipes);
	g_free(c);
}

/* A core for each plan. */
static int crowd_fill(struct crowd *c)
{
	struct variants *v = c->all;
	int err = 0;

	for (guint i = 0; i < v->plan->len && !err; i++) {
		struct plan *p = plan_at(v, i);
		struct instance *one = NULL;

		while (v->abstract && c->met->len <= (guint)p->outcomes && !err) {
			struct met *m = g_new0(struct met, 1);
			err = outcomes_new(&m->outcomes, p->outcomes ? p->desc : v->run.desc, v->run.code, &c->recipes);
			g_ptr_array_add(c->met, m);
		}
		while (!v->abstract && c->seer->len <= (guint)p->sees && !err) {
			struct seer *s;
			err = seer_new(&s, v, p->desc);
			if (!err)
				g_ptr_array_add(c->seer, s);
		}
		if (!err)
			err = instance_new(&one, c, p);
		if (!err)
			g_ptr_array_add(c->instance, one);
	}
	return err;
}

static int crowd_new(struct crowd **out, struct variants *v)
{
	struct crowd *c = g_new0(struct crowd, 1);
	int err = 0;

	c->all = v;
	c->met = g_ptr_array_new_with_free_func(met_free);
	c->seer = g_ptr_array_new_with_free_func(seer_free);
	c->instance = g_ptr_array_new();
	if (v->abstract)
		err = recipes_init(&c->recipes, v->run.desc, v->run.code);
	if (!err)
		err = crowd_fill(c);
	if (err) {
		crowd_free(c);
		return err;
	}
	*out = c;
	return 0;
}

/* Its thread has ended: what its cores counted goes to the plans. */
static void crowd_end(struct crowd *c)
{
	struct variants *v = c->all;

	for (guint i = 0; i < c->instance->len; i++) {
		struct instance *one = c->instance->pdata[i];
		uint64_t instructions;

		if (one->core)
			v->run.model->finish(one->core);
		plan_at(v, i)->cycles += instance_cycles(c, i, &instructions);
		plan_at(v, i)->instructions += instructions;
	}
	crowd_dismiss(c);
}

/* --- resources --------------------------------------------------------------------------------------- */

int variants_resources(struct vary out[VARY_MAX], unsigned *nr, const struct core_desc *d, bool abstract)
{
	uint16_t sets[VARY_SETS];
	struct costs *costs;
	int err = costs_new(&costs, *d->costs_path ? d->costs_path : NULL, d->port_names, d->unit_names);

	if (err)
		return err;
	*nr = vary_list(out, d, sets, costs_port_sets(costs, sets, VARY_SETS), abstract);
	costs_free(costs);
	return 0;
}

/* --- the whole --------------------------------------------------------------------------------------- */

struct variants *variants_new(const struct driven_run *run)
{
	struct variants *v = g_new0(struct variants, 1);

	v->run = *run;
	v->abstract = !strcmp(run->model->name, "abstract");
	v->plan = g_ptr_array_new();
	v->crowd = g_ptr_array_new();
	v->timed = g_array_new(FALSE, FALSE, sizeof(guint));
	v->group = g_array_new(FALSE, FALSE, sizeof(struct group));
	v->workers = workers_new();
	return v;
}

void variants_free(struct variants *v)
{
	if (!v)
		return;
	workers_free(v->workers);
	for (guint i = 0; i < v->crowd->len; i++)
		crowd_free(v->crowd->pdata[i]);
	for (guint i = 0; i < v->plan->len; i++) {
		g_free(plan_at(v, i)->desc);
		g_free(v->plan->pdata[i]);
	}
	g_ptr_array_free(v->crowd, TRUE);
	g_ptr_array_free(v->plan, TRUE);
	g_array_free(v->timed, TRUE);
	g_array_free(v->group, TRUE);
	g_free(v);
}

int variants_add(struct variants *v, const struct variant *variant, unsigned *nr)
{
	struct plan *p = g_new0(struct plan, 1);
	bool changed = !variant->nr;

	assert(!v->crowd->len);
	p->variant = *variant;
	p->desc = g_memdup2(v->run.desc, sizeof *p->desc);
	if (core_desc_idealise(p->desc, &variant->ideal) && v->abstract)
		p->outcomes = -1;
	for (unsigned i = 0; i < variant->nr; i++) {
		const struct vary *part = variant->part[i];
		uint32_t weight = part->time ? WEIGHT_ONE * WEIGHT_ONE / variant->weight : variant->weight;

		changed |= vary_desc(part, weight, p->desc);
		if (part->outcome && v->abstract)
			p->outcomes = -1;
	}
	if (!changed || (!v->abstract && !vary_code_able(variant->part, variant->nr, variant->weight, p->desc))) {
		g_free(p->desc);
		g_free(p);
		return -ERANGE;
	}
	abstract_costs_init(&p->costs, p->desc);
	for (unsigned i = 0; i < variant->nr; i++) {
		const struct vary *part = variant->part[i];
		vary_costs(part, part->time ? WEIGHT_ONE * WEIGHT_ONE / variant->weight : variant->weight, &p->costs);
	}
	if (p->outcomes < 0) {
		p->outcomes = 1;
		for (guint i = 0; i < v->plan->len; i++)
			p->outcomes = MAX(p->outcomes, plan_at(v, i)->outcomes + 1);
	}
	if (v->abstract) {
		struct abstract_costs costs;
		abstract_costs_init(&costs, v->run.desc);
		p->depends = p->outcomes ? ALONG_ALL : along_depends(&costs, &p->costs);
	}
	for (guint i = 0; i < v->plan->len; i++) {
		if (foresight_same(plan_at(v, i)->desc, p->desc)) {
			p->sees = plan_at(v, i)->sees;
			break;
		}
		p->sees = MAX(p->sees, plan_at(v, i)->sees + 1);
	}
	*nr = v->plan->len;
	g_ptr_array_add(v->plan, p);
	return 0;
}

/* What the batch meets, behind what was gathered. */
static void meet(struct crowd *c, unsigned turn, const struct step_batch *b)
{
	for (guint i = 0; i < c->met->len; i++) {
		struct met *m = c->met->pdata[i];
		if (!c->all->gathered)
			m->stream[turn].nr = 0;
		outcomes_batch(m->outcomes, b->step, b->n, b->ahead, &m->stream[turn]);
	}
}

/* The workers begin with what was gathered, once they are at its beginning. */
static void time_gathered(struct variants *v)
{
	if (!v->gathered)
		return;
	workers_end(v->workers);
	v->job = (struct job){ .crowd = v->gathers, .turn = v->turn };
	times_begin(v);
	v->turn ^= 1;
	v->gathered = 0;
}

int variants_batch(struct variants *v, const struct step_batch *b)
{
	struct crowd *c;
	int err = 0;

	if (b->thread >= v->crowd->len)
		g_ptr_array_set_size(v->crowd, (gint)b->thread + 1);
	if (!v->crowd->pdata[b->thread])
		err = crowd_new((struct crowd **)&v->crowd->pdata[b->thread], v);
	if (err)
		return err;
	c = v->crowd->pdata[b->thread];
	if (v->gathers != c)
		time_gathered(v);
	meet(c, v->turn, b);
	foresee(c, b->step, b->n, b->ahead);
	if (v->abstract) {
		v->gathers = c;
		v->gathered++;
		if (v->gathered == GATHERED || b->end)
			time_gathered(v);
	} else {
		v->job = (struct job){ .crowd = c, .step = b->step, .n = b->n, .ahead = b->ahead };
		times_begin(v);
	}
	if (!v->abstract || b->end) /* the steps are the caller's, the crowd goes */
		workers_end(v->workers);
	if (b->end)
		crowd_end(c);
	return 0;
}

int variants_read(struct variants *v, const struct spool *steps)
{
	struct spool_reader *reader;
	const struct foreseen *seen;
	struct progress progress;
	struct step_batch b;
	int more = 1, err = spool_reader_new(&reader, steps);

	progress_init(&progress, v->run.progress);
	while (!err && (more = spool_read(reader, &b, &seen)) > 0) {
		err = variants_batch(v, &b);
		progress_batch(&progress, &b);
	}
	progress_fini(&progress);
	spool_reader_free(reader);
	return err ? err : more;
}

uint64_t variants_cycles(struct variants *v, unsigned nr)
{
	uint64_t instructions, sum;

	time_gathered(v);
	workers_end(v->workers);
	sum = plan_at(v, nr)->cycles;
	for (guint i = 0; i < v->crowd->len; i++) {
		const struct crowd *c = v->crowd->pdata[i];
		if (c && nr < c->instance->len)
			sum += instance_cycles(c, nr, &instructions);
	}
	return sum;
}

uint64_t variants_instructions(struct variants *v)
{
	uint64_t instructions, sum;

	time_gathered(v);
	workers_end(v->workers);
	sum = plan_at(v, 0)->instructions;
	for (guint i = 0; i < v->crowd->len; i++) {
		const struct crowd *c = v->crowd->pdata[i];
		if (c && c->instance->len) {
			instance_cycles(c, 0, &instructions);
			sum += instructions;
		}
	}
	return sum;
}
