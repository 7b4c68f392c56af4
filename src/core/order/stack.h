/*
 * The stack engine: pushes, pops, calls and returns move the stack pointer by an offset that rename keeps, without a
 * uop. What reads the pointer while there is an offset takes one that adds it first (rename.stack_ports); what sets it
 * makes the offset forgotten.
 */
#ifndef CYCLEWISE_CORE_ORDER_STACK_H
#define CYCLEWISE_CORE_ORDER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/insn.h"

struct stack_engine {
	int32_t offset;                /* pushes and calls less pops and returns since the pointer was up to date */
	uint8_t pointer;               /* the register; REG_NONE: not seen yet */
};

/* An instruction at rename that has in->stack: whether the pointer has to be brought up to date for it. */
static inline bool stack_engine_syncs(struct stack_engine *e, const struct core_desc *d, const struct insn *in)
{
	if (in->stack == STACK_MOVES) {
		e->offset += in->branch == BRANCH_RETURN || !(in->flags & INSN_STORE) ? -1 : 1;
		e->pointer = in->addr[0];
		return false;
	}
	bool syncs = in->stack == STACK_READS && e->offset && d->rename_stack_ports;
	e->offset = 0;
	return syncs;
}

#endif
