/*
 * Opening a profile for reading: anything may be there, and each has its own message.
 *
 * A profile never changes in place (profile.c), so it is opened as immutable: no locks, no journals, nothing
 * written beside it. The whole structure is checked once, so that what views read afterwards is a sound
 * database; what it says is still checked where it is used. One of an older version gets what it lacks (older.sql).
 *
 * A database can hold programs: views, triggers, expressions of columns and checks. None of them runs. It has to be
 * tables and indices of plain columns (and the view for people, which nothing here reads), no value may be longer than
 * any that is written, and a statement ends after so many steps as no table of the file's size takes.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "profile/header.h"
#include "profile/older.h"
#include "profile/private.h"
#include "profile/profile.h"

enum {
	MOST_VALUE = 16 << 20,     /* bytes of a value: a program's arguments may take some MiB */
	STEPS = 10000,             /* of SQLite's virtual machine; a row takes up to 60, and at least 10 bytes */
	STEPS_PER_BYTE = 100,      /* that a statement may take */
	SOME_STEPS = 10 * 1000 * 1000,
};

static int not_a_profile(const char *path, const char *why)
{
	int err = error_set(EINVAL, path, "%s", why);

	error_remedy("name a file that `cyclewise record` wrote");
	return err;
}

static int damaged(const char *path, const char *why)
{
	int err = error_set(EINVAL, path, "damaged profile: %s", why);

	error_remedy("record it again; %s.old may hold the run before", path);
	return err;
}

/* What can be told without SQLite; in *version, that of the schema; in *bytes, the file's size. */
static int check_file(const char *path, uint32_t *version, uint64_t *bytes)
{
	struct profile_header header;
	struct stat st;
	int fd = file_open(path, 0, UINT64_MAX, &st), err;

	if (fd == -EISDIR)
		return not_a_profile(path, "is a directory");
	if (fd == -EINVAL)
		return not_a_profile(path, "is not a regular file");
	if (fd == -ENOENT)
		error_remedy("make one with `cyclewise record`, or name an existing one");
	if (fd < 0)
		return fd;
	err = profile_header_read(&header, fd);
	close(fd);
	if (err)
		return error_errno(-err, path);
	switch (header.kind) {
	case HEADER_EMPTY:
		return not_a_profile(path, "is empty");
	case HEADER_FOREIGN:
		return not_a_profile(path, "is not a profile of cyclewise");
	case HEADER_SQLITE:
		return not_a_profile(path, "is an SQLite database, but not a profile of cyclewise");
	case HEADER_PROFILE:
		break;
	}
	if (header.version > PROFILE_VERSION) {
		err = error_set(EINVAL, path, "is a profile of version %u; this cyclewise reads up to %d",
		                header.version, PROFILE_VERSION);
		error_remedy("read it with the newer cyclewise that wrote it");
		return err;
	}
	if (!header.version)
		return damaged(path, "its header makes no sense");
	if ((uint64_t)st.st_size < header.bytes)
		return damaged(path, "it has been cut short");
	*version = header.version;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* What PRAGMA integrity_check begins with where it has found something; it is told of the first. */
#define INTEGRITY_HEAD "*** in database main ***\n"

/* One text cell that must come, and must be `expected` where that is not NULL. */
static int check_cell(sqlite3 *db, const char *path, const char *sql, const char *expected)
{
	sqlite3_stmt *statement = NULL;
	const char *text;
	int err = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
		err = damaged(path, sqlite3_errmsg(db));
	} else {
		text = (const char *)sqlite3_column_text(statement, 0);
		if (!text)
			text = "a value is missing";
		if (expected && strcmp(text, expected))
			err = damaged(path,
			              g_str_has_prefix(text, INTEGRITY_HEAD) ? text + strlen(INTEGRITY_HEAD) : text);
	}
	sqlite3_finalize(statement);
	return err;
}

/* Words that no statement of ours has, and without which columns are values and nothing else. */
#define PROGRAMS "\\b(check|generated|as|virtual)\\b"

