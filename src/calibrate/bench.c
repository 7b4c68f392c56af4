/* Making, calling and timing code; bench.h has the protocol. */
#include "calibrate/bench.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/error.h"

enum {
	SAMPLE_CYCLES = 20000,     /* of a kernel: long against the counter's error, short against the scheduler's
	                            * slice */
	CHAIN_ROUNDS = 60, CHAIN_LENGTH = 50,
	NOP_ROUNDS = 80,           /* long against what a call takes to begin and end */
	SETTLE = 2000,             /* samples */
	CHAIN_BYTES = 4096,        /* at least what the reference's code takes */
	PATIENCE = 40,             /* crowded samples in a row before another processor is tried */
	FIRST_ROUNDS = 16,
	BATCH = 240,               /* samples between two looks at them */
	MAX_SAMPLES = 1200,
	TRIES = 8,                 /* for each sample that is wanted */
	CROWD_SHARE = 20,          /* one sample of so many must agree with others, */
	LEAST_CROWD = 5,           /* and so many in any case */
};
static const double agree = 0.01, nearly = 0.03; /* samples do, within; where not even MAX_SAMPLES do, within */
static const double same_clock = 0.006;    /* the chains before and after a sample */
static const double same_speed = 0.012;    /* these and the fastest of the latest samples; what is longer was held up */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Where a signal in a kernel leads to. A kernel runs on the thread that calls it, and there is one. */
static sigjmp_buf rescue;

static void on_signal(int signal)
{
	siglongjmp(rescue, signal);
}

static const int caught[] = { SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP };

int bench_try(struct bench *b, const struct kernel *k, uint64_t rounds)
{
	struct sigaction action = { .sa_handler = on_signal }, old[G_N_ELEMENTS(caught)];
	volatile int ret = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(caught); i++)
		sigaction(caught[i], &action, &old[i]);
	if (sigsetjmp(rescue, 1) == 0)
		k->run(k->memory, rounds);
	else
		ret = -EFAULT;
	for (size_t i = 0; i < G_N_ELEMENTS(caught); i++)
		sigaction(caught[i], &old[i], NULL);
	return ret;
}

/*
 * With VEX where there is: without it, behind a register whose upper half is set, each takes some hundred cycles on a
 * Zen 3.
 */
static void append_values(GString *s, const struct bench *b, const struct kernel_text *text)
{
	for (int i = 0; i < 16; i++) {
		g_string_append_printf(s, "%smovaps .Lvalues+%d(%%rip), %%xmm%d\n", b->avx ? "v" : "", i % 2 * 16, i);
		if (text->wide && b->avx)
			g_string_append_printf(s, "vinsertf128 $1, %%xmm%d, %%ymm%d, %%ymm%d\n", i, i, i);
	}
}

/*
 * Values that stay near 1 through a sample's worth of multiplications and divisions, and with flush-to-zero set, so
 * that no operation takes an assist: 1 and 1 + 2^-30 (doubles), 1 and 1 + 2^-20 (floats).
 */
static char *whole_text(const struct bench *b, const struct kernel_text *text)
{
	static const char *const saved[] = { "rbx", "rbp", "r12", "r13", "r14", "r15" };
	static const char *const ones[] = { "rbx", "rbp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
	GString *s = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(saved); i++)
		g_string_append_printf(s, "pushq %%%s\n", saved[i]);
	g_string_append(s, "subq $8, %rsp\nstmxcsr (%rsp)\nldmxcsr .Lcontrol(%rip)\n");
	if (b->avx)
		g_string_append(s, "vzeroupper\n");
	append_values(s, b, text);
	for (size_t i = 0; i < G_N_ELEMENTS(ones); i++)
		g_string_append_printf(s, "movq $1, %%%s\n", ones[i]);
	g_string_append_printf(s, "movl $77777, %%eax\nmovl %%eax, %%ecx\nxorl %%edx, %%edx\n%s\n"
	                       ".p2align 6\n.Lround:\n%s\nsubq $1, %%rsi\njnz .Lround\n%s\n",
	                       text->before ? text->before : "", text->body, text->after ? text->after : "");
	if (b->avx)
		g_string_append(s, "vzeroupper\n");
	g_string_append(s, "ldmxcsr (%rsp)\naddq $8, %rsp\n");
	for (size_t i = G_N_ELEMENTS(saved); i-- > 0; )
		g_string_append_printf(s, "popq %%%s\n", saved[i]);
	g_string_append(s, "cld\nret\n.p2align 6\n.Lcontrol:\n.long 0x9fc0\n.p2align 6\n.Lvalues:\n");
	if (text->values == VALUES_DOUBLES)
		g_string_append(
			s, ".quad 0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000400000, 0x3ff0000000400000\n");
	else
		g_string_append(s, ".long 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000\n"
		                ".long 0x3f800008, 0x3f800008, 0x3f800008, 0x3f800008\n");
	return g_string_free(s, FALSE);
}

