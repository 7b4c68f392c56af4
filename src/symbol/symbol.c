/*
 * The room's door: files by number, and places in them.
 */
#include "symbol/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/shown.h"
#include "symbol/file.h"

struct symbols {
	GPtrArray *files;          /* struct symbol_file * */
	GHashTable *by_path;       /* -> number + 1, or -errno */
	GStringChunk *strings;     /* all that is given out */
	GArray *frames;            /* struct frame: the chain of the last place */
};

int symbols_new(struct symbols **out)
{
	struct symbols *s;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(ENOTSUP, "libelf", "its version does not fit");
	s = g_new0(struct symbols, 1);
	s->files = g_ptr_array_new();
	s->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->strings = g_string_chunk_new(1 << 16);
	s->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
	*out = s;
	return 0;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (guint i = 0; i < s->files->len; i++)
		symbol_file_close(s->files->pdata[i]);
	g_ptr_array_free(s->files, TRUE);
	g_hash_table_destroy(s->by_path);
	g_array_free(s->frames, TRUE);
	g_string_chunk_free(s->strings);
	g_free(s);
}

int symbols_open(struct symbols *s, const char *path)
{
	return symbols_open_at(s, path, -1);
}

int symbols_open_at(struct symbols *s, const char *path, int fd)
{
	g_autofree char *key = fd < 0 ? g_strdup(path) : g_strdup_printf("%d:%s", fd, path);
	int number = GPOINTER_TO_INT(g_hash_table_lookup(s->by_path, key));
	struct symbol_file *f;

	if (number < 0)
		return error_errno(-number, path);
	if (number)
		return number - 1;
	number = symbol_file_open(&f, path, fd, s->strings);
	if (!number) {
		g_ptr_array_add(s->files, f);
		number = (int)s->files->len;
	}
	g_hash_table_insert(s->by_path, g_strdup(key), GINT_TO_POINTER(number));
	return number < 0 ? number : number - 1;
}

/* Hands on "PATH: ...", a sentence of the file. */
__attribute__((format(printf, 4, 5)))
static void note(const struct symbol_file *f, void (*each)(void *ctx, const char *note), void *ctx,
                 const char *format, ...)
{
	char *path = shown(f->path), *what, *text;
	va_list ap;

	va_start(ap, format);
	what = g_strdup_vprintf(format, ap);
	va_end(ap);
	text = g_strconcat(path, ": ", what, NULL);
	each(ctx, text);
	g_free(text);
	g_free(what);
	g_free(path);
}

void symbols_notes(const struct symbols *s, void (*each)(void *ctx, const char *note), void *ctx)
{
	for (guint i = 0; i < s->files->len; i++) {
		const struct symbol_file *f = s->files->pdata[i];

		if (f->kept_mangled)
			note(f, each, ctx,
			     "%" PRIu64 " name%s would be too long, or too much work, demangled: shown as the file has "
			     "%s",
			     f->kept_mangled, f->kept_mangled == 1 ? "" : "s", f->kept_mangled == 1 ? "it" : "them");
		if (f->damaged)
			note(f, each, ctx, "its debugging information is damaged: some lines and inlined functions are "
			                   "not known");
		if (f->refused) {
			char *refused = shown(f->refused);

			note(f, each, ctx, "a file that it names for its debugging information is not used: %s",
			     refused);
			g_free(refused);
		}
	}
}

static struct symbol_file *file_of(struct symbols *s, int file)
{
	g_assert(file >= 0 && (guint)file < s->files->len);
	return s->files->pdata[file];
}

const char *symbols_build_id(struct symbols *s, int file)
{
	return file_of(s, file)->build_id;
}

const char *symbols_identity(struct symbols *s, int file)
{
	return symbol_file_identity(file_of(s, file));
}

