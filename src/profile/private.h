/*
 * What the files of this room share: the profile's state, and how SQLite's errors become the project's.
 */
#ifndef CYCLEWISE_PROFILE_PRIVATE_H
#define CYCLEWISE_PROFILE_PRIVATE_H

#include <glib.h>
#include <sqlite3.h>

#include "profile/profile.h"

enum {
	PROFILE_APPLICATION = 0x43575031,  /* SQLite's application_id: 'CWP1' */
	/*
	 * SQLite's user_version: raised where an older reader would misread. 2: standard errors, without which an
	 * estimate looks exact; processes and intervals. What older ones lack, older.sql supplies.
	 */
	PROFILE_VERSION = 2,
	MOST_FIGURES = 8,                  /* of a row that may be an estimate: a thread's */
};

/* The statements that write rows, prepared once a checkpoint (write.c). */
#define PROFILE_STATEMENTS(X) \
	X(RUN, "INSERT OR REPLACE INTO run VALUES (?, ?)") \
	X(NOTE, "INSERT INTO run VALUES ('notes', json_array(?1)) " \
	        "ON CONFLICT (key) DO UPDATE SET value = json_insert(value, '$[#]', ?1)") \
	X(PARAMETER, "INSERT OR REPLACE INTO parameter VALUES (?, ?)") \
	X(PROCESS, "INSERT OR REPLACE INTO process VALUES (?, ?, ?)") \
	X(THREAD, "INSERT OR REPLACE INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") \
	X(THREAD_PROCESS, "UPDATE thread SET process = ?2 WHERE thread = ?1") \
	X(REGION, "INSERT OR REPLACE INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") \
	X(CYCLES, "INSERT OR REPLACE INTO cycles VALUES (?, ?, ?, ?, ?, ?)") \
	X(SAMPLE, "INSERT OR REPLACE INTO sample VALUES (?, ?, ?, ?)") \
	X(STATE, "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?)") \
	X(COMPONENT, "INSERT OR REPLACE INTO component VALUES (?, ?, ?, ?, ?)") \
	X(EVENT, "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?)") \
	X(UNMODELLED, "INSERT OR REPLACE INTO unmodelled VALUES (?, ?, ?)") \
	X(FIGURE, "INSERT OR REPLACE INTO figure VALUES (?, ?, ?, ?, ?)") \
	X(INSN_FIGURE, "INSERT OR REPLACE INTO insn_figure VALUES (?, ?, ?, ?, ?, ?)") \
	X(INTERVAL, "INSERT OR REPLACE INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?)") \
	X(INTERVAL_CYCLES, "INSERT OR REPLACE INTO interval_cycles VALUES (?, ?, ?, ?, ?, ?)") \
	X(INTERVAL_FIGURE, "INSERT OR REPLACE INTO interval_figure VALUES (?, ?, ?, ?, ?, ?)") \
	X(MODULE, "INSERT INTO module VALUES (?, ?, ?)") \
	X(MODULE_CODE, "INSERT INTO module_code VALUES (?, ?)") \
	X(SOURCE, "INSERT INTO source VALUES (?, ?)") \
	X(SOURCE_TEXT, "INSERT INTO source_text VALUES (?, ?, ?)") \
	X(FUNCTION, "INSERT INTO function VALUES (?, ?, ?, ?, ?, ?, ?, ?)") \
	X(INSN, "INSERT INTO insn VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") \
	X(INLINE_FUNCTION, "INSERT INTO inline_function VALUES (?, ?, ?, ?, ?, ?)") \
	X(INLINED, "INSERT INTO inlined VALUES (?, ?, ?, ?, ?, ?)")

enum profile_statement {
#define X(name, sql) STATEMENT_##name,
	PROFILE_STATEMENTS(X)
#undef X
	NR_STATEMENTS
};

struct naming;                     /* naming.h: what has been resolved so far */

/*
 * `db` is the last whole checkpoint; `next`, between begin and commit, the one being built. A profile that was
 * opened for reading has only `db`. Where there is a file, `lock` and `next_lock` are descriptors of the two
 * files that hold flock(2) locks for as long as they may be written or replaced by this process.
 */
struct profile {
	char *path, *part;         /* the file, and the one being built beside it; NULL: no file */
	sqlite3 *db, *next;
	int lock, next_lock;       /* -1: none */
	uint64_t steps, most_steps; /* that SQLite may still take for what is read, and in all for one statement */
	int error;                 /* of the last write, 0 or -errno */
	int64_t ordinal;           /* rows written in this checkpoint whose order is kept */
	double estimate[MOST_FIGURES]; /* [nr_estimate]: standard errors of the next row's figures */
	unsigned nr_estimate;      /* 0: it is exact */
	sqlite3_stmt *statement[NR_STATEMENTS];  /* over `next`; prepared on first use */
	struct naming *naming;
};

/* Prepares what PROFILE_STATEMENTS names on first use; NULL on failure, with p->error set. */
sqlite3_stmt *profile_statement(struct profile *p, enum profile_statement which);
/* Executes it once, for no rows, and resets it. 0 or -errno. */
int profile_step(struct profile *p, sqlite3_stmt *statement);
/* Adds to the list "notes"; valid UTF-8. 0 or -errno. */
int profile_note(struct profile *p, const char *note);
/* Runs statements without results on the checkpoint being built. 0 or -errno. */
int profile_exec(struct profile *p, const char *sql);
/* Sets the message for the failure `rc` of a write to `db`; returns and keeps -errno. */
int profile_failed(struct profile *p, sqlite3 *db, int rc);

#endif
