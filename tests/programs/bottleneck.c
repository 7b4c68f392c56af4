/*
 * Programs with one known bottleneck each, for end-to-end tests: `bottleneck NAME` runs the kernel k_NAME.
 *
 * Each kernel is a loop in assembly, so that which instruction must pay, and where it can be worked out how
 * much, is known on every ISA.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, used))

#if defined __x86_64__
#define DEC_LOOP "dec %0\n\tjnz 1b\n\t"
#define MUL "imul %1, %1\n\t"
#define FMA "vfmadd231sd %%xmm1, %%xmm1, %%xmm0\n\t"
#define CHASE "mov (%1), %1\n\t"
#define STORE(off) "mov %1, " #off "(%1)\n\t"
#define SERIALISE "lfence\n\t"
#elif defined __aarch64__
#define DEC_LOOP "subs %0, %0, #1\n\tb.ne 1b\n\t"
#define MUL "mul %1, %1, %1\n\t"
#define FMA "fmadd d0, d1, d1, d0\n\t"
#define CHASE "ldr %1, [%1]\n\t"
#define STORE(off) "str %1, [%1, #" #off "]\n\t"
#define SERIALISE "isb\n\t"
#elif defined __riscv
#define DEC_LOOP "addi %0, %0, -1\n\tbnez %0, 1b\n\t"
#define MUL "mul %1, %1, %1\n\t"
#define FMA "fmadd.d fa0, fa1, fa1, fa0\n\t"
#define CHASE "ld %1, 0(%1)\n\t"
#define STORE(off) "sd %1, " #off "(%1)\n\t"
#define SERIALISE "fsflags zero\n\t"
#endif

/* Rounds of k_order: one, since a core learns; many where its predictor is too small for that, so that the code is warm. */
#ifdef __riscv
enum { ORDER_ROUNDS = 20 };
#else
enum { ORDER_ROUNDS = 1 };
#endif

enum { LINE = 64, PAGE = 4096 };

/* 16 dependent multiplies an iteration. */
NOINLINE uint64_t k_mul(uint64_t n)
{
	uint64_t x = 3;
	__asm__ volatile(".p2align 6\n1:\n\t.rept 16\n\t" MUL ".endr\n\t" DEC_LOOP : "+r"(n), "+r"(x) : : "cc");
	return x;
}

/* 16 dependent fused multiply-adds an iteration. */
NOINLINE uint64_t k_fma(uint64_t n)
{
#if defined __x86_64__
	__asm__ volatile("vxorpd %%xmm0, %%xmm0, %%xmm0\n\tvxorpd %%xmm1, %%xmm1, %%xmm1\n\t"
	                 ".p2align 6\n1:\n\t.rept 16\n\t" FMA ".endr\n\t" DEC_LOOP : "+r"(n) : : "cc", "xmm0", "xmm1");
#elif defined __aarch64__
	__asm__ volatile("fmov d0, xzr\n\tfmov d1, xzr\n\t"
	                 ".p2align 6\n1:\n\t.rept 16\n\t" FMA ".endr\n\t" DEC_LOOP : "+r"(n) : : "cc", "d0", "d1");
#else
	__asm__ volatile("fmv.d.x fa0, zero\n\tfmv.d.x fa1, zero\n\t"
	                 ".p2align 6\n1:\n\t.rept 16\n\t" FMA ".endr\n\t" DEC_LOOP : "+r"(n) : : "fa0", "fa1");
#endif
	return 0;
}

NOINLINE uint64_t k_chase(uint64_t n, void *p)
{
	__asm__ volatile(".p2align 6\n1:\n\t.rept 16\n\t" CHASE ".endr\n\t" DEC_LOOP : "+r"(n), "+r"(p) : : "cc", "memory");
	return (uint64_t)p;
}

