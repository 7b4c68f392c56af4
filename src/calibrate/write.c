/* The files; write.h has their plan. */
#include "calibrate/write.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "isa/costs.h"

/* "14.05 cycles (13.95 to 14.09, 173 of 240 samples)". */
static void append_estimate(GString *s, const struct estimate *e, const char *unit)
{
	g_string_append_printf(s, "%.*f %s", e->value < 1000 && e->value != floor(e->value) ? 2 : 0, e->value, unit);
	if (e->samples > 1)
		g_string_append_printf(s, " (%.2f to %.2f, %u of %u samples%s)", e->low, e->high, e->agreeing,
		                       e->samples, e->noisy ? ", too noisy" : "");
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
	g_string_append_printf(s, " (%s, family %u, model %u, stepping %u)%s\n", h->vendor, h->family, h->model,
	                       h->stepping, h->guest ? ", a guest of a hypervisor" : "");
	g_string_append_printf(s,
	                       "# What is not said here is the parent's, %s: %s. The end of the file says what was "
	                       "looked for and left to it.\n"
	                       "# Spreads are those of the fastest samples that agree.\n",
	                       w->core, w->why);
	g_string_append_printf(s, "\n[core]\ninherit = %s\ntitle = ", w->core);
	append_words(s, h->brand);
	g_string_append_printf(s, ", family %u model %u, measured\n", h->family, h->model);
	if (w->ports && w->ports->nr_names > w->ports->nr_parent) {
		char *ports = ports_text(w->ports, UINT16_MAX, " ");

		g_string_append_printf(s,
		                       "# Measured: of %u pairs of forms %u say how many ports they share; the parent "
		                       "has %u ports.\nports = %s\n",
		                       w->ports->nr_pairs, w->ports->nr_known, w->ports->nr_parent, ports);
		g_free(ports);
	}
	g_string_append_printf(s, "costs = %s\nsource = timing measurements on this processor by cyclewise calibrate",
	                       costs_name);
	for (const char *p = w->parent->desc.source; *p; ) {
		size_t n = strcspn(p, "\n");

		g_string_append_printf(s, ";\n\tas %s: %.*s", w->core, (int)n, p);
		p += n + (p[n] == '\n');
	}
	g_string_append_c(s, '\n');
}

/* The scheduler whose ports `param` is; -1: none's. */
static int scheduler_ports(const char *param)
{
	return g_pattern_match_simple("sched?.ports", param) ? param[strlen("sched")] - '0' : -1;
}

/* Each port that the parent has not is fed by one of the schedulers that feed those it shares forms with, in turn. */
static void extend_schedulers(const struct written *w, uint16_t ports[CORE_SCHEDULERS])
{
	const struct core_desc *d = &w->parent->desc;
	const int32_t parent[CORE_SCHEDULERS] = { d->sched0_ports, d->sched1_ports, d->sched2_ports, d->sched3_ports,
		                                  d->sched4_ports, d->sched5_ports, d->sched6_ports, d->sched7_ports };

	for (unsigned n = 0; n < CORE_SCHEDULERS; n++)
		ports[n] = (uint16_t)parent[n];
	for (unsigned port = w->ports ? w->ports->nr_parent : CORE_PORTS; w->ports && port < w->ports->nr_names;
	     port++) {
		unsigned candidates[CORE_SCHEDULERS], nr = 0;
		uint16_t beside = 0;

		for (unsigned c = 0; c < w->ports->nr; c++)
			if (w->ports->classes[c].found >> port & 1)
				beside |= w->ports->classes[c].parent;
		for (unsigned n = 0; n < CORE_SCHEDULERS; n++)
			if (parent[n] & beside)
				candidates[nr++] = n;
		if (nr)
			ports[candidates[(port - w->ports->nr_parent) % nr]] |= (uint16_t)(1u << port);
	}
}

