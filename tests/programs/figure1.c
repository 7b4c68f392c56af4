/*
 * The two loops of figure 1 of the Gus paper, 10,000 iterations each: a chain of two fused multiply-adds an iteration,
 * with both operands loaded (a), or one of them hoisted out (b).
 */
#include <stdint.h>

static float x[64] __attribute__((aligned(32))), y[64] __attribute__((aligned(32)));

__attribute__((noinline)) static void loop_a(long n)
{
	__asm__ volatile(
		"1:\n\tvmovaps (%1), %%ymm1\n\tvmovaps (%2), %%ymm2\n\t"
		"vfmadd231ps %%ymm3, %%ymm1, %%ymm0\n\tvfmadd231ps %%ymm2, %%ymm1, %%ymm0\n\t"
		"dec %0\n\tjnz 1b"
		: "+r"(n) : "r"(x), "r"(y) : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
}

__attribute__((noinline)) static void loop_b(long n)
{
	__asm__ volatile(
		"vmovaps (%2), %%ymm2\n"
		"1:\n\tvmovaps (%1), %%ymm1\n\t"
		"vfmadd231ps %%ymm3, %%ymm1, %%ymm0\n\tvfmadd231ps %%ymm2, %%ymm1, %%ymm0\n\t"
		"dec %0\n\tjnz 1b"
		: "+r"(n) : "r"(x), "r"(y) : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
}

int main(void)
{
	loop_a(10000);
	loop_b(10000);
	return 0;
}
