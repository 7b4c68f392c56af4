#include "clock.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum { CHAIN = 100, CHAINS = 200, TRIES = 5, DROPPED = 20 /* times as many as are wanted */ };

static uint64_t ticks_now(void)
{
	unsigned cpu;
	_mm_lfence();
	uint64_t t = __rdtscp(&cpu);
	_mm_lfence();
	return t;
}

static void chain(void)
{
	uint64_t x = 1;

	for (int i = 0; i < CHAINS; i++)
		__asm__ volatile(".rept %c1\n\tadd %0, %0\n\t.endr" : "+r"(x) : "i"(CHAIN));
}

/* The fastest of a few: interruptions only add. */
double clock_ticks(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t from = ticks_now();
		chain();
		uint64_t took = ticks_now() - from;
		least = took < least ? took : least;
	}
	return (double)least / (CHAIN * CHAINS);
}

double clock_tsc_mhz(void)
{
	struct timespec from, to, pause = { 0, 20000000 };

	clock_gettime(CLOCK_MONOTONIC, &from);
	uint64_t start = ticks_now();
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	uint64_t end = ticks_now();
	double us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) * 1e-3;
	return (double)(end - start) / us;
}

static void stay(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

int clock_samples(void (*prepare)(void *), void (*function)(void *), void *context, unsigned samples)
{
	double tsc_mhz = clock_tsc_mhz();
	unsigned kept = 0;

	stay();
	for (unsigned i = 0; kept < samples && i < samples * DROPPED; i++) {
		if (prepare)
			prepare(context);
		double before = clock_ticks();
		uint64_t from = ticks_now();
		function(context);
		uint64_t took = ticks_now() - from;
		double after = clock_ticks(), mean = (before + after) / 2;
		if (before > after * 1.006 || after > before * 1.006)
			continue;
		printf("%.0f %.0f\n", (double)took / mean, tsc_mhz / mean);
		kept++;
	}
	return kept == 0;
}
