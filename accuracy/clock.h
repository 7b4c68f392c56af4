/*
 * Times a function in cycles of the core's clock without performance counters.
 *
 * A chain of dependent additions takes a cycle each whatever else the core does, so that its time by the time-stamp
 * counter gives the clock; it runs right before and right after each sample. Where the two differ, the clock changed, or
 * the thread was interrupted: the sample is dropped. Ref: CORES.md's protocol, Abel and Reineke's nanoBench.
 *
 * Beside it runs what is as wide as the core: as many no-ops as pass in a cycle are fewer where a sibling thread, which
 * may be another guest's, takes its share of the core. Samples taken then are told apart by their width: within a process by
 * clock_samples(), and beside those of all others by who reads them, with whom the width is written.
 */
#ifndef CYCLEWISE_ACCURACY_CLOCK_H
#define CYCLEWISE_ACCURACY_CLOCK_H

/* How fast the core is for this thread, now. */
struct clock {
	double ticks;                  /* of the time-stamp counter in a cycle of the core's clock */
	double width;                  /* no-ops a cycle: less than at other times where a sibling thread is busy */
};

/*
 * Runs `function` until `samples` samples are kept, `prepare` before each, not timed (NULL: nothing), and writes one line
 * for each: its cycles, the clock in MHz, and the least width around it. What seems crowded beside the second widest of this
 * process so far counts as dropped, and after some such samples in a row the thread moves to the next processor; else it stays on
 * the one it is on. 0, or 1 where all samples were dropped.
 */
int clock_samples(void (*prepare)(void *), void (*function)(void *), void *context, unsigned samples);
/* Takes some 30 microseconds. */
struct clock clock_now(void);
/* TSC ticks of a microsecond, by the system's clock. Takes 20 ms. */
double clock_tsc_mhz(void);

#endif
