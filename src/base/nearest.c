#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 128 };

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters changed, inserted, left out or swapped with their neighbour; names over LONGEST are compared up to it. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strnlen(a, LONGEST), lb = strnlen(b, LONGEST);
	unsigned rows[3][LONGEST + 1];

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i - 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			row[j] = min2(min2(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min2(row[j], rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t ln = strnlen(n->name, LONGEST), lc = strnlen(candidate, LONGEST);
	bool begins = ln && !strncmp(candidate, n->name, ln);
	unsigned d = begins ? 1 : distance(n->name, candidate);

	if (!begins && d * 3 > (ln > lc ? ln : lc))
		return;
	if (!n->best || d < n->distance) {
		n->best = candidate;
		n->distance = d;
	}
}
