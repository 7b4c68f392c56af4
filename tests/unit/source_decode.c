/*
 * From words to steps, word by word: 100 plain flow, 200 accesses, 300 rep strings, 400 what cuts blocks short,
 * 500 nonsense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "wire_fixture.h"

enum { R = WIRE_READ, W = WIRE_WRITE, L = STEP_LOAD, S = STEP_STORE, T = STEP_TAKEN, E = STEP_ENTER, F = STEP_FAULT };

static const struct bytes nop = { 1, { 0x90 } };
static const struct bytes load = { 3, { 0x48, 0x8b, 0x07 } }; /* mov (%rdi), %rax */
static const struct bytes store = { 3, { 0x48, 0x89, 0x07 } }; /* mov %rax, (%rdi) */
static const struct bytes load16 = { 3, { 0x0f, 0x10, 0x07 } }; /* movups (%rdi), %xmm0 */
static const struct bytes store16 = { 3, { 0x0f, 0x11, 0x07 } }; /* movups %xmm0, (%rdi) */
static const struct bytes fxsave = { 3, { 0x0f, 0xae, 0x07 } }; /* fxsave (%rdi) */
static const struct bytes jmp_reg = { 2, { 0xff, 0xe1 } }; /* jmp *%rcx */
static const struct bytes add_mem = { 3, { 0x48, 0x01, 0x07 } }; /* add %rax, (%rdi) */
static const struct bytes lock_add = { 4, { 0xf0, 0x48, 0x01, 0x07 } }; /* lock add %rax, (%rdi) */
static const struct bytes gather = { 6, { 0xc4, 0xe2, 0x75, 0x90, 0x04, 0x17 } }; /* vpgatherdd %ymm1, (%rdi,%ymm2), %ymm0 */
static const struct bytes movsb = { 2, { 0xf3, 0xa4 } }; /* rep movsb */
static const struct bytes stosq = { 3, { 0xf3, 0x48, 0xab } }; /* rep stosq */
static const struct bytes stosw = { 3, { 0x66, 0xf3, 0xab } }; /* rep stosw */
static const struct bytes lodsw = { 3, { 0x66, 0xf3, 0xad } }; /* rep lodsw */
static const struct bytes cmpsb = { 2, { 0xf3, 0xa6 } }; /* repe cmpsb */
static const struct bytes jne_back = { 2, { 0x75, 0xfb } }; /* jne to 3 before itself */
static const struct bytes jmp_self = { 2, { 0xeb, 0xfe } };
static const struct bytes call_rel = { 5, { 0xe8, 0, 1, 0, 0 } }; /* call 256 behind it */
static const struct bytes retq = { 1, { 0xc3 } };
static const struct bytes sys_call = { 2, { 0x0f, 0x05 } };
static const struct bytes ud2 = { 2, { 0x0f, 0x0b } };
static const struct bytes divide = { 2, { 0xf7, 0xf1 } }; /* div %ecx */

