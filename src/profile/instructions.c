/*
 * Names the instructions of a checkpoint: where each came from, its function, line, inline chain and text.
 *
 * Resolving is the costly part and is done once an instruction, whatever the number of checkpoints. Code of
 * files stays what it is; names of JIT code are looked up anew each time, because the program writes its perf
 * map while it runs. Numbers of modules, functions and sources are given anew at each checkpoint, by sorting:
 * they depend on which instructions ran, not on the order in which they were met.
 *
 * Not modelled: a file that changes while it runs; several functions that a JIT put at one address one after
 * the other (the newest names all).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/code.h"
#include "profile/private.h"
#include "profile/profile.h"
#include "source/maps.h"
#include "symbol/symbol.h"

/* Indices into the arrays of `struct naming` are 1-based where 0 means none. */
struct named {
	uint64_t address;          /* the module's own; the run's where there is none */
	const char *text;
	uint32_t module;           /* of maps, or MODULE_NONE */
	uint32_t function, source; /* 1-based */
	uint32_t line;
	uint32_t frame;            /* first of its inline chain in `frames` */
	uint32_t nr_frames;
};

struct named_function {
	const char *symbol, *linkage;
	uint64_t start, size;
	uint32_t module, source, line;
	uint32_t id;               /* in this checkpoint; 0: not in it */
};

struct named_source {
	const char *path;
	uint32_t id;
};

struct named_frame {
	const char *symbol;
	uint32_t source, line;
};

struct named_module {
	const char *path, *build_id;
	int file;                  /* of `symbols`; negative: cannot be read */
	bool opened;
	uint32_t id;
};

struct naming {
	struct symbols *symbols;
	GArray *by_insn;           /* uint32_t [number of the instruction]: 1-based index into `insns` */
	GArray *insns;             /* struct named */
	GArray *functions, *sources, *frames, *modules;
	GHashTable *by_function;   /* struct named_function * (own key copies) -> 1-based index */
	GHashTable *by_source;     /* path -> 1-based index */
	GStringChunk *strings;
};

static guint function_hash(gconstpointer key)
{
	const struct named_function *f = key;

	return (guint)(f->start * 0x9e3779b97f4a7c15u >> 32) ^ f->module * 0x85ebca6bu;
}

static gboolean function_equal(gconstpointer a, gconstpointer b)
{
	const struct named_function *f = a, *g = b;

	return f->start == g->start && f->module == g->module && !strcmp(f->linkage, g->linkage);
}

static int naming_new(struct naming **out)
{
	struct naming *n = g_new0(struct naming, 1);
	int err = symbols_new(&n->symbols);

	if (err) {
		g_free(n);
		return err;
	}
	n->by_insn = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	n->insns = g_array_new(FALSE, FALSE, sizeof(struct named));
	n->functions = g_array_new(FALSE, FALSE, sizeof(struct named_function));
	n->sources = g_array_new(FALSE, FALSE, sizeof(struct named_source));
	n->frames = g_array_new(FALSE, FALSE, sizeof(struct named_frame));
	n->modules = g_array_new(FALSE, TRUE, sizeof(struct named_module));
	n->by_function = g_hash_table_new_full(function_hash, function_equal, g_free, NULL);
	n->by_source = g_hash_table_new(g_str_hash, g_str_equal);
	n->strings = g_string_chunk_new(1 << 16);
	*out = n;
	return 0;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	symbols_free(n->symbols);
	g_array_free(n->by_insn, TRUE);
	g_hash_table_destroy(n->by_function);
	g_hash_table_destroy(n->by_source);
	g_array_free(n->insns, TRUE);
	g_array_free(n->functions, TRUE);
	g_array_free(n->sources, TRUE);
	g_array_free(n->frames, TRUE);
	g_array_free(n->modules, TRUE);
	g_string_chunk_free(n->strings);
	g_free(n);
}

static struct named_module *module_at(struct naming *n, const struct maps *maps, uint32_t module)
{
	struct named_module *m;

	if (module >= n->modules->len)
		g_array_set_size(n->modules, module + 1);
	m = &g_array_index(n->modules, struct named_module, module);
	if (!m->opened) {
		m->opened = true;
		m->path = g_string_chunk_insert_const(n->strings, maps_path(maps, module));
		m->file = symbols_open(n->symbols, m->path);
		m->build_id = m->file >= 0 ? symbols_build_id(n->symbols, m->file) : "";
	}
	return m;
}

