/*
 * Runs one basic block as a loop, with registers and memory such that every access is valid.
 *
 *     runner BYTES [PATCH...] [-s SAMPLES] [-r ROUNDS]
 *
 * BYTES: the block's code in hexadecimal, without the branch at its end. PATCH: offset:end:target of a displacement relative
 * to the instruction pointer: where it lies, where its instruction ends, and the low 16 bits of the address.
 *
 * Every register holds the address of the middle of a page of its own. An access to a page that is not there maps one, full
 * of such an address, so that what is loaded can be loaded from. Copies of the block run one behind another, then registers
 * are set anew; memory is before each run. Ref: Chen and others, BHive, 2019, whose idea it is to map what faults; they
 * map one frame everywhere, which processors that predict ways by virtual addresses take for many.
 *
 * It has to be a position-independent executable: the kernel puts the heap of another anywhere in the gigabyte behind it, where
 * code, state and pages are to be.
 *
 * Without SAMPLES it runs ROUNDS times to map all pages, and then as often between the marks of region "block". With
 * SAMPLES it is timed so often; see clock.h. Exit status 3: the block does something that cannot be made valid.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "../../include/cyclewise.h"
#include "../clock.h"

enum {
	CODE = 0x20000000, CODE_SIZE = 0x10000,
	STATE = 0x10000000,            /* what the generated code reads and writes: within reach of 32 bits */
	STATE_RSP = STATE, STATE_COUNT = STATE + 8, STATE_GPR = STATE + 0x100, STATE_XMM = STATE + 0x200,
	POINTER = 0x12345600,          /* what memory holds, and the first register */
	POINTER_STEP = 0x10040,        /* from register to register: another page, another line in it */
	TARGETS = 0x14000000,          /* where displacements relative to the instruction pointer lead */
	PAGE = 4096, MAX_PAGES = 64, MAX_BYTES = 1024, MAX_PATCHES = 64,
	COPIES_BYTES = 3000,           /* of code: copies up to this */
	RSP = 4,
};

struct patch {
	uint32_t offset, end, target;
};

struct block {
	uint8_t bytes[MAX_BYTES];
	size_t size;
	struct patch patch[MAX_PATCHES];
	unsigned nr_patches;
	uint32_t rounds;
};

static uint64_t *page[MAX_PAGES];      /* mapped so far */
static unsigned nr_pages;

__attribute__((noreturn)) static void reject(const char *why)
{
	ssize_t ignored = write(STDERR_FILENO, why, strlen(why));
	(void)ignored;
	_exit(3);
}

/* --- memory ------------------------------------------------------------------------------------------ */

static void fill_page(uint64_t *at)
{
	for (size_t i = 0; i < PAGE / sizeof *at; i++)
		at[i] = POINTER;
}

/* Maps the page where the block has just faulted. */
static void fault(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);

	(void)context;
	if (sig != SIGSEGV)
		reject("the block raises an exception\n");
	if (info->si_code != SEGV_MAPERR || at < 0x10000 || at >> 47)
		reject("the block accesses what cannot be mapped\n");
	if (nr_pages == MAX_PAGES)
		reject("the block accesses too many pages\n");
	page[nr_pages] = mmap((void *)at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page[nr_pages] == MAP_FAILED)
		reject("a page cannot be mapped\n");
	fill_page(page[nr_pages++]);
}

static int prepare_memory(void)
{
	static uint8_t stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

	if (sigaltstack(&other, NULL))
		return -errno;
	void *state = mmap((void *)STATE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (state != (void *)STATE)
		return -errno;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaction(signals[i], &action, NULL))
			return -errno;
	return 0;
}

static void fill_state(void)
{
	uint64_t *gpr = (uint64_t *)STATE_GPR;
	double *xmm = (double *)STATE_XMM;

	for (unsigned i = 0; i < 16; i++) {
		gpr[i] = POINTER + i * (uint64_t)POINTER_STEP;
		xmm[2 * i] = xmm[2 * i + 1] = 1 + i / 16.0;
	}
}

/* --- code -------------------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

#define PUT(at, ...) put(at, (const uint8_t[]){ __VA_ARGS__ }, sizeof (const uint8_t[]){ __VA_ARGS__ })

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put(at, &value, sizeof value);
}

/* mov gpr, [address] */
static uint8_t *put_load(uint8_t *at, unsigned reg, uint32_t address)
{
	at = PUT(at, (uint8_t)(0x48 | (reg >> 3) << 2), 0x8b, (uint8_t)((reg & 7) << 3 | 4), 0x25);
	return put32(at, address);
}

/* vmovups xmm, [address]: leaves the upper halves clean, as the programs that the blocks are from do. */
static uint8_t *put_vector_load(uint8_t *at, unsigned reg, uint32_t address)
{
	at = PUT(at, 0xc5, reg < 8 ? 0xf8 : 0x78, 0x10, (uint8_t)((reg & 7) << 3 | 4), 0x25);
	return put32(at, address);
}