static int setup(void **state)
{
	struct wire_fixture *f = malloc(sizeof *f);
	wire_fixture_init(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	wire_fixture_fini(*state);
	free(*state);
	return 0;
}

#define define(f, pc, ...) \
	wire_define(f, pc, (const struct bytes[]){ __VA_ARGS__ }, sizeof (const struct bytes[]){ __VA_ARGS__ } / sizeof(struct bytes))

/* What a step must be: of INSN the address of its instruction is in pc. */
struct want {
	enum step_kind kind;
	uint64_t pc;
	unsigned flags;
	uint64_t addr;
	unsigned bytes;
};

static void expect_steps(const struct wire_fixture *f, const struct want *want, size_t n)
{
	const struct decoder *d = &f->decoder;

	assert_int_equal(d->nr, n);
	for (size_t i = 0; i < n; i++) {
		const struct step *s = &d->step[i];
		assert_int_equal(step_kind(s), want[i].kind);
		if (want[i].kind == STEP_INSN) {
			assert_int_equal(code_insn(f->code, s->insn)->pc, want[i].pc);
			assert_true(s->flags & STEP_COUNTED);
		}
		assert_int_equal(s->flags & (T | L | S | F | E), want[i].flags);
		assert_int_equal(s->addr, want[i].addr);
		assert_int_equal(s->bytes, want[i].bytes);
	}
	assert_int_equal(d->begun, f->begun);
	uint64_t insns = 0;
	for (size_t i = 0; i < d->nr; i++)
		insns += step_kind(&d->step[i]) == STEP_INSN;
	assert_int_equal(d->begun, insns + d->merged + d->restarted);
	assert_int_equal(d->lost, 0);
}
#define EXPECT(f, ...) do { \
	const struct want want[] = { __VA_ARGS__ }; \
	expect_steps(f, want, sizeof want / sizeof *want); \
} while (0)
#define INSN(pc, flags) { STEP_INSN, pc, flags, 0, 0 }
#define TOUCH(pc, flags, addr, bytes) { STEP_INSN, pc, flags, addr, bytes }
#define MORE(flags, addr, bytes) { STEP_ACCESS, 0, flags, addr, bytes }
#define TIMES(n) { STEP_REPEAT, 0, 0, n, 0 }

static void test_100_branches(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t loop = define(f, 0x1000, nop, load, jne_back); /* jne to 0x1001 */
	uint32_t tail = define(f, 0x1001, load, jne_back);
	uint32_t call = define(f, 0x1006, call_rel);
	uint32_t back = define(f, 0x110b, nop, retq);
	uint32_t after = define(f, 0x100b, sys_call);

	wire_enter(f, loop);
	wire_touch(f, 1, R, 0x5000, 8);
	wire_enter(f, tail);
	wire_touch(f, 0, R, 0x5008, 8);
	wire_enter(f, call);
	wire_touch(f, 0, W, 0x7ff8, 8);
	wire_enter(f, back);
	wire_touch(f, 1, R, 0x7ff8, 8);
	wire_enter(f, after);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), TOUCH(0x1001, L, 0x5000, 8), INSN(0x1004, T), TOUCH(0x1001, L, 0x5008, 8), INSN(0x1004, 0),
	       TOUCH(0x1006, T | S, 0x7ff8, 8), INSN(0x110b, 0), TOUCH(0x110c, T | L, 0x7ff8, 8), INSN(0x100b, 0));
}

/* A jump to itself is executed again, not restarted. */
static void test_101_jump_to_itself(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t self = define(f, 0x1000, jmp_self);

	wire_enter(f, self);
	wire_enter(f, self);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E | T), INSN(0x1000, T));
}

/* Ten executions of a block with 6 records. */
static void ten_blocks(struct wire_fixture *f)
{
	uint32_t b = define(f, 0x1000, add_mem, nop, add_mem, nop);

	for (uint64_t i = 0; i < 10; i++) {
		wire_enter(f, b);
		for (unsigned k = 0; k < 4; k++)
			wire_touch(f, k / 2 * 2, k % 2 ? W : R, 0x5000 + i * 64 + k / 2 * 8, 8);
	}
}

/* Handing out in small pieces gives the same steps, and never tears an instruction from its accesses. */
static void test_102_pieces(void **state)
{
	struct wire_fixture *f = *state, whole;
	struct step got[10 * 6];
	size_t nr = 0;

	wire_fixture_init(&whole);
	ten_blocks(&whole);
	wire_end(&whole, false);
	assert_int_equal(whole.decoder.nr, sizeof got / sizeof *got);

	ten_blocks(f);
	while (decoder_run(&f->decoder, &f->reader, 7)) {
		size_t n = decoder_ready(&f->decoder, 1);
		assert_true(n > 0);
		assert_int_not_equal(step_kind(&f->decoder.step[n]), STEP_ACCESS);
		memcpy(got + nr, f->decoder.step, n * sizeof *got);
		nr += n;
		decoder_drop(&f->decoder, n);
	}
	wire_end(f, false);
	memcpy(got + nr, f->decoder.step, f->decoder.nr * sizeof *got);
	assert_int_equal(nr + f->decoder.nr, whole.decoder.nr);
	assert_memory_equal(got, whole.decoder.step, sizeof got);
	wire_fixture_fini(&whole);
}

