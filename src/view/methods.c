/*
 * What every profiling method would have said of one run, and how wrong it is against the exact stacks: the error of
 * each at four granularities, the same at longer periods where the run swept them, the CPI stacks by each way of
 * counting, and what combinations of events there are.
 *
 * Ref: TEA §4 (error), §5 (figures 5, 7, 8 and 9).
 */
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/error.h"
#include "method/method.h"
#include "view/cpi.h"
#include "view/head.h"
#include "view/number.h"
#include "view/profileme.h"
#include "view/view.h"

enum grain { INSTRUCTION, BASIC_BLOCK, FUNCTION, APPLICATION, NR_GRAINS };
static const char *const grain_names[NR_GRAINS] = { "instruction", "basic_block", "function", "application" };

/* One method at one period. */
struct sampling {
	char *method;
	bool swept;                    /* a longer period than the one in force */
	uint16_t events;               /* that its hardware knows */
	uint64_t period, samples, dropped;
	double error[NR_GRAINS];       /* NaN: no sample */
	double pure;                   /* mean error by instruction of so many samples taken without fault */
};

/* An executed instruction's units of each granularity. */
struct units { uint64_t of[NR_GRAINS]; };

struct methods {
	const struct run_info *run;
	const struct query_insn *insn; /* [insns] */
	size_t insns;
	GHashTable *units;             /* insn -> struct units * */
	GArray *sampling;              /* struct sampling: those in force by their error, then those swept by name
	                                * and period */
	double eventless_p99;          /* NaN: no such stall */
	double overlap;                /* cycles lost to the front end and a long miss at once; NaN: not known */
	uint64_t with_events, combined;/* executions with one event or more, and with two or more */
	double correlation[NR_PSV];    /* NaN: undefined */
};

/* --- gathering --------------------------------------------------------------------------------------- */

static int find_units(struct methods *m, const struct view_request *r)
{
	GHashTable *leaders = g_hash_table_new(NULL, NULL);
	const struct query_figure *figure;
	size_t n;
	int err = query_insn_figures(r->query, "blocks", &figure, &n);

	for (size_t i = 0; i < n && !err; i++)
		g_hash_table_insert(leaders, GUINT_TO_POINTER(figure[i].insn),
		                    GUINT_TO_POINTER((guint)figure[i].value));
	m->units = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	for (size_t i = 0; i < m->insns && !err; i++) {
		const struct query_insn *v = &m->insn[i];
		struct units *u = g_new0(struct units, 1);
		gpointer leader;

		u->of[INSTRUCTION] = v->insn;
		u->of[BASIC_BLOCK] = v->insn;
		if (g_hash_table_lookup_extended(leaders, GUINT_TO_POINTER(v->insn), NULL, &leader))
			u->of[BASIC_BLOCK] = GPOINTER_TO_UINT(leader);
		u->of[FUNCTION] = (uintptr_t)v->function;
		g_hash_table_insert(m->units, GUINT_TO_POINTER(v->insn), u);
	}
	g_hash_table_destroy(leaders);
	return err;
}

/* What no row of the reference is about is a unit of its own. */
static uint64_t unit_of(const struct methods *m, uint32_t insn, enum grain grain)
{
	const struct units *u = g_hash_table_lookup(m->units, GUINT_TO_POINTER(insn));

	return u ? u->of[grain] : grain == APPLICATION ? 0 : UINT64_MAX - insn;
}

static void cell(GArray *cells, uint64_t unit, uint64_t amount, uint16_t psv)
{
	g_array_append_vals(cells, &(struct error_cell){ .unit = unit, .amount = amount, .psv = psv }, 1);
}

