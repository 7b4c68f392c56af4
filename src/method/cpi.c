#include "method/cpi.h"

#include <assert.h>
#include <math.h>

#include "profile/profile.h"

const char *const cpi_names[NR_CPI] = {
	"base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch", "long_latency",
};

uint64_t cpi_memory_cycles(const struct core_desc *d)
{
	uint64_t last = (uint64_t)(d->llc_size ? d->llc_latency : d->l2_latency);
	uint64_t ns = (uint64_t)(d->dram_latency_ns + d->dram_rcd_ns + d->dram_cas_ns);

	return last + ns * (uint64_t)d->clock_mhz / 1000;
}

int cpi_save(struct profile *out, const char *method, uint64_t units, const uint64_t cycles[NR_CPI])
{
	int err = 0;

	for (unsigned k = CPI_BASE + 1; k < NR_CPI; k++)
		units -= cycles[k] * CYCLE_UNITS;
	for (unsigned k = CPI_BASE; k < NR_CPI && !err; k++)
		err = profile_component(out, method, cpi_names[k], k == CPI_BASE ? units : cycles[k] * CYCLE_UNITS);
	return err;
}

struct cpi_error cpi_error(const int64_t stack[NR_CPI], const int64_t reference[NR_CPI], uint64_t total)
{
	struct cpi_error e = { .worst = CPI_BASE };

	assert(total > 0);
	for (unsigned k = CPI_BASE; k < CPI_LONG_LATENCY; k++) {
		int64_t difference = stack[k] - reference[k];

		if (k == CPI_BASE)
			difference += stack[CPI_LONG_LATENCY] - reference[CPI_LONG_LATENCY];
		double share = fabs((double)difference / (double)total);
		e.average += share / CPI_LONG_LATENCY;
		if (share > e.max) {
			e.max = share;
			e.worst = (enum cpi)k;
		}
	}
	return e;
}
