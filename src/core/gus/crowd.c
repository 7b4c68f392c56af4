#include "core/gus/crowd.h"

#include <glib.h>

#include "core/gus/along.h"
#include "core/gus/outcome.h"
#include "core/gus/time.h"

enum {
	TOGETHER = 3,                  /* variants at most, by chrono_batch_together() */
	GATHERED = 4,                  /* batches timed at a time: so threads wait for one another seldom, and what was met stays in a cache */
};

struct met {                           /* what executions meet */
	struct outcomes *outcomes;
	struct outcome_stream stream[2]; /* by turn */
};

/* One variant. */
struct member {
	struct chrono *chrono;
	struct along_way way;          /* of `chrono` */
	unsigned met;                  /* which of crowd->met it reads; 0: what the core as it is meets */
	uint32_t depends;              /* what its costs matter to, enum along_part; 0: nothing, it is the core as it is */
};

/* Of those that are timed, some that are side by side, since they read the same outcomes. */
struct group { unsigned first, end; };

struct crowd {
	struct recipes recipes;
	struct met *met;               /* [nr_met] */
	unsigned nr_met;
	struct member *member;         /* [nr], by plan */
	unsigned nr;
	struct member *as_is;          /* the core as it is, which others may go along with; NULL: there is none */
	struct along seen;
	struct member **timed;         /* [nr_timed]: those that do not go along */
	unsigned nr_timed;
	struct group *group;           /* [nr_groups], of `timed`, as they are handed out; there is room for `nr` */
	unsigned nr_groups, turn;
};

/* --- set-up ------------------------------------------------------------------------------------------ */

static void crowd_close(struct crowd *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nr; i++)
		chrono_free(c->member[i].chrono);
	for (unsigned i = 0; i < c->nr_met; i++) {
		outcomes_free(c->met[i].outcomes);
		outcome_stream_fini(&c->met[i].stream[0]);
		outcome_stream_fini(&c->met[i].stream[1]);
	}
	along_fini(&c->seen);
	recipes_fini(&c->recipes);
	g_free(c->met);
	g_free(c->member);
	g_free(c->timed);
	g_free(c->group);
	g_free(c);
}

/* Whether it meets what the core as it is does. */
static bool meets_the_same(const struct crowd_plan *p)
{
	bool same = !p->ideal;

	for (unsigned i = 0; i < p->variant.nr; i++)
		same &= !p->variant.part[i]->outcome;
	return same;
}

/* `as_is`: costs of the core as it is. */
static int join(struct crowd *c, struct member *m, const struct crowd_plan *p, const struct core_desc *desc, const struct abstract_costs *as_is,
                struct code *code)
{
	const struct variant *v = &p->variant;
	struct abstract_costs costs;
	bool same = meets_the_same(p);
	int err = 0;

	abstract_costs_init(&costs, p->desc);
	for (unsigned i = 0; i < v->nr; i++)
		vary_costs(v->part[i], variant_weight(v, v->part[i]), &costs);
	m->met = same ? 0 : MAX(c->nr_met, 1);
	m->depends = same ? along_depends(as_is, &costs) : ALONG_ALL;
	while (c->nr_met <= m->met && !err) {
		err = outcomes_new(&c->met[c->nr_met].outcomes, c->nr_met ? p->desc : desc, code, &c->recipes);
		c->nr_met++;
	}
	if (!err)
		err = chrono_new(&m->chrono, p->desc, &costs, &c->recipes, CHRONO_PLAIN);
	if (!err && !m->depends && !c->as_is)
		c->as_is = m;
	return err;
}

static int crowd_open(struct crowd **out, const struct core_ops *model, const struct core_desc *desc, struct code *code,
                      const struct crowd_plan *const *plan, unsigned nr)
{
	struct crowd *c = g_new0(struct crowd, 1);
	struct abstract_costs as_is;
	int err = recipes_init(&c->recipes, desc, code);

	c->met = g_new0(struct met, nr + 1);
	c->member = g_new0(struct member, nr);
	c->timed = g_new0(struct member *, nr);
	c->group = g_new0(struct group, nr);
	c->nr = nr;
	abstract_costs_init(&as_is, desc);
	for (unsigned i = 0; i < nr && !err; i++)
		err = join(c, &c->member[i], plan[i], desc, &as_is, code);
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
	for (unsigned i = 0; i < c->nr_met; i++) {
		struct outcome_stream *met = &c->met[i].stream[turn];

		met->nr = first ? 0 : met->nr;
		outcomes_batch(c->met[i].outcomes, s, n, ahead, met);
	}
}

/* Which are timed in what was met. */
static void choose(struct crowd *c)
{
	const struct outcome_stream *s = &c->met[0].stream[c->turn];
	uint32_t wanted = 0, parts = 0;

	for (unsigned i = 0; c->as_is && i < c->nr; i++)
		wanted |= c->member[i].depends & ALONG_ALL ? 0 : c->member[i].depends;
	if (wanted)
		parts = along_parts(&c->seen, &c->recipes, s->word, s->nr, wanted);
	c->nr_timed = 0;
	for (unsigned i = 0; i < c->nr; i++) {
		struct member *m = &c->member[i];

		if (!c->as_is || m == c->as_is || !along_goes(&m->way, m->chrono, c->as_is->chrono, m->depends, parts))
			c->timed[c->nr_timed++] = m;
	}
}

/* No group has more than leaves something for each thread: so the last are small, and no thread waits long for another to end. */
static unsigned crowd_parts(struct crowd *c, unsigned turn, unsigned threads)
{
	c->turn = turn;
	choose(c);
	c->nr_groups = 0;
	for (struct group p = { 0 }; p.first < c->nr_timed; p.first = p.end) {
		unsigned most = MIN(TOGETHER, (c->nr_timed - p.first + threads - 1) / threads);

		for (p.end = p.first + 1; p.end < c->nr_timed && p.end - p.first < most; p.end++)
			if (c->timed[p.end]->met != c->timed[p.first]->met)
				break;
		c->group[c->nr_groups++] = p;
	}
	return c->nr_groups;
}

static void crowd_time(void *crowd, unsigned part)
{
	const struct crowd *c = crowd;
	const struct group *p = &c->group[part];
	const struct outcome_stream *s = &c->met[c->timed[p->first]->met].stream[c->turn];
	struct chrono *together[TOGETHER];

	for (unsigned i = p->first; i < p->end; i++)
		together[i - p->first] = c->timed[i]->chrono;
	chrono_batch_together(together, p->end - p->first, s->word, s->nr);
}

static void crowd_finish(struct crowd *c)
{
}

static uint64_t crowd_cycles(const struct crowd *c, unsigned plan, uint64_t *instructions)
{
	const struct member *m = &c->member[plan];

	*instructions = chrono_instructions(m->way.along ? c->as_is->chrono : m->chrono);
	return along_cycles(&m->way, m->chrono, c->as_is ? c->as_is->chrono : NULL);
}

const struct crowd_ops abstract_crowd = {
	.gathers = GATHERED,
	.open = crowd_open,
	.meet = crowd_meet,
	.parts = crowd_parts,
	.time = crowd_time,
	.finish = crowd_finish,
	.cycles = crowd_cycles,
	.close = crowd_close,
};
