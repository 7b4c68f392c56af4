#include "view/profileme.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "view/place.h"

enum { LISTED = 10 };

/* The figures of one instruction. */
struct figures {
	const struct query_figure *f;  /* [nr] */
	size_t nr;
};

static int find_all(const struct view_request *r, struct figures *all)
{
	return query_insn_figures(r->query, "ProfileMe", &all->f, &all->nr);
}

/* They are in the order of instructions. */
static struct figures figures_of(const struct figures *all, uint32_t insn)
{
	size_t low = 0, high = all->nr, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all->f[middle].insn < insn)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < all->nr && all->f[end].insn == insn; end++)
		;
	return (struct figures){ all->f + low, end - low };
}

static const struct query_figure *figure(const struct figures *of, const char *prefix, const char *name)
{
	size_t skip = strlen(prefix);

	for (size_t i = 0; i < of->nr; i++)
		if (!strncmp(of->f[i].name, prefix, skip) && !strcmp(of->f[i].name + skip, name))
			return &of->f[i];
	return NULL;
}

static void figure_json(struct json *j, const struct figures *of, const char *prefix, const char *name)
{
	const struct query_figure *f = figure(of, prefix, name);

	json_real(j, name, f ? f->value : NAN);
}

/* Those whose names begin with prefix and group, by what follows. */
static void group_json(struct json *j, const struct figures *of, const char *prefix, const char *group, const char *key)
{
	char *start = g_strconcat(prefix, group, NULL);

	json_object(j, key);
	for (size_t i = 0; i < of->nr; i++)
		if (g_str_has_prefix(of->f[i].name, start))
			json_real(j, of->f[i].name + strlen(start), of->f[i].value);
	json_end_object(j);
	g_free(start);
}

static void answers_json(struct json *j, const struct figures *of, const char *prefix)
{
	group_json(j, of, prefix, "latency/", "latencies");
	figure_json(j, of, prefix, "retired");
	group_json(j, of, prefix, "abort/", "aborts");
	figure_json(j, of, prefix, "wasted_slots");
	figure_json(j, of, prefix, "retired_in_flight");
}

int profileme_json(struct json *j, const struct view_request *r, const struct query_insn *insn, size_t nr)
{
	struct figures all;
	int err = find_all(r, &all);

	if (err)
		return err;
	json_array(j, "profileme");
	for (size_t i = 0; i < nr && (!r->limit || i < r->limit); i++) {
		struct figures of = figures_of(&all, insn[i].insn);

		if (!figure(&of, "", "retired"))
			continue;
		json_object(j, NULL);
		json_string(j, "module", insn[i].module);
		json_hex(j, "address", insn[i].address);
		json_string(j, "symbol", insn[i].function->symbol);
		json_string(j, "disassembly", insn[i].disassembly);
		figure_json(j, &of, "", "weight");
		answers_json(j, &of, "");
		json_object(j, "exact");
		answers_json(j, &of, "exact/");
		json_end_object(j);
		json_end_object(j);
	}
	json_end_array(j);
	return 0;
}

/* One of the estimates and its exact value, with one decimal, which is padded to `columns`. */
static void pair_text(struct text *t, const struct figures *of, const char *name, double scale, int columns)
{
	const struct query_figure *f[2] = { figure(of, "", name), figure(of, "exact/", name) };
	char number[2][32];

	for (unsigned i = 0; i < 2; i++) {
		double v = f[i] ? f[i]->value * scale : NAN;
		if (isnan(v))
			strcpy(number[i], "-");
		else
			snprintf(number[i], sizeof number[i], "%.1f", v);
	}
	fprintf(t->out, "%8s/%-*s", number[0], columns, number[1]);
}

int profileme_text(struct text *t, const struct view_request *r, const struct query_insn *insn, size_t nr)
{
	static const struct { const char *name, *heading; double scale; } columns[] = {
		{ "retired", "retired, %", 100 }, { "latency/fetch_to_map", "to map", 1 },
		{ "latency/issue_to_retire_ready", "executing", 1 },
		{ "wasted_slots", "wasted slots", 1 }, { "retired_in_flight", "retired beside", 1 },
	};
	enum { NR_COLUMNS = sizeof columns / sizeof columns[0] };
	struct figures all;
	size_t listed = 0, limit = r->limit ? r->limit : LISTED;
	int err = find_all(r, &all);

	if (err || !all.nr)
		return err;
	text_heading(t, "ProfileMe, estimated/exactly, of the instructions with most cycles");
	for (unsigned i = 0; i < NR_COLUMNS; i++)
		fprintf(t->out, " %14s", columns[i].heading);
	fputc('\n', t->out);
	for (size_t i = 0; i < nr && listed < limit; i++) {
		struct figures of = figures_of(&all, insn[i].insn);
		char place[PLACE_SIZE];

		if (!figure(&of, "", "retired"))
			continue;
		text_field(t, insn[i].disassembly, t->width / 2 - 1, true, false);
		fputs("  ", t->out);
		text_field(t, place_insn(&insn[i], place), t->width / 2 - 1, false, false);
		fputc('\n', t->out);
		for (unsigned k = 0; k < NR_COLUMNS; k++)
			pair_text(t, &of, columns[k].name, columns[k].scale, k + 1 < NR_COLUMNS ? 6 : 0);
		fputc('\n', t->out);
		listed++;
	}
	return 0;
}
