/*
 * The wrong path in the detailed core: which addresses its loads get, and what they do to the right path, to the cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "machine.h"

enum { A = 0x10000, B = 0x20040, L1_LATENCY = 5, SLOW = 100 };

static struct machine *machine(const char *wrong_path)
{
	struct machine *m = machine_new();

	strcpy(m->desc.wrong_path, wrong_path);
	m->desc.dram_latency_ns = 10;
	return m;
}

/* The n-th record of the wrong path. */
static const struct timed *wrong(const struct machine *m, size_t n)
{
	for (size_t i = 0; i < m->nr_timed; i++)
		if (m->timed[i].flags & TIMED_WRONG && !n--)
			return &m->timed[i];
	return NULL;
}

static size_t nr_wrong(const struct machine *m)
{
	size_t n = 0;

	while (wrong(m, n))
		n++;
	return n;
}

static uint64_t issued(const struct timed *t)
{
	return t->fetch + t->issue;
}

static uint64_t completed(const struct timed *t)
{
	return t->fetch + t->complete;
}

/* Cycles that a load from memory takes. */
static uint64_t memory_latency(void)
{
	struct machine *m = machine("none");

	run_access(m, make_load(m, R4, R2), A, 8);
	machine_time(m);
	uint64_t latency = committed(m, 0)->complete - committed(m, 0)->issue;
	machine_free(m);
	return latency;
}

/* The code behind the known end is not looked at: the last instruction on it never counts. */
static void end_code(struct machine *m)
{
	for (unsigned i = 0; i < 4; i++)
		make_flagged(m, INSN_NOP);
}

/*
 * A branch that waits `times` SLOW cycles and is taken, and was not predicted so. The wrong path has an instruction of its own,
 * then both load A.
 */
static struct machine *hammock(const char *wrong_path, unsigned times)
{
	struct machine *m = machine(wrong_path);
	uint32_t slow = make_alu(m, R1, R1, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 3);

	make_alu(m, R3, R3, 0, 1, ALU);
	uint32_t load = make_load(m, R4, R2);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	run_times(m, slow, times);
	run_taken(m, branch);
	run_access(m, load, A, 8);
	end_code(m);
	machine_time(m);
	return m;
}

static void a_wrong_load_brings_the_right_ones_line(void **state)
{
	uint64_t memory = memory_latency();
	struct machine *full = hammock("full", 1), *none = hammock("none", 1);
	const struct timed *w = wrong(full, 1), *right = committed(full, 2), *alone = committed(none, 2);

	assert_int_equal(w->addr, A);
	assert_int_equal(w->psv, PSV_ST_L1 | PSV_ST_LLC);
	assert_int_equal(timed_data_level(w), LEVEL_MEMORY);
	assert_int_equal(issued(w), timed_dispatch(w) + 1);
	assert_int_equal(w->complete, TIMED_NEVER);    /* squashed before */
	assert_int_equal(timed_leave(w), 4 + SLOW + 1);
	assert_int_equal(completed(right), issued(w) + memory);
	assert_int_equal(timed_data_level(right), LEVEL_FILL_BUFFER);
	assert_int_equal(issued(alone), issued(right));
	assert_int_equal(completed(alone), issued(alone) + memory);
	machine_free(full);
	machine_free(none);

	full = hammock("full", 3);
	w = wrong(full, 1);
	right = committed(full, 4);
	assert_true(memory < 2 * SLOW);
	assert_int_equal(completed(w), issued(w) + memory);
	assert_int_equal(w->drain, w->complete);
	assert_int_equal(right->complete, right->issue + L1_LATENCY);
	assert_int_equal(right->psv, 0);
	machine_free(full);
}

/* Only the records of the wrong path set these two apart, and they touch no data. */
static void other_settings_touch_no_data(void **state)
{
	struct machine *none = hammock("none", 1), *instructions = hammock("instructions", 1);

	assert_int_equal(nr_wrong(none), 0);
	assert_int_equal(nr_wrong(instructions), 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(wrong(instructions, i)->addr, 0);
		assert_int_equal(wrong(instructions, i)->psv, 0);
		assert_int_equal(wrong(instructions, i)->issue, TIMED_NEVER);
	}
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(committed(none, i), committed(instructions, i), sizeof(struct timed));
	machine_free(none);
	machine_free(instructions);
}

