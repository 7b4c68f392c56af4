/*
 * Random timed streams that keep the rules of record/timed.h, for the tests of the methods.
 *
 * They come from a toy core: in-order fetch with stalls, bounded rename and commit width, a reorder buffer, and all
 * that makes a stream awkward: wrong paths, memory-order and exception squashes (with branches mispredicted in
 * them), flushes at commit, serialising instructions, macro-fused pairs, instructions of many slots or several
 * records, signal handlers, windows that are not counted, marks.
 */
#ifndef CYCLEWISE_TESTS_STREAM_H
#define CYCLEWISE_TESTS_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "record/timed.h"

struct stream_config {
	uint64_t seed;
	size_t records;                /* at least */
	unsigned width, commit_width, rob; /* slots */
	unsigned trouble;              /* per 1000 instructions: each kind of flush */
	unsigned misses;               /* per 1000 instructions: each kind of miss */
	unsigned windows;              /* per 1000 instructions: counting starts or stops; 0: all is counted */
	unsigned marks;                /* per 1000 instructions */
};

/* Static instructions STREAM_MARK + 2 r begin region r, the ones after each end it. */
enum { STREAM_INSNS = 64, STREAM_MARK = 64, STREAM_REGIONS = 3 };

/* *nr gets the length; free with free(). */
struct timed *stream_new(const struct stream_config *config, size_t *nr);

/* Uniform in [0, n) of a state that must not be 0 (xorshift). */
uint64_t stream_random(uint64_t *state, uint64_t n);

#endif
