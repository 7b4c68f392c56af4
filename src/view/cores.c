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

/* Whether a parameter's bits are ports, which have names. */
static bool is_ports(const struct core_param *p)
{
	return !strcmp(p->unit, "ports");
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
		text_outside(l->t->out, d->name);
		fputc('\n', l->t->out);
		return;
	}
	char *title = g_strconcat(d->title, is_default(d) ? " (default)" : "", NULL);
	text_left(l->t, d->name, 16);
	fprintf(l->t->out, " %-9s ", d->isa);
	text_fill(l->t, 27, 27, title);
	g_free(title);
}

static void line_text(void *ctx, const char *line)
{
	struct text *t = ctx;

	fputs("  - ", t->out);
	text_fill(t, 4, 4, line);
}

/*
 * Many figures in a row are from the same place: it is told of the first, where that is longer. Returns the next one's
 * `above`.
 */
static const char *source_text(struct text *t, const char *source, const char *above)
{
	static const char again[] = "as above";
	char *told = g_strdup_printf(
		"[%s]", above && !strcmp(source, above) && strlen(source) > strlen(again) ? again : source);

	fprintf(t->out, "%6s", "");
	text_fill(t, 6, 7, told);
	g_free(told);
	return source;
}

/* The value of a set of ports: their names. */
static void ports_text(struct text *t, const struct core_desc *d, int32_t ports)
{
	GString *names = g_string_new(NULL);

	for (unsigned i = 0; d->port_names[i]; i++)
		if (ports >> i & 1)
			g_string_append_printf(names, "%s%s", names->len ? " " : "", d->port_names[i]);
	text_fill(t, 29, 29, names->len ? names->str : "none");
	g_string_free(names, TRUE);
}

static void parameter_text(struct text *t, const struct core_desc *d, unsigned param)
{
	const struct core_param *p = &core_params[param];

	fputs("  ", t->out);
	text_field(t, p->name, 26, true, false);
	if (is_ports(p)) {
		fputc(' ', t->out);
		ports_text(t, d, value_of(d, param));
	} else {
		char *range = g_strdup_printf("%d..%d, default %d", p->min, p->max, p->def);

		fprintf(t->out, " %12d  ", value_of(d, param));
		text_field(t, p->unit, 18, true, false);
		fputc(' ', t->out);
		text_fill(t, 62, 62, range);
		g_free(range);
	}
	if (*p->help) {
		fprintf(t->out, "%6s", "");
		text_fill(t, 6, 6, p->help);
	}
	if (*p->kept_for) {
		fprintf(t->out, "%6skept for: ", "");
		text_fill(t, 16, 16, p->kept_for);
	}
}

static void one_text(struct text *t, const struct core_desc *d)
{
	const char *above = NULL;

	text_style(t, "1");
	text_outside(t->out, d->name);
	text_style(t, NULL);
	fputs("  ", t->out);
	text_outside(t->out, d->title);
	fprintf(t->out, "\n  instruction set %s%s, clock %d MHz\n", d->isa,
	        is_default(d) ? " (its default core)" : "", d->clock_mhz);

	text_heading(t, "Parts that --ideal takes");
	for (unsigned i = 0; i < NR_CORE_IDEALS; i++)
		fprintf(t->out, "  %-8s %s\n", core_ideals[i].name, core_ideals[i].help);

	text_heading(t, "What the model leaves out");
	each_line(d->leaves_out, line_text, t);
	text_heading(t, "Sources");
	each_line(d->source, line_text, t);

	text_heading(t, "Parameters for --set and --scale: value, unit, range, default, meaning, [source]");
	for (unsigned i = 0; i < nr_core_params; i++) {
		parameter_text(t, d, i);
		above = source_text(t, source_of(d, core_params[i].name), above);
	}
	text_heading(t, "Names and lists");
	for (unsigned i = 0; i < NR_CORE_STRINGS; i++) {
		const struct core_string *s = &core_strings[i];

		fprintf(t->out, "  %s = ", s->name);
		text_fill(t, (unsigned)strlen(s->name) + 5, 6, *text_of(d, i) ? text_of(d, i) : "(none)");
		fprintf(t->out, "%6s", "");
		text_fill(t, 6, 6, s->help);
		above = source_text(t, source_of(d, s->name), above);
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
	if (!err && !r->quiet) {
		fputc('\n', t->out);
		text_fill(t, 0, 0,
		          "`cyclewise cores NAME` shows one in full, with its sources and what it leaves out.");
	}
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
		if (is_ports(p)) {
			json_array(j, "ports");
			for (unsigned k = 0; d->port_names[k]; k++)
				if (value_of(d, i) >> k & 1)
					json_string(j, NULL, d->port_names[k]);
			json_end_array(j);
		}
		json_string(j, "unit", p->unit);
		json_array(j, "range");
		json_int(j, NULL, p->min);
		json_int(j, NULL, p->max);
		json_end_array(j);
		json_int(j, "default", p->def);
		json_string(j, "help", p->help);
		if (*p->kept_for)
			json_string(j, "kept_for", p->kept_for);
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