/*
 * Behind a branch that waits, the right path loads A and then, where the wrong path joins it, B; `warm`: A was loaded before. One
 * line is all that L1D has, or one miss register, as the caller says.
 */
static struct machine *two_lines(const char *wrong_path, bool warm, bool one_line, bool one_miss)
{
	struct machine *m = machine(wrong_path);
	uint32_t first = make_load(m, R5, R2), wait = make_alu(m, R1, R5, 0, 1, ALU);
	uint32_t slow = make_alu(m, R1, R1, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 5);

	make_branch(m, BRANCH_JUMP, 0x1000 + 4 * 6);
	uint32_t a = make_load(m, R3, R2), b = make_load(m, R4, R2);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	if (one_line) {
		m->desc.l1d_ways = 1;
		m->desc.l1d_size = 64;
	}
	if (one_miss)
		m->desc.l1d_mshrs = 1;
	if (warm)
		run_access(m, first, A, 8);
	run_insn(m, wait);
	run_insn(m, slow);
	run_taken(m, branch);
	run_access(m, a, A, 8);
	run_access(m, b, B, 8);
	end_code(m);
	machine_time(m);
	return m;
}

static void a_wrong_load_evicts_what_the_right_path_needs(void **state)
{
	struct machine *full = two_lines("full", true, true, false), *none = two_lines("none", true, true, false);

	assert_int_equal(wrong(full, 1)->addr, B);
	assert_int_equal(committed(none, 4)->complete - committed(none, 4)->issue, L1_LATENCY);
	assert_int_equal(committed(none, 4)->psv, 0);
	assert_int_equal(committed(full, 4)->complete - committed(full, 4)->issue, full->desc.l2_latency);
	assert_int_equal(committed(full, 4)->psv, PSV_ST_L1);
	machine_free(full);
	machine_free(none);
}

static void a_wrong_miss_holds_its_register(void **state)
{
	uint64_t memory = memory_latency();
	struct machine *full = two_lines("full", false, false, true), *none = two_lines("none", false, false, true);
	const struct timed *w = wrong(full, 1), *a = committed(full, 3), *alone = committed(none, 3);

	assert_int_equal(w->addr, B);
	assert_true(issued(a) < issued(w) + memory);
	/* It asks when B has come, in the cycle that is used in. */
	assert_int_equal(timed_issue_wait(a), WAIT_MSHR);
	assert_in_range(completed(a), issued(w) + 2 * memory - 2 * L1_LATENCY, issued(w) + 2 * memory);
	assert_int_equal(completed(alone), issued(alone) + memory);
	machine_free(full);
	machine_free(none);
}

/* What is on the wrong path alone and was never executed has no address: a hit's time, and nothing touched. */
static void an_unknown_address_touches_nothing(void **state)
{
	struct machine *m = machine("full");
	uint32_t slow = make_alu(m, R1, 0, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 5);

	make_load(m, R3, R2);
	make_load(m, R4, R3);
	make_alu(m, R5, R4, 0, 3, ALU);
	uint32_t nop = make_flagged(m, INSN_NOP);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	run_insn(m, slow);
	run_taken(m, branch);
	run_insn(m, nop);
	end_code(m);
	machine_time(m);
	for (size_t i = 0; i < 2; i++) {
		const struct timed *w = wrong(m, i);

		assert_int_equal(w->addr, 0);
		assert_int_equal(w->psv, 0);
		assert_int_equal(timed_data_level(w), LEVEL_NONE);
		assert_int_equal(w->complete, w->issue + L1_LATENCY);
	}
	assert_int_equal(issued(wrong(m, 1)), completed(wrong(m, 0)));
	assert_int_equal(issued(wrong(m, 2)), completed(wrong(m, 1)));
	assert_int_equal(completed(wrong(m, 2)), issued(wrong(m, 2)) + 3);
	machine_free(m);
}

