/*
 * The program that the tests of the source run under the emulator: source_guest WHAT. Labels in assembly mark
 * instructions whose executions the tests count exactly.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cyclewise.h"

#define NOINLINE __attribute__((noinline, noclone))
#define LABEL(name) ".globl " #name "\n" #name ": "

/* Works for a while, then says so. */
static int talks(void)
{
	volatile long sum = 0;

	for (long i = 0; i < 5000000; i++)
		sum += i;
	return puts("done") < 0;
}

static int loop(void)
{
	volatile long sum = 0;

	for (long i = 0; i < 100000; i++)
		sum += i;
	return sum == 4999950000 ? 0 : 1;
}

/* One call of `work` runs 100 rounds of its loop. */
NOINLINE void guest_work(void)
{
	for (int i = 0; i < 100; i++)
		__asm__ volatile("nop" ::: "memory");
}

static sigjmp_buf back;
static volatile sig_atomic_t handled;

static void jump_back(int sig)
{
	handled++;
	siglongjmp(back, sig);
}

void guest_count_signal(int sig)
{
	(void)sig;
	handled++;
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	sigaction(sig, &action, NULL);
}

NOINLINE static int bad_load(const volatile int *p)
{
	int value;
#if defined __x86_64__
	__asm__ volatile("nop\n nop\n" LABEL(guest_bad_load) "mov (%1), %0\n" LABEL(guest_after_bad_load) "nop" : "=r"(value) : "r"(p));
#elif defined __aarch64__
	__asm__ volatile("nop\n nop\n" LABEL(guest_bad_load) "ldr %w0, [%1]\n" LABEL(guest_after_bad_load) "nop" : "=r"(value) : "r"(p));
#else
	__asm__ volatile("nop\n nop\n" LABEL(guest_bad_load) "lw %0, 0(%1)\n" LABEL(guest_after_bad_load) "nop" : "=r"(value) : "r"(p));
#endif
	return value;
}

/* Five loads that fault, five that do not. */
static int faults(void)
{
	static int good;

	handle(SIGSEGV, jump_back);
	for (int i = 0; i < 5; i++) {
		if (!sigsetjmp(back, 1))
			bad_load(NULL);
		bad_load(&good);
	}
	return handled == 5 ? 0 : 1;
}

NOINLINE static void undefined(void)
{
#if defined __x86_64__
	__asm__ volatile(LABEL(guest_undefined) "ud2");
#elif defined __aarch64__
	__asm__ volatile(LABEL(guest_undefined) "udf #0");
#else
	__asm__ volatile(LABEL(guest_undefined) "unimp");
#endif
}

static int traps(void)
{
	handle(SIGILL, jump_back);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			undefined();
	return handled == 3 ? 0 : 1;
}

static int signals(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };

	handle(SIGUSR1, guest_count_signal);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	if (handled != 20)
		return 1;
	handle(SIGALRM, guest_count_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 40)
		guest_work();
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}

static int forks(void)
{
	char *const argv[] = { (char *)"true", NULL };
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (int i = 0; i < 1000; i++)
			guest_work();
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
		return 1;
#if defined __x86_64__ /* another ISA's would need the host's help to run a program */
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid || status)
		return 1;
#else
	(void)argv;
#endif
	guest_work();
	return 0;
}

static int execs(void)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 9", NULL };

	execv("/no/such/program", argv);
	if (errno != ENOENT)
		return 1;
	execv("/bin/sh", argv);
	return 1;
}

static void *thread(void *unused)
{
	for (int i = 0; i < 100; i++)
		guest_work();
	return unused;
}

static int threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

/* Memory is shared while there is one thread, and then there are more. */
static int sharing_threads(void)
{
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 1;
	thread(NULL);
	return threads();
}

/* More than there are lanes. */
static int many_threads(void)
{
	for (int i = 0; i < 600; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, thread, NULL))
			return 1;
		pthread_join(t, NULL);
	}
	return 0;
}

/* Nobody waits for them: the process ends with them at work. */
static int left_threads(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, thread, NULL))
			return 1;
	}
	guest_work();
	_exit(4);
}

/* The program closes every descriptor it could have. */
static int closes(void)
{
	for (int fd = 0; fd < 4096; fd++)
		close(fd);
	guest_work();
	_exit(6);
}

/* How many descriptors are open. */
static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int environment(void)
{
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "CYCLEWISE_", 10) || !strncmp(*e, "QEMU_", 5) || !strncmp(*e, "MALLOC_ARENA_MAX=", 17))
			return 1;
	return 0;
}

