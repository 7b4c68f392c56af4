/*
 * The core models: all of them, or one in full, with where each figure is from and what the model leaves out.
 */
#include <string.h>

#include <glib.h>
#include "view/head.h"

static bool is_default(const struct core_desc *d)
{
	const char *name = core_default_name(d->isa);

	return name && !strcmp(name, d->name);
}

static int32_t value_of(const struct core_desc *d, unsigned param)
{
	int32_t v;

	memcpy(&v, (const char *)d + core_params[param].offset, sizeof v);
	return v;
}

static const char *text_of(const struct core_desc *d, unsigned string)
{
	return (const char *)d + core_strings[string].offset;
}

static const char *source_of(const struct core_desc *d, const char *name)
{
	const char *s = core_desc_source(d, name);

	return !s ? "default" : *s ? s : "not stated";
}

/* Calls `each` for every line of s. */
static void each_line(const char *s, void (*each)(void *ctx, const char *line), void *ctx)
{
	char line[1024];

	while (*s) {
		size_t n = strcspn(s, "\n");

		snprintf(line, sizeof line, "%.*s", (int)n, s);
		if (*line)
			each(ctx, line);
		s += n + (s[n] == '\n');
	}
}

/* Loads each shipped core in turn. */
static int each_core(void (*each)(void *ctx, const struct core_desc *d), void *ctx)
{
	char **names = core_desc_names();
	struct core_desc *d = g_new(struct core_desc, 1);
	int err = 0;

	for (char **n = names; *n && !err; n++) {
		err = core_desc_load(d, *n);
		if (!err)
			each(ctx, d);
	}
	g_free(d);
	g_strfreev(names);
	return err;
}

struct listing {
	struct text *t;
	const struct view_request *r;
};

static void list_text(void *ctx, const struct core_desc *d)
{
	struct listing *l = ctx;

	if (l->r->quiet) {
		fprintf(l->t->out, "%s\n", d->name);
		return;
	}
	fprintf(l->t->out, "%-16s %-9s %s%s\n", d->name, d->isa, d->title,
	        is_default(d) ? "  (default for its instruction set)" : "");
}

static void line_text(void *ctx, const char *line)
{
	struct text *t = ctx;

	fputs("  - ", t->out);
	text_fill(t, 4, 4, line);
}

/* Width of the value and source columns is what is left. */
static void parameter_text(struct text *t, const char *name, const char *value, const char *unit, const char *range,
                           const char *help, const char *source)
{
	fputs("  ", t->out);
	text_field(t, name, 26, true, false);
	fprintf(t->out, " %12s  ", value);
	text_field(t, unit, 18, true, false);
	fprintf(t->out, " %s\n", range);
	if (*help) {
		fprintf(t->out, "%6s", "");
		text_fill(t, 6, 6, help);
	}
	fprintf(t->out, "%6s[", "");
	text_field(t, source, t->width - 8, false, false);
	fputs("]\n", t->out);
}

static void one_text(struct text *t, const struct core_desc *d)
{
	text_style(t, "1");
	fputs(d->name, t->out);
	text_style(t, NULL);
	fprintf(t->out, "  %s\n  instruction set %s%s, clock %d MHz\n", d->title, d->isa,
	        is_default(d) ? " (its default core)" : "", d->clock_mhz);

	text_heading(t, "Parts that --ideal takes");
	for (unsigned i = 0; i < NR_CORE_IDEALS; i++)
		fprintf(t->out, "  %-8s %s\n", core_ideals[i].name, core_ideals[i].help);

	text_heading(t, "What the model leaves out");
	each_line(d->leaves_out, line_text, t);
	text_heading(t, "Sources");
	each_line(d->source, line_text, t);

	text_heading(t, "Parameters of --set and --scale: value, unit, range and default, meaning, [source]");
	for (unsigned i = 0; i < nr_core_params; i++) {
		const struct core_param *p = &core_params[i];
		char value[16], range[64];

		snprintf(value, sizeof value, "%d", value_of(d, i));
		snprintf(range, sizeof range, "%d..%d, default %d", p->min, p->max, p->def);
		parameter_text(t, p->name, value, p->unit, range, p->help, source_of(d, p->name));
	}
	text_heading(t, "Names and lists");
	for (unsigned i = 0; i < NR_CORE_STRINGS; i++) {
		const struct core_string *s = &core_strings[i];

		fprintf(t->out, "  %s = ", s->name);
		text_fill(t, (unsigned)strlen(s->name) + 5, 6, *text_of(d, i) ? text_of(d, i) : "(none)");
		fprintf(t->out, "      %s\n      [", s->help);
		text_field(t, source_of(d, s->name), t->width - 8, false, false);
		fputs("]\n", t->out);
	}
}

static int text(struct text *t, const struct view_request *r)
{
	struct listing l = { t, r };
	int err;

	if (r->core) {
		one_text(t, r->core);
		return 0;
	}
	err = each_core(list_text, &l);
	if (!err && !r->quiet)
		fputs("\n`cyclewise cores NAME` shows one in full, with its sources and what it leaves out.\n", t->out);
	return err;
}

static void list_json(void *ctx, const struct core_desc *d)
{
	struct json *j = ctx;

	json_object(j, NULL);
	json_string(j, "name", d->name);
	json_string(j, "title", d->title);
	json_string(j, "isa", d->isa);
	json_bool(j, "default", is_default(d));
	json_end_object(j);
}

static void line_json(void *ctx, const char *line)
{
	json_string(ctx, NULL, line);
}

static void one_json(struct json *j, const struct core_desc *d)
{
	json_string(j, "title", d->title);
	json_string(j, "isa", d->isa);
	json_bool(j, "default", is_default(d));
	json_array(j, "parameters");
	for (unsigned i = 0; i < nr_core_params; i++) {
		const struct core_param *p = &core_params[i];

		json_object(j, NULL);
		json_string(j, "name", p->name);
		json_int(j, "value", value_of(d, i));
		json_string(j, "unit", p->unit);
		json_array(j, "range");
		json_int(j, NULL, p->min);
		json_int(j, NULL, p->max);
		json_end_array(j);
		json_int(j, "default", p->def);
		json_string(j, "help", p->help);
		json_string(j, "source", source_of(d, p->name));
		json_end_object(j);
	}
	for (unsigned i = 0; i < NR_CORE_STRINGS; i++) {
		const struct core_string *s = &core_strings[i];

		json_object(j, NULL);
		json_string(j, "name", s->name);
		json_string(j, "value", text_of(d, i));
		json_string(j, "unit", "text");
		json_null(j, "range");
		json_string(j, "default", s->def);
		json_string(j, "help", s->help);
		json_string(j, "source", source_of(d, s->name));
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "ideal");
	for (unsigned i = 0; i < NR_CORE_IDEALS; i++) {
		json_object(j, NULL);
		json_string(j, "name", core_ideals[i].name);
		json_string(j, "help", core_ideals[i].help);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "leaves_out");
	each_line(d->leaves_out, line_json, j);
	json_end_array(j);
	json_array(j, "sources");
	each_line(d->source, line_json, j);
	json_end_array(j);
}

static int json(struct json *j, const struct view_request *r)
{
	int err = 0;

	json_object(j, NULL);
	head_json_described(j, r->version, r->core ? r->core->name : NULL);
	if (r->core) {
		one_json(j, r->core);
	} else {
		json_array(j, "cores");
		err = each_core(list_json, j);
		json_end_array(j);
	}
	json_end_object(j);
	return err;
}

const struct view view_cores = {
	.name = "cores",
	.help = "the core models, or one in full, with its sources and what it leaves out",
	.text = text,
	.json = json,
};