static void test_103_unmap(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t call = define(f, 0x1000, sys_call), next = define(f, 0x1002, nop);

	wire_enter(f, call);
	wire_word(f, wire_event(WIRE_UNMAP, 3, 0));
	wire_word(f, 0x40000000);
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), { STEP_UNMAP, 0, 0, 0x40000000, 0 }, INSN(0x1002, 0));
	assert_int_equal(f->decoder.step[1].insn, 3);
}

static void test_200_two_halves(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, load16, nop);

	wire_enter(f, b);
	wire_touch(f, 0, R, 0x5000, 8);
	wire_touch(f, 0, R, 0x5008, 8);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5000, 16), INSN(0x1003, 0));
}

static void test_201_read_modify_write(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, add_mem, lock_add, store);

	wire_enter(f, b);
	wire_touch(f, 0, R, 0x5000, 8);
	wire_touch(f, 0, W, 0x5000, 8);
	wire_touch(f, 1, R, 0x5000, 8);
	wire_touch(f, 1, W, 0x5000, 8);
	wire_touch(f, 2, W, 0x6000, 8);
	wire_enter(f, b);
	wire_touch(f, 1, R | W, 0x5000, 8); /* the same with threads */
	wire_decode(f);
	wire_cut(f, 3);                     /* only to end the test here */
	f->begun = 6;
	decoder_finish(&f->decoder, &f->begun, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5000, 8), MORE(S, 0x5000, 8), TOUCH(0x1003, L | S, 0x5000, 8),
	       TOUCH(0x1007, S, 0x6000, 8), INSN(0x1000, E), TOUCH(0x1003, L | S, 0x5000, 8), INSN(0x1007, 0));
}

/* Reads stand before writes whatever order they were made in, and pieces join in either direction. */
static void test_202_order(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, add_mem, nop);

	wire_enter(f, b);
	wire_touch(f, 0, W, 0x5008, 8);
	wire_touch(f, 0, W, 0x5000, 8);
	wire_touch(f, 0, R, 0x6000, 4);
	wire_touch(f, 0, R, 0x7000, 4);
	wire_touch(f, 0, R, 0x7004, 4);
	wire_touch(f, 0, W, 0x8000, 1);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x6000, 4), MORE(L, 0x7000, 8), MORE(S, 0x5000, 16), MORE(S, 0x8000, 1), INSN(0x1003, 0));
}

static void test_203_gather(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, gather, load);

	wire_enter(f, b);
	for (uint64_t i = 0; i < 4; i++)
		wire_touch(f, 0, R, 0x5000 + 4 * i, 4);
	wire_touch(f, 1, R, 0x6000, 8);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5000, 4), MORE(L, 0x5004, 4), MORE(L, 0x5008, 4), MORE(L, 0x500c, 4),
	       TOUCH(0x1006, L, 0x6000, 8));
}

/* QEMU 7.2 reads 16 bytes, or 32, where the instruction reads 4, 8 or 16. */
static void test_204_reads_too_much(void **state)
{
	static const struct bytes fma_sd = { 5, { 0xc4, 0xe2, 0xe9, 0x99, 0x0f } }, fma_ss = { 5, { 0xc4, 0xe2, 0x69, 0xb9, 0x0f } };
	static const struct bytes fma_pd = { 5, { 0xc4, 0xe2, 0xe9, 0x98, 0x0f } };
	static const struct bytes to_ymm = { 4, { 0xc5, 0xfe, 0xe6, 0x0f } }, to_xmm = { 4, { 0xf3, 0x0f, 0xe6, 0x0f } };
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, fma_sd, fma_ss, fma_pd, to_ymm, to_xmm, nop);

	wire_enter(f, b);
	for (unsigned i = 0; i < 5; i++)
		for (uint64_t at = 0; at < (i == 3 ? 32 : 16); at += 8)
			wire_touch(f, i, R, 0x5000 + at, 8);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5000, 8), TOUCH(0x1005, L, 0x5000, 4), TOUCH(0x100a, L, 0x5000, 16), TOUCH(0x100f, L, 0x5000, 16),
	       TOUCH(0x1013, L, 0x5000, 8), INSN(0x1017, 0));
}

