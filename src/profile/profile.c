/*
 * The life of a profile file: created, replaced checkpoint by checkpoint, closed.
 *
 * A checkpoint is built in a file of its own beside the profile and renamed over it when it is whole and on the
 * disk. So no journal is needed, a kill at any moment leaves the profile as it was, and readers may treat the
 * file as one that never changes. What a kill can leave behind is the unfinished file, `.NAME.part`, which the
 * next run into the same profile takes over.
 *
 * A profile that is being written is locked, and so is the file being built; who cannot have both locks is told
 * that another cyclewise writes there. The lock falls with the process. File systems without locks go without.
 */
#include "profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "method/method.h"
#include "profile/header.h"
#include "profile/naming.h"
#include "profile/private.h"
#include "profile/schema.h"

static const char *profile_name(const struct profile *p)
{
	return p->path ? p->path : "profile";
}

/* The errno behind an I/O error: of the file where SQLite keeps it, else of the last system call that failed. */
static int system_error(sqlite3 *db)
{
	int code = 0;

	if (sqlite3_file_control(db, NULL, SQLITE_FCNTL_LAST_ERRNO, &code) != SQLITE_OK || code <= 0)
		code = sqlite3_system_errno(db);
	return code > 0 ? code : EIO;
}

int profile_failed(struct profile *p, sqlite3 *db, int rc)
{
	int code;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		code = ENOSPC;
		break;
	case SQLITE_NOMEM:
		code = ENOMEM;
		break;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		code = system_error(db);
		break;
	default:
		p->error = error_set(EIO, profile_name(p), "%s", sqlite3_errmsg(db));
		return p->error;
	}
	p->error = error_errno(code, profile_name(p));
	if (code == ENOSPC || code == EFBIG || code == EDQUOT)
		error_remedy("make room, or write elsewhere with -o");
	return p->error;
}

