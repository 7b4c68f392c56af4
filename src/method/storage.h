/*
 * The storage that a profiling method's hardware would need on a core, by the sums of the TEA paper.
 *
 * Methods that tag one instruction keep its signature alone. TIP's 57 bytes are the TIP paper's figure for a core that
 * commits four a cycle; it gives no sum that would scale with one.
 * Ref: TEA §3 (overheads): 12 + 216 + 16 + 2 + 3 = 249 bytes on BOOM; TIP (MICRO 2021).
 */
#ifndef CYCLEWISE_METHOD_STORAGE_H
#define CYCLEWISE_METHOD_STORAGE_H

#include <stdint.h>

#include "core/params.h"

enum { STORAGE_PARTS = 5, STORAGE_METHODS = 6 };

/* One structure: so many entries of so many bits, in whole bytes. */
struct storage_part { const char *where; uint64_t entries, bits, bytes; };

struct storage {
	const char *method;
	struct storage_part part[STORAGE_PARTS]; /* [nr_parts] */
	unsigned nr_parts;
	uint64_t bytes;                /* sum of the parts */
};

/* Of TEA, NCI-TEA, TIP, IBS, SPE, RIS, in that order. */
void storage_of(const struct core_desc *core, struct storage out[STORAGE_METHODS]);

#endif
