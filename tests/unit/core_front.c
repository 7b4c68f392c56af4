/*
 * Exact cycles of the front end where branch prediction runs ahead of fetch: what a taken branch costs, and what hides it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

enum { ROUNDS = 60, WINDOW = 32, LINE = 64 };

/* Prediction a cycle behind each taken branch, up to 8 windows ahead of a uop cache; four uops a cycle from there. */
static struct machine *front_new(void)
{
	struct machine *m = machine_new();

	m->desc.fetch_runahead = 8;
	m->desc.branch_taken_bubble = 1;
	m->desc.uopcache_sets = 32;
	m->desc.queue_entries = 64;
	m->desc.ideal.branch = true;
	return m;
}

/* A block of `nops` and a jump to `target`; where it begins is where the one before says. */
static void block(struct machine *m, uint64_t at, unsigned nops, uint64_t target)
{
	m->pc = at;
	while (nops--)
		make_flagged(m, INSN_NOP);
	make_branch(m, BRANCH_JUMP, target);
}

/* Cycles of a round through all blocks, in the steady state of the last rounds. */
static uint64_t round_of(struct machine *m)
{
	uint32_t nr = m->code.nr;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < nr; i++)
			m->insn[i].branch ? run_taken(m, i) : run_insn(m, i);
	machine_time(m);
	uint64_t last = timed_dispatch(committed(m, (size_t)ROUNDS * nr - 1));
	uint64_t before = timed_dispatch(committed(m, (size_t)(ROUNDS - 10) * nr - 1));
	machine_free(m);
	assert_int_equal((last - before) % 10, 0);
	return (last - before) / 10;
}

/* Measured on Cascade Lake: jumps 32 and 64 bytes apart take 2.1 cycles each. */
static void t100_jumps_take_two_cycles(void **state)
{
	for (uint64_t apart = WINDOW; apart <= LINE; apart *= 2) {
		struct machine *m = front_new();
		for (unsigned k = 0; k < 4; k++)
			block(m, 0x1000 + k * apart, 0, 0x1000 + (k + 1) % 4 * apart);
		assert_int_equal(round_of(m), 4 * 2);
	}
}

/* uiCA: from the uop cache, a loop that has no other taken branch and fits a window takes a cycle an iteration. */
static void t101_a_loop_has_no_bubble(void **state)
{
	struct machine *m = front_new();
	block(m, 0x1000, 3, 0x1000);
	assert_int_equal(round_of(m), 1);
}

/* Six uops a cycle and four renamed: over two windows of a line, prediction takes as long as eight uops do. */
static void t102_a_line_hides_the_bubble(void **state)
{
	struct machine *m = front_new();
	block(m, 0x1000 + WINDOW - 16, 7, 0x2000 + WINDOW - 16);
	block(m, 0x2000 + WINDOW - 16, 7, 0x1000 + WINDOW - 16);
	assert_int_equal(round_of(m), 2 * 2);
}

/* A block that reaches into the next line needs a look-up more. */
static void t103_a_second_line_is_looked_up(void **state)
{
	struct machine *m = front_new();
	block(m, 0x1000 + LINE - 16, 7, 0x2000 + LINE - 16);
	block(m, 0x2000 + LINE - 16, 7, 0x1000 + LINE - 16);
	assert_int_equal(round_of(m), 2 * 3);
}

/* 64 uops over four lines, then four times 4; a short queue to rename, so that delivery itself runs ahead by little. */
static void long_and_short(struct machine *m)
{
	m->desc.queue_entries = 8;
	block(m, 0x1000, 63, 0x2000);
	for (unsigned k = 0; k < 4; k++)
		block(m, 0x2000 + k * LINE, 3, k < 3 ? 0x2000 + (k + 1) * LINE : 0x1000);
}

/* Short blocks behind a long one: prediction went on while that was delivered, and 80 uops take 20 cycles, as without branches. */
static void t104_a_long_block_hides_short_ones(void **state)
{
	struct machine *m = front_new();
	long_and_short(m);
	assert_int_equal(round_of(m), 80 / 4);
}

/*
 * No further than the queue of what is predicted: where that is a single window, the four bubbles are seen, less the 8 uops
 * queued and a cycle in which the last window of the long block is delivered.
 */
