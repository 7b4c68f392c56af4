/*
 * Which resource of the core limits the run: each is weighted in turn, and what the run would have taken is compared.
 *
 * All variants are fed by one run of the program (run/variants.h). Its steps are kept (run/replay_log.h), and when it
 * has ended, they are timed again with the resources that limit it most combined, since to relieve one alone often does
 * nothing when two are saturated. Behind those that limit the run alone come those of which less would cost most.
 * Ref: Gus §3.2.
 */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cmd/profiled.h"
#include "method/method.h"
#include "run/executions.h"
#include "run/replay_log.h"
#include "run/variants.h"

enum { MOST_WEIGHTS = 8, COMBINED = 3, WORTH_A_WORD = 50 }; /* of the run: 2%, as the view has it */

struct measured {                      /* one variant */
	char name[VARIANT_PARTS * VARY_NAME];
	uint32_t weight;               /* of the capacity, thousandths */
	struct variants *of;
	unsigned variant;
};

struct sensitivity {
	struct driven_run run;
	struct variants *single, *joint; /* joint: NULL until the run has ended, and where nothing is combined */
	unsigned as_is;                /* of `single`: the core unweighted */
	struct replay_log *steps;      /* NULL: nothing is to be combined */
	struct executions executions;
	struct vary row[VARY_MAX];
	unsigned nr;
	bool wanted[VARY_MAX];
	uint32_t weight[MOST_WEIGHTS]; /* relaxing, thousandths */
	unsigned nr_weights;
	GArray *measured;              /* struct measured */
};

/* --- options ----------------------------------------------------------------------------------------- */

static int parse_weights(struct sensitivity *s, const char *text)
{
	char **words = g_strsplit(text ? text : "0.5,2", ",", -1);
	int err = 0;

	for (char **w = words; *w && !err; w++) {
		char *end;
		double v = g_ascii_strtod(*w, &end);

		if (end == *w || *end || !(v >= 0.05 && v <= 20) || s->nr_weights == MOST_WEIGHTS)
			err = error_set(EINVAL, "--weights", "'%s' is not a list of at most %d factors from 0.05 to 20",
			                text, MOST_WEIGHTS);
		else if (v != 1)
			s->weight[s->nr_weights++] = (uint32_t)lround(v * WEIGHT_ONE);
	}
	g_strfreev(words);
	if (!err && !s->nr_weights)
		err = error_set(EINVAL, "--weights", "'%s' changes nothing", text);
	if (err) {
		error_remedy("such as 0.5,2: half of what there is of each resource, and twice");
		error_status(EXIT_USAGE);
	}
	return err;
}

static int parse_resources(struct sensitivity *s, const char *text)
{
	/* "" names one without a name, not none */
	char **words = text ? g_strsplit(*text ? text : ",", ",", -1) : NULL;
	int err = 0;

	for (unsigned i = 0; i < s->nr; i++)
		s->wanted[i] = !text;
	for (char **w = words; w && *w && !err; w++) {
		struct nearest near = { .name = *w };
		bool found = false;

		for (unsigned i = 0; i < s->nr; i++) {
			found |= !strcmp(s->row[i].name, *w);
			s->wanted[i] |= !strcmp(s->row[i].name, *w);
			nearest_offer(&near, s->row[i].name);
		}
		if (found)
			continue;
		err = error_set(EINVAL, "--only", "this core has no resource '%s'", *w);
		if (near.best)
			error_remedy("did you mean %s?", near.best);
		else
			error_remedy("`cyclewise sensitivity -v` without --only shows all");
		error_status(EXIT_USAGE);
	}
	g_strfreev(words);
	return err;
}

/* The most relaxing weight, and the least. */
static uint32_t most_relaxed(const struct sensitivity *s)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < s->nr_weights; i++)
		most = MAX(most, s->weight[i]);
	return most;
}

static uint32_t least_relaxed(const struct sensitivity *s)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < s->nr_weights; i++)
		least = MIN(least, s->weight[i]);
	return least;
}

/* --- variants ---------------------------------------------------------------------------------------- */

static uint32_t capacity_weight(const struct vary *v, uint32_t weight)
{
	return v->time ? (WEIGHT_ONE * WEIGHT_ONE + weight / 2) / weight : weight;
}