int bench_make(struct bench *b, const struct kernel_text *text, kernel_function **run)
{
	char *whole = whole_text(b, text);
	uint8_t *at = b->code + b->used;
	size_t length;
	int ret;

	mprotect(b->code, BENCH_CODE, PROT_READ | PROT_WRITE);
	ret = assembler_text(b->as, whole, at, BENCH_CODE - b->used, &length);
	mprotect(b->code, BENCH_CODE, PROT_READ | PROT_EXEC);
	memcpy(run, &at, sizeof at);
	g_free(whole);
	return ret;
}

static double timed(const struct bench *b, kernel_function *run, void *memory, uint64_t rounds)
{
	uint64_t from = bench_now();

	run(memory, rounds);
	return (double)(bench_now() - from) - b->ticks_overhead;
}

/* The fastest chain of the latest samples, this one's among them. */
static double fastest_chain(struct bench *b, double ticks)
{
	double fastest = ticks;

	b->recent[b->next_recent++ % BENCH_RECENT] = ticks;
	for (unsigned i = 0; i < BENCH_RECENT; i++)
		if (b->recent[i] > 0)
			fastest = fmin(fastest, b->recent[i]);
	return fastest;
}

/* Binds the thread to the next processor that it may use. */
static void move_on(const struct bench *b)
{
	int next = sched_getcpu();
	cpu_set_t one;

	if (next < 0 || CPU_COUNT(&b->allowed) < 2)
		return;
	do
		next = (next + 1) % CPU_SETSIZE;
	while (!CPU_ISSET((size_t)next, &b->allowed));
	CPU_ZERO(&one);
	CPU_SET((size_t)next, &one);
	sched_setaffinity(0, sizeof one, &one);
}

enum verdict { DROPPED, CROWDED, KEPT };

/*
 * One sample's cycles. Dropped where the clock changed around it, or something slowed the chains; those of a crowded
 * one are given, too.
 */
static enum verdict sample(struct bench *b, const struct kernel *k, uint64_t rounds, double *cycles)
{
	double nops, before, ticks, after;

	if (k->prepare)
		k->prepare(k->ctx);
	nops = timed(b, b->nops, b->scratch, NOP_ROUNDS);
	before = timed(b, b->chain, b->scratch, CHAIN_ROUNDS);
	ticks = timed(b, k->run, k->memory, rounds);
	after = timed(b, b->chain, b->scratch, CHAIN_ROUNDS);
	/* Once, not the fastest of some: it is their slowness that is sought. */
	nops = fmax(nops, timed(b, b->nops, b->scratch, NOP_ROUNDS));
	if (fmax(before, after) > fastest_chain(b, fmin(before, after)) * (1 + same_speed) ||
	    fabs(before - after) > same_clock * before)
		return DROPPED;
	b->ticks_per_cycle = (before + after) / 2 / (CHAIN_ROUNDS * b->chain_cycles);
	*cycles = ticks / b->ticks_per_cycle;
	if (!company_crowds(&b->company, nops / b->ticks_per_cycle / (NOP_ROUNDS * BENCH_NOPS)))
		return KEPT;
	if (b->company.crowded % PATIENCE == 0)
		move_on(b);
	return CROWDED;
}

