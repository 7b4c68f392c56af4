/*
 * The first 100 bytes of a file: is it a profile? SQLite's own header says so, without SQLite.
 *
 * Ref: SQLite, "Database File Format", §1.3.
 */
#ifndef CYCLEWISE_PROFILE_HEADER_H
#define CYCLEWISE_PROFILE_HEADER_H

#include <stdint.h>

enum header_kind {
	HEADER_EMPTY,              /* no bytes at all */
	HEADER_FOREIGN,            /* not SQLite */
	HEADER_SQLITE,             /* SQLite, but of another application */
	HEADER_PROFILE,
};

struct profile_header {
	enum header_kind kind;
	uint32_t version;          /* of the schema */
	uint64_t bytes;            /* the file should have, by its header; 0: not known */
};

/* Reads the header of `fd` wherever its offset stands. 0 or -errno, without message. */
int profile_header_read(struct profile_header *out, int fd);

#endif
