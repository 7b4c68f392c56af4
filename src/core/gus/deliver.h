/*
 * How the executed path comes into the abstract core: from the uop cache, or through the decoders, which build its
 * windows anew.
 */
#ifndef CYCLEWISE_CORE_GUS_DELIVER_H
#define CYCLEWISE_CORE_GUS_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/gus/memory.h"
#include "core/gus/outcome.h"
#include "core/order/lines.h"
#include "core/order/uopcache.h"

struct delivery {
	uint64_t inside;               /* the present window where it comes from the uop cache, and nothing broke;
	                                  else UOPCACHE_NONE */
	uint64_t window;               /* present window, or fetch block of the decoders */
	unsigned fetch_shift;
	bool cached, broken;           /* the present window comes from the uop cache; a taken branch or flush came
	                                  before */
	struct uop_lines lines;        /* where the uop cache is read line by line */
	uint64_t line;                 /* last code line looked at */
	struct uop_cache uops;
	const struct core_desc *desc;
	struct outcome_memory *memory;
};

/* 0 or -errno; both arguments must outlive it. */
int  delivery_init(struct delivery *p, const struct core_desc *d, struct outcome_memory *memory);
void delivery_fini(struct delivery *p);
/* A taken branch, or what else begins anew. */
static inline void deliver_anew(struct delivery *p)
{
	p->broken = true;
	p->inside = UOPCACHE_NONE;
}

/*
 * Where the uop cache is read line by line: the reads that pass with an instruction of its present window, as flags of
 * its head.
 */
unsigned deliver_reads(struct delivery *p, const struct insn *in);
/* The path comes into another window, or is not in the uop cache: flags of the head. Code lines go to `out`. */
unsigned deliver_slow(struct delivery *p, const struct insn *in, struct outcome_stream *out);

/*
 * Where the instruction comes from the uop cache and its window need not be
 * looked for: the flags of its head are added. False: deliver_slow() finds out.
 */
static inline __attribute__((always_inline)) bool deliver_at_hand(struct delivery *p, const struct insn *in,
                                                                  unsigned *flags)
{
	if (in->pc >> p->uops.shift != p->inside || (in->flags & INSN_JCC_ERRATUM && p->desc->uopcache_jcc_erratum))
		return false;
	if (p->lines.most)
		*flags |= deliver_reads(p, in);
	return true;
}

/* How the instruction comes into the core: flags of the head. Code lines go to `out`. */
static inline unsigned deliver(struct delivery *p, const struct insn *in, struct outcome_stream *out)
{
	unsigned flags = 0;

	return deliver_at_hand(p, in, &flags) ? flags : deliver_slow(p, in, out);
}

#endif
