/* A loop that loads and a chain bound alike, 12 cycles an iteration each: with more of either alone it is as slow. x86-64. */
__attribute__((noinline)) void k_saturated(long rounds)
{
	__asm__ volatile(
		"1:\n\t"
		".rept 24\n\t"
		"mov (%%rsp), %%ecx\n\t"
		".endr\n\t"
		".rept 4\n\t"
		"imul %%rax, %%rax\n\t"
		".endr\n\t"
		"dec %0\n\t"
		"jnz 1b"
		: "+r"(rounds) : : "rax", "rcx", "cc", "memory");
}

int main(void)
{
	k_saturated(2000);
	return 0;
}
