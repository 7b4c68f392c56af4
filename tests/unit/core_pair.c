/*
 * Exact cycles of copies that make one uop with the arithmetic right behind them, on both models: slots, instructions of a line
 * of the uop cache, what is not such a pair, the wrong path. And of compare and branch where memory is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "machine.h"

enum { ANY = ALU | MEM, ROUNDS = 60, COUNTED = 20 };

static const char *const models[] = { "ooo", "abstract" };

static uint32_t make_copy(struct machine *m, uint8_t dst, uint8_t src)
{
	uint32_t i = make_alu(m, dst, src, 0, 0, ANY);

	m->insn[i].flags |= INSN_MOVE | INSN_FUSES_NEXT;
	return i;
}

/* 4 wide, all from the uop cache, ports for all. */
static struct machine *machine(bool fuses)
{
	struct machine *m = machine_new();

	m->desc.decode_move_fusion = fuses;
	m->desc.rename_move_slots = 64;
	m->desc.fetch_runahead = 8;
	m->desc.branch_taken_bubble = 0;
	m->desc.uopcache_sets = 32;
	m->desc.uopcache_window = 64;
	m->desc.uopcache_max_ways = 8;
	m->desc.uopcache_width = 12;
	m->desc.fetch_bytes = 64;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.queue_entries = m->desc.rob_entries = 64;
	m->desc.sched0_entries = m->desc.sched1_entries = 0;
	m->desc.commit_width = 16;
	m->desc.ideal.branch = true;
	return m;
}

/* Ends the loop that all that was made is; cycles of COUNTED rounds of it. Frees the machine. */
static uint64_t rounds(struct machine *m, const char *model)
{
	uint32_t jump = make_branch(m, BRANCH_JUMP, 0x1000), nr = m->code.nr;

	m->uop[m->insn[jump].uop].ports = ANY;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i + 1 < nr; i++)
			run_insn(m, i);
		run_taken(m, jump);
	}
	machine_time_on(m, model, 100);
	uint64_t last = timed_dispatch(committed(m, (size_t)ROUNDS * nr - 1));
	uint64_t before = timed_dispatch(committed(m, (size_t)(ROUNDS - COUNTED) * nr - 1));
	machine_free(m);
	return last - before;
}

/* Four pairs, three more and the jump are 8 slots where pairs are one, else 12. */
static void t100_slots(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = machine(k & 1);
		for (uint8_t i = 0; i < 4; i++) {
			make_copy(m, (uint8_t)(R2 + i), R1);
			make_alu(m, (uint8_t)(R2 + i), (uint8_t)(R2 + i), R1, 1, ANY);
		}
		for (unsigned i = 0; i < 3; i++)
			make_flagged(m, INSN_NOP);
		assert_int_equal(rounds(m, models[k / 2]), COUNTED * (k & 1 ? 2 : 3));
	}
}

/* With 10 others and the jump it fills two lines; 13 have a third, which takes two cycles more. */
static void t101_one_of_its_line(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = machine(k & 1);
		m->desc.uopcache_whole = m->desc.uopcache_whole_again = 1;
		m->desc.rename_width = 16;
		for (unsigned i = 0; i < 10; i++)
			make_flagged(m, INSN_NOP);
		make_copy(m, R2, R1);
		make_alu(m, R2, R2, R1, 1, ANY);
		assert_int_equal(rounds(m, models[k / 2]), COUNTED * (k & 1 ? 1 : 3));
	}
}

/* Through the decoders too: 4 a cycle. */
static void t102_decoders(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = machine(k & 1);
		m->desc.uopcache_sets = 0;
		m->desc.decode_width = 4;
		m->desc.rename_width = 16;
		for (unsigned i = 0; i < 4; i++) {
			make_copy(m, R2, R1);
			make_alu(m, R2, R2, R1, 1, ANY);
		}
		for (unsigned i = 0; i < 3; i++)
			make_flagged(m, INSN_NOP);
		assert_int_equal(rounds(m, models[k / 2]), COUNTED * (k & 1 ? 2 : 3));
	}
}

