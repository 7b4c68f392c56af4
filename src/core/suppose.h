/*
 * What is supposed of static instructions for the sake of a what-if: events that they never meet, and a load that is
 * prefetched some of its executions ahead. The detailed core looks at it only where such an event would be met.
 *
 * What becomes of an execution that would have met an event which its instruction never meets:
 *
 *  DR-L1   The line of code that it is fetched from is in L1I: fetched as on a hit. The line takes its place in L1I,
 *          without a miss register, and without a request to what is behind.
 *  DR-TLB  The first-level instruction TLB has the translation, and keeps it; nothing is looked up behind, no page is
 *          walked.
 *  DR-SQ   It dispatches as though its store had an entry of its own beyond the full queue. It drains in its turn as
 *          ever, and the stores behind it find a queue that it is part of.
 *  FL-MB   The branch is predicted as it goes, by the first level of the BTB: nothing is squashed. The predictor has
 *          learned the same, and other branches are predicted as ever.
 *  FL-EX   What serialises waits for nothing older, and nothing younger waits for it; a flush does not take place; a
 *          system call costs its own uops, and no time in the kernel; what faults commits like any other instruction,
 *          and the handler is fetched behind it as from a jump.
 *  FL-MO   The load waits until the older store that it overlaps knows its address, as if the predictor had foreseen
 *          it. The predictor does not learn it, as it does not from a load that waited in time.
 *  ST-L1   A load that misses finds the line in L1D, which takes its place there; nothing is asked of the levels
 *          behind, no miss register is held, no prefetcher behind L1 learns of it. A miss of the last level goes with
 *          it.
 *  ST-TLB  The first-level data TLB has the translation, and keeps it; nothing behind it is looked up or walked.
 *  ST-LLC  A load whose line would come from memory, or is on its way from there, finds it in the level behind L1, and
 *          installs it there: a miss of L1 as before, with its miss register and that level's latency and bus. Nothing
 *          is asked of the levels below, and no prefetcher behind L1 learns of it. What L1's prefetchers ask for on its
 *          account is found there, too.
 *
 * What lines displace goes down as ever.
 *
 * The prefetched load: each execution also asks for the line that an execution `distance` of them later will access, in
 * the cycle in which it could issue at the earliest, the address being known by then. That takes a translation, a miss
 * register, the buses and the place in the caches which a prefetch instruction takes. The instruction itself is not
 * there: it takes no slot, port or entry, nor what computes the address.
 */
#ifndef CYCLEWISE_CORE_SUPPOSE_H
#define CYCLEWISE_CORE_SUPPOSE_H

#include "isa/insn.h"
#include "record/timed.h"

enum { SUPPOSE_PREFETCH = 1 << 15 };   /* beside the bits of enum psv: the instruction is prefetched */

struct suppose {
	const struct insn *insn;       /* the table's: code->insn */
	const uint16_t *never;         /* [nr], by static instruction: enum psv, SUPPOSE_PREFETCH */
	uint32_t nr;
	/*
	 * Where the instruction with SUPPOSE_PREFETCH, of which there is one at most, will access later: an address for
	 * each of its executions in the batch, in order; 0: nowhere. The core moves it on, who gives the batch sets it
	 * anew.
	 */
	const uint64_t *future;
};

/* What `in` is supposed of. `s` NULL: nothing is of any. */
static inline uint16_t suppose_of(const struct suppose *s, const struct insn *in)
{
	return s && in < s->insn + s->nr ? s->never[in - s->insn] : 0;
}

#endif
