/*
 * Files that somebody else names: a user, the environment, an ELF file, the program that runs. Anything may be there:
 * a device that never ends, a pipe that nobody writes to, a file with more holes than a disk has bytes. So every such
 * file is opened here: regular files alone, up to a size that the caller states.
 */
#ifndef CYCLEWISE_BASE_FILE_H
#define CYCLEWISE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens `path` for reading, with `flags` of open(2) beside those (O_NOFOLLOW; 0). `st` is filled. The descriptor, or
 * -errno with the message set: -EISDIR for a directory, -EINVAL for what else is no regular file, -EFBIG for one of
 * over `most` bytes.
 */
int file_open(const char *path, int flags, uint64_t most, struct stat *st);
/*
 * What is left to read of `fd`, up to `most` bytes, with a zero behind it, in *text (free with free()); the file may be
 * growing, and one in /proc has no size. 0 or -errno, the message set to be of `path`.
 */
int file_read_open(char **text, size_t *bytes, int fd, const char *path, size_t most);
/* Opens, reads and closes. */
int file_read(char **text, size_t *bytes, const char *path, size_t most);
/*
 * The same of text: -EINVAL, with line and column (in bytes, from 1) in the message, where a byte is a zero or no part
 * of UTF-8.
 */
int file_read_text(char **text, size_t *bytes, const char *path, size_t most);
/* False also where there is none. For files that a library opens by name. */
bool file_regular(const char *path);

#endif