/* QEMU 7.2: each iteration is an execution, the last finds the count to be 0. */
static void test_300_rep_by_executions(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, nop, movsb), again = define(f, 0x1001, movsb), next = define(f, 0x1003, nop);

	for (uint64_t i = 0; i < 4; i++) {
		wire_enter(f, i ? again : b);
		if (i == 3)
			break;
		wire_touch(f, !i, R, 0x5000 + i, 1);
		wire_touch(f, !i, W, 0x6000 + i, 1);
	}
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), TOUCH(0x1001, L, 0x5000, 3), MORE(S, 0x6000, 3), TIMES(3), INSN(0x1003, 0));
	assert_int_equal(f->decoder.merged, 3);
}

/* Newer emulators iterate inside one execution; more instructions may follow in the block. */
static void test_301_rep_inside(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, stosq, movsb, load);

	wire_enter(f, b);
	for (uint64_t i = 0; i < 5; i++)
		wire_touch(f, 0, W, 0x5020 - 8 * i, 8); /* backward */
	wire_touch(f, 2, R, 0x7000, 8);                 /* the second did nothing */
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | S, 0x5000, 40), TIMES(5), INSN(0x1003, 0), TIMES(0), TOUCH(0x1005, L, 0x7000, 8));
}

static void test_302_rep_long(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, stosq), next = define(f, 0x1003, nop);

	for (uint64_t i = 0; i < 10000; i++) {
		wire_enter(f, b);
		wire_touch(f, 0, W, 0x5000 + 8 * i, 8);
	}
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | S, 0x5000, 32768), MORE(S, 0xd000, 32768), MORE(S, 0x15000, 14464), TIMES(10000), INSN(0x1003, 0));
	assert_int_equal(f->decoder.merged, 9999);
}

static void test_303_rep_compare(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, cmpsb), next = define(f, 0x1002, nop);

	for (uint64_t i = 0; i < 3; i++) {
		wire_enter(f, b);
		wire_touch(f, 0, R, 0x5003 + i, 1); /* the second string ends where the first begins */
		wire_touch(f, 0, R, 0x5000 + i, 1);
	}
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5003, 3), MORE(L, 0x5000, 3), TIMES(3), INSN(0x1002, 0));
}

/* What a core had put into the code table on its wrong path is looked at all the same when it is defined. */
static void test_305_rep_known_before(void **state)
{
	struct wire_fixture *f = *state;
	uint64_t offset;
	uint32_t known = code_add(f->code, 0x1001, movsb.byte, movsb.size), b, next;

	assert_int_equal(maps_add(f->maps, 0x1000, 0x2000, 0x400, "/a/file"), 0);
	b = define(f, 0x1000, nop, movsb);
	next = define(f, 0x1003, nop);
	wire_enter(f, b);
	wire_touch(f, 1, R, 0x5000, 1);
	wire_touch(f, 1, W, 0x6000, 1);
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), TOUCH(0x1001, L, 0x5000, 1), MORE(S, 0x6000, 1), TIMES(1), INSN(0x1003, 0));
	assert_int_equal(maps_place(f->maps, known, &offset), 0);
	assert_int_equal(offset, 0x401);
}

/* A signal between two iterations: two instructions, as on hardware. */
static void test_304_rep_interrupted(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, stosq), handler = define(f, 0x9000, sys_call), next = define(f, 0x1003, nop);

	wire_enter(f, b);
	wire_touch(f, 0, W, 0x5000, 8);
	wire_enter(f, handler);
	wire_enter(f, b);
	wire_touch(f, 0, W, 0x5008, 8);
	wire_enter(f, b);
	wire_enter(f, next);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | S, 0x5000, 8), TIMES(1), INSN(0x9000, E), TOUCH(0x1000, E | S, 0x5008, 8), TIMES(1), INSN(0x1003, 0));
}

