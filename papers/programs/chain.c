/*
 * A chain of loads that miss L1 and hit L2, and behind every LOADS of them a branch that waits for the last and goes one way
 * or the other at random: what gzip's search of earlier matches is, with all else left out.
 */
#include <stdint.h>

#ifndef LOADS
#define LOADS 4
#endif

enum { LINES = 1024, ROUNDS = 100000 / LOADS };

struct line {
	uint64_t next;                 /* in bytes from the first */
	uint64_t rest[7];
};

static struct line lines[LINES] __attribute__((aligned(4096)));
static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

/* One cycle through all lines, in no order. */
static void link_lines(void)
{
	for (uint64_t i = 0; i < LINES; i++)
		lines[i].next = i * sizeof *lines;
	for (uint64_t i = LINES - 1; i > 0; i--) {
		uint64_t j = draw() % i, next = lines[i].next;
		lines[i].next = lines[j].next;
		lines[j].next = next;
	}
}

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

/* 10 instructions a load, as many a branch. */
__attribute__((noinline))
static void chase(uint64_t rounds)
{
	uint64_t at = 0, random = state, bit;

	__asm__ volatile(
		"1:\n"
		".rept " TEXT(LOADS) "\n\t"
		"mov (%[lines],%[at]),%[at]\n\t"
		".rept 9\n\tnop\n\t.endr\n"
		".endr\n\t"
		"imul %[by],%[random]\n\t"
		"add %[by],%[random]\n\t"
		"mov %[random],%[bit]\n\t"
		"shr $63,%[bit]\n\t"
		"add %[at],%[bit]\n\t"
		"test $1,%[bit]\n\t"
		"jz 2f\n\t"
		"nop\n"
		"2:\n\t"
		"dec %[rounds]\n\t"
		"jnz 1b\n"
		: [at] "+r"(at), [random] "+r"(random), [bit] "=&r"(bit), [rounds] "+r"(rounds)
		: [lines] "r"(lines), [by] "r"(6364136223846793005u)
		: "cc", "memory");
}

int main(void)
{
	link_lines();
	chase(ROUNDS);
	return 0;
}
