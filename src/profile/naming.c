/*
 * Resolves instructions: where each came from, its function, line, inline chain and text.
 *
 * That is the costly part and is done once an instruction, whatever the number of checkpoints. Code of files stays
 * what it is; names of JIT code are looked up anew each time, because the program writes its perf map while it runs.
 *
 * Files are those that were mapped, whatever is at their path by now; what was executed of one that was written to in
 * its place has no names. Not modelled: several functions that a JIT put at one address one after the
 * other (the newest names all).
 */
#include "profile/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

enum { MOST_SOURCE = 64 << 20 };   /* bytes of a source that is looked at */

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

static guint inline_hash(gconstpointer key)
{
	const struct named_inline *f = key;

	return g_str_hash(f->linkage) ^ f->module * 0x85ebca6bu ^ f->source * 0x9e3779b1u ^ f->line * 0xc2b2ae35u;
}

static gboolean inline_equal(gconstpointer a, gconstpointer b)
{
	const struct named_inline *f = a, *g = b;

	return f->module == g->module && f->source == g->source && f->line == g->line &&
	       !strcmp(f->linkage, g->linkage);
}

int naming_new(struct naming **out)
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
	n->inlines = g_array_new(FALSE, FALSE, sizeof(struct named_inline));
	n->by_inline = g_hash_table_new_full(inline_hash, inline_equal, g_free, NULL);
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
	g_array_free(n->inlines, TRUE);
	g_hash_table_destroy(n->by_inline);
	g_string_chunk_free(n->strings);
	g_free(n->jit_note);
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
		m->file = maps_open(maps, module, n->symbols);
		m->build_id = m->file >= 0 ? symbols_build_id(n->symbols, m->file) : "";
		m->identity = m->file >= 0 ? symbols_identity(n->symbols, m->file) : "";
	}
	return m;
}

void naming_check(struct naming *n, const struct maps *maps)
{
	for (uint32_t i = 0; i < n->modules->len; i++) {
		struct named_module *m = &g_array_index(n->modules, struct named_module, i);

		if (m->opened && m->file >= 0 && maps_changed(maps, i))
			m->file = -1;
	}
}

/* What its text was when it was compiled or, as far as that is not known, is now, for a view to compare. */
static void read_source(struct naming *n, struct named_source *source, int file)
{
	const char *compiled = symbols_source_md5(n->symbols, file, source->path);
	struct stat st;
	int fd = compiled ? -1 : file_open(source->path, 0, MOST_SOURCE, &st);
	int64_t written;           /* ns */
	size_t size;
	char *text;

	source->md5 = compiled ? g_string_chunk_insert(n->strings, compiled) : NULL;
	if (fd < 0)
		return;
	if (!file_read_open(&text, &size, fd, source->path, MOST_SOURCE)) {
		g_autofree char *md5 = g_compute_checksum_for_data(G_CHECKSUM_MD5, (const guchar *)text, size);

		source->md5 = g_string_chunk_insert(n->strings, md5);
		written = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		source->newer = written > symbols_written(n->symbols, file);
		free(text);
	}
	close(fd);
}

/* The number of a source that `file` (of symbols) names; 0: `path` is NULL. */
static uint32_t source_number(struct naming *n, const char *path, int file)
{
	struct named_source source = { 0 };
	uint32_t found;

	if (!path)
		return 0;
	found = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_source, path));
	if (found)
		return found;
	source.path = g_string_chunk_insert_const(n->strings, path);
	read_source(n, &source, file);
	g_array_append_val(n->sources, source);
	g_hash_table_insert(n->by_source, (gpointer)source.path, GUINT_TO_POINTER(n->sources->len));
	return n->sources->len;
}