/* A mapping covers whole pages, so the bytes around a segment in its first and last page are there, too. */
bool symbols_address(struct symbols *s, int file, uint64_t offset, uint64_t *address)
{
	const struct symbol_file *f = file_of(s, file);
	const struct segment *best = NULL;

	for (guint i = 0; i < f->segments->len; i++) {
		const struct segment *segment = &g_array_index(f->segments, struct segment, i);
		bool inside = offset - segment->offset < segment->file_size;
		uint64_t start = segment->offset & ~(uint64_t)4095,
			 end = (segment->offset + segment->file_size + 4095) & ~(uint64_t)4095;

		if (inside && (segment->executable || !best))
			best = segment;
		else if (!best && segment->executable && offset - start < end - start)
			best = segment;
	}
	if (best)
		*address = best->address + (offset - best->offset);
	return best;
}

static const char *symbol_name(struct symbol_file *f, struct symbol *symbol)
{
	if (!symbol->name)
		symbol->name = demangle(f, symbol->linkage);
	return symbol->name;
}

bool symbols_place(struct symbols *s, int file, uint64_t address, struct place *out)
{
	struct symbol_file *f = file_of(s, file);
	struct symbol *symbol;
	uint64_t end;
	bool known;

	*out = (struct place){ 0 };
	known = debug_lines_find(f, address, &out->file, &out->line, s->frames);
	out->inlined = (const struct frame *)(void *)s->frames->data;
	out->nr_inlined = s->frames->len;
	symbol = symbol_table_find(symbol_file_table(f), address, &end);
	if (symbol) {
		out->symbol = symbol_name(f, symbol);
		out->linkage = symbol->linkage;
		out->start = symbol->start;
		out->size = symbol->size ? symbol->size : end - symbol->start;
	}
	return known || symbol;
}

bool symbols_declared(struct symbols *s, int file, uint64_t address, const char **source, uint32_t *line)
{
	return debug_lines_declared(file_of(s, file), address, source, line);
}

const char *symbols_source_md5(struct symbols *s, int file, const char *source)
{
	return debug_lines_md5(file_of(s, file), source);
}

int64_t symbols_written(struct symbols *s, int file)
{
	struct stat st;

	return fstat(file_of(s, file)->fd, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

int symbols_find(struct symbols *s, int file, const char *name,
                 void (*each)(void *ctx, uint64_t address, uint64_t size), void *ctx)
{
	struct symbol_file *f = file_of(s, file);
	const struct symbol_table *t = symbol_file_table(f);
	uint64_t last = 0, end;
	int nr = 0;

	for (guint i = 0; i < t->symbols->len; i++) {
		struct symbol *symbol = &g_array_index(t->symbols, struct symbol, i);

		/* An indirect function's symbol is that of its resolver, which is not the function. */
		if (symbol->type == STT_GNU_IFUNC || (nr && symbol->start == last) ||
		    name_match(name, symbol->linkage, symbol_name(f, symbol)) < NAME_STEM)
			continue;
		end = symbol->start;
		if (!symbol->size && symbol_table_find(t, symbol->start, &end) != symbol)
			end = symbol->start;
		each(ctx, symbol->start, symbol->size ? symbol->size : end - symbol->start);
		last = symbol->start;
		nr++;
	}
	return nr;
}

int symbols_find_inlined(struct symbols *s, int file, const char *name,
                         void (*each)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	return debug_lines_inlined(file_of(s, file), name, each, ctx);
}

void symbols_target(struct symbols *s, int file, uint64_t address, char *buf, size_t size)
{
	struct place place;

	if (!symbols_place(s, file, address, &place) || !place.symbol)
		g_strlcpy(buf, "", size);
	else if (address == place.start)
		g_snprintf(buf, (gulong)size, " <%s>", place.symbol);
	else
		g_snprintf(buf, (gulong)size, " <%s+0x%" PRIx64 ">", place.symbol, address - place.start);
}

int symbols_probes(struct symbols *s, int file, const char *provider,
                   void (*each)(void *ctx, uint64_t address, const char *name, const char *args), void *ctx)
{
	return symbol_file_probes(file_of(s, file), provider, each, ctx);
}

size_t symbols_bytes(struct symbols *s, int file, uint64_t address, uint8_t *buf, size_t size)
{
	return symbol_file_bytes(file_of(s, file), address, buf, size);
}
