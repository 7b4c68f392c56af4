/* The files; write.h has their plan. */
#include "calibrate/write.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* "14.05 cycles (13.95 to 14.09, 173 of 240 samples)". */
static void append_estimate(GString *s, const struct estimate *e, const char *unit)
{
	g_string_append_printf(s, "%.*f %s", e->value < 1000 && e->value != floor(e->value) ? 2 : 0, e->value, unit);
	if (e->samples > 1)
		g_string_append_printf(s, " (%.2f to %.2f, %u of %u samples%s)", e->low, e->high, e->agreeing, e->samples,
		                       e->noisy ? ", too noisy" : "");
	else if (e->high > e->low)
		g_string_append_printf(s, " (%.2f to %.2f)", e->low, e->high);
}

static void append_finding(GString *s, const struct finding *f)
{
	g_string_append_printf(s, "%s: ", f->name);
	if (f->estimate.samples)
		append_estimate(s, &f->estimate, f->unit);
	if (f->note)
		g_string_append_printf(s, "%s%s", f->estimate.samples ? "; " : "", f->note);
}

/* Words of others, as a value of a key file: no line breaks, no separator of lists. */
static void append_words(GString *s, const char *words)
{
	for (; *words; words++)
		g_string_append_c(s, *words == '\n' || *words == ';' || (unsigned char)*words < ' ' ? ' ' : *words);
}

static void append_head(GString *s, const struct written *w, const char *costs_name)
{
	const struct host *h = w->host;

	g_string_append_printf(s, "# Measured by timing alone, by cyclewise calibrate %s, on:\n#   ", w->version);
	append_words(s, h->brand);
	g_string_append_printf(s, " (%s, family %u, model %u, stepping %u)%s\n", h->vendor, h->family, h->model, h->stepping,
	                       h->guest ? ", a guest of a hypervisor" : "");
	g_string_append_printf(s, "# What is not said here is the parent's, %s: %s. The end of the file says what was looked for and left to it.\n"
	                       "# Spreads are those of the fastest samples that agree.\n", w->core, w->why);
	g_string_append_printf(s, "\n[core]\ninherit = %s\ntitle = ", w->core);
	append_words(s, h->brand);
	g_string_append_printf(s, ", family %u model %u, measured\ncosts = %s\nsource = timing measurements on this processor by cyclewise calibrate",
	                       h->family, h->model, costs_name);
	for (const char *p = w->parent->desc.source; *p; ) {
		size_t n = strcspn(p, "\n");

		g_string_append_printf(s, ";\n\tas %s: %.*s", w->core, (int)n, p);
		p += n + (p[n] == '\n');
	}
	g_string_append_c(s, '\n');
}

char *write_core_text(const struct written *w, const char *costs_name)
{
	GString *s = g_string_new(NULL);
	size_t group_length = 0;
	const char *group = "";

	append_head(s, w, costs_name);
	for (unsigned i = 0; i < nr_core_params; i++) {
		const char *name = core_params[i].name;
		const struct finding *f = findings_of(w->findings, name);
		size_t dot = strcspn(name, ".");
		int32_t before;

		if (!f)
			continue;
		if (dot != group_length || strncmp(group, name, dot)) {
			g_string_append_printf(s, "\n[%.*s]\n", (int)dot, name);
			group = name;
			group_length = dot;
		}
		memcpy(&before, (const char *)&w->parent->desc + core_params[i].offset, sizeof before);
		g_string_append(s, "# Measured: ");
		append_finding(s, f);
		g_string_append_printf(s, ". The parent says %d.\n%s = %d\n", before, name + dot + 1, f->value);
	}
	g_string_append(s, "\n# Seen, and without a parameter of its own:\n");
	for (size_t i = 0; i < findings_count(w->findings); i++) {
		const struct finding *f = findings_at(w->findings, i);

		if (f->left || f->param)
			continue;
		g_string_append(s, "#   ");
		append_finding(s, f);
		g_string_append_c(s, '\n');
	}
	g_string_append(s, "# Left to the parent:\n");
	for (size_t i = 0; i < findings_count(w->findings); i++) {
		const struct finding *f = findings_at(w->findings, i);

		if (!f->left)
			continue;
		g_string_append_printf(s, "#   %s, ", f->param ? f->param : "-");
		append_finding(s, f);
		g_string_append_c(s, '\n');
	}
	return g_string_free(s, FALSE);
}

