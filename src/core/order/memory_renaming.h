/*
 * Memory renaming: what the youngest stores wrote, by the registers that name the place.
 *
 * A load that names its place as one of them did, by the same base and index registers with the same values, gets at
 * rename what the store's data register holds or will hold, as an eliminated move does; its access is made all the
 * same, and must be over before it commits. Both are of one general register. A stack pointer that only pushes, pops,
 * calls and returns have moved is the same as before.
 *
 * Not modelled: wrong guesses, and what cores guess of addresses that come to the same place by other registers, or by
 * one that has just been written (a Zen 5 finds these in loops, and no longer with some 64 such pairs in one).
 * Ref: A. Fog, "Surprising new feature in AMD Ryzen 3000" (2019), for the conditions; measured on a Zen 5: no cycle
 * from store to load with up to 15 stores between them, one where the load extends the sign, 7 with more stores
 * between, for vector registers, for 1 and 2 bytes that zeros are put in front of, and with an index to the stack
 * pointer.
 */
#ifndef CYCLEWISE_CORE_ORDER_MEMORY_RENAMING_H
#define CYCLEWISE_CORE_ORDER_MEMORY_RENAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/insn.h"

enum { RENAMED_STORES = 64 };          /* as many stores as forward.renamed can say */

/* By what registers an access names its place. */
struct renaming_place {
	uint64_t base_by, index_by;    /* who wrote them last, but for pushes and pops: numbers of the core's own */
	uint8_t base;                  /* REG_NONE: none that can be found again */
	uint8_t index;                 /* REG_NONE: none */
};

struct memory_renaming {
	struct renamed_store {
		uint64_t number;
		struct renaming_place place;
	} of[RENAMED_STORES];          /* [number % RENAMED_STORES] */
	uint64_t load[RENAMED_STORES]; /* forward.renamed_loads: those known, by pc */
	uint32_t next_load;
};

/*
 * Whether the load at `pc` is one of the last `known` that were asked for, which it is from now on. The oldest gives
 * way, so a loop of more of them finds none.
 */
static inline bool renaming_knows(uint64_t *load, uint32_t *next, uint32_t known, uint64_t pc)
{
	for (uint32_t i = 0; i < known; i++)
		if (load[i] == pc)
			return true;
	load[*next] = pc;
	*next = *next + 1 < known ? *next + 1 : 0;
	return false;
}

static inline uint8_t renaming_index(const struct insn *in)
{
	return in->nr_addr == 2 ? in->addr[1] : REG_NONE;
}

/*
 * Less than 4 bytes that are neither merged, computed with nor extended by their sign: a load that fills up with
 * zeros.
 */
static inline bool renaming_zeros(const struct insn *in, unsigned bytes)
{
	return bytes < 4 && !in->nr_compute && !in->nr_data && !in->load_extra;
}

/*
 * Whether it is a general register's access by at most base, index and displacement. `regs`: what it writes or stores,
 * [nr].
 */
static inline bool renaming_takes(const struct insn *in, const uint8_t *regs, unsigned nr, unsigned bytes)
{
	if (!in->nr_addr || in->nr_addr > 2 || in->flags & (INSN_VECTOR_MEM | INSN_LOCKED | INSN_REP | INSN_BRANCH) ||
	    bytes > 8)
		return false;
	if ((in->nr_addr == 2 && in->stack == STACK_READS) || renaming_zeros(in, bytes))
		return false;
	for (unsigned i = 0; i < nr; i++)
		if (regs[i] >= REG_VECTOR)
			return false;
	return true;
}

/* A store is the `number`th, from 0 on, of those among which renaming_finds() will look for it. */
static inline void renaming_stored(struct memory_renaming *m, const struct insn *in, unsigned bytes, uint64_t number,
                                   struct renaming_place place)
{
	if (!(in->nr_data || in->nr_compute) || !renaming_takes(in, in->data, in->nr_data, bytes))
		place.base = REG_NONE;
	m->of[number % RENAMED_STORES] = (struct renamed_store){ number, place };
}

/*
 * Whether rename finds the store, `distance` back from the `nr`th, that wrote just what the load reads. The load has
 * the same base and index if the same instructions wrote them last, and so the same displacement, since it goes to the
 * same place.
 */
static inline bool renaming_finds(struct memory_renaming *m, const struct core_desc *d, const struct insn *in,
                                  unsigned bytes, uint64_t nr, unsigned distance, struct renaming_place place)
{
	const struct renamed_store *s = &m->of[(nr - distance) % RENAMED_STORES];

	if (distance > (unsigned)d->forward_renamed || s->number != nr - distance ||
	    !renaming_takes(in, in->dst, in->nr_dst, bytes) || s->place.base != place.base ||
	    s->place.base_by != place.base_by || s->place.index != place.index || s->place.index_by != place.index_by)
		return false;
	return !d->forward_renamed_loads || in->stack ||
		renaming_knows(m->load, &m->next_load, (uint32_t)d->forward_renamed_loads, in->pc);
}

#endif
