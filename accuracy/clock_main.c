/*
 * Writes the clock of the processor that it happens to run on, in MHz, and its width in no-ops a cycle: before and after a
 * program that is timed as a whole.
 */
#include <stdio.h>

#include "clock.h"

int main(void)
{
	double tsc_mhz = clock_tsc_mhz();
	struct clock now = clock_now();

	printf("%.1f %.3f\n", tsc_mhz / now.ticks, now.width);
	return 0;
}
