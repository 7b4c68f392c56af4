/*
 * What the views read from a profile: typed rows instead of SQL.
 *
 * A query looks at one profile as it stood at query_new() and owns all it gives out: rows, strings and arrays
 * are valid until query_free(), and may be kept side by side. The order of every list is total (ties broken
 * down to what is unique), so the same profile gives the same bytes in every view.
 *
 * Cycles are in units of 1/units_per_cycle cycle (720720), so that sums are exact; a view divides when it prints.
 * x_error is the standard error of x where x is an estimate, in the same unit; 0: x is exact. That of a sum is the sum
 * of its parts' errors: it can be no more, whatever they have to do with each other.
 * All is of the whole run, but for what is said of its intervals.
 * Strings: NULL is "unknown" where a comment says so, never "". Functions return 0 or -errno (-EINVAL: the
 * file is damaged; -ENOMEM), with the message set.
 *
 * Place in the pipeline: profile -> view. Not here: percentages, names of components (psv_name() of
 * method/method.h), layout.
 */
#ifndef CYCLEWISE_PROFILE_QUERY_H
#define CYCLEWISE_PROFILE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct query;

/* The profile must outlive the query and stay between checkpoints. */
int  query_new(struct query **out, struct profile *p);
void query_free(struct query *q);

/* Table `run`. What the file does not say is 0, NULL or an empty array. */
struct run_info {
	const char *version;               /* of the cyclewise that wrote it */
	const char *program;
	const char *const *arguments;      /* [nr_arguments], without argv[0], and NULL */
	uint32_t nr_arguments;
	const char *isa, *core, *model, *emulator;
	const char *options;               /* JSON object: set, scale, ideal; NULL: none */
	const char *window;                /* what was counted, as the command gave it; NULL: everything */
	const char *const *notes;          /* [nr_notes], and NULL: warnings for the user, in order */
	uint32_t nr_notes;
	bool complete;                     /* false: cut short */
	bool ended;                        /* exit_status or signal is known */
	int exit_status, signal;           /* signal 0: none */
	uint64_t cycles_units;             /* sum over the threads */
	uint64_t instructions, uops;
	uint64_t units_per_cycle;          /* 720720; never 0 */
	uint64_t period, seed;             /* cycles; of the sampling methods */
	uint64_t forks, execs, lost;
	uint64_t width;                    /* issue slots a cycle; 0: not known */
	double cycles_units_error, instructions_error, uops_error;
};

