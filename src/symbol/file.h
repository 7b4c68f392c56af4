/*
 * One ELF file, and the tables made from it on first use. Shared by the files of this room only.
 */
#ifndef CYCLEWISE_SYMBOL_FILE_H
#define CYCLEWISE_SYMBOL_FILE_H

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <glib.h>

#include "symbol/interval.h"
#include "symbol/symbol.h"

struct symbol_table;
struct debug_lines;

/* A PT_LOAD segment. */
struct segment {
	uint64_t address, memory_size;
	uint64_t offset, file_size;
	bool executable;
};

struct symbol_file {
	char *path;
	int fd;
	Elf *elf;                  /* over `fd` */
	GElf_Half machine;
	GArray *segments;          /* struct segment, in the order of the file */
	char *build_id;            /* hex; "" where there is none */
	char *identity;            /* NULL until symbol_file_identity() */
	GStringChunk *strings;     /* of the `struct symbols` it belongs to; outlives it */
	uint64_t plain_bytes;      /* demangled names made so far */
	uint64_t kept_mangled;     /* names that were not: too long, or too much work */
	char *refused;             /* the first file beside it that was not used, and why; NULL: none */
	bool damaged;              /* part of its DWARF was passed over */

	/* libdwfl's view: symbol tables and debugging information, separate files included. */
	Dwfl *dwfl;                /* NULL until symbol_file_module() */
	Dwfl_Module *module;
	uint64_t bias;             /* libdwfl's addresses minus the file's own */
	bool module_tried;

	struct symbol_table *table; /* table.c; NULL until first use */
	struct debug_lines *lines;  /* lines.c; NULL until first use */
};

/* Opens an executable or shared object, at `path` or, not negative, of `given`. 0 or -errno. */
int  symbol_file_open(struct symbol_file **out, const char *path, int given, GStringChunk *strings);
void symbol_file_close(struct symbol_file *f);
const char *symbol_file_identity(struct symbol_file *f);
/* The module, opened on first use; NULL where libdwfl cannot make sense of the file. */
Dwfl_Module *symbol_file_module(struct symbol_file *f);
/* The executable segment that holds `address`; NULL: none. */
const struct segment *symbol_file_code(const struct symbol_file *f, uint64_t address);
/* The section whose memory holds `address`; NULL: none, or no section headers. */
Elf_Scn *symbol_file_section(const struct symbol_file *f, uint64_t address, GElf_Shdr *header);
/* Bytes of the file at `address`, at most `size`; returns how many. */
size_t symbol_file_bytes(const struct symbol_file *f, uint64_t address, uint8_t *buf, size_t size);

/* debug_file.c: libdwfl's callback that finds the separate debug file of `*userdata`, a struct symbol_file. */
int debug_file_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *path,
                    const char *debuglink, GElf_Word crc, char **found);
/* zstd.c: the file with what is compressed with zstd decompressed, in memory; negative: there is nothing to do. */
int zstd_expand(int fd);
/* The build-id of an ELF file in hex, or "". Free with g_free(). */
char *elf_build_id(Elf *elf);

/* Notes that `path`, which the file named, is not used, and why: by the error last set. */
void symbol_file_refused(struct symbol_file *f, const char *path);

/*
 * names.c: the name as people write it; `linkage` itself where it is not mangled, or would take too much (counted
 * in `f`). Valid as long as f->strings.
 */
const char *demangle(struct symbol_file *f, const char *linkage);

/* table.c */
struct symbol {
	uint64_t start, size;      /* size 0: reaches to the next symbol or the section's end */
	const char *linkage;
	const char *name;          /* demangled; NULL until asked for */
	uint8_t type, binding;     /* STT_*, STB_* */
};

struct symbol_table {
	GArray *symbols;           /* struct symbol, by start; among equals the best last */
	struct interval_map by_address; /* id: index into `symbols` */
};

const struct symbol_table *symbol_file_table(struct symbol_file *f);
/* The best symbol at `address`, and in *end where its hold ends; NULL: none. */
struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address, uint64_t *end);
void symbol_table_free(struct symbol_table *t);

/*
 * line_md5.c: calls `each` for the files of a unit's line table that have a checksum, by their number in that table.
 * Goes over `most` entries at most; returns how many.
 */
uint64_t line_md5(Dwarf *dwarf, Dwarf_Die *unit, uint64_t most,
                  void (*each)(void *ctx, size_t file, const uint8_t md5[16]), void *ctx);

/* plt.c: appends a symbol `name@plt` for each stub of the procedure linkage table. `ifuncs`: the symbols so far. */
void plt_symbols(struct symbol_file *f, GArray *symbols);

/* lines.c: lines and inline chains. `frames` (struct frame) is emptied and filled. False: nothing known. */
bool debug_lines_find(struct symbol_file *f, uint64_t address, const char **source, uint32_t *line, GArray *frames);
/* As symbols_declared() and symbols_find_inlined(). */
bool debug_lines_declared(struct symbol_file *f, uint64_t address, const char **source, uint32_t *line);
int  debug_lines_inlined(struct symbol_file *f, const char *name, void (*each)(void *ctx, uint64_t start, uint64_t end),
                         void *ctx);
/* As symbols_source_md5(). */
const char *debug_lines_md5(struct symbol_file *f, const char *source);
void debug_lines_free(struct debug_lines *l);

/* probes.c */
int symbol_file_probes(struct symbol_file *f, const char *provider,
                       void (*each)(void *ctx, uint64_t address, const char *name, const char *args), void *ctx);

#endif
