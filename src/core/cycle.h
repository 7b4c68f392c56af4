/* The operation that instruction-driven timing is made of. */
#ifndef CYCLEWISE_CORE_CYCLE_H
#define CYCLEWISE_CORE_CYCLE_H

#include <stdint.h>

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
