/*
 * What limits a program, where, and what usually helps, with the speed-up that a model predicts.
 *
 * The program runs once. The first look is a profile with the methods that learn how instructions behave
 * (method/patterns.h, method/chains.c); findings are made of it (view/diagnosis.h). The second look has the largest
 * predicted: those of an event on the detailed core, supposing that their instructions never meet it, or that the load
 * is prefetched (run/predict.h); those of code that is delivered slowly on a detailed core that delivers it otherwise;
 * the others on the abstract core, with more of the resource that they stand for (run/variants.h). Each of the two
 * cores reads once what was kept of the run, all that is supposed side by side: what that costs grows with the run in
 * time, in memory with what is supposed alone.
 *
 * The file gets the figures that diagnosis.h names, of the methods `advice` and `relaxed`, and the keys
 * "unit.RESOURCE".
 */
#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "cmd/profiled.h"
#include "run/drive.h"
#include "run/predict.h"
#include "run/variants.h"
#include "view/diagnosis.h"

/*
 * Findings that are predicted: of events, by resources, with a prefetch, with all data at hand; distances in
 * executions.
 */
enum { EVENTS = 8, OTHERS = 8, PREFETCHES = 1, DATA = 2 };
static const uint32_t distances[] = { 4, 16, 64 };

/* One that is predicted on the detailed core, and what came out. */
struct asked {
	char key[FINDING_KEY + 16];
	uint32_t insn;                 /* that the finding is told by; CODE_NONE: it is of the run */
	GArray *never;                 /* struct never */
	struct core_desc *desc;        /* NULL: the run's */
	struct supposition supposition;
	uint64_t cycles;
};

/* A resource that is relaxed on the abstract core. */
struct relaxed {
	struct vary vary;
	unsigned variant;
	uint64_t cycles;
};

struct advise {
	struct driven_run run;
	GPtrArray *asked;              /* struct asked * */
	GArray *relaxed;               /* struct relaxed */
	uint64_t cycles;               /* of the abstract core as it is */
};

static void asked_free(gpointer p)
{
	struct asked *a = p;

	g_array_free(a->never, TRUE);
	g_free(a->desc);
	g_free(a);
}

static int advise_open(void **state, const struct driven_run *run)
{
	struct advise *s = g_new0(struct advise, 1);

	s->run = *run;
	s->asked = g_ptr_array_new_with_free_func(asked_free);
	s->relaxed = g_array_new(FALSE, FALSE, sizeof(struct relaxed));
	*state = s;
	return 0;
}

static void advise_close(void *state)
{
	struct advise *s = state;

	if (!s)
		return;
	g_ptr_array_free(s->asked, TRUE);
	g_array_free(s->relaxed, TRUE);
	g_free(s);
}

/* --- findings of an event ---------------------------------------------------------------------------- */

static struct asked *ask_of_run(struct advise *s, const char *key)
{
	struct asked *a = g_new0(struct asked, 1);

	g_strlcpy(a->key, key, sizeof a->key);
	a->insn = CODE_NONE;
	a->never = g_array_new(FALSE, FALSE, sizeof(struct never));
	a->supposition.prefetch = CODE_NONE;
	g_ptr_array_add(s->asked, a);
	return a;
}

static struct asked *ask(struct advise *s, const struct finding *f)
{
	char key[FINDING_KEY];
	struct asked *a = ask_of_run(s, finding_key(f, key));

	a->insn = f->main->insn;
	return a;
}

static void ask_never(struct advise *s, const struct finding *f)
{
	struct asked *a = ask(s, f);

	for (size_t i = 0; i < f->nr; i++) {
		struct never never = { f->part[i].insn->insn, f->event };
		g_array_append_val(a->never, never);
	}
}

/* None of the events that were asked for one by one. */
static void ask_events(struct advise *s)
{
	struct asked *all = ask_of_run(s, FINDING_EVENTS);

	for (guint i = 0; i < s->asked->len; i++) {
		const struct asked *a = s->asked->pdata[i];
		if (a != all)
			g_array_append_vals(all->never, a->never->data, a->never->len);
	}
}

