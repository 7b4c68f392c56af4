/*
 * Names and source lines of addresses, from ELF and DWARF through elfutils' libdw; separate debug files by
 * build-id; names of JIT code from /tmp/perf-PID.map. A room open to all others.
 *
 * Separate debug files are looked for in the folders of $CYCLEWISE_DEBUG_DIR (separated by colons), then in
 * /usr/lib/debug, then on the servers of $DEBUGINFOD_URLS. One thread at a time may use a `struct symbols`.
 *
 * Addresses here are the file's own (as `nm` and `objdump -d` print them), or, in JIT code, the run's.
 */
#ifndef CYCLEWISE_SYMBOL_SYMBOL_H
#define CYCLEWISE_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;                /* all files opened so far, and the caches over them */

int  symbols_new(struct symbols **out);
void symbols_free(struct symbols *s);

/* A file; opened once. Returns its number, or -errno (the file is then an unnamed module; not fatal). */
int symbols_open(struct symbols *s, const char *path);
/*
 * The same of one that is open as `fd` (a copy is kept), which tells files of one path; `fd` negative: of what is at
 * `path`.
 */
int symbols_open_at(struct symbols *s, const char *path, int fd);
/* Calls `each` with a sentence, fit for a terminal, for each thing of the files that was passed over and why. */
void symbols_notes(const struct symbols *s, void (*each)(void *ctx, const char *note), void *ctx);
const char *symbols_build_id(struct symbols *s, int file);      /* hex, "" where there is none */
/*
 * What tells a file from another build of it: its build-id or, where it has none, "code-" and a hash of its executable
 * segments. "" where there is neither.
 */
const char *symbols_identity(struct symbols *s, int file);
/*
 * The MD5 of the text that was compiled, in hex, of a source that symbols_place() or symbols_declared() named; NULL:
 * the compiler left none.
 */
const char *symbols_source_md5(struct symbols *s, int file, const char *source);
/* When it was last written: ns since the epoch. */
int64_t symbols_written(struct symbols *s, int file);
/* The same of any file; "" where it is no ELF file. Free with g_free(). */
char *symbols_identity_of(int fd);
/* The file's own address of the byte at `offset` of the file, by its program headers; false: in no segment. */
bool symbols_address(struct symbols *s, int file, uint64_t offset, uint64_t *address);

struct frame {
	const char *symbol;        /* demangled; NULL: unknown */
	const char *linkage;       /* the same as linkers have it or, in C, its name; NULL: unknown */
	const char *file;          /* source of the call; NULL: unknown */
	uint32_t line;             /* 0: unknown */
	const char *declared;      /* source in which the function is declared; NULL: unknown */
	uint32_t declared_line;    /* 0: unknown */
};

struct place {
	const char *symbol;        /* demangled name of the function whose code it is in the symbol table; NULL:
	                            * unknown */
	const char *linkage;       /* the same, as in the symbol table */
	uint64_t start, size;      /* of that symbol */
	const char *file;          /* source of the innermost (inlined) code; NULL: unknown */
	uint32_t line;
	const struct frame *inlined; /* innermost first: inlined function, and where it was called from ... */
	uint32_t nr_inlined;
};

/* Names `address` of `file`. Strings live as long as `s`; `inlined` until the next call. False: nothing known. */
bool symbols_place(struct symbols *s, int file, uint64_t address, struct place *out);
/*
 * Where the function whose code is at `address` is declared, whatever was inlined there; without a declaration in the
 * DWARF, its line at `address`. False: not known.
 */
bool symbols_declared(struct symbols *s, int file, uint64_t address, const char **source, uint32_t *line);
/* `address` as objdump names the target of a branch, " <f+0x10>"; empty where its function is unknown. */
void symbols_target(struct symbols *s, int file, uint64_t address, char *buf, size_t size);

/* How well a name that a person gives fits a symbol, ascending. */
enum name_match {
	NAME_OTHER,
	NAME_LAST,                 /* the last component of the demangled name without parameters: "g" for
	                            * "ns::g(int)" */
	NAME_STEM,                 /* all of it without parameters, or the linkage name without a clone suffix
	                            * (.constprop.0) */
	NAME_WHOLE,                /* the linkage name or the demangled one */
};
enum name_match name_match(const char *name, const char *linkage, const char *demangled);

/*
 * Calls `each` with every address at which the function `name` starts, ascending, and its size; `name` matches
 * at least as NAME_STEM. Returns how many there are, or -errno.
 */
int symbols_find(struct symbols *s, int file, const char *name,
                 void (*each)(void *ctx, uint64_t address, uint64_t size), void *ctx);

/*
 * Calls `each` with the ranges of code of all inlined copies of the function `name`, which matches as above. What is
 * inlined into a copy is in its ranges. Returns how many functions of that name there are that were inlined, or
 * have an entry without code: all of it was optimised away, or another entry has it.
 */
int symbols_find_inlined(struct symbols *s, int file, const char *name,
                         void (*each)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/* Calls `each` for every static probe (.note.stapsdt) of `provider`: its address, its name, its arguments' text.
   Returns how many there are, or -errno. */
int symbols_probes(struct symbols *s, int file, const char *provider,
                   void (*each)(void *ctx, uint64_t address, const char *name, const char *args), void *ctx);

/* The code of functions, for disassembly: bytes at `address`, at most `size`; returns how many there are. */
size_t symbols_bytes(struct symbols *s, int file, uint64_t address, uint8_t *buf, size_t size);

/* Reads a perf map ("START SIZE name" in hex); a malformed line is skipped and counted. Owner must match: -EPERM. */
struct perf_map;
int perf_map_load(struct perf_map **out, const char *path);
void perf_map_free(struct perf_map *m);
uint64_t perf_map_malformed(const struct perf_map *m);         /* lines skipped */
/* The newest name of the code at `pc`, and where it starts; NULL: none. Valid until perf_map_free(). */
const char *perf_map_find(const struct perf_map *m, uint64_t pc, uint64_t *start, uint64_t *size);

#endif
