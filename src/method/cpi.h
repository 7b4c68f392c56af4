/*
 * What the methods that make CPI stacks share: the components of Eyerman et al., whom a stalled head of the ROB blames,
 * saving a stack, and how far one is from another. "L2" is the last level before memory.
 */
#ifndef CYCLEWISE_METHOD_CPI_H
#define CYCLEWISE_METHOD_CPI_H

#include <stdint.h>

#include "method/method.h"

enum cpi { CPI_BASE, CPI_L1I, CPI_L2I, CPI_ITLB, CPI_L1D, CPI_L2D, CPI_DTLB, CPI_BRANCH, CPI_LONG_LATENCY, NR_CPI };

/* Names of enum cpi in profiles. */
extern const char *const cpi_names[NR_CPI];

/* What missed in several ways counts as L2 miss before TLB miss before L1 miss before long latency. */
static inline enum cpi cpi_blames(uint16_t psv, uint16_t flags)
{
	return psv & PSV_ST_LLC ? CPI_L2D : psv & PSV_ST_TLB ? CPI_DTLB : psv & PSV_ST_L1 ? CPI_L1D :
	       flags & TIMED_LONG ? CPI_LONG_LATENCY : CPI_BASE;
}

/* What an access that misses the last level takes, without contention, in cycles. */
uint64_t cpi_memory_cycles(const struct core_desc *d);

/* [CPI_BASE] is what the others leave of `units`; it may be negative. 0 or -errno. */
int cpi_save(struct profile *out, const char *method, uint64_t units, const uint64_t cycles[NR_CPI]);

/* How far a stack is from a reference: differences of components as fractions of all cycles. */
struct cpi_error {
	double average, max;
	enum cpi worst;                /* whose difference is the largest, the first of equals */
};

/*
 * In units, which may be negative, of `total` > 0. Long latencies and the base are one component, CPI_BASE, as no
 * re-simulation tells them apart.
 * Ref: Eyerman et al., ASPLOS 2006, §5.2, figure 12.
 */
struct cpi_error cpi_error(const int64_t stack[NR_CPI], const int64_t reference[NR_CPI], uint64_t total);

#endif