NOINLINE static void region_inner(int depth)
{
	guest_work();
	if (depth)
		region_inner(depth - 1);
}

NOINLINE void guest_region(int depth)
{
	region_inner(depth);
}

NOINLINE void guest_leaves(void)
{
	guest_work();
	siglongjmp(back, 1);
}

NOINLINE void guest_never(void)
{
	guest_work();
}

/* Three calls of the region; one region left by longjmp. */
static int regions(int argc)
{
	for (int i = 0; i < 3; i++) {
		guest_region(i);
		guest_work();
	}
	if (!sigsetjmp(back, 0))
		guest_leaves();
	for (int i = 0; i < 10; i++)
		guest_work();
	if (argc > 100)
		guest_never();
	return 0;
}

/* The first 30 signals come in here, and what else does before it has seen that. */
NOINLINE void guest_busy_region(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 30)
		guest_work();
}

/* Signals are handled inside the region and after it. */
static int region_signals(void)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	handle(SIGALRM, guest_count_signal);
	guest_busy_region();
	while (handled < 60)
		thread(NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}

static int marks(void)
{
	CYCLEWISE_BEGIN("outer");
	for (int i = 0; i < 4; i++) {
		CYCLEWISE_BEGIN("inner");
		guest_work();
		CYCLEWISE_END("inner");
	}
	CYCLEWISE_END("outer");
	return 0;
}

/* Functions made at run time: the same place holds other code each time. */
static int rewritten(void)
{
	uint32_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	if (code == MAP_FAILED)
		return 1;
	for (uint32_t i = 0; i < 50; i++) {
#if defined __x86_64__
		const uint8_t bytes[8] = { 0xb8, (uint8_t)i, 0, 0, 0, 0xc3 }; /* mov $i, %eax; ret */
		memcpy(code, bytes, sizeof bytes);
#elif defined __aarch64__
		code[0] = 0x52800000 | i << 5;                               /* mov w0, #i */
		code[1] = 0xd65f03c0;                                        /* ret */
#else
		code[0] = 0x00000513 | i << 20;                              /* li a0, i */
		code[1] = 0x00008067;                                        /* ret */
#endif
		__builtin___clear_cache((char *)code, (char *)code + 8);
		sum += ((int (*)(void))(uintptr_t)code)();
	}
	return sum == 50 * 49 / 2 ? 0 : 1;
}

/* Its text is unmapped, mapped again and made unreadable in part. */
static int mappings(void)
{
	char *p = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ) || munmap(p + 4096, 2 * 4096))
		return 1;
	p = mremap(p + 4 * 4096, 4 * 4096, 32 * 4096, MREMAP_MAYMOVE);
	return p == MAP_FAILED;
}

#if defined __x86_64__
static uint8_t from[200000], to[200000];

NOINLINE static int strings(void)
{
	static const size_t counts[] = { 0, 1, 2, 1000, 100000 };

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		void *d = to;
		const void *s = from;
		size_t n = counts[i];
		__asm__ volatile(LABEL(guest_movsb) "rep movsb" : "+D"(d), "+S"(s), "+c"(n) :: "memory");
		d = to, n = counts[i] / 8;
		__asm__ volatile(LABEL(guest_stosq) "rep stosq" : "+D"(d), "+c"(n) : "a"(0) : "memory");
	}
	void *d = to + 4095;
	const void *s = from + 4095;
	size_t n = 4096;
	__asm__ volatile("std\n" LABEL(guest_backward) "rep movsb\n cld" : "+D"(d), "+S"(s), "+c"(n) :: "memory");
	to[50] = 1;
	d = to, s = from, n = 100;
	__asm__ volatile(LABEL(guest_cmpsb) "repe cmpsb" : "+D"(d), "+S"(s), "+c"(n) :: "memory");
	return n != 49; /* ended behind the byte that differs */
}

/* A loop whose own store rewrites its next instruction, and the instruction itself. */
static int modifies(void)
{
	extern uint8_t guest_patched[];
	uintptr_t page = (uintptr_t)guest_patched & ~(uintptr_t)4095;
	int n = 0;

	if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	for (int i = 0; i < 10; i++)
		__asm__ volatile(LABEL(guest_patching) "movl %1, 1+guest_patched(%%rip)\n nop\n"
		                 LABEL(guest_patched) "mov $0, %%eax\n add %%eax, %0" : "+r"(n) : "r"(i) : "eax", "memory");
	return n == 45 ? 0 : 1;
}

