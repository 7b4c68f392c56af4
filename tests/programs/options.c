/*
 * A program whose parts can be told apart by name, for end-to-end tests of the options that choose what is counted:
 * marked regions, functions entered a known number of times, threads, children.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../include/cyclewise.h"

#define NOINLINE __attribute__((noinline, used))

/* A number that the compiler does not know. */
static uint64_t opaque(uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* A branch that nobody can predict, every time round. */
NOINLINE uint64_t coin(uint64_t n)
{
	uint64_t x = 88172645463325252u, heads = 0;

	while (n--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 1) {
			heads++;
			__asm__ volatile("" : "+r"(heads));
		}
	}
	return heads;
}

NOINLINE uint64_t setup(uint64_t n)
{
	uint64_t x = 0;

	while (n--)
		x = opaque(x + n);
	return x;
}

NOINLINE uint64_t inner(uint64_t n)
{
	return opaque(setup(n) + 1);
}

NOINLINE uint64_t outer(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += inner(10 * i);
	return opaque(sum);
}

NOINLINE uint64_t wind_down(uint64_t n)
{
	return opaque(setup(n) * 3);
}

static jmp_buf out;

/* Leaves by longjmp. */
NOINLINE void jumper(uint64_t n)
{
	setup(n);
	longjmp(out, 1);
}

static void *thread(void *arg)
{
	CYCLEWISE_BEGIN("threaded");
	coin((uint64_t)(uintptr_t)arg);
	CYCLEWISE_END("threaded");
	return NULL;
}

static void threads(unsigned nr)
{
	pthread_t id[8];

	for (unsigned i = 0; i < nr; i++)
		pthread_create(&id[i], NULL, thread, (void *)(uintptr_t)(1000 * (i + 1)));
	for (unsigned i = 0; i < nr; i++)
		pthread_join(id[i], NULL);
}

static void child(char *const *command)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		coin(100000);
		if (*command)
			execv(command[0], command);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "all";

	setup(1000);
	for (int i = 0; i < 5; i++) {
		CYCLEWISE_BEGIN("coin");
		coin(2000);
		CYCLEWISE_END("coin");
	}
	CYCLEWISE_BEGIN("outer");
	outer(20);
	CYCLEWISE_END("outer");
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(out))
			jumper(100);
	wind_down(500);
	if (!strcmp(how, "threads"))
		threads(argc > 2 ? (unsigned)atoi(argv[2]) : 2);
	else if (!strcmp(how, "fork"))
		child(argv + 2);
	else if (!strcmp(how, "exec"))
		execv(argv[2], argv + 2);
	return 0;
}