static void test_400_fault(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, store, load, nop, nop), handler = define(f, 0x9000, nop);

	wire_enter(f, b);
	wire_touch(f, 0, W, 0x5000, 8);
	wire_cut(f, 2);
	wire_enter(f, handler);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | S, 0x5000, 8), INSN(0x1003, F), INSN(0x9000, E));
}

/* The last of a block faults: all was begun, but its access is missing; a branch did not lead where it could. */
static void test_401_fault_of_the_last(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, nop, load), handler = define(f, 0x9000, ud2);
	uint32_t ret = define(f, 0x2000, retq);

	wire_enter(f, b);
	wire_enter(f, handler);
	wire_enter(f, handler);
	wire_enter(f, ret);
	wire_enter(f, handler);
	wire_end(f, true);
	EXPECT(f, INSN(0x1000, E), INSN(0x1001, F), INSN(0x9000, E | F), INSN(0x2000, E | T | F), INSN(0x9000, E | F));
	assert_int_equal(f->decoder.restarted, 1); /* the handler's first ud2 was followed by itself */
}

/* A signal between two blocks is no fault of the instruction before it. */
static void test_402_signal(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, load), branch = define(f, 0x1003, jne_back), handler = define(f, 0x9000, sys_call);
	uint32_t next = define(f, 0x1005, retq);

	wire_enter(f, b);
	wire_touch(f, 0, R, 0x5000, 8);
	wire_enter(f, handler);
	wire_enter(f, branch);
	wire_enter(f, handler);
	wire_enter(f, next);
	wire_touch(f, 0, R, 0x7ff8, 8);
	wire_word(f, wire_event(WIRE_HANDLER, 0, 0));
	wire_word(f, 0x9000);
	wire_enter(f, handler);
	wire_end(f, false);
	EXPECT(f, TOUCH(0x1000, E | L, 0x5000, 8), INSN(0x9000, E), INSN(0x1003, E), INSN(0x9000, E), TOUCH(0x1005, E | T | L, 0x7ff8, 8),
	       INSN(0x9000, E));
}

/* The emulator gives up a block and begins its last instruction again, alone. */
static void test_403_restart(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, nop, lock_add, nop), alone = define(f, 0x1001, lock_add);
	uint32_t rest = define(f, 0x1005, nop);

	wire_enter(f, b);
	wire_cut(f, 1);
	wire_enter(f, alone);
	wire_touch(f, 0, R | W, 0x5000, 8);
	wire_enter(f, rest);
	wire_enter(f, alone); /* restarted when it is the whole block, too */
	wire_enter(f, alone);
	wire_touch(f, 0, R | W, 0x5000, 8);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), TOUCH(0x1001, L | S, 0x5000, 8), INSN(0x1005, 0), TOUCH(0x1001, E | L | S, 0x5000, 8));
	assert_int_equal(f->decoder.restarted, 2);
}

/* Nothing of a block was begun. */
static void test_404_not_begun(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t a = define(f, 0x1000, nop), b = define(f, 0x1001, nop, nop), c = define(f, 0x2000, nop);

	wire_enter(f, a);
	wire_enter(f, b);
	wire_cut(f, 2);
	wire_enter(f, b);
	wire_enter(f, a);
	wire_cut(f, 1);
	wire_enter(f, c);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), INSN(0x1001, 0), INSN(0x1002, 0), INSN(0x2000, E));
}

/* The program is killed: how far it came in the last block is known from the count. */
static void test_405_killed(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, nop, divide, nop, nop);

	wire_enter(f, b);
	f->begun -= 2;
	wire_end(f, true);
	EXPECT(f, INSN(0x1000, E), INSN(0x1001, F));
}

