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
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "symbol/file.h"

enum {
	DEEPEST = 512,             /* entries nested in one another */
	LONGEST_CHAIN = 255,       /* inlined functions at one address */
	MOST_RANGES = 65536,       /* of one entry */
	RANGE_STEPS = 16,          /* that one range counts for: it is kept */
	MOST_STEPS = 1 << 28,      /* entries gone over in a file, those of subtrees gone over again included */
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
	uint64_t steps;            /* of MOST_STEPS, taken */
	GHashTable *sources;       /* libdw's name of a source, by its address -> ours */
	GHashTable *md5;           /* our name of a source -> MD5 of its text in hex, of the units that are walked */
};

static bool spend(struct debug_lines *l, uint64_t steps)
{
	l->steps += steps;
	return l->steps <= MOST_STEPS;
}

/* Appends the ranges of an entry to `given`. */
static void add_ranges(struct debug_lines *l, GArray *given, Dwarf_Die *die, uint32_t id, uint32_t priority)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned n = 0; n < MOST_RANGES && spend(l, RANGE_STEPS); n++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		g_array_append_val(given, ((struct interval){ start, end, id, priority }));
	}
}

static void map_ranges(struct interval_map *map, GArray *given)
{
	interval_map_init(map, (const struct interval *)(void *)given->data, given->len);
}

/*
 * May libdw look for a file that `name` names, from `folder`? It opens whatever is there, a pipe too; that there is
 * none is fine.
 */
static bool harmless(struct symbol_file *f, const char *name, const char *folder)
{
	char *path = g_canonicalize_filename(name, folder && g_path_is_absolute(folder) ? folder : NULL);
	struct stat st;
	int fd = file_open(path, 0, UINT64_MAX, &st);
	bool good = fd >= 0 || fd == -ENOENT || fd == -ENOTDIR;

	if (fd >= 0)
		close(fd);
	if (!good)
		symbol_file_refused(f, path);
	g_free(path);
	return good;
}

/* What of a unit's entries stands in a file of its own, as its attributes name it. */
static bool harmless_split(struct symbol_file *f, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)),
	           *name = dwarf_formstring(dwarf_attr(unit, DW_AT_dwo_name, &attribute)), *main;
	char *beside;
	bool good;

	if (!name)
		name = dwarf_formstring(dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute));
	if (!name)
		return true;
	/* libdw looks from the folder of the file with the debugging information, from that of the unit in it, too. */
	dwfl_module_info(f->module, NULL, NULL, NULL, NULL, NULL, NULL, &main);
	main = g_canonicalize_filename(main ? main : f->path, NULL);
	beside = g_path_get_dirname(main);
	good = harmless(f, name, beside) && (!folder || harmless(f, name, folder));
	if (good && folder && !g_path_is_absolute(folder)) {
		char *inner = g_build_filename(beside, folder, NULL);

		good = harmless(f, name, inner);
		g_free(inner);
	}
	g_free(beside);
	g_free((char *)main);
	return good;
}

/* The supplementary file (dwz) that libdw opens when first a string of it is asked for. */
static bool harmless_supplement(struct symbol_file *f, Dwarf *dwarf)
{
	const char *name, *main;
	const void *id;
	char *beside, *absolute;
	bool good;

	if (dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0)
		return true;
	dwfl_module_info(f->module, NULL, NULL, NULL, NULL, NULL, NULL, &main);
	absolute = g_canonicalize_filename(main ? main : f->path, NULL);
	beside = g_path_get_dirname(absolute);
	good = harmless(f, name, beside);
	g_free(beside);
	g_free(absolute);
	return good;
}

