#include "view/head.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "base/shown.h"
#include "view/number.h"

void cycles_json(struct json *j, const char *key, const struct view_request *r, uint64_t units)
{
	json_ratio(j, key, units, query_run(r->query)->units_per_cycle);
}

void head_json(struct json *j, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);

	json_string(j, "cyclewise", r->version);
	json_string(j, "program", run->program);
	json_array(j, "arguments");
	for (uint32_t i = 0; i < run->nr_arguments; i++)
		json_string(j, NULL, run->arguments[i]);
	json_end_array(j);
	json_string(j, "core", run->core);
	json_string(j, "model", run->model);
	json_bool(j, "complete", run->complete);
	if (run->ended && !run->signal)
		json_int(j, "exit_status", run->exit_status);
	else
		json_null(j, "exit_status");
	if (run->ended && run->signal)
		json_int(j, "signal", run->signal);
	else
		json_null(j, "signal");
	json_string(j, "window", run->window);
	json_string(j, "emulator", run->emulator);
}

static void ending(struct text *t, const struct run_info *run)
{
	char *how = !run->ended ? g_strdup("not seen")
	            : run->signal ? g_strdup_printf("by signal %d (%s)", run->signal, strsignal(run->signal))
	                          : g_strdup_printf("with exit status %d", run->exit_status);
	char *line =
		g_strconcat(how, run->complete ? NULL : "; cut short: what follows is what had run until then", NULL);

	fputs("  ended         ", t->out);
	if (!run->complete)
		text_style(t, "1;31");
	text_fill(t, 16, 16, line);
	if (!run->complete)
		text_style(t, NULL);
	g_free(how);
	g_free(line);
}

/* A word of a command line, as a shell would take it: with what cannot be shown in it, as Bash has it, $'a\nb'. */
static void word(struct text *t, const char *s)
{
	char *as_shown = shown(s), *quoted = NULL, **parts;

	fputc(' ', t->out);
	if (strcmp(as_shown, s)) {
		parts = g_strsplit(s, "\\", -1);
		g_free(as_shown);
		as_shown = g_strjoinv("\\\\", parts);
		g_strfreev(parts);
		parts = g_strsplit(as_shown, "'", -1);
		g_free(as_shown);
		as_shown = g_strjoinv("\\'", parts);
		g_strfreev(parts);
		fputs("$'", t->out);
		text_outside(t->out, as_shown);
		fputc('\'', t->out);
	} else {
		if (!*s || s[strcspn(s, " '\"\\$`*?[]{}()<>|&;!#~")])
			quoted = g_shell_quote(s);
		text_outside(t->out, quoted ? quoted : s);
	}
	g_free(quoted);
	g_free(as_shown);
}

void head_json_described(struct json *j, const char *version, const char *core)
{
	json_string(j, "cyclewise", version);
	json_null(j, "program");
	json_array(j, "arguments");
	json_end_array(j);
	json_string(j, "core", core);
	json_null(j, "model");
	json_bool(j, "complete", true);
}

static void listed(struct text *t, const char *label, const char *value)
{
	fputs(label, t->out);
	text_outside(t->out, value);
	fputc('\n', t->out);
}

void head_text(struct text *t, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);
	char a[NUMBER_SIZE], b[NUMBER_SIZE], *core;

	text_style(t, "1");
	fprintf(t->out, "cyclewise %s", r->version);
	text_style(t, NULL);
	fputc(' ', t->out);
	word(t, run->program ? run->program : "(unknown program)");
	for (uint32_t i = 0; i < run->nr_arguments; i++)
		word(t, run->arguments[i]);
	fputs("\n  core          ", t->out);
	core = g_strdup_printf("%s, model %s: cycles are this model's, not a measurement of hardware",
	                       run->core ? run->core : "?", run->model ? run->model : "?");
	text_fill(t, 16, 16, core);
	g_free(core);
	if (run->options)
		listed(t, "  changed       ", run->options);
	if (run->window)
		listed(t, "  counted       ", run->window);
	ending(t, run);
	fprintf(t->out, "  instructions  %s\n", number_grouped(a, run->instructions));
	fprintf(t->out, "  cycles        %s", number_whole(a, run->cycles_units, run->units_per_cycle));
	if (run->cycles_units)
		fprintf(t->out, "  (%s instructions a cycle)",
		        number_ratio(b, run->instructions * run->units_per_cycle, run->cycles_units, 2));
	fputc('\n', t->out);
}

int unmodelled_json(struct json *j, const struct view_request *r)
{
	const struct query_count *form;
	uint64_t executions = 0;
	size_t n;
	int err = query_unmodelled(r->query, &form, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		executions += form[i].count;
	json_object(j, "unmodelled");
	json_uint(j, "instructions", executions);
	json_array(j, "forms");
	for (size_t i = 0; i < n && (!r->limit || i < r->limit); i++)
		json_string(j, NULL, form[i].name);
	json_end_array(j);
	json_end_object(j);
	return 0;
}

int notes_json(struct json *j, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);

	json_array(j, "notes");
	for (uint32_t i = 0; i < run->nr_notes; i++)
		json_string(j, NULL, run->notes[i]);
	json_end_array(j);
	return unmodelled_json(j, r);
}

static void note(struct text *t, bool *any, const char *s)
{
	if (!*any)
		text_heading(t, "Notes");
	*any = true;
	fputs("  - ", t->out);
	text_fill(t, 4, 4, s);
}

int notes_text(struct text *t, const struct view_request *r)
{
	const struct run_info *run = query_run(r->query);
	const struct query_count *form;
	const struct query_thread *thread;
	uint64_t executions = 0;
	size_t n, threads;
	bool any = false;
	int err;

	for (uint32_t i = 0; i < run->nr_notes; i++)
		note(t, &any, run->notes[i]);

	err = query_threads(r->query, &thread, &threads);
	if (!err)
		err = query_unmodelled(r->query, &form, &n);
	if (err)
		return err;
	if (threads > 1) {
		char s[256];

		snprintf(s, sizeof s,
		         "%zu threads, each on a modelled core of its own with private caches: cycles are the "
		         "sum over the threads, no elapsed time",
		         threads);
		note(t, &any, s);
	}
	for (size_t i = 0; i < n; i++)
		executions += form[i].count;
	if (n) {
		char s[1024], count[NUMBER_SIZE], percent[NUMBER_SIZE];
		int at;

		at = snprintf(s, sizeof s,
		              "%s instructions (%s%%) have no cost data on this core and were given its default: ",
		              number_grouped(count, executions),
		              number_ratio(percent, executions * 100, run->instructions ? run->instructions : 1, 2));
		for (size_t i = 0; i < n && (!r->limit || i < r->limit) && at < (int)sizeof s - 80; i++)
			at += snprintf(s + at, sizeof s - (size_t)at, "%s%.60s", i ? ", " : "", form[i].name);
		note(t, &any, s);
	}
	return 0;
}
