/*
 * Times a function in cycles of the core's clock without performance counters.
 *
 * A chain of dependent additions takes a cycle each whatever else the core does, so that its time by the time-stamp
 * counter gives the clock; it runs right before and right after each sample. Where the two differ, the clock changed, or
 * the thread was interrupted: the sample is dropped. Ref: CORES.md's protocol, Abel and Reineke's nanoBench.
 */
#ifndef CYCLEWISE_ACCURACY_CLOCK_H
#define CYCLEWISE_ACCURACY_CLOCK_H

/*
 * Runs `function` at least `samples` times, `prepare` before each, not timed (NULL: nothing), and writes one line for each
 * sample that is kept: its cycles and the clock in MHz. The thread stays on the processor it is on. 0, or 1 where all
 * samples were dropped.
 */
int clock_samples(void (*prepare)(void *), void (*function)(void *), void *context, unsigned samples);
/* TSC ticks of a cycle of the core's clock, now; 0 where it was disturbed. */
double clock_ticks(void);
/* TSC ticks of a microsecond, by the system's clock. Takes 20 ms. */
double clock_tsc_mhz(void);

#endif