static void read_units(struct symbol_file *f, struct debug_lines *l)
{
	GArray *given = g_array_new(FALSE, FALSE, sizeof(struct interval));
	Dwarf_CU *cu = NULL;
	struct unit unit = { 0 };
	Dwarf_Half version;
	uint8_t type;

	while (l->dwarf && !dwarf_get_units(l->dwarf, cu, &cu, &version, &type, &unit.die, NULL)) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) || !harmless_split(f, &unit.die) ||
		    dwarf_cu_info(cu, &version, &type, &unit.die, &unit.tree, NULL, NULL, NULL))
			continue;
		if (type == DW_UT_compile || dwarf_tag(&unit.tree) != DW_TAG_compile_unit)
			unit.tree = unit.die;
		add_ranges(l, given, &unit.die, l->units->len, 0);
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
	l->md5 = g_hash_table_new(g_str_hash, g_str_equal);
	l->dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
	l->bias = bias - f->bias;
	if (l->dwarf && !harmless_supplement(f, l->dwarf))
		l->dwarf = NULL;
	read_units(f, l);
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
	g_hash_table_destroy(l->md5);
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

/*
 * `parent`: the scope around; `depth`: how deep `first`, the first of its siblings, lies; `last`: address of the last
 * entry seen. False: what follows in the list around cannot be told, or is not worth it.
 *
 * Entries stand in the file in the order of this walk, so that each is seen once if none is visited that does not lie
 * behind all before it, wherever an attribute DW_AT_sibling leads. Where there is no such attribute libdw goes over all
 * entries below to find the next; below must be sound for it to find its way, and it is charged for.
 */
static bool walk(struct debug_lines *l, struct unit *unit, GArray *given, Dwarf_Die *first, uint32_t parent,
                 uint32_t depth, const char **last)
{
	Dwarf_Die die = *first, child;
	struct scope scope = { 0 };
	bool sound, hops;
	uint64_t before;
	uint32_t inner;
	int tag, found;

	do {
		if ((const char *)die.addr <= *last || !spend(l, 1))
			return false;
		*last = die.addr;
		before = l->steps;
		sound = true;
		tag = dwarf_tag(&die);
		hops = dwarf_hasattr(&die, DW_AT_sibling);
		inner = parent;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			inner = unit->scopes->len;
			scope.die = die;
			scope.parent = parent;
			scope.inlined = tag == DW_TAG_inlined_subroutine;
			g_array_append_val(unit->scopes, scope);
			add_ranges(l, given, &die, inner, depth);
		}
		if (may_hold_code(tag) || !hops) {
			found = dwarf_child(&die, &child);
			if (!found)
				sound = depth < DEEPEST && walk(l, unit, given, &child, inner, depth + 1, last);
			else
				sound = found > 0;
		}
		if (!hops && (!sound || !spend(l, l->steps - before)))
			return false;
		found = dwarf_siblingof(&die, &die);
	} while (!found);
	return found > 0;
}

static void walk_unit(struct symbol_file *f, struct unit *unit)
{
	GArray *given = g_array_new(FALSE, FALSE, sizeof(struct interval));
	const char *last = NULL;
	Dwarf_Die child;

	unit->walked = true;
	unit->scopes = g_array_new(FALSE, FALSE, sizeof(struct scope));
	if (!dwarf_child(&unit->tree, &child) && !walk(f->lines, unit, given, &child, INTERVAL_NONE, 1, &last))
		f->damaged = true;
	map_ranges(&unit->by_address, given);
	g_array_free(given, TRUE);
}

static const char *intern(struct symbol_file *f, const char *text)
{
	return text ? g_string_chunk_insert_const(f->strings, text) : NULL;
}

/*
 * A source as libdw names it, with the folder the compiler ran in where libdw left it out (DWARF 5 folders that
 * are relative). `unit`: the entry of its unit. `path` is libdw's own string: its address stands for it.
 */
static const char *source_name(struct symbol_file *f, Dwarf_Die *unit, const char *path)
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
	folder = *path == '/' ? NULL : dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
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

