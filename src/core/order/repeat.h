/* Which `rep` string instructions move lines, and which go round and round. */
#ifndef CYCLEWISE_CORE_ORDER_REPEAT_H
#define CYCLEWISE_CORE_ORDER_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"
#include "record/step.h"

enum { REPEAT_LINE = 64 };             /* bytes that a fast one moves at a time */

/*
 * Copies and fills are fast (repeat.bytes), but where they copy to less than a line ahead of where they read, and so
 * read what they have just written; scans and compares take repeat.slow cycles an iteration, as those do.
 * Ref: Intel, Software Developer's Manual, volume 1, section 7.3.9.3, fast-string operation.
 */
static inline bool repeat_is_slow(const struct insn *in, const struct step *s, uint32_t nr_steps)
{
	const struct step *load = NULL, *store = NULL;

	for (uint32_t i = nr_steps; i-- > 0; ) {
		if (s[i].flags & STEP_LOAD)
			load = &s[i];
		if (s[i].flags & STEP_STORE)
			store = &s[i];
	}
	return !(in->flags & INSN_STORE) || (load && store && store->addr - load->addr - 1 < REPEAT_LINE - 1);
}

#endif
