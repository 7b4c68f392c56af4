/*
 * Numbers as if by chance, the same in every run. Ref: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8
 * (2003).
 */
#ifndef CYCLEWISE_BASE_RANDOM_H
#define CYCLEWISE_BASE_RANDOM_H

#include <stdint.h>

/* The paper's; any other start but 0 will do. */
static const uint64_t RANDOM_START = 88172645463325252u;

/* Another than 0, of a state that is not 0. The high bits are the better ones. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
