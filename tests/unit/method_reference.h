/*
 * Who pays for each cycle of a timed stream, found cycle by cycle from the rules of DESIGN.md and TEA §2: the slow
 * reference of the commit-state walker and of the methods built on it.
 */
#ifndef CYCLEWISE_TESTS_METHOD_REFERENCE_H
#define CYCLEWISE_TESTS_METHOD_REFERENCE_H

#include "method/walker.h"

/* (A part of) one cycle and who pays for it; STATE_COMPUTE: it also commits. */
struct charge {
	uint64_t cycle;
	enum commit_state state;
	uint32_t insn;
	uint16_t psv;
	bool counted;
	uint32_t units;
	size_t head;           /* record of the oldest instruction that has not left before the cycle; where it commits, who does */
};

void reference_walk(const struct timed *t, size_t n, void (*visit)(const struct charge *c, void *ctx), void *ctx);

#endif