char *write_core_text(const struct written *w, const char *costs_name)
{
	GString *s = g_string_new(NULL);
	uint16_t schedulers[CORE_SCHEDULERS];
	size_t group_length = 0;
	const char *group = "";

	extend_schedulers(w, schedulers);
	append_head(s, w, costs_name);
	for (unsigned i = 0; i < nr_core_params; i++) {
		const char *name = core_params[i].name;
		const struct finding *f = findings_of(w->findings, name);
		size_t dot = strcspn(name, ".");
		int scheduler = scheduler_ports(name);
		int32_t before;

		memcpy(&before, (const char *)&w->parent->desc + core_params[i].offset, sizeof before);
		if (!f && (scheduler < 0 || schedulers[scheduler] == before))
			continue;
		if (dot != group_length || strncmp(group, name, dot)) {
			g_string_append_printf(s, "\n[%.*s]\n", (int)dot, name);
			group = name;
			group_length = dot;
		}
		if (!f) {
			char *ports = ports_text(w->ports, schedulers[scheduler], " ");

			g_string_append_printf(
				s, "# Assumed: a port that was found is fed as those beside it are.\nports = %s\n",
				ports);
			g_free(ports);
			continue;
		}
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

/*
 * The least difference from the parent that is told: half a cycle, which rounding asks for, and its spread to be told
 * apart. Where half of a round trip was deducted and the two ways are not as long as each other, half a cycle of it is
 * the other way's.
 */
static double least_told(const struct form *form)
{
	return form->single ? 0.5 : 0.75;
}

int write_latency(const struct form *form)
{
	struct estimate delta = estimate_minus(form->latency, estimate_exact(form->parent_latency));
	double change = estimate_round(delta, 0), latency;

	if (!form->has_latency || form->load || delta.noisy || fabs(delta.value) < least_told(form) || change == 0 ||
	    !form->insn->latency)
		return -1;
	latency = form->insn->latency + change;
	/* Nought is an eliminated move's, which is not a latency to a cost file. */
	return latency >= 1 && latency <= 127 ? (int)latency : -1;
}

int write_load_extra(const struct form *form, const struct form *base)
{
	struct estimate delta;
	double extra;

	if (!form->load || !form->has_latency || form->latency.noisy || !base || !base->load || base->latency.noisy)
		return -1;
	delta = estimate_minus(estimate_minus(form->latency, base->latency),
	                       estimate_exact(form->parent_latency - base->parent_latency));
	if (fabs(delta.value) < least_told(form))
		return -1;
	extra = form->insn->load_extra + estimate_round(delta, 0);
	return (int)extra != form->insn->load_extra && extra >= 0 && extra <= 255 ? (int)extra : -1;
}

/* The load of 64 bits that others are compared with; NULL: it was not measured. */
static const struct form *plain_load(const struct forms *f)
{
	for (size_t i = 0; i < forms_count(f); i++)
		if (!strcmp(forms_at(f, i)->name, "MOV64rm"))
			return forms_at(f, i);
	return NULL;
}

/* One line of the table; `why` its throughput is left to the parent, NULL where it is not. */
static void append_row(GString *s, const struct form *f, const char *why)
{
	g_string_append_printf(s, "#   %-20s %-36s", f->name, f->text);
	if (f->has_latency)
		g_string_append_printf(s, " %7.2f%c %6.2f to %-6.2f (%5.2f)", f->latency.value,
		                       f->latency.noisy ? '?' : ' ', f->latency.low, f->latency.high,
		                       f->parent_latency);
	else
		g_string_append_printf(s, " %33s", "");
	if (f->has_throughput)
		g_string_append_printf(s, " %7.2f%c %6.2f to %-6.2f (%5.2f)", f->throughput.value,
		                       f->throughput.noisy ? '?' : ' ', f->throughput.low, f->throughput.high,
		                       f->parent_throughput);
	g_string_append_printf(s, "%s%s\n", why ? "  left to the parent: " : "", why ? why : "");
}

/* Results of one form that come apart, as the parent has them, all by as much later. */
static bool results_differ(const struct insn *insn)
{
	for (unsigned k = 0; k < insn->nr_dst; k++)
		if (!(insn->dst_latency[k] & DST_WRITEBACK) && insn->dst_latency[k] != insn->latency)
			return true;
	return false;
}

/* One section: what of latency, of a load's (-1: nothing) and of uops (NULL: nothing) differs from the parent. */
static void append_section(GString *s, const struct form *f, int latency, int load_extra, const char *uops)
{
	int delta = latency - f->insn->latency;

	g_string_append_printf(s, "\n[%s]\n", f->stands_for);
	if (uops)
		g_string_append_printf(s, "uops = %s\n", uops);
	if (latency >= 0)
		g_string_append_printf(s, "latency = %d\n", latency);
	if (load_extra >= 0)
		g_string_append_printf(s, "load_extra = %d\n", load_extra);
	if (latency >= 0 && results_differ(f->insn)) {
		g_string_append(s, "results =");
		for (unsigned k = 0; k < f->insn->nr_dst; k++)
			if (!(f->insn->dst_latency[k] & DST_WRITEBACK))
				g_string_append_printf(s, " %d", MAX(0, f->insn->dst_latency[k] + delta));
		g_string_append_c(s, '\n');
	}
	g_string_append_printf(s, "source = measured: %s:", f->text);
	if (latency >= 0 || load_extra >= 0)
		g_string_append_printf(s, " latency %.2f (%.2f to %.2f)%s, the parent's %.2f%s", f->latency.value,
		                       f->latency.low, f->latency.high,
		                       f->single ? "" : ", half of a vmovq round trip deducted", f->parent_latency,
		                       uops ? ";" : "");
	if (uops)
		g_string_append_printf(s, " throughput %.2f (%.2f to %.2f), the parent's %.2f", f->throughput.value,
		                       f->throughput.low, f->throughput.high, f->parent_throughput);
	g_string_append_c(s, '\n');
}

/* The classes of uops, and LLVM's resources that have more ports than the parent's. */
static int append_ports(GString *s, const struct written *w)
{
	const struct parent *p = w->parent;
	struct costs *costs = NULL;
	bool any = false;
	int ret = 0;

	g_string_append(s, "#\n# Ports by throughputs of pairs, each class by one of its forms: times a cycle, the "
	                   "parent's ports, those found.\n");
	for (unsigned c = 0; c < w->ports->nr; c++) {
		const struct port_class *k = &w->ports->classes[c];
		char *parent = ports_text(w->ports, k->parent, " "), *found = ports_text(w->ports, k->found, " ");

		g_string_append_printf(s, "#   %-36s %u  %-24s %s\n", k->example->text, k->n, parent,
		                       k->found ? found : "(none fit the other pairs: left to the parent)");
		g_free(parent);
		g_free(found);
	}
	if (*p->desc.costs_path)
		ret = costs_new(&costs, p->desc.costs_path, p->desc.port_names, p->desc.unit_names);
	for (unsigned r = 0; !ret && costs && r < decoder_nr_resources(p->decoder); r++) {
		uint16_t set, wider;
		uint8_t unit;
		char *ports;

		costs_resource(costs, decoder_resource(p->decoder, r), &set, &unit);
		wider = set ? ports_extended(w->ports, set) : 0;
		if (wider == set)
			continue;
		if (!any)
			g_string_append(s, "\n[ports]\n");
		any = true;
		ports = ports_text(w->ports, wider & (uint16_t)~set, " ");
		g_string_append_printf(s, "%s = %s\n", decoder_resource(p->decoder, r), ports);
		g_free(ports);
	}
	costs_free(costs);
	return ret;
}

char *write_costs_text(const struct written *w, const char *before)
{
	GString *s = g_string_new(before);
	const struct form *base = w->forms ? plain_load(w->forms) : NULL;

	g_string_append_printf(
		s,
		"\n# --- measured by cyclewise calibrate %s -----------------------------------------------------\n"
		"# Cycles: latency, its spread and (the parent's); reciprocal throughput, its spread and (the parent's "
	        "bound).\n"
		"# A question mark: too noisy, left to the parent.\n",
		w->version);
	for (size_t i = 0; w->forms && i < forms_count(w->forms); i++) {
		const struct form *f = forms_at(w->forms, i);
		const char *why = NULL;

		g_free(w->ports ? ports_uops(w->ports, w->parent, f, &why) : NULL);
		append_row(s, f, why);
	}
	if (w->ports && append_ports(s, w)) {
		g_string_free(s, TRUE);
		return NULL;
	}
	for (size_t i = 0; w->forms && i < forms_count(w->forms); i++) {
		const struct form *f = forms_at(w->forms, i);
		const char *why;
		char *uops = w->ports ? ports_uops(w->ports, w->parent, f, &why) : NULL;
		int latency = write_latency(f), load_extra = write_load_extra(f, base);

		if (latency >= 0 || load_extra >= 0 || uops)
			append_section(s, f, latency, load_extra, uops);
		g_free(uops);
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

/* A cost file, to be copied anywhere: what it inherits is named by its whole path. NULL: it cannot be read. */
static char *movable_costs(const char *path)
{
	enum { MOST_COSTS = 4 << 20 };
	static const char key[] = "\ninherit = ";
	char *text, *at, *beside, *inherited, *movable;
	size_t bytes;

	if (file_read_text(&text, &bytes, path, MOST_COSTS))
		return NULL;
	at = strstr(text, key);
	if (!at) {
		movable = g_strdup(text);
		free(text);
		return movable;
	}
	at += strlen(key);
	size_t n = strcspn(at, "\n");
	char *name = g_strndup(at, n), *whole = g_canonicalize_filename(path, NULL);
	beside = g_path_get_dirname(whole);
	inherited = g_build_filename(beside, name, NULL);
	movable = g_strdup_printf("%.*s%s%s", (int)(at - text), text, inherited, at + n);
	g_free(inherited);
	g_free(beside);
	g_free(whole);
	g_free(name);
	free(text);
	return movable;
}

int write_description(const struct written *w, const char *path)
{
	size_t stem = g_str_has_suffix(path, ".core") ? strlen(path) - strlen(".core") : strlen(path);
	char *costs = g_strdup_printf("%.*s.costs", (int)stem, path), *name = g_path_get_basename(costs),
	     *before = NULL, *text;
	int ret = 0;

	if (*w->parent->desc.costs_path && !(before = movable_costs(w->parent->desc.costs_path)))
		ret = error_errno(EIO, w->parent->desc.costs_path);
	if (!ret) {
		text = write_costs_text(w, before ? before : "");
		ret = text ? write_file(costs, text) : -EINVAL;
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
