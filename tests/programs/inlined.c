/* Functions that are inlined wherever they are called: by tests/e2e/inlined.py, which knows the names. */
#include <stdlib.h>

#define ALONE __attribute__((noinline, noclone))

ALONE static int spend(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}

static inline __attribute__((always_inline)) unsigned long step(unsigned long x)
{
	return x * 3 + 1;
}

static inline __attribute__((always_inline)) unsigned long climb(unsigned long x, int n)
{
	for (int i = 0; i < n; i++)
		x = step(x);
	return x + (unsigned long)spend(100);
}

static inline __attribute__((always_inline)) int hop(int n)
{
	return spend(3 * n);
}

/* What is inlined here ends in a jump to spend(), which returns for it. */
ALONE int tail(int n)
{
	return hop(n);
}

ALONE int leave(unsigned long x)
{
	return (int)climb(x, 10) < 0 ? spend(50) : spend(200);
}

/* Of this the compiler leaves nothing. */
static unsigned long wasted(unsigned long x)
{
	return x / 7;
}

int main(int argc, char **argv)
{
	unsigned long x = (unsigned long)argc;

	spend(1000);
	x = climb(x, 400);
	spend(1000);
	x = climb(x, 200);
	wasted(x);
	x += (unsigned long)tail(argc);
	(void)argv;
	return leave(x) == 42;
}
