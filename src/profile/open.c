/*
 * Opening a profile for reading: anything may be there, and each has its own message.
 *
 * A profile never changes in place (profile.c), so it is opened as immutable: no locks, no journals, nothing
 * written beside it. The whole structure is checked once, so that what views read afterwards is a sound
 * database; what it says is still checked where it is used. One of an older version gets what it lacks (older.sql).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "profile/header.h"
#include "profile/older.h"
#include "profile/private.h"
#include "profile/profile.h"

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

/* What can be told without SQLite; in *version, that of the schema. */
static int check_file(const char *path, uint32_t *version)
{
	struct profile_header header;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (fd < 0) {
		err = error_errno(errno, path);
		if (err == -ENOENT)
			error_remedy("make one with `cyclewise record`, or name an existing one");
		return err;
	}
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && S_ISREG(st.st_mode))
		err = profile_header_read(&header, fd);
	close(fd);
	if (err)
		return error_errno(-err, path);
	if (!S_ISREG(st.st_mode))
		return not_a_profile(path, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
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

/* Gives a profile of an older version what it lacks. What is in the file is not looked at before it is read. */
static int supply(sqlite3 *db, const char *path)
{
	int rc = sqlite3_exec(db, older_sql, NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	return rc == SQLITE_NOMEM ? error_errno(ENOMEM, path) : damaged(path, sqlite3_errmsg(db));
}

static int open_database(sqlite3 **out, const char *path, uint32_t version)
{
	char *absolute = g_canonicalize_filename(path, NULL);
	char *escaped = g_uri_escape_bytes((const guint8 *)absolute, strlen(absolute), "/");
	char *uri = g_strconcat("file:", escaped, "?immutable=1", NULL);
	sqlite3 *db = NULL;
	int err = 0;

	if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK) {
		err = error_set(EINVAL, path, "%s", db ? sqlite3_errmsg(db) : "out of memory");
	} else {
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384", NULL, NULL, NULL);
		err = check_cell(db, path, "PRAGMA quick_check(1)", "ok");
		if (!err)
			err = check_cell(db, path, "SELECT value FROM run WHERE key = 'units_per_cycle'", NULL);
		if (!err && version < PROFILE_VERSION)
			err = supply(db, path);
	}
	g_free(absolute);
	g_free(escaped);
	g_free(uri);
	if (err)
		sqlite3_close(db);
	else
		*out = db;
	return err;
}

int profile_open(struct profile **out, const char *path)
{
	sqlite3 *db;
	struct profile *p;
	uint32_t version = 0;
	int err = check_file(path, &version);

	if (!err)
		err = open_database(&db, path, version);
	if (err)
		return err;
	p = g_new0(struct profile, 1);
	p->path = g_strdup(path);
	p->lock = p->next_lock = -1;
	p->db = db;
	*out = p;
	return 0;
}
