/*
 * A program under a fast timer: signals arrive wherever they can, while it computes, touches memory, calls through
 * pointers, asks its kernel, copies, and jumps out of handlers. Prints how many it took. `touch` is entered 3000 times.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 3000, JUMPS = 200 };

static volatile sig_atomic_t taken, nested, jumping;
static sigjmp_buf back;
static uint8_t from[4096], to[4096];

static void on_user(int sig)
{
	(void)sig;
	nested++;
}

static void on_alarm(int sig)
{
	(void)sig;
	if (++taken % 3 == 0)
		raise(SIGUSR1);
	if (jumping)
		siglongjmp(back, 1);
}

static void every(int us)
{
	const struct itimerval timer = { { 0, us }, { 0, us } };
	setitimer(ITIMER_REAL, &timer, NULL);
}

#if defined __x86_64__
/* Each iteration is a block of the emulator that leaves for the next page. */
__asm__(".pushsection .text.edge, \"ax\"\n"
        ".p2align 12\n .fill 4096 - 2, 1, 0x90\n edge_copy: rep movsb\n ret\n"
        ".p2align 12\n .fill 4096 - 2, 1, 0x90\n edge_fill: rep stosb\n ret\n"
        ".popsection");
void edge_copy(void *to, const void *from, size_t unused, size_t n); /* n: in rcx */
void edge_fill(void *to, const void *unused, size_t unused2, size_t n);
#else
static void edge_copy(void *to, const void *from, size_t unused, size_t n)
{
	(void)unused;
	memcpy(to, from, n);
}
static void edge_fill(void *to, const void *unused, size_t unused2, size_t n)
{
	(void)unused, (void)unused2;
	memset(to, 0, n);
}
#endif

__attribute__((noinline)) static uint64_t twice(uint64_t x) { return 2 * x; }
__attribute__((noinline)) static uint64_t thrice(uint64_t x) { return 3 * x; }

__attribute__((noinline)) void touch(int round)
{
	static uint64_t (*volatile const call[])(uint64_t) = { twice, thrice };
	static volatile uint64_t sum;

	for (int i = 0; i < 20; i++)
		sum += call[i & 1](sum) + from[(round + i * 61) % (int)sizeof from];
	edge_copy(to, from, 0, 100);
	edge_fill(to, NULL, 0, 50);
	syscall(SYS_getppid);
}

int main(void)
{
	static uint8_t stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction alarm = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART }, user = { .sa_handler = on_user };

	if (sigaltstack(&other, NULL) || sigaction(SIGALRM, &alarm, NULL) || sigaction(SIGUSR1, &user, NULL))
		return 1;
	every(500);
	for (int round = 0; round < ROUNDS; round++)
		touch(round);
	every(0);
	int before = taken;

	alarm.sa_flags = 0;
	sigaction(SIGALRM, &alarm, NULL);
	jumping = 1;
	sigsetjmp(back, 1);
	while (taken < before + JUMPS) {
		every(200);
		for (volatile int i = 0; i < 10000; i++)
			memmove(to + i % 100, from, 64);
	}
	every(0);
	printf("%d\n", before);
	return nested == taken / 3 ? 0 : 1;
}
