/*
 * Ports that rename binds uops to in pairs (core/order/bind.h), in the abstract core. Other resources know until when
 * they are used, not which cycles. Here these matter: a pair that has nothing to do while others have too much cannot
 * make up for it. A uop takes the first cycle in which a port of its pair is not full; uops come in program order, and
 * one that is ready earlier than those before it finds what they left.
 */
#ifndef CYCLEWISE_CORE_GUS_PAIRS_H
#define CYCLEWISE_CORE_GUS_PAIRS_H

#include "core/gus/state.h"

enum { SLOTS_WINDOW = 4096, SLOTS_WORDS = SLOTS_WINDOW / 64 };

/*
 * How much of a port has been taken in each cycle. Cycles are kept in a ring of words of 64. What comes SLOTS_WINDOW
 * later takes a word's place; who still wants a cycle of the old one gets it without a wait, and it is not counted.
 */
struct slots {
	uint64_t word[SLOTS_WORDS];    /* [cycle / 64 % words]: which cycle / 64 that is */
	uint64_t full[SLOTS_WORDS];    /* bit cycle % 64 of it: nothing is left */
	uint16_t used[SLOTS_WINDOW];   /* [cycle % window]: WEIGHT_ONE a uop */
	uint16_t capacity;             /* of a cycle, in the same: WEIGHT_ONE, but where the port is varied */
};

/* A compute uop that waits for registers of `p` is woken no sooner than `from`; its operands are there at `ready`. */
void pair_replay(struct chrono *v, const struct recipe *p, unsigned ports, uint64_t from, uint64_t ready);
/*
 * Issues a uop on the port of a pair that is free first; `resource` is the pair's. *w goes to when it starts. Returns
 * what it waited for, or REASON_NONE.
 */
unsigned pair_issue(struct chrono *v, unsigned ports, unsigned resource, const struct when *begin, struct when *w);
/*
 * An instruction of one uop, whose operands were there at `ready`, starts at `t`. Where its result is there a cycle
 * later, what waits for that is woken a cycle behind `ready`: ooo/execute.h, replay(), says why.
 */
void pair_wake(struct chrono *v, const struct recipe *p, uint64_t ready, uint64_t t);

#endif
