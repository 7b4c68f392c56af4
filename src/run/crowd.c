#include "run/crowd.h"

#include <glib.h>

#include "core/vary_code.h"
#include "run/counted.h"

struct seer {
	struct core *core;             /* foresees alone */
	const struct core_desc *desc;  /* of all that see the same */
	struct foreseen seen;
};

/* One variant. */
struct member {
	struct core *core;
	struct vary_code *code;        /* the instructions as the variant has them; NULL: as they are */
	struct core_desc *desc;        /* that goes with them */
	unsigned sees;                 /* which of the seers */
	struct counted counted;
};

struct crowd {
	const struct core_ops *model;
	struct member *member;         /* [nr], by plan */
	unsigned nr;
	struct seer *seer;             /* [nr_seers] */
	unsigned nr_seers;
	/* what is timed */
	const struct step *step;
	size_t n, ahead;
};

static bool crowd_able(const struct crowd_plan *p)
{
	return vary_code_able(p->variant.part, p->variant.nr, p->variant.weight, p->desc);
}

/* --- set-up ------------------------------------------------------------------------------------------ */

static void crowd_close(struct crowd *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nr; i++) {
		struct member *m = &c->member[i];

		if (m->core)
			c->model->close(m->core);
		vary_code_free(m->code);
		g_free(m->desc);
	}
	for (unsigned i = 0; i < c->nr_seers; i++) {
		if (c->seer[i].core)
			c->model->close(c->seer[i].core);
		foreseen_fini(&c->seer[i].seen);
	}
	g_free(c->member);
	g_free(c->seer);
	g_free(c);
}

static int add_seer(struct crowd *c, struct member *m, const struct core_desc *desc, struct code *code)
{
	for (m->sees = 0; m->sees < c->nr_seers; m->sees++)
		if (c->model->foresees_same(c->seer[m->sees].desc, desc))
			return 0;
	c->seer[c->nr_seers++] = (struct seer){ .desc = desc };
	return c->model->open_seer(&c->seer[m->sees].core, desc, code);
}

static int join(struct crowd *c, struct member *m, const struct crowd_plan *p, struct code *code)
{
	const struct variant *v = &p->variant;
	struct code *own = code;
	int err = c->model->open_seer ? add_seer(c, m, p->desc, code) : 0;

	if (!err && vary_code_wanted(v->part, v->nr)) {
		m->desc = g_memdup2(p->desc, sizeof *p->desc);
		err = vary_code_new(&m->code, code, v->part, v->nr, v->weight, m->desc);
		own = m->code ? vary_code(m->code) : NULL;
	}
	if (err)
		return err;
	return c->model->open(&m->core, m->desc ? m->desc : p->desc, own, (struct timed_sink){ .take = counted_take, .ctx = &m->counted });
}

static int crowd_open(struct crowd **out, const struct core_ops *model, const struct core_desc *desc, struct code *code,
                      const struct crowd_plan *const *plan, unsigned nr)
{
	struct crowd *c = g_new0(struct crowd, 1);
	int err = 0;

	c->model = model;
	c->member = g_new0(struct member, nr);
	c->nr = nr;
	c->seer = g_new0(struct seer, nr);
	for (unsigned i = 0; i < nr && !err; i++)
		err = join(c, &c->member[i], plan[i], code);
	if (err) {
		crowd_close(c);
		return err;
	}
	*out = c;
	return 0;
}

/* --- a batch ----------------------------------------------------------------------------------------- */

static void crowd_meet(struct crowd *c, unsigned turn, bool first, const struct step *s, size_t n, size_t ahead)
{
	c->step = s;
	c->n = n;
	c->ahead = ahead;
	for (unsigned i = 0; i < c->nr_seers; i++)
		c->model->foresee(c->seer[i].core, s, n, ahead, &c->seer[i].seen);
}

static unsigned crowd_parts(struct crowd *c, unsigned turn, unsigned threads)
{
	return c->nr_seers ? c->nr : 1;
}

static void crowd_time(void *crowd, unsigned part)
{
	const struct crowd *c = crowd;

	for (unsigned i = part; i < (c->nr_seers ? part + 1 : c->nr); i++) {
		const struct member *m = &c->member[i];

		if (m->code)
			vary_code_follow(m->code);
		if (c->nr_seers)
			c->model->batch_foreseen(m->core, c->step, c->n, c->ahead, &c->seer[m->sees].seen);
		else
			c->model->batch(m->core, c->step, c->n, c->ahead);
	}
}

static void crowd_finish(struct crowd *c)
{
	for (unsigned i = 0; i < c->nr; i++)
		c->model->finish(c->member[i].core);
}

static uint64_t crowd_cycles(const struct crowd *c, unsigned plan, uint64_t *instructions)
{
	const struct counted *counted = &c->member[plan].counted;

	*instructions = counted->instructions;
	return counted->cycles;
}

const struct crowd_ops crowd_of_cores = {
	.able = crowd_able,
	.open = crowd_open,
	.meet = crowd_meet,
	.parts = crowd_parts,
	.time = crowd_time,
	.finish = crowd_finish,
	.cycles = crowd_cycles,
	.close = crowd_close,
};
