/*
 * Source lines and inline chains, from DWARF through libdw.
 *
 * libdw finds the line of an address fast, but dwarf_getscopes() walks a unit's whole tree for each address. So
 * each unit is walked once, when the first address in it is asked for: every subprogram and inlined subroutine
 * leaves its ranges, the innermost wins, and from then on an address costs two binary searches. Units are found
 * by their own ranges, not by .debug_aranges, which not every compiler writes.
 *
 * Names and files of calls are read when a scope is first named. DWARF is untrusted: depth, number of entries
 * and chain length are bounded, whatever the file says.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "symbol/file.h"

enum {
	DEEPEST = 512,             /* entries nested in one another */
	LONGEST_CHAIN = 255,       /* inlined functions at one address */
	MOST_RANGES = 65536,       /* of one entry */
};

struct scope {
	Dwarf_Die die;
	uint32_t parent;           /* the scope around it; INTERVAL_NONE: none */
	bool inlined;              /* an inlined subroutine; else a function, where a chain ends */
	bool named;                /* `frame` is filled */
	struct frame frame;
};

struct unit {
	Dwarf_Die die;             /* has the lines */
	Dwarf_Die tree;            /* has the scopes: the same, or that of the split unit */
	bool walked;
	GArray *scopes;            /* struct scope */
	struct interval_map by_address; /* id: index into `scopes` */
};

struct debug_lines {
	Dwarf *dwarf;              /* of libdwfl's module; NULL: none */
	uint64_t bias;             /* its addresses minus the file's own */
	GArray *units;             /* struct unit */
	struct interval_map by_address; /* id: index into `units` */
	GHashTable *sources;       /* libdw's name of a source, by its address -> ours */
};

/* Appends the ranges of an entry to `given`. */
static void add_ranges(GArray *given, Dwarf_Die *die, uint32_t id, uint32_t priority)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned n = 0; n < MOST_RANGES && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0; n++)
		g_array_append_val(given, ((struct interval){ start, end, id, priority }));
}

static void map_ranges(struct interval_map *map, GArray *given)
{
	interval_map_init(map, (const struct interval *)(void *)given->data, given->len);
}

static void read_units(struct debug_lines *l)
{
	GArray *given = g_array_new(FALSE, FALSE, sizeof(struct interval));
	Dwarf_CU *cu = NULL;
	struct unit unit = { 0 };
	Dwarf_Half version;
	uint8_t type;

	while (l->dwarf && !dwarf_get_units(l->dwarf, cu, &cu, &version, &type, &unit.die, &unit.tree)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (type == DW_UT_compile || dwarf_tag(&unit.tree) != DW_TAG_compile_unit)
			unit.tree = unit.die;
		add_ranges(given, &unit.die, l->units->len, 0);
		g_array_append_val(l->units, unit);
	}
	map_ranges(&l->by_address, given);
	g_array_free(given, TRUE);
}

static struct debug_lines *open_lines(struct symbol_file *f)
{
	struct debug_lines *l = g_new0(struct debug_lines, 1);
	Dwfl_Module *module = symbol_file_module(f);
	GElf_Addr bias = 0;

	l->units = g_array_new(FALSE, FALSE, sizeof(struct unit));
	l->sources = g_hash_table_new(NULL, NULL);
	l->dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
	l->bias = bias - f->bias;
	read_units(l);
	return l;
}

void debug_lines_free(struct debug_lines *l)
{
	if (!l)
		return;
	for (guint i = 0; i < l->units->len; i++) {
		struct unit *unit = &g_array_index(l->units, struct unit, i);

		if (!unit->walked)
			continue;
		interval_map_fini(&unit->by_address);
		g_array_free(unit->scopes, TRUE);
	}
	interval_map_fini(&l->by_address);
	g_array_free(l->units, TRUE);
	g_hash_table_destroy(l->sources);
	g_free(l);
}

/* Entries below which there can be code. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return true;
	default:
		return false;
	}
}

/* `parent`: the scope around; `depth`: how deep `first`, the first of its siblings, lies. */
static void walk(struct unit *unit, GArray *given, Dwarf_Die *first, uint32_t parent, uint32_t depth)
{
	Dwarf_Die die = *first, child;
	struct scope scope = { 0 };
	const void *before;
	uint32_t inner;
	int tag;

	do {
		tag = dwarf_tag(&die);
		if (may_hold_code(tag)) {
			inner = parent;
			if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
				inner = unit->scopes->len;
				scope.die = die;
				scope.parent = parent;
				scope.inlined = tag == DW_TAG_inlined_subroutine;
				g_array_append_val(unit->scopes, scope);
				add_ranges(given, &die, inner, depth);
			}
			if (depth < DEEPEST && !dwarf_child(&die, &child))
				walk(unit, given, &child, inner, depth + 1);
		}
		before = die.addr;
	} while (!dwarf_siblingof(&die, &die) && (const char *)die.addr > (const char *)before);
}

