/*
 * Neighbours that a core makes one uop of: what both models ask of two instructions. What could make one at all is the
 * instruction set's to say (INSN_FUSES_NEXT, isa/code.c).
 *
 *      compare and branch        macro-fused: the first has the slot and the uop, the second inherits its times
 *                                (decode.fusion_memory: slots of a first that reads memory, on the right path)
 *      copy and arithmetic       the second has the slot and the uop; the first is delivered, and the second comes along with it
 *
 * Zen 5 was seen to fuse no compare and branch of which a line of code holds but a part; copies it fuses wherever they are, but
 * not with arithmetic that is fused with a branch: a copy, a subtraction and a jump take two slots, the copy one of its own.
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

	return d->decode_macro_fusion && second->branch == BRANCH_CONDITIONAL && second->pc == first->pc + first->length &&
		(d->decode_fusion_across || (first->pc ^ last) < (uint64_t)d->l1i_line);
}

/* Slots more than its first takes alone, of such a pair that reads memory. */
static inline unsigned pair_more(const struct core_desc *d, const struct insn *first)
{
	unsigned least = (unsigned)d->decode_fusion_memory, slots = first->slots;

	return first->flags & INSN_LOAD && slots < least ? least - slots : 0;
}

/*
 * Whether `first` is a copy that makes one uop with `second`, which stands behind it. `branch`: that is fused with one. Where the
 * code has changed since INSN_FUSES_NEXT was found out, the second may be anything.
 */
static inline bool pair_merges(const struct core_desc *d, const struct insn *first, const struct insn *second, bool branch)
{
	return first->flags & INSN_FUSES_NEXT && first->flags & INSN_MOVE && d->decode_move_fusion && !branch &&
		second->nr_uops == 1 && second->nr_compute == 1 && second->slots == 1 && second->dst[0] == first->dst[0];
}

/* What the step behind that of `in`, s[0], executes, if it stands right behind it and nothing comes between; else NULL. */
static inline const struct insn *pair_behind(const struct code *code, const struct insn *in, const struct step *s,
                                             const struct step *next, size_t ahead)
{
	if (!ahead || step_kind(next) != STEP_INSN || next->flags & STEP_ENTER || s->flags & STEP_FAULT)
		return NULL;
	const struct insn *behind = code_insn(code, next->insn);
	return behind->pc == in->pc + in->length ? behind : NULL;
}

/* pair_merges() of what is executed. */
static inline bool pair_joins(const struct core_desc *d, const struct code *code, const struct insn *in, const struct step *s,
                              const struct step *next, size_t ahead)
{
	const struct insn *second = pair_behind(code, in, s, next, ahead), *third = NULL;

	if (second && second->flags & INSN_FUSES_NEXT)
		third = pair_behind(code, second, next, next + 1, ahead - 1);
	return second && pair_merges(d, in, second, third && pair_fuses(d, second, third));
}

#endif
