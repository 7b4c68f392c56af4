/*
 * Neighbours that a core makes one uop of: what both models ask of two instructions. What could make one at all is the
 * instruction set's to say (INSN_FUSES_NEXT, isa/code.c).
 *
 * The first has the slot and the uop, the second, a branch, inherits its times. Zen 5 was seen to fuse none of which a
 * line of code holds but a part. Not modelled: the second slot that a pair takes on Zen 3 where it reads memory, and
 * that Zen 5 fuses a copy of a register with arithmetic on the copy.
 */
#ifndef CYCLEWISE_CORE_ORDER_PAIR_H
#define CYCLEWISE_CORE_ORDER_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/params.h"
#include "isa/code.h"
#include "record/step.h"

/* Whether `first`, which has INSN_FUSES_NEXT, is fused with `second`, a branch, which runs behind it. */
static inline bool pair_fuses(const struct core_desc *d, const struct insn *first, const struct insn *second)
{
	uint64_t last = second->pc + second->length - 1;

	return d->decode_macro_fusion && second->branch == BRANCH_CONDITIONAL &&
	       second->pc == first->pc + first->length &&
	       (d->decode_fusion_across || (first->pc ^ last) < (uint64_t)d->cache_line);
}

/*
 * The branch that `in`, executed by step s[0], is fused with: what the step behind executes, if nothing comes between;
 * NULL: none.
 */
static inline const struct insn *pair_second(const struct core_desc *d, const struct code *code, const struct insn *in,
                                             const struct step *s, const struct step *next, size_t ahead)
{
	if (!(in->flags & INSN_FUSES_NEXT) || !ahead || step_kind(next) != STEP_INSN || next->flags & STEP_ENTER ||
	    s->flags & STEP_FAULT)
		return NULL;
	const struct insn *second = code_insn(code, next->insn);
	return pair_fuses(d, in, second) ? second : NULL;
}

/* Of the ports of a branch's uop, those that it issues on. */
static inline uint16_t branch_ports(const struct core_desc *d, uint16_t ports, bool taken)
{
	return taken && ports & d->branch_taken_ports ? ports & (uint16_t)d->branch_taken_ports : ports;
}

/* Where the one uop of a pair with that branch issues: as the branch would. */
static inline uint16_t pair_ports(const struct core_desc *d, const struct code *code, const struct insn *branch,
                                  bool taken)
{
	return branch->nr_uops ? branch_ports(d, code->uops[branch->uop].ports, taken) : 0;
}

#endif
