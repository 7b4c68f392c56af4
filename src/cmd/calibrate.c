/*
 * cyclewise calibrate: measures the processor it runs on and writes a core description. The only command whose output
 * depends on the host's time: by nature.
 */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/version.h"
#include "calibrate/calibrate.h"
#include "calibrate/write.h"
#include "cmd/command.h"
#include "view/head.h"

#define FILE_DEFAULT "host.core"
enum { EVERY_US = 200000 };

static int run(struct invocation *call);

const struct command command_calibrate = {
	.name = "calibrate",
	.summary = "measures this machine's processor, by timing alone, and writes a core description of it",
	.usage = "[options]",
	.help = "Measures the x86-64 processor it runs on and writes a description for --core: FILE (default "
	        "host.core), and "
		"beside it the instruction costs, with the suffix .costs. What it measures: the clock; latency and "
	        "reciprocal throughput of "
		"instruction forms and the ports they share; latency and bandwidth of caches and memory; TLBs; sizes "
	        "of the core's "
		"buffers; penalties; prefetchers.\n\n"
		"The description inherits from the nearest core that is shipped. Every value stands with its spread; "
	        "what was too noisy "
		"is left to the parent, and the file says so. It needs no privileges, no performance counters, and a "
	        "few minutes. On a "
		"busy processor more is left to the parent, and a busy thread beside this one on the core makes "
	        "buffers look smaller.",
	.groups = OPTIONS_CORE,
	.run = run,
};

/* The line that says what is being measured, on a terminal. */
struct line {
	bool shown, drawn;
	int64_t start, last;       /* microseconds */
};

static int step(void *ctx, const char *what)
{
	struct line *l = ctx;
	int64_t now = g_get_monotonic_time();

	if (l->shown && now - l->last >= EVERY_US) {
		fprintf(stderr, "\r\033[Kcyclewise: measuring %s, %" G_GINT64_FORMAT " s", what,
		        (now - l->start) / 1000000);
		fflush(stderr);
		l->last = now;
		l->drawn = true;
	}
	return 0;
}

static void line_init(struct line *l, const struct options *o)
{
	const char *term = getenv("TERM");

	*l = (struct line){ .shown = !o->no_progress && !o->quiet && isatty(STDERR_FILENO) && term &&
		                     strcmp(term, "dumb") };
	l->start = g_get_monotonic_time();
}

static void line_fini(struct line *l)
{
	if (l->drawn)
		fputs("\r\033[K", stderr);
}

/* The instructions that a profile executed; their bytes are the query's. */
static int wanted_of(struct query *q, const char *path, struct calibrate_wanted **wanted, size_t *nr)
{
	const struct query_insn *rows;
	int err = query_hot(q, 0, &rows, nr, NULL);

	if (!err && query_run(q)->isa && strcmp(query_run(q)->isa, "x86-64"))
		err = error_set(EINVAL, path, "its program is %s, and this processor is not", query_run(q)->isa);
	if (err)
		return err;
	*wanted = g_new0(struct calibrate_wanted, *nr + 1);
	for (size_t i = 0; i < *nr; i++)
		(*wanted)[i] = (struct calibrate_wanted){ rows[i].bytes, rows[i].length };
	return 0;
}

static void show_estimate(FILE *out, const struct estimate *e)
{
	if (!e->samples)
		fprintf(out, "%12s  %22s", "", "");
	else
		fprintf(out, "%12.*f  ", e->value < 10000 && e->value != floor(e->value) ? 2 : 0, e->value);
	if (e->samples && e->high > e->low)
		fprintf(out, "%10.2f to %-8.2f", e->low, e->high);
	else if (e->samples)
		fprintf(out, "%22s", "");
}