/* What QEMU writes and reads when it delivers a signal behind instruction `i`. */
static void strays(struct wire_fixture *f, unsigned i)
{
	wire_touch(f, i, W, 0x4000, 2);
	wire_touch(f, i, W, 0x4002, 2);
	wire_touch(f, i, W, 0x4018, 4);
	wire_touch(f, i, R, 0x4200, 8);
	wire_touch(f, i, W, 0x4200, 8);
	wire_touch(f, i, R, 0xf028, 4);
}

/* They are not the instruction's, whatever that makes itself. */
static void test_406_strays(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t handler = define(f, 0x9000, sys_call), ret = define(f, 0x1000, nop, retq), jump = define(f, 0x2000, jmp_reg);
	uint32_t move = define(f, 0x3000, nop), read = define(f, 0x4000, load), write = define(f, 0x5000, store), both = define(f, 0x6000, add_mem);
	uint32_t call = define(f, 0x7000, call_rel), wide = define(f, 0x8000, store16), save = define(f, 0xa000, fxsave);

	wire_enter(f, ret);
	wire_touch(f, 1, R, 0x7ff8, 8);
	strays(f, 1);
	wire_word(f, wire_event(WIRE_HANDLER, 0, 0));
	wire_word(f, 0x9000);
	wire_enter(f, handler);
	wire_enter(f, jump);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, move);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, read);
	wire_touch(f, 0, R, 0x5000, 8);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, write);
	wire_touch(f, 0, W, 0x5000, 8);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, both);
	wire_touch(f, 0, R, 0x5000, 8);
	wire_touch(f, 0, W, 0x5000, 8);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, call);
	wire_touch(f, 0, W, 0x7ff0, 8);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, wide);
	wire_touch(f, 0, W, 0x5000, 8);
	wire_touch(f, 0, W, 0x5008, 8);
	strays(f, 0);
	wire_enter(f, handler);
	wire_enter(f, save); /* its own, all of them */
	wire_touch(f, 0, W, 0x5000, 2);
	wire_touch(f, 0, W, 0x5018, 4);
	wire_end(f, false);
	EXPECT(f, INSN(0x1000, E), TOUCH(0x1001, T | L, 0x7ff8, 8), INSN(0x9000, E), INSN(0x2000, E | T), INSN(0x9000, 0),
	       INSN(0x3000, E), INSN(0x9000, E), TOUCH(0x4000, E | L, 0x5000, 8), INSN(0x9000, E), TOUCH(0x5000, E | S, 0x5000, 8),
	       INSN(0x9000, E), TOUCH(0x6000, E | L, 0x5000, 8), MORE(S, 0x5000, 8), INSN(0x9000, E), TOUCH(0x7000, E | T | S, 0x7ff0, 8),
	       INSN(0x9000, E), TOUCH(0x8000, E | S, 0x5000, 16), INSN(0x9000, E), TOUCH(0xa000, E | S, 0x5000, 2), MORE(S, 0x5018, 4));
}

/* The same behind an iteration of a rep string, and behind one that does nothing. */
static void test_407_strays_of_rep(void **state)
{
	static const struct { const struct bytes *insn; unsigned rw[2]; unsigned bytes; } form[] = {
		{ &stosq, { W }, 8 }, { &movsb, { R, W }, 1 }, { &cmpsb, { R, R }, 1 }, { &lodsw, { R }, 2 }, { &stosw, { W }, 2 },
	};
	struct wire_fixture *f = *state;
	uint32_t handler = define(f, 0x9000, sys_call);
	uint64_t times[] = { 1, 0, 1, 0, 1, 0, 1, 0, 1 };

	for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
		uint32_t b = wire_define(f, 0x1000 * (i + 1), form[i].insn, 1);
		wire_enter(f, b);
		for (unsigned k = 0; k < 2 && form[i].rw[k]; k++)
			wire_touch(f, 0, form[i].rw[k], 0x5000 + 0x1000 * k, form[i].bytes);
		strays(f, 0);
		wire_enter(f, handler);
		if (form[i].insn == &stosw) /* a first write of 2 bytes could be its own */
			break;
		wire_enter(f, b);
		strays(f, 0);
		wire_enter(f, handler);
	}
	wire_end(f, false);
	const struct decoder *d = &f->decoder;
	unsigned n = 0;
	for (size_t i = 0; i < d->nr; i++)
		if (step_kind(&d->step[i]) == STEP_REPEAT) {
			assert_true(n < sizeof times / sizeof *times);
			assert_int_equal(d->step[i].addr, times[n]);
			n++;
		} else {
			assert_in_range(d->step[i].bytes, 0, 8);
			assert_true(!d->step[i].addr || d->step[i].addr == 0x5000 || d->step[i].addr == 0x6000);
		}
	assert_int_equal(n, sizeof times / sizeof *times);
	assert_int_equal(d->lost, 0);
}