int profile_exec(struct profile *p, const char *sql)
{
	int rc = sqlite3_exec(p->next, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : profile_failed(p, p->next, rc);
}

/* True where another holds the lock; where the file system has no locks, nobody does. */
static bool lock_taken(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

static int being_written(const char *path)
{
	int err = error_set(EBUSY, path, "another cyclewise is writing it");

	error_remedy("wait for it, or choose another file with -o");
	return err;
}

/* Opens and locks the file being built, new or left over, and empties it. */
static int open_part(struct profile *p)
{
	struct stat ours, named;
	int fd, err;

	for (;;) {
		fd = open(p->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd < 0) {
			p->error = error_errno(errno, p->path);
			error_remedy("choose another file with -o");
			return p->error;
		}
		if (lock_taken(fd)) {
			close(fd);
			return p->error = being_written(p->path);
		}
		if (!fstat(fd, &ours) && !lstat(p->part, &named) && ours.st_ino == named.st_ino &&
		    ours.st_dev == named.st_dev)
			break;
		close(fd);         /* renamed or removed before it was locked */
	}
	if (ftruncate(fd, 0)) {
		err = error_errno(errno, p->path);
		close(fd);
		return p->error = err;
	}
	p->next_lock = fd;
	return 0;
}

static void discard_next(struct profile *p)
{
	for (unsigned i = 0; i < NR_STATEMENTS; i++) {
		sqlite3_finalize(p->statement[i]);
		p->statement[i] = NULL;
	}
	sqlite3_close(p->next);
	p->next = NULL;
	if (p->next_lock >= 0) {
		unlink(p->part);
		close(p->next_lock);
		p->next_lock = -1;
	}
}

static int open_next(struct profile *p)
{
	static const char setup[] =
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192; BEGIN;";
	char *identity;
	int rc, err;

	if (p->path && (err = open_part(p)))
		return err;
	rc = sqlite3_open_v2(p->path ? p->part : "", &p->next, SQLITE_OPEN_READWRITE, p->path ? "unix-none" : NULL);
	if (rc != SQLITE_OK)
		return profile_failed(p, p->next, rc);
	identity = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;", PROFILE_APPLICATION,
	                           PROFILE_VERSION);
	err = profile_exec(p, setup);
	if (!err)
		err = profile_exec(p, identity);
	if (!err)
		err = profile_exec(p, schema_sql);
	g_free(identity);
	return err;
}

int profile_begin(struct profile *p)
{
	int err;

	assert(!p->path || p->part);
	discard_next(p);
	p->error = 0;
	p->ordinal = 0;
	p->nr_estimate = 0;
	err = open_next(p);
	if (!err)
		err = profile_set_int(p, "complete", 0);
	if (!err)
		err = profile_set_int(p, "units_per_cycle", CYCLE_UNITS);
	if (err)
		discard_next(p);
	return err;
}

/* Puts the file that was built in the profile's place; `next` becomes `db`. */
static int replace(struct profile *p)
{
	if (p->path) {
		if (fsync(p->next_lock) || rename(p->part, p->path))
			return p->error = error_errno(errno, p->path);
		if (p->lock >= 0)
			close(p->lock);
		p->lock = p->next_lock;
		p->next_lock = -1;
	}
	sqlite3_close(p->db);
	p->db = p->next;
	p->next = NULL;
	sqlite3_db_release_memory(p->db);
	return 0;
}

static void add_note(void *p, const char *note)
{
	profile_note(p, note); /* a failure is kept in p->error */
}

int profile_commit(struct profile *p)
{
	int err;

	assert(p->next || p->error);
	if (!p->error && p->naming)
		naming_notes(p->naming, add_note, p);
	err = p->error;
	if (!err)
		err = profile_exec(p, "COMMIT");
	for (unsigned i = 0; i < NR_STATEMENTS; i++) {
		sqlite3_finalize(p->statement[i]);
		p->statement[i] = NULL;
	}
	if (!err)
		err = replace(p);
	if (err)
		discard_next(p);
	return err;
}

void profile_abandon(struct profile *p)
{
	discard_next(p);
}

/* May the file at `path` be taken away? 1: an earlier profile; 0: there is none, or nothing in it; -errno. */
static int check_replaceable(const char *path)
{
	struct profile_header header;
	struct stat st;
	int fd, err;

	if (lstat(path, &st)) {
		if (errno == ENOENT)
			return 0;
		return error_errno(errno, path);
	}
	if (!S_ISREG(st.st_mode))
		goto other;
	if (!st.st_size)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(errno, path);
	err = lock_taken(fd) ? being_written(path) : 0;
	if (!err && (profile_header_read(&header, fd) || header.kind != HEADER_PROFILE))
		err = -EEXIST;
	close(fd);
	if (!err)
		return 1;
	if (err != -EEXIST)
		return err;
other:
	err = error_set(EEXIST, path, "exists and is not a profile of cyclewise");
	error_remedy("choose another file with -o, or remove it");
	return err;
}

/* An earlier profile becomes PATH.old, as perf does. */
static int keep_old(const char *path)
{
	char *old;
	int ours = check_replaceable(path);

	if (ours <= 0)
		return ours;
	old = g_strconcat(path, ".old", NULL);
	ours = check_replaceable(old);
	if (ours >= 0)
		ours = rename(path, old) ? error_errno(errno, path) : 0;
	g_free(old);
	return ours;
}

/* The path with symbolic links resolved, so that renaming acts where the file is. */
static char *real_path(const char *path)
{
	char *resolved = realpath(path, NULL), *copy = g_strdup(resolved ? resolved : path);

	free(resolved);
	return copy;
}

static char *part_path(const char *path)
{
	char *dir = g_path_get_dirname(path), *base = g_path_get_basename(path);
	char *hidden = g_strconcat(".", base, ".part", NULL), *part = g_build_filename(dir, hidden, NULL);

	g_free(dir);
	g_free(base);
	g_free(hidden);
	return part;
}

int profile_create(struct profile **out, const char *path)
{
	struct profile *p = g_new0(struct profile, 1);
	int err = 0;

	p->lock = p->next_lock = -1;
	if (path) {
		p->path = real_path(path);
		p->part = part_path(p->path);
		err = check_replaceable(p->path);
	}
	if (err >= 0)
		err = profile_begin(p);
	if (!err && path)
		err = keep_old(p->path);
	if (!err)
		err = profile_commit(p);
	if (err) {
		profile_close(p);
		return err;
	}
	*out = p;
	return 0;
}

int profile_close(struct profile *p)
{
	int err;

	if (!p)
		return 0;
	err = p->error;
	discard_next(p);
	sqlite3_close(p->db);
	if (p->lock >= 0)
		close(p->lock);
	naming_free(p->naming);
	g_free(p->path);
	g_free(p->part);
	g_free(p);
	return err;
}

struct sqlite3 *profile_db(struct profile *p)
{
	return p->db;
}
