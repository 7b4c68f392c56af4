/*
 * What the files of the query share.
 */
#ifndef CYCLEWISE_PROFILE_QUERY_PRIVATE_H
#define CYCLEWISE_PROFILE_QUERY_PRIVATE_H

#include <glib.h>
#include <sqlite3.h>

#include "profile/query.h"
#include "symbol/symbol.h"

struct ledger;                     /* ledger.h: instructions and their cycles */

struct query {
	sqlite3 *db;               /* the profile's */
	struct profile *profile;
	GStringChunk *strings;
	GPtrArray *memory;         /* arrays given out, freed with g_free() */
	GHashTable *values;        /* table `run`: key -> text */
	struct run_info run;
	struct ledger *ledger;     /* NULL until first use */
	GHashTable *texts;         /* path -> struct query_source * (of `memory`); NULL until first use */
	GArray *inlined;           /* struct query_inlined; NULL until first use */
};

/* Prepares a statement; the message says that the file is damaged where it cannot be. 0 or -errno. */
int query_prepare(struct query *q, sqlite3_stmt **out, const char *sql);
/* Whether the profile has the column: what was added later is not in older ones. */
bool query_has(struct query *q, const char *table, const char *column);
/* Says that the file is damaged, and how; -EINVAL. */
int query_damaged(struct query *q, const char *how);
/* After the last row: finalizes, and turns what ended the rows into 0 or -errno. */
int query_end(struct query *q, sqlite3_stmt *statement, int rc);
/* A column's text, kept as long as the query; NULL for NULL. */
const char *query_text(struct query *q, sqlite3_stmt *statement, int column);
/* A column as an id below `limit`; 0 where it is NULL or makes no sense. */
uint32_t query_id(sqlite3_stmt *statement, int column, uint32_t limit);
/* A column as a number from 0 to UINT32_MAX - 1; `other` where it is NULL or makes no sense. */
uint32_t query_number(sqlite3_stmt *statement, int column, uint32_t other);
/* A column as a standard error; 0 where it is NULL or makes no sense. */
double query_error(sqlite3_stmt *statement, int column);
/*
 * Of rows that a name may mean: keeps in `found` (pointers) those that it means best. `best`: NAME_LAST at first, the
 * least that counts.
 */
void query_offer(GArray *found, enum name_match *best, enum name_match match, const void *row);
/* Hands an array's memory to the query, and its elements to the caller; never NULL. */
void *query_keep(struct query *q, GArray *array, size_t *nr);

void ledger_free(struct ledger *l);

#endif