/* Atomics that the emulator can only do alone: across a cache line, while there are threads. */
static int split_atomics(void)
{
	static uint8_t place[128] __attribute__((aligned(64)));
	uint64_t *split = (uint64_t *)(void *)(place + 60);
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	for (int i = 0; i < 100; i++)
		__asm__ volatile("nop\n" LABEL(guest_split) "lock incq %0\n nop" : "+m"(*split));
	pthread_join(t, NULL);
	uint64_t value;
	memcpy(&value, place + 60, sizeof value);
	return value == 100 ? 0 : 1;
}

/*
 * Blocks that leave by a helper of the emulator: instructions at the end of a page, each with what follows it on the
 * next, and a jump through a register. The fourth argument of a function is in rcx.
 */
__asm__(".pushsection .text.guest_edge, \"ax\"\n"
        ".p2align 12\n .fill 4096 - 2, 1, 0x90\n" LABEL(guest_edge_copy) "rep movsb\n ret\n"
        ".p2align 12\n .fill 4096 - 2, 1, 0x90\n" LABEL(guest_edge_fill) "rep stosb\n ret\n"
        ".p2align 12\n .fill 4096 - 2, 1, 0x90\n" LABEL(guest_edge_compare) "repe cmpsb\n ret\n"
        ".p2align 12\n .fill 4096 - 3, 1, 0x90\n" LABEL(guest_edge_store) "mov %rax, (%rdi)\n ret\n"
        ".p2align 12\n .fill 4096 - 3, 1, 0x90\n" LABEL(guest_edge_load) "mov (%rdi), %rax\n ret\n"
        ".p2align 12\n .fill 4096 - 3, 1, 0x90\n" LABEL(guest_edge_move) "mov %rax, %rdx\n"
        LABEL(guest_edge_jump) "jmp *%rcx\n"
        ".popsection");
void guest_edge_copy(void *to, const void *from, size_t unused, size_t n);
void guest_edge_fill(void *to, const void *unused, size_t unused2, size_t n);
void guest_edge_compare(const void *a, const void *b, size_t unused, size_t n);
void guest_edge_store(void *to);
void guest_edge_load(const void *from);
void guest_edge_move(int unused, int unused2, int unused3, void (*next)(void));

/* Signals between any two blocks, while each of the edge runs 4000 times; rep strings of 100 bytes, and of none. */
static int edges(void)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };

	handle(SIGALRM, guest_count_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 4000; i++) {
		size_t n = i & 1 ? 0 : 100;
		guest_edge_copy(to, from, 0, n);
		guest_edge_fill(to, NULL, 0, n);
		guest_edge_compare(to + 1000, from, 0, n);
		guest_edge_store(to);
		guest_edge_load(from);
		guest_edge_move(0, 0, 0, guest_work);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}

static int divides(void)
{
	handle(SIGFPE, jump_back);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			__asm__ volatile("xor %%edx, %%edx\n xor %%ecx, %%ecx\n" LABEL(guest_divide) "div %%ecx\n nop" ::: "eax", "ecx", "edx");
	return handled == 3 ? 0 : 1;
}

static int avx512(void)
{
	__asm__ volatile("nop\n" LABEL(guest_avx512) "vpaddd %zmm1, %zmm2, %zmm3\n nop");
	return 0;
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

#define IS(name) !strcmp(what, #name)
	if (IS(loop)) return loop();
	if (IS(talks)) return talks();
	if (IS(faults)) return faults();
	if (IS(traps)) return traps();
	if (IS(signals)) return signals();
	if (IS(forks)) return forks();
	if (IS(execs)) return execs();
	if (IS(threads)) return threads();
	if (IS(sharing_threads)) return sharing_threads();
	if (IS(many_threads)) return many_threads();
	if (IS(left_threads)) return left_threads();
	if (IS(closes)) return closes();
	if (IS(descriptors)) return descriptors();
	if (IS(environment)) return environment();
	if (IS(regions)) return regions(argc);
	if (IS(region_signals)) return region_signals();
	if (IS(marks)) return marks();
	if (IS(rewritten)) return rewritten();
	if (IS(mappings)) return mappings();
	if (IS(crash)) return bad_load(NULL);
	if (IS(illegal)) { undefined(); return 0; }
	if (IS(abort)) abort();
	if (IS(killed)) return raise(SIGKILL);
	if (IS(waits)) { puts("ready"); fflush(stdout); return getchar() == EOF ? 0 : 1; }
#if defined __x86_64__
	if (IS(strings)) return strings();
	if (IS(modifies)) return modifies();
	if (IS(split_atomics)) return split_atomics();
	if (IS(edges)) return edges();
	if (IS(divides)) return divides();
	if (IS(avx512)) return avx512();
#endif
	return 99;
}
