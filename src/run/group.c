#include "run/group.h"

#include <glib.h>

#include "core/vary_code.h"
#include "run/counted.h"

struct shared_foresight {
	struct core *core;             /* foresees alone */
	const struct core_desc *desc;  /* of all that see the same */
	struct foreseen seen;
};

/* One variant. */
struct member {
	struct core *core;
	struct vary_code *code;        /* the instructions as the variant has them; NULL: as they are */
	struct core_desc *desc;        /* that goes with them */
	unsigned foresight;            /* which of the foresights */
	struct counted counted;
};

struct variant_group {
	const struct core_ops *model;
	struct member *member;         /* [nr], by variant */
	unsigned nr;
	struct shared_foresight *foresight; /* [nr_foresights] */
	unsigned nr_foresights;
	/* what is timed */
	const struct step *step;
	size_t n, ahead;
};

static bool group_able(const struct variant_core *p)
{
	return vary_code_able(p->variant.part, p->variant.nr, p->variant.weight, p->desc);
}

/* --- set-up ------------------------------------------------------------------------------------------ */

static void group_close(struct variant_group *c)
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
	for (unsigned i = 0; i < c->nr_foresights; i++) {
		if (c->foresight[i].core)
			c->model->close(c->foresight[i].core);
		foreseen_fini(&c->foresight[i].seen);
	}
	g_free(c->member);
	g_free(c->foresight);
	g_free(c);
}

static int add_foresight(struct variant_group *c, struct member *m, const struct core_desc *desc, struct code *code)
{
	for (m->foresight = 0; m->foresight < c->nr_foresights; m->foresight++)
		if (c->model->foresees_same(c->foresight[m->foresight].desc, desc))
			return 0;
	c->foresight[c->nr_foresights++] = (struct shared_foresight){ .desc = desc };
	return c->model->open_foresight(&c->foresight[m->foresight].core, desc, code);
}

static int join(struct variant_group *c, struct member *m, const struct variant_core *p, struct code *code)
{
	const struct variant *v = &p->variant;
	struct code *own = code;
	int err = c->model->open_foresight ? add_foresight(c, m, p->desc, code) : 0;

	if (!err && vary_code_wanted(v->part, v->nr)) {
		m->desc = g_memdup2(p->desc, sizeof *p->desc);
		err = vary_code_new(&m->code, code, v->part, v->nr, v->weight, m->desc);
		own = m->code ? vary_code(m->code) : NULL;
	}
	if (err)
		return err;
	return c->model->open(&m->core, m->desc ? m->desc : p->desc, own,
	                      (struct timed_sink){ .take = counted_take, .ctx = &m->counted });
}

static int group_open(struct variant_group **out, const struct core_ops *model, const struct core_desc *desc,
                      struct code *code, const struct variant_core *const *variant, unsigned nr)
{
	struct variant_group *c = g_new0(struct variant_group, 1);
	int err = 0;

	c->model = model;
	c->member = g_new0(struct member, nr);
	c->nr = nr;
	c->foresight = g_new0(struct shared_foresight, nr);
	for (unsigned i = 0; i < nr && !err; i++)
		err = join(c, &c->member[i], variant[i], code);
	if (err) {
		group_close(c);
		return err;
	}
	*out = c;
	return 0;
}

/* --- a batch ----------------------------------------------------------------------------------------- */

static void group_foresee(struct variant_group *c, unsigned turn, bool first, const struct step *s, size_t n,
                          size_t ahead)
{
	c->step = s;
	c->n = n;
	c->ahead = ahead;
	for (unsigned i = 0; i < c->nr_foresights; i++)
		c->model->foresee(c->foresight[i].core, s, n, ahead, &c->foresight[i].seen);
}

static unsigned group_parts(struct variant_group *c, unsigned turn, unsigned threads)
{
	return c->nr_foresights ? c->nr : 1;
}

static void group_time(void *group, unsigned part)
{
	const struct variant_group *c = group;

	for (unsigned i = part; i < (c->nr_foresights ? part + 1 : c->nr); i++) {
		const struct member *m = &c->member[i];

		if (m->code)
			vary_code_follow(m->code);
		if (c->nr_foresights)
			c->model->batch_foreseen(m->core, c->step, c->n, c->ahead, &c->foresight[m->foresight].seen);
		else
			c->model->batch(m->core, c->step, c->n, c->ahead);
	}
}

static void group_finish(struct variant_group *c)
{
	for (unsigned i = 0; i < c->nr; i++)
		c->model->finish(c->member[i].core);
}

static uint64_t group_cycles(const struct variant_group *c, unsigned variant, uint64_t *instructions)
{
	const struct counted *counted = &c->member[variant].counted;

	*instructions = counted->instructions;
	return counted->cycles;
}

const struct variant_group_ops group_of_cores = {
	.able = group_able,
	.open = group_open,
	.foresee = group_foresee,
	.parts = group_parts,
	.time = group_time,
	.finish = group_finish,
	.cycles = group_cycles,
	.close = group_close,
};