/* A finding is told by one event: behind a page that is not at hand there may be data that are not. */
static void ask_data(struct advise *s, const struct finding *f)
{
	struct asked *a = ask(s, f);

	g_strlcat(a->key, FINDING_DATA, sizeof a->key);
	for (size_t i = 0; i < f->nr; i++) {
		struct never never = { f->part[i].insn->insn, FINDING_DATA_EVENTS };
		g_array_append_val(a->never, never);
	}
}

static void ask_prefetch(struct advise *s, const struct finding *f)
{
	for (size_t i = 0; i < G_N_ELEMENTS(distances); i++) {
		struct asked *a = ask(s, f);
		char distance[16];

		g_snprintf(distance, sizeof distance, "/%u", distances[i]);
		g_strlcat(a->key, distance, sizeof a->key);
		a->supposition.prefetch = f->part[0].insn->insn;
		a->supposition.distance = distances[i];
	}
}

/* A core that delivers code as one cause supposes, or several. */
static int ask_delivery(struct advise *s, const char *key, const struct cause *const *cause, unsigned nr)
{
	struct asked *a = ask_of_run(s, key);
	int err = 0;

	a->desc = g_memdup2(s->run.desc, sizeof *s->run.desc);
	for (unsigned i = 0; i < nr; i++) {
		for (const char *const *set = cause[i]->set; set && *set && !err; set++)
			err = core_desc_set(a->desc, *set);
		for (const char *const *scale = cause[i]->scale; scale && *scale && !err; scale++)
			err = core_desc_scale(a->desc, *scale);
	}
	return err;
}

static int ask_deliveries(struct advise *s, const struct diagnosis *d)
{
	const struct cause *cause[NR_DELIVERIES];
	char key[FINDING_KEY];
	unsigned nr = 0;
	int err = 0;

	for (size_t i = 0; i < d->nr && nr < NR_DELIVERIES && !err; i++) {
		const struct finding *f = &d->finding[i];

		if (!f->cause->set && !f->cause->scale)
			continue;
		cause[nr++] = f->cause;
		err = ask_delivery(s, finding_key(f, key), &f->cause, 1);
	}
	return nr > 1 && !err ? ask_delivery(s, FINDING_DELIVERY, cause, nr) : err;
}

static struct supposition supposition(const struct asked *a)
{
	struct supposition s = a->supposition;

	s.never = (const struct never *)(const void *)a->never->data;
	s.nr = a->never->len;
	s.desc = a->desc;
	return s;
}

static int predict_events(struct advise *s, const struct replay_log *steps)
{
	guint nr = s->asked->len;
	struct supposition *all = g_new(struct supposition, nr);
	uint64_t *cycles = g_new(uint64_t, nr);
	int err = 0;

	for (guint i = 0; i < nr; i++)
		all[i] = supposition(s->asked->pdata[i]);
	if (nr)
		err = predict(cycles, &s->run, steps, all, nr);
	for (guint i = 0; i < nr && !err; i++)
		((struct asked *)s->asked->pdata[i])->cycles = cycles[i];
	g_free(cycles);
	g_free(all);
	return err;
}

/* --- the others -------------------------------------------------------------------------------------- */

static void ask_relaxed(struct advise *s, const struct diagnosis *d, const struct finding *f, const struct vary *vary,
                        unsigned nr)
{
	for (const char *const *r = f->cause->relax; r && *r; r++) {
		const char *name = finding_resource(d, f, *r);
		guint known = 0;

		while (name && known < s->relaxed->len &&
		       strcmp(g_array_index(s->relaxed, struct relaxed, known).vary.name, name))
			known++;
		for (unsigned i = 0; name && known == s->relaxed->len && i < nr; i++) {
			struct relaxed one = { .vary = vary[i] };

			if (strcmp(vary[i].name, name))
				continue;
			g_array_append_val(s->relaxed, one);
			break;
		}
	}
}

