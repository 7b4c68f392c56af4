/*
 * What the methods `patterns` and `chains` learned of single instructions, gathered from a profile's figures; and the
 * loops that jumps back show.
 */
#ifndef CYCLEWISE_VIEW_FACTS_H
#define CYCLEWISE_VIEW_FACTS_H

#include <stdint.h>

#include "profile/query.h"

/* Of one instruction. Shares are parts of its executions, 0 where there are none. */
struct facts {
	double accesses, loads;        /* how often it was an access; 1: of loads, RMW included */
	double stride, stride_share;   /* bytes from one access to the next, the most frequent */
	double lines, pages;           /* about how many different ones */
	double line_changes, page_changes; /* shares: to another one than the access before */
	double indirect;               /* share: with an address that a load gave just before */
	double chased;                 /* of those, the share that its own earlier execution led to */
	double feeder, partner;        /* instructions + 1: that load; the store of a memory-order violation */
	double branches, taken, flips, mispredicted;
	double kind;                   /* enum branch_kind */
	double targets;
	double back, back_to;          /* jumps back, and the instruction + 1 where the last led */
	double serialises, system_call, locked;
	const char *unit;              /* that it holds while others wait; NULL: none */
	double share;                  /* of the critical path */
	double carried;                /* share of those that its own earlier execution led to */
	double class;                  /* enum latency_class */
	const struct query_figure *bound; /* [nr_bounds]: "bound/NAME", shares of its executions on the path */
	size_t nr_bounds;
};

/*
 * Code that a jump back repeats: all of its function in [head, end]. Where that comes about once for each call of the
 * function only, the jump is a matter of layout.
 */
struct loop {
	const struct query_function *function;
	uint64_t head, end;            /* addresses of the first instruction and of the jump */
	uint64_t times;                /* jumps back */
	unsigned nr_insns;             /* executed ones in it */
};

struct facts_table;

/* Valid until facts_free(), or query_free(). 0 or -errno. */
int  facts_new(struct facts_table **out, struct query *q);
void facts_free(struct facts_table *t);

/* Never NULL: all zero where nothing was learned. */
const struct facts *facts_of(const struct facts_table *t, uint32_t insn);
/* The smallest around it; NULL: none. */
const struct loop *facts_loop(const struct facts_table *t, const struct query_insn *in);
/* All instructions of the profile: those of query_hot(). */
const struct query_insn *facts_insns(const struct facts_table *t, size_t *nr);
/* By number; NULL: not among them. */
const struct query_insn *facts_insn(const struct facts_table *t, uint32_t insn);

#endif