/* One random cycle through `count` cells `stride` bytes apart, by a fixed generator. */
static void *cycle_through(size_t count, size_t stride, size_t skew)
{
	char *area = aligned_alloc(1 << 21, (count * stride + (1 << 21)) >> 21 << 21);
	uint32_t *order = malloc(count * sizeof *order);
	uint64_t seed = 88172645463325252u;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count - 1; i > 0; i--) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		size_t j = seed % (i + 1);
		uint32_t t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (size_t i = 0; i < count; i++) {
		size_t from = order[i], to = order[(i + 1) % count];
		*(void **)(area + from * stride + from * skew % stride) = area + to * stride + to * skew % stride;
	}
	void *start = area + order[0] * stride + order[0] * skew % stride;
	free(order);
	return start;
}

/* A branch on a random bit. */
NOINLINE uint64_t k_branch(uint64_t n, const uint8_t *bits)
{
	uint64_t sum = 0, v = 0;
#if defined __x86_64__
	__asm__ volatile("1:\n\tmovzbl (%3), %k2\n\tinc %3\n\ttest %k2, %k2\n\tjz 2f\n\tinc %1\n\t2:\n\t" DEC_LOOP
	                 : "+r"(n), "+r"(sum), "+r"(v), "+r"(bits) : : "cc", "memory");
#elif defined __aarch64__
	__asm__ volatile("1:\n\tldrb %w2, [%3], #1\n\tcbz %w2, 2f\n\tadd %1, %1, #1\n\t2:\n\t" DEC_LOOP
	                 : "+r"(n), "+r"(sum), "+r"(v), "+r"(bits) : : "cc", "memory");
#else
	__asm__ volatile("1:\n\tlbu %2, 0(%3)\n\taddi %3, %3, 1\n\tbeqz %2, 2f\n\taddi %1, %1, 1\n\t2:\n\t" DEC_LOOP
	                 : "+r"(n), "+r"(sum), "+r"(v), "+r"(bits) : : "memory");
#endif
	return sum;
}

/* A store to a new line each time, far faster than memory takes them. */
NOINLINE uint64_t k_store(uint64_t n, char *p)
{
#if defined __x86_64__
	__asm__ volatile("1:\n\t" STORE(0) STORE(4096) STORE(8192) STORE(12288) "add $64, %1\n\t" DEC_LOOP : "+r"(n), "+r"(p) : : "cc", "memory");
#elif defined __aarch64__
	__asm__ volatile("1:\n\t" STORE(0) STORE(4096) STORE(8192) STORE(12288) "add %1, %1, #64\n\t" DEC_LOOP : "+r"(n), "+r"(p) : : "cc", "memory");
#else
	__asm__ volatile("1:\n\t" STORE(0) STORE(512) STORE(1024) STORE(1536) "addi %1, %1, 64\n\t" DEC_LOOP : "+r"(n), "+r"(p) : : "memory");
#endif
	return 0;
}

/* 256 KiB of straight code, over and over: more than any L1 instruction cache, in cyclic order. */
NOINLINE uint64_t k_icache(uint64_t n)
{
#if defined __x86_64__
	__asm__ volatile(".p2align 6\n1:\n\t.rept 32768\n\t.byte 0x0f,0x1f,0x84,0,0,0,0,0\n\t.endr\n\tdec %0\n\tjz 2f\n\tjmp 1b\n\t2:\n\t" : "+r"(n) : : "cc");
#elif defined __aarch64__
	__asm__ volatile(".p2align 6\n1:\n\t.rept 65536\n\tnop\n\t.endr\n\tsubs %0, %0, #1\n\tb.eq 2f\n\tb 1b\n\t2:\n\t" : "+r"(n) : : "cc");
#else
	__asm__ volatile(".p2align 6\n.option push\n.option norvc\n1:\n\t.rept 65536\n\tnop\n\t.endr\n\taddi %0, %0, -1\n\tbeqz %0, 2f\n\tj 1b\n\t2:\n.option pop\n\t" : "+r"(n));
#endif
	return 0;
}

/*
 * A store whose address comes late, then a load of the same place, in 256 copies of the code so that no
 * predictor has seen them: every load runs ahead of its store and has to run again.
 */
