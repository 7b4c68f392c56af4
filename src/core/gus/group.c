#include "core/gus/group.h"

#include <glib.h>

#include "core/gus/outcome.h"
#include "core/gus/sharing.h"
#include "core/gus/time.h"

enum {
	TOGETHER = 3,                  /* variants at most, by chrono_batch_together() */
	GATHERED = 4,                  /* batches timed at a time: so threads wait for one another seldom, and what
	                                * was met stays in a cache */
};

struct outcome_source {                /* what executions meet */
	struct outcomes *outcomes;
	struct outcome_stream stream[2]; /* by turn */
};

/* One variant. */
struct member {
	struct chrono *chrono;
	struct sharing_state way;      /* of `chrono` */
	unsigned source;               /* which of group->source it reads; 0: what the core as it is meets */
	uint32_t depends;              /* what its costs matter to, enum sharing_part; 0: nothing, it is the core as
	                                * it is */
};

/* Of those that are timed, some that are side by side, since they read the same outcomes. */
struct timed_part { unsigned first, end; };

struct variant_group {
	struct recipes recipes;
	struct outcome_source *source; /* [nr_sources] */
	unsigned nr_sources;
	struct member *member;         /* [nr], by variant */
	unsigned nr;
	struct member *as_is;          /* the core as it is, whose times others may share; NULL: there is none */
	struct sharing seen;
	struct member **timed;         /* [nr_timed]: those that do not share its times */
	unsigned nr_timed;
	struct timed_part *part;       /* [nr_parts], of `timed`, as they are handed out; there is room for `nr` */
	unsigned nr_parts, turn;
};

/* --- set-up ------------------------------------------------------------------------------------------ */

static void group_close(struct variant_group *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nr; i++)
		chrono_free(c->member[i].chrono);
	for (unsigned i = 0; i < c->nr_sources; i++) {
		outcomes_free(c->source[i].outcomes);
		outcome_stream_fini(&c->source[i].stream[0]);
		outcome_stream_fini(&c->source[i].stream[1]);
	}
	sharing_fini(&c->seen);
	recipes_fini(&c->recipes);
	g_free(c->source);
	g_free(c->member);
	g_free(c->timed);
	g_free(c->part);
	g_free(c);
}

/* Whether it meets what the core as it is does. */
static bool meets_the_same(const struct variant_core *p)
{
	bool same = !p->ideal;

	for (unsigned i = 0; i < p->variant.nr; i++)
		same &= !p->variant.part[i]->outcome;
	return same;
}

/* `as_is`: costs of the core as it is. */
static int join(struct variant_group *c, struct member *m, const struct variant_core *p, const struct core_desc *desc,
                const struct abstract_costs *as_is, struct code *code)
{
	const struct variant *v = &p->variant;
	struct abstract_costs costs;
	bool same = meets_the_same(p);
	int err = 0;

	abstract_costs_init(&costs, p->desc);
	for (unsigned i = 0; i < v->nr; i++)
		vary_costs(v->part[i], variant_weight(v, v->part[i]), &costs);
	m->source = same ? 0 : MAX(c->nr_sources, 1);
	m->depends = same ? sharing_depends(as_is, &costs) : SHARING_ALL;
	while (c->nr_sources <= m->source && !err) {
		err = outcomes_new(&c->source[c->nr_sources].outcomes, c->nr_sources ? p->desc : desc, code,
		                   &c->recipes);
		c->nr_sources++;
	}
	if (!err)
		err = chrono_new(&m->chrono, p->desc, &costs, &c->recipes, CHRONO_PLAIN);
	if (!err && !m->depends && !c->as_is)
		c->as_is = m;
	return err;
}

static int group_open(struct variant_group **out, const struct core_ops *model, const struct core_desc *desc,
                      struct code *code, const struct variant_core *const *variant, unsigned nr)
{
	struct variant_group *c = g_new0(struct variant_group, 1);
	struct abstract_costs as_is;
	int err = recipes_init(&c->recipes, desc, code);

	c->source = g_new0(struct outcome_source, nr + 1);
	c->member = g_new0(struct member, nr);
	c->timed = g_new0(struct member *, nr);
	c->part = g_new0(struct timed_part, nr);
	c->nr = nr;
	abstract_costs_init(&as_is, desc);
	for (unsigned i = 0; i < nr && !err; i++)
		err = join(c, &c->member[i], variant[i], desc, &as_is, code);
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
	for (unsigned i = 0; i < c->nr_sources; i++) {
		struct outcome_stream *met = &c->source[i].stream[turn];

		met->nr = first ? 0 : met->nr;
		outcomes_batch(c->source[i].outcomes, s, n, ahead, met);
	}
}

/* Which are timed in what was met. */
static void choose(struct variant_group *c)
{
	const struct outcome_stream *s = &c->source[0].stream[c->turn];
	uint32_t wanted = 0, parts = 0;

	for (unsigned i = 0; c->as_is && i < c->nr; i++)
		wanted |= c->member[i].depends & SHARING_ALL ? 0 : c->member[i].depends;
	if (wanted)
		parts = sharing_parts(&c->seen, &c->recipes, s->word, s->nr, wanted);
	c->nr_timed = 0;
	for (unsigned i = 0; i < c->nr; i++) {
		struct member *m = &c->member[i];

		if (!c->as_is || m == c->as_is ||
		    !sharing_holds(&m->way, m->chrono, c->as_is->chrono, m->depends, parts))
			c->timed[c->nr_timed++] = m;
	}
}

/*
 * No part has more than leaves something for each thread: so the last are small, and no thread waits long for another
 * to end.
 */
static unsigned group_parts(struct variant_group *c, unsigned turn, unsigned threads)
{
	c->turn = turn;
	choose(c);
	c->nr_parts = 0;
	for (struct timed_part p = { 0 }; p.first < c->nr_timed; p.first = p.end) {
		unsigned most = MIN(TOGETHER, (c->nr_timed - p.first + threads - 1) / threads);

		for (p.end = p.first + 1; p.end < c->nr_timed && p.end - p.first < most; p.end++)
			if (c->timed[p.end]->source != c->timed[p.first]->source)
				break;
		c->part[c->nr_parts++] = p;
	}
	return c->nr_parts;
}

static void group_time(void *group, unsigned part)
{
	const struct variant_group *c = group;
	const struct timed_part *p = &c->part[part];
	const struct outcome_stream *s = &c->source[c->timed[p->first]->source].stream[c->turn];
	struct chrono *together[TOGETHER];

	for (unsigned i = p->first; i < p->end; i++)
		together[i - p->first] = c->timed[i]->chrono;
	chrono_batch_together(together, p->end - p->first, s->word, s->nr);
}

static void group_finish(struct variant_group *c)
{
}

static uint64_t group_cycles(const struct variant_group *c, unsigned variant, uint64_t *instructions)
{
	const struct member *m = &c->member[variant];

	*instructions = chrono_instructions(m->way.shared ? c->as_is->chrono : m->chrono);
	return sharing_cycles(&m->way, m->chrono, c->as_is ? c->as_is->chrono : NULL);
}

const struct variant_group_ops abstract_group = {
	.gathers = GATHERED,
	.open = group_open,
	.foresee = group_foresee,
	.parts = group_parts,
	.time = group_time,
	.finish = group_finish,
	.cycles = group_cycles,
	.close = group_close,
};
