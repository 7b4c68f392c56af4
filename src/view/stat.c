/*
 * Whole-run figures: instructions a cycle, the CPI stack, commit states, issue slots, top-down, events; then
 * instructions, cycles and top-down per thread and per marked region where there are several.
 *
 * The components of the CPI stack are those of the method `fmt`. Ref: ASPLOS 2006 §4.1.1; Sites, "Issue slots";
 * top-down level 1: Yasin.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "view/head.h"
#include "view/number.h"
#include "view/view.h"

static const char cpi_method[] = "fmt";
static const char *const state_names[] = { "compute", "stalled", "drained", "flushed" };
enum { NR_STATES = 4, BAR = 32, BEFORE_BAR = 46 /* columns */ };
/* Columns that the tables of threads and regions have beside their names. */
enum { AMOUNTS = 70, PARTS = 65 };

/* The classes of top-down, and the two parts of each; what retired has none. */
static const char *const topdown_names[] = { "frontend_bound", "backend_bound", "bad_speculation", "retiring" };
enum { NR_TOPDOWN = 4 };
static const struct { const char *first, *second, *first_meaning, *second_meaning; } topdown_parts[NR_TOPDOWN] = {
	{ "frontend_latency", "frontend_bandwidth", "whole cycles of nothing", "cycles filled in part" },
	{ "memory_bound", "core_bound", "data cache and TLB misses", "ports, latencies, queues" },
	{ "branch_mispredicts", "machine_clears", NULL, "memory order, exceptions" },
};

/* The second level of top-down. */
struct parts {
	bool known;
	uint64_t first[NR_TOPDOWN];    /* part of each class, slots; the second part is the rest */
};

/* All that both forms show. Arrays are the query's but for those of parts. */
struct stat {
	const struct run_info *run;
	const struct query_count *component, *event;
	const struct query_thread *thread;
	const struct query_region *region;
	size_t components, events, threads, regions;
	uint64_t states[NR_STATES];    /* units, over all threads */
	struct slot_counts slots;      /* over all threads */
	struct parts parts;            /* over all threads */
	struct parts *thread_parts, *region_parts; /* [threads], [regions] */
};

static void stat_fini(struct stat *s)
{
	g_free(s->thread_parts);
	g_free(s->region_parts);
}

static int find_parts(struct query *q, const char *name, struct parts *out)
{
	const struct query_figure *figure;
	size_t n;
	int err = query_figures(q, name, &figure, &n);

	out->known = !err && n;
	for (size_t i = 0; i < n && !err; i++)
		for (unsigned k = 0; k < NR_TOPDOWN; k++)
			if (topdown_parts[k].first && !strcmp(figure[i].name, topdown_parts[k].first))
				out->first[k] = (uint64_t)figure[i].value;
	return err;
}

static int gather_parts(struct stat *s, struct query *q)
{
	int err = find_parts(q, TOPDOWN_RUN, &s->parts);

	s->thread_parts = g_new0(struct parts, s->threads);
	s->region_parts = g_new0(struct parts, s->regions);
	for (size_t i = 0; i < s->threads && !err; i++) {
		char *name = g_strdup_printf(TOPDOWN_THREAD, s->thread[i].thread);
		err = find_parts(q, name, &s->thread_parts[i]);
		g_free(name);
	}
	for (size_t i = 0; i < s->regions && !err; i++) {
		char *name = g_strdup_printf(TOPDOWN_REGION, s->region[i].name);
		err = find_parts(q, name, &s->region_parts[i]);
		g_free(name);
	}
	return err;
}

static int gather(struct stat *s, const struct view_request *r)
{
	const struct query_state *state;
	size_t n;
	int err;

	*s = (struct stat){ .run = query_run(r->query) };
	if ((err = query_components(r->query, cpi_method, &s->component, &s->components)) ||
	    (err = query_events(r->query, &s->event, &s->events)) ||
	    (err = query_threads(r->query, &s->thread, &s->threads)) ||
	    (err = query_regions(r->query, &s->region, &s->regions)) ||
	    (err = gather_parts(s, r->query)) || (err = query_states(r->query, &state, &n)))
		return err;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < NR_STATES; k++)
			if (!strcmp(state[i].state, state_names[k]))
				s->states[k] += state[i].units;
	for (size_t i = 0; i < s->threads; i++) {
		const struct slot_counts *c = &s->thread[i].slots;

		s->slots.total += c->total;
		s->slots.filled += c->filled;
		s->slots.issued += c->issued;
		s->slots.retired += c->retired;
		s->slots.recovery += c->recovery;
	}
	return 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Slots of each class of top-down, in the order of `topdown_names`. Unfilled slots after a flush are bad
 * speculation's.
 */
