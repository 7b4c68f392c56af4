#include "method/cpi.h"

#include "profile/profile.h"

static const char *const names[NR_CPI] = {
	"base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch", "long_latency",
};

int cpi_save(struct profile *out, const char *method, uint64_t units, const uint64_t cycles[NR_CPI])
{
	int err = 0;

	for (unsigned k = CPI_BASE + 1; k < NR_CPI; k++)
		units -= cycles[k] * CYCLE_UNITS;
	for (unsigned k = CPI_BASE; k < NR_CPI && !err; k++)
		err = profile_component(out, method, names[k], k == CPI_BASE ? units : cycles[k] * CYCLE_UNITS);
	return err;
}
