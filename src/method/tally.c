#include "method/tally.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"

enum { FIRST_ROWS = 4096 };

void *tally_array_new(size_t size)
{
	void *array = mmap(NULL, TALLY_INSNS * size, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (array != MAP_FAILED)
		return array;
	error_errno(errno, "address space for counts by instruction");
	return NULL;
}

void tally_array_free(void *array, size_t size)
{
	if (array)
		munmap(array, TALLY_INSNS * size);
}

void tally_init(struct tally *t)
{
	t->row = g_new0(struct tally_row, FIRST_ROWS);
	t->mask = FIRST_ROWS - 1;
	t->nr = 0;
}

void tally_fini(struct tally *t)
{
	g_free(t->row);
	t->row = NULL;
}

void tally_grow(struct tally *t)
{
	struct tally_row *old = t->row;
	uint64_t rows = t->mask + 1;

	t->mask = 2 * rows - 1;
	t->row = g_new0(struct tally_row, 2 * rows);
	for (uint64_t i = 0; i < rows; i++) {
		if (!old[i].key)
			continue;
		uint64_t to = tally_hash(old[i].key);
		while (t->row[to & t->mask].key)
			to++;
		t->row[to & t->mask] = old[i];
	}
	g_free(old);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct tally_row *)a)->key, y = ((const struct tally_row *)b)->key;
	return (x > y) - (x < y);
}

struct tally_row *tally_sorted(const struct tally *t, size_t *nr)
{
	struct tally_row *rows = g_new(struct tally_row, t->nr ? t->nr : 1);
	size_t n = 0;

	for (uint64_t i = 0; i <= t->mask; i++)
		if (t->row[i].key)
			rows[n++] = t->row[i];
	qsort(rows, n, sizeof(*rows), by_key);
	*nr = n;
	return rows;
}