/* Never NULL; the same each time. */
const struct run_info *query_run(const struct query *q);
/* Adds a note to those of the run, for what is found out while a view is made; each once. */
void query_note(struct query *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Any key of table `run` as text (integers in decimal); NULL: absent. */
const char *query_value(struct query *q, const char *key);

/* One component of a cycle stack. */
struct share {
	uint64_t units;
	uint64_t executions;               /* that ended with this signature; of a function or line: summed over its
	                                    * instructions */
	uint16_t signature;                /* enum psv; 0: Base */
	double units_error, executions_error;
};

/* A cycle stack: components in ascending order of signature, each once; the units add up to `units`. */
struct stack {
	const struct share *share;         /* [nr] */
	uint32_t nr;
	uint64_t units;
	double units_error;
};

/*
 * A function. The instructions of a module that belong to no symbol count as one nameless function
 * (id 0, symbol NULL); the same, with module NULL, for JIT code that no perf map names.
 */
struct query_function {
	uint32_t id;                       /* table `function`; 0: nameless */
	const char *module;                /* path; NULL: JIT code */
	const char *build_id;              /* of the module, hex; NULL: none */
	const char *identity;              /* the same or, without one, a hash of its code, as symbols_identity(); NULL:
	                                    * unknown */
	const char *symbol;                /* demangled; NULL: nameless */
	const char *linkage;               /* as in the symbol table; NULL: nameless */
	uint64_t address, size;            /* the module's own; JIT code: the run's; 0: not known */
	const char *file;                  /* source of its first line; NULL: unknown */
	uint32_t line;                     /* 0: unknown */
	uint32_t nr_insns;                 /* of its instructions, how many were executed */
	struct stack stack;
};

/* Functions by units, most first; ties by module path (JIT code last), address, id. All of them. */
int query_functions(struct query *q, const struct query_function **rows, size_t *nr);

/*
 * The functions that `name` may mean, in the order of query_functions(): those it matches best (enum name_match
 * of symbol/symbol.h), so that "g" finds "ns::g(int)" unless there is a plain `g`. *nr 0: no such function.
 */
int query_find(struct query *q, const char *name, const struct query_function *const **rows, size_t *nr);

/* A source line, by the innermost inlined code. */
struct query_line {
	const char *file;                  /* NULL: all code without line information, one row */
	uint32_t line;
	uint32_t nr_insns;
	uint64_t executions;               /* of its most executed instruction */
	struct stack stack;
};

/* What is known of a source's text. */
struct query_source {
	const char *md5;                   /* of the text as it was compiled or else during the run, hex */
	bool newer;                        /* it was edited after what was built of it */
};
/* Of the source `file`; *out NULL: nothing. */
int query_source(struct query *q, const char *file, const struct query_source **out);

/* Lines by units, most first; ties by file (NULL last), line. */
int query_lines(struct query *q, const struct query_line **rows, size_t *nr);

/* A step of an inline chain: the inlined function, and where in its caller it was called. */
struct query_frame {
	const char *symbol;                /* NULL: unknown */
	const char *file;                  /* of the call; NULL: unknown */
	uint32_t line;
};

struct query_insn {
	uint32_t insn;                     /* table `insn` */
	uint32_t line;                     /* 0: unknown */
	const char *module;                /* path; NULL: JIT code */
	uint64_t address;                  /* the module's own, as objdump prints it; JIT code: the run's */
	uint64_t pc;                       /* the run's */
	const struct query_function *function; /* never NULL; may be the nameless one */
	uint64_t offset;                   /* from the function's start; 0 where it is nameless */
	const char *file;                  /* source of the innermost inlined code; NULL: unknown */
	const struct query_frame *inlined; /* [nr_inlined], innermost first */
	const uint8_t *bytes;              /* [length] */
	const char *disassembly;           /* never NULL; "" where nothing could be decoded */
	const char *form;                  /* LLVM's opcode; NULL: not known */
	uint8_t length, nr_inlined;
	bool unmodelled;                   /* the core had no cost for it */
	uint64_t executions;               /* sum over its stack */
	struct stack stack;
};

/*
 * Instructions by units, most first; ties by module path (JIT code last), address, pc, insn.
 * At most `limit` (0: all). *total, where not NULL: how many there are without the limit.
 */
int query_hot(struct query *q, size_t limit, const struct query_insn **rows, size_t *nr, size_t *total);

/* The executed instructions of one function, by address, pc, insn. */
int query_insns(struct query *q, const struct query_function *f, const struct query_insn **rows, size_t *nr);

/* Where the code of an inlined function is: one call of it that was inlined. */
struct query_copy {
	const struct query_frame *chain;   /* [nr_chain]: the calls, that of the function itself first; symbol: what was
	                                    * called there */
	uint32_t nr_chain;                 /* 1 or more */
	uint32_t nr_insns;                 /* of its instructions, how many were executed */
	const struct query_function *function; /* that holds the code */
	uint64_t executions;               /* of its most executed instruction */
	struct stack stack;
	const uint32_t *order;             /* [nr_insns]: the query's own */
};

/*
 * A function that was inlined, all its copies together, with what was inlined into them. Its cycles are also those of
 * the functions that hold the copies.
 */
struct query_inlined {
	const char *symbol, *linkage;      /* demangled, and as linkers have it or, in C, the name; never NULL */
	const char *module;                /* path */
	const char *build_id;              /* of the module, hex; NULL: none */
	const char *file;                  /* where it is declared; NULL: unknown */
	uint32_t line;                     /* 0: unknown */
	uint32_t nr_copies;
	const struct query_copy *copy;     /* [nr_copies], by units, most first; ties by address */
	struct stack stack;
};

/* By units, most first; ties by module, symbol, file, line. None in a profile of an older version. */
int query_inlined(struct query *q, const struct query_inlined **rows, size_t *nr);
/* Those that `name` may mean, as query_find(). */
int query_find_inlined(struct query *q, const char *name, const struct query_inlined *const **rows, size_t *nr);
/* The executed instructions of a copy, by address, pc, insn. */
int query_copy_insns(struct query *q, const struct query_copy *copy, const struct query_insn **rows, size_t *nr);

struct query_process {
	uint32_t process;
	uint32_t parent;                   /* a lower number; PROCESS_NONE: the run began with it */
	const char *program;               /* NULL: unknown */
};
/* By process, in the order in which they began. */
int query_processes(struct query *q, const struct query_process **rows, size_t *nr);

struct slot_errors { double total, filled, issued, retired, recovery; };

struct query_thread {
	uint32_t thread;                   /* one numbering through all processes */
	uint32_t process;
	uint64_t instructions, uops, units;
	struct slot_counts slots;
	double instructions_error, uops_error, units_error;
	struct slot_errors slots_error;
};
/* By thread. */
int query_threads(struct query *q, const struct query_thread **rows, size_t *nr);

struct query_region {
	const char *name;
	uint64_t entries, instructions, units;
	struct slot_counts slots;
	double entries_error, instructions_error, units_error;
	struct slot_errors slots_error;
};
/* In the order the regions were first seen. */
int query_regions(struct query *q, const struct query_region **rows, size_t *nr);

struct query_state {
	uint32_t thread;
	const char *state;                 /* compute, stalled, drained, flushed */
	uint64_t units;
	double units_error;
};
/* By thread, then in the order of the comment above. */
int query_states(struct query *q, const struct query_state **rows, size_t *nr);

/* A named number. */
struct query_count {
	const char *name;
	uint64_t count;
	double count_error;
};
/* Events, in the order they were written (that of enum psv); count of committed instructions. */
int query_events(struct query *q, const struct query_count **rows, size_t *nr);
/* Forms without cost data; count of executions; most first, then by name. */
int query_unmodelled(struct query *q, const struct query_count **rows, size_t *nr);
/* Parameters of the core as used, by name; text. */
struct query_parameter { const char *name, *value; };
int query_parameters(struct query *q, const struct query_parameter **rows, size_t *nr);

/* CPI stack components of one method ("fmt"), in the order they were written; count in units. *nr 0: no such method. */
int query_components(struct query *q, const char *method, const struct query_count **rows, size_t *nr);
/* Methods that left components, by name; count: their sum. */
int query_component_methods(struct query *q, const struct query_count **rows, size_t *nr);

/* Methods that left samples, by name; count: the sum of their weights (one sample: 720720). */
int query_sample_methods(struct query *q, const struct query_count **rows, size_t *nr);

struct query_sample {
	uint32_t insn;                     /* may have no row among the instructions: squashed each time it was
	                                    * sampled */
	uint16_t signature;
	uint64_t weight;
};
/* One method's samples, by insn, signature. */
int query_samples(struct query *q, const char *method, const struct query_sample **rows, size_t *nr);

/* Figures of a method (profile_figure()). */
struct query_figure {
	const char *method, *name;
	uint32_t insn;                     /* of query_insn_figures(); else 0 */
	uint32_t interval;                 /* of query_interval_figures(); else 0 */
	double value, value_error;
};
/* By method, then in the order they were written; method NULL: of all. */
int query_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr);
/* The figures of single instructions (profile_insn_figure()), by method, insn, then as written; method NULL: of all. */
int query_insn_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr);

/* A part of a thread's run: it begins where the thread has executed begin_instructions in begin_units. */
struct query_interval {
	uint32_t interval, thread;
	uint64_t begin_instructions, begin_units;
	uint64_t instructions, units;      /* how long it is */
	double instructions_error, units_error;
	struct stack stack;                /* over all instructions */
};
/* By thread, then as they follow each other, then by interval. Those of a thread need not be all of it. */
int query_intervals(struct query *q, const struct query_interval **rows, size_t *nr);
/* The figures of intervals (profile_interval_figure()), by method, interval, then as written; method NULL: of all. */
int query_interval_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr);

#endif
