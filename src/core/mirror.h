/*
 * Memory renaming in the detailed core: what the youngest stores wrote, by the registers that name the place.
 *
 * A load that names its place as one of them did, by the same base register with the same value, gets at rename what the
 * store's data register holds or will hold, as an eliminated move does; its access is made all the same, and must be over
 * before it commits. Both are of one general register of 4 or 8 bytes, base and displacement. A stack pointer that only
 * pushes, pops, calls and returns have moved is the same as before.
 *
 * Not modelled: wrong guesses, and what cores guess from other addresses that come to the same place. The one extra cycle of
 * a load that extends its sign.
 * Ref: A. Fog, "Surprising new feature in AMD Ryzen 3000" (2019), for the conditions; measured on a Zen 5: no cycle from
 * store to load with up to 15 stores between them, 7 with more, and 7 for 1 and 2 bytes and vector registers.
 */
#ifndef CYCLEWISE_CORE_MIRROR_H
#define CYCLEWISE_CORE_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

enum { MIRRORS = 64 };                 /* as many stores as forward.renamed can say */

struct mirrored {
	uint64_t store;                /* its number + 1 */
	uint64_t value;                /* cycle in which the register that was stored has it */
	uint64_t by;                   /* record + 1 that last wrote the base before the store */
	uint8_t base;                  /* REG_NONE: not a store of this kind */
};

struct mirror {
	struct mirrored of[MIRRORS];   /* [number of the store % MIRRORS]; rep strings leave theirs out */
	uint64_t stack_by;             /* record + 1 that last set the stack pointer otherwise than by push and pop */
};

/* Whether it is a general register's access by base and displacement. `regs`: what it writes or stores, [nr]. */
static inline bool mirror_takes(const struct insn *in, const uint8_t *regs, unsigned nr, unsigned bytes)
{
	if (in->nr_addr != 1 || in->flags & (INSN_INDEXED | INSN_VECTOR_MEM | INSN_LOCKED | INSN_REP | INSN_BRANCH) || (bytes != 4 && bytes != 8))
		return false;
	for (unsigned i = 0; i < nr; i++)
		if (regs[i] >= REG_VECTOR)
			return false;
	return true;
}

#endif
