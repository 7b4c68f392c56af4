/* From words to steps, word by word: 400 what cuts blocks short, 500 nonsense. */
#include "source_decode.h"

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
				else if (step_kind(s) == STEP_UNMAP)
					assert_true(s->insn * UINT64_C(4096) <= UINT64_MAX - s->addr);
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

/* The block before is no longer in the buffer, and what is there in its place is no instruction. */
static void test_503_last_is_gone(void **state)
{
	struct wire_fixture *f = *state;
	struct decoder *d = &f->decoder;
	uint32_t b = define(f, 0x1000, nop, nop, ud2);

	wire_enter(f, b);
	wire_word(f, wire_event(WIRE_ASK, 0, 0));
	assert_true(decoder_run(d, &f->reader, 1000));
	assert_int_equal(decoder_last(d)->insn, d->step[2].insn);
	decoder_drop(d, 3);
	for (unsigned i = 0; i < 10; i++) {
		wire_word(f, wire_event(WIRE_UNMAP, UINT64_C(0xffffffffff), 0));
		wire_word(f, UINT64_MAX - 5 * WIRE_PAGE);
	}
	wire_end(f, true);
	assert_int_equal(d->nr, 10);
	assert_null(decoder_last(d));
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(step_kind(&d->step[i]), STEP_UNMAP);
		assert_int_equal(d->step[i].insn, 5); /* pages: none past the end of memory */
	}
}

/* Floods that no block ends: what is kept of them is bounded. */
static void test_504_floods(void **state)
{
	struct wire_fixture *f = *state;
	struct decoder *d = &f->decoder;
	const uint32_t b = define(f, 0x1000, gather, nop);

	for (unsigned round = 0; round < 60; round++) {
		wire_enter(f, b);
		for (unsigned i = 0; i < 10000; i++) {
			if (round % 3 == 0)
				wire_touch(f, 0, R, 0x5000 + 64 * i, 4);
			else
				wire_word(f, wire_event(round % 3 == 1 ? WIRE_UNMAP : WIRE_HANDLER, 1, 0));
			if (round % 3)
				wire_word(f, 0x5000 + 4096 * (round * UINT64_C(10000) + i));
		}
		while (decoder_run(d, &f->reader, 1000))
			decoder_drop(d, decoder_ready(d, 0));
		assert_in_range(d->nr, 0, 8192);
		assert_in_range(g_hash_table_size(f->handlers), 0, 1 << 16);
	}
	assert_true(d->lost > 0);
}

/* A block that the table of instructions has no room for is lost, each time; blocks of what it has are not. */
static void test_505_no_room(void **state)
{
	struct wire_fixture *f = *state;
	uint32_t a = define(f, 0x1000, nop, load), b = define(f, 0x2000, nop, store, nop), again = define(f, 0x1001, load);

	assert_non_null(blocks_get(&f->blocks, a));
	f->code->limit = f->code->nr + 1;
	wire_enter(f, a);
	wire_touch(f, 1, R, 0x5000, 8);
	for (unsigned i = 0; i < 2; i++)
		wire_word(f, wire_event(WIRE_BLOCK, b, 3));
	wire_enter(f, again);
	wire_end(f, false);
	assert_int_equal(f->blocks.untold, 1);
	assert_int_equal(f->blocks.bad, 0);
	assert_int_equal(f->decoder.lost, 6);
	assert_int_equal(f->decoder.nr, 4);
	assert_int_equal(step_kind(&f->decoder.step[2]), STEP_LOST);
	assert_int_equal(code_insn(f->code, f->decoder.step[3].insn)->pc, 0x1001);
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
	const struct CMUnitTest tests[] = {
		TEST(test_400_fault),
		TEST(test_401_fault_of_the_last),
		TEST(test_402_signal),
		TEST(test_403_restart),
		TEST(test_404_not_begun),
		TEST(test_405_killed),
		TEST(test_406_strays),
		TEST(test_407_strays_of_rep),
		TEST(test_408_asks),
		TEST(test_500_unknown),
		TEST(test_501_random_words),
		TEST(test_502_random_definitions),
		TEST(test_503_last_is_gone),
		TEST(test_504_floods),
		TEST(test_505_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
