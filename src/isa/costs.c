/*
 * Reader of cost files; costs.h has the format. Its place: beside LLVM's figures, before lower.c joins the two.
 *
 * GKeyFile reads much the same, but neither keeps the order of equal sections nor tells the line of an error.
 */
#include "isa/costs.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

struct resource_line {
	char *name;
	uint16_t ports;
	uint8_t unit;
};

struct section {
	char **patterns;           /* `!pattern` excludes */
	struct cost cost;
	unsigned line;
	bool has_source;
};

struct costs {
	const char *const *ports, *const *units;
	GArray *resources;         /* struct resource_line */
	GPtrArray *sections;       /* struct section *, in order of the file */
	GPtrArray *uops;           /* struct uop[], owned */
	struct cost_core core;
};

enum where { NOWHERE, IN_PORTS, IN_UNITS, IN_CORE, IN_FORMS };
enum { MAX_PARENTS = 8, MAX_FILE = 4 << 20 };

struct reader {
	struct costs *costs;
	const char *path;
	unsigned line;
	unsigned column;           /* of what the next complaint is about; 0: the whole line */
	unsigned parents;          /* files that this one stands under, by `inherit` */
	enum where where;
	bool has_parent;           /* an `inherit` of this file was there */
	bool has_ports;            /* a [ports] of this file was there: another adds to it */
	struct section *section;
};

__attribute__((format(printf, 2, 3)))
static int complain(const struct reader *r, const char *format, ...)
{
	char column[16] = "";

	if (r->column)
		g_snprintf(column, sizeof column, ":%u", r->column);
	char *what = g_strdup_printf("%s:%u%s", r->path, r->line, column);
	va_list ap;

	va_start(ap, format);
	char *why = g_strdup_vprintf(format, ap);
	va_end(ap);
	int ret = error_set(EINVAL, what, "%s", why);
	g_free(what);
	g_free(why);
	return ret;
}