/* The number of the function whose module, start, size and names are set; where a new one is declared, `file` says. */
static uint32_t function_number(struct naming *n, const struct named_function *key, int file)
{
	struct named_function f = *key;
	const char *source;
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_function, &f));

	if (found)
		return found;
	f.symbol = g_string_chunk_insert_const(n->strings, f.symbol);
	f.linkage = g_string_chunk_insert_const(n->strings, f.linkage);
	if (file >= 0 && symbols_declared(n->symbols, file, f.start, &source, &f.line))
		f.source = source_number(n, source, file);
	g_array_append_val(n->functions, f);
	g_hash_table_insert(n->by_function, g_memdup2(&f, sizeof(f)), GUINT_TO_POINTER(n->functions->len));
	return n->functions->len;
}

/* The number of the function that `frame` inlined into code of `module`; 0: it has no name. */
static uint32_t inline_number(struct naming *n, uint32_t module, const struct frame *frame, int file)
{
	struct named_inline f = { .linkage = frame->linkage, .module = module, .line = frame->declared_line };
	uint32_t found;

	if (!frame->symbol || !frame->linkage)
		return 0;
	f.source = source_number(n, frame->declared, file);
	found = GPOINTER_TO_UINT(g_hash_table_lookup(n->by_inline, &f));
	if (found)
		return found;
	f.symbol = frame->symbol;
	g_array_append_val(n->inlines, f);
	g_hash_table_insert(n->by_inline, g_memdup2(&f, sizeof(f)), GUINT_TO_POINTER(n->inlines->len));
	return n->inlines->len;
}

static void name_in_file(struct naming *n, struct named *insn, int file)
{
	struct named_function key = { .module = insn->module };
	struct named_frame frame;
	struct place place;

	if (!symbols_place(n->symbols, file, insn->address, &place))
		return;
	insn->source = source_number(n, place.file, file);
	insn->line = place.line;
	insn->frame = n->frames->len;
	insn->nr_frames = place.nr_inlined;
	for (uint32_t i = 0; i < place.nr_inlined; i++) {
		frame.symbol = place.inlined[i].symbol;
		frame.function = inline_number(n, insn->module, &place.inlined[i], file);
		frame.source = source_number(n, place.inlined[i].file, file);
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

/* The text with the branch target in the file's own addresses and, as objdump has it, by name. */
static void put_text(struct naming *n, struct named *insn, struct code *code, uint32_t index, int file)
{
	const struct insn *in = code_insn(code, index);
	char text[512];
	size_t at;

	if (code_text_at(code, index, insn->address, text, sizeof(text) / 2) < 0)
		text[0] = '\0';
	at = strlen(text);
	if (in->target && file >= 0)
		symbols_target(n->symbols, file, in->target + (insn->address - in->pc), text + at, sizeof(text) - at);
	insn->text = g_string_chunk_insert_const(n->strings, text);
}

void naming_resolve(struct naming *n, struct code *code, const struct maps *maps, uint32_t index)
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

struct named *naming_at(struct naming *n, uint32_t index)
{
	uint32_t at = index < n->by_insn->len ? g_array_index(n->by_insn, uint32_t, index) : 0;

	return at ? &g_array_index(n->insns, struct named, at - 1) : NULL;
}

void naming_notes(const struct naming *n, void (*each)(void *ctx, const char *note), void *ctx)
{
	symbols_notes(n->symbols, each, ctx);
	if (n->jit_note)
		each(ctx, n->jit_note);
}

void naming_jit(struct naming *n, const GArray *list, int pid)
{
	struct named_function key = { .module = MODULE_NONE };
	struct perf_map *map = NULL;
	struct named *insn;
	char path[64];
	int err;

	g_snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	g_clear_pointer(&n->jit_note, g_free);
	if (pid > 0 && (err = perf_map_load(&map, path))) {
		map = NULL;
		if (err != -ENOENT)
			n->jit_note = g_strdup_printf("%s %s: JIT code has no names", path, error_get()->why);
	}
	for (guint i = 0; i < list->len; i++) {
		insn = naming_at(n, g_array_index(list, uint32_t, i));
		if (insn->module != MODULE_NONE)
			continue;
		key.symbol = map ? perf_map_find(map, insn->address, &key.start, &key.size) : NULL;
		key.linkage = key.symbol;
		insn->function = key.symbol ? function_number(n, &key, -1) : 0;
	}
	perf_map_free(map);
}