/* The linkage name of a function's entry or, where it has none, its plain one; NULL: it has neither. */
static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/*
 * Where a function's entry, or the one that it is a copy of, says that it is declared. Files are numbered by the unit
 * that says so, which with link-time optimisation need not be that of the code.
 */
static bool declaration(struct symbol_file *f, struct unit *unit, Dwarf_Die *die, const char **source, uint32_t *line)
{
	Dwarf_Attribute attribute, folder;
	Dwarf_Word number, file;
	Dwarf_Die said_by;
	Dwarf_Files *files;
	Dwarf_Half version;
	size_t nr_files;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute), &number) || !number ||
	    number > UINT32_MAX || dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &file) ||
	    !dwarf_cu_die(attribute.cu, &said_by, &version, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&said_by, &files, &nr_files) || file >= nr_files || (!file && version < 5))
		return false;
	if (!dwarf_attr(&said_by, DW_AT_comp_dir, &folder))
		said_by = unit->die;
	*source = source_name(f, &said_by, dwarf_filesrc(files, file, NULL, NULL));
	*line = (uint32_t)number;
	return *source;
}

static void name_scope(struct symbol_file *f, struct unit *unit, struct scope *scope)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word value;
	const char *name = linkage_name(&scope->die);
	size_t nr_files;

	scope->named = true;
	if (name) {
		scope->frame.linkage = intern(f, name);
		scope->frame.symbol = demangle(f, scope->frame.linkage);
	}
	declaration(f, unit, &scope->die, &scope->frame.declared, &scope->frame.declared_line);
	if (!dwarf_formudata(dwarf_attr(&scope->die, DW_AT_call_line, &attribute), &value) && value <= UINT32_MAX)
		scope->frame.line = (uint32_t)value;
	if (!dwarf_formudata(dwarf_attr(&scope->die, DW_AT_call_file, &attribute), &value) &&
	    !dwarf_getsrcfiles(&unit->tree, &files, &nr_files) && value < nr_files)
		scope->frame.file = source_name(f, &unit->die, dwarf_filesrc(files, value, NULL, NULL));
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

static struct debug_lines *lines_of(struct symbol_file *f)
{
	if (!f->lines)
		f->lines = open_lines(f);
	return f->lines;
}

struct md5_reader {
	struct symbol_file *f;
	Dwarf_Die *unit;
	Dwarf_Files *files;        /* [nr] */
	size_t nr;
};

static void keep_md5(void *ctx, size_t file, const uint8_t md5[16])
{
	const struct md5_reader *r = ctx;
	const char *path = file < r->nr ? dwarf_filesrc(r->files, file, NULL, NULL) : NULL;
	const char *source = source_name(r->f, r->unit, path);
	char hex[33];

	if (!source)
		return;
	for (unsigned i = 0; i < 16; i++)
		g_snprintf(hex + 2 * i, 3, "%02x", md5[i]);
	g_hash_table_insert(r->f->lines->md5, (gpointer)source, (gpointer)intern(r->f, hex));
}

/* The unit that has code at `address` (libdw's), walked; NULL: none. */
static struct unit *unit_at(struct symbol_file *f, uint64_t address)
{
	struct debug_lines *l = f->lines;
	const struct interval *found = interval_map_find(&l->by_address, address);
	struct unit *unit = found ? &g_array_index(l->units, struct unit, found->id) : NULL;
	struct md5_reader r = { .f = f };

	if (!unit || unit->walked)
		return unit;
	walk_unit(f, unit);
	r.unit = &unit->die;
	if (spend(l, 0) && !dwarf_getsrcfiles(r.unit, &r.files, &r.nr))
		spend(l, line_md5(l->dwarf, r.unit, MOST_STEPS - l->steps, keep_md5, &r));
	return unit;
}

const char *debug_lines_md5(struct symbol_file *f, const char *source)
{
	return g_hash_table_lookup(lines_of(f)->md5, source);
}