static int predict_relaxed(struct advise *s, const struct replay_log *steps)
{
	struct driven_run abstract = s->run;
	struct variants *v;
	unsigned as_is;
	int err;

	if (!s->relaxed->len)
		return 0;
	abstract.model = core_find("abstract");
	v = variants_new(&abstract);
	err = variants_add(v, &variant_as_is, &as_is);
	for (guint i = 0; i < s->relaxed->len && !err; i++) {
		struct relaxed *r = &g_array_index(s->relaxed, struct relaxed, i);

		err = variants_add(v, &(struct variant){ .part = { &r->vary }, .nr = 1, .weight = 2 * WEIGHT_ONE },
		                   &r->variant);
		if (err == -ERANGE) {
			r->variant = as_is; /* what it cannot change */
			err = 0;
		}
	}
	if (!err)
		err = variants_read(v, steps);
	for (guint i = 0; i < s->relaxed->len && !err; i++) {
		struct relaxed *r = &g_array_index(s->relaxed, struct relaxed, i);
		r->cycles = variants_cycles(v, r->variant);
	}
	s->cycles = err ? 0 : variants_cycles(v, as_is);
	variants_free(v);
	return err;
}

/* --- the second look --------------------------------------------------------------------------------- */

static int advise_look(void *state, const struct replay_log *steps, struct query *q)
{
	struct advise *s = state;
	struct vary vary[VARY_MAX];
	struct diagnosis *d;
	unsigned nr = 0, events = 0, others = 0, prefetches = 0, data = 0;
	int err = variants_resources(vary, &nr, s->run.desc, core_find("abstract"));

	if (!err)
		err = diagnosis_new(&d, q);
	if (err)
		return err;
	for (size_t i = 0; i < d->nr; i++)
		if (d->finding[i].event && events++ < EVENTS)
			ask_never(s, &d->finding[i]);
	if (s->asked->len > 1)
		ask_events(s);
	err = ask_deliveries(s, d);
	for (size_t i = 0; i < d->nr; i++) {
		const struct finding *f = &d->finding[i];

		if (f->cause->relax && others++ < OTHERS)
			ask_relaxed(s, d, f, vary, nr);
		if (f->event && finding_can_prefetch(d, f) && prefetches++ < PREFETCHES)
			ask_prefetch(s, f);
		if (f->event & FINDING_DATA_EVENTS && data++ < DATA)
			ask_data(s, f);
	}
	if (!err)
		err = predict_events(s, steps);
	if (!err)
		err = predict_relaxed(s, steps);
	diagnosis_free(d);
	return err;
}

static int advise_save(void *state, struct profile *p)
{
	const struct advise *s = state;
	int err = 0;

	for (guint i = 0; i < s->asked->len && !err; i++) {
		const struct asked *a = s->asked->pdata[i];
		if (a->insn == CODE_NONE)
			err = profile_figure(p, "advice", a->key, (double)a->cycles);
		else
			err = profile_insn_figure(p, "advice", a->insn, a->key, (double)a->cycles);
	}
	if (!err && s->cycles)
		err = profile_figure(p, "relaxed", "cycles", (double)s->cycles);
	for (guint i = 0; i < s->relaxed->len && !err; i++) {
		const struct relaxed *r = &g_array_index(s->relaxed, struct relaxed, i);
		char key[VARY_NAME + 8];

		err = profile_figure(p, "relaxed", r->vary.name, (double)r->cycles);
		g_snprintf(key, sizeof key, "unit.%s", r->vary.name);
		if (!err)
			err = profile_set(p, key, r->vary.unit);
	}
	return err;
}

static const struct second_look advise = {
	.open = advise_open,
	.look = advise_look,
	.save = advise_save,
	.close = advise_close,
};

static int run(struct invocation *call);

const struct command command_advise = {
	.name = "advise",
	.summary = "what limits the program, where, and what usually helps",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM once and says what it lost the most cycles on: for each finding the place in the source, "
	        "the cause with what "
		"was seen of it, what usually helps, and how much faster the whole run is predicted to be without "
	        "it.\n\n"
		"Findings are cycles of the same cause in one loop, line or function, or of one that is spread over "
	        "many. The detailed "
		"core predicts by timing the run once more with the event taken away from these instructions alone, or "
	        "the load "
		"prefetched, or code delivered faster; the abstract core with half the latency, or twice of the "
	        "resource, that the "
		"others wait for. What predictions save does not add up.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST,
	.runs = true,
	.second = &advise,
	.methods = METHODS_ADVICE,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_advise, call, call->options.output, "advise", false);
}
