/*
 * The bench: code that is made, called and timed, in cycles of the core's clock.
 *
 * Timing is by the time-stamp counter alone, which runs at a constant rate. How many of its ticks a cycle of the core
 * takes is measured right before and right after every sample, by a chain of dependent operations of known latency; a
 * sample between two that disagree is dropped, and so is one whose chains took longer than others of the same
 * millisecond did. So a changing clock and most interruptions cost samples, not truth.
 *
 * A sibling thread, another guest's perhaps, takes slots and entries and leaves chains alone. So no-ops, which are as
 * wide as the core, run at both ends of every sample: where fewer pass in a cycle than have at another time, the sample
 * is crowded. Crowded samples count only where there are not enough others; some in a row move the thread to the next
 * processor.
 *
 * Not modelled: what a sibling takes away all the time. Throughputs are then too high, and called noisy only where they
 * vary.
 * Ref: Abel and Reineke, nanoBench (ISPASS 2020): unrolled kernels, the minimum of many short runs.
 *
 * Place: assembler -> bench -> the experiments (experiment.h).
 */
#ifndef CYCLEWISE_CALIBRATE_BENCH_H
#define CYCLEWISE_CALIBRATE_BENCH_H

#include <sched.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/assembler.h"
#include "calibrate/statistics.h"

/* rdi: memory, rsi: rounds, at least 1. */
typedef void kernel_function(void *memory, uint64_t rounds);

enum kernel_values { VALUES_DOUBLES, VALUES_FLOATS };

/* Code to be called: `before` once, `body` `rounds` times, `after` once. Texts of the assembler. */
struct kernel_text {
	const char *before, *body, *after; /* before, after NULL: nothing */
	enum kernel_values values;     /* what vector registers hold at first: near 1 */
	bool wide;                     /* 256-bit registers are used: their upper halves are set too */
};

struct kernel {
	kernel_function *run;
	void *memory;
	/* Called before every sample where not NULL; not timed. */
	void (*prepare)(void *ctx);
	void *ctx;
	uint64_t rounds;               /* 0: as many as fill a sample */
};

enum { BENCH_CODE = 1 << 20, BENCH_SCRATCH = 1 << 16, BENCH_RECENT = 64, BENCH_NOPS = 400 };

struct bench {
	struct assembler *as;
	uint8_t *code;                 /* executable; [BENCH_CODE] */
	size_t used;                   /* of it, kept: the reference's code */
	uint8_t *scratch;              /* [BENCH_SCRATCH], page-aligned, for kernels that need some memory */
	bool avx, avx2, fma;
	kernel_function *chain;        /* the reference: a round takes chain_cycles */
	double chain_cycles;
	kernel_function *nops;         /* a round is BENCH_NOPS of them */
	struct company company;        /* a sibling thread's */
	cpu_set_t allowed;             /* processors that the thread may use */
	bool additions;                /* the reference is additions, not multiplications */
	double ticks_per_cycle;        /* of the latest samples */
	double ticks_overhead;         /* of a call with nothing in it */
	double ticks_per_second;
	double effort;                 /* 1: the usual number of samples */
	double patient_until;          /* seconds of CLOCK_MONOTONIC_RAW: then kernels that meet noise are given no
	                                * more samples than others */
	double recent[BENCH_RECENT];   /* ticks of the chain in the latest samples, a ring; 0: none yet */
	unsigned next_recent;
};

/*
 * Makes the bench ready and measures the clock, some 0.2 s. `patience`: seconds in which a kernel that meets noise gets
 * more samples than others: so a calibration beside busy neighbours ends, too. 0 or -errno.
 */
int bench_init(struct bench *b, double effort, double patience);
void bench_fini(struct bench *b);

/*
 * Makes code of the text; what was made before is gone. In it rdi is the memory, rsi the rounds left: not to be
 * changed. At first rax and rcx are 77777, rdx 0, all other general registers 1, xmm0..15 as `values` says. 0 or
 * -errno.
 */
int bench_make(struct bench *b, const struct kernel_text *text, kernel_function **run);

/*
 * Calls the kernel once with so many rounds. -EFAULT where it raised a signal (an instruction that this machine
 * refuses, a division error), which is caught.
 */
int bench_try(struct bench *b, const struct kernel *k, uint64_t rounds);

/*
 * How many samples a kernel that meets noise gets at time `now`, by seconds of CLOCK_MONOTONIC_RAW; one that is calm,
 * 240.
 */
unsigned bench_most(const struct bench *b, double now);

/* Cycles that a round takes, by the fastest samples. Noisy too where the kernel cannot be run. */
struct estimate bench_measure(struct bench *b, const struct kernel *k);

/* The same of a text, with the bench's scratch memory, zeroed. -errno of bench_make(). */
int bench_measure_text(struct bench *b, const struct kernel_text *text, struct estimate *e);

/* The core's clock in MHz, by the fastest chains. */
struct estimate bench_clock(struct bench *b);

/* The time-stamp counter; on other processors than x86-64, where bench_init() refuses, never called. */
static inline uint64_t bench_now(void)
{
	uint32_t low = 0, high = 0;

#ifdef __x86_64__
	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
#endif
	return (uint64_t)high << 32 | low;
}

#endif
