/*
 * The description that the measured one inherits from, and what it says of a sequence of instructions.
 *
 * The bounds are static: those of dependences, and those of ports, units and width, of the sequence repeated without
 * end. Caches, queues and the front end are out of sight, as they are of the kernels that are measured.
 *
 * Place: beside the bench; forms.c holds measurement and prediction against each other.
 */
#ifndef CYCLEWISE_CALIBRATE_PARENT_H
#define CYCLEWISE_CALIBRATE_PARENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/code.h"
#include "isa/llvm.h"

struct parent {
	struct core_desc desc;
	struct code *code;
	struct decoder *decoder;   /* of the same processor of LLVM's, for operands */
	uint64_t pc;               /* where the next instruction is put */
};

/* 0 or -errno. */
int parent_init(struct parent *p, const char *core);
void parent_fini(struct parent *p);

enum { SEQUENCE_INSNS = 32, SEQUENCE_BYTES = 15 };

/* Instructions one behind the other. */
struct sequence {
	uint8_t bytes[SEQUENCE_INSNS][SEQUENCE_BYTES];
	uint8_t length[SEQUENCE_INSNS];
	unsigned n;
	unsigned parts;            /* how many of them are of the form that is measured */
};

/* The description's own view of one instruction. Valid until parent_fini(). */
const struct insn *parent_insn(struct parent *p, const uint8_t *bytes, unsigned length);

/* Cycles a round takes for dependences, and for ports, units and width; of code, not divided by parts. */
double parent_chain(struct parent *p, const struct sequence *s);
double parent_resources(struct parent *p, const struct sequence *s);

/*
 * The largest, over sets of ports, of the uops that can run on no port outside the set by the ports in it: the cycles
 * they take at best. Duality of the assignment of uops to ports: only unions of the uops' own sets matter.
 * Ref: Derumigny et al., PALMED (CGO 2022), §3.
 */
double port_bound(const uint16_t *sets, const double *uops, size_t n);

#endif
