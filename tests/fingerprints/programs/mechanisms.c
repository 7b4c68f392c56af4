/*
 * One mechanism of a core at a time, for the fingerprints: `mechanisms NAME` runs that of the name, as the function run().
 *
 * What they have in common: whatever a parameter decides, some stretch goes beyond it: more misses than there are buffers, more
 * ways than a set has, a deeper recursion than the stack of return addresses.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE 64
#define PAGE 4096
#define SPACE (UINT64_C(3) << 30)      /* of addresses; what is not touched takes no memory */

static char *space;
static uint64_t sink;

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

#if defined __x86_64__
#define MANY_ALU "add $1, %%eax\n\tlea 1(%%rdx), %%rdx\n\txor $5, %%esi\n\tadd $1, %%edi\n\t"
#define MANY_VECTOR "paddd %%xmm1, %%xmm2\n\tmulps %%xmm3, %%xmm3\n\taddps %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm6\n\t"
#define MANY_LOADS "mov 8(%1), %%eax\n\tmov 128(%1), %%edx\n\tmovups 256(%1), %%xmm2\n\tmov 300(%1), %%esi\n\t"
#define MANY_STORES "mov %%eax, 512(%1)\n\tmov %%edx, 640(%1)\n\tmovups %%xmm2, 768(%1)\n\tmov %%esi, 900(%1)\n\t"
#define BRANCHES "cmp %%eax, %%edx\n\tjo 1f\n\t1:\n\ttest %%esi, %%esi\n\tjo 1f\n\t1:\n\t"
#define NOPS "nop\n\tnop\n\tnop\n\tnop\n\t"
#define CHASE "mov (%0), %0\n\t"
#define CLOBBER "rax", "rdx", "rsi", "rdi", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "cc", "memory"
#define JUMP "jmp 1f\n\t"
#define LATE_BRANCH "test %0, %0\n\tjo 1f\n\t1:\n\t"
#define TAKEN "test %%rax, %%rax\n\tjno 1f\n\tnop\n\t1:\n\t"
#define LATE_STORE "imul %0, %0\n\tmov %0, %%rax\n\tand $8, %%rax\n\tmov %%rdx, 64(%1,%%rax)\n\tmov 64(%1), %%rdx\n\t"
#elif defined __aarch64__
#define MANY_ALU "add x3, x3, 1\n\teor x4, x4, x5\n\tadd w6, w6, 1\n\tsub x7, x7, 3\n\t"
#define MANY_VECTOR "add v1.4s, v1.4s, v2.4s\n\tfmul v3.4s, v3.4s, v3.4s\n\tfadd v4.4s, v4.4s, v4.4s\n\teor v5.16b, v5.16b, v6.16b\n\t"
#define MANY_LOADS "ldr w3, [%1, 8]\n\tldr w4, [%1, 128]\n\tldr q2, [%1, 256]\n\tldr w6, [%1, 304]\n\t"
#define MANY_STORES "str w3, [%1, 512]\n\tstr w4, [%1, 640]\n\tstr q2, [%1, 768]\n\tstr w6, [%1, 900]\n\t"
#define BRANCHES "cmp x3, x4\n\tb.vs 1f\n\t1:\n\tcmp x6, x4\n\tb.vs 1f\n\t1:\n\t"
#define NOPS "nop\n\tnop\n\tnop\n\tnop\n\t"
#define CHASE "ldr %0, [%0]\n\t"
#define CLOBBER "x3", "x4", "x5", "x6", "x7", "v1", "v2", "v3", "v4", "v5", "v6", "cc", "memory"
#define JUMP "b 1f\n\t"
#define LATE_BRANCH "tbnz %0, 63, 1f\n\t1:\n\t"
#define TAKEN "cmp x3, x3\n\tb.eq 1f\n\tnop\n\t1:\n\t"
#define LATE_STORE "mul %0, %0, %0\n\tand x3, %0, 8\n\tadd x3, x3, %1\n\tstr x4, [x3, 64]\n\tldr x4, [%1, 64]\n\t"
#else
#define MANY_ALU "addi t0, t0, 1\n\txor t1, t1, t2\n\taddiw t3, t3, 1\n\tadd t4, t4, t5\n\t"
#define MANY_VECTOR "fadd.d ft1, ft1, ft2\n\tfmul.d ft3, ft3, ft3\n\tfadd.s ft4, ft4, ft4\n\tfsgnj.d ft5, ft6, ft6\n\t"
#define MANY_LOADS "lw t0, 8(%1)\n\tlw t1, 128(%1)\n\tfld ft2, 256(%1)\n\tlw t3, 300(%1)\n\t"
#define MANY_STORES "sw t0, 512(%1)\n\tsw t1, 640(%1)\n\tfsd ft2, 768(%1)\n\tsw t3, 900(%1)\n\t"
#define BRANCHES "blt x0, x0, 1f\n\t1:\n\tbne x0, x0, 1f\n\t1:\n\t"
#define NOPS "nop\n\tnop\n\tnop\n\tnop\n\t"
#define CHASE "ld %0, 0(%0)\n\t"
#define CLOBBER "t0", "t1", "t2", "t3", "t4", "t5", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "memory"
#define JUMP "j 1f\n\t"
#define LATE_BRANCH "bltz %0, 1f\n\t1:\n\t"
#define TAKEN "beq t0, t0, 1f\n\tnop\n\t1:\n\t"
#define LATE_STORE "mul %0, %0, %0\n\tandi t0, %0, 8\n\tadd t0, t0, %1\n\tsd t1, 64(t0)\n\tld t1, 64(%1)\n\t"
#endif

