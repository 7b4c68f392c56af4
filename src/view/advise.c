/*
 * Advice: what the run lost most on, where, why, what usually helps, and what a model predicts it would be without
 * (diagnosis.h).
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/insn.h"
#include "method/method.h"
#include "record/timed.h"
#include "view/diagnosis.h"
#include "view/head.h"
#include "view/number.h"
#include "view/place.h"
#include "view/view.h"

enum { LISTED = 5, PARTS = 3, INDENT = 4, LABEL = 11, KIB = 1024, CODE_LINE = 64 };

/* What is worth telling of a pattern, as parts of 1. */
static const double MOSTLY = 0.5;
/* A second prediction is told where it is so many times the first. */
static const double MORE = 1.02;

/* --- words ------------------------------------------------------------------------------------------- */

static char *percent(char buf[NUMBER_SIZE], double part)
{
	return number_ratio(buf, (uint64_t)llround(part * 1000), 10, 1);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "2,786 places in 517 functions: f [m] 1.2%, g [m] 0.4%, h [m] 0.1%" */
static void places_words(GString *s, const struct finding *f, uint64_t cycles_units)
{
	char buf[PLACE_SIZE], n[NUMBER_SIZE], m[NUMBER_SIZE];

	g_string_append_printf(s, "%s place%s in %s function%s:", number_grouped(n, f->nr), f->nr == 1 ? "" : "s",
	                       number_grouped(m, f->nr_functions), f->nr_functions == 1 ? "" : "s");
	for (unsigned i = 0; i < f->nr_functions && i < FINDING_FUNCTIONS; i++)
		g_string_append_printf(s, "%s %s %s%%", i ? "," : "", place_function(f->hottest[i].function, true, buf),
		                       percent(n, (double)f->hottest[i].units / (double)cycles_units));
}

/* "k_chase, chase.c:72, in a loop of 18 instructions that is repeated 2,000 times" */
static void place_words(GString *s, const struct finding *f)
{
	char buf[PLACE_SIZE], n[NUMBER_SIZE];
	const struct query_insn *in = f->main;

	g_string_append(s, place_function(in->function, true, buf));
	if (in->file)
		g_string_append_printf(s, ", %s:%" PRIu32, last_name(in->file), in->line);
	if (in->nr_inlined && in->inlined[0].symbol)
		g_string_append_printf(s, ", inlined from %s", in->inlined[0].symbol);
	if (f->loop)
		g_string_append_printf(s, ", in a loop of %u instructions that is repeated %s time%s",
		                       f->loop->nr_insns, number_grouped(n, f->loop->times),
		                       f->loop->times == 1 ? "" : "s");
}

static void add(GString *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(GString *s, const char *fmt, ...)
{
	va_list args;

	if (s->len)
		g_string_append(s, "; ");
	va_start(args, fmt);
	g_string_append_vprintf(s, fmt, args);
	va_end(args);
}

static void add_insn(GString *s, const char *what, const struct facts_table *t, double number)
{
	const struct query_insn *in = number > 0 ? facts_insn(t, (uint32_t)number - 1) : NULL;
	char place[PLACE_SIZE];

	if (in)
		add(s, "%s `%s` at %s", what, in->disassembly, place_insn(in, place));
}

static void access_words(GString *s, const struct facts_table *t, const struct facts *f, bool first)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	if (f->indirect >= MOSTLY && f->chased >= MOSTLY)
		add(s, "the address comes from an earlier execution of the same load in %s%% of them",
		    percent(a, f->indirect * f->chased));
	else if (f->indirect >= MOSTLY)
		add_insn(s,
		         cause_chase(t, f) ? "the address comes from a chain of pointers," : "the address comes from",
		         t, f->feeder);
	if (f->stride_share >= MOSTLY)
		add(s, "steps of %s%s bytes in %s%% of them", f->stride < 0 ? "-" : "",
		    number_grouped(a, (uint64_t)fabs(f->stride)), percent(b, f->stride_share));
	if (f->page_changes >= MOSTLY)
		add(s, "another page in %s%% of them", percent(a, f->page_changes));
	add(s, "%s goes over about %s KiB in %s page%s", first ? "the first" : "this instruction",
	    number_grouped(a, ((uint64_t)f->lines * CODE_LINE + KIB - 1) / KIB),
	    number_grouped(b, (uint64_t)f->pages), f->pages < 2 ? "" : "s");
}

static void branch_words(GString *s, const struct facts *f, bool first)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE], d[NUMBER_SIZE];

	add(s, "%smispredicted in %s%% of %s execution%s", first ? "the first is " : "", percent(a, f->mispredicted),
	    number_grouped(b, (uint64_t)f->branches), f->branches > 1 ? "s" : "");
	if (f->kind == BRANCH_CONDITIONAL)
		add(s, "taken in %s%%, another way than the time before in %s%%", percent(c, f->taken),
		    percent(d, f->flips));
	else
		add(s, "about %s target%s", number_grouped(c, (uint64_t)f->targets), f->targets < 2 ? "" : "s");
}