static void t105_no_further_than_its_queue(void **state)
{
	struct machine *m = front_new();
	m->desc.fetch_runahead = 1;
	long_and_short(m);
	assert_int_equal(round_of(m), 80 / 4 + 4 - 8 / 4 - 1);
}

/* Where prediction does not run ahead, the bubble is fetch's. */
static void t106_coupled(void **state)
{
	struct machine *m = front_new();
	m->desc.fetch_runahead = 0;
	block(m, 0x1000, 3, 0x1000);
	assert_int_equal(round_of(m), 2);
}

/* Twelve nops over two windows and a jump back: 13 uops at 6 a cycle from the uop cache, or 16 bytes a cycle by the decoders. */
static uint64_t round_with_erratum(bool erratum, bool pairs)
{
	struct machine *m = front_new();
	m->desc.uopcache_jcc_erratum = 1;
	m->desc.uopcache_pairs = pairs;
	m->desc.rename_width = m->desc.commit_width = 8;
	block(m, 0x1000, 12, 0x1000);
	if (erratum)
		m->insn[12].flags |= INSN_JCC_ERRATUM;
	return round_of(m);
}

/*
 * The window with the jump is decoded: 2 cycles for its two blocks of 16 bytes, one for the other window's first 6 uops, and
 * one for each switch. Where both halves of a line go together, all four blocks are decoded, a cycle each.
 */
static void t120_erratum(void **state)
{
	assert_int_equal(round_with_erratum(false, true), 3);
	assert_int_equal(round_with_erratum(true, false), 1 + 1 + 2 + 1);
	assert_int_equal(round_with_erratum(true, true), 4);
}

/* The same loop, with a branch back in front of the last two nops and the jump: which instruction that is. */
static uint32_t branch_in_front(struct machine *m)
{
	m->desc.uopcache_jcc_erratum = m->desc.uopcache_pairs = 1;
	m->desc.rename_width = m->desc.commit_width = 8;
	for (m->pc = 0x1000; m->code.nr < 9; )
		make_flagged(m, INSN_NOP);
	uint32_t branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000);
	block(m, m->pc, 2, 0x1000);
	m->insn[12].flags |= INSN_JCC_ERRATUM;
	return branch;
}

/* So long does a round of that take whose window came into the uop cache before the jump was seen. */
static uint64_t round_left_early(bool early)
{
	struct machine *m = front_new();

	uint32_t leaves = branch_in_front(m);
	for (uint32_t i = 0; early && i < leaves; i++)
		run_insn(m, i);
	if (early)
		run_taken(m, leaves);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < 12; i++)
			run_insn(m, i);
		run_taken(m, 12);
	}
	machine_time(m);
	size_t end = (size_t)ROUNDS * 13 + (early ? leaves + 1 : 0);
	uint64_t last = timed_dispatch(committed(m, end - 1)), before = timed_dispatch(committed(m, end - 10 * 13 - 1));
	machine_free(m);
	return last - before;
}

static void t124_erratum_seen_late(void **state)
{
	assert_int_equal(round_left_early(false), 10 * 4);
	assert_int_equal(round_left_early(true), 10 * 4);
}

/*
 * Nine nops and that branch as a loop, whose second window the jump behind it keeps out: where the program came by the
 * jump once, both windows are decoded for two rounds, and then come from the uop cache as if it never had.
 */
static void t125_spoilt_once(void **state)
{
	uint64_t took[2];

	for (unsigned before = 0; before <= 1; before++) {
		struct machine *m = front_new();
		uint32_t back = branch_in_front(m);
		for (uint32_t i = 0; before && i < 12; i++)
			run_insn(m, i);
		if (before)
			run_taken(m, 12);
		for (unsigned round = 0; round < ROUNDS; round++) {
			for (uint32_t i = 0; i < back; i++)
				run_insn(m, i);
			run_taken(m, back);
		}
		machine_time(m);
		size_t end = (size_t)ROUNDS * 10 + 13 * before;
		took[before] = timed_dispatch(committed(m, end - 1)) - timed_dispatch(committed(m, end - 10 * 10 - 1));
		machine_free(m);
	}
	assert_int_equal(took[0], 10 * 2);
	assert_int_equal(took[1], took[0]);
}