#define REPEAT(n, what) ".rept " #n "\n\t" what ".endr\n\t"

/* --- memory ------------------------------------------------------------------------------------------ */

/* A ring of `nr` pointers, `stride` bytes apart, in an order that no prefetcher knows, gone round `rounds` times. */
static void chase(uint64_t nr, uint64_t stride, unsigned rounds)
{
	static uint32_t order[1 << 16];
	uint64_t x = 88172645463325252u;

	for (uint64_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = nr - 1; i > 0; i--) {
		uint64_t k = random_next(&x) % (i + 1);
		uint32_t was = order[i];
		order[i] = order[k];
		order[k] = was;
	}
	for (uint64_t i = 0; i < nr; i++)
		*(void **)(space + order[i] * stride) = space + order[(i + 1) % nr] * stride;
	void *p = space + order[0] * stride;
	for (uint64_t i = 0; i < nr * rounds; i++)
		p = *(void **)p;
	sink += (uint64_t)p;
}

/* The same of pages `across` in a row, `rows` of them `stride` apart, each at another line. */
static void chase_pages(unsigned across, unsigned rows, uint64_t stride, unsigned rounds)
{
	unsigned nr = across * rows, step = nr * 5 / 8 | 1;

	while (nr % step == 0 && step > 1)
		step -= 2;
	for (unsigned i = 0, at = 0; i < nr; i++) {
		unsigned to = (at + step) % nr;
		char *from = space + at / across * stride + at % across * PAGE + at % 61 * LINE;
		*(void **)from = space + to / across * stride + to % across * PAGE + to % 61 * LINE;
		at = to;
	}
	void *p = space;
	for (uint64_t i = 0; i < (uint64_t)nr * rounds; i++)
		p = *(void **)p;
	sink += (uint64_t)p;
}

/* As many misses at a time as there is room for. */
static void independent(uint64_t bytes, uint64_t stride, unsigned rounds)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < rounds; r++)
		for (uint64_t at = 0; at < bytes; at += 4 * stride)
			sum += *(uint64_t *)(space + at) + *(uint64_t *)(space + at + stride) + *(uint64_t *)(space + at + 2 * stride) +
			       *(uint64_t *)(space + at + 3 * stride);
	sink += sum;
}

static void ways(void)
{
	static const unsigned counts[] = { 3, 5, 6, 7, 9, 11, 13, 15, 17, 19, 21, 25, 33 };

	for (uint64_t stride = PAGE; stride <= 64 << 20; stride *= 2)
		for (unsigned i = 0; i < sizeof counts / sizeof *counts && counts[i] * stride < SPACE; i++)
			if (stride == PAGE || (i + stride / PAGE) % 3 == 0 || stride >= 1 << 18)
				chase(counts[i], stride, 4);
}

static void levels(void)
{
	chase(300, LINE, 6);
	chase(700, LINE, 5);
	chase(3000, LINE, 3);
}

