/*
 * How a static instruction behaves, learned from all its executions in bounded memory: what advice is chosen by.
 *
 * Accesses: the strides between one and the next (the most frequent few are counted, so that a share is a lower bound),
 * how many lines and pages in all (a sketch, within some 10%), and where addresses come from: each load remembers which
 * load, of the last few hundred, gave it its address, so that a load is chased whose own earlier result led to its
 * address. That goes through registers, and through memory where a store forwards.
 *
 * Branches: directions, changes of direction, targets of indirect ones, jumps back.
 */
#ifndef CYCLEWISE_METHOD_PATTERNS_H
#define CYCLEWISE_METHOD_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/code.h"
#include "record/timed.h"

enum { SKETCH_CELLS = 128 };

/* How many different values there were. Ref: Flajolet et al., HyperLogLog (2007). */
struct sketch { uint8_t rank[SKETCH_CELLS]; };

void sketch_add(struct sketch *s, uint64_t value);
/* Within 10%; exact or off by few below 50. */
uint64_t sketch_count(const struct sketch *s);

enum { STRIDES = 4 };

/* One candidate for the most frequent: `count` may be too high by `over`. Ref: Metwally et al., space-saving (2005). */
struct stride {
	int64_t bytes;
	uint64_t count, over;
};

struct access_pattern {
	uint64_t accesses;
	uint64_t last;                 /* address */
	struct stride stride[STRIDES];
	uint64_t line_changes, page_changes; /* accesses to another one than the access before */
	uint64_t indirect;             /* executions whose address a load gave just before */
	uint64_t checked, chased;      /* of those: looked at, and led to by the same instruction */
	uint32_t feeder;               /* the load that gave the address, in the last that was indirect; CODE_NONE:
	                                * none was */
	uint32_t partner;              /* the store that the last memory-order violation was with; CODE_NONE: none */
	struct sketch lines, pages;    /* of 64 bytes, of 4 KiB */
};

struct branch_pattern {
	uint64_t executions, taken, mispredicted;
	uint64_t flips;                /* went another way than the time before */
	uint64_t back;                 /* to an address not above its own */
	uint32_t back_to;              /* instruction that it last jumped back to; CODE_NONE: none */
	bool last;
	struct sketch targets;
};

struct patterns;
struct patterns_lane;

struct patterns *patterns_new(const struct code *code);
void patterns_free(struct patterns *p);
struct patterns_lane *patterns_lane_new(void);
void patterns_lane_free(struct patterns_lane *l);

/* Records of one thread's stream, in its order. */
void patterns_batch(struct patterns *p, struct patterns_lane *l, const struct timed *t, size_t n);

/* NULL: never counted. Valid until the next batch. */
const struct access_pattern *patterns_access(const struct patterns *p, uint32_t insn);
const struct branch_pattern *patterns_branch(const struct patterns *p, uint32_t insn);
/* The most frequent stride; *count gets how often it was that at least. */
int64_t access_stride(const struct access_pattern *a, uint64_t *count);

#endif