/* Decoders only: branches not taken, behind two nops each; four instructions a cycle, or three with the branch as the last. */
static void t121_branch_is_last(void **state)
{
	for (int last = 0; last <= 1; last++) {
		struct machine *m = machine_new();
		m->desc.ideal.branch = true;
		m->desc.decode_branch_last = last;
		for (unsigned i = 0; i < 400; i++) {
			uint32_t k = i % 3 == 2 ? make_branch(m, BRANCH_CONDITIONAL, 0x1000) : make_flagged(m, INSN_NOP);
			if (m->insn[k].nr_uops)
				m->uop[m->insn[k].uop].ports = ALU;
			run_insn(m, k);
		}
		machine_time(m);
		assert_int_equal(timed_dispatch(committed(m, 396)) - timed_dispatch(committed(m, 0)), last ? 132 : 99);
		machine_free(m);
	}
}

/* Who delivered an instruction is said where there are two to do it: at first the decoders, once it is cached not. */
static void t122_who_delivered(void **state)
{
	for (int sets = 0; sets <= 32; sets += 32) {
		struct machine *m = front_new();
		m->desc.uopcache_sets = sets;
		block(m, 0x1000, 3, 0x1000);
		for (unsigned i = 0; i < 10 * 4; i++)
			i % 4 == 3 ? run_taken(m, 3) : run_insn(m, i % 4);
		machine_time(m);
		for (unsigned i = 0; i < 10 * 4; i++)
			assert_int_equal(committed(m, i)->flags & TIMED_DECODED, sets && i < 4 ? TIMED_DECODED : 0);
		machine_free(m);
	}
}

/* uiCA: each instruction whose length a prefix changes takes predecode 3 cycles more; the uop cache knows nothing of it. */
static void t123_prefixes_that_lengthen(void **state)
{
	for (unsigned of_four = 0; of_four <= 2; of_four++) {
		struct machine *m = machine_new();
		m->desc.fetch_prefix_stall = 3;
		for (unsigned i = 0; i < 400; i++) {
			uint32_t k = make_flagged(m, INSN_NOP);
			m->insn[k].prefix_lengthens = i % 4 < of_four;
			run_insn(m, k);
		}
		machine_time(m);
		assert_int_equal(timed_dispatch(committed(m, 396)) - timed_dispatch(committed(m, 0)), 99 * (1 + 3 * of_four));
		machine_free(m);
	}
	struct machine *m = front_new();
	m->desc.fetch_prefix_stall = 3;
	block(m, 0x1000, 3, 0x1000);
	m->insn[1].prefix_lengthens = 1;
	assert_int_equal(round_of(m), 1);
}

/* Jumps 16 bytes apart on Skylake-SP, measured: 2.1 cycles each, 7 over 4K of them, 12 over 8K. */
static void t110_what_the_btb_holds(void **state)
{
	static const struct { uint32_t jumps, cycles; } measured[] = { { 1024, 2 }, { 4096, 7 }, { 8192, 12 } };

	for (unsigned k = 0; k < sizeof measured / sizeof *measured; k++) {
		struct machine *m = machine_new();
		uint32_t n = measured[k].jumps;
		assert_int_equal(core_desc_load(&m->desc, "skylake-sp"), 0);
		for (uint32_t i = 0; i < n; i++) {
			m->pc = 0x10000 + i * 16;
			make_branch(m, BRANCH_JUMP, 0x10000 + (i + 1) % n * 16);
		}
		for (unsigned round = 0; round < 6; round++)
			for (uint32_t i = 0; i < n; i++)
				run_taken(m, i);
		machine_time(m);
		assert_int_equal(commit_of(m, 6 * n - 1) - commit_of(m, 5 * n - 1), n * measured[k].cycles);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_jumps_take_two_cycles), cmocka_unit_test(t101_a_loop_has_no_bubble),
		cmocka_unit_test(t102_a_line_hides_the_bubble), cmocka_unit_test(t103_a_second_line_is_looked_up),
		cmocka_unit_test(t104_a_long_block_hides_short_ones), cmocka_unit_test(t105_no_further_than_its_queue),
		cmocka_unit_test(t106_coupled), cmocka_unit_test(t110_what_the_btb_holds),
		cmocka_unit_test(t120_erratum), cmocka_unit_test(t124_erratum_seen_late),
		cmocka_unit_test(t125_spoilt_once), cmocka_unit_test(t121_branch_is_last),
		cmocka_unit_test(t122_who_delivered),
		cmocka_unit_test(t123_prefixes_that_lengthen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
