#include "run/variants.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>

#include "base/error.h"
#include "isa/costs.h"
#include "run/group.h"
#include "run/progress.h"
#include "run/workers.h"

const struct variant variant_as_is = { .nr = 0 };

/* One variant, the same for all threads of the guest. */
struct variant_sum {
	struct variant_core core;
	uint64_t cycles, instructions; /* of threads that have ended */
};

struct variants {
	struct driven_run run;
	const struct variant_group_ops *ops;
	GPtrArray *variant;            /* struct variant_sum *, whose first member is its core */
	GPtrArray *group;              /* struct variant_group *, by guest thread; NULL: not seen yet, or ended */
	struct workers *workers;
	unsigned turn;                 /* 0 or 1: which gets the next batch, while the workers time the other */
	unsigned gathered;             /* batches in it, of the group `gathers`, that nobody times yet */
	struct variant_group *gathers;
};

static struct variant_sum *variant_at(const struct variants *v, guint i)
{
	return v->variant->pdata[i];
}

int variants_resources(struct vary out[VARY_MAX], unsigned *nr, const struct core_desc *d, const struct core_ops *model)
{
	uint16_t sets[VARY_SETS];
	struct costs *costs;
	int err = costs_new(&costs, *d->costs_path ? d->costs_path : NULL, d->port_names, d->unit_names);

	if (err)
		return err;
	*nr = vary_list(out, d, sets, costs_port_sets(costs, sets, VARY_SETS), model->resources);
	costs_free(costs);
	return 0;
}

/* --- set-up ------------------------------------------------------------------------------------------ */

struct variants *variants_new(const struct driven_run *run)
{
	struct variants *v = g_new0(struct variants, 1);

	v->run = *run;
	v->ops = run->model->variants ? run->model->variants : &group_of_cores;
	v->variant = g_ptr_array_new();
	v->group = g_ptr_array_new();
	v->workers = workers_new();
	return v;
}

void variants_free(struct variants *v)
{
	if (!v)
		return;
	workers_free(v->workers);
	for (guint i = 0; i < v->group->len; i++)
		v->ops->close(v->group->pdata[i]);
	for (guint i = 0; i < v->variant->len; i++) {
		g_free(variant_at(v, i)->core.desc);
		g_free(v->variant->pdata[i]);
	}
	g_ptr_array_free(v->group, TRUE);
	g_ptr_array_free(v->variant, TRUE);
	g_free(v);
}

int variants_add(struct variants *v, const struct variant *variant, unsigned *nr)
{
	struct variant_sum *p = g_new0(struct variant_sum, 1);
	struct variant_core *core = &p->core;
	bool changed = !variant->nr;

	assert(!v->group->len);
	core->variant = *variant;
	core->desc = g_memdup2(v->run.desc, sizeof *core->desc);
	core->ideal = core_desc_idealise(core->desc, &variant->ideal);
	for (unsigned i = 0; i < variant->nr; i++)
		changed |= vary_desc(variant->part[i], variant_weight(variant, variant->part[i]), core->desc);
	if (!changed || (v->ops->able && !v->ops->able(core))) {
		g_free(core->desc);
		g_free(p);
		return -ERANGE;
	}
	*nr = v->variant->len;
	g_ptr_array_add(v->variant, p);
	return 0;
}

/* --- the run ----------------------------------------------------------------------------------------- */

/* The workers begin with what was gathered, once they are at its beginning. */
static void time_gathered(struct variants *v)
{
	unsigned parts;

	if (!v->gathered)
		return;
	workers_end(v->workers);
	parts = v->ops->parts(v->gathers, v->turn, workers_threads(v->workers));
	workers_begin(v->workers, parts, v->ops->time, v->gathers);
	v->turn ^= 1;
	v->gathered = 0;
}

/* The thread of the group has ended: what its cores counted goes to the sums. */
static void group_end(struct variants *v, struct variant_group *c)
{
	v->ops->finish(c);
	for (guint i = 0; i < v->variant->len; i++) {
		uint64_t instructions;

		variant_at(v, i)->cycles += v->ops->cycles(c, i, &instructions);
		variant_at(v, i)->instructions += instructions;
	}
	v->ops->close(c);
}

int variants_batch(struct variants *v, const struct step_batch *b)
{
	bool stay = v->ops->gathers > 0;
	struct variant_group *c;
	int err = 0;

	if (b->thread >= v->group->len)
		g_ptr_array_set_size(v->group, (gint)b->thread + 1);
	if (!v->group->pdata[b->thread])
		err = v->ops->open((struct variant_group **)&v->group->pdata[b->thread], v->run.model, v->run.desc,
		                   v->run.code, (const struct variant_core *const *)v->variant->pdata, v->variant->len);
	if (err)
		return err;
	c = v->group->pdata[b->thread];
	if (v->gathers != c)
		time_gathered(v);
	v->ops->foresee(c, v->turn, !v->gathered, b->step, b->n, b->ahead);
	v->gathers = c;
	v->gathered++;
	if (!stay || v->gathered == v->ops->gathers || b->end)
		time_gathered(v);
	if (!stay || b->end) /* the steps are the caller's, the group goes */
		workers_end(v->workers);
	if (b->end) {
		group_end(v, c);
		v->group->pdata[b->thread] = v->gathers = NULL;
	}
	return 0;
}

int variants_read(struct variants *v, const struct replay_log *steps)
{
	struct replay_reader *reader;
	const struct foreseen *seen;
	struct progress progress;
	struct step_batch b;
	int more = 1, err = replay_reader_new(&reader, steps);

	progress_init(&progress, v->run.progress);
	while (!err && (more = replay_log_read(reader, &b, &seen)) > 0) {
		err = variants_batch(v, &b);
		progress_batch(&progress, &b);
	}
	progress_fini(&progress);
	replay_reader_free(reader);
	return err ? err : more;
}

/* Of one variant so far, over all threads; what was gathered is timed first. */
static uint64_t sum(struct variants *v, guint variant, uint64_t *instructions)
{
	uint64_t cycles;

	time_gathered(v);
	workers_end(v->workers);
	cycles = variant_at(v, variant)->cycles;
	*instructions = variant_at(v, variant)->instructions;
	for (guint i = 0; i < v->group->len; i++) {
		uint64_t more;

		if (!v->group->pdata[i])
			continue;
		cycles += v->ops->cycles(v->group->pdata[i], variant, &more);
		*instructions += more;
	}
	return cycles;
}

uint64_t variants_cycles(struct variants *v, unsigned nr)
{
	uint64_t instructions;

	return sum(v, nr, &instructions);
}

uint64_t variants_instructions(struct variants *v)
{
	uint64_t instructions;

	sum(v, 0, &instructions);
	return instructions;
}