static uint32_t source_number(struct naming *n, const char *path)
{
	struct named_source source = { 0 };
	uint32_t found;

	if (!path)
		return 0;
	found = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_source, path));
	if (found)
		return found;
	source.path = g_string_chunk_insert_const(n->strings, path);
	g_array_append_val(n->sources, source);
	g_hash_table_insert(n->by_source, (gpointer)source.path, GUINT_TO_POINTER(n->sources->len));
	return n->sources->len;
}

/* The number of the function whose module, start, size and names are set. A new one gets its own line from `file`. */
static uint32_t function_number(struct naming *n, const struct named_function *key, int file)
{
	struct named_function f = *key;
	struct place first;
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_function, &f));

	if (found)
		return found;
	f.symbol = g_string_chunk_insert_const(n->strings, f.symbol);
	f.linkage = g_string_chunk_insert_const(n->strings, f.linkage);
	if (file >= 0 && symbols_place(n->symbols, file, f.start, &first)) {
		f.source = source_number(n, first.file);
		f.line = first.line;
	}
	g_array_append_val(n->functions, f);
	g_hash_table_insert(n->by_function, g_memdup2(&f, sizeof(f)), GUINT_TO_POINTER(n->functions->len));
	return n->functions->len;
}

static void name_in_file(struct naming *n, struct named *insn, int file)
{
	struct named_function key = { .module = insn->module };
	struct named_frame frame;
	struct place place;

	if (!symbols_place(n->symbols, file, insn->address, &place))
		return;
	insn->source = source_number(n, place.file);
	insn->line = place.line;
	insn->frame = n->frames->len;
	insn->nr_frames = place.nr_inlined;
	for (uint32_t i = 0; i < place.nr_inlined; i++) {
		frame.symbol = place.inlined[i].symbol;
		frame.source = source_number(n, place.inlined[i].file);
		frame.line = place.inlined[i].line;
		g_array_append_val(n->frames, frame);
	}
	if (place.symbol) {
		key.symbol = place.symbol;
		key.linkage = place.linkage;
		key.start = place.start;
		key.size = place.size;
		insn->function = function_number(n, &key, file);
	}
}

static void put_target(char *text, size_t size, const char *symbol, uint64_t offset)
{
	if (offset)
		snprintf(text, size, " <%s+0x%" PRIx64 ">", symbol, offset);
	else
		snprintf(text, size, " <%s>", symbol);
}

/* The text with the branch target in the file's own addresses and, as objdump has it, by name. */
static void put_text(struct naming *n, struct named *insn, struct code *code, uint32_t index, int file)
{
	const struct insn *in = code_insn(code, index);
	uint64_t target = in->target + (insn->address - in->pc);
	struct place place;
	char text[512];
	int at = code_text_at(code, index, insn->address, text, sizeof(text) / 2);

	if (at < 0 || at >= (int)sizeof(text) / 2)
		at = (int)strlen(text);
	if (in->target && file >= 0 && symbols_place(n->symbols, file, target, &place) && place.symbol)
		put_target(text + at, sizeof(text) - (size_t)at, place.symbol, target - place.start);
	insn->text = g_string_chunk_insert_const(n->strings, text);
}

static void resolve(struct naming *n, struct code *code, const struct maps *maps, uint32_t index)
{
	struct named insn = { .address = code_insn(code, index)->pc };
	struct named_module *m;
	uint64_t offset, address;
	int file = -1;

	insn.module = maps_place(maps, index, &offset);
	if (insn.module != MODULE_NONE) {
		m = module_at(n, maps, insn.module);
		insn.address = offset;
		if (m->file >= 0 && symbols_address(n->symbols, m->file, offset, &address)) {
			insn.address = address;
			file = m->file;
			name_in_file(n, &insn, file);
		}
	}
	put_text(n, &insn, code, index, file);
	g_array_append_val(n->insns, insn);
	if (index >= n->by_insn->len)
		g_array_set_size(n->by_insn, index + 1);
	g_array_index(n->by_insn, uint32_t, index) = n->insns->len;
}

static struct named *named_at(struct naming *n, uint32_t index)
{
	uint32_t at = index < n->by_insn->len ? g_array_index(n->by_insn, uint32_t, index) : 0;

	return at ? &g_array_index(n->insns, struct named, at - 1) : NULL;
}

/* The instructions that have cycles, ascending. */
static int list_insns(struct profile *p, GArray *list)
{
	sqlite3_stmt *s = NULL;
	uint32_t insn;
	int rc = sqlite3_prepare_v2(p->next, "SELECT DISTINCT insn FROM cycles ORDER BY insn", -1, &s, NULL);

	if (rc == SQLITE_OK) {
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			insn = (uint32_t)sqlite3_column_int64(s, 0);
			g_array_append_val(list, insn);
		}
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : profile_failed(p, p->next, rc);
}

