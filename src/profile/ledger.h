/*
 * The ledger of a query: what ledger.c reads and lists.c shows.
 */
#ifndef CYCLEWISE_PROFILE_LEDGER_H
#define CYCLEWISE_PROFILE_LEDGER_H

#include "profile/query_private.h"

/* An instruction's row. `first` and `nr` are its part of `shares`. */
struct entry {
	uint64_t address, pc, units, executions;
	double units_error;
	uint32_t insn, module, function, source, line; /* ids of the tables, 0: none; `function` an index of
	                                                * `functions` */
	uint32_t first, nr;
};

struct module {
	const char *path, *build_id;
	const char *identity;      /* as symbols_identity(); NULL: unknown */
};

struct ledger {
	GArray *shares;            /* struct share, by insn, signature */
	GArray *entries;           /* struct entry, by insn */
	struct module *modules;    /* [id] */
	const char **sources;      /* [id] */
	uint32_t nr_modules, nr_sources; /* ids are below */
	GArray *functions;         /* struct query_function, by units */
	uint32_t *in_order;        /* entries by function (as in `functions`), address, pc, insn */
	uint32_t *function_first;  /* [functions + 1]: where each function's part of `in_order` begins */
};

static inline struct entry *entry_at(const struct ledger *l, uint32_t i)
{
	return &g_array_index(l->entries, struct entry, i);
}

static inline struct query_function *function_at(const struct ledger *l, uint32_t i)
{
	return &g_array_index(l->functions, struct query_function, i);
}

/*
 * A component from `column` on: signature, executions, units, executions_error, units_error. False: its events are none
 * that there are. Of all that are read, executions and units saturate at what is `left`, so that no sum of them wraps.
 */
bool read_share(sqlite3_stmt *s, int column, struct share *share, struct share *left);
#define SHARES_MOST { .executions = INT64_MAX, .units = INT64_MAX }

/* Sums of stacks: by group (function or line), the share of each signature, ascending. */
struct sums {
	GArray **shares;           /* [nr], each of struct share */
};

struct sums sums_new(size_t nr);
void sums_add_entry(struct sums *sums, size_t group, const struct ledger *l, const struct entry *e);
/* The stack of a group, each to be taken once; its shares go over to the query. */
struct stack sums_take(struct sums *sums, size_t group, struct query *q);
void sums_free(struct sums *sums);

/* lists.c: the entries `order` [nr] in full, in that order. */
int fill_insns(struct query *q, const struct ledger *l, const uint32_t *order, size_t nr,
               const struct query_insn **rows);

/* The ledger, read on first use. 0 or -errno. */
int ledger_open(struct query *q, struct ledger **out);

/* Orders, as for qsort(). */
int compare_counts(uint64_t a, uint64_t b);
int compare_texts(const char *a, const char *b); /* NULL comes last */
/* Of entries by address, pc, insn; `a` and `b` point to their indices. */
gint compare_addresses(gconstpointer a, gconstpointer b, gpointer ledger);

#endif
