/*
 * A stack a method, and its error: the largest and the mean difference of a component, as a share of all cycles.
 * Against both orders of the reference, as neither is right where misses overlap; a stack's own figure is the worse of
 * the two.
 *
 * Ref: Eyerman et al., ASPLOS 2006, §5.2, figures 11 and 12.
 */
#include "view/cpi.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "method/cpi.h"

enum { ORDERS = 2 };
static const char *const references[ORDERS] = { "simulation", "simulation_inverse" };

struct cpi_stack {
	const char *name;
	int64_t units[NR_CPI];         /* of a method that counts too much elsewhere, some may be negative */
	bool judged[ORDERS];           /* there is this reference, and it is not the stack itself */
	struct cpi_error error[ORDERS];
};

struct cpi_stacks {
	struct cpi_stack *stack;           /* [nr] */
	size_t nr;
	uint64_t total;                /* units of the run */
	double units_per_cycle;
};

static int read_stack(struct cpi_stack *s, const struct view_request *r)
{
	const struct query_count *c;
	size_t n;
	int err = query_components(r->query, s->name, &c, &n);

	for (size_t i = 0; i < n && !err; i++)
		for (unsigned k = 0; k < NR_CPI; k++)
			if (!strcmp(c[i].name, cpi_names[k]))
				s->units[k] = (int64_t)c[i].count;
	return err;
}

static void judge(struct cpi_stacks *all)
{
	for (unsigned o = 0; o < ORDERS; o++) {
		const struct cpi_stack *reference = NULL;

		for (size_t i = 0; i < all->nr; i++)
			if (!strcmp(all->stack[i].name, references[o]))
				reference = &all->stack[i];
		for (size_t i = 0; i < all->nr && reference && all->total; i++) {
			struct cpi_stack *s = &all->stack[i];
			s->judged[o] = s != reference;
			s->error[o] = cpi_error(s->units, reference->units, all->total);
		}
	}
}

static int gather(struct cpi_stacks *all, const struct view_request *r)
{
	const struct query_count *method;
	int err = query_component_methods(r->query, &method, &all->nr);

	all->stack = g_new0(struct cpi_stack, all->nr + 1);
	all->total = query_run(r->query)->cycles_units;
	all->units_per_cycle = (double)query_run(r->query)->units_per_cycle;
	for (size_t i = 0; i < all->nr && !err; i++) {
		all->stack[i].name = method[i].name;
		err = read_stack(&all->stack[i], r);
	}
	judge(all);
	return err;
}

/* The worse of the two; NULL: there is no reference. */
static const struct cpi_error *worse(const struct cpi_stack *s)
{
	const struct cpi_error *e = NULL;

	for (unsigned o = 0; o < ORDERS; o++)
		if (s->judged[o] && (!e || s->error[o].max > e->max))
			e = &s->error[o];
	return e;
}

/* The paper's own spelling. */
static const char *method_shown(const char *method)
{
	return strcmp(method, "fmt") ? method : "FMT";
}

static void stack_json(struct json *j, const struct cpi_stacks *all, const struct cpi_stack *s)
{
	const struct cpi_error *e = worse(s);

	json_object(j, NULL);
	json_string(j, "method", method_shown(s->name));
	json_object(j, "components");
	for (unsigned k = 0; k < NR_CPI; k++)
		json_real(j, cpi_names[k], (double)s->units[k] / all->units_per_cycle);
	json_end_object(j);
	json_real(j, "average_error", e ? e->average : NAN);
	json_real(j, "max_error", e ? e->max : NAN);
	json_object(j, "errors");
	for (unsigned o = 0; o < ORDERS; o++) {
		if (!s->judged[o])
			continue;
		json_object(j, references[o]);
		json_real(j, "average", s->error[o].average);
		json_real(j, "max", s->error[o].max);
		json_string(j, "component", cpi_names[s->error[o].worst]);
		json_end_object(j);
	}
	json_end_object(j);
	json_end_object(j);
}

int cpi_json(struct json *j, const struct view_request *r)
{
	struct cpi_stacks all = { 0 };
	int err = gather(&all, r);

	json_array(j, "cpi_stacks");
	for (size_t i = 0; i < all.nr && !err; i++)
		stack_json(j, &all, &all.stack[i]);
	json_end_array(j);
	g_free(all.stack);
	return err;
}

/* Columns of a component: the last, which is never negative, has a little less, and a row 80 in all. */
static int cell(unsigned component)
{
	return component + 1 < NR_CPI ? 7 : 6;
}

/* A row a method, a column a component by its first word; shares, which may be negative. */
static void stacks_text(struct text *t, const struct cpi_stacks *all)
{
	text_heading(t, "CPI stacks, %% of the cycles");
	fprintf(t->out, "%-18s", "");
	for (unsigned k = 0; k < NR_CPI; k++)
		fprintf(t->out, "%*.*s", cell(k), (int)strcspn(cpi_names[k], "_"), cpi_names[k]);
	fputc('\n', t->out);
	for (size_t i = 0; i < all->nr; i++) {
		text_left(t, method_shown(all->stack[i].name), 18);
		for (unsigned k = 0; k < NR_CPI; k++)
			fprintf(t->out, "%*.1f", cell(k), 100 * (double)all->stack[i].units[k] / (double)all->total);
		fputc('\n', t->out);
	}
}

static void errors_text(struct text *t, const struct cpi_stacks *all)
{
	bool any = false;

	for (size_t i = 0; i < all->nr; i++)
		any |= worse(&all->stack[i]) != NULL;
	if (!any)
		return;
	text_heading(t, "%-17s %9s %9s  %-12s %9s %9s  %s", "Component errors", "average", "maximum", "in", "average",
	             "maximum", "in");
	fprintf(t->out, "%-17s %-34s%s\n", "", "  against simulation", "  against simulation_inverse");
	for (size_t i = 0; i < all->nr; i++) {
		const struct cpi_stack *s = &all->stack[i];

		text_left(t, method_shown(s->name), 17);
		for (unsigned o = 0; o < ORDERS; o++) {
			if (s->judged[o])
				fprintf(t->out, " %8.2f%% %8.2f%%  %-*s", 100 * s->error[o].average,
				        100 * s->error[o].max, o + 1 < ORDERS ? 12 : 0, cpi_names[s->error[o].worst]);
			else
				fprintf(t->out, " %9s %9s%*s", "-", "-", o + 1 < ORDERS ? 14 : 0, "");
		}
		fputc('\n', t->out);
	}
	text_fill(t, 0, 0,
	          "The reference times the run again on cores of which all parts are ideal, then one after the other "
	          "is real: data misses to memory last, or (inverse) before those of code. Its base includes long "
	          "latencies, which "
	          "no ideal part takes away.");
}

int cpi_text(struct text *t, const struct view_request *r)
{
	struct cpi_stacks all = { 0 };
	int err = gather(&all, r);

	if (!err && all.total) {
		stacks_text(t, &all);
		errors_text(t, &all);
	}
	g_free(all.stack);
	return err;
}