/*
 * A thread that asks for its counters gets all it has made handed out. What is behind it follows from it, but for a handler,
 * and for what comes after a loss.
 */
static void test_408_asks(void **state)
{
	struct wire_fixture *f = *state;
	struct decoder *d = &f->decoder;
	uint32_t a = define(f, 0x1000, nop, store), b = define(f, 0x1004, nop), handler = define(f, 0x2000, nop);
	const uint32_t next[] = { b, handler, b };

	for (unsigned i = 0; i < 3; i++) {
		wire_enter(f, a);
		wire_touch(f, 1, W, 0x5000, 8);
		wire_word(f, wire_event(WIRE_ASK, 0, 0));
		if (i == 2)
			wire_word(f, wire_event(WIRE_BLOCK, WIRE_NO_BLOCK, 7));
		wire_enter(f, next[i]);
		assert_true(decoder_run(d, &f->reader, 1000));
		assert_true(d->asked);
		assert_int_equal(d->nr, 2);
		assert_int_equal(decoder_ready(d, 0), 2);
		assert_int_equal(d->step[0].flags, STEP_INSN | E | STEP_COUNTED);
		assert_int_equal(d->step[1].flags, STEP_INSN | S | STEP_COUNTED);
		assert_int_equal(d->step[1].addr, 0x5000);
		decoder_drop(d, 2);
		assert_false(decoder_run(d, &f->reader, 1000));
		assert_false(d->asked);
		decoder_finish(d, NULL, false);
		assert_int_equal(d->nr, i == 2 ? 2 : 1);
		assert_int_equal(d->step[d->nr - 1].flags, STEP_INSN | (i ? E : 0) | STEP_COUNTED);
		decoder_drop(d, d->nr);
	}
	assert_int_equal(d->begun, f->begun);
	assert_int_equal(d->lost, 7);
}

static void test_500_unknown(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t b = define(f, 0x1000, load);

	wire_enter(f, b);
	wire_touch(f, 0, R, 0x5000, 8);
	wire_word(f, wire_event(WIRE_BLOCK, WIRE_NO_BLOCK, 7)); /* could not be defined */
	wire_touch(f, 0, R, 0x5000, 8);
	wire_word(f, wire_event(WIRE_BLOCK, 1000, 2));          /* is not there */
	wire_enter(f, b);
	wire_end(f, false);
	const struct decoder *d = &f->decoder;
	assert_int_equal(d->nr, 3);
	assert_int_equal(step_kind(&d->step[1]), STEP_LOST);
	assert_int_equal(d->step[1].addr, 10);
	assert_int_equal(d->lost, 10);
	assert_int_equal(d->step[2].flags, STEP_INSN | STEP_ENTER | STEP_COUNTED);
}

static uint64_t random64(void)
{
	return (uint64_t)(unsigned)rand() << 33 ^ (uint64_t)(unsigned)rand() << 11 ^ (uint64_t)(unsigned)rand();
}

