/*
 * The options of all commands: one table. getopt_long()'s arrays, --help, the manual pages' OPTIONS and the
 * completion are all made from it.
 *
 * Place: cmd/, between main.c and the commands.
 */
#ifndef CYCLEWISE_CMD_OPTIONS_H
#define CYCLEWISE_CMD_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

/* All that a command line can say. Strings are argv's own, or never freed. */
struct options {
	const char *core, *model;          /* NULL: the default */
	const char *wrong_path;            /* NULL: not given; it is in `set`, too */
	GPtrArray *set, *scale, *ideal;    /* const char *, in the order given */
	struct window window;
	uint64_t period, seed;
	const char *output;                /* -o; NULL: not given */
	const char *json_file;             /* --json=FILE; NULL: standard output */
	const char *report;                /* --report; NULL: standard error or, of what runs nothing, standard
	                                    * output */
	const char *for_profile;           /* --for; NULL: not given */
	uint64_t limit;                    /* 0: the command's own */
	const char *kanata;                /* NULL: not given */
	bool sweep_period, no_simulation;
	const char *weights, *only;        /* NULL: the default */
	GPtrArray *insn, *function, *event, *prefetch; /* const char * */
	const char *distance;              /* NULL: the default */
	bool with_resources;
	GPtrArray *source_path;            /* const char *, as given */
	bool json, quiet, verbose, no_progress, help, quick;
};

/* Which commands take an option. */
enum option_group {
	OPTIONS_ALL  = 0,                  /* every command */
	OPTIONS_RUN  = 1 << 0,             /* what runs a program */
	OPTIONS_FILE = 1 << 1,             /* what writes a profile file */
	OPTIONS_LIST = 1 << 2,             /* what prints lists */
	OPTIONS_CORE = 1 << 3,             /* what writes a core description */
	OPTIONS_STUDY = 1 << 4,            /* what compares methods */
	OPTIONS_WEIGHTS = 1 << 5,          /* what weights resources */
	OPTIONS_CODE = 1 << 6,             /* what shows code */
	OPTIONS_DESCRIBE = 1 << 7,         /* what looks at a core and runs nothing */
	OPTIONS_WHATIF = 1 << 8,           /* what supposes things of instructions */
	OPTIONS_STAGES = 1 << 9,           /* what has a core a thread and the methods alone */
};

enum option_kind {
	OPTION_FLAG,                       /* bool */
	OPTION_TEXT,                       /* const char * */
	OPTION_NUMBER,                     /* uint64_t, decimal */
	OPTION_COUNT,                      /* the same, 1 or more: 0 says that it was not given */
	OPTION_MANY,                       /* GPtrArray *, may be repeated */
	OPTION_JSON,                       /* --json[=FILE] */
};

/* What an option's argument can be completed to. */
enum option_words {
	WORDS_NONE,
	WORDS_FILE,
	WORDS_CORE,
	WORDS_MODEL,
	WORDS_PARAMETER,
	WORDS_PART,
	WORDS_WRONG_PATH,
	WORDS_EVENT,
	NR_WORDS
};

struct option_row {
	const char *name;
	char letter;                       /* of the short option; 0: none */
	uint16_t groups;                   /* enum option_group */
	uint8_t kind;                      /* enum option_kind */
	uint8_t words;                     /* enum option_words */
	size_t offset;                     /* in struct options */
	const char *metavar;               /* NULL: no argument */
	const char *help;                  /* sentences */
};

extern const struct option_row option_rows[];
extern const unsigned nr_option_rows;

/* Whether a command that takes `groups` takes the option. */
bool option_taken(const struct option_row *row, unsigned groups);

/* The option as usage shows it: "-o FILE", "--json[=FILE]". */
void option_usage(const struct option_row *row, char *buf, size_t size);

/*
 * Parses argv[1..], stopping at the first word that is no option (permute false: the program's own options
 * follow it) or gathering them behind (permute true). Returns the index of the first such word, or -EINVAL with
 * the error's status EXIT_USAGE. The lists in `o` are freed with options_fini() in any case.
 */
int  options_parse(struct options *o, unsigned groups, bool permute, int argc, char **argv);
void options_fini(struct options *o);

#endif