/* As many rounds as make a sample of the usual length; of a kernel that is known to run. */
static uint64_t rounds_of(const struct bench *b, const struct kernel *k)
{
	double wanted = SAMPLE_CYCLES * b->ticks_per_cycle;

	for (uint64_t rounds = 4; rounds < 1 << 20; rounds *= 4) {
		double best = INFINITY;

		for (int i = 0; i < 5; i++)
			best = fmin(best, timed(b, k->run, k->memory, rounds));
		if (best > wanted / 4)
			return MAX(1, (uint64_t)((double)rounds * wanted / best));
	}
	return 1 << 20;
}

unsigned bench_most(const struct bench *b, double now)
{
	return now < b->patient_until ? (unsigned)CLAMP(MAX_SAMPLES * b->effort, BATCH, MAX_SAMPLES) : BATCH;
}

/* By the samples that had the core for themselves; where these do not agree, by the crowded ones, too. */
struct estimate bench_measure(struct bench *b, const struct kernel *k)
{
	double series[2 * MAX_SAMPLES], disturbed[MAX_SAMPLES], cycles;
	struct estimate e = { .noisy = true };
	unsigned most = bench_most(b, seconds());
	unsigned n = 0, nr_disturbed = 0;
	uint64_t rounds;

	if (k->prepare)
		k->prepare(k->ctx);
	/* Every call begins with the same registers: what raises no signal once will not do so later. */
	if (bench_try(b, k, 1) || bench_try(b, k, FIRST_ROUNDS))
		return e;
	rounds = k->rounds ? k->rounds : rounds_of(b, k);
	if (bench_try(b, k, rounds))
		return e;
	for (unsigned tries = 0; tries < TRIES * most && n < most; tries++) {
		enum verdict verdict = sample(b, k, rounds, &cycles);

		if (verdict == CROWDED && nr_disturbed < most)
			disturbed[nr_disturbed++] = cycles / (double)rounds;
		if (verdict != KEPT)
			continue;
		series[n++] = cycles / (double)rounds;
		if (n % BATCH == 0) {
			e = estimate_floor(series, n, n / CROWD_SHARE, agree);
			if (!e.noisy)
				return e;
		}
	}
	e = estimate_floor(series, n, MAX(n / CROWD_SHARE, LEAST_CROWD), nearly);
	if (!e.noisy)
		return e;
	memcpy(series + n, disturbed, nr_disturbed * sizeof *series);
	n += nr_disturbed;
	return estimate_floor(series, n, MAX(n / CROWD_SHARE, LEAST_CROWD), nearly);
}

int bench_measure_text(struct bench *b, const struct kernel_text *text, struct estimate *e)
{
	struct kernel k = { .memory = b->scratch };
	int ret = bench_make(b, text, &k.run);

	*e = (struct estimate){ .noisy = true };
	if (!ret) {
		memset(b->scratch, 0, BENCH_SCRATCH);
		*e = bench_measure(b, &k);
	}
	return ret;
}

struct estimate bench_clock(struct bench *b)
{
	double series[BATCH];

	for (size_t i = 0; i < BATCH; i++)
		series[i] = timed(b, b->chain, b->scratch, CHAIN_ROUNDS) / (CHAIN_ROUNDS * b->chain_cycles);
	return estimate_ratio(estimate_exact(b->ticks_per_second / 1e6),
	                      estimate_floor(series, BATCH, BATCH / CROWD_SHARE, nearly));
}

/* A text of `line` n times. */
static char *repeated(const char *line, unsigned n)
{
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < n; i++)
		g_string_append(s, line);
	return g_string_free(s, FALSE);
}

/* The least ticks of several calls. */
static double least_ticks(struct bench *b, kernel_function *run, uint64_t rounds)
{
	double best = INFINITY;

	for (int i = 0; i < 400; i++)
		best = fmin(best, timed(b, run, b->scratch, rounds));
	return best;
}

