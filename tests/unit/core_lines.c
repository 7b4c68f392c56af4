/*
 * Exact cycles of a uop cache that is read line by line, on both models: lines of 6 instructions over the ends of
 * windows, two a cycle, and what each further two of a window cost; blocks behind taken branches, two a cycle.
 *
 * What is asserted of windows of 64 bytes was measured on Zen 5 (core/order/lines.h), where rename does not hide it;
 * here it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"

enum { ROUNDS = 80, COUNTED = 20, BLOCKS = 4 };

/*
 * Blocks of `insns` instructions of `length` bytes, the last of which jumps to the next block; the last block's, to the
 * first.
 */
struct layout {
	uint64_t cycles;               /* of a round through all */
	struct { uint64_t at; unsigned insns; uint8_t length; } block[BLOCKS];
};

static struct machine *lines_new(void)
{
	struct machine *m = machine_new();

	m->desc.fetch_runahead = 8;
	m->desc.branch_taken_bubble = 0;
	m->desc.branch_lookups = 2;
	m->desc.uopcache_sets = 32;
	m->desc.uopcache_ways = 16;
	m->desc.uopcache_window = 64;
	m->desc.uopcache_max_ways = 16;
	m->desc.uopcache_width = 12;
	m->desc.uopcache_whole = 2;
	m->desc.queue_entries = 64;
	m->desc.rename_width = m->desc.commit_width = 16;
	m->desc.ideal.branch = true;
	return m;
}

static void add_block(struct machine *m, uint64_t at, unsigned insns, uint8_t length, uint64_t target)
{
	for (unsigned i = 0; i < insns; i++) {
		m->pc = at + i * (uint64_t)length;
		uint32_t k = i + 1 < insns ? make_flagged(m, INSN_NOP) : make_branch(m, BRANCH_JUMP, target);
		m->insn[k].length = length;
	}
	m->uop[m->insn[m->code.nr - 1].uop].ports = ALU;
}

/* Cycles of COUNTED rounds through all that was made. */
static uint64_t rounds(struct machine *m, const char *model)
{
	uint32_t nr = m->code.nr;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < nr; i++)
			m->insn[i].branch ? run_taken(m, i) : run_insn(m, i);
	machine_time_on(m, model, m->nr_steps);
	uint64_t last = timed_dispatch(committed(m, (size_t)ROUNDS * nr - 1));
	uint64_t before = timed_dispatch(committed(m, (size_t)(ROUNDS - COUNTED) * nr - 1));
	machine_free(m);
	return last - before;
}

static void assert_layout(const struct layout *l, const char *model)
{
	struct machine *m = lines_new();
	unsigned nr = 0;

	while (nr < BLOCKS && l->block[nr].insns)
		nr++;
	for (unsigned i = 0; i < nr; i++)
		add_block(m, l->block[i].at, l->block[i].insns, l->block[i].length, l->block[(i + 1) % nr].at);
	assert_int_equal(rounds(m, model), COUNTED * l->cycles);
}

static void assert_layouts(const struct layout *l, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		assert_layout(&l[i], "ooo");
		assert_layout(&l[i], "abstract");
	}
}
#define ASSERT_LAYOUTS(...) assert_layouts((const struct layout[]){ __VA_ARGS__ }, sizeof (const struct layout[]){ __VA_ARGS__ } / sizeof(struct layout))

/*
 * In three windows, 16 instructions in each: lines begin in them 3, 3, 2 times. 8 in each: 2, 1, 1. 32 in each: 6, 5,
 * 5.
 */
static void t100_straight(void **state)
{
	ASSERT_LAYOUTS({ 3 + 3 + 1, { { 0x1000, 48, 4 } } }, { 3, { { 0x1000, 24, 8 } } },
	               { 5 + 5 + 5, { { 0x1000, 96, 2 } } });
}

/* 15 instructions in each of two windows: 3 lines begin in the first, 2 in the second. */
static void t101_lines_go_on_in_the_next_window(void **state)
{
	for (int abstract = 0; abstract <= 1; abstract++) {
		struct machine *m = lines_new();
		add_block(m, 0x1000, 30, 4, 0x1000);
		for (unsigned i = 15; i < 30; i++)
			m->insn[i].pc += 4;
		m->insn[14].length = 8;
		assert_int_equal(rounds(m, abstract ? "abstract" : "ooo"), COUNTED * (3 + 1));
	}
}

/*
 * A line ends with its page: of 9 instructions in front of a boundary and 13 behind it, the latter have three lines, or
 * two.
 */
static void t102_a_page_ends_a_line(void **state)
{
	ASSERT_LAYOUTS({ 1 + 3, { { 0x2000 - 36, 22, 4 } } }, { 1 + 1, { { 0x2040 - 36, 22, 4 } } });
}

/* Blocks of one line go two a cycle, of two one, wherever they are; a third line takes two cycles more. */
static void t110_blocks(void **state)
{
	ASSERT_LAYOUTS({ 2, { { 0x1000, 6, 4 }, { 0x1100, 6, 4 }, { 0x3010, 6, 4 }, { 0x1080, 1, 4 } } },
	               { 2, { { 0x1000, 7, 4 }, { 0x1100, 12, 4 } } },
	               { 3 + 3, { { 0x1000, 13, 4 }, { 0x1100, 16, 4 } } },
	               { 3, { { 0x1000, 6, 4 }, { 0x1100, 12, 4 }, { 0x3000, 6, 4 }, { 0x1200, 12, 4 } } });
}