static int add(struct sensitivity *s, struct variants *to, const struct variant *v)
{
	struct measured m = { .weight = v->nr == 1 ? capacity_weight(v->part[0], v->weight) : v->weight, .of = to };
	int err = variants_add(to, v, &m.variant);

	if (err == -ERANGE)
		return 0;
	for (unsigned i = 0; i < v->nr && !err; i++) {
		g_strlcat(m.name, i ? "+" : "", sizeof m.name);
		g_strlcat(m.name, v->part[i]->name, sizeof m.name);
	}
	if (!err)
		g_array_append_val(s->measured, m);
	return err;
}

static void sensitivity_close(void *state)
{
	struct sensitivity *s = state;

	if (!s)
		return;
	variants_free(s->single);
	variants_free(s->joint);
	replay_log_free(s->steps);
	executions_fini(&s->executions);
	g_array_free(s->measured, TRUE);
	g_free(s);
}

static int sensitivity_open(void **state, const struct driven_run *run)
{
	struct sensitivity *s = g_new0(struct sensitivity, 1);
	int err;

	s->measured = g_array_new(FALSE, FALSE, sizeof(struct measured));
	s->run = *run;
	*state = s;
	err = variants_resources(s->row, &s->nr, run->desc, run->model);
	if (!err)
		err = parse_weights(s, run->options->weights);
	if (!err)
		err = parse_resources(s, run->options->only);
	if (!err)
		s->single = variants_new(run);
	if (!err)
		err = variants_add(s->single, &variant_as_is, &s->as_is);
	for (unsigned i = 0; i < s->nr && !err; i++)
		for (unsigned k = 0; k < s->nr_weights && s->wanted[i] && !err; k++)
			err = add(s, s->single,
			          &(struct variant){ .part = { &s->row[i] }, .nr = 1, .weight = s->weight[k] });
	if (!err && most_relaxed(s) > WEIGHT_ONE)
		err = replay_log_new(&s->steps, REPLAY_LOG_MOST);
	return err;
}

/* --- combinations ------------------------------------------------------------------------------------ */

/* By how many cycles the run is shorter with the resource relaxed by `weight`; INT64_MIN: not weighted so. */
static int64_t saves(const struct sensitivity *s, const struct vary *v, uint32_t weight)
{
	for (guint i = 0; i < s->measured->len; i++) {
		const struct measured *m = &g_array_index(s->measured, struct measured, i);
		if (!strcmp(m->name, v->name) && m->weight == capacity_weight(v, weight))
			return (int64_t)(variants_cycles(s->single, s->as_is) - variants_cycles(m->of, m->variant));
	}
	return INT64_MIN;
}

/*
 * How much a resource limits the run, more being more: by what much of it saves, where that is worth a word; the
 * others, behind them, by what little of it costs, which is what they may be saturated by. INT64_MIN: not weighted.
 */
static int64_t limits(const struct sensitivity *s, const struct vary *v)
{
	int64_t saved = saves(s, v, most_relaxed(s)), gained;

	if (saved == INT64_MIN || least_relaxed(s) >= WEIGHT_ONE)
		return saved;
	if (saved >= (int64_t)(variants_cycles(s->single, s->as_is) / WORTH_A_WORD))
		return INT64_MAX / 2 + saved;
	gained = saves(s, v, least_relaxed(s));
	return gained == INT64_MIN ? 0 : -gained;
}

/* The resources that limit most, none of them in part another. */
static unsigned leaders(const struct sensitivity *s, const struct vary *out[COMBINED])
{
	bool out_of_it[VARY_MAX] = { false };
	unsigned nr = 0;

	while (nr < COMBINED) {
		const struct vary *best = NULL;
		int64_t most = INT64_MIN;

		for (unsigned i = 0; i < s->nr; i++) {
			int64_t much = out_of_it[i] ? INT64_MIN : limits(s, &s->row[i]);
			if (much > most) {
				most = much;
				best = &s->row[i];
			}
		}
		if (!best)
			break;
		out[nr++] = best;
		for (unsigned i = 0; i < s->nr; i++)
			out_of_it[i] |= vary_overlaps(best, &s->row[i]);
	}
	return nr;
}

