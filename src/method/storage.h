/*
 * The storage that a profiling method's hardware would need on a core: of samplers by the sums of the TEA paper, of the
 * miss event tables by the columns of their paper's figure 10.
 *
 * Methods that tag one instruction keep its signature alone. TIP's 57 bytes are the TIP paper's figure for a core that
 * commits four a cycle; it gives no sum that would scale with one.
 *
 * The paper of FMT and sFMT says "a few hundred bits", and leaves two sizes open that are so here:
 *  - A row a branch in flight: fmt.rows, else branch.in_flight, else one a reorder buffer entry.
 *  - A local counter counts as far as an access to memory takes.
 * Global counters, which take the sums up, are any core's performance counters, and not in it; what tells a miss at the
 * reorder buffer's head is there anyway.
 * Ref: TEA §3 (overheads): 12 + 216 + 16 + 2 + 3 = 249 bytes on BOOM; TIP (MICRO 2021); Eyerman et al., ASPLOS 2006,
 * §4.1.1 (rows, pointers, ROB ID, mispredict bit, four local counters), §4.1.2 (shared counters, a bit a reorder buffer
 * entry).
 */
#ifndef CYCLEWISE_METHOD_STORAGE_H
#define CYCLEWISE_METHOD_STORAGE_H

#include <stdint.h>

#include "core/params.h"

enum { STORAGE_PARTS = 5, STORAGE_METHODS = 8 };

/* One structure: so many entries of so many bits, in whole bytes. */
struct storage_part { const char *where; uint64_t entries, bits, bytes; };

struct storage {
	const char *method;
	struct storage_part part[STORAGE_PARTS]; /* [nr_parts] */
	unsigned nr_parts;
	uint64_t bytes;                /* sum of the parts */
};

/* Of TEA, NCI-TEA, TIP, IBS, SPE, RIS, FMT, sFMT, in that order. */
void storage_of(const struct core_desc *core, struct storage out[STORAGE_METHODS]);

#endif
