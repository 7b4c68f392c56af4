/*
 * The program that the tests of cyclewise_read() run under the emulator: source_guest_reads WHAT. The n-th reading of a
 * thread gets n in `cycles` and the thread's number in `instructions`; the exit status is 0 where all got what is due.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cyclewise.h"

static int is(const struct cyclewise_counters *c, uint64_t n, uint64_t thread)
{
	return c->cycles == n && c->instructions == thread && c->slots_total == n + 1 && c->slots_filled == n + 2 &&
		c->slots_issued == n + 3 && c->slots_retired == n + 4;
}

static int zeros(const struct cyclewise_counters *c)
{
	const struct cyclewise_counters none = { 0, 0, 0, 0, 0, 0 };

	return !memcmp(c, &none, sizeof none);
}

static int reads(void)
{
	for (uint64_t n = 1; n <= 50; n++) {
		struct cyclewise_counters c;
		memset(&c, 0xff, sizeof c);
		cyclewise_read(&c);
		if (!is(&c, n, 0))
			return 1;
	}
	return 0;
}

/* Nobody answers. */
static int zeroed(void)
{
	struct cyclewise_counters c;

	for (int i = 0; i < 20; i++) {
		memset(&c, 0xff, sizeof c);
		cyclewise_read(&c);
		if (!zeros(&c))
			return 1;
	}
	return puts("done") < 0;
}

/* The half of a mark alone is none. */
static int near_misses(void)
{
	struct cyclewise_counters c = { 1, 1, 1, 1, 1, 1 };

#if defined __x86_64__
	__asm__ volatile("movq $0, (%%rdi)\n nopl 0x64727762(%%rax,%%rax)\n nopl 0x64727763(%%rax,%%rax)" :: "D"(&c) : "memory");
#elif defined __aarch64__
	__asm__ volatile("str xzr, [%0]\n movz xzr, #0x6376\n movz xzr, #0x6377" :: "r"(&c) : "memory");
#else
	__asm__ volatile(".option push\n .option norvc\n sd zero, 0(%0)\n slti zero, zero, 0x636\n slti zero, zero, 0x637\n .option pop"
	                 :: "r"(&c) : "memory");
#endif
	return c.cycles != 0 || c.instructions != 1;
}

/* A mark whose store is the last instruction of a page: the emulator translates its halves apart. */
#define LABEL(name) ".globl " #name "\n" #name ": "
#if defined __x86_64__
__asm__(".pushsection .text.guest_edge, \"ax\"\n .p2align 12\n .fill 4096 - 7, 1, 0x90\n" LABEL(guest_edge_read)
        "movq $0, (%rdi)\n nopl 0x64727763(%rax,%rax)\n ret\n .popsection");
#elif defined __aarch64__
__asm__(".pushsection .text.guest_edge, \"ax\"\n .p2align 12\n .zero 4096 - 4\n" LABEL(guest_edge_read)
        "str xzr, [x0]\n movz xzr, #0x6377\n ret\n .popsection");
#else
__asm__(".pushsection .text.guest_edge, \"ax\"\n .option push\n .option norvc\n .p2align 12\n .zero 4096 - 4\n" LABEL(guest_edge_read)
        "sd zero, 0(a0)\n slti zero, zero, 0x637\n ret\n .option pop\n .popsection");
#endif
void guest_edge_read(struct cyclewise_counters *to);

static volatile sig_atomic_t handled;

static void count(int sig)
{
	(void)sig;
	handled++;
}

/* Signals between any two blocks, so that the emulator stores where a reading has just ended. */
static int signals(void)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = count };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t n = 1; n <= 1000; n++) {
		struct cyclewise_counters c;
		memset(&c, 0xff, sizeof c);
		guest_edge_read(&c);
		if (!is(&c, n, 0))
			return 1;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return handled == 0;
}

static sigjmp_buf back;

static void jump_back(int sig)
{
	handled++;
	siglongjmp(back, sig);
}

/* A store that faults asks for nothing. */
static int faults(void)
{
	const struct sigaction action = { .sa_handler = jump_back };

	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			guest_edge_read(NULL);
	return handled != 3 || reads();
}

/* A child is not followed. */
static int forks(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(zeroed());
	waitpid(pid, &status, 0);
	return status || reads();
}

static void *thread(void *number)
{
	for (uint64_t n = 1; n <= 100; n++) {
		struct cyclewise_counters c;
		cyclewise_read(&c);
		if (!is(&c, n, (uintptr_t)number))
			return NULL;
	}
	return number;
}

static int threads(void)
{
	pthread_t t[2];
	void *result[2];

	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(i + 1)))
			return 1;
	for (uintptr_t i = 0; i < 2; i++)
		pthread_join(t[i], &result[i]);
	return result[0] != (void *)1 || result[1] != (void *)2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

#define IS(name) !strcmp(what, #name)
	if (IS(reads)) return reads();
	if (IS(zeroed)) return zeroed();
	if (IS(near_misses)) return near_misses();
	if (IS(signals)) return signals();
	if (IS(faults)) return faults();
	if (IS(forks)) return forks();
	if (IS(threads)) return threads();
	return 99;
}