static int combine(struct sensitivity *s)
{
	const struct vary *top[COMBINED];
	uint32_t weight = most_relaxed(s);
	unsigned nr = leaders(s, top);
	int err = replay_log_end(s->steps);

	if (!err)
		s->joint = variants_new(&s->run);
	for (unsigned i = 0; i < nr && !err; i++)
		for (unsigned k = i + 1; k < nr && !err; k++)
			err = add(s, s->joint,
			          &(struct variant){ .part = { top[i], top[k] }, .nr = 2, .weight = weight });
	if (!err && nr == COMBINED)
		err = add(s, s->joint,
		          &(struct variant){ .part = { top[0], top[1], top[2] }, .nr = 3, .weight = weight });
	return err ? err : variants_read(s->joint, s->steps);
}

/* --- the run ----------------------------------------------------------------------------------------- */

static int sensitivity_batch(void *state, const struct step_batch *b)
{
	static const struct foreseen nothing;
	struct sensitivity *s = state;
	int err = variants_batch(s->single, b);

	executions_count(&s->executions, s->run.code, b);
	return err || !s->steps ? err : replay_log_put(s->steps, b, &nothing);
}

/* Of a run that is longer than what is kept of it, nothing is combined; nor where that is cut short. */
static int sensitivity_finish(void *state)
{
	struct sensitivity *s = state;
	guint single = s->measured->len;
	int err = s->steps && !replay_log_full(s->steps) ? combine(s) : 0;

	if (err)
		g_array_set_size(s->measured, single);
	return err;
}

static int save_row(const struct sensitivity *s, struct profile *p, const char *name)
{
	int err = 0;

	for (guint i = 0; i < s->measured->len && !err; i++) {
		const struct measured *m = &g_array_index(s->measured, struct measured, i);
		char figure[256];

		if (strcmp(m->name, name))
			continue;
		snprintf(figure, sizeof figure, "%s/%u.%03u", name, m->weight / WEIGHT_ONE, m->weight % WEIGHT_ONE);
		err = profile_figure(p, "sensitivity", figure, (double)variants_cycles(m->of, m->variant));
	}
	return err;
}

static int sensitivity_save(void *state, struct profile *p)
{
	const struct sensitivity *s = state;
	const struct slot_counts none = { 0 };
	char key[128];
	int err = profile_set(p, "view", "sensitivity");

	if (!err)
		err = profile_set_int(p, "units_per_cycle", CYCLE_UNITS);
	if (!err)
		err = profile_thread(p, 0, variants_instructions(s->single), 0,
		                     variants_cycles(s->single, s->as_is) * CYCLE_UNITS, &none);
	if (!err)
		err = executions_save_unmodelled(&s->executions, s->run.code, p);
	for (unsigned i = 0; i < s->nr && !err; i++) {
		if (!s->wanted[i])
			continue;
		snprintf(key, sizeof key, "%s/capacity", s->row[i].name);
		err = profile_figure(p, "sensitivity", key, s->row[i].capacity);
		snprintf(key, sizeof key, "unit.%s", s->row[i].name);
		if (!err)
			err = profile_set(p, key, s->row[i].unit);
		if (!err)
			err = save_row(s, p, s->row[i].name);
	}
	for (guint i = 0; i < s->measured->len && !err; i++) {
		const struct measured *m = &g_array_index(s->measured, struct measured, i);
		if (strchr(m->name, '+'))
			err = save_row(s, p, m->name);
	}
	return err;
}

static const struct driven sensitivity = {
	.model = "abstract",
	.open = sensitivity_open,
	.batch = sensitivity_batch,
	.finish = sensitivity_finish,
	.save = sensitivity_save,
	.close = sensitivity_close,
};

static int run(struct invocation *call);

const struct command command_sensitivity = {
	.name = "sensitivity",
	.summary = "which resource of the core limits the run",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM once and times it on many variants of the core, in each of which one resource is scarcer "
	        "or more "
		"plentiful: ports one by one and in groups, latencies of instructions and of loads, the front end, the "
	        "reorder buffer, "
		"schedulers and queues, bandwidth and latency of each level of memory, TLBs, branch prediction. Prints "
	        "how much each "
		"would change the run, and what the resources that limit most would do together.\n\n"
		"Without --model the core is the resource-centric one, abstract.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_WEIGHTS,
	.runs = true,
	.driven = &sensitivity,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_sensitivity, call, call->options.output, "sensitivity", false);
}