static double parameter(struct query *q, const char *name)
{
	const struct query_parameter *p;
	size_t nr;

	if (query_parameters(q, &p, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(p[i].name, name))
			return g_ascii_strtod(p[i].value, NULL);
	return 0;
}

/* How much code waits, and beside it what the uop cache holds, or how often a branch is taken. */
static void delivery_words(GString *s, struct query *q, const struct facts_table *t, const struct finding *f)
{
	double uops = parameter(q, "uopcache.sets") * parameter(q, "uopcache.ways") *
	              parameter(q, "uopcache.line_uops"),
	       taken = 0;
	char a[NUMBER_SIZE], b[NUMBER_SIZE], c[NUMBER_SIZE];
	const struct query_insn *in;
	size_t nr;

	if (!strcmp(f->cause->pattern, "decode"))
		add(s, "%s instructions in %s KiB of code", number_grouped(a, f->nr),
		    number_grouped(b, (f->lines * CODE_LINE + KIB - 1) / KIB));
	if (!strcmp(f->cause->pattern, "decode") && uops > 0)
		add(s, "the uop cache holds at most %s uops", number_grouped(c, (uint64_t)uops));
	if (!strcmp(f->cause->pattern, "erratum"))
		add(s, "%s instructions stand beside such a jump, in %s KiB of code", number_grouped(a, f->nr),
		    number_grouped(b, (f->lines * CODE_LINE + KIB - 1) / KIB));
	if (strcmp(f->cause->pattern, "taken"))
		return;
	in = facts_insns(t, &nr);
	for (size_t i = 0; i < nr; i++)
		taken += facts_of(t, in[i].insn)->branches * facts_of(t, in[i].insn)->taken;
	if (taken > 0)
		add(s, "in the whole run one instruction in %s is a taken branch",
		    number_ratio(a, query_run(q)->instructions, (uint64_t)llround(taken), 1));
}

/* The evidence: numbers of what was seen. */
static void seen_words(GString *s, const struct view_request *r, const struct diagnosis *all, const struct finding *f)
{
	const struct run_info *run = query_run(r->query);
	const struct facts *facts = facts_of(all->facts, f->main->insn);
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	if (!f->event && f->cause->supposed)
		delivery_words(s, r->query, all->facts, f);
	else if (f->executions)
		add(s, "%s execution%s%s, %s cycles each", number_grouped(a, f->executions),
		    f->executions == 1 ? "" : "s", f->event ? " that met it" : "",
		    number_ratio(b, f->units / f->executions, run->units_per_cycle, 1));
	if (f->event & (PSV_ST_L1 | PSV_ST_LLC | PSV_ST_TLB | PSV_DR_SQ) && facts->accesses > 0)
		access_words(s, all->facts, facts, f->nr > 1);
	if (f->event & PSV_FL_MB && facts->branches > 0)
		branch_words(s, facts, f->nr > 1);
	if (f->event & PSV_FL_MO)
		add_insn(s, "the store is", all->facts, facts->partner);
	if (f->event & (PSV_DR_L1 | PSV_DR_TLB) && parameter(r->query, "l1i.size") > 0)
		add(s, "%s KiB of code; L1I holds %.0f KiB", number_grouped(a, (f->lines * CODE_LINE + KIB - 1) / KIB),
		    parameter(r->query, "l1i.size") / KIB);
	if (!f->event && facts->carried >= MOSTLY)
		add(s, "%s%% of those on the critical path wait for an earlier execution of the same instruction",
		    percent(a, facts->carried));
	if (!f->event && f->bound)
		add(s, "they wait for %s", f->bound);
}

/* "1.37 times as fast (27.0% fewer cycles)" */
static void speedup_words(GString *s, double speedup)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	if (s->len)
		g_string_append(s, "; ");
	g_string_append_printf(s, "%s times as fast (%s%% fewer cycles)",
	                       number_ratio(a, (uint64_t)llround(speedup * 1000), 1000, 2),
	                       percent(b, speedup > 1 ? 1 - 1 / speedup : 0));
}

