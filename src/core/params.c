/*
 * The parameters of a core model as a table, and what the command line may do to them: set, scale, idealise.
 * Reading them from files is in corefile.c.
 */
#include "core/params.h"
#include "core/params_priv.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"

const struct core_param core_params[NR_CORE_PARAMS] = {
#define X(group, name_, def_, min_, max_, unit_, help_, ...) { \
	.name = #group "." #name_, .unit = unit_, .help = help_, .kept_for = "" __VA_ARGS__, \
	.min = min_, .max = max_, .def = def_, .offset = offsetof(struct core_desc, group##_##name_) },
	CORE_PARAMS(X)
#undef X
};
const unsigned nr_core_params = NR_CORE_PARAMS;

const struct core_string core_strings[NR_CORE_STRINGS] = {
#define X(field, key, def_, help_) \
	{ .name = key, .help = help_, .def = def_, .offset = offsetof(struct core_desc, field) },
	CORE_STRINGS(X)
#undef X
};

const struct core_ideal_part core_ideals[NR_CORE_IDEALS] = {
#define X(name_, help_) { .name = #name_, .help = help_, .offset = offsetof(struct core_ideal, name_) },
	CORE_IDEALS(X)
#undef X
};

/* Texts that are one of a few words. */
static const struct {
	const char *name, *words;
} choices[] = {
	{ "core.isa", "x86-64 aarch64 riscv64" },
	{ "branch.predictor", "tage gshare bimodal" },
	{ "branch.history", "directions taken-path taken-branches taken-conditionals" },
	{ "branch.wrong_path", "none instructions full" },
	{ "l1i.replacement", "lru plru qlru random" },
	{ "l1d.replacement", "lru plru qlru random" },
	{ "l2.replacement", "lru plru qlru random" },
	{ "llc.replacement", "lru plru qlru random" },
};

int param_index(const char *name)
{
	for (int i = 0; i < NR_CORE_PARAMS; i++)
		if (!strcmp(core_params[i].name, name))
			return i;
	return -1;
}

int string_index(const char *name)
{
	for (int i = 0; i < NR_CORE_STRINGS; i++)
		if (!strcmp(core_strings[i].name, name))
			return i;
	return -1;
}

int param_unknown(const char *what, const char *name)
{
	struct nearest n = { .name = name };

	for (int i = 0; i < NR_CORE_PARAMS; i++)
		nearest_offer(&n, core_params[i].name);
	for (int i = 0; i < NR_CORE_STRINGS; i++)
		nearest_offer(&n, core_strings[i].name);
	error_set(EINVAL, what, "there is no parameter '%s'", name);
	if (n.best)
		error_remedy("did you mean '%s'?", n.best);
	else
		error_remedy("'cyclewise cores NAME' lists the parameters");
	return -EINVAL;
}

static int32_t *param_value(struct core_desc *d, int i)
{
	return (int32_t *)(void *)((char *)d + core_params[i].offset);
}

/* A decimal number, or a hexadecimal one behind 0x, with K or M behind it. False where it is none or too large. */
static bool number(const char *text, int64_t *v)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	errno = 0;
	*v = g_ascii_strtoll(text, &end, hex ? 16 : 10);
	if (end == text || errno || *v > INT32_MAX || *v < INT32_MIN)
		return false;
	if (*end == 'K' || *end == 'M')
		*v *= *end++ == 'K' ? 1024 : 1024 * 1024;
	return *end == '\0';
}

/* "p0 p1" as a bit set. The name that is no port of this core goes to *unknown. */
static bool port_set(const struct core_desc *d, const char *text, int64_t *v, char **unknown)
{
	char **names = g_strsplit_set(text, " ,\t", -1);

	*v = 0;
	*unknown = NULL;
	for (char **name = names; *name && !*unknown; name++) {
		int bit = 0;

		if (!**name)
			continue;
		while (d->port_names[bit] && strcmp(d->port_names[bit], *name))
			bit++;
		if (d->port_names[bit])
			*v |= 1 << bit;
		else
			*unknown = g_strdup(*name);
	}
	g_strfreev(names);
	return !*unknown;
}

static int not_a_port(const struct core_desc *d, const char *what, const char *key, char *unknown)
{
	error_set(EINVAL, what, "%s: '%s' is not a port", key, unknown);
	error_remedy("the ports are: %s", *d->ports ? d->ports : "none (core.ports)");
	g_free(unknown);
	return -EINVAL;
}