static int find_errors(const struct methods *m, const struct view_request *r, struct sampling *s, const char *name)
{
	const struct query_sample *sample;
	size_t n;
	int err = query_samples(r->query, name, &sample, &n);

	for (unsigned grain = 0; grain < NR_GRAINS && !err; grain++) {
		GArray *reference = g_array_new(FALSE, FALSE, sizeof(struct error_cell));
		GArray *profile = g_array_new(FALSE, FALSE, sizeof(struct error_cell));

		for (size_t i = 0; i < m->insns; i++)
			for (uint32_t k = 0; k < m->insn[i].stack.nr; k++)
				cell(reference, unit_of(m, m->insn[i].insn, grain), m->insn[i].stack.share[k].units,
				     m->insn[i].stack.share[k].signature);
		for (size_t i = 0; i < n; i++)
			cell(profile, unit_of(m, sample[i].insn, grain), sample[i].weight, sample[i].signature);
		s->error[grain] = method_error((struct error_cell *)(void *)reference->data, reference->len,
		                               (struct error_cell *)(void *)profile->data, profile->len, s->events);
		if (grain == INSTRUCTION)
			s->pure = method_sampling_error((struct error_cell *)(void *)reference->data, reference->len,
			                                s->events, s->samples);
		g_array_free(reference, TRUE);
		g_array_free(profile, TRUE);
	}
	return err;
}

static gint by_error(gconstpointer p, gconstpointer q)
{
	const struct sampling *a = p, *b = q;

	if (a->swept != b->swept)
		return a->swept - b->swept;
	if (!a->swept && a->error[INSTRUCTION] != b->error[INSTRUCTION])
		return a->error[INSTRUCTION] < b->error[INSTRUCTION] ? -1 : 1;
	int names = strcmp(a->method, b->method);
	return names ? names : (a->period > b->period) - (a->period < b->period);
}

static uint64_t figure(const struct query_figure *f, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, name))
			return (uint64_t)f[i].value;
	return 0;
}

static void sampling_clear(gpointer p)
{
	g_free(((struct sampling *)p)->method);
}

/* A swept period's rows are "METHOD/PERIOD"; what the hardware knows stands with the method's own. */
static int find_sampling(struct methods *m, const struct view_request *r)
{
	const struct query_count *name;
	const struct query_figure *f;
	size_t names, n;
	int err = query_sample_methods(r->query, &name, &names);

	m->sampling = g_array_new(FALSE, TRUE, sizeof(struct sampling));
	g_array_set_clear_func(m->sampling, sampling_clear);
	for (size_t i = 0; i < names && !err; i++) {
		const char *slash = strchr(name[i].name, '/');
		struct sampling s = { .swept = slash != NULL };

		s.method = slash ? g_strndup(name[i].name, (gsize)(slash - name[i].name)) : g_strdup(name[i].name);
		err = query_figures(r->query, s.method, &f, &n);
		if (!err) {
			s.events = (uint16_t)figure(f, n, "events");
			err = query_figures(r->query, name[i].name, &f, &n);
		}
		if (!err) {
			s.period = figure(f, n, "period");
			s.samples = figure(f, n, "samples");
			s.dropped = figure(f, n, "dropped");
			err = find_errors(m, r, &s, name[i].name);
		}
		g_array_append_val(m->sampling, s);
	}
	g_array_sort(m->sampling, by_error);
	return err;
}