static void prediction_words(GString *s, struct query *q, const struct finding *f)
{
	const struct promise *p = &f->promise;

	if (p->never > 0) {
		speedup_words(s, p->never);
		g_string_append_printf(s, " if %s, says ooo", f->cause->supposed);
	}
	if (p->data > MORE * p->never) {
		speedup_words(s, p->data);
		g_string_append(s, " if their data and pages were always in L1 and the data TLB, says ooo");
	}
	if (p->all > 0) {
		speedup_words(s, p->all);
		g_string_append(s, " if, besides,");
		for (unsigned i = 0; i < p->nr_also; i++)
			g_string_append_printf(s, "%s %s", i ? " and" : "", p->also[i]->supposed);
		g_string_append(s, ", says ooo");
	}
	if (p->prefetched > 1) {
		speedup_words(s, p->prefetched);
		g_string_append_printf(s, " if `%s` were prefetched %u executions ahead, says ooo",
		                       f->part[0].insn->disassembly, p->distance);
	}
	if (p->relaxed > 0) {
		char key[128];
		const char *unit;

		g_snprintf(key, sizeof key, "unit.%s", p->resource);
		unit = query_value(q, key);
		speedup_words(s, p->relaxed);
		g_string_append_printf(s, " with %s the %s, says abstract",
		                       !g_strcmp0(unit, "cycles") || !g_strcmp0(unit, "ns") ? "half" : "twice",
		                       p->resource);
	}
}

/* --- JSON -------------------------------------------------------------------------------------------- */

static void part_json(struct json *j, const struct view_request *r, const struct finding_part *p)
{
	const struct query_insn *in = p->insn;

	json_object(j, NULL);
	place_json(j, in);
	json_string(j, "disassembly", in->disassembly);
	json_uint(j, "executions", p->executions);
	cycles_json(j, "cycles", r, p->units);
	json_end_object(j);
}

static void loop_json(struct json *j, const struct loop *l)
{
	if (!l) {
		json_null(j, "loop");
		return;
	}
	json_object(j, "loop");
	json_hex(j, "from", l->head);
	json_hex(j, "to", l->end);
	json_uint(j, "instructions", l->nr_insns);
	json_uint(j, "repeated", l->times);
	json_end_object(j);
}

static void one_prediction_json(struct json *j, const char *model, double speedup, const char *key, const char *what)
{
	json_object(j, NULL);
	json_string(j, "model", model);
	json_real(j, "speedup", speedup);
	json_string(j, key, what);
}

/*
 * Each with what it supposes: "never" an event, or all of data, "supposed" of the core, a prefetch with its "distance",
 * a resource "relaxed".
 */
static void predictions_json(struct json *j, const struct finding *f)
{
	const struct promise *p = &f->promise;

	json_array(j, "predicted");
	if (p->never > 0) {
		one_prediction_json(j, "ooo", p->never, f->event ? "never" : "supposed",
		                    f->event ? f->cause->event : f->cause->supposed);
		json_end_object(j);
	}
	if (p->data > MORE * p->never) {
		char events[64];

		one_prediction_json(j, "ooo", p->data, "never", psv_name(FINDING_DATA_EVENTS, events));
		json_end_object(j);
	}
	if (p->all > 0) {
		one_prediction_json(j, "ooo", p->all, "supposed", f->cause->supposed);
		json_array(j, "also");
		for (unsigned i = 0; i < p->nr_also; i++)
			json_string(j, NULL, p->also[i]->supposed);
		json_end_array(j);
		json_end_object(j);
	}
	if (p->prefetched > 0) {
		one_prediction_json(j, "ooo", p->prefetched, "prefetched", f->part[0].insn->disassembly);
		json_uint(j, "distance", p->distance);
		json_end_object(j);
	}
	if (p->relaxed > 0) {
		one_prediction_json(j, "abstract", p->relaxed, "relaxed", p->resource);
		json_end_object(j);
	}
	json_end_array(j);
}