/* Where a loop ends, the wrong path turns once more and again: its load goes on as it did. */
static void a_stride_goes_on(void **state)
{
	struct machine *m = machine("full");
	uint32_t step = make_alu(m, R2, R2, 0, 1, ALU), load = make_load(m, R4, R2), slow = make_alu(m, R1, R1, 0, SLOW, ALU);
	uint32_t back = make_branch(m, BRANCH_CONDITIONAL, 0x1000), nop = make_flagged(m, INSN_NOP);

	m->insn[back].data[m->insn[back].nr_data++] = R1;
	for (unsigned i = 0; i < 6; i++) {
		run_insn(m, step);
		run_access(m, load, A + 64 * i, 8);
		run_insn(m, slow);
		if (i < 5)
			run_taken(m, back);
		else
			run_insn(m, back);
	}
	run_insn(m, nop);
	end_code(m);
	machine_time(m);
	size_t first = 0;
	while (timed_leave(wrong(m, first)) < commit_of(m, 20)) /* behind the first branch, which was not known */
		first++;
	for (unsigned i = 0; i < 3; i++) {
		const struct timed *w = wrong(m, first + 4 * i + 1);

		assert_int_equal(w->insn, load);
		assert_int_equal(w->addr, A + 64 * (6 + i));
	}
	machine_free(m);
}

/* Both paths load B by way of a pointer at A, which is in L1D; the right path alone has stored to `stored` before. */
static struct machine *through_memory(uint64_t stored)
{
	struct machine *m = machine("full");
	uint32_t first = make_load(m, R6, R2), wait = make_alu(m, R1, R6, 0, 1, ALU);
	uint32_t slow = make_alu(m, R1, R1, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 5);

	make_branch(m, BRANCH_JUMP, 0x1000 + 4 * 6);
	uint32_t store = make_store(m, R2, R5), pointer = make_load(m, R3, R2), load = make_load(m, R4, R3);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	run_access(m, first, A, 8);
	run_insn(m, wait);
	run_insn(m, slow);
	run_taken(m, branch);
	run_access(m, store, stored, 8);
	run_access(m, pointer, A, 8);
	run_access(m, load, B, 8);
	end_code(m);
	machine_time(m);
	assert_int_equal(wrong(m, 1)->addr, A);
	assert_int_equal(wrong(m, 2)->insn, load);
	return m;
}

static void what_differs_in_memory_gives_no_address(void **state)
{
	static const struct { uint64_t stored, addr; } cases[] = { { A + 8, B }, { A, 0 }, { A + 4, 0 } };

	for (size_t i = 0; i < 3; i++) {
		struct machine *m = through_memory(cases[i].stored);

		assert_true(issued(wrong(m, 1)) < timed_leave(wrong(m, 1)));
		assert_int_equal(wrong(m, 2)->addr, cases[i].addr);
		machine_free(m);
	}
}

/* Registers that either path alone has written are not the same. */
static void what_differs_in_registers_gives_no_address(void **state)
{
	static const struct { uint8_t wrong, right; uint64_t addr; } cases[] = {
		{ R5, R6, A }, { R2, R6, 0 }, { R5, R2, 0 },
	};

	for (size_t i = 0; i < 3; i++) {
		struct machine *m = machine("full");
		uint32_t slow = make_alu(m, R1, 0, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 4);

		make_alu(m, cases[i].wrong, 0, 0, 1, ALU);
		make_branch(m, BRANCH_JUMP, 0x1000 + 4 * 5);
		uint32_t own = make_alu(m, cases[i].right, 0, 0, 1, ALU), load = make_load(m, R4, R2);
		m->insn[branch].data[m->insn[branch].nr_data++] = R1;
		run_insn(m, slow);
		run_taken(m, branch);
		run_insn(m, own);
		run_access(m, load, A, 8);
		end_code(m);
		machine_time(m);
		assert_int_equal(wrong(m, 2)->insn, load);
		assert_int_equal(wrong(m, 2)->addr, cases[i].addr);
		machine_free(m);
	}
}