static uint8_t *put_copy(uint8_t *at, const struct block *b)
{
	uint8_t *end = put(at, b->bytes, b->size);

	for (unsigned i = 0; i < b->nr_patches; i++)
		put32(at + b->patch[i].offset, TARGETS + b->patch[i].target - (uint32_t)(uintptr_t)(at + b->patch[i].end));
	return end;
}

/* A function that sets all registers and runs the copies, STATE_COUNT times. */
static int generate(const struct block *b)
{
	uint8_t *code = mmap((void *)CODE, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), *at = code;

	if (code != (void *)CODE)
		return -errno;
	at = PUT(at, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57); /* push rbx, rbp, r12..r15 */
	at = PUT(at, 0x48, 0x89, 0x24, 0x25);                                      /* mov [STATE_RSP], rsp */
	at = put32(at, STATE_RSP);
	while ((uintptr_t)at % 64)
		at = PUT(at, 0x90);
	uint8_t *loop = at;
	at = PUT(at, 0xc5, 0xf8, 0x77);                                            /* vzeroupper */
	for (unsigned i = 0; i < 16; i++)
		at = put_vector_load(at, i, STATE_XMM + 16 * i);
	for (unsigned i = 0; i < 16; i++)
		at = put_load(at, i, STATE_GPR + 8 * i);
	for (size_t done = 0; !done || done + b->size <= COPIES_BYTES; done += b->size)
		at = put_copy(at, b);
	at = PUT(at, 0x83, 0x2c, 0x25);                                            /* sub dword [STATE_COUNT], 1 */
	at = put32(at, STATE_COUNT);
	at = PUT(at, 0x01, 0x0f, 0x85);                                            /* jnz loop */
	at = put32(at, (uint32_t)(loop - (at + 4)));
	at = put_load(at, RSP, STATE_RSP);
	at = PUT(at, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xfc, 0xc5, 0xf8, 0x77, 0xc3); /* pops; cld; vzeroupper; ret */
	return mprotect(code, CODE_SIZE, PROT_READ | PROT_EXEC) ? -errno : 0;
}

/* Memory and count as they are to be before a run. */
static void prepare(void *context)
{
	const struct block *b = context;

	for (unsigned i = 0; i < nr_pages; i++)
		fill_page(page[i]);
	*(volatile uint32_t *)STATE_COUNT = b->rounds;
}

static void run(void *context)
{
	(void)context;
	((void (*)(void))CODE)();
}

/* --- arguments --------------------------------------------------------------------------------------- */

static int read_bytes(struct block *b, const char *hex)
{
	for (b->size = 0; hex[0] && hex[1] && b->size < MAX_BYTES; hex += 2) {
		char digits[3] = { hex[0], hex[1], 0 }, *end;
		b->bytes[b->size++] = (uint8_t)strtoul(digits, &end, 16);
		if (*end)
			return -EINVAL;
	}
	return *hex || !b->size ? -EINVAL : 0;
}

static int read_patch(struct block *b, const char *text)
{
	struct patch *p = &b->patch[b->nr_patches];

	if (b->nr_patches == MAX_PATCHES || sscanf(text, "%u:%u:%u", &p->offset, &p->end, &p->target) != 3 || p->end > b->size ||
	    p->offset + 4 > p->end)
		return -EINVAL;
	b->nr_patches++;
	return 0;
}

int main(int argc, char **argv)
{
	static struct block block = { .rounds = 1000 };
	unsigned samples = 0;
	int option;

	while ((option = getopt(argc, argv, "s:r:")) != -1) {
		if (option == 's')
			samples = (unsigned)strtoul(optarg, NULL, 0);
		else if (option == 'r')
			block.rounds = (uint32_t)strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	int ret = optind < argc ? read_bytes(&block, argv[optind]) : -EINVAL;
	for (int i = optind + 1; i < argc && !ret; i++)
		ret = read_patch(&block, argv[i]);
	if (ret || !block.rounds) {
		fputs("usage: runner [-s SAMPLES] [-r ROUNDS] BYTES [PATCH...]\n", stderr);
		return 2;
	}
	ret = prepare_memory();
	if (!ret)
		ret = generate(&block);
	if (ret) {
		fprintf(stderr, "runner: %s\n", strerror(-ret));
		return 1;
	}
	fill_state();
	_mm_setcsr(_mm_getcsr() | 0x8040); /* denormals are microcode that the model leaves out */
	prepare(&block);
	run(&block);
	if (samples)
		return clock_samples(prepare, run, &block, samples);
	prepare(&block);
	CYCLEWISE_BEGIN("block");
	run(&block);
	CYCLEWISE_END("block");
	return 0;
}