int param_parse(struct core_desc *d, int i, const char *what, const char *text)
{
	const struct core_param *p = &core_params[i];
	bool ports = !strcmp(p->unit, "ports");
	char *unknown = NULL;
	int64_t v;

	if (!number(text, &v)) {
		if (!ports)
			return error_set(EINVAL, what, "%s: '%s' is not a whole number", p->name, text);
		if (!port_set(d, text, &v, &unknown))
			return not_a_port(d, what, p->name, unknown);
	}
	if (v < p->min || v > p->max) {
		error_set(EINVAL, what, "%s: %s is out of range", p->name, text);
		error_remedy("it can be from %d to %d%s%s", p->min, p->max, *p->unit ? " " : "", p->unit);
		return -EINVAL;
	}
	*param_value(d, i) = (int32_t)v;
	return 0;
}

/* Splits a list of names; they are interned, so that copies of the description stay valid. */
static int name_list(const char *what, const char *key, const char *text, const char **names, size_t max)
{
	char **words = g_strsplit_set(text, " ,\t", -1);
	size_t n = 0;
	int ret = 0;

	for (char **w = words; *w && !ret; w++) {
		if (!**w)
			continue;
		if (n == max)
			ret = error_set(EINVAL, what, "%s: more than %zu names", key, max);
		else
			names[n++] = g_intern_string(*w);
		for (size_t k = 0; !ret && k + 1 < n; k++)
			if (names[k] == names[n - 1])
				ret = error_set(EINVAL, what, "%s: '%s' stands twice", key, *w);
	}
	names[n] = NULL;
	g_strfreev(words);
	return ret;
}

/* "KIND: PORTS". */
static int bind_group(const struct core_desc *d, const char *what, const char *key, char *text, struct core_bind *b)
{
	static const char *const kinds[NR_BIND_KINDS + 1] = {
		[BIND_COUNT] = "count", [BIND_ALTERNATE] = "alternate", [BIND_SPREAD] = "spread",
		[BIND_TURN] = "turn", [BIND_PAIR] = "pair",
	};
	static const char form[] =
		"write it as KIND: PORTS; ..., KIND one of: count alternate spread turn pair; PORTS names, or all";
	char *colon = strchr(text, ':'), *unknown;
	int64_t ports;

	if (!colon) {
		error_set(EINVAL, what, "%s: '%s' names no kind", key, text);
		error_remedy("%s", form);
		return -EINVAL;
	}
	*colon = '\0';
	g_strchomp(text);
	b->kind = 0;
	while (kinds[b->kind] && strcmp(kinds[b->kind], text))
		b->kind++;
	if (!kinds[b->kind]) {
		error_set(EINVAL, what, "%s: there is no kind '%s'", key, text);
		error_remedy("%s", form);
		return -EINVAL;
	}
	if (!strcmp(g_strchug(colon + 1), "all")) {
		ports = 0;
		for (unsigned i = 0; d->port_names[i]; i++)
			ports |= INT64_C(1) << i;
	} else if (!port_set(d, colon + 1, &ports, &unknown)) {
		return not_a_port(d, what, key, unknown);
	}
	if (!ports)
		return error_set(EINVAL, what, "%s: '%s' has no ports", key, text);
	if (b->kind == BIND_ALTERNATE && __builtin_popcountll((uint64_t)ports) != 2)
		return error_set(EINVAL, what, "%s: two ports alternate, not '%s'", key, colon + 1);
	if (b->kind == BIND_PAIR && __builtin_popcountll((uint64_t)ports) % 2) {
		error_set(EINVAL, what, "%s: '%s' is an odd number of ports, which makes no pairs", key, colon + 1);
		error_remedy("in the order of core.ports, the first half of them is paired with the second");
		return -EINVAL;
	}
	b->ports = (uint16_t)ports;
	return 0;
}

static int bind_list(struct core_desc *d, const char *what, const char *key, const char *text)
{
	char **groups = g_strsplit(strcmp(text, "none") ? text : "", ";", -1);
	int ret = 0;

	d->nr_binds = 0;
	for (char **g = groups; *g && !ret; g++) {
		if (!*g_strstrip(*g))
			continue;
		if (d->nr_binds == CORE_BINDS)
			ret = error_set(EINVAL, what, "%s: more than %d groups", key, CORE_BINDS);
		else
			ret = bind_group(d, what, key, *g, &d->binds[d->nr_binds++]);
	}
	g_strfreev(groups);
	return ret;
}