static void functions_json(struct json *j, const struct view_request *r, const struct finding *f)
{
	json_uint(j, "nr_functions", f->nr_functions);
	json_array(j, "functions");
	for (unsigned i = 0; i < f->nr_functions && i < FINDING_FUNCTIONS; i++) {
		json_object(j, NULL);
		json_string(j, "symbol", f->hottest[i].function->symbol);
		json_string(j, "module", f->hottest[i].function->module);
		cycles_json(j, "cycles", r, f->hottest[i].units);
		json_end_object(j);
	}
	json_end_array(j);
}

static void finding_json(struct json *j, const struct view_request *r, const struct diagnosis *all,
                         const struct finding *f)
{
	const struct run_info *run = query_run(r->query);
	const struct query_insn *in = f->main;
	GString *seen = g_string_new(NULL);

	seen_words(seen, r, all, f);
	json_object(j, NULL);
	json_string(j, "event", f->cause->event);
	json_string(j, "pattern", f->cause->pattern);
	json_string(j, "title", f->cause->title);
	cycles_json(j, "cycles", r, f->units);
	json_real(j, "share", (double)f->units / (double)run->cycles_units);
	json_string(j, "symbol", in->function->symbol);
	json_string(j, "module", in->module);
	json_string(j, "file", in->file);
	line_json(j, in->line);
	loop_json(j, f->loop);
	json_bool(j, "spread", f->spread);
	functions_json(j, r, f);
	json_string(j, "seen", seen->str);
	json_string(j, "why", f->cause->why);
	json_array(j, "helps");
	for (const char *const *h = f->cause->helps; *h; h++)
		json_string(j, NULL, *h);
	json_end_array(j);
	predictions_json(j, f);
	json_uint(j, "nr_instructions", f->nr);
	json_array(j, "instructions");
	for (size_t i = 0; i < f->nr && i < 16; i++)
		part_json(j, r, &f->part[i]);
	json_end_array(j);
	json_end_object(j);
	g_string_free(seen, TRUE);
}

static int json(struct json *j, const struct view_request *r)
{
	struct diagnosis *all;
	int err = diagnosis_new(&all, r->query);

	if (err)
		return err;
	json_object(j, NULL);
	head_json(j, r);
	json_uint(j, "instructions", query_run(r->query)->instructions);
	cycles_json(j, "cycles", r, query_run(r->query)->cycles_units);
	json_array(j, "findings");
	for (size_t i = 0; i < all->nr_predicted && (!r->limit || i < r->limit); i++)
		finding_json(j, r, all, &all->finding[i]);
	json_end_array(j);
	if (all->events > 0)
		json_real(j, "speedup_without_events", all->events);
	else
		json_null(j, "speedup_without_events");
	err = notes_json(j, r);
	json_end_object(j);
	diagnosis_free(all);
	return err;
}

/* --- text -------------------------------------------------------------------------------------------- */

static void labelled(struct text *t, const char *label, const char *words)
{
	fprintf(t->out, "%*s%-*s", INDENT, "", LABEL, label);
	text_fill(t, INDENT + LABEL, INDENT + LABEL, words);
}

static void parts(struct text *t, const struct view_request *r, const struct finding *f)
{
	const struct run_info *run = query_run(r->query);
	char where[PLACE_SIZE], n[NUMBER_SIZE];

	for (size_t i = 0; i < f->nr && i < PARTS; i++) {
		fprintf(t->out, "%*s%-*s", INDENT, "", LABEL, "");
		fprintf(t->out, "%5s%%  ", percent(n, (double)f->part[i].units / (double)run->cycles_units));
		text_field(t, f->part[i].insn->disassembly, 36, true, false);
		fputs("  ", t->out);
		text_field(t, place_insn(f->part[i].insn, where), t->width - INDENT - LABEL - 46, false, false);
		fputc('\n', t->out);
	}
	if (f->nr > PARTS)
		fprintf(t->out, "%*s        and %s more\n", INDENT + LABEL, "", number_grouped(n, f->nr - PARTS));
}

