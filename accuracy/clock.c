#include "clock.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum {
	CHAIN = 100, CHAINS = 200, TRIES = 5,
	NOPS = 500, NOP_ROUNDS = 80,
	DROPPED = 20,                  /* times as many as are wanted */
	PATIENCE = 10,                 /* crowded samples in a row */
};
static const double same_clock = 1.006; /* before and after a sample */
/*
 * Of the width that the core has: the clock's error is less, and a busy sibling thread takes a fifth and more. The same bound, turned
 * about, as in src/calibrate/statistics.c, company_crowds(), but not of the same width. That one learns it where hundreds of samples
 * crowd; a process here has a hundred samples, and goes by the second widest: the widest may be the clock's error. What this one
 * lets pass measure.py judges once more, by the samples of all processes. Nor is calibrate's code linked in: this is part of programs
 * that are modelled, too, and what would be changed for calibrate would lay them out anew.
 */
static const double alone = 0.96;

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

static void nops(void)
{
	for (int i = 0; i < NOP_ROUNDS; i++)
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(NOPS));
}

static uint64_t timed(void (*function)(void))
{
	uint64_t from = ticks_now();

	function();
	return ticks_now() - from;
}

/* The chain is the fastest of a few, as interruptions only add. The no-ops run once: it is their slowness that is sought. */
struct clock clock_now(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t took = timed(chain);
		least = took < least ? took : least;
	}
	double ticks = (double)least / (CHAIN * CHAINS);
	return (struct clock){ .ticks = ticks, .width = NOPS * NOP_ROUNDS * ticks / (double)timed(nops) };
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

/* Binds the thread to one of `allowed`: the one it is on, or the next. */
static void stay(const cpu_set_t *allowed, bool next)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	if (next)
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET((size_t)cpu, allowed));
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

int clock_samples(void (*prepare)(void *), void (*function)(void *), void *context, unsigned samples)
{
	double tsc_mhz = clock_tsc_mhz(), widest = 0, second = 0;
	unsigned kept = 0, crowded = 0;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return 1;
	stay(&allowed, false);
	for (unsigned i = 0; kept < samples && i < samples * DROPPED; i++) {
		if (prepare)
			prepare(context);
		struct clock before = clock_now();
		uint64_t from = ticks_now();
		function(context);
		uint64_t took = ticks_now() - from;
		struct clock after = clock_now();
		if (before.ticks > after.ticks * same_clock || after.ticks > before.ticks * same_clock)
			continue;
		double mean = (before.ticks + after.ticks) / 2, width = before.width < after.width ? before.width : after.width;
		if (width > widest) {
			second = widest;
			widest = width;
		} else if (width > second) {
			second = width;
		}
		crowded = width < second * alone ? crowded + 1 : 0;
		if (crowded && crowded % PATIENCE == 0)
			stay(&allowed, true);
		if (crowded)
			continue;
		printf("%.0f %.0f %.3f\n", (double)took / mean, tsc_mhz / mean, width);
		kept++;
	}
	return kept == 0;
}
