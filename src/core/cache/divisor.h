/*
 * Division by a number known when the model is built: a shift, or a multiplication where it is no power of two
 * (11-way caches, odd bank counts). Exact for every dividend below 2^62 and every divisor below 2^31.
 */
#ifndef CYCLEWISE_CORE_CACHE_DIVISOR_H
#define CYCLEWISE_CORE_CACHE_DIVISOR_H

#include <assert.h>
#include <stdint.h>

struct divisor {
	uint64_t inverse;      /* 2^64 / by, rounded up; 0: `by` is 1 << shift */
	uint32_t by;
	uint32_t shift;
};

static inline void divisor_init(struct divisor *d, uint32_t by)
{
	assert(by > 0 && by < 1u << 31);
	d->by = by;
	d->shift = (uint32_t)__builtin_ctz(by);
	d->inverse = by & (by - 1) ? UINT64_MAX / by + 1 : 0;
}

/* The quotient; the remainder in *rest. */
static inline uint64_t divide(const struct divisor *d, uint64_t n, uint32_t *rest)
{
	if (!d->inverse) {
		*rest = (uint32_t)n & (d->by - 1);
		return n >> d->shift;
	}
	uint64_t q = (uint64_t)((unsigned __int128)n * d->inverse >> 64);
	int64_t r = (int64_t)(n - q * d->by);
	/* The rounded-up inverse is at most one too high for dividends this small. */
	if (r < 0) {
		q--;
		r += d->by;
	}
	*rest = (uint32_t)r;
	return q;
}

#endif
