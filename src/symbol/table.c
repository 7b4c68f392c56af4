/*
 * The symbol table as a map from addresses to names.
 *
 * Which symbol names an address, where several could: one with a size that holds the address before one without;
 * the one that starts last (the innermost); then functions before labels, global before weak before local, the
 * larger; then fewer leading underscores and the alphabet, so that the choice is the same every time. A symbol
 * without size reaches to the next symbol or the end of its section. What no symbol claims has no name: a
 * stripped library's code is not put down to the last exported function before it.
 */
#include <string.h>

#include "symbol/file.h"

/* Arm's and RISC-V's marks between code and data are no names: "$x", "$d.realdata", "$xrv64gc"; nor are ".L" labels. */
static bool is_name(const struct symbol_file *f, const char *name)
{
	if (!*name)
		return false;
	if (f->machine != EM_AARCH64 && f->machine != EM_RISCV && f->machine != EM_ARM)
		return true;
	return !(name[0] == '$' && name[1] && strchr("xdat", name[1])) && strncmp(name, ".L", 2);
}

/* Without the version: "memcpy@@GLIBC_2.14" is memcpy. */
static const char *intern_name(struct symbol_file *f, const char *name)
{
	const char *at = strchr(name + 1, '@');
	char *plain;

	if (!at)
		return g_string_chunk_insert_const(f->strings, name);
	plain = g_strndup(name, (gsize)(at - name));
	name = g_string_chunk_insert_const(f->strings, plain);
	g_free(plain);
	return name;
}

static void collect(struct symbol_file *f, GArray *symbols)
{
	Dwfl_Module *module = symbol_file_module(f);
	int nr = module ? dwfl_module_getsymtab(module) : 0;
	struct symbol symbol = { 0 };
	GElf_Addr address;
	GElf_Word section;
	const char *name;
	GElf_Sym sym;

	for (int i = 1; i < nr; i++) {
		name = dwfl_module_getsym_info(module, i, &sym, &address, &section, NULL, NULL);
		if (!name || section == SHN_UNDEF || section == SHN_ABS || section == SHN_COMMON || !is_name(f, name))
			continue;
		symbol.type = GELF_ST_TYPE(sym.st_info);
		if (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC && symbol.type != STT_NOTYPE)
			continue;
		symbol.start = address - f->bias;
		if (!symbol_file_code(f, symbol.start))
			continue;
		symbol.size = MIN(sym.st_size, UINT64_MAX - symbol.start);
		symbol.binding = GELF_ST_BIND(sym.st_info);
		symbol.linkage = intern_name(f, name);
		g_array_append_val(symbols, symbol);
	}
}

static int binding_rank(const struct symbol *s)
{
	return s->binding == STB_LOCAL ? 0 : s->binding == STB_WEAK ? 1 : 2;
}

/* The order of the table: by start; at one start, ascending preference. */
static gint by_preference(gconstpointer a, gconstpointer b)
{
	const struct symbol *x = a, *y = b;
	size_t x_bars, y_bars;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? 1 : -1;
	if ((x->type == STT_NOTYPE) != (y->type == STT_NOTYPE))
		return x->type == STT_NOTYPE ? -1 : 1;
	if (binding_rank(x) != binding_rank(y))
		return binding_rank(x) - binding_rank(y);
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	x_bars = strspn(x->linkage, "_");
	y_bars = strspn(y->linkage, "_");
	if (x_bars != y_bars)
		return x_bars > y_bars ? -1 : 1;
	return strcmp(y->linkage, x->linkage);
}

static struct symbol *at(GArray *symbols, guint i)
{
	return &g_array_index(symbols, struct symbol, i);
}

/* Where the memory that a symbol without size at `address` can claim ends: its section, or its segment. */
static uint64_t region_end(const struct symbol_file *f, uint64_t address)
{
	const struct segment *segment = symbol_file_code(f, address);
	GElf_Shdr header;

	if (symbol_file_section(f, address, &header))
		return header.sh_addr + header.sh_size;
	return segment->address + segment->memory_size;
}

/* The first interval of `map` that starts after `address`; UINT64_MAX: none. */
static uint64_t next_start(const struct interval_map *map, uint64_t address)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->nr ? map->at[low].start : UINT64_MAX;
}

/* Adds to `given` what symbols without size hold of what those with size, mapped by `sized`, leave free. */
static void add_unsized(const struct symbol_file *f, GArray *symbols, const struct interval_map *sized, GArray *given)
{
	uint64_t next = UINT64_MAX, end;

	for (guint i = symbols->len; i--;) {
		const struct symbol *s = at(symbols, i);

		if (s->size || s->start == next || interval_map_find(sized, s->start))
			continue;
		end = MIN(MIN(region_end(f, s->start), next_start(sized, s->start)), next);
		next = s->start;
		g_array_append_val(given, ((struct interval){ s->start, end, i, i }));
	}
}

static void index_symbols(const struct symbol_file *f, struct symbol_table *t)
{
	GArray *given = g_array_new(FALSE, FALSE, sizeof(struct interval));
	struct interval_map sized;

	for (guint i = 0; i < t->symbols->len; i++) {
		const struct symbol *s = at(t->symbols, i);

		if (s->size)
			g_array_append_val(given, ((struct interval){ s->start, s->start + s->size, i, i }));
	}
	interval_map_init(&sized, (const struct interval *)(void *)given->data, given->len);
	add_unsized(f, t->symbols, &sized, given);
	interval_map_init(&t->by_address, (const struct interval *)(void *)given->data, given->len);
	interval_map_fini(&sized);
	g_array_free(given, TRUE);
}

const struct symbol_table *symbol_file_table(struct symbol_file *f)
{
	struct symbol_table *t;

	if (f->table)
		return f->table;
	t = g_new0(struct symbol_table, 1);
	t->symbols = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	collect(f, t->symbols);
	g_array_sort(t->symbols, by_preference);
	plt_symbols(f, t->symbols);
	g_array_sort(t->symbols, by_preference);
	index_symbols(f, t);
	return f->table = t;
}

struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address, uint64_t *end)
{
	const struct interval *found = interval_map_find(&t->by_address, address);

	if (!found)
		return NULL;
	*end = found->end;
	return at(t->symbols, found->id);
}

void symbol_table_free(struct symbol_table *t)
{
	if (!t)
		return;
	interval_map_fini(&t->by_address);
	g_array_free(t->symbols, TRUE);
	g_free(t);
}