int write_latency(const struct form *form)
{
	double delta = form->latency.value - form->parent_latency, latency;

	if (!form->has_latency || form->latency.noisy || fabs(delta) < 0.5 || !form->insn->latency)
		return -1;
	latency = form->insn->latency + round(delta);
	/* Nought is an eliminated move's, which is not a latency to a cost file. */
	return latency >= 1 && latency <= 127 ? (int)latency : -1;
}

static void append_row(GString *s, const struct form *f)
{
	g_string_append_printf(s, "#   %-20s %-36s", f->name, f->text);
	if (f->has_latency)
		g_string_append_printf(s, " %7.2f%c %6.2f to %-6.2f (%5.2f)", f->latency.value, f->latency.noisy ? '?' : ' ', f->latency.low,
		                       f->latency.high, f->parent_latency);
	else
		g_string_append_printf(s, " %33s", "");
	if (f->has_throughput)
		g_string_append_printf(s, " %7.2f%c %6.2f to %-6.2f (%5.2f)", f->throughput.value, f->throughput.noisy ? '?' : ' ',
		                       f->throughput.low, f->throughput.high, f->parent_throughput);
	g_string_append_c(s, '\n');
}

/* Results of one form that come apart, as the parent has them, all by as much later. */
static bool results_differ(const struct insn *insn)
{
	for (unsigned k = 0; k < insn->nr_dst; k++)
		if (!(insn->dst_latency[k] & DST_WRITEBACK) && insn->dst_latency[k] != insn->latency)
			return true;
	return false;
}

static void append_section(GString *s, const struct form *f, int latency)
{
	int delta = latency - f->insn->latency;

	g_string_append_printf(s, "\n[%s]\nlatency = %d\n", f->stands_for, latency);
	if (results_differ(f->insn)) {
		g_string_append(s, "results =");
		for (unsigned k = 0; k < f->insn->nr_dst; k++)
			if (!(f->insn->dst_latency[k] & DST_WRITEBACK))
				g_string_append_printf(s, " %d", MAX(0, f->insn->dst_latency[k] + delta));
		g_string_append_c(s, '\n');
	}
	g_string_append_printf(s, "source = measured: %s: latency %.2f (%.2f to %.2f)%s; the parent's %.2f\n", f->text, f->latency.value,
	                       f->latency.low, f->latency.high, f->single ? "" : ", half of a vmovq round trip deducted", f->parent_latency);
}

char *write_costs_text(const struct written *w, const char *before)
{
	GString *s = g_string_new(before);

	g_string_append_printf(s, "\n# --- measured by cyclewise calibrate %s -----------------------------------------------------\n"
	                       "# Cycles: latency, its spread and (the parent's); reciprocal throughput, its spread and (the parent's bound).\n"
	                       "# A question mark: too noisy, left to the parent.\n", w->version);
	for (size_t i = 0; w->forms && i < forms_count(w->forms); i++)
		append_row(s, forms_at(w->forms, i));
	for (size_t i = 0; w->forms && i < forms_count(w->forms); i++) {
		const struct form *f = forms_at(w->forms, i);
		int latency = write_latency(f);

		if (latency >= 0)
			append_section(s, f, latency);
	}
	return g_string_free(s, FALSE);
}

static int write_file(const char *path, const char *text)
{
	GError *error = NULL;
	int code;

	if (g_file_set_contents(path, text, -1, &error))
		return 0;
	code = error->code == G_FILE_ERROR_NOENT ? ENOENT : error->code == G_FILE_ERROR_ACCES ? EACCES :
		error->code == G_FILE_ERROR_NOSPC ? ENOSPC : error->code == G_FILE_ERROR_ISDIR ? EISDIR : EIO;
	g_error_free(error);
	return error_errno(code, path);
}

int write_description(const struct written *w, const char *path)
{
	size_t stem = g_str_has_suffix(path, ".core") ? strlen(path) - strlen(".core") : strlen(path);
	char *costs = g_strdup_printf("%.*s.costs", (int)stem, path), *name = g_path_get_basename(costs), *before = NULL, *text;
	int ret = 0;

	if (*w->parent->desc.costs_path && !g_file_get_contents(w->parent->desc.costs_path, &before, NULL, NULL))
		ret = error_errno(EIO, w->parent->desc.costs_path);
	if (!ret) {
		text = write_costs_text(w, before ? before : "");
		ret = write_file(costs, text);
		g_free(text);
	}
	if (!ret) {
		text = write_core_text(w, name);
		ret = write_file(path, text);
		g_free(text);
	}
	g_free(before);
	g_free(name);
	g_free(costs);
	return ret;
}