/* JIT code: by the perf map as it is now; no map, or another user's: nameless. */
static void name_jit(struct naming *n, const GArray *list, int pid)
{
	struct named_function key = { .module = MODULE_NONE };
	struct perf_map *map = NULL;
	struct named *insn;
	char path[64];

	g_snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	if (pid > 0 && perf_map_load(&map, path))
		map = NULL;
	for (guint i = 0; i < list->len; i++) {
		insn = named_at(n, g_array_index(list, uint32_t, i));
		if (insn->module != MODULE_NONE)
			continue;
		key.symbol = map ? perf_map_find(map, insn->address, &key.start, &key.size) : NULL;
		key.linkage = key.symbol;
		insn->function = key.symbol ? function_number(n, &key, -1) : 0;
	}
	perf_map_free(map);
}

/*
 * Marks what the listed instructions use, with id 1. Sources of functions count as used, too.
 */
static void mark_used(struct naming *n, const GArray *list)
{
	const struct named *insn;
	struct named_function *f;

	for (guint i = 0; i < n->modules->len; i++)
		g_array_index(n->modules, struct named_module, i).id = 0;
	for (guint i = 0; i < n->functions->len; i++)
		g_array_index(n->functions, struct named_function, i).id = 0;
	for (guint i = 0; i < n->sources->len; i++)
		g_array_index(n->sources, struct named_source, i).id = 0;
	for (guint i = 0; i < list->len; i++) {
		insn = named_at(n, g_array_index(list, uint32_t, i));
		if (insn->module != MODULE_NONE)
			g_array_index(n->modules, struct named_module, insn->module).id = 1;
		if (insn->source)
			g_array_index(n->sources, struct named_source, insn->source - 1).id = 1;
		for (uint32_t j = 0; j < insn->nr_frames; j++) {
			uint32_t source = g_array_index(n->frames, struct named_frame, insn->frame + j).source;

			if (source)
				g_array_index(n->sources, struct named_source, source - 1).id = 1;
		}
		if (!insn->function)
			continue;
		f = &g_array_index(n->functions, struct named_function, insn->function - 1);
		f->id = 1;
		if (f->source)
			g_array_index(n->sources, struct named_source, f->source - 1).id = 1;
	}
}

static gint by_module_path(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;

	return strcmp(g_array_index(n->modules, struct named_module, *(const uint32_t *)a).path,
	              g_array_index(n->modules, struct named_module, *(const uint32_t *)b).path);
}

static gint by_source_path(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;

	return strcmp(g_array_index(n->sources, struct named_source, *(const uint32_t *)a).path,
	              g_array_index(n->sources, struct named_source, *(const uint32_t *)b).path);
}

/* A module's place in the order of functions: JIT code comes last. */
static uint32_t module_rank(const struct naming *n, uint32_t module)
{
	return module == MODULE_NONE ? UINT32_MAX : g_array_index(n->modules, struct named_module, module).id;
}

static gint by_function_place(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;
	const struct named_function *f = &g_array_index(n->functions, struct named_function, *(const uint32_t *)a);
	const struct named_function *g = &g_array_index(n->functions, struct named_function, *(const uint32_t *)b);
	uint32_t f_rank = module_rank(n, f->module), g_rank = module_rank(n, g->module);

	if (f_rank != g_rank)
		return f_rank < g_rank ? -1 : 1;
	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	return strcmp(f->linkage, g->linkage);
}

static int bind_number(sqlite3_stmt *s, int column, uint32_t number)
{
	return number ? sqlite3_bind_int64(s, column, number) : sqlite3_bind_null(s, column);
}

static int write_modules(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_module *m;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->modules->len; i++)
		if (g_array_index(n->modules, struct named_module, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_module_path, n);
	s = profile_statement(p, STATEMENT_MODULE);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		m = &g_array_index(n->modules, struct named_module, g_array_index(order, uint32_t, i));
		m->id = i + 1;
		sqlite3_bind_int64(s, 1, m->id);
		sqlite3_bind_text(s, 2, m->path, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, *m->build_id ? m->build_id : NULL, -1, SQLITE_STATIC);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_sources(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_source *source;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->sources->len; i++)
		if (g_array_index(n->sources, struct named_source, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_source_path, n);
	s = profile_statement(p, STATEMENT_SOURCE);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		source = &g_array_index(n->sources, struct named_source, g_array_index(order, uint32_t, i));
		source->id = i + 1;
		sqlite3_bind_int64(s, 1, source->id);
		sqlite3_bind_text(s, 2, source->path, -1, SQLITE_STATIC);
		err = profile_step(p, s);
	}
	return p->error;
}

