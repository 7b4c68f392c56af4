/*
 * Reads its own counters around loops that take a known time: chains of N multiplications, each waiting for the one before.
 *
 *     counters ROUNDS [threads]
 *
 * Prints a line for each reading: thread, cycles, instructions, slots in all, filled, issued, retired. The fourth reading of a
 * thread is right behind the third.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/cyclewise.h"

static long rounds;

__attribute__((noinline)) void chain(long n)
{
	unsigned long x = 3;

	for (long i = 0; i < n; i++)
#if defined __x86_64__
		__asm__ volatile("imul %0, %0" : "+r"(x));
#else
		__asm__ volatile("mul %0, %0, %0" : "+r"(x));
#endif
}

static void *work(void *out)
{
	struct cyclewise_counters *c = out;

	chain(1000);
	cyclewise_read(&c[0]);
	chain(rounds);
	CYCLEWISE_BEGIN("twice");
	cyclewise_read(&c[1]);
	chain(2 * rounds);
	cyclewise_read(&c[2]);
	CYCLEWISE_END("twice");
	cyclewise_read(&c[3]);
	return NULL;
}

int main(int argc, char **argv)
{
	struct cyclewise_counters c[2][4];
	int threads = argc > 2;
	pthread_t t;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	if (threads && pthread_create(&t, NULL, work, c[1]))
		return 1;
	work(c[0]);
	if (threads)
		pthread_join(t, NULL);
	for (int i = 0; i <= threads; i++)
		for (int k = 0; k < 4; k++)
			printf("%d %llu %llu %llu %llu %llu %llu\n", i, (unsigned long long)c[i][k].cycles,
			       (unsigned long long)c[i][k].instructions, (unsigned long long)c[i][k].slots_total,
			       (unsigned long long)c[i][k].slots_filled, (unsigned long long)c[i][k].slots_issued,
			       (unsigned long long)c[i][k].slots_retired);
	return 0;
}
