/* Branches on what comes from memory, as likely one way as the other; then, whichever way, a load of what comes next. */
#include <stdint.h>
#include <stdio.h>

enum { ENTRIES = 1 << 20 };

static uint64_t table[ENTRIES];
static uint64_t sum;

__attribute__((noinline)) static void odd(uint64_t x)
{
	sum += x;
}

__attribute__((noinline)) static void even(uint64_t x)
{
	sum ^= x;
}

int main(void)
{
	uint64_t state = 1;

	for (uint32_t i = 0; i < ENTRIES; i += 8)
		table[i] = i * UINT64_C(0x9e3779b97f4a7c15) >> 11;
	for (int i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint64_t x = table[(state >> 40) % ENTRIES / 8 * 8];
		if (x & 1)
			odd(x);
		else
			even(x);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