static void topdown(const struct slot_counts *s, uint64_t out[NR_TOPDOWN])
{
	out[0] = less(s->total, s->filled + s->recovery);
	out[1] = less(s->filled, s->issued);
	out[2] = less(s->issued, s->retired) + s->recovery;
	out[3] = s->retired;
}

static void slots_json(struct json *j, const struct slot_counts *s, uint64_t width)
{
	json_object(j, "slots");
	json_uint(j, "width", width);
	json_uint(j, "total", s->total);
	json_uint(j, "filled", s->filled);
	json_uint(j, "issued", s->issued);
	json_uint(j, "retired", s->retired);
	json_uint(j, "recovery", s->recovery);
	json_end_object(j);
}

/* Both levels. */
static void topdown_json(struct json *j, const struct slot_counts *s, const struct parts *parts)
{
	uint64_t classes[NR_TOPDOWN];

	topdown(s, classes);
	json_object(j, "topdown");
	for (unsigned i = 0; i < NR_TOPDOWN; i++)
		json_ratio(j, topdown_names[i], classes[i], s->total);
	json_end_object(j);
	if (!parts->known)
		return;
	json_object(j, "topdown_parts");
	for (unsigned i = 0; i < NR_TOPDOWN && topdown_parts[i].first; i++) {
		json_ratio(j, topdown_parts[i].first, parts->first[i], s->total);
		json_ratio(j, topdown_parts[i].second, less(classes[i], parts->first[i]), s->total);
	}
	json_end_object(j);
}

static void stat_json(struct json *j, const struct view_request *r, const struct stat *s)
{
	json_object(j, NULL);
	head_json(j, r);
	json_uint(j, "instructions", s->run->instructions);
	json_uint(j, "uops", s->run->uops);
	cycles_json(j, "cycles", r, s->run->cycles_units);
	json_ratio(j, "ipc", s->run->instructions * s->run->units_per_cycle, s->run->cycles_units);
	json_object(j, "cpi_stack");
	for (size_t i = 0; i < s->components; i++)
		cycles_json(j, s->component[i].name, r, s->component[i].count);
	json_end_object(j);
	json_string(j, "cpi_stack_method", cpi_method);
	json_object(j, "states");
	for (unsigned i = 0; i < NR_STATES; i++)
		cycles_json(j, state_names[i], r, s->states[i]);
	json_end_object(j);
	slots_json(j, &s->slots, s->run->width);
	topdown_json(j, &s->slots, &s->parts);
	json_object(j, "events");
	for (size_t i = 0; i < s->events; i++)
		json_uint(j, s->event[i].name, s->event[i].count);
	json_end_object(j);
	json_array(j, "threads");
	for (size_t i = 0; i < s->threads; i++) {
		json_object(j, NULL);
		json_uint(j, "thread", s->thread[i].thread);
		json_uint(j, "instructions", s->thread[i].instructions);
		cycles_json(j, "cycles", r, s->thread[i].units);
		slots_json(j, &s->thread[i].slots, s->run->width);
		topdown_json(j, &s->thread[i].slots, &s->thread_parts[i]);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "regions");
	for (size_t i = 0; i < s->regions; i++) {
		json_object(j, NULL);
		json_string(j, "name", s->region[i].name);
		json_uint(j, "entries", s->region[i].entries);
		json_uint(j, "instructions", s->region[i].instructions);
		cycles_json(j, "cycles", r, s->region[i].units);
		slots_json(j, &s->region[i].slots, s->run->width);
		topdown_json(j, &s->region[i].slots, &s->region_parts[i]);
		json_end_object(j);
	}
	json_end_array(j);
}

static int json(struct json *j, const struct view_request *r)
{
	struct stat s;
	int err = gather(&s, r);

	if (!err) {
		stat_json(j, r, &s);
		err = notes_json(j, r);
		json_end_object(j);
	}
	stat_fini(&s);
	return err;
}