static uint32_t module_id(const struct naming *n, uint32_t module)
{
	return module == MODULE_NONE ? 0 : g_array_index(n->modules, struct named_module, module).id;
}

static uint32_t source_id(const struct naming *n, uint32_t source)
{
	return source ? g_array_index(n->sources, struct named_source, source - 1).id : 0;
}

static int write_functions(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_function *f;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->functions->len; i++)
		if (g_array_index(n->functions, struct named_function, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_function_place, n);
	s = profile_statement(p, STATEMENT_FUNCTION);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		f = &g_array_index(n->functions, struct named_function, g_array_index(order, uint32_t, i));
		f->id = i + 1;
		sqlite3_bind_int64(s, 1, f->id);
		bind_number(s, 2, module_id(n, f->module));
		sqlite3_bind_text(s, 3, f->symbol, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 4, f->linkage, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 5, (sqlite3_int64)f->start);
		sqlite3_bind_int64(s, 6, (sqlite3_int64)f->size);
		bind_number(s, 7, source_id(n, f->source));
		bind_number(s, 8, f->line);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_chain(struct profile *p, uint32_t index, const struct named *insn)
{
	const struct naming *n = p->naming;
	const struct named_frame *frame;
	sqlite3_stmt *s;
	int err = 0;

	if (!insn->nr_frames)
		return 0;
	s = profile_statement(p, STATEMENT_INLINED);
	for (uint32_t i = 0; s && !err && i < insn->nr_frames; i++) {
		frame = &g_array_index(n->frames, struct named_frame, insn->frame + i);
		sqlite3_bind_int64(s, 1, index);
		sqlite3_bind_int64(s, 2, i);
		sqlite3_bind_text(s, 3, frame->symbol, -1, SQLITE_STATIC);
		bind_number(s, 4, source_id(n, frame->source));
		bind_number(s, 5, frame->line);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_insn(struct profile *p, sqlite3_stmt *s, struct code *code, uint32_t index)
{
	struct naming *n = p->naming;
	const struct named *insn = named_at(n, index);
	const struct named_function *f = NULL;
	const struct insn *facts = code_insn(code, index);
	const char *form = code_form(code, index);
	const uint8_t *bytes;
	size_t size;

	if (insn->function)
		f = &g_array_index(n->functions, struct named_function, insn->function - 1);
	bytes = code_bytes(code, index, &size);
	sqlite3_bind_int64(s, 1, index);
	bind_number(s, 2, module_id(n, insn->module));
	sqlite3_bind_int64(s, 3, (sqlite3_int64)insn->address);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)facts->pc);
	sqlite3_bind_int64(s, 5, facts->length);
	sqlite3_bind_blob(s, 6, bytes, (int)size, SQLITE_STATIC);
	bind_number(s, 7, f ? f->id : 0);
	if (f)
		sqlite3_bind_int64(s, 8, (sqlite3_int64)(insn->address - f->start));
	else
		sqlite3_bind_null(s, 8);
	bind_number(s, 9, source_id(n, insn->source));
	bind_number(s, 10, insn->line);
	sqlite3_bind_text(s, 11, insn->text, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 12, form, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 13, !!(facts->flags & INSN_UNMODELLED));
	return profile_step(p, s);
}

static int write_insns(struct profile *p, struct code *code, const GArray *list)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INSN);
	int err = 0;

	for (guint i = 0; s && !err && i < list->len; i++)
		err = write_insn(p, s, code, g_array_index(list, uint32_t, i));
	for (guint i = 0; !err && i < list->len; i++) {
		uint32_t index = g_array_index(list, uint32_t, i);

		err = write_chain(p, index, named_at(p->naming, index));
	}
	return p->error;
}

int profile_instructions(struct profile *p, struct code *code, const struct maps *maps, int pid)
{
	GArray *list, *order;
	uint32_t index;
	int err = p->error;

	if (!err && !p->naming)
		err = p->error = naming_new(&p->naming);
	if (err)
		return err;
	list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	err = list_insns(p, list);
	for (guint i = 0; !err && i < list->len; i++) {
		index = g_array_index(list, uint32_t, i);
		if (!named_at(p->naming, index))
			resolve(p->naming, code, maps, index);
	}
	if (!err) {
		name_jit(p->naming, list, pid);
		mark_used(p->naming, list);
		err = write_modules(p, order);
	}
	if (!err)
		err = write_sources(p, order);
	if (!err)
		err = write_functions(p, order);
	if (!err)
		err = write_insns(p, code, list);
	g_array_free(list, TRUE);
	g_array_free(order, TRUE);
	return err;
}