static void pages(void)
{
	chase(30, PAGE + LINE, 4);
	chase(60, PAGE + LINE, 4);
	chase(90, PAGE + LINE, 4);
	chase_pages(48, 1, PAGE, 4);
	chase_pages(56, 1, PAGE, 4);
	chase_pages(600, 1, PAGE, 3);
	for (unsigned rows = 3; rows <= 24; rows += rows < 8 ? 1 : 3)
		chase_pages(24, rows, 1 << 19, 3);
	for (unsigned rows = 9; rows <= 27; rows += 6)
		chase_pages(12, rows, 1 << 20, 3);
	chase_pages(50, 36, 2 << 20, 3);
	chase_pages(85, 46, 2 << 20, 3);
	chase_pages(2300, 1, PAGE, 3);
}

static void buffers(void)
{
	independent(1 << 18, LINE, 2);
	independent(1 << 18, 4 * LINE, 3);
	independent(4 << 20, 3 * LINE, 1);
	independent(32 << 20, PAGE + LINE, 1);
	independent(2 << 20, PAGE, 3);
	for (uint64_t at = 0; at < 24 << 20; at += 3 * PAGE / 2) /* of lines that are written back */
		*(uint64_t *)(space + at) = at;
	for (unsigned k = 0; k < 24; k++)
		for (uint64_t at = 0; at < 12; at++)
			*(uint64_t *)(space + at * (4 << 20) + k * LINE * 33) = at;
	independent(24 << 20, 3 * PAGE, 1);
}

static void writes(void)
{
	for (unsigned r = 0; r < 3; r++)
		for (uint64_t at = 0; at < 1 << 18; at += 2 * LINE)
			*(uint64_t *)(space + at) = at;
	for (unsigned r = 0; r < 3; r++)
		for (uint64_t at = 0; at < 1 << 14; at += 8)
			*(uint64_t *)(space + at) = at;
	for (uint64_t at = 0; at < 8 << 20; at += PAGE + LINE)
		*(uint64_t *)(space + at) = at;
	for (unsigned r = 0; r < 600; r++) {
		*(volatile uint8_t *)(space + r) = 1;
		*(volatile uint16_t *)(space + 2 * r) = 2;
		*(volatile uint64_t *)(space + 8 * r) = 3;
		*(volatile uint64_t *)(space + 4 * r) = 3;
	}
}

/* Streams up and down, in and across pages, and beside one another: what prefetchers follow. */
static void streams(void)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < 600 * LINE; at += 8)
		sum += *(uint64_t *)(space + (16 << 20) + at);
	for (uint64_t at = 300 * LINE; at > 0; at -= LINE)
		sum += *(uint64_t *)(space + (32 << 20) + at);
	for (uint64_t at = 0; at < 300; at++)
		for (unsigned k = 0; k < 9; k++)
			sum += *(uint64_t *)(space + (48 << 20) + k * (5 * PAGE) + at * 40);
	for (uint64_t at = 0; at < 700; at++)
		sum += *(uint64_t *)(space + (64 << 20) + at * 5 * LINE) + *(uint64_t *)(space + (80 << 20) + at * 2 * PAGE);
	for (uint64_t at = 0; at < 400; at++)
		*(uint64_t *)(space + (96 << 20) + at * LINE) = sum;
	sink += sum;
}

#if defined __riscv /* whose compiler reads what is not aligned byte by byte */
static void splits_apart(void)
{
	for (unsigned i = 0; i < 300; i++) {
		char *at = space + (uint64_t)(i % 20) * PAGE;
		uint64_t x;

		asm volatile("ld %0, 60(%1)\n\tsd %0, 188(%1)\n\tlw %0, 318(%1)" : "=&r"(x) : "r"(at) : "memory");
		at += PAGE - 4;
		asm volatile("ld %0, 0(%1)\n\tsd %0, 0(%1)" : "=&r"(x) : "r"(at + PAGE) : "memory");
		if (i % 20 == 0)
			asm volatile("fence.i" ::: "memory");
	}
}
#else
static void splits_apart(void) { }
#endif

#define UNALIGNED(type, at) (*(volatile struct { type v; } __attribute__((packed)) *)(space + (at))).v

static void splits(void)
{
	splits_apart();
	for (unsigned i = 0; i < 300; i++) {
		uint64_t line = (uint64_t)(i % 50) * 2 * LINE;

		sink += UNALIGNED(uint64_t, line + LINE - 4) + UNALIGNED(uint32_t, line + 2 * LINE - 2);
		UNALIGNED(uint64_t, line + LINE - 3) = i;
		sink += UNALIGNED(uint64_t, (uint64_t)(i % 20) * PAGE + PAGE - 4);
		UNALIGNED(uint64_t, (uint64_t)(i % 20) * PAGE + 2 * PAGE - 5) = i;
		sink += UNALIGNED(uint64_t, line + LINE - 4) + UNALIGNED(uint64_t, line + LINE - 4 + 512);
	}
}

