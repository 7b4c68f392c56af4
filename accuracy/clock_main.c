/* Writes the clock of the processor that it happens to run on, in MHz: before and after a program that is timed as a whole. */
#include <stdio.h>

#include "clock.h"

int main(void)
{
	double tsc_mhz = clock_tsc_mhz(), ticks = clock_ticks();

	printf("%.1f\n", tsc_mhz / ticks);
	return 0;
}
