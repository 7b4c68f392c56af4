/*
 * Loops that each keep one thing of a core busy, so that what an operation takes can be said from the core's description
 * alone: `loops NAME...` runs each, once to warm up and once as the marked region NAME. An iteration is 60 operations
 * that wait for one another (and jumps), or 480 that do not, and the counting at its end, which takes less than a hundredth.
 *
 * Memory is two pages, which fit every L1 cache; a pointer at the start of the second points to itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/cyclewise.h"

enum { WARM = 20, ITERATIONS = 500 };

static uint64_t memory[1024] __attribute__((aligned(4096)));

/* %0: the counter; %1: memory. Six registers for independent operations; none of those named below. */
#if defined __x86_64__
#define COUNT "dec %0\n\tjnz 1b\n\t"
#define CLOBBER "rax", "rdx", "rbx", "rsi", "rdi", "r8", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "cc", "memory"
#define ADD "add $1, %%eax\n\t"
#define ADDS ADD "add $1, %%edx\n\tadd $1, %%ebx\n\tadd $1, %%esi\n\tadd $1, %%edi\n\tadd $1, %%r8d\n\t"
#define NOP ".byte 0x66, 0x0f, 0x1f, 0x44, 0, 0\n\t" /* long: windows of code hold no more than any uop cache gives in a cycle */
#define MUL "imul %%rax, %%rax\n\t"
#define FADD "addsd %%xmm1, %%xmm0\n\t"
#define FMUL "mulsd %%xmm1, %%xmm0\n\t"
#define FMA "vfmadd231sd %%xmm1, %%xmm1, %%xmm0\n\t"
#define EACH12(op) \
	op "%%xmm0\n\t" op "%%xmm2\n\t" op "%%xmm3\n\t" op "%%xmm4\n\t" op "%%xmm5\n\t" op "%%xmm6\n\t" \
	op "%%xmm7\n\t" op "%%xmm8\n\t" op "%%xmm9\n\t" op "%%xmm10\n\t" op "%%xmm11\n\t" op "%%xmm12\n\t"
#define FADDS EACH12("addsd %%xmm1, ")
#define FMAS EACH12("vfmadd231sd %%xmm1, %%xmm1, ")
#define CHASE "mov (%1), %1\n\t"
#define LOADS "mov 8(%1), %%eax\n\tmov 16(%1), %%edx\n\tmov 24(%1), %%ebx\n\tmov 32(%1), %%esi\n\tmov 40(%1), %%edi\n\tmov 48(%1), %%r8d\n\t"
#define WIDE(at, to) "vmovups " #at "(%1), %%ymm" #to "\n\t"
#define WIDE_LOADS WIDE(0, 0) WIDE(32, 2) WIDE(64, 3) WIDE(96, 4) WIDE(128, 5) WIDE(160, 6)
#define STORES "mov %%eax, 8(%1)\n\tmov %%eax, 16(%1)\n\tmov %%eax, 24(%1)\n\tmov %%eax, 32(%1)\n\tmov %%eax, 40(%1)\n\tmov %%eax, 48(%1)\n\t"
#define ZERO "xorpd %%xmm0, %%xmm0\n\txorpd %%xmm1, %%xmm1\n\t"
#define JUMP "jmp 2f\n\t.p2align 4\n2:\n\t"
#elif defined __aarch64__
#define COUNT "subs %0, %0, #1\n\tb.ne 1b\n\t"
#define CLOBBER "x3", "x4", "x5", "x6", "x7", "x8", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "cc", "memory"
#define ADD "add x3, x3, #1\n\t"
#define ADDS ADD "add x4, x4, #1\n\tadd x5, x5, #1\n\tadd x6, x6, #1\n\tadd x7, x7, #1\n\tadd x8, x8, #1\n\t"
#define NOP "nop\n\t"
#define MUL "mul x3, x3, x3\n\t"
#define FADD "fadd d0, d0, d1\n\t"
#define FMUL "fmul d0, d0, d1\n\t"
#define FMA "fmadd d0, d0, d1, d1\n\t"
#define EACH12(op, rest) \
	op " d0" rest op " d2" rest op " d3" rest op " d4" rest op " d5" rest op " d6" rest \
	op " d7" rest op " d16" rest op " d17" rest op " d18" rest op " d19" rest op " d20" rest