/* Both have records; the slot and the uop are the second's, which has its operand as soon as the copy's source is there. */
static void t110_records(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		struct machine *m = machine(true);
		run_insn(m, make_alu(m, R1, 0, 0, 9, ANY));
		run_insn(m, make_copy(m, R2, R1));
		run_insn(m, make_alu(m, R2, R2, R3, 1, ANY));
		run_insn(m, make_alu(m, R4, R2, 0, 1, ANY));
		machine_time_on(m, models[k], 1);
		const struct timed *first = committed(m, 0), *copy = committed(m, 1), *add = committed(m, 2), *last = committed(m, 3);
		assert_int_equal(copy->slots, 0);
		assert_int_equal(copy->uops, 0);
		assert_int_equal(add->slots, 1);
		assert_int_equal(add->uops, 1);
		assert_false((copy->flags | add->flags) & TIMED_FUSED);
		assert_int_equal(timed_dispatch(copy), timed_dispatch(add));
		assert_int_equal(add->fetch + add->issue, first->fetch + first->complete);
		assert_int_equal(last->fetch + last->issue, first->fetch + first->complete + 1);
		machine_free(m);
	}
}

/* Slots of the first, a copy. Frees the machine. */
static unsigned copy_slots(struct machine *m, const char *model)
{
	machine_time_on(m, model, 1000);
	unsigned slots = committed(m, 0)->slots;
	machine_free(m);
	return slots;
}

static void t111_what_makes_no_pair(void **state)
{
	for (unsigned k = 0; k < 2; k++) {
		/* A signal comes between them. */
		struct machine *m = machine(true);
		run_insn(m, make_copy(m, R2, R1));
		run_insn(m, make_alu(m, R2, R2, R3, 1, ANY));
		m->step[1].flags |= STEP_ENTER;
		assert_int_equal(copy_slots(m, models[k]), 1);

		/* The code has changed: it computes something else now. */
		m = machine(true);
		run_insn(m, make_copy(m, R2, R1));
		run_insn(m, make_alu(m, R3, R2, R3, 1, ANY));
		assert_int_equal(copy_slots(m, models[k]), 1);

		/* Not right behind it. */
		m = machine(true);
		uint32_t copy = make_copy(m, R2, R1);
		make_flagged(m, INSN_NOP);
		run_insn(m, copy);
		run_insn(m, make_alu(m, R2, R2, R3, 1, ANY));
		assert_int_equal(copy_slots(m, models[k]), 1);

		/* The last that is known. */
		m = machine(true);
		run_insn(m, make_copy(m, R2, R1));
		assert_int_equal(copy_slots(m, models[k]), 1);
	}
}

/* A subtraction that a branch is fused with takes no copy, unless the core fuses no branches, or another follows. */
static void t112_a_branch_comes_first(void **state)
{
	for (unsigned k = 0; k < 6; k++) {
		struct machine *m = machine(true);
		m->desc.decode_macro_fusion = k / 2 != 1;
		run_insn(m, make_copy(m, R2, R1));
		uint32_t subtract = make_alu(m, R2, R2, R3, 1, ANY), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000);
		m->insn[subtract].flags |= INSN_FUSES_NEXT;
		run_insn(m, subtract);
		run_insn(m, branch);
		if (k / 2 == 2)
			m->step[2].flags |= STEP_ENTER;
		machine_time_on(m, models[k & 1], 1000);
		assert_int_equal(committed(m, 0)->slots, k / 2 ? 0 : 1);
		assert_int_equal(committed(m, 1)->slots, 1);
		assert_int_equal(committed(m, 2)->slots, k / 2 ? 1 : 0);
		machine_free(m);
	}
}

/* A reorder buffer of 4 holds four pairs: the fifth waits for the commit of the first. */
static void t113_reorder_buffer(void **state)
{
	struct machine *m = machine(true);

	m->desc.rob_entries = 4;
	m->desc.rename_width = 16;
	run_insn(m, make_alu(m, R1, 0, 0, 50, ANY));
	for (unsigned i = 0; i < 4; i++) {
		run_insn(m, make_copy(m, R2, R1));
		run_insn(m, make_alu(m, R2, R2, R3, 1, ANY));
	}
	machine_time_on(m, "ooo", 1000);
	assert_int_equal(timed_dispatch(committed(m, 6)), timed_dispatch(committed(m, 0)));
	assert_int_equal(timed_dispatch(committed(m, 8)), commit_of(m, 0) + 1);
	machine_free(m);
}

/* Registers of the integer bank: one a pair. 32 are architectural, 8 more are in flight. */
static void t114_registers(void **state)
{
	struct machine *m = machine(true);

	m->desc.prf_integer = 32 + 8;
	m->desc.rename_width = 16;
	run_insn(m, make_alu(m, R1, 0, 0, 50, ANY));
	for (unsigned i = 0; i < 8; i++) {
		run_insn(m, make_copy(m, R2, R1));
		run_insn(m, make_alu(m, R2, R2, R3, 1, ANY));
	}
	machine_time_on(m, "ooo", 1000);
	assert_int_equal(timed_dispatch(committed(m, 14)), timed_dispatch(committed(m, 0)));
	assert_int_equal(timed_dispatch(committed(m, 16)), commit_of(m, 0) + 1);
	machine_free(m);
}