/* How many of the wrong path dispatch: `n` times what `make` makes behind a branch that waits. */
static size_t dispatched(const char *wrong_path, size_t n, uint32_t (*make)(struct machine *m), int32_t loads, int32_t stores,
                         int32_t registers)
{
	struct machine *m = machine(wrong_path);
	uint32_t slow = make_alu(m, R1, 0, 0, SLOW, ALU), slower = make_alu(m, R6, R1, 0, 9, ALU1);
	uint32_t branch = make_branch(m, BRANCH_CONDITIONAL, (uint64_t)(0x1000 + 4 * (3 + n)));
	size_t count = 0;

	m->desc.load_queue_entries = loads;
	m->desc.store_queue_entries = stores;
	m->desc.prf_integer = 32 + registers;
	for (size_t i = 0; i < n; i++)
		make(m);
	uint32_t nop = make_flagged(m, INSN_NOP);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	run_insn(m, slow);
	run_insn(m, slower);
	run_taken(m, branch);
	run_insn(m, nop);
	machine_time(m);
	for (size_t i = 0; i < n; i++)
		count += wrong(m, i)->dispatch != TIMED_NEVER;
	machine_free(m);
	return count;
}

static uint32_t a_load(struct machine *m) { return make_load(m, R4, R2); }
static uint32_t a_store(struct machine *m) { return make_store(m, R2, R5); }
static uint32_t an_alu(struct machine *m) { return make_alu(m, R3, 0, 0, 1, ALU); }
static uint32_t a_waiting_alu(struct machine *m) { return make_alu(m, R3, R6, 0, 1, ALU); }

/* What the wrong path takes it keeps until the squash: it goes no further than the structures are large. */
static void it_holds_what_it_takes(void **state)
{
	assert_int_equal(dispatched("full", 12, a_load, 16, 8, 100), 12);
	assert_int_equal(dispatched("full", 12, a_load, 7, 8, 100), 7);
	assert_int_equal(dispatched("full", 12, a_store, 16, 5, 100), 5);
	assert_int_equal(dispatched("full", 12, an_alu, 16, 8, 10), 10 - 2); /* two are the right path's */
	assert_int_equal(dispatched("full", 18, a_waiting_alu, 16, 8, 100), 16 - 2); /* as many of its scheduler's entries */
	assert_int_equal(dispatched("full", 18, an_alu, 16, 8, 100), 18);
	assert_int_equal(dispatched("instructions", 12, a_load, 7, 8, 100), 12);
	assert_int_equal(dispatched("instructions", 18, a_waiting_alu, 16, 8, 100), 18);
}

/* Code that the wrong path asked for and that is still on its way comes from memory, whoever waits for it. */
static void a_wrong_fetch_brings_the_right_ones_code(void **state)
{
	struct machine *m = machine("full");
	enum { IN_A_LINE = 16 };
	uint64_t next = 0x1000 + 4 * IN_A_LINE;

	m->desc.ideal.l1i = false;
	m->desc.dram_latency_ns = 100;
	uint32_t slow = make_alu(m, R1, R1, 0, SLOW, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, next + 4);
	m->insn[branch].data[m->insn[branch].nr_data++] = R1;
	while (m->pc < next + 4)
		make_flagged(m, INSN_NOP);
	uint32_t target = make_flagged(m, INSN_NOP);
	end_code(m);
	run_insn(m, slow);
	run_taken(m, branch);
	run_insn(m, target);
	machine_time(m);

	const struct timed *w = wrong(m, IN_A_LINE - 2), *right = committed(m, 2);
	uint64_t there = w->fetch + w->icache_stall;
	assert_int_equal(w->psv, PSV_DR_L1);
	assert_int_equal(w->level, timed_level(LEVEL_NONE, ILEVEL_MEMORY, 0));
	assert_int_equal(right->psv, PSV_DR_L1);
	assert_int_equal(right->level, timed_level(LEVEL_NONE, ILEVEL_MEMORY, MERGED_CODE));
	assert_true(right->fetch < there);
	assert_int_equal(right->icache_stall, there - right->fetch);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_load_brings_the_right_ones_line),
		cmocka_unit_test(other_settings_touch_no_data),
		cmocka_unit_test(a_wrong_load_evicts_what_the_right_path_needs),
		cmocka_unit_test(a_wrong_miss_holds_its_register),
		cmocka_unit_test(an_unknown_address_touches_nothing),
		cmocka_unit_test(a_stride_goes_on),
		cmocka_unit_test(what_differs_in_memory_gives_no_address),
		cmocka_unit_test(what_differs_in_registers_gives_no_address),
		cmocka_unit_test(it_holds_what_it_takes),
		cmocka_unit_test(a_wrong_fetch_brings_the_right_ones_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