/* Pearson's r over the executed instructions: how often each had the event, and what the components with it cost. */
static double correlation(const struct methods *m, unsigned event)
{
	double n = (double)m->insns, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (int pass = 0; pass < 2; pass++) {
		double mean_x = x / n, mean_y = y / n;
		for (size_t i = 0; i < m->insns; i++) {
			uint64_t count = 0, units = 0;
			for (uint32_t k = 0; k < m->insn[i].stack.nr; k++) {
				const struct share *s = &m->insn[i].stack.share[k];
				count += s->signature >> event & 1 ? s->executions : 0;
				units += s->signature >> event & 1 ? s->units : 0;
			}
			if (!pass) {
				x += (double)count;
				y += (double)units;
				continue;
			}
			xx += ((double)count - mean_x) * ((double)count - mean_x);
			yy += ((double)units - mean_y) * ((double)units - mean_y);
			xy += ((double)count - mean_x) * ((double)units - mean_y);
		}
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static void find_events(struct methods *m)
{
	for (size_t i = 0; i < m->insns; i++)
		for (uint32_t k = 0; k < m->insn[i].stack.nr; k++) {
			const struct share *s = &m->insn[i].stack.share[k];
			m->with_events += s->signature ? s->executions : 0;
			m->combined += s->signature & (s->signature - 1) ? s->executions : 0;
		}
	for (unsigned event = 0; event < NR_PSV; event++)
		m->correlation[event] = correlation(m, event);
}

static int gather(struct methods *m, const struct view_request *r)
{
	const struct query_figure *f;
	size_t n;
	int err;

	*m = (struct methods){ .run = query_run(r->query), .eventless_p99 = NAN, .overlap = NAN };
	err = query_hot(r->query, 0, &m->insn, &m->insns, NULL);
	if (!err)
		err = find_units(m, r);
	if (!err)
		err = find_sampling(m, r);
	if (!err)
		err = query_figures(r->query, "stalls", &f, &n);
	if (!err && n)
		m->eventless_p99 = f[0].value;
	if (!err)
		err = query_figures(r->query, "fmt", &f, &n);
	if (!err && n)
		m->overlap = f[0].value;
	if (!err)
		find_events(m);
	return err;
}

static void release(struct methods *m)
{
	if (m->units)
		g_hash_table_destroy(m->units);
	if (m->sampling)
		g_array_free(m->sampling, TRUE);
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void sampling_json(struct json *j, const struct sampling *s)
{
	json_object(j, NULL);
	json_string(j, "method", s->method);
	json_uint(j, "period", s->period);
	json_uint(j, "samples", s->samples);
	json_uint(j, "dropped", s->dropped);
	json_object(j, "error");
	for (unsigned i = 0; i < NR_GRAINS; i++)
		json_real(j, grain_names[i], s->error[i]);
	json_end_object(j);
	json_real(j, "sampling_error", s->pure);
	json_end_object(j);
}

static void sweep_json(struct json *j, const struct methods *m, bool swept)
{
	for (guint i = 0; i < m->sampling->len; i++)
		if (g_array_index(m->sampling, struct sampling, i).swept == swept)
			sampling_json(j, &g_array_index(m->sampling, struct sampling, i));
}

static int json(struct json *j, const struct view_request *r)
{
	struct methods m;
	int err = gather(&m, r);

	if (!err) {
		json_object(j, NULL);
		head_json(j, r);
		cycles_json(j, "cycles", r, m.run->cycles_units);
		json_uint(j, "instructions", m.run->instructions);
		json_array(j, "sampling");
		sweep_json(j, &m, false);
		json_end_array(j);
		json_array(j, "sweep");
		sweep_json(j, &m, true);
		json_end_array(j);
		err = cpi_json(j, r);
		if (!err)
			err = profileme_json(j, r, m.insn, m.insns);
		json_real(j, "overlap_share", m.overlap * (double)m.run->units_per_cycle / (double)m.run->cycles_units);
		json_ratio(j, "combined_share", m.combined, m.with_events);
		json_real(j, "eventless_stall_p99", m.eventless_p99);
		json_object(j, "event_correlation");
		for (unsigned i = 0; i < NR_PSV; i++)
			json_real(j, psv_event(i), m.correlation[i]);
		json_end_object(j);
		if (!err)
			err = notes_json(j, r);
		json_end_object(j);
	}
	release(&m);
	return err;
}

/* --- text -------------------------------------------------------------------------------------------- */

/* A fraction as a percentage; "-" where it is undefined. */
static const char *percent(char buf[NUMBER_SIZE], double fraction)
{
	if (isnan(fraction))
		return strcpy(buf, "-");
	number_ratio(buf, (uint64_t)llround(fraction * 1e6), 10000, 2);
	return strcat(buf, "%");
}

static void sampling_text(struct text *t, const struct methods *m)
{
	text_heading(t, "%-9s %7s %9s %8s %8s %8s %8s %8s %7s", "Sampling", "period", "samples", "dropped", "instr.",
	             "block", "function", "program", "by luck");
	for (guint i = 0; i < m->sampling->len; i++) {
		const struct sampling *s = &g_array_index(m->sampling, struct sampling, i);
		char a[3][NUMBER_SIZE], e[NR_GRAINS][NUMBER_SIZE];

		if (s->swept)
			continue;
		text_left(t, s->method, 9);
		fprintf(t->out, " %7s %9s %8s", number_grouped(a[0], s->period),
		        number_grouped(a[1], s->samples), number_grouped(a[2], s->dropped));
		for (unsigned k = 0; k < NR_GRAINS; k++)
			fprintf(t->out, " %8s", percent(e[k], s->error[k]));
		fprintf(t->out, " %7s\n", percent(a[0], s->pure));
	}
	text_fill(t, 0, 0,
	          "The error is the share of all cycles that a method gives to the wrong instruction (basic block, "
	          "function) "
	          "or the wrong component, of those components that its hardware can tell apart; of the whole program, "
	          "to the wrong "
	          "component; by luck, what so many samples of single cycles, taken at random and without any fault, "
	          "would have by instruction.");
}

/* How wide the column of a method is: a percentage and a space at least. */
static int column(const struct sampling *s)
{
	return MAX(8, (int)strlen(s->method) + 1);
}

/* A row a period, a column a method in the order of the first table. */
static void sweep_text(struct text *t, const struct methods *m)
{
	GArray *all = m->sampling;
	uint64_t period = 0;
	guint first = 0;

	while (first < all->len && !g_array_index(all, struct sampling, first).swept)
		first++;
	if (first == all->len)
		return;
	text_heading(t, "Sweep: instruction errors by period");
	fprintf(t->out, "%9s", "period");
	for (guint i = 0; i < first; i++) {
		const struct sampling *s = &g_array_index(all, struct sampling, i);
		text_right(t, s->method, (unsigned)column(s));
	}
	fputc('\n', t->out);
	for (;;) {
		uint64_t next = UINT64_MAX;
		char a[NUMBER_SIZE];

		for (guint i = 0; i < all->len; i++) {
			uint64_t p = g_array_index(all, struct sampling, i).period;
			next = p > period && p < next ? p : next;
		}
		if (next == UINT64_MAX)
			return;
		period = next;
		fprintf(t->out, "%9s", number_grouped(a, period));
		for (guint i = 0; i < first; i++) {
			const struct sampling *of = &g_array_index(all, struct sampling, i);
			double error = NAN;
			for (guint k = 0; k < all->len; k++) {
				const struct sampling *s = &g_array_index(all, struct sampling, k);
				if (s->period == period && !strcmp(s->method, of->method))
					error = s->error[INSTRUCTION];
			}
			fprintf(t->out, "%*s", column(of), percent(a, error));
		}
		fputc('\n', t->out);
	}
}

static void events_text(struct text *t, const struct methods *m)
{
	char a[NUMBER_SIZE];

	text_heading(t, "Events: how well their number tells their cost (Pearson's r, by instruction)");
	for (unsigned i = 0; i < NR_PSV; i++) {
		double r = m->correlation[i];
		if (isnan(r))
			fprintf(t->out, "  %-7s     -\n", psv_event(i));
		else
			fprintf(t->out, "  %-7s %s%s\n", psv_event(i), r < 0 ? "-" : " ",
			        number_ratio(a, (uint64_t)llround(fabs(r) * 1e6), 1000000, 2));
	}
	if (m->with_events)
		fprintf(t->out, "%s%% of the executions that met an event met several\n",
		        number_ratio(a, m->combined * 100, m->with_events, 1));
	if (!isnan(m->eventless_p99))
		fprintf(t->out, "99%% of the stalls of instructions without an event last at most %" PRIu64 " cycles\n",
		        (uint64_t)m->eventless_p99);
}

static int text(struct text *t, const struct view_request *r)
{
	struct methods m;
	int err = gather(&m, r);

	if (!err) {
		head_text(t, r);
		sampling_text(t, &m);
		sweep_text(t, &m);
		events_text(t, &m);
		err = cpi_text(t, r);
		if (!err && !isnan(m.overlap) && m.run->cycles_units)
			fprintf(t->out,
			        "%.2f%% of the cycles were lost to the front end and to a long data miss at once\n",
			        100 * m.overlap * (double)m.run->units_per_cycle / (double)m.run->cycles_units);
		if (!err)
			err = profileme_text(t, r, m.insn, m.insns);
	}
	release(&m);
	return err ? err : notes_text(t, r);
}

const struct view view_methods = {
	.name = "methods",
	.help = "what each profiling method would have said, and its error",
	.text = text,
	.json = json,
};