/*
 * Seven in front of a window's end, two behind it: two lines in the first, and a read in a cycle of its own for the
 * second.
 */
static void t111_over_the_end_of_a_window(void **state)
{
	ASSERT_LAYOUTS({ 2 + 2, { { 0x1040 - 28, 9, 4 }, { 0x1140 - 28, 9, 4 } } },
	               { 1 + 1, { { 0x1040 - 8, 6, 4 }, { 0x1140 - 8, 6, 4 } } });
}

/* Where prediction gives one block a cycle, so does fetch. */
static void t112_one_block_a_cycle(void **state)
{
	for (int abstract = 0; abstract <= 1; abstract++) {
		struct machine *m = lines_new();
		m->desc.branch_lookups = 1;
		add_block(m, 0x1000, 6, 4, 0x1100);
		add_block(m, 0x1100, 6, 4, 0x1000);
		assert_int_equal(rounds(m, abstract ? "abstract" : "ooo"), COUNTED * 2);
	}
}

/* A fused pair is one instruction of its line: with 11 others it fills two, where 13 instructions have a third. */
static void t113_a_pair_is_one(void **state)
{
	for (int abstract = 0; abstract <= 1; abstract++) {
		struct machine *m = lines_new();
		m->desc.decode_macro_fusion = 1;
		add_block(m, 0x1000, 13, 4, 0x1000);
		m->insn[11].flags = INSN_FUSES_NEXT;
		m->insn[12].branch = BRANCH_CONDITIONAL;
		assert_int_equal(rounds(m, abstract ? "abstract" : "ooo"), COUNTED * 1);
	}
}

/* Cycles a round of six instructions and a pair, `offset` bytes behind a line's beginning in all. */
static uint64_t round_with_pair(const char *model, int offset, int32_t across)
{
	struct machine *m = lines_new();

	m->desc.decode_macro_fusion = 1;
	m->desc.decode_fusion_across = across;
	add_block(m, 0x1040 + (uint64_t)offset, 8, 4, 0x1040 + (uint64_t)offset);
	m->insn[6].flags = INSN_FUSES_NEXT;
	m->insn[7].branch = BRANCH_CONDITIONAL;
	return rounds(m, model);
}

/*
 * Seven with the pair, in the two lines of a cycle. A pair that a line's end divides, wherever, is two instructions
 * where it has to be whole: the second one's window, or what is over in it, takes a cycle more.
 */
static void t115_a_pair_over_the_end_of_a_line(void **state)
{
	for (int abstract = 0; abstract <= 1; abstract++) {
		const char *model = abstract ? "abstract" : "ooo";
		assert_int_equal(round_with_pair(model, -26, 1), COUNTED * 1);
		assert_int_equal(round_with_pair(model, -32, 0), COUNTED * 1);
		assert_int_equal(round_with_pair(model, -28, 0), COUNTED * 2);
		assert_int_equal(round_with_pair(model, -26, 0), COUNTED * 2);
		assert_int_equal(round_with_pair(model, -24, 0), COUNTED * 1);
	}
}

/* Blocks of one instruction each, a branch of its own kind. */
static uint64_t round_of_branches(const char *model, const enum branch_kind *kind, unsigned nr)
{
	struct machine *m = lines_new();

	m->desc.branch_return_bubble = 3;
	for (unsigned i = 0; i < nr; i++) {
		add_block(m, 0x1000 + i * 0x100, 1, 4, 0x1000 + (i + 1) % nr * 0x100);
		m->insn[i].branch = kind[i] & 15;
	}
	return rounds(m, model);
}

/*
 * Half a cycle each, and three more for a return: of four, five cycles; of five, eleven in two rounds. An indirect jump
 * takes a cycle.
 */
static void t114_returns_and_indirect_jumps(void **state)
{
	static const enum branch_kind five[] = { BRANCH_CALL, BRANCH_RETURN, BRANCH_JUMP, BRANCH_JUMP, BRANCH_JUMP };
	static const enum branch_kind indirect[] = { BRANCH_INDIRECT, BRANCH_INDIRECT_CALL };

	for (int abstract = 0; abstract <= 1; abstract++) {
		const char *model = abstract ? "abstract" : "ooo";
		assert_int_equal(round_of_branches(model, five, 2), COUNTED * 4);
		assert_int_equal(round_of_branches(model, five, 4), COUNTED * 5);
		assert_int_equal(round_of_branches(model, five, 5), COUNTED / 2 * 11);
		assert_int_equal(round_of_branches(model, indirect, 2), COUNTED * 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_straight),
		cmocka_unit_test(t101_lines_go_on_in_the_next_window),
		cmocka_unit_test(t102_a_page_ends_a_line),
		cmocka_unit_test(t110_blocks),
		cmocka_unit_test(t111_over_the_end_of_a_window),
		cmocka_unit_test(t112_one_block_a_cycle),
		cmocka_unit_test(t113_a_pair_is_one),
		cmocka_unit_test(t114_returns_and_indirect_jumps),
		cmocka_unit_test(t115_a_pair_over_the_end_of_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
