/*
 * Static bounds of a sequence of instructions, repeated without end: what timing on real hardware is held against.
 */
#ifndef CYCLEWISE_TESTS_ISA_BOUND_H
#define CYCLEWISE_TESTS_ISA_BOUND_H

#include <stdbool.h>

#include "isa/code.h"

enum { BOUND_LENGTH = 64 };

struct bound_core {
	unsigned width;            /* slots a cycle */
	unsigned load, load_simple; /* load to use, cycles; the short one where the base was loaded */
	unsigned bypass;           /* integer vector result to floating-point use */
	bool eliminates;           /* register copies at rename */
};

struct bound_sequence {
	const struct insn *insn[BOUND_LENGTH];
	unsigned n;
};

/* A measured sequence: `parts` equal parts took `cycles` each. */
struct bound_measured {
	const char *name;
	double cycles;
	unsigned parts;
	const char *hex;
};

/* Why a sequence's cost is not its bound. */
struct bound_exception {
	const char *name, *why;
};

/* Cycles a round takes where nothing but dependences holds it back. */
double bound_dependences(const struct bound_core *core, const struct bound_sequence *s);
/*
 * The largest of: uops that can run only on a set of ports, by the ports in the set, over all sets; the cycles its
 * units are held; its slots by the width. Eliminated copies run nowhere.
 */
double bound_resources(const struct bound_core *core, const struct code *code, const struct bound_sequence *s);

/*
 * Holds each row to its bound, 5% either way; what no dependence bounds and takes a cycle or less may read `noise`
 * times as high. A row in `excepted` must miss. The test fails once at the end, all differences printed.
 */
void bound_check(struct code *code, const struct bound_core *core, const struct bound_measured *rows, unsigned n,
		 const struct bound_exception *excepted, unsigned nr_excepted, double noise);

#endif