/* On a wrong path as on the right one; where the subtraction makes a pair with a branch, it takes no copy. */
static void t120_wrong_path(void **state)
{
	struct machine *m = machine(true);

	m->desc.ideal.branch = false;
	strcpy(m->desc.wrong_path, "full");
	uint32_t slow = make_alu(m, R1, 0, 0, 60, ANY), branch = make_branch(m, BRANCH_CONDITIONAL, 0x2000);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	make_copy(m, R2, R1);
	make_alu(m, R2, R2, R3, 1, ANY);
	make_copy(m, R4, R1);
	uint32_t subtract = make_alu(m, R4, R4, R3, 1, ANY);
	m->insn[subtract].flags |= INSN_FUSES_NEXT;
	make_branch(m, BRANCH_CONDITIONAL, 0x3000);
	for (unsigned i = 0; i < 4; i++)
		make_flagged(m, INSN_NOP);
	m->pc = 0x2000;
	uint32_t target = make_flagged(m, INSN_NOP);
	run_insn(m, slow);
	run_taken(m, branch);
	run_insn(m, target);
	machine_time_on(m, "ooo", 1000);
	static const uint8_t slots[] = { 0, 1, 1, 1, 0 };
	for (unsigned i = 0; i < sizeof slots; i++) {
		assert_true(m->timed[2 + i].flags & TIMED_WRONG);
		assert_int_equal(m->timed[2 + i].slots, slots[i]);
	}
	machine_free(m);
}

/* A load, or an addition, and the branch that makes a pair with it, which does not jump. */
static void make_fused(struct machine *m, bool reads)
{
	uint32_t first = reads ? make_load(m, R2, R1) : make_alu(m, R2, R1, 0, 1, ANY);

	m->insn[first].flags |= INSN_FUSES_NEXT;
	m->uop[m->insn[make_branch(m, BRANCH_CONDITIONAL, 0x3000)].uop].ports = ANY;
}

/* Two pairs, a nop and the jump are 4 slots, or 6 where a pair that reads memory has two; what reads none has one. */
static void t130_slots_where_memory_is_read(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = machine(false);
		m->desc.decode_fusion_memory = k & 1 ? 2 : 1;
		for (unsigned i = 0; i < 2; i++)
			make_fused(m, k / 2);
		make_flagged(m, INSN_NOP);
		assert_int_equal(rounds(m, "ooo"), COUNTED * (k == 3 ? 6 : 4) / 4);
	}
}

/* Of the uop cache's 8 a cycle, a taken branch at their end: two pairs, five nops and the jump are 8, or 10. */
static void t131_uops_where_memory_is_read(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		struct machine *m = machine(false);
		m->desc.decode_fusion_memory = k & 1 ? 2 : 1;
		m->desc.uopcache_width = 8;
		m->desc.rename_width = 16;
		for (unsigned i = 0; i < 2; i++)
			make_fused(m, k / 2);
		for (unsigned i = 0; i < 5; i++)
			make_flagged(m, INSN_NOP);
		assert_int_equal(rounds(m, "ooo"), COUNTED * (k == 3 ? 2 : 1));
	}
}

/* The slots are the first's. */
static void t132_records(void **state)
{
	struct machine *m = machine(false);

	m->desc.decode_fusion_memory = 2;
	make_fused(m, true);
	run_insn(m, 0);
	run_insn(m, 1);
	machine_time_on(m, "ooo", 1000);
	assert_int_equal(committed(m, 0)->slots, 2);
	assert_int_equal(committed(m, 1)->slots, 0);
	assert_true(committed(m, 1)->flags & TIMED_FUSED);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_slots), cmocka_unit_test(t101_one_of_its_line), cmocka_unit_test(t102_decoders),
		cmocka_unit_test(t110_records), cmocka_unit_test(t111_what_makes_no_pair), cmocka_unit_test(t112_a_branch_comes_first),
		cmocka_unit_test(t113_reorder_buffer), cmocka_unit_test(t114_registers), cmocka_unit_test(t120_wrong_path),
		cmocka_unit_test(t130_slots_where_memory_is_read), cmocka_unit_test(t131_uops_where_memory_is_read), cmocka_unit_test(t132_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