static bool is_plain(const char *type, const char *name, const char *sql)
{
	if (!strcmp(type, "view"))
		return !strcmp(name, "hot");
	if (!strcmp(type, "index")) /* of columns, without a condition; SQLite's own have no text */
		return !sql || (strchr(sql, '(') == strrchr(sql, '(') && g_str_has_suffix(sql, ")"));
	return !strcmp(type, "table") && sql && !g_regex_match_simple(PROGRAMS, sql, G_REGEX_CASELESS, 0);
}

/* That the file's schema is of plain tables. */
static int check_schema(sqlite3 *db, const char *path)
{
	static const char sql[] = "SELECT type, name, sql FROM sqlite_schema";
	sqlite3_stmt *s = NULL;
	int err = 0, rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

	while (!err && rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *text[3];

		for (int i = 0; i < 3; i++)
			text[i] = (const char *)sqlite3_column_text(s, i);
		rc = SQLITE_OK;
		if (text[0] && text[1] && is_plain(text[0], text[1], text[2]))
			continue;
		char *why = g_strdup_printf("its %s %s was not written by cyclewise", text[0] ? text[0] : "entry",
		                            text[1] ? text[1] : "");
		err = damaged(path, why);
		g_free(why);
	}
	if (!err && rc != SQLITE_DONE)
		err = damaged(path, sqlite3_errmsg(db));
	sqlite3_finalize(s);
	return err;
}

/* Called every STEPS steps of a statement: nonzero ends it. */
static int count_steps(void *profile)
{
	struct profile *p = profile;

	if (p->steps < STEPS)
		return 1;
	p->steps -= STEPS;
	return 0;
}

/* Before anything of the file is read. */
static void confine(struct profile *p)
{
	static const struct { int option, on; } options[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 }, { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
		sqlite3_db_config(p->db, options[i].option, options[i].on, NULL);
	sqlite3_limit(p->db, SQLITE_LIMIT_LENGTH, MOST_VALUE);
	sqlite3_progress_handler(p->db, STEPS, count_steps, p);
}

/* Gives a profile of an older version what it lacks. What is in the file is not looked at before it is read. */
static int supply(sqlite3 *db, const char *path)
{
	int rc = sqlite3_exec(db, older_sql, NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	return rc == SQLITE_NOMEM ? error_errno(ENOMEM, path) : damaged(path, sqlite3_errmsg(db));
}

static int open_database(struct profile *p, const char *path, uint32_t version)
{
	char *absolute = g_canonicalize_filename(path, NULL);
	char *escaped = g_uri_escape_bytes((const guint8 *)absolute, strlen(absolute), "/");
	char *uri = g_strconcat("file:", escaped, "?immutable=1", NULL);
	int err = 0;

	if (sqlite3_open_v2(uri, &p->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK) {
		err = error_set(EINVAL, path, "%s", p->db ? sqlite3_errmsg(p->db) : "out of memory");
	} else {
		sqlite3 *db = p->db;
		confine(p);
		sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384", NULL, NULL, NULL);
		err = check_schema(db, path);
		if (!err)
			err = check_cell(db, path, "PRAGMA quick_check(1)", "ok");
		if (!err)
			err = check_cell(db, path, "SELECT value FROM run WHERE key = 'units_per_cycle'", NULL);
		if (!err && version < PROFILE_VERSION)
			err = supply(db, path);
	}
	g_free(absolute);
	g_free(escaped);
	g_free(uri);
	return err;
}

int profile_open(struct profile **out, const char *path)
{
	struct profile *p = g_new0(struct profile, 1);
	uint32_t version = 0;
	uint64_t bytes = 0;
	int err = check_file(path, &version, &bytes);

	p->path = g_strdup(path);
	p->lock = p->next_lock = -1;
	p->steps = p->most_steps = SOME_STEPS + STEPS_PER_BYTE * bytes;
	if (!err)
		err = open_database(p, path, version);
	if (err)
		profile_close(p);
	else
		*out = p;
	return err;
}
