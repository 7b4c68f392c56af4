#include "profile/header.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profile/private.h"

enum { HEADER_BYTES = 100 };

static uint32_t big_endian(const uint8_t *at, unsigned bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

int profile_header_read(struct profile_header *out, int fd)
{
	static const char magic[16] = "SQLite format 3";
	uint8_t h[HEADER_BYTES];
	uint32_t page;
	ssize_t n = pread(fd, h, sizeof(h), 0);

	if (n < 0)
		return -errno;
	*out = (struct profile_header){ .kind = n ? HEADER_FOREIGN : HEADER_EMPTY };
	if (n < HEADER_BYTES || memcmp(h, magic, sizeof(magic)))
		return 0;
	out->kind = big_endian(h + 68, 4) == PROFILE_APPLICATION ? HEADER_PROFILE : HEADER_SQLITE;
	out->version = big_endian(h + 60, 4);
	page = big_endian(h + 16, 2);
	out->bytes = (uint64_t)(page == 1 ? 65536 : page) * big_endian(h + 28, 4);
	return 0;
}
