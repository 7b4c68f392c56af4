/* What the tests of the decoder share: instructions, and the steps that words must become, written in a row. */
#ifndef CYCLEWISE_TESTS_SOURCE_DECODE_H
#define CYCLEWISE_TESTS_SOURCE_DECODE_H

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

static inline int setup(void **state)
{
	struct wire_fixture *f = malloc(sizeof *f);
	wire_fixture_init(f);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
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

static inline void expect_steps(const struct wire_fixture *f, const struct want *want, size_t n)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