static int check_choice(const char *what, const char *key, const char *text)
{
	for (size_t c = 0; c < G_N_ELEMENTS(choices); c++) {
		char **words;
		bool found;

		if (strcmp(choices[c].name, key))
			continue;
		words = g_strsplit(choices[c].words, " ", -1);
		found = g_strv_contains((const char *const *)words, text);
		g_strfreev(words);
		if (found)
			return 0;
		error_set(EINVAL, what, "%s: there is no '%s'", key, text);
		error_remedy("it can be one of: %s", choices[c].words);
		return -EINVAL;
	}
	return 0;
}

static void remove_spaces(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = '\0';
}

int string_parse(struct core_desc *d, int i, const char *what, const char *text)
{
	const struct core_string *s = &core_strings[i];
	int ret = check_choice(what, s->name, text);

	if (ret)
		return ret;
	if (strlen(text) >= CORE_TEXT)
		return error_set(EINVAL, what, "%s: longer than %d bytes", s->name, CORE_TEXT - 1);
	strcpy((char *)d + s->offset, text);
	if (s->offset == offsetof(struct core_desc, qemu_cpu))
		remove_spaces(d->qemu_cpu);  /* of continued lines; QEMU's names and features have none */
	if (s->offset == offsetof(struct core_desc, ports))
		return name_list(what, s->name, text, d->port_names, CORE_PORTS);
	if (s->offset == offsetof(struct core_desc, units))
		return name_list(what, s->name, text, d->unit_names, CORE_UNITS);
	if (s->offset == offsetof(struct core_desc, bind))
		return bind_list(d, what, s->name, text);
	return 0;
}

/* Splits "name=value" at the first '='; the two halves go with g_free(*name). */
static int split(const char *what, const char *assignment, const char *form, char **name, char **value)
{
	const char *eq = strchr(assignment, '=');

	if (!eq || eq == assignment || !eq[1]) {
		error_set(EINVAL, what, "not an assignment");
		error_remedy("write it as %s", form);
		error_status(EXIT_USAGE);
		return -EINVAL;
	}
	*name = g_strdup(assignment);
	(*name)[eq - assignment] = '\0';
	*value = *name + (eq - assignment) + 1;
	return 0;
}

int core_desc_set(struct core_desc *d, const char *assignment)
{
	char *what = g_strdup_printf("--set %s", assignment), *name = NULL, *value;
	int ret = split(what, assignment, "--set GROUP.NAME=VALUE", &name, &value), i;

	if (ret)
		goto out;
	if (g_str_has_prefix(name, "core.") && string_index(name) >= 0) {
		ret = error_set(EINVAL, what, "%s says which core this is, and cannot be set", name);
		error_remedy("write a core description that inherits from '%s', and give its path to --core", d->name);
	} else if ((i = param_index(name)) >= 0) {
		ret = param_parse(d, i, what, value);
		if (!ret)
			d->given[i] = g_intern_string(what);
	} else if ((i = string_index(name)) >= 0) {
		ret = string_parse(d, i, what, value);
		if (!ret)
			d->given[NR_CORE_PARAMS + i] = g_intern_string(what);
	} else {
		ret = param_unknown(what, name);
	}
	if (ret)
		error_status(EXIT_USAGE);
out:
	g_free(name);
	g_free(what);
	return ret;
}

int core_desc_scale(struct core_desc *d, const char *assignment)
{
	char *what = g_strdup_printf("--scale %s", assignment), *name = NULL, *value, *end;
	int ret = split(what, assignment, "--scale GROUP.NAME=FACTOR", &name, &value), i;
	double factor, scaled;

	if (ret)
		goto out;
	factor = g_ascii_strtod(value, &end);
	i = param_index(name);
	if (i < 0 && string_index(name) >= 0) {
		ret = error_set(EINVAL, what, "%s is not a number, and cannot be scaled", name);
	} else if (i < 0) {
		ret = param_unknown(what, name);
	} else if (!strcmp(core_params[i].unit, "ports") || g_str_has_prefix(core_params[i].unit, "0/1")) {
		ret = error_set(EINVAL, what, "%s is not a quantity, and cannot be scaled", name);
		error_remedy("use --set");
	} else if (end == value || *end || !isfinite(factor) || factor < 0) {
		ret = error_set(EINVAL, what, "'%s' is not a factor", value);
		error_remedy("give a number from 0 up, such as 0.5");
	} else {
		scaled = round(*param_value(d, i) * factor);
		scaled = fmin(fmax(scaled, core_params[i].min), core_params[i].max);
		*param_value(d, i) = (int32_t)scaled;
		d->given[i] = g_intern_string(what);
	}
	if (ret)
		error_status(EXIT_USAGE);
out:
	g_free(name);
	g_free(what);
	return ret;
}

