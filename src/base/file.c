#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

static int refused(const char *path, mode_t mode)
{
	return S_ISDIR(mode) ? error_errno(EISDIR, path) : error_set(EINVAL, path, "is not a regular file");
}

static int too_large(const char *path, uint64_t most)
{
	const uint64_t mib = 1 << 20;

	if (most >= mib && most % mib == 0)
		return error_set(EFBIG, path, "is larger than %" PRIu64 " MiB", most / mib);
	return error_set(EFBIG, path, "is larger than %" PRIu64 " bytes", most);
}

int file_open(const char *path, int flags, uint64_t most, struct stat *st)
{
	int fd, err = 0;

	/* To open a device may do something; a link is left to open(2). */
	if (!fstatat(AT_FDCWD, path, st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) && !S_ISREG(st->st_mode) &&
	    !S_ISLNK(st->st_mode))
		return refused(path, st->st_mode);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return error_errno(errno, path);
	if (fstat(fd, st))
		err = error_errno(errno, path);
	else if (!S_ISREG(st->st_mode))
		err = refused(path, st->st_mode);
	else if ((uint64_t)st->st_size > most)
		err = too_large(path, most);
	if (err)
		close(fd);
	return err ? err : fd;
}

int file_read_open(char **text, size_t *bytes, int fd, const char *path, size_t most)
{
	size_t used = 0, room = 1 << 16;
	char *all = malloc(room), *more;
	ssize_t n = 0;
	int err = 0;

	while (all && used <= most && (n = read(fd, all + used, room - used - 1)) > 0) {
		used += (size_t)n;
		if (used < room - 1)
			continue;
		more = realloc(all, room *= 2);
		if (!more)
			free(all);
		all = more;
	}
	if (!all)
		return error_errno(ENOMEM, path);
	if (n < 0)
		err = error_errno(errno, path);
	else if (used > most)
		err = too_large(path, most);
	if (err) {
		free(all);
		return err;
	}
	all[used] = '\0';
	*text = all;
	*bytes = used;
	return 0;
}

int file_read(char **text, size_t *bytes, const char *path, size_t most)
{
	struct stat st;
	int fd = file_open(path, 0, most, &st), err;

	if (fd < 0)
		return fd;
	err = file_read_open(text, bytes, fd, path, most);
	close(fd);
	return err;
}

static int not_text(const char *path, const char *text, const char *at)
{
	const char *line = text;
	unsigned lines = 1;
	char what[512];

	for (const char *c = text; c < at; c++) {
		if (*c != '\n')
			continue;
		line = c + 1;
		lines++;
	}
	snprintf(what, sizeof what, "%s:%u:%zu", path, lines, (size_t)(at - line) + 1);
	return error_set(EINVAL, what, "not text: %s", *at ? "a byte that is not UTF-8" : "a byte that is zero");
}

int file_read_text(char **text, size_t *bytes, const char *path, size_t most)
{
	const char *end;
	int err = file_read(text, bytes, path, most);

	if (err || g_utf8_validate(*text, (gssize)*bytes, &end))
		return err;
	err = not_text(path, *text, end);
	free(*text);
	return err;
}

bool file_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}