static void finding_text(struct text *t, const struct view_request *r, const struct diagnosis *all, size_t i)
{
	const struct finding *f = &all->finding[i];
	GString *s = g_string_new(NULL);
	char n[NUMBER_SIZE];

	fputc('\n', t->out);
	text_style(t, "1");
	fprintf(t->out, "%2zu  ", i + 1);
	g_string_printf(s, "%s%% of the cycles: %s (%s)",
	                percent(n, (double)f->units / (double)query_run(r->query)->cycles_units), f->cause->title,
	                f->cause->event);
	text_fill(t, INDENT, INDENT, s->str);
	text_style(t, NULL);
	g_string_truncate(s, 0);
	if (f->spread)
		places_words(s, f, query_run(r->query)->cycles_units);
	else
		place_words(s, f);
	labelled(t, "Where", s->str);
	parts(t, r, f);
	g_string_truncate(s, 0);
	seen_words(s, r, all, f);
	labelled(t, "Seen", s->str);
	g_string_truncate(s, 0);
	for (size_t k = 0; k < i && !s->len; k++)
		if (all->finding[k].cause == f->cause)
			g_string_printf(s, "as of %zu, and so what helps", k + 1);
	labelled(t, "Why", s->len ? s->str : f->cause->why);
	for (const char *const *h = f->cause->helps; *h && !s->len; h++) {
		fprintf(t->out, "%*s%-*s- ", INDENT, "", LABEL, h == f->cause->helps ? "Helps" : "");
		text_fill(t, INDENT + LABEL + 2, INDENT + LABEL + 2, *h);
	}
	g_string_truncate(s, 0);
	prediction_words(s, r->query, f);
	labelled(t, "Predicted", s->str);
	g_string_free(s, TRUE);
}

/* Why there is nothing to say. */
static void nothing_text(struct text *t, struct query *q, const struct diagnosis *all)
{
	const struct run_info *run = query_run(q);
	uint64_t cycles = run->cycles_units / run->units_per_cycle;
	char a[NUMBER_SIZE], line[400];

	if (all->nr)
		snprintf(line, sizeof line,
		         "Nothing stands out: %zu %s 1%% of the cycles or more, but no model predicts that the run "
		         "would be faster without.",
		         all->nr, all->nr == 1 ? "cause has" : "causes have");
	else
		snprintf(line, sizeof line,
		         "Nothing stands out: no cause, at one place or at all of them together, has 1%% of the "
		         "cycles.");
	g_strlcat(line, " The core commits ", sizeof line);
	g_strlcat(line, number_ratio(a, run->instructions, MAX(cycles, 1), 2), sizeof line);
	g_strlcat(line, " instructions a cycle.", sizeof line);
	fputs("\n  ", t->out);
	text_fill(t, 2, 2, line);
}

/* What is saved is not promised several times: one sentence on all events. */
static void together_text(struct text *t, const struct diagnosis *all)
{
	GString *s = g_string_new("Savings do not add up. If none of the events of these findings were met: ");
	GString *speedup = g_string_new(NULL);

	speedup_words(speedup, all->events);
	g_string_append_printf(s, "%s, says ooo.", speedup->str);
	fputs("\n  ", t->out);
	text_fill(t, 2, 2, s->str);
	g_string_free(speedup, TRUE);
	g_string_free(s, TRUE);
}

static int text(struct text *t, const struct view_request *r)
{
	struct diagnosis *all;
	int err = diagnosis_new(&all, r->query);
	size_t shown;

	if (err)
		return err;
	head_text(t, r);
	shown = r->limit     ? MIN(r->limit, all->nr_predicted)
	        : r->verbose ? all->nr_predicted
	                     : MIN((size_t)LISTED, all->nr_predicted);
	for (size_t i = 0; i < shown; i++)
		finding_text(t, r, all, i);
	if (shown < all->nr_predicted)
		fprintf(t->out, "\n  %zu more would save less (-v shows them)\n", all->nr_predicted - shown);
	if (!all->nr_predicted && query_value(r->query, "looked"))
		nothing_text(t, r->query, all);
	if (all->nr_predicted && all->events > 0)
		together_text(t, all);
	diagnosis_free(all);
	return notes_text(t, r);
}

const struct view view_advise = {
	.name = "advise",
	.help = "what limits the run, where, and what usually helps",
	.text = text,
	.json = json,
};