static int ideal_part(struct core_desc *d, const char *parts, const char *part)
{
	struct nearest n = { .name = part };
	GString *all;

	for (int i = 0; i < NR_CORE_IDEALS; i++) {
		if (!strcmp(core_ideals[i].name, part)) {
			*(bool *)((char *)&d->ideal + core_ideals[i].offset) = true;
			return 0;
		}
		nearest_offer(&n, core_ideals[i].name);
	}
	error_set(EINVAL, "--ideal", "there is no part '%s' in '%s'", part, parts);
	all = g_string_new(NULL);
	for (int i = 0; i < NR_CORE_IDEALS; i++)
		g_string_append_printf(all, "%s%s", i ? ", " : "", core_ideals[i].name);
	if (n.best)
		error_remedy("did you mean '%s'? The parts are: %s", n.best, all->str);
	else
		error_remedy("the parts are: %s", all->str);
	error_status(EXIT_USAGE);
	g_string_free(all, TRUE);
	return -EINVAL;
}

int core_desc_ideal(struct core_desc *d, const char *parts)
{
	struct core_ideal before = d->ideal;
	char **words = g_strsplit(parts, ",", -1);
	int ret = 0;

	if (!*words)
		ret = ideal_part(d, parts, "");
	for (char **w = words; *w && !ret; w++)
		ret = ideal_part(d, parts, *w);
	if (ret)
		d->ideal = before;
	g_strfreev(words);
	return ret;
}

const char *ports_name(const struct core_desc *d, uint16_t ports, char *buf)
{
	const char *prefix = NULL;
	size_t letters = 0, at = 0;
	bool brief = true;

	for (unsigned i = 0; i < CORE_PORTS && d->port_names[i]; i++) {
		const char *name = d->port_names[i];
		size_t n = strlen(name);

		if (!(ports >> i & 1))
			continue;
		if (!prefix) {
			prefix = name;
			letters = n ? n - 1 : 0;
		}
		brief = brief && n == letters + 1 && !strncmp(name, prefix, letters) && name[n - 1] >= '0' &&
		        name[n - 1] <= '9';
	}
	buf[0] = '\0';
	for (unsigned i = 0; i < CORE_PORTS; i++) {
		char number[8];
		const char *name = d->port_names[i];

		if (!(ports >> i & 1))
			continue;
		if (!name) {
			snprintf(number, sizeof number, "%u", i);
			name = number;
		}
		at += (size_t)snprintf(buf + at, 128 - at, "%s%s", brief || !at ? "" : "|",
		                       brief && at ? name + letters : name);
		if (at >= 128)
			break;
	}
	return buf;
}

int core_desc_power_of_two(const struct core_desc *d, const char *param, int32_t value)
{
	if (!(value & (value - 1)))
		return 0;
	error_set(EINVAL, d->name, "%s is %d, which is no power of two", param, value);
	error_remedy("choose 16, 32 or another power of two");
	return -EINVAL;
}

struct core_scheduler core_desc_scheduler(const struct core_desc *d, unsigned s)
{
#define X(n) { d->sched##n##_entries, d->sched##n##_ports }
	return (const struct core_scheduler[CORE_SCHEDULERS]){ X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7) }[s];
#undef X
}

uint16_t core_desc_with_twins(const struct core_desc *d, uint16_t ports)
{
	uint16_t all = ports;

	for (unsigned i = 0; i < CORE_PORTS; i++)
		if (ports >> i & 1 && d->port_twin[i])
			all |= (uint16_t)(1u << d->port_twin[i]);
	return all;
}

bool core_desc_idealise(struct core_desc *d, const struct core_ideal *more)
{
	bool changed = false;

	for (int i = 0; i < NR_CORE_IDEALS; i++) {
		bool *part = (bool *)((char *)&d->ideal + core_ideals[i].offset);

		changed |= !*part && *(const bool *)((const char *)more + core_ideals[i].offset);
		*part |= *(const bool *)((const char *)more + core_ideals[i].offset);
	}
	return changed;
}

const char *core_desc_source(const struct core_desc *d, const char *param)
{
	int i = param_index(param);

	if (i >= 0)
		return d->given[i];
	i = string_index(param);
	return i >= 0 ? d->given[NR_CORE_PARAMS + i] : NULL;
}

const char *core_default_name(const char *isa)
{
	static const struct {
		const char *isa, *core;
	} defaults[] = {
		{ "x86-64", "skylake-sp" },
		{ "aarch64", "cortex-a72" },
		{ "riscv64", "boom" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(defaults); i++)
		if (!strcmp(defaults[i].isa, isa))
			return defaults[i].core;
	return NULL;
}