/*
 * The reference. Dependent additions take one cycle each on every processor there is; multiplications of 32 bits three
 * on all of today's, and then they are the better chain, since they leave a sibling thread room. Where the two do
 * not agree on that, it is the additions.
 */
static int make_chain(struct bench *b)
{
	char *adds = repeated("addq %rbx, %rax\n", CHAIN_LENGTH), *muls = repeated("imull %ebx, %eax\n", CHAIN_LENGTH);
	char *nops = repeated("nop\n", BENCH_NOPS);
	double ticks[2];
	kernel_function *run;
	int ret = bench_make(b, &(struct kernel_text){ .body = "" }, &run);

	if (!ret)
		b->ticks_overhead = least_ticks(b, run, 1);
	if (!ret)
		ret = bench_make(b, &(struct kernel_text){ .body = adds }, &run);
	if (!ret) {
		ticks[0] = least_ticks(b, run, 3 * CHAIN_ROUNDS);
		ret = bench_make(b, &(struct kernel_text){ .body = muls }, &run);
	}
	if (!ret) {
		ticks[1] = least_ticks(b, run, CHAIN_ROUNDS);
		b->chain_cycles = 3 * CHAIN_LENGTH;
		if (fabs(ticks[1] / ticks[0] - 1) > 0.02) {
			ret = bench_make(b, &(struct kernel_text){ .body = adds }, &run);
			b->chain_cycles = CHAIN_LENGTH;
			b->additions = true;
		}
		b->chain = run;
		b->used += CHAIN_BYTES;
		ret = bench_make(b, &(struct kernel_text){ .body = nops }, &b->nops);
		b->used += CHAIN_BYTES;
	}
	g_free(nops);
	g_free(adds);
	g_free(muls);
	return ret;
}

static void measure_counter(struct bench *b)
{
	double from = seconds(), to;
	uint64_t ticks = bench_now();

	do
		to = seconds();
	while (to - from < 0.1);
	b->ticks_per_second = (double)(bench_now() - ticks) / (to - from);
}

/* Finds out how wide the core is before anything is judged by it. */
static void settle(struct bench *b)
{
	const struct kernel nops = { .run = b->nops, .memory = b->scratch };
	double cycles;

	for (int i = 0; i < SETTLE; i++)
		sample(b, &nops, NOP_ROUNDS, &cycles);
}

int bench_init(struct bench *b, double effort, double patience)
{
	int ret;

	*b = (struct bench){ .effort = effort, .patient_until = seconds() + patience };
	if (sched_getaffinity(0, sizeof b->allowed, &b->allowed))
		CPU_ZERO(&b->allowed);
	ret = assembler_new(&b->as);
	if (ret)
		return ret;
#ifdef __x86_64__
	b->avx = __builtin_cpu_supports("avx");
	b->avx2 = __builtin_cpu_supports("avx2");
	b->fma = __builtin_cpu_supports("fma");
#endif
	b->code = mmap(NULL, BENCH_CODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b->scratch =
		mmap(NULL, BENCH_SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b->code == MAP_FAILED || b->scratch == MAP_FAILED) {
		ret = error_errno(errno, "memory for measuring");
		bench_fini(b);
		return ret;
	}
	ret = make_chain(b);
	if (ret) {
		bench_fini(b);
		return ret;
	}
	measure_counter(b);
	b->ticks_per_cycle = least_ticks(b, b->chain, CHAIN_ROUNDS) / (CHAIN_ROUNDS * b->chain_cycles);
	settle(b);
	return 0;
}

void bench_fini(struct bench *b)
{
	if (CPU_COUNT(&b->allowed))
		sched_setaffinity(0, sizeof b->allowed, &b->allowed);
	if (b->code && b->code != MAP_FAILED)
		munmap(b->code, BENCH_CODE);
	if (b->scratch && b->scratch != MAP_FAILED)
		munmap(b->scratch, BENCH_SCRATCH);
	assembler_free(b->as);
}