/* One row of a table of parts of a whole: the amount, its share, a bar, a name. */
static void part(struct text *t, const char *name, const char *meaning, uint64_t amount, uint64_t per, uint64_t whole)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];
	unsigned full = text_bar(t, BAR);
	unsigned bar = whole ? (unsigned)((unsigned __int128)MIN(amount, whole) * full / whole) : 0;

	fprintf(t->out, "%17s %5s%%  ", number_whole(a, amount, per),
	        whole ? number_ratio(b, amount * 100, whole, 1) : "-");
	text_left(t, name, 18);
	fputs("  ", t->out);
	text_style(t, "36");
	for (unsigned i = 0; i < bar; i++)
		fputc('#', t->out);
	text_style(t, NULL);
	if (meaning) {
		fputs(bar ? " " : "", t->out);
		text_field(t, meaning, t->width - BEFORE_BAR - bar - !!bar, false, false);
	}
	fputc('\n', t->out);
}

/* The components of the CPI stack in words. */
static const char *component_meaning(const char *name)
{
	static const struct { const char *name, *meaning; } meanings[] = {
		{ "base", "nothing of the below" },
		{ "l1i", "instruction cache" }, { "l2i", "code from memory" }, { "itlb", "instruction TLB" },
		{ "l1d", "data cache" }, { "l2d", "data from memory" }, { "dtlb", "data TLB" },
		{ "branch", "mispredicted branches" }, { "long_latency", "multiply, divide, float" },
	};

	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (!strcmp(meanings[i].name, name))
			return meanings[i].meaning;
	return NULL;
}

/* Columns of a thread's or region's name, in a table that has `others` beside it. */
static unsigned name_columns(const struct text *t, unsigned others)
{
	return MIN(t->width - others, 18);
}

/* Begins a line with it. */
static void name_field(struct text *t, const char *name, unsigned columns)
{
	fputs("  ", t->out);
	text_field(t, name, columns - 2, true, false);
}

static void amounts(struct text *t, const char *name, uint64_t instructions, uint64_t units,
                    const struct slot_counts *c, const struct run_info *run)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], d[NUMBER_SIZE], e[4][NUMBER_SIZE];
	uint64_t classes[NR_TOPDOWN];

	topdown(c, classes);
	for (unsigned i = 0; i < NR_TOPDOWN; i++)
		number_ratio(e[i], classes[i] * 100, c->total ? c->total : 1, 1);
	name_field(t, name, name_columns(t, AMOUNTS));
	fprintf(t->out, "%15s%15s%7s%7s%%%7s%%%7s%%%8s%%\n", number_grouped(a, instructions),
	        number_whole(b, units, run->units_per_cycle),
	        units ? number_ratio(d, instructions * run->units_per_cycle, units, 2) : "-", e[0], e[1], e[2], e[3]);
}

static void amounts_heading(struct text *t, const char *heading)
{
	text_heading(t, "%-*s%15s%15s%7s%8s%8s%8s%9s", (int)name_columns(t, AMOUNTS), heading, "instructions", "cycles",
	             "IPC", "front", "back", "bad", "retiring");
}

/* The second level of one thread or region: the two parts of each class, in the columns of parts_heading(). */
static void parts(struct text *t, const char *name, const struct slot_counts *c, const struct parts *p)
{
	static const int columns[NR_TOPDOWN][2] = { { 14, 10 }, { 12, 8 }, { 13, 8 } };
	uint64_t classes[NR_TOPDOWN];

	if (!p->known)
		return;
	topdown(c, classes);
	name_field(t, name, name_columns(t, PARTS));
	for (unsigned i = 0; i < NR_TOPDOWN && topdown_parts[i].first; i++) {
		char a[NUMBER_SIZE], b[NUMBER_SIZE];
		uint64_t whole = c->total ? c->total : 1;

		fprintf(t->out, "%*s%%%*s%%", columns[i][0] - 1, number_ratio(a, p->first[i] * 100, whole, 1),
		        columns[i][1] - 1, number_ratio(b, less(classes[i], p->first[i]) * 100, whole, 1));
	}
	fputc('\n', t->out);
}

static void parts_heading(struct text *t, const char *heading)
{
	text_heading(t, "%-*s%14s%10s%12s%8s%13s%8s", (int)name_columns(t, PARTS), heading, "front latency",
	             "bandwidth", "back memory", "core", "bad branches", "clears");
}