#define FADDS EACH12("fadd", ", d1, d1\n\t")
#define FMAS EACH12("fmadd", ", d1, d1, d1\n\t")
#define CHASE "ldr %1, [%1]\n\t"
#define LOADS "ldr x3, [%1, #8]\n\tldr x4, [%1, #16]\n\tldr x5, [%1, #24]\n\tldr x6, [%1, #32]\n\tldr x7, [%1, #40]\n\tldr x8, [%1, #48]\n\t"
#define WIDE(at, to) "ldr q" #to ", [%1, #" #at "]\n\t"
#define WIDE_LOADS WIDE(0, 0) WIDE(16, 2) WIDE(32, 3) WIDE(48, 4) WIDE(64, 5) WIDE(80, 6)
#define STORES "str x3, [%1, #8]\n\tstr x3, [%1, #16]\n\tstr x3, [%1, #24]\n\tstr x3, [%1, #32]\n\tstr x3, [%1, #40]\n\tstr x3, [%1, #48]\n\t"
#define ZERO "movi d0, #0\n\tmovi d1, #0\n\t"
#define JUMP "b 2f\n\t.p2align 4\n2:\n\t"
#elif defined __riscv
#define COUNT "addi %0, %0, -1\n\tbnez %0, 1b\n\t"
#define CLOBBER "t0", "t1", "t2", "t3", "t4", "t5", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "ft0", "ft1", "ft2", "ft3", "ft4", "memory"
#define ADD "addi t0, t0, 1\n\t"
#define ADDS ADD "addi t1, t1, 1\n\taddi t2, t2, 1\n\taddi t3, t3, 1\n\taddi t4, t4, 1\n\taddi t5, t5, 1\n\t"
#define NOP "nop\n\t"
#define MUL "mul t0, t0, t0\n\t"
#define FADD "fadd.d fa0, fa0, fa1\n\t"
#define FMUL "fmul.d fa0, fa0, fa1\n\t"
#define FMA "fmadd.d fa0, fa0, fa1, fa1\n\t"
#define EACH12(op, rest) \
	op " fa0" rest op " fa2" rest op " fa3" rest op " fa4" rest op " fa5" rest op " fa6" rest \
	op " fa7" rest op " ft0" rest op " ft1" rest op " ft2" rest op " ft3" rest op " ft4" rest
#define FADDS EACH12("fadd.d", ", fa1, fa1\n\t")
#define FMAS EACH12("fmadd.d", ", fa1, fa1, fa1\n\t")
#define CHASE "ld %1, 0(%1)\n\t"
#define LOADS "ld t0, 8(%1)\n\tld t1, 16(%1)\n\tld t2, 24(%1)\n\tld t3, 32(%1)\n\tld t4, 40(%1)\n\tld t5, 48(%1)\n\t"
#define WIDE(at, to) "fld fa" #to ", " #at "(%1)\n\t"
#define WIDE_LOADS WIDE(0, 0) WIDE(8, 2) WIDE(16, 3) WIDE(24, 4) WIDE(32, 5) WIDE(40, 6)
#define STORES "sd t0, 8(%1)\n\tsd t0, 16(%1)\n\tsd t0, 24(%1)\n\tsd t0, 32(%1)\n\tsd t0, 40(%1)\n\tsd t0, 48(%1)\n\t"
#define ZERO "fmv.d.x fa0, zero\n\tfmv.d.x fa1, zero\n\t"
#define JUMP "j 2f\n\t.p2align 4\n2:\n\t"
#endif

/* `times` copies of the operations an iteration. */
#define LOOP(name, times, operations) \
	__attribute__((noinline)) static void k_##name(uint64_t n, void *p) \
	{ \
		__asm__ volatile(ZERO ".p2align 6\n1:\n\t.rept " #times "\n\t" operations ".endr\n\t" COUNT \
		                 : "+r"(n), "+r"(p) : : CLOBBER); \
	} \
	static void run_##name(void *p) \
	{ \
		k_##name(WARM, p); \
		CYCLEWISE_BEGIN(#name); \
		k_##name(ITERATIONS, p); \
		CYCLEWISE_END(#name); \
	}

LOOP(add_chain, 60, ADD)
LOOP(mul_chain, 60, MUL)
LOOP(fadd_chain, 60, FADD)
LOOP(fmul_chain, 60, FMUL)
LOOP(fma_chain, 60, FMA)
LOOP(load_chain, 60, CHASE)
LOOP(jumps, 60, JUMP)
LOOP(nops, 480, NOP)
LOOP(adds, 80, ADDS)
LOOP(fadds, 40, FADDS)
LOOP(fmas, 40, FMAS)
LOOP(loads, 80, LOADS)
LOOP(wide_loads, 80, WIDE_LOADS)
LOOP(stores, 80, STORES)

#define LOOPS(X) \
	X(add_chain) X(mul_chain) X(fadd_chain) X(fmul_chain) X(fma_chain) X(load_chain) X(jumps) \
	X(nops) X(adds) X(fadds) X(fmas) X(loads) X(wide_loads) X(stores)

static const struct {
	const char *name;
	void (*run)(void *p);
} loops[] = {
#define X(name) { #name, run_##name },
	LOOPS(X)
#undef X
};

int main(int argc, char **argv)
{
	void *p = &memory[512];

	memcpy(p, &p, sizeof p);
	for (int i = 1; i < argc; i++) {
		size_t k = 0;
		while (k < sizeof loops / sizeof *loops && strcmp(loops[k].name, argv[i]))
			k++;
		if (k == sizeof loops / sizeof *loops) {
			fprintf(stderr, "loops: no loop is called %s\n", argv[i]);
			return 2;
		}
		loops[k].run(p);
	}
	return 0;
}
