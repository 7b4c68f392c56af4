/*
 * Macro-fused pairs: which a core makes one uop of. What could make one at all is the instruction set's to say
 * (INSN_FUSES_NEXT, isa/code.c); Zen 5 was seen to fuse none of which a line of code holds but a part.
 */
#ifndef CYCLEWISE_CORE_PAIR_H
#define CYCLEWISE_CORE_PAIR_H

#include <stdbool.h>

#include "core/params.h"
#include "isa/insn.h"

/* Whether `first`, which has INSN_FUSES_NEXT, is fused with `second`, which runs behind it. */
static inline bool pair_fuses(const struct core_desc *d, const struct insn *first, const struct insn *second)
{
	uint64_t last = second->pc + second->length - 1;

	return d->decode_macro_fusion && second->branch == BRANCH_CONDITIONAL && second->pc == first->pc + first->length &&
		(d->decode_fusion_across || (first->pc ^ last) < (uint64_t)d->l1i_line);
}

#endif
