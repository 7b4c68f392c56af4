/*
 * Names of JIT code: /tmp/perf-PID.map, lines "START SIZE name" in hex.
 *
 * A JIT reuses addresses, so where entries overlap the later line is the newer code. A file that belongs to
 * someone else is not believed. Ref: Linux, tools/perf/Documentation/jit-interface.txt.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "symbol/interval.h"
#include "symbol/symbol.h"

/* What a JIT of a million functions writes; entries take four times as much. */
enum { MOST_BYTES = 64 << 20 };

struct entry {
	uint64_t start, size;
	const char *name;          /* in `text` */
};

struct perf_map {
	char *text;
	GArray *entries;           /* struct entry, in the order of the file */
	struct interval_map by_address; /* id: index into `entries` */
	uint64_t malformed;        /* lines skipped */
};

static bool parse_hex(char **at, uint64_t *value)
{
	char *end;

	if (!g_ascii_isxdigit(**at))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(*at, &end, 16);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

static bool parse_line(char *line, struct entry *out)
{
	line[strcspn(line, "\r")] = 0;
	if (!parse_hex(&line, &out->start) || !parse_hex(&line, &out->size))
		return false;
	out->name = line;
	return *line && out->size && out->start + out->size > out->start;
}

static void parse(struct perf_map *m)
{
	char *line = m->text, *end;
	struct entry entry;

	for (; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = 0;
		if (parse_line(line, &entry))
			g_array_append_val(m->entries, entry);
		else if (*line)
			m->malformed++;
	}
}

static void index_entries(struct perf_map *m)
{
	struct interval *given = g_new(struct interval, m->entries->len);

	for (guint i = 0; i < m->entries->len; i++) {
		const struct entry *entry = &g_array_index(m->entries, struct entry, i);

		given[i] = (struct interval){ entry->start, entry->start + entry->size, i, i };
	}
	interval_map_init(&m->by_address, given, m->entries->len);
	g_free(given);
}

int perf_map_load(struct perf_map **out, const char *path)
{
	struct perf_map *m;
	struct stat st;
	char *text;
	size_t bytes;
	int fd = file_open(path, O_NOFOLLOW, MOST_BYTES, &st), err;

	if (fd < 0)
		return fd;
	/* By read(2): it may be growing. */
	err = st.st_uid == geteuid() ? file_read_open(&text, &bytes, fd, path, MOST_BYTES)
	                             : error_set(EPERM, path, "belongs to another user");
	close(fd);
	if (err)
		return err;
	m = g_new0(struct perf_map, 1);
	m->text = text;
	m->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	parse(m);
	index_entries(m);
	*out = m;
	return 0;
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	interval_map_fini(&m->by_address);
	g_array_free(m->entries, TRUE);
	free(m->text);
	g_free(m);
}

const char *perf_map_find(const struct perf_map *m, uint64_t pc, uint64_t *start, uint64_t *size)
{
	const struct interval *at = interval_map_find(&m->by_address, pc);
	const struct entry *entry;

	if (!at)
		return NULL;
	entry = &g_array_index(m->entries, struct entry, at->id);
	*start = entry->start;
	*size = entry->size;
	return entry->name;
}

uint64_t perf_map_malformed(const struct perf_map *m)
{
	return m->malformed;
}