static void show_text(FILE *out, const struct calibration *c, const char *path, bool verbose)
{
	const struct findings *f = calibration_findings(c);
	const struct host *h = calibration_host(c);
	struct text t;
	size_t left = 0, changed = 0;

	text_init(&t, out);
	for (size_t i = 0; i < findings_count(f); i++)
		left += findings_at(f, i)->left;
	for (size_t i = 0; i < forms_count(calibration_forms(c)); i++)
		changed += write_latency(forms_at(calibration_forms(c), i)) >= 0;
	text_outside(out, path);
	fputs(": ", out);
	text_outside(out, h->brand);
	fputs(", ", out);
	text_outside(out, h->vendor);
	fprintf(out, " family %u model %u%s\n  inherits from ", h->family, h->model, h->guest ? ", a guest" : "");
	text_outside(out, calibration_parent(c));
	fprintf(out,
	        "; %zu values, of which %zu are left to it; %zu instruction forms, %zu with a "
	        "latency of their own\n",
	        findings_count(f), left, forms_count(calibration_forms(c)), changed);
	text_heading(&t, "Measured: value, spread, parameter");
	for (size_t i = 0; i < findings_count(f); i++) {
		const struct finding *one = findings_at(f, i);

		fputs("  ", out);
		text_field(&t, one->name, 36, true, false);
		show_estimate(out, &one->estimate);
		fprintf(out, " %-13s", one->unit);
		if (one->param && !one->left)
			fprintf(out, " %s = %d", one->param, one->value);
		else if (one->param)
			fprintf(out, " %s left to the parent", one->param);
		fputc('\n', out);
		if (one->note && (verbose || one->left)) {
			fprintf(out, "      ");
			text_fill(&t, 6, 6, one->note);
		}
	}
	if (!verbose)
		return;
	text_heading(&t, "Instruction forms: latency, reciprocal throughput (the parent's)");
	for (size_t i = 0; i < forms_count(calibration_forms(c)); i++) {
		const struct form *form = forms_at(calibration_forms(c), i);

		fprintf(out, "  %-38s", form->text);
		if (form->has_latency)
			fprintf(out, " %7.2f%c (%5.2f)", form->latency.value, form->latency.noisy ? '?' : ' ',
			        form->parent_latency);
		else
			fprintf(out, " %16s", "");
		if (form->has_throughput)
			fprintf(out, " %7.2f%c (%5.2f)", form->throughput.value, form->throughput.noisy ? '?' : ' ',
			        form->parent_throughput);
		fputc('\n', out);
	}
}

static void json_thousandths(struct json *j, const char *key, double value)
{
	if (value >= 0 && value < 1e15)
		json_ratio(j, key, (uint64_t)llround(value * 1000), 1000);
	else
		json_null(j, key);
}

static void json_estimate(struct json *j, const char *key, const struct estimate *e)
{
	json_object(j, key);
	json_thousandths(j, "value", e->value);
	json_thousandths(j, "low", e->low);
	json_thousandths(j, "high", e->high);
	json_uint(j, "agreeing", e->agreeing);
	json_uint(j, "samples", e->samples);
	json_bool(j, "noisy", e->noisy);
	json_end_object(j);
}

static void show_json(FILE *out, const struct calibration *c, const char *path)
{
	const struct findings *f = calibration_findings(c);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	head_json_described(&j, CYCLEWISE_VERSION, path);
	json_string(&j, "parent", calibration_parent(c));
	json_array(&j, "values");
	for (size_t i = 0; i < findings_count(f); i++) {
		const struct finding *one = findings_at(f, i);

		json_object(&j, NULL);
		json_string(&j, "name", one->name);
		json_string(&j, "unit", one->unit);
		json_estimate(&j, "measured", &one->estimate);
		json_string(&j, "parameter", one->param);
		if (one->param && !one->left)
			json_int(&j, "value", one->value);
		else
			json_null(&j, "value");
		json_bool(&j, "left_to_parent", one->left);
		json_string(&j, "note", one->note);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_array(&j, "forms");
	for (size_t i = 0; i < forms_count(calibration_forms(c)); i++) {
		const struct form *form = forms_at(calibration_forms(c), i);

		json_object(&j, NULL);
		json_string(&j, "form", form->name);
		json_string(&j, "example", form->text);
		if (form->has_latency)
			json_estimate(&j, "latency", &form->latency);
		if (form->has_throughput)
			json_estimate(&j, "throughput", &form->throughput);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_fini(&j);
}

/* Found out before the minutes of measuring: whether the file can be written. */
static int check_path(const char *path)
{
	char *dir = g_path_get_dirname(path);
	int err = 0;

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		err = error_errno(EISDIR, path);
	else if (access(dir, W_OK))
		err = error_errno(errno, path);
	g_free(dir);
	return err;
}

static int run(struct invocation *call)
{
	const struct options *o = &call->options;
	const char *path = o->output ? o->output : FILE_DEFAULT;
	struct calibrate_options options = { .quick = o->quick, .step = step };
	struct calibrate_wanted *wanted = NULL;
	struct calibration *c = NULL;
	struct profile *p = NULL;
	struct query *q = NULL;
	struct line line;
	int err = 0;

	if (call->argc)
		return command_usage(&command_calibrate, call->argv[0], "is one operand too many");
	err = check_path(path);
	if (!err && o->for_profile) {
		err = profile_open(&p, o->for_profile);
		if (!err)
			err = query_new(&q, p);
		if (!err)
			err = wanted_of(q, o->for_profile, &wanted, &options.nr_wanted);
		options.wanted = wanted;
	}
	line_init(&line, o);
	options.ctx = &line;
	if (!err)
		err = calibration_new(&c, &options);
	line_fini(&line);
	if (!err)
		err = calibration_write(c, path, CYCLEWISE_VERSION);
	if (!err && call->output.text && !(o->quiet && !o->report))
		show_text(call->output.text, c, path, o->verbose);
	if (!err && call->output.json) {
		show_json(call->output.json, c, path);
		call->output.json_written = true;
	}
	calibration_free(c);
	g_free(wanted);
	query_free(q);
	if (p)
		profile_close(p);
	return err;
}