static void walk_unit(struct unit *unit)
{
	GArray *given = g_array_new(FALSE, FALSE, sizeof(struct interval));
	Dwarf_Die child;

	unit->walked = true;
	unit->scopes = g_array_new(FALSE, FALSE, sizeof(struct scope));
	if (!dwarf_child(&unit->tree, &child))
		walk(unit, given, &child, INTERVAL_NONE, 1);
	map_ranges(&unit->by_address, given);
	g_array_free(given, TRUE);
}

static const char *intern(struct symbol_file *f, const char *text)
{
	return text ? g_string_chunk_insert_const(f->strings, text) : NULL;
}

/*
 * A source as libdw names it, with the folder the compiler ran in where libdw left it out (DWARF 5 folders that
 * are relative). `path` is libdw's own string: its address stands for it.
 */
static const char *source_name(struct symbol_file *f, struct unit *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *known, *folder;
	char *joined;
	size_t length;

	if (!path)
		return NULL;
	known = g_hash_table_lookup(f->lines->sources, path);
	if (known)
		return known;
	folder = *path == '/' ? NULL : dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	length = folder ? strlen(folder) : 0;
	if (length && (strncmp(path, folder, length) || path[length] != '/')) {
		joined = g_build_filename(folder, path, NULL);
		known = intern(f, joined);
		g_free(joined);
	} else {
		known = intern(f, path);
	}
	g_hash_table_insert(f->lines->sources, (gpointer)path, (gpointer)known);
	return known;
}

static void name_scope(struct symbol_file *f, struct unit *unit, struct scope *scope)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word value;
	const char *name = NULL;
	size_t nr_files;

	scope->named = true;
	if (dwarf_attr_integrate(&scope->die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(&scope->die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(&scope->die, DW_AT_name, &attribute));
	if (name)
		scope->frame.symbol = demangle(f->strings, intern(f, name));
	if (!dwarf_formudata(dwarf_attr(&scope->die, DW_AT_call_line, &attribute), &value) && value <= UINT32_MAX)
		scope->frame.line = (uint32_t)value;
	if (!dwarf_formudata(dwarf_attr(&scope->die, DW_AT_call_file, &attribute), &value) &&
	    !dwarf_getsrcfiles(&unit->tree, &files, &nr_files) && value < nr_files)
		scope->frame.file = source_name(f, unit, dwarf_filesrc(files, value, NULL, NULL));
}

static void chain(struct symbol_file *f, struct unit *unit, uint64_t address, GArray *frames)
{
	const struct interval *innermost = interval_map_find(&unit->by_address, address);
	uint32_t at = innermost ? innermost->id : INTERVAL_NONE;
	struct scope *scope;

	for (; at != INTERVAL_NONE && frames->len < LONGEST_CHAIN; at = scope->parent) {
		scope = &g_array_index(unit->scopes, struct scope, at);
		if (!scope->inlined)
			break;
		if (!scope->named)
			name_scope(f, unit, scope);
		g_array_append_val(frames, scope->frame);
	}
}

bool debug_lines_find(struct symbol_file *f, uint64_t address, const char **source, uint32_t *line, GArray *frames)
{
	const struct interval *found;
	struct unit *unit;
	Dwarf_Line *row;
	int number;

	g_array_set_size(frames, 0);
	if (!f->lines)
		f->lines = open_lines(f);
	address += f->lines->bias;
	found = interval_map_find(&f->lines->by_address, address);
	if (!found)
		return false;
	unit = &g_array_index(f->lines->units, struct unit, found->id);
	if (!unit->walked)
		walk_unit(unit);
	chain(f, unit, address, frames);
	row = dwarf_getsrc_die(&unit->die, address);
	if (!row || dwarf_lineno(row, &number) || number < 0)
		return frames->len;
	*source = source_name(f, unit, dwarf_linesrc(row, NULL, NULL));
	*line = (uint32_t)number;
	return true;
}