NOINLINE uint64_t k_order(uint64_t n, uint64_t *place)
{
	uint64_t v = 0, late = 1, addr = 0;
#if defined __x86_64__
	__asm__ volatile("1:\n\t.rept 256\n\t"
	                 "imul $1, %3, %3\n\timul $1, %3, %3\n\timul $1, %3, %3\n\t"
	                 "lea -1(%3), %2\n\tmov %0, (%4,%2)\n\tmov (%4), %1\n\t"
	                 ".endr\n\tdec %0\n\tjz 2f\n\tjmp 1b\n\t2:\n\t"
	                 : "+r"(n), "+r"(v), "+r"(addr), "+r"(late) : "r"(place) : "cc", "memory");
#elif defined __aarch64__
	__asm__ volatile("1:\n\t.rept 256\n\t"
	                 "mul %3, %3, %3\n\tmul %3, %3, %3\n\tmul %3, %3, %3\n\t"
	                 "sub %2, %3, #1\n\tstr %0, [%4, %2]\n\tldr %1, [%4]\n\t"
	                 ".endr\n\tsubs %0, %0, #1\n\tb.eq 2f\n\tb 1b\n\t2:\n\t"
	                 : "+r"(n), "+r"(v), "+r"(addr), "+r"(late) : "r"(place) : "cc", "memory");
#else
	__asm__ volatile("1:\n\t.rept 256\n\t"
	                 "mul %3, %3, %3\n\t"
	                 "addi %2, %3, -1\n\tadd %2, %2, %4\n\tsd %0, 0(%2)\n\tld %1, 0(%4)\n\t"
	                 ".endr\n\taddi %0, %0, -1\n\tbeqz %0, 2f\n\tj 1b\n\t2:\n\t"
	                 : "+r"(n), "+r"(v), "+r"(addr), "+r"(late) : "r"(place) : "memory");
#endif
	return v + late;
}

/* Eight serialising instructions an iteration; on the ISAs where they flush, an addition between. */
NOINLINE uint64_t k_serial(uint64_t n)
{
	uint64_t x = 0;
#if defined __x86_64__
	__asm__ volatile("1:\n\t.rept 8\n\t" SERIALISE ".endr\n\t" DEC_LOOP : "+r"(n), "+r"(x) : : "cc");
#elif defined __aarch64__
	__asm__ volatile("1:\n\t.rept 8\n\t" SERIALISE "add %1, %1, #1\n\t.endr\n\t" DEC_LOOP : "+r"(n), "+r"(x) : : "cc");
#else
	__asm__ volatile("1:\n\t.rept 8\n\t" SERIALISE "addi %1, %1, 1\n\t.endr\n\t" DEC_LOOP : "+r"(n), "+r"(x));
#endif
	return x;
}

static uint8_t *random_bits(size_t n)
{
	uint8_t *bits = malloc(n);
	uint64_t seed = 88172645463325252u;

	for (size_t i = 0; i < n; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		bits[i] = seed >> 33 & 1;
	}
	return bits;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t r = 0;

	if (!strcmp(what, "mul"))
		r = k_mul(20000);
	else if (!strcmp(what, "fma"))
		r = k_fma(20000);
	else if (!strcmp(what, "l2"))              /* 120 KiB, in 30 pages */
		r = k_chase(20000, cycle_through(1920, LINE, 0));
	else if (!strcmp(what, "memory"))          /* 32 MiB */
		r = k_chase(2000, cycle_through(524288, LINE, 0));
	else if (!strcmp(what, "pages"))           /* one line in each of 1024 pages: all in L2, beyond the first-level TLB */
		r = k_chase(10000, cycle_through(1024, PAGE, LINE));
	else if (!strcmp(what, "branch"))
		r = k_branch(200000, random_bits(200000));
	else if (!strcmp(what, "store"))
		r = k_store(40000, calloc(1, 8 << 20));
	else if (!strcmp(what, "icache"))
		r = k_icache(12);
	else if (!strcmp(what, "order"))
		r = k_order(ORDER_ROUNDS, calloc(1, 64));
	else if (!strcmp(what, "serial"))
		r = k_serial(5000);
	else
		return fprintf(stderr, "usage: bottleneck mul|fma|l2|memory|pages|branch|store|icache|order|serial\n"), 2;
	printf("%llu\n", (unsigned long long)r);
	return 0;
}