/* Loads that run ahead of stores whose addresses are late, each in a place of its own. */
static void dependences(void)
{
	uint64_t x = 3;

	for (unsigned r = 0; r < 4; r++)
		asm volatile(REPEAT(400, LATE_STORE) : "+r"(x) : "r"(space) : CLOBBER);
	sink += x;
}

static void forwarding(void)
{
	volatile uint64_t *p = (void *)space;
	uint64_t x = 1;

	for (unsigned i = 0; i < 400; i++) {
		uint64_t k = i % 29 * 8;

		p[k] = x;
		x += p[k];
		*(volatile uint32_t *)(p + k + 1) = (uint32_t)x;
		x += *(volatile uint16_t *)(p + k + 1);
		x += *((volatile uint8_t *)(p + k + 1) + 1);
		*(volatile uint32_t *)(p + k + 2) = (uint32_t)x; /* two stores, one load: it waits until they are written */
		*((volatile uint32_t *)(p + k + 2) + 1) = (uint32_t)i;
		x += p[k + 2];
		p[k + 512 * 3] = x;           /* a load of the same low 12 bits */
		x += p[k] + p[k + 512];
		UNALIGNED(uint64_t, k * 8 + 60) = x;
		x += UNALIGNED(uint64_t, k * 8 + 60);
		UNALIGNED(uint64_t, k * 8 + 4090) = x;
		x += UNALIGNED(uint32_t, k * 8 + 4092);
		p[(x & 31) + 64] = i;         /* an address that is late */
		x += p[(i & 31) + 64];
		*(volatile double *)(p + 200) = (double)i;
		x += (uint64_t)*(volatile double *)(p + 200);
		*(volatile double *)(p + 202) = (double)i;
		x += p[202];
		p[204] = i;
		x += (uint64_t)*(volatile double *)(p + 204);
	}
	sink += x;
}

/* --- the window -------------------------------------------------------------------------------------- */

static void window(void)
{
	void **p;

	for (unsigned i = 0; i < 64; i++)
		*(void **)(space + (64 << 20) + i * 67 * PAGE) = space + (64 << 20) + (i + 1) % 64 * 67 * PAGE;
	p = (void **)(space + (64 << 20));
	for (unsigned r = 0; r < 2; r++) {
		asm volatile(CHASE REPEAT(150, MANY_ALU) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(100, MANY_VECTOR) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(50, MANY_LOADS) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(50, MANY_STORES) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(120, BRANCHES) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(70, LATE_BRANCH) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(150, NOPS) CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(200, JUMP "1:\n\t") CHASE : "+r"(p) : "r"(space) : CLOBBER);
		asm volatile(CHASE REPEAT(30, MANY_ALU MANY_VECTOR MANY_LOADS MANY_STORES BRANCHES) CHASE : "+r"(p) : "r"(space) : CLOBBER);
	}
	sink += (uint64_t)p;
}