/* Whatever is in the ring, the reader lives, and what it hands out is well formed. */
static void test_501_random_words(void **state)
{
	struct wire_fixture *f = *state;
	uint64_t out = 0, asked = 0;

	define(f, 0x1000, nop, load, jne_back);
	define(f, 0x1000, movsb, cmpsb);
	define(f, 0x1002, stosq, gather, lock_add, movsb);
	define(f, 0x1002, cmpsb, retq);
	srand(2);
	for (unsigned round = 0; round < 3000; round++) {
		for (unsigned i = 0; i < 200; i++) {
			uint64_t word = random64();
			switch (rand() % 9) {
			case 0: /* anything */
				break;
			case 8: /* seldom, as it takes what is before it out of the buffer */
				word = wire_event(rand() % 8 ? WIRE_CUT : WIRE_ASK, 0, (unsigned)rand() % 3);
				break;
			case 1:
			case 2:
			case 3: { /* a block that is there */
				static const unsigned nr[] = { 3, 2, 4, 2 };
				unsigned b = (unsigned)rand() % 4;
				word = wire_event(WIRE_BLOCK, b, nr[b]);
				break;
			}
			case 4:
				word = wire_event(WIRE_CUT, 0, (unsigned)rand() % 6);
				break;
			case 5:
				word = wire_event(WIRE_UNMAP, (unsigned)rand(), 0);
				break;
			default: /* an access that may belong to it */
				word = (random64() % 4096 + 0x5000) << 16 | wire_access((unsigned)rand() % 5) |
				       ((unsigned)rand() % 5) << 2 | (1 + (unsigned)rand() % 3);
			}
			wire_word(f, word);
		}
		while (decoder_run(&f->decoder, &f->reader, 100)) {
			size_t n = decoder_ready(&f->decoder, f->decoder.asked ? 0 : 20);
			asked += f->decoder.asked;
			if (f->decoder.asked)
				assert_int_equal(n, f->decoder.nr);
			for (size_t i = 0; i < n; i++) {
				const struct step *s = &f->decoder.step[i];
				assert_in_range(step_kind(s), STEP_INSN, STEP_LOST);
				if (step_kind(s) == STEP_INSN)
					assert_in_range(s->insn, 0, f->code->nr - 1);
			}
			out += n;
			if (!n && !f->decoder.asked)
				break;
			decoder_drop(&f->decoder, n);
		}
		while (decoder_run(&f->decoder, &f->reader, SIZE_MAX))
			decoder_drop(&f->decoder, decoder_ready(&f->decoder, 0));
		decoder_drop(&f->decoder, decoder_ready(&f->decoder, 0));
	}
	decoder_finish(&f->decoder, NULL, true);
	assert_true(out > 100000);
	assert_true(asked > 1000);
	assert_true(f->decoder.lost > 0);
}

/* The same for definitions. */
static void test_502_random_definitions(void **state)
{
	struct wire_fixture *f = *state;

	srand(3);
	for (unsigned round = 0; round < 20000; round++) {
		uint64_t bytes = (unsigned)rand() % 80;
		ring_push(&f->definitions, (uint64_t)((unsigned)rand() % 6) | bytes << 32);
		for (uint64_t i = 0; i < (bytes + 7) / 8; i++)
			ring_push(&f->definitions, rand() % 3 ? random64() : (unsigned)rand() % 4);
		blocks_pull(&f->blocks);
		if (round % 3)
			blocks_need(&f->blocks, random64() % 10);
	}
	blocks_apply_all(&f->blocks);
	assert_true(f->blocks.bad > 1000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_100_branches), TEST(test_101_jump_to_itself), TEST(test_102_pieces), TEST(test_103_unmap),
		TEST(test_200_two_halves), TEST(test_201_read_modify_write), TEST(test_202_order), TEST(test_203_gather), TEST(test_204_reads_too_much),
		TEST(test_300_rep_by_executions), TEST(test_301_rep_inside), TEST(test_302_rep_long), TEST(test_303_rep_compare),
		TEST(test_305_rep_known_before),
		TEST(test_304_rep_interrupted),
		TEST(test_400_fault), TEST(test_401_fault_of_the_last), TEST(test_402_signal), TEST(test_403_restart),
		TEST(test_404_not_begun), TEST(test_405_killed), TEST(test_406_strays), TEST(test_407_strays_of_rep), TEST(test_408_asks),
		TEST(test_500_unknown), TEST(test_501_random_words), TEST(test_502_random_definitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
