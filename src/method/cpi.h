/*
 * What the methods that make CPI stacks share: the components of Eyerman et al., whom a stalled head of the ROB blames, and
 * saving a stack. "L2" is the last level before memory.
 */
#ifndef CYCLEWISE_METHOD_CPI_H
#define CYCLEWISE_METHOD_CPI_H

#include <stdint.h>

#include "method/method.h"

enum cpi { CPI_BASE, CPI_L1I, CPI_L2I, CPI_ITLB, CPI_L1D, CPI_L2D, CPI_DTLB, CPI_BRANCH, CPI_LONG_LATENCY, NR_CPI };

/* What missed in several ways counts as L2 miss before TLB miss before L1 miss before long latency. */
static inline enum cpi cpi_blames(uint16_t psv, uint16_t flags)
{
	return psv & PSV_ST_LLC ? CPI_L2D : psv & PSV_ST_TLB ? CPI_DTLB : psv & PSV_ST_L1 ? CPI_L1D :
	       flags & TIMED_LONG ? CPI_LONG_LATENCY : CPI_BASE;
}

/* [CPI_BASE] is what the others leave of `units`; it may be negative. 0 or -errno. */
int cpi_save(struct profile *out, const char *method, uint64_t units, const uint64_t cycles[NR_CPI]);

#endif