#if defined __x86_64__
#define DEPENDENT "imul %0, %0\n\tadd %0, %%rax\n\tadd %0, %%rdx\n\tadd %0, %%rsi\n\tadd %0, %%rdi\n\tlea (%0,%%rax), %%r8\n\t"
#define DEPENDENT_VECTOR "mulsd %%xmm1, %%xmm1\n\taddsd %%xmm1, %%xmm2\n\tmulsd %%xmm1, %%xmm3\n\tpaddd %%xmm1, %%xmm4\n\tandps %%xmm1, %%xmm5\n\tpshufd $3, %%xmm1, %%xmm6\n\t"
#define DEPENDENT_MEMORY "imul %0, %0\n\tmov %0, %%rax\n\tand $1016, %%rax\n\tmov (%1,%%rax), %%rdx\n\tmov %%rdx, 8(%1,%%rax)\n\tmovups (%1,%%rax), %%xmm1\n\tmovups %%xmm1, 64(%1,%%rax)\n\t"
#elif defined __aarch64__
#define DEPENDENT "mul %0, %0, %0\n\tadd x3, x3, %0\n\tadd x4, x4, %0\n\tadd x5, x5, %0\n\tadd x6, x6, %0, lsl 2\n\t"
#define DEPENDENT_VECTOR "fmul d1, d1, d1\n\tfadd d2, d2, d1\n\tfmul d3, d1, d3\n\tadd v4.4s, v1.4s, v4.4s\n\tfmadd d5, d1, d1, d5\n\t"
#define DEPENDENT_MEMORY "mul %0, %0, %0\n\tand x3, %0, 1016\n\tadd x3, x3, %1\n\tldr x4, [x3]\n\tstr x4, [x3, 8]\n\tldr q1, [x3]\n\tstr q1, [x3, 64]\n\t"
#else
#define DEPENDENT "mul %0, %0, %0\n\tadd t0, t0, %0\n\tadd t1, t1, %0\n\tadd t2, t2, %0\n\tadd t3, t3, %0\n\t"
#define DEPENDENT_VECTOR "fmul.d ft1, ft1, ft1\n\tfadd.d ft2, ft2, ft1\n\tfmul.d ft3, ft1, ft3\n\tfmadd.d ft5, ft1, ft1, ft5\n\t"
#define DEPENDENT_MEMORY "mul %0, %0, %0\n\tandi t0, %0, 1016\n\tadd t0, t0, %1\n\tld t1, 0(t0)\n\tsd t1, 8(t0)\n\tfld ft1, 0(t0)\n\tfsd ft1, 64(t0)\n\t"
#endif

/* What waits for operands fills the schedulers. */
static void schedulers(void)
{
	uint64_t x = 3;

	for (unsigned r = 0; r < 4; r++) {
		asm volatile(REPEAT(80, DEPENDENT) : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(80, DEPENDENT_VECTOR) : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(60, DEPENDENT_MEMORY) : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(20, DEPENDENT DEPENDENT_MEMORY DEPENDENT_VECTOR MANY_VECTOR MANY_ALU) : "+r"(x) : "r"(space) : CLOBBER);
	}
	sink += x;
}

static void arithmetic(void)
{
	double f = 1.5;
	float g = 2.5f;
	uint64_t x = 0x123456789abcdef;
	int32_t y = 12345;

	for (unsigned i = 1; i < 500; i++) {
		f = sqrt(f * 3.0 + i) / 1.25;
		g = g / 1.5f + (float)i;
		x = x / i + x % 1000 + (x << (i & 31)) + (uint64_t)__builtin_popcountll(x);
		y = y / (int32_t)i + (int32_t)f * 7;
		f += (double)y + (double)g;
	}
	sink += x + (uint64_t)y + (uint64_t)f;
}

/* --- code -------------------------------------------------------------------------------------------- */

