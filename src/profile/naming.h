/*
 * What is known of the instructions met so far: resolved once (naming.c), numbered and written at each checkpoint
 * (instructions.c).
 */
#ifndef CYCLEWISE_PROFILE_NAMING_H
#define CYCLEWISE_PROFILE_NAMING_H

#include <glib.h>
#include <stdbool.h>

#include "isa/code.h"
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
	const char *md5;           /* of its text, hex: as it was compiled or else during the run; NULL: not known */
	bool newer;                /* than the module that it was first met in: edited after that was built */
	uint32_t id;
};

struct named_frame {
	const char *symbol;
	uint32_t function;         /* of `inlines`, 1-based */
	uint32_t source, line;
};

/* A function that was inlined somewhere; source and line are where it is declared. */
struct named_inline {
	const char *symbol, *linkage; /* never NULL */
	uint32_t module, source, line;
	uint32_t id;
};

struct named_module {
	const char *path, *build_id;
	const char *identity;      /* symbols_identity(); "" where it cannot be read */
	int file;                  /* of `symbols`; negative: cannot be read */
	bool opened;
	uint32_t id;
};

/* What has been resolved so far. */
struct naming {
	struct symbols *symbols;
	GArray *by_insn;           /* uint32_t [number of the instruction]: 1-based index into `insns` */
	GArray *insns;             /* struct named */
	GArray *functions, *sources, *frames, *modules;
	GArray *inlines;           /* struct named_inline */
	GHashTable *by_inline;     /* struct named_inline * (own key copies) -> 1-based index */
	GHashTable *by_function;   /* struct named_function * (own key copies) -> 1-based index */
	GHashTable *by_source;     /* path -> 1-based index */
	char *jit_note;            /* why the perf map is not used; NULL: it is, or there is none */
	GStringChunk *strings;
};

/* 0 or -errno. */
int naming_new(struct naming **out);
void naming_free(struct naming *n);
/* What is known of instruction `index`; NULL: it has not been resolved. */
struct named *naming_at(struct naming *n, uint32_t index);
/* Forgets files that were changed since they were opened: what is resolved of them from now on has no names. */
void naming_check(struct naming *n, const struct maps *maps);
/* Finds out all about instruction `index`, except whose JIT code it is. Once for each. */
void naming_resolve(struct naming *n, struct code *code, const struct maps *maps, uint32_t index);
/* Calls `each` with a sentence, fit for a terminal, for each file that was not used, or not in full, and why. */
void naming_notes(const struct naming *n, void (*each)(void *ctx, const char *note), void *ctx);
/* Names JIT code among the instructions `list` (uint32_t) by the perf map of `pid` as it is now; no map, or another
   user's: nameless. */
void naming_jit(struct naming *n, const GArray *list, int pid);

#endif