static int name_index(const char *const *names, const char *name, size_t length)
{
	for (int i = 0; names && names[i]; i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return i;
	return -1;
}

/* "p23": the letters, then a digit for each port. */
static bool digits_set(const struct costs *c, const char *text, size_t length, uint16_t *set)
{
	size_t letters = 0;
	char name[32];

	while (letters < length && !g_ascii_isdigit(text[letters]))
		letters++;
	if (letters == length || letters + 2 > sizeof name)
		return false;
	memcpy(name, text, letters);
	for (size_t i = letters; i < length; i++) {
		if (!g_ascii_isdigit(text[i]))
			return false;
		name[letters] = text[i];
		int port = name_index(c->ports, name, letters + 1);
		if (port < 0)
			return false;
		*set = (uint16_t)(*set | 1u << port);
	}
	return true;
}

static int read_set(const struct reader *r, const char *text, size_t length, uint16_t *set)
{
	const char *end = text + length;

	*set = 0;
	if (length == 4 && memcmp(text, "none", 4) == 0)
		return 0;
	while (text < end) {
		const char *bar = memchr(text, '|', (size_t)(end - text));
		size_t n = (size_t)((bar ? bar : end) - text);
		int port = name_index(r->costs->ports, text, n);
		if (port >= 0)
			*set = (uint16_t)(*set | 1u << port);
		else if (!digits_set(r->costs, text, n, set) && !r->parents)
			return complain(r, "no port or port set is called '%.*s'", (int)n, text);
		text += n + (bar != NULL);
	}
	return *set || r->parents ? 0 : complain(r, "an empty port set");
}

static int read_number(const struct reader *r, const char *text, const char **end, unsigned max, unsigned *value)
{
	char *stop = (char *)text;
	unsigned long n = 0;

	errno = 0;
	if (g_ascii_isdigit(*text))
		n = strtoul(text, &stop, 10);
	if (stop == text || errno || n > max)
		return complain(r, "'%s' does not begin with a number from 0 to %u", text, max);
	*end = stop;
	*value = (unsigned)n;
	return 0;
}

static int read_whole(const struct reader *r, const char *text, unsigned max, uint8_t *value)
{
	unsigned n;
	const char *end;
	int ret = read_number(r, text, &end, max, &n);

	if (ret)
		return ret;
	if (*end)
		return complain(r, "'%s' is not a number", text);
	*value = (uint8_t)n;
	return 0;
}

static int read_list(const struct reader *r, const char *text, uint8_t *values, unsigned max_values, uint8_t *nr)
{
	char **words = g_strsplit_set(text, " \t", -1);
	int ret = 0;

	*nr = 0;
	for (char **w = words; *w && !ret; w++) {
		if (!**w)
			continue;
		if (*nr == max_values)
			ret = complain(r, "more than %u values", max_values);
		else
			ret = read_whole(r, *w, 127, &values[(*nr)++]);
	}
	g_strfreev(words);
	return ret;
}

/* One word of `uops`: [n*]PORTS[:latency][/unit*busy], appended n times. */
static int read_uop(const struct reader *r, const char *word, struct cost *cost, GArray *uops, unsigned stage)
{
	struct uop u = { .kind = UOP_COMPUTE, .stage = (uint8_t)stage };
	unsigned n = 1, value;
	const char *text = word, *end;
	int ret;

	if (g_ascii_isdigit(*text)) {
		ret = read_number(r, text, &end, 255, &n);
		if (ret)
			return ret;
		if (*end != '*')
			return complain(r, "'%s': a port set, or a number and '*', is expected", word);
		text = end + 1;
	}
	ret = read_set(r, text, strcspn(text, ":/"), &u.ports);
	if (ret)
		return ret;
	text += strcspn(text, ":/");
	if (*text == ':') {
		ret = read_number(r, text + 1, &end, 255, &value);
		if (ret)
			return ret;
		u.latency = (uint8_t)value;
		cost->staged = true;
		text = end;
	}
	if (*text == '/') {
		size_t length = strcspn(text + 1, "*");
		int unit = name_index(r->costs->units, text + 1, length);
		if (unit < 0)
			return complain(r, "no unit is called '%.*s'", (int)length, text + 1);
		if (text[1 + length] != '*')
			return complain(r, "'%s': '*' and the cycles the unit is held are expected", word);
		ret = read_number(r, text + 1 + length + 1, &end, 65535, &value);
		if (ret)
			return ret;
		u.unit = (uint8_t)(unit + 1);
		u.busy = (uint16_t)value;
		text = end;
	}
	if (*text)
		return complain(r, "'%s': what is '%s'?", word, text);
	if (uops->len + n > 255)
		return complain(r, "more than 255 uops");
	for (unsigned i = 0; i < n; i++)
		g_array_append_val(uops, u);
	return 0;
}

static int read_uops(const struct reader *r, const char *text, struct cost *cost)
{
	GArray *uops = g_array_new(FALSE, FALSE, sizeof(struct uop));
	char **words = g_strsplit_set(text, " \t", -1);
	unsigned stage = 0;
	int ret = 0;

	cost->staged = false;
	for (char **w = words; *w && !ret; w++) {
		if (strcmp(*w, ">") == 0) {
			stage++;
			cost->staged = true;
		} else if (**w && (strcmp(*w, "none") || uops->len)) {
			ret = read_uop(r, *w, cost, uops, stage);
		}
	}
	g_strfreev(words);
	cost->nr_uops = (uint8_t)uops->len;
	cost->uops = (struct uop *)(void *)g_array_free(uops, FALSE);
	g_ptr_array_add(r->costs->uops, (gpointer)cost->uops);
	return ret;
}

static const struct {
	const char *name;
	uint32_t flag;
} flag_names[] = {
	{ "load", INSN_LOAD }, { "store", INSN_STORE }, { "prefetch", INSN_PREFETCH }, { "locked", INSN_LOCKED },
	{ "acquire", INSN_ACQUIRE }, { "release", INSN_RELEASE }, { "fence", INSN_FENCE },
	{ "serialize", INSN_SERIALIZE },
	{ "dispatch_serialize", INSN_DISPATCH_SERIALIZE }, { "flush", INSN_FLUSH }, { "syscall", INSN_SYSCALL },
	{ "nop", INSN_NOP }, { "zero", INSN_ZERO }, { "move", INSN_MOVE }, { "microcoded", INSN_MICROCODED },
	{ "complex", INSN_COMPLEX }, { "fp", INSN_FP }, { "vint", INSN_VINT }, { "wide", INSN_WIDE },
	{ "long", INSN_LONG },
	{ "unmodelled", INSN_UNMODELLED }, { "leaf_result", INSN_LEAF_RESULT },
};

static int read_flags(const struct reader *r, const char *text, struct cost *cost)
{
	char **words = g_strsplit_set(text, " \t", -1);
	int ret = 0;

	for (char **w = words; *w && !ret; w++) {
		bool off = **w == '-';
		unsigned i;
		if (!**w)
			continue;
		for (i = 0; i < G_N_ELEMENTS(flag_names); i++)
			if (strcmp(*w + off, flag_names[i].name) == 0)
				break;
		if (i == G_N_ELEMENTS(flag_names))
			ret = complain(r, "no flag is called '%s'", *w + off);
		else if (off)
			cost->flags_off |= flag_names[i].flag;
		else
			cost->flags_on |= flag_names[i].flag;
	}
	g_strfreev(words);
	return ret;
}

static int read_form_key(const struct reader *r, const char *key, const char *value)
{
	struct cost *c = &r->section->cost;
	const struct {
		const char *key;
		unsigned bit;
		uint8_t *to;
		unsigned max;
	} numbers[] = {
		{ "latency", COST_LATENCY, &c->latency, 255 }, { "loads", COST_LOADS, &c->loads, 255 },
		{ "stores", COST_STORES, &c->stores, 255 }, { "slots", COST_SLOTS, &c->slots, 255 },
		{ "indexed_slots", COST_INDEXED_SLOTS, &c->indexed_slots, 255 },
		{ "decode", COST_DECODE, &c->decode, 255 },
		{ "indexed_decode", COST_INDEXED_DECODE, &c->indexed_decode, 255 },
		{ "load_extra", COST_LOAD_EXTRA, &c->load_extra, 255 },
		{ "reads_results", COST_READS_RESULTS, &c->reads_results, 255 },
		{ "bypass", COST_BYPASS, &c->bypass, 3 },
		{ "reads_flags", COST_READS_FLAGS, &c->reads_flags, 1 },
		{ "ends_dispatch", COST_ENDS_DISPATCH, &c->ends_dispatch, 1 }, { "queued", COST_QUEUED, &c->queued, 1 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (strcmp(key, numbers[i].key) == 0) {
			c->set |= numbers[i].bit;
			return read_whole(r, value, numbers[i].max, numbers[i].to);
		}
	if (strcmp(key, "uops") == 0) {
		c->set |= COST_UOPS;
		return read_uops(r, value, c);
	}
	if (strcmp(key, "std") == 0) {
		c->set |= COST_STD;
		c->std_result = strcmp(value, "result") == 0;
		return c->std_result ? 0 : read_set(r, value, strlen(value), &c->std);
	}
	if (strcmp(key, "results") == 0) {
		c->set |= COST_RESULTS;
		return read_list(r, value, c->results, INSN_DSTS, &c->nr_results);
	}
	if (strcmp(key, "late") == 0) {
		c->set |= COST_LATE;
		return read_list(r, value, c->late, INSN_DATAS, &c->nr_late);
	}
	if (strcmp(key, "flags") == 0)
		return read_flags(r, value, c);
	if (strcmp(key, "source") == 0) {
		r->section->has_source = true;
		return *value ? 0 : complain(r, "an empty source");
	}
	return complain(r, "no key is called '%s'", key);
}

static int read_core_key(const struct reader *r, const char *key, const char *value)
{
	struct cost_core *m = &r->costs->core;
	const struct {
		const char *key;
		uint16_t *to;
	} sets[] = {
		{ "load", &m->load }, { "load_vector", &m->load_vector }, { "sta", &m->sta },
		{ "sta_indexed", &m->sta_indexed }, { "std", &m->std },
		{ "wide_closed", &m->wide_closed },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++)
		if (strcmp(key, sets[i].key) == 0)
			return read_set(r, value, strlen(value), sets[i].to);
	if (strcmp(key, "load_latency") == 0)
		return read_whole(r, value, 100, &m->load_latency);
	if (strcmp(key, "placeholder") == 0)
		return read_whole(r, value, 255, &m->placeholder);
	if (strcmp(key, "long_address") == 0)
		return read_whole(r, value, 1, &m->long_address);
	if (strcmp(key, "fusion") == 0)
		return read_whole(r, value, FUSION_ARITHMETIC, &m->fusion);
	return complain(r, "no key of [core] is called '%s'", key);
}

static int read_file(struct reader *r);

/*
 * `inherit`: the file named holds where this one says nothing; its sections come first. One a file: with more, each
 * generation would multiply what is read.
 */
static int read_parent(struct reader *r, const char *name)
{
	if (r->has_parent)
		return complain(r, "a second 'inherit': a file has one parent");
	r->has_parent = true;
	if (r->parents == MAX_PARENTS)
		return complain(r, "inheritance over more than %d files, or in a circle", MAX_PARENTS);
	g_autofree char *beside = g_path_get_dirname(r->path);
	g_autofree char *path = g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(beside, name, NULL);
	struct reader parent = { .costs = r->costs, .path = path, .parents = r->parents + 1 };
	return read_file(&parent);
}

/* Of what stands behind the first '=' of a line as it is in the file; from 1. */
static unsigned value_column(const char *line)
{
	size_t at = strcspn(line, "=");

	at += line[at] == '=';
	return (unsigned)(at + strspn(line + at, " \t")) + 1;
}

static int read_resource(const struct reader *r, const char *name, const char *value)
{
	struct resource_line line = { 0 };

	if (r->where == IN_UNITS) {
		int unit = name_index(r->costs->units, value, strlen(value));
		if (unit < 0)
			return complain(r, "no unit is called '%s'", value);
		line.unit = (uint8_t)(unit + 1);
	} else {
		char **words = g_strsplit_set(value, " \t", -1);
		int ret = 0;
		for (char **w = words; *w && !ret; w++) {
			uint16_t set = 0;
			if (**w)
				ret = read_set(r, *w, strlen(*w), &set);
			line.ports |= set;
		}
		g_strfreev(words);
		if (ret)
			return ret;
	}
	line.name = g_strdup(name);
	g_array_append_val(r->costs->resources, line);
	return 0;
}

static int finish_section(const struct reader *r)
{
	if (r->where != IN_FORMS || r->section->has_source)
		return 0;
	return complain(&(struct reader){ .path = r->path, .line = r->section->line }, "the section says no source");
}

static int begin_section(struct reader *r, char *line)
{
	size_t length = strlen(line);
	int ret = finish_section(r);

	if (ret)
		return ret;
	if (line[length - 1] != ']')
		return complain(r, "']' is missing");
	line[length - 1] = '\0';
	char *name = g_strstrip(line + 1);
	if (!*name)
		return complain(r, "a section without a name");
	r->where = strcmp(name, "ports") == 0 ? IN_PORTS : strcmp(name, "units") == 0 ? IN_UNITS :
		strcmp(name, "core") == 0 ? IN_CORE : IN_FORMS;
	if (r->where == IN_PORTS && !r->has_ports)
		g_array_set_size(r->costs->resources, 0);
	r->has_ports |= r->where == IN_PORTS;
	if (r->where != IN_FORMS)
		return 0;
	r->section = g_new0(struct section, 1);
	r->section->patterns = g_strsplit_set(name, " \t", -1);
	r->section->line = r->line;
	g_ptr_array_add(r->costs->sections, r->section);
	return 0;
}

static int read_line(struct reader *r, char *line)
{
	unsigned column = value_column(line);

	line = g_strstrip(line);
	r->column = 0;
	if (!*line || *line == '#')
		return 0;
	if (*line == '[')
		return begin_section(r, line);
	char *equals = strchr(line, '=');
	if (!equals)
		return complain(r, "neither a section nor 'key = value'");
	*equals = '\0';
	const char *key = g_strstrip(line), *value = g_strstrip(equals + 1);
	switch (r->where) {
	case IN_PORTS:
	case IN_UNITS:
		return read_resource(r, key, value);
	case IN_CORE:
		return read_core_key(r, key, value);
	case IN_FORMS:
		return read_form_key(r, key, value);
	default:
		if (strcmp(key, "inherit"))
			return complain(r, "a key outside of any section");
		r->column = column;
		return read_parent(r, value);
	}
}

static int read_file(struct reader *r)
{
	char *text;
	size_t length;
	int ret = file_read_text(&text, &length, r->path, MAX_FILE);

	if (ret)
		return ret;
	char **lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && !ret; ) {
		GString *whole = g_string_new(*line++);
		unsigned more = 0;

		for (; *line && **line == '\t'; line++, more++)
			g_string_append_printf(whole, " %s", *line + 1);
		r->line++;
		ret = read_line(r, whole->str);
		r->line += more;
		g_string_free(whole, TRUE);
	}
	if (!ret)
		ret = finish_section(r);
	g_strfreev(lines);
	free(text);
	return ret;
}

static void free_section(gpointer p)
{
	struct section *s = p;
	g_strfreev(s->patterns);
	g_free(s);
}

static void clear_resource(gpointer p)
{
	g_free(((struct resource_line *)p)->name);
}

int costs_new(struct costs **out, const char *path, const char *const *ports, const char *const *units)
{
	struct costs *c = g_new0(struct costs, 1);
	struct reader r = { .costs = c, .path = path };
	int ret = 0;

	c->ports = ports;
	c->units = units;
	c->resources = g_array_new(FALSE, TRUE, sizeof(struct resource_line));
	g_array_set_clear_func(c->resources, clear_resource);
	c->sections = g_ptr_array_new_with_free_func(free_section);
	c->uops = g_ptr_array_new_with_free_func(g_free);
	if (path)
		ret = read_file(&r);
	if (ret) {
		costs_free(c);
		c = NULL;
	}
	*out = c;
	return ret;
}

void costs_free(struct costs *c)
{
	if (!c)
		return;
	g_array_free(c->resources, TRUE);
	g_ptr_array_free(c->sections, TRUE);
	g_ptr_array_free(c->uops, TRUE);
	g_free(c);
}

static bool section_matches(const struct section *s, const char *form)
{
	bool matches = false;

	for (char **p = s->patterns; *p; p++) {
		if (**p == '!' && g_pattern_match_simple(*p + 1, form))
			return false;
		matches = matches || (**p && **p != '!' && g_pattern_match_simple(*p, form));
	}
	return matches;
}

static void merge(struct cost *to, const struct cost *from)
{
	if (from->set & COST_UOPS) {
		to->uops = from->uops;
		to->nr_uops = from->nr_uops;
		to->staged = from->staged;
	}
	if (from->set & COST_RESULTS) {
		memcpy(to->results, from->results, sizeof to->results);
		to->nr_results = from->nr_results;
	}
	if (from->set & COST_LATE) {
		memcpy(to->late, from->late, sizeof to->late);
		to->nr_late = from->nr_late;
	}
	if (from->set & COST_STD) {
		to->std = from->std_result ? 0 : from->std;
		to->std_result = from->std_result;
	}
	if (from->set & COST_LATENCY)
		to->latency = from->latency;
	if (from->set & COST_LOADS)
		to->loads = from->loads;
	if (from->set & COST_STORES)
		to->stores = from->stores;
	if (from->set & COST_SLOTS)
		to->slots = from->slots;
	if (from->set & COST_INDEXED_SLOTS)
		to->indexed_slots = from->indexed_slots;
	if (from->set & COST_DECODE)
		to->decode = from->decode;
	if (from->set & COST_INDEXED_DECODE)
		to->indexed_decode = from->indexed_decode;
	if (from->set & COST_LOAD_EXTRA)
		to->load_extra = from->load_extra;
	if (from->set & COST_READS_RESULTS)
		to->reads_results = from->reads_results;
	if (from->set & COST_BYPASS)
		to->bypass = from->bypass;
	if (from->set & COST_ENDS_DISPATCH)
		to->ends_dispatch = from->ends_dispatch;
	if (from->set & COST_QUEUED)
		to->queued = from->queued;
	if (from->set & COST_READS_FLAGS)
		to->reads_flags = from->reads_flags;
	to->set |= from->set;
	to->flags_on = (to->flags_on & ~from->flags_off) | from->flags_on;
	to->flags_off = (to->flags_off & ~from->flags_on) | from->flags_off;
}

void costs_find(const struct costs *c, const char *form, struct cost *out)
{
	*out = (struct cost){ 0 };
	for (unsigned i = 0; i < c->sections->len; i++) {
		const struct section *s = g_ptr_array_index(c->sections, i);
		if (section_matches(s, form))
			merge(out, &s->cost);
	}
}

void costs_resource(const struct costs *c, const char *resource, uint16_t *ports, uint8_t *unit)
{
	*ports = 0;
	*unit = 0;
	for (unsigned i = 0; i < c->resources->len; i++) {
		const struct resource_line *line = &g_array_index(c->resources, struct resource_line, i);
		if (strcmp(line->name, resource) == 0) {
			*ports |= line->ports;
			*unit = line->unit ? line->unit : *unit;
		}
	}
}

unsigned costs_port_sets(const struct costs *c, uint16_t *sets, unsigned max)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < c->resources->len && nr < max; i++) {
		uint16_t ports = g_array_index(c->resources, struct resource_line, i).ports;
		bool known = !ports;

		for (unsigned k = 0; k < nr && !known; k++)
			known = sets[k] == ports;
		if (!known)
			sets[nr++] = ports;
	}
	return nr;
}

const struct cost_core *costs_core(const struct costs *c)
{
	return &c->core;
}