/* Jumps from place to place: lines, pages and branch targets beyond what caches of them hold. */
static void code(void)
{
	for (unsigned r = 0; r < 4; r++)
		asm volatile(REPEAT(300, JUMP ".balign 64\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 3; r++)
		asm volatile(REPEAT(200, JUMP ".balign 4096\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 4; r++)
		asm volatile(REPEAT(56, JUMP ".balign 4096\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 4; r++)
		asm volatile(REPEAT(100, JUMP ".balign 4096\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 8; r++)
		asm volatile(REPEAT(6, JUMP ".balign 131072\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 8; r++)
		asm volatile(REPEAT(11, JUMP ".balign 16384\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 3; r++)
		asm volatile(REPEAT(1500, JUMP ".balign 8\n\t1:\n\t") ::: "memory");
	for (unsigned r = 0; r < 3; r++)
		asm volatile(REPEAT(40, JUMP ".balign 8192\n\t1:\n\t" JUMP ".balign 128\n\t1:\n\t" JUMP "1:\n\t") ::: "memory");
}

/* More branches than a BTB holds, some of them in one set. */
static void targets(void)
{
	for (unsigned r = 0; r < 2; r++)
		asm volatile(REPEAT(9000, JUMP ".balign 16\n\t1:\n\t") ::: "memory");
}

static void straight(void)
{
	uint64_t x = 1;

	for (unsigned r = 0; r < 3; r++)
		asm volatile(REPEAT(400, NOPS MANY_ALU) : "+r"(x) : "r"(space) : CLOBBER);
	for (unsigned r = 0; r < 30; r++)
		asm volatile(REPEAT(20, MANY_ALU MANY_VECTOR) : "+r"(x) : "r"(space) : CLOBBER);
	for (unsigned r = 0; r < 40; r++)
		asm volatile(REPEAT(12, MANY_ALU TAKEN) : "+r"(x) : "r"(space) : CLOBBER);
	for (unsigned r = 0; r < 150; r++)
		asm volatile(REPEAT(3, MANY_ALU) REPEAT(2, BRANCHES) : "+r"(x) : "r"(space) : CLOBBER);
}

__attribute__((noinline)) static uint64_t recurse(unsigned depth)
{
	uint64_t below = depth ? recurse(depth - 1) : sink;

	asm volatile("" : "+r"(below)); /* a call, not a loop */
	return below + depth;
}

#define TARGET(n) __attribute__((noinline)) static uint64_t target_##n(uint64_t x) { return x * (2 * n + 1) + n; }
TARGET(0) TARGET(1) TARGET(2) TARGET(3) TARGET(4) TARGET(5) TARGET(6) TARGET(7)

static void branches(void)
{
	static uint64_t (*const table[])(uint64_t) = { target_0, target_1, target_2, target_3, target_4, target_5, target_6, target_7 };
	uint64_t x = 88172645463325252u, sum = 0;

	for (unsigned i = 0; i < 6; i++)
		sum += recurse(10) + recurse(20) + recurse(40) + recurse(70);
	for (unsigned i = 0; i < 300; i++)
		sum += table[i * i % 8](i) + table[i / 5 % 8](sum);
	for (unsigned i = 0; i < 1200; i++) {
		if (random_next(&x) & 1)
			sum += x;
		if (i % 7 == 3)
			sum ^= 5;
		if (i % 37 == 9 && x & 2)
			sum ^= x >> 3;
		for (unsigned k = 0; k < i % 9 + 1; k++)
			sum += k;
	}
	for (unsigned i = 0; i < 60; i++)
		for (unsigned k = 0; k < 23; k++)
			asm volatile("" : "+r"(sum));
	sink += sum;
}

/* --- what orders ------------------------------------------------------------------------------------- */

static void order(void)
{
	static uint64_t words[64];

	for (unsigned i = 0; i < 200; i++) {
		__atomic_fetch_add(&words[i % 8], 1, __ATOMIC_SEQ_CST);
		sink += words[i % 8 + 8];
		if (i % 4 == 0) {
			words[32] = i;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			sink += words[40];
		}
		__atomic_store_n(&words[16], i, __ATOMIC_RELEASE);
		sink += __atomic_load_n(&words[24], __ATOMIC_ACQUIRE);
		uint64_t expected = i;
		__atomic_compare_exchange_n(&words[48], &expected, i + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < 20; i++) {
		void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*(volatile int *)p = 1;
		munmap(p, PAGE);
	}
}

static void copies(void)
{
	for (unsigned i = 1; i < 40; i++) {
		memcpy(space + 100, space + 10000 + i, i * 31);
		memset(space + 5000 + i, 3, i * 53);
		memmove(space + 20000, space + 20000 + i, i * 40);
	}
#if defined __x86_64__
	for (uint64_t i = 1; i < 12; i++) {
		char *to = space + 70000, *from = space + 90000;
		uint64_t n = i * 200;
		asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory");
		n = i * 30;
		asm volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0) : "memory");
		to = space + 70000, from = space + 70000, n = i * 9;
		asm volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory", "cc");
	}
#endif
}

#if defined __x86_64__
/* What is peculiar to x86: prefixes, microcode, the stack engine, partial registers, vectors of 32 bytes, copies of registers. */
static void peculiar(void)
{
	uint64_t x = 7;

	for (unsigned r = 0; r < 8; r++) {
		asm volatile(REPEAT(20, ".byte 0x66, 0x05, 0x34, 0x12\n\taddw $0x1234, %%dx\n\t") ::: CLOBBER);
		asm volatile(REPEAT(12, "push %%rax\n\tpush %%rdx\n\tpop %%rdx\n\tmov %%rsp, %%rdi\n\tpop %%rsi\n\tlea 8(%%rsp), %%rdi\n\tadd $0, %%rsp\n\t") ::: CLOBBER);
		asm volatile(REPEAT(12, "mov %%rax, %%rdx\n\tmov %%rdx, %%rsi\n\tmov %%rsi, %%rax\n\tmovaps %%xmm1, %%xmm2\n\tmovaps %%xmm2, %%xmm1\n\tadd $1, %%rax\n\t") ::: CLOBBER);
		asm volatile(REPEAT(40, "mov %%rax, %%rdx\n\tmovaps %%xmm1, %%xmm3\n\tmov %%rdx, %%rsi\n\t") "add $1, %%rsi\n\t" ::: CLOBBER);
		asm volatile(REPEAT(12, "mov $3, %%al\n\tadd %%ah, %%dl\n\tshl %%cl, %%esi\n\tadc %%rdx, %%rax\n\tmov $1, %%dh\n\tadd %%edx, %%eax\n\t") ::: CLOBBER, "rcx");
		asm volatile(REPEAT(8, "movabs $0x123456789abcdef0, %%rax\n\tmovl $0x12345678, 0x1000(%1)\n\tmovabs $0x1123456789abcdef, %%rdx\n\tmov $0x1000000, %%esi\n\tlea 0x12345678(%%rax,%%rdx,4), %%rdi\n\t")
		             : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(20, "vmovups (%1), %%ymm1\n\tvaddps 32(%1), %%ymm1, %%ymm2\n\tvmulps %%ymm2, %%ymm2, %%ymm3\n\tvmovups %%ymm3, 64(%1)\n\tvmovups 64(%1), %%xmm4\n\tvfmadd231pd %%ymm1, %%ymm2, %%ymm5\n\t")
		             : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(12, "vmovups 52(%1), %%ymm1\n\tvmovups %%ymm1, 180(%1)\n\tvmovups 180(%1), %%ymm2\n\tvmovups 4080(%1), %%ymm3\n\tvmovups %%ymm3, 8180(%1)\n\tvmovd %%xmm1, %%eax\n\tvmovq %%rax, %%xmm6\n\t")
		             : "+r"(x) : "r"(space) : CLOBBER);
		asm volatile(REPEAT(8, "paddd %%xmm1, %%xmm2\n\taddps %%xmm2, %%xmm2\n\tpaddd %%xmm2, %%xmm2\n\tmulps %%xmm2, %%xmm3\n\tpand %%xmm3, %%xmm2\n\tdivps %%xmm1, %%xmm4\n\tsqrtpd %%xmm5, %%xmm5\n\t") ::: CLOBBER);
		asm volatile("xor %%eax, %%eax\n\tcpuid\n\tlfence\n\tadd $1, %%eax\n\tmfence\n\trdtsc\n\tsfence\n\txchg %%rax, (%0)\n\tlock addq $1, 64(%0)\n\tpause\n\t" : : "r"(space) : CLOBBER, "rbx", "rcx");
		asm volatile(REPEAT(6, "movnti %%rax, 0x2000(%0)\n\tprefetcht0 0x3000(%0)\n\tprefetchnta 0x4000(%0)\n\tclflush 0x2000(%0)\n\tmov 0x2000(%0), %%rax\n\t") : : "r"(space) : CLOBBER);
	}
	/* loads and stores whose base is copied, renamed and pushed */
	for (unsigned r = 0; r < 60; r++)
		asm volatile("mov %%rax, 8(%1)\n\tmov 8(%1), %%rax\n\tadd $1, %%rax\n\tmov %%rax, 8(%1)\n\tmov 8(%1), %%rdx\n\tmov %%rdx, 16(%1)\n\tmov 16(%1), %%rax\n\tpush %%rax\n\tmov (%%rsp), %%rsi\n\tpop %%rax\n\t"
		             : "+r"(x) : "r"(space) : CLOBBER);
	sink += x;
}
#endif

static const struct { const char *name; void (*run)(void); } mechanisms[] = {
	{ "ways", ways }, { "levels", levels }, { "pages", pages }, { "buffers", buffers }, { "writes", writes }, { "streams", streams },
	{ "splits", splits }, { "forwarding", forwarding }, { "dependences", dependences },
	{ "window", window }, { "schedulers", schedulers }, { "arithmetic", arithmetic },
	{ "code", code }, { "targets", targets }, { "straight", straight }, { "branches", branches }, { "order", order }, { "copies", copies },
#if defined __x86_64__
	{ "peculiar", peculiar },
#endif
};

__attribute__((noinline)) void run(unsigned i)
{
	mechanisms[i].run();
	asm volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	space = mmap((void *)0x7000000000, SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	for (unsigned i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
		if (argc == 1)
			puts(mechanisms[i].name);
		else if (!strcmp(argv[1], mechanisms[i].name))
			run(i);
	}
	return 0;
}