static void stat_text(struct text *t, const struct view_request *r, const struct stat *s)
{
	uint64_t classes[NR_TOPDOWN], per;

	per = s->run->units_per_cycle;
	topdown(&s->slots, classes);
	head_text(t, r);

	text_heading(t, "CPI stack, cycles (method %s)", cpi_method);
	for (size_t i = 0; i < s->components; i++)
		part(t, s->component[i].name, component_meaning(s->component[i].name), s->component[i].count, per,
		     s->run->cycles_units);

	text_heading(t, "Commit states, cycles");
	static const char *const state_meanings[] = {
		"instructions committed", "the oldest was not done", "front end had nothing", "refilling after a flush",
	};
	for (unsigned i = 0; i < NR_STATES; i++)
		part(t, state_names[i], state_meanings[i], s->states[i], per, s->run->cycles_units);

	text_heading(t, "Issue slots (%" PRIu64 " a cycle)", s->run->width);
	part(t, "not filled", "front end had nothing", less(s->slots.total, s->slots.filled), 1, s->slots.total);
	part(t, "not issued", "filled, and held up", less(s->slots.filled, s->slots.issued), 1, s->slots.total);
	part(t, "suppressed", "issued, never retired", less(s->slots.issued, s->slots.retired), 1, s->slots.total);
	part(t, "retired", NULL, s->slots.retired, 1, s->slots.total);

	text_heading(t, "Top-down, slots");
	for (unsigned i = 0; i < NR_TOPDOWN; i++)
		part(t, topdown_names[i], i == 2 ? "and refills after flushes" : NULL, classes[i], 1, s->slots.total);
	for (unsigned i = 0; i < NR_TOPDOWN && s->parts.known && topdown_parts[i].first; i++) {
		if (!i)
			text_heading(t, "Top-down, second level, slots");
		part(t, topdown_parts[i].first, topdown_parts[i].first_meaning, s->parts.first[i], 1, s->slots.total);
		part(t, topdown_parts[i].second, topdown_parts[i].second_meaning, less(classes[i], s->parts.first[i]),
		     1, s->slots.total);
	}

	text_heading(t, "Events, instructions committed with them");
	for (size_t i = 0; i < s->events; i++) {
		char a[NUMBER_SIZE], b[NUMBER_SIZE];

		fprintf(t->out, "%17s         ", number_grouped(a, s->event[i].count));
		text_left(t, s->event[i].name, 18);
		fprintf(t->out, "  %s in 1000 instructions\n",
		        s->run->instructions ? number_ratio(b, s->event[i].count * 1000, s->run->instructions, 3)
		                             : "-");
	}
	if (s->threads > 1) {
		amounts_heading(t, "Threads");
		for (size_t i = 0; i < s->threads; i++) {
			char name[24];

			snprintf(name, sizeof name, "%" PRIu32, s->thread[i].thread);
			amounts(t, name, s->thread[i].instructions, s->thread[i].units, &s->thread[i].slots, s->run);
		}
		if (s->parts.known)
			parts_heading(t, "Threads");
		for (size_t i = 0; i < s->threads; i++) {
			char name[24];

			snprintf(name, sizeof name, "%" PRIu32, s->thread[i].thread);
			parts(t, name, &s->thread[i].slots, &s->thread_parts[i]);
		}
	}
	if (s->regions) {
		amounts_heading(t, "Regions");
		for (size_t i = 0; i < s->regions; i++)
			amounts(t, s->region[i].name, s->region[i].instructions, s->region[i].units,
			        &s->region[i].slots, s->run);
		if (s->parts.known)
			parts_heading(t, "Regions");
		for (size_t i = 0; i < s->regions; i++)
			parts(t, s->region[i].name, &s->region[i].slots, &s->region_parts[i]);
	}
}

static int text(struct text *t, const struct view_request *r)
{
	struct stat s;
	int err = gather(&s, r);

	if (!err) {
		stat_text(t, r, &s);
		err = notes_text(t, r);
	}
	stat_fini(&s);
	return err;
}

const struct view view_stat = {
	.name = "stat",
	.help = "whole-run figures: IPC, CPI stack, issue slots, top-down, events",
	.text = text,
	.json = json,
};
