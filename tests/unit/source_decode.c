/* From words to steps, word by word: 100 plain flow, 200 accesses, 300 rep strings. */
#include "source_decode.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_100_branches),
		TEST(test_101_jump_to_itself),
		TEST(test_102_pieces),
		TEST(test_103_unmap),
		TEST(test_200_two_halves),
		TEST(test_201_read_modify_write),
		TEST(test_202_order),
		TEST(test_203_gather),
		TEST(test_204_reads_too_much),
		TEST(test_300_rep_by_executions),
		TEST(test_301_rep_inside),
		TEST(test_302_rep_long),
		TEST(test_303_rep_compare),
		TEST(test_305_rep_known_before),
		TEST(test_304_rep_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
