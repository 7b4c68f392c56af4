/*
 * Which of some names a user may have meant by one that is unknown.
 */
#ifndef CYCLEWISE_BASE_NEAREST_H
#define CYCLEWISE_BASE_NEAREST_H

#include <stddef.h>

/* Keeps the nearest of the names offered so far. Start with { .name = the unknown one }. */
struct nearest {
	const char *name;
	const char *best;          /* NULL: nothing near enough; else one of those offered */
	unsigned distance;
};

/*
 * Offers one candidate. Near is at most a third of the longer name's letters changed, inserted, left out or
 * swapped, or a candidate that begins with the whole name. Of equally near ones the first offered stays.
 */
void nearest_offer(struct nearest *n, const char *candidate);

#endif