bool debug_lines_find(struct symbol_file *f, uint64_t address, const char **source, uint32_t *line, GArray *frames)
{
	struct unit *unit;
	Dwarf_Line *row;
	int number;

	g_array_set_size(frames, 0);
	address += lines_of(f)->bias;
	unit = unit_at(f, address);
	if (!unit)
		return false;
	chain(f, unit, address, frames);
	row = dwarf_getsrc_die(&unit->die, address);
	if (!row || dwarf_lineno(row, &number) || number < 0)
		return frames->len;
	*source = source_name(f, &unit->die, dwarf_linesrc(row, NULL, NULL));
	*line = (uint32_t)number;
	return true;
}

bool debug_lines_declared(struct symbol_file *f, uint64_t address, const char **source, uint32_t *line)
{
	uint64_t bias = lines_of(f)->bias;
	struct unit *unit = unit_at(f, address + bias);
	const struct interval *innermost = unit ? interval_map_find(&unit->by_address, address + bias) : NULL;
	uint32_t at = innermost ? innermost->id : INTERVAL_NONE;
	struct scope *scope = NULL, *called = NULL;
	GArray *frames;
	bool known;

	for (; at != INTERVAL_NONE; at = scope->parent) {
		scope = &g_array_index(unit->scopes, struct scope, at);
		if (!scope->inlined)
			break;
		called = scope;
	}
	if (at != INTERVAL_NONE && declaration(f, unit, &scope->die, source, line))
		return true;
	if (called && !called->named)
		name_scope(f, unit, called);
	if (called && called->frame.file) { /* the outermost call is in the function itself */
		*source = called->frame.file;
		*line = called->frame.line;
		return true;
	}
	frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
	*source = NULL;
	known = debug_lines_find(f, address, source, line, frames) && *source;
	g_array_free(frames, TRUE);
	return known;
}

/* The entry of the function that `die` is a copy of, or itself. */
static Dwarf_Die origin(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die function;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &function))
		function = *die;
	return function;
}

/* A function's entry without code that is no mere declaration: of one that was inlined, or optimised away. */
static bool without_code(Dwarf_Die *die)
{
	Dwarf_Die function = origin(die);

	return !dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges) &&
	       !dwarf_hasattr(&function, DW_AT_declaration);
}

static void each_range(const struct debug_lines *l, Dwarf_Die *die,
                       void (*each)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (unsigned n = 0; n < MOST_RANGES && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0; n++)
		each(ctx, start - l->bias, end - l->bias);
}

int debug_lines_inlined(struct symbol_file *f, const char *name, void (*each)(void *ctx, uint64_t start, uint64_t end),
                        void *ctx)
{
	enum { UNKNOWN, OTHER, WANTED };
	GHashTable *known = g_hash_table_new(NULL, NULL); /* origin -> the same */
	struct debug_lines *l = lines_of(f);
	int nr = 0;

	for (guint i = 0; i < l->units->len; i++) {
		struct unit *unit = &g_array_index(l->units, struct unit, i);

		if (!unit->walked)
			walk_unit(f, unit);
		for (guint k = 0; k < unit->scopes->len; k++) {
			struct scope *scope = &g_array_index(unit->scopes, struct scope, k);
			const char *linkage;
			gpointer of;
			int is;

			if (!scope->inlined && !without_code(&scope->die))
				continue;
			of = origin(&scope->die).addr;
			is = GPOINTER_TO_INT(g_hash_table_lookup(known, of));
			if (is == UNKNOWN) {
				linkage = linkage_name(&scope->die);
				is = OTHER;
				if (linkage && name_match(name, linkage, demangle(f, linkage)) >= NAME_STEM)
					is = WANTED;
				nr += is == WANTED;
				g_hash_table_insert(known, of, GINT_TO_POINTER(is));
			}
			if (is == WANTED && scope->inlined)
				each_range(l, &scope->die, each, ctx);
		}
	}
	g_hash_table_destroy(known);
	return nr;
}
