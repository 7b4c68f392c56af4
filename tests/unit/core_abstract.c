/* The abstract core: exact cycles of hand-made streams, the paper's loops, conservation, the rules of the stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "core/abstract_outcome.h"
#include "core/abstract_time.h"
#include "machine.h"
#include "rules.h"
#include "stream.h"

enum { FMA0 = 70, LOADED = 71, CONSTANT = 72, BASE = 5, COUNTER = 6 };

static void take(void *ctx, const struct timed *t, size_t n)
{
	struct machine *m = ctx;

	assert_true(m->nr_timed + n <= MACHINE_RECORDS);
	memcpy(&m->timed[m->nr_timed], t, n * sizeof *t);
	m->nr_timed += n;
}

static void count(struct machine *m)
{
	for (uint32_t i = 0; i < m->code.nr; i++)
		insn_count(&m->insn[i], m->uop + m->insn[i].uop);
}

/* Times all steps on the abstract core, `batch` of them at a time, and checks the stream. */
static void time_steps(struct machine *m, size_t batch)
{
	const struct core_ops *model = core_find("abstract");
	struct rules rules = { 0 };
	struct core *core;
	uint64_t steps = 0;

	count(m);
	m->nr_timed = 0;
	assert_int_equal(model->open(&core, &m->desc, &m->code, (struct timed_sink){ take, m }), 0);
	for (size_t i = 0; i < m->nr_steps; i += batch) {
		size_t n = m->nr_steps - i < batch ? m->nr_steps - i : batch;
		model->batch(core, m->step + i, n, m->nr_steps - i - n);
	}
	model->finish(core);
	model->close(core);
	for (size_t i = 0; i < m->nr_timed; i++) {
		const char *broken = rules_check(&rules, &m->timed[i], (unsigned)m->desc.rename_width);
		if (broken)
			fail_msg("record %zu: %s", i, broken);
	}
	for (size_t i = 0; i < m->nr_steps; i++)
		steps += step_kind(&m->step[i]) == STEP_INSN;
	assert_int_equal(m->nr_timed, steps);
}

/* Cycles from the commit of the n-th instruction to that of the m-th. */
static uint64_t between(const struct machine *m, size_t from, size_t to)
{
	return commit_of(m, to) - commit_of(m, from);
}

/* A core without limits but those that a test sets. */
static struct machine *wide_machine(void)
{
	struct machine *m = machine_new();

	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	m->desc.fetch_bytes = 64;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.queue_entries = m->desc.rob_entries = 256;
	m->desc.sched0_entries = m->desc.sched1_entries = 0;
	m->desc.load_queue_entries = m->desc.store_queue_entries = 256;
	m->desc.commit_width = 16;
	m->desc.branch_taken_bubble = 0;
	return m;
}

/* --- 100: front end --------------------------------------------------------------------------------- */

static void test_100_rename_width(void **state)
{
	struct machine *m = wide_machine();
	uint32_t nop = make_flagged(m, INSN_NOP);

	for (int i = 0; i < 400; i++)
		run_insn(m, nop);
	time_steps(m, 100);
	assert_int_equal(between(m, 3, 399), 99);
	/* The first four in the first cycle that the front end offers anything. */
	uint64_t first = timed_dispatch(committed(m, 0));
	assert_int_equal(first, (uint64_t)(m->desc.fetch_latency + m->desc.decode_latency + m->desc.rename_latency));
	assert_int_equal(timed_dispatch(committed(m, 3)), first);
	assert_int_equal(timed_dispatch(committed(m, 4)), first + 1);
	machine_free(m);
}

static void test_101_decoders(void **state)
{
	struct machine *m = wide_machine();
	uint32_t first = make_flagged(m, INSN_NOP);

	for (int i = 1; i < 64; i++)
		make_flagged(m, INSN_NOP);
	m->desc.decode_width = 2;
	for (int i = 0; i < 400; i++)
		run_insn(m, first + (uint32_t)(i % 64));
	time_steps(m, 1000);
	assert_int_equal(between(m, 1, 399), 199);
	machine_free(m);
}

static void test_102_taken_branches(void **state)
{
	struct machine *m = wide_machine();
	uint32_t loop = make_branch(m, BRANCH_JUMP, 0x1000);

	m->desc.branch_taken_bubble = 2;
	for (int i = 0; i < 100; i++)
		run_taken(m, loop);
	time_steps(m, 1000);
	assert_int_equal(between(m, 9, 99), 90 * 3);
	machine_free(m);
}

static void test_103_misprediction(void **state)
{
	struct machine *m = wide_machine();
	uint32_t alu = make_alu(m, 1, 1, 0, 7, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000);

	m->insn[branch].data[0] = 1;
	m->insn[branch].nr_data = 1;
	m->desc.ideal.branch = false;
	m->desc.branch_mispredict = 5;
	make_flagged(m, INSN_NOP);
	run_insn(m, alu);
	run_insn(m, branch);           /* predicted not taken, as it goes */
	run_insn(m, branch + 1);
	run_insn(m, alu);
	run_taken(m, branch);          /* the bimodal predictor has learnt otherwise */
	run_insn(m, alu);
	time_steps(m, 1000);
	const struct timed *wrong = committed(m, 4), *next = committed(m, 5);
	assert_true(wrong->flags & TIMED_MISPREDICT && wrong->flags & TIMED_FLUSHER && wrong->psv & PSV_FL_MB);
	assert_false(committed(m, 1)->flags & TIMED_MISPREDICT);
	assert_int_equal(next->fetch, wrong->fetch + wrong->complete + 5);
	machine_free(m);
}

/* --- 200: ports and latencies ------------------------------------------------------------------------ */

static void test_200_port_groups(void **state)
{
	struct machine *m = wide_machine();
	uint32_t only0 = make_alu(m, 0, 0, 0, 1, ALU0), either = make_alu(m, 0, 0, 0, 1, ALU);

	/* Of three uops one can go to port 0 alone, the others to 0 and 1: 3 uops on 2 ports. */
	for (int i = 0; i < 200; i++) {
		run_insn(m, only0);
		run_insn(m, either);
		run_insn(m, either);
	}
	time_steps(m, 128);
	assert_int_equal(between(m, 299, 599), 150);
	machine_free(m);
}

static void test_201_one_port_bounds(void **state)
{
	struct machine *m = wide_machine();
	uint32_t only0 = make_alu(m, 0, 0, 0, 1, ALU0), either = make_alu(m, 0, 0, 0, 1, ALU);

	for (int i = 0; i < 200; i++) {
		run_insn(m, only0);
		run_insn(m, only0);
		run_insn(m, either);
	}
	time_steps(m, 128);
	assert_int_equal(between(m, 299, 599), 200);
	machine_free(m);
}

static void test_202_latency(void **state)
{
	struct machine *m = wide_machine();
	uint32_t chain = make_alu(m, 1, 1, 0, 5, ALU);

	for (int i = 0; i < 100; i++)
		run_insn(m, chain);
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 99), 99 * 5);
	assert_int_equal(timed_issue_wait(committed(m, 50)), WAIT_OPERAND);
	assert_int_equal(committed(m, 50)->issue_by, 1);
	machine_free(m);
}

static void test_203_unit(void **state)
{
	struct machine *m = wide_machine();
	uint32_t divide = make_alu(m, 0, 0, 0, 20, ALU0);

	m->uop[m->insn[divide].uop].unit = 1;
	m->uop[m->insn[divide].uop].busy = 6;
	for (int i = 0; i < 50; i++)
		run_insn(m, divide);
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 49), 49 * 6);
	machine_free(m);
}

static void test_204_rob(void **state)
{
	struct machine *m = wide_machine();
	uint32_t slow = make_alu(m, 1, 0, 0, 100, ALU), nop = make_flagged(m, INSN_NOP);

	/* Independent ones of latency 100, 16 in flight at a time. */
	m->desc.rob_entries = 64;
	for (int i = 0; i < 50; i++) {
		run_insn(m, slow);
		for (int k = 0; k < 63; k++)
			run_insn(m, nop);
	}
	time_steps(m, 1000);
	/* The next comes in when the one before leaves: dispatch, issue, latency, commit. */
	uint64_t each = timed_leave(committed(m, 64)) - timed_leave(committed(m, 0));
	assert_int_equal(timed_dispatch_wait(committed(m, 64)), WAIT_ROB);
	assert_int_equal(committed(m, 64)->dispatch_by, 64);
	assert_true(each >= 102 && each <= 103);
	machine_free(m);
}

static void test_205_scheduler_out_of_order(void **state)
{
	struct machine *m = wide_machine();
	uint32_t slow = make_alu(m, 1, 0, 0, 100, ALU0), waits = make_alu(m, 2, 1, 0, 1, ALU0), free = make_alu(m, 3, 0, 0, 1, ALU1);

	/* One entry is held for 100 cycles, three let the others by, one a cycle: they do not wait in its order. */
	m->desc.sched0_entries = 4;
	m->desc.sched0_ports = ALU;
	run_insn(m, slow);
	run_insn(m, waits);
	for (int i = 0; i < 60; i++)
		run_insn(m, free);
	time_steps(m, 1000);
	assert_true(timed_dispatch(committed(m, 61)) < timed_dispatch(committed(m, 0)) + 70);
	assert_true(timed_dispatch(committed(m, 61)) > timed_dispatch(committed(m, 0)) + 40);
	machine_free(m);
}

static void test_206_eliminated_move(void **state)
{
	struct machine *m = wide_machine();
	uint32_t chain = make_alu(m, 1, 2, 0, 3, ALU), move = make_alu(m, 2, 1, 0, 1, ALU);

	m->insn[move].flags = INSN_MOVE;
	m->desc.rename_move_slots = 4;
	for (int i = 0; i < 50; i++) {
		run_insn(m, chain);
		run_insn(m, move);
	}
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 98), 49 * 3);
	machine_free(m);
}

/* 20 of `wait` behind `slow`, a cycle of dispatch each four; returns how many do not wait for a scheduler. */
static size_t dispatched_before_waiting(struct machine *m, uint32_t slow, uint32_t wait)
{
	size_t n = 1;

	m->nr_steps = 0;
	run_insn(m, slow);
	for (int i = 0; i < 20; i++)
		run_insn(m, wait);
	time_steps(m, 1000);
	while (n < 21 && timed_dispatch_wait(committed(m, n)) != WAIT_SCHEDULER)
		n++;
	assert_int_equal(timed_dispatch(committed(m, n - 1)) - timed_dispatch(committed(m, 0)), (n - 1) / 4);
	return n - 1;
}

static void test_207_several_schedulers(void **state)
{
	struct machine *m = wide_machine();
	uint32_t slow = make_alu(m, 1, 0, 0, 100, MEM0), first = make_alu(m, 2, 1, 0, 1, ALU0), both = make_alu(m, 2, 1, 0, 1, ALU);

	/* What may go to either port may wait in either's scheduler; what needs one port, in that one's alone. */
	m->desc.sched0_entries = 4;
	m->desc.sched0_ports = ALU0;
	m->desc.sched1_entries = 6;
	m->desc.sched1_ports = ALU1;
	assert_int_equal(dispatched_before_waiting(m, slow, first), 4);
	assert_int_equal(dispatched_before_waiting(m, slow, both), 10);

	/* An instruction with a uop for each port holds an entry of each. */
	uint32_t two = make_alu(m, 2, 1, 0, 1, ALU0);
	m->uop[m->nr_uops++] = (struct uop){ .kind = UOP_COMPUTE, .latency = 1, .ports = ALU1 };
	m->insn[two].nr_uops = 2;
	assert_int_equal(dispatched_before_waiting(m, slow, two), 4);
	m->desc.sched0_entries = 8;
	assert_int_equal(dispatched_before_waiting(m, slow, two), 6);
	machine_free(m);
}

/* An instruction whose parts want more entries than there are holds the scheduler alone, and does not wait for itself. */
static void test_208_more_uops_than_entries(void **state)
{
	struct machine *m = wide_machine();
	uint32_t add = make_load(m, 1, 1);

	m->insn[add].data[0] = 1;
	m->insn[add].nr_data = 1;
	m->insn[add].latency = 1;
	m->uop[m->nr_uops++] = (struct uop){ .kind = UOP_COMPUTE, .latency = 1, .ports = ALU };
	m->insn[add].nr_uops = 2;
	m->desc.sched0_entries = 1;
	m->desc.sched0_ports = MEM | ALU;
	for (int i = 0; i < 50; i++)
		run_access(m, add, 0x8000, 8);
	time_steps(m, 1000);
	/* Each comes in when the addition of the one before has issued and its entry is given back: a load and a cycle of each. */
	assert_int_equal(timed_dispatch_wait(committed(m, 1)), WAIT_SCHEDULER);
	assert_int_equal(between(m, 0, 49), 49 * ((uint64_t)m->desc.l1d_latency + 2));
	machine_free(m);
}

/* Of two schedulers, too, one with more uops than entries gives back what it took: a chain goes on as if it had not been. */
static void test_210_more_uops_than_all_entries(void **state)
{
	enum { UOPS = 12 };
	struct machine *m = wide_machine();
	uint32_t many = make_alu(m, 1, 0, 0, 1, ALU), chain = make_alu(m, 2, 2, 0, 1, ALU);

	m->insn[many].uop = (uint32_t)m->nr_uops;
	for (int i = 0; i < UOPS; i++)
		m->uop[m->nr_uops++] = (struct uop){ .kind = UOP_COMPUTE, .latency = 1, .ports = ALU };
	m->insn[many].nr_uops = UOPS;
	m->desc.sched0_entries = m->desc.sched1_entries = 4;
	m->desc.sched0_ports = ALU0;
	m->desc.sched1_ports = ALU1;
	for (int i = 0; i < 8; i++)
		run_insn(m, many);
	for (int i = 0; i < 50; i++)
		run_insn(m, chain);
	time_steps(m, 1000);
	assert_int_equal(between(m, 10, 57), 47);
	machine_free(m);
}

/* Cycles for 20 rounds of a chain of the two. */
static uint64_t chain_of(struct machine *m, uint32_t a, uint32_t b)
{
	m->nr_steps = 0;
	for (int i = 0; i < 42; i++)
		run_insn(m, i % 2 ? b : a);
	time_steps(m, 100);
	return between(m, 1, 41);
}

static void test_209_forwarding(void **state)
{
	struct machine *m = wide_machine();
	uint32_t add = make_alu(m, 70, 70, 0, 2, ALU), multiply = make_alu(m, 70, 70, 0, 4, ALU), shuffle = make_alu(m, 70, 70, 0, 1, ALU);

	/* What a unit forwards to itself comes later to others; what integer vectors compute, to floating point. */
	m->desc.bypass_fp = 1;
	m->insn[add].flags |= INSN_FP;
	m->insn[add].bypass = 1;
	m->insn[multiply].flags |= INSN_FP;
	m->insn[shuffle].flags |= INSN_VINT;
	assert_int_equal(chain_of(m, add, add), 20 * (2 + 2));
	assert_int_equal(chain_of(m, add, multiply), 20 * (2 + 1 + 4));
	assert_int_equal(chain_of(m, multiply, multiply), 20 * (4 + 4));
	assert_int_equal(chain_of(m, multiply, shuffle), 20 * (4 + 1 + 1));
	assert_int_equal(chain_of(m, add, shuffle), 20 * (2 + 1 + 1 + 1));
	machine_free(m);
}

/* --- 300: memory ------------------------------------------------------------------------------------- */

static void test_300_load_latency(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, 1);

	for (int i = 0; i < 50; i++)
		run_access(m, load, 0x8000, 8);
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 49), 49 * (uint64_t)m->desc.l1d_latency);
	machine_free(m);
}

static void test_301_store_to_load(void **state)
{
	struct machine *m = wide_machine();
	uint32_t store = make_store(m, BASE, 1), load = make_load(m, 1, BASE);

	/* A chain through memory: a cycle to the store's data, forward.latency to the load's. Bytes that do not overlap are none. */
	for (int i = 0; i < 50; i++) {
		run_access(m, store, 0x8000, 4);
		run_access(m, load, 0x8000, 4);
	}
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 99), 49 * (1 + (uint64_t)m->desc.forward_latency));
	m->nr_steps = 0;
	for (int i = 0; i < 50; i++) {
		run_access(m, store, 0x8000, 4);
		run_access(m, load, 0x8004, 4);
	}
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 99), 49);
	machine_free(m);
}

static void test_302_memory_bandwidth(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, 0);

	m->desc.ideal.l1d = false;
	m->desc.page_bits = 30;
	m->desc.l1d_mshrs = 1000;
	m->desc.prefetch_l2_stream = m->desc.prefetch_l1_stride = m->desc.prefetch_l1_next = 0;
	m->desc.clock_mhz = 1000;
	m->desc.dram_bandwidth = 6400; /* 64 bytes in 10 cycles */
	for (int i = 0; i < 2000; i++)
		run_access(m, load, 0x100000 + 64 * (uint64_t)(7 * i % 2048), 8);
	time_steps(m, 1000);
	assert_int_equal(between(m, 999, 1999), 10000);
	assert_int_equal(timed_data_level(committed(m, 1500)), LEVEL_MEMORY);
	assert_true(committed(m, 1500)->psv == (PSV_ST_L1 | PSV_ST_LLC));
	machine_free(m);
}

static void test_303_line_on_its_way(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, 0);

	m->desc.ideal.l1d = false;
	run_access(m, load, 0x100000, 8);
	run_access(m, load, 0x100008, 8);
	time_steps(m, 1000);
	assert_int_equal(timed_data_level(committed(m, 0)), LEVEL_MEMORY);
	assert_int_equal(timed_data_level(committed(m, 1)), LEVEL_FILL_BUFFER);
	assert_int_equal(committed(m, 1)->fetch + committed(m, 1)->complete, committed(m, 0)->fetch + committed(m, 0)->complete);
	machine_free(m);
}

static void test_304_store_queue(void **state)
{
	struct machine *m = wide_machine();
	uint32_t store = make_store(m, BASE, 1);

	m->desc.ideal.l1d = false;
	m->desc.page_bits = 30;
	m->desc.l1d_mshrs = 1;         /* stores drain as slowly as lines come, one after the other */
	m->desc.store_queue_entries = 4;
	for (int i = 0; i < 100; i++)
		run_access(m, store, 0x100000 + 4096 * (uint64_t)i, 8);
	time_steps(m, 1000);
	assert_int_equal(timed_dispatch_wait(committed(m, 50)), WAIT_STORE_QUEUE);
	assert_true(committed(m, 50)->psv & PSV_DR_SQ);
	assert_int_equal(committed(m, 50)->dispatch_by, 4);
	machine_free(m);
}

/* A chain from stores to loads by way of rename: what the store's register holds, the load's does. Returns cycles a pair. */
static uint64_t renamed_pairs(struct machine *m, uint32_t store, uint32_t load, uint32_t between_them)
{
	m->nr_steps = 0;
	for (int i = 0; i < 50; i++) {
		run_access(m, store, 0x8000, 4);
		if (between_them)
			run_insn(m, between_them);
		run_access(m, load, 0x8000, 4);
	}
	time_steps(m, 100);
	size_t each = between_them ? 3 : 2;
	return between(m, each - 1, 50 * each - 1) / 49;
}

static void test_305_renamed(void **state)
{
	struct machine *m = wide_machine();
	uint32_t none = make_flagged(m, INSN_NOP), store = make_store(m, BASE, 1), load = make_load(m, 1, BASE);
	uint32_t other = make_load(m, 1, COUNTER), moved = make_alu(m, BASE, BASE, 0, 1, ALU);

	assert_int_equal(none, 0);
	m->desc.forward_renamed = 16;
	/* A store a cycle is all there is. */
	assert_int_equal(renamed_pairs(m, store, load, 0), 1);
	/* By another register, or the same with another value: through the queue. */
	assert_int_equal(renamed_pairs(m, store, other, 0), 1 + (uint64_t)m->desc.forward_latency);
	assert_int_equal(renamed_pairs(m, store, load, moved), 1 + (uint64_t)m->desc.forward_latency);
	/* Where no store is remembered, too. */
	m->desc.forward_renamed = 0;
	assert_int_equal(renamed_pairs(m, store, load, 0), 1 + (uint64_t)m->desc.forward_latency);
	machine_free(m);
}

/* Accesses of two addresses 32 bytes long, in turn; returns cycles for 50 once those before have filled the ports. */
static uint64_t accesses_in_turn(struct machine *m, uint32_t insn, uint64_t first, uint64_t second)
{
	m->nr_steps = 0;
	for (int i = 0; i < 100; i++)
		run_access(m, insn, i % 2 ? second : first, 32);
	time_steps(m, 100);
	return between(m, 49, 99);
}

static void test_306_over_lines(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, BASE), vector = make_load(m, 64, BASE);

	/* Two loads a cycle, one of those that cross a line; of vectors fewer, where they need what a vector pipe has as well. */
	m->insn[vector].flags |= INSN_VECTOR_MEM;
	assert_int_equal(accesses_in_turn(m, load, 0x8000, 0x8020), 25);
	assert_int_equal(accesses_in_turn(m, load, 0x8030, 0x8070), 50);
	assert_int_equal(accesses_in_turn(m, vector, 0x8030, 0x8070), 50);
	m->desc.split_vector_ports = ALU0;
	m->insn[vector].nr_compute = 1;
	m->uop[m->insn[vector].uop + 1] = (struct uop){ .kind = UOP_COMPUTE, .latency = 1, .ports = ALU0 };
	m->insn[vector].nr_uops = 2;
	assert_int_equal(accesses_in_turn(m, vector, 0x8000, 0x8020), 50);
	assert_int_equal(accesses_in_turn(m, vector, 0x8030, 0x8070), 100);
	machine_free(m);
}

/* What a load reads is the store that wrote it, whatever lines the stores between them cross. */
static void test_307_stores_over_lines(void **state)
{
	struct machine *m = wide_machine();
	uint32_t slow = make_alu(m, 1, 1, 0, 30, ALU0), store = make_store(m, BASE, 1), other = make_store(m, BASE, COUNTER);
	uint32_t load = make_load(m, 1, BASE);

	for (int i = 0; i < 20; i++) {
		run_insn(m, slow);
		run_access(m, store, 0x8000, 8);
		for (int k = 0; k < 3; k++)
			run_access(m, other, 0x803c + 64 * (uint64_t)k, 8);
		run_access(m, load, 0x8000, 8);
	}
	time_steps(m, 1000);
	assert_int_equal(between(m, 5, 6 * 20 - 1), 19 * (30 + 1 + (uint64_t)m->desc.forward_latency));
	machine_free(m);
}

/* --- 400: figure 1 ----------------------------------------------------------------------------------- */

static uint32_t make_fma(struct machine *m, uint8_t dst, uint8_t a, uint8_t b)
{
	uint32_t i = make_alu(m, dst, a, b, 4, ALU);

	m->insn[i].data[m->insn[i].nr_data++] = dst;
	m->insn[i].flags = INSN_FP | INSN_LONG;
	return i;
}

/* Loop (a) loads both operands in the inner loop, (b) one of them. All but the FMAs is told by `insn`. */
struct loop { uint32_t load1, load2, fma1, fma2, branch; };

static struct loop figure_1(struct machine *m, bool hoisted, unsigned iterations)
{
	struct loop l;
	uint64_t start = m->pc;

	l.load1 = make_load(m, LOADED, BASE);
	l.load2 = hoisted ? l.load1 : make_load(m, LOADED + 10, BASE);
	l.fma1 = make_fma(m, FMA0, LOADED, CONSTANT);
	l.fma2 = make_fma(m, FMA0, LOADED, LOADED + 10);
	l.branch = make_branch(m, BRANCH_CONDITIONAL, start);
	for (unsigned i = 0; i < iterations; i++) {
		run_access(m, l.load1, 0x8000 + 32 * (uint64_t)(i % 16), 32);
		if (!hoisted)
			run_access(m, l.load2, 0x9000 + 32 * (uint64_t)(i % 16), 32);
		run_insn(m, l.fma1);
		run_insn(m, l.fma2);
		run_taken(m, l.branch);
	}
	return l;
}

static void test_400_figure_1(void **state)
{
	for (int hoisted = 0; hoisted < 2; hoisted++) {
		struct machine *m = wide_machine();
		size_t each = hoisted ? 4 : 5;

		m->desc.rob_entries = 64;
		m->desc.commit_width = 4;
		figure_1(m, hoisted, 300);
		time_steps(m, 512);
		assert_int_equal(between(m, each * 100 - 1, each * 300 - 1), 200 * 8);
		machine_free(m);
	}
}

/* The outcomes of all steps, timed once more with other costs: cycles of the whole, and the share of two instructions. */
struct outcome_run {
	struct recipes recipes;
	struct outcomes *outcomes;
	struct outcome_stream stream;
};

static void outcome_run_init(struct outcome_run *r, struct machine *m)
{
	count(m);
	assert_int_equal(recipes_init(&r->recipes, &m->desc, &m->code), 0);
	assert_int_equal(outcomes_new(&r->outcomes, &m->desc, &m->code, &r->recipes), 0);
	r->stream = (struct outcome_stream){ 0 };
	outcomes_batch(r->outcomes, m->step, m->nr_steps, 0, &r->stream);
}

static void outcome_run_fini(struct outcome_run *r)
{
	outcomes_free(r->outcomes);
	outcome_stream_fini(&r->stream);
	recipes_fini(&r->recipes);
}

static uint64_t cycles_with(const struct outcome_run *r, const struct machine *m, const struct abstract_costs *c)
{
	struct chrono *v;
	uint64_t cycles;

	assert_int_equal(chrono_new(&v, &m->desc, c, &r->recipes, CHRONO_PLAIN), 0);
	chrono_batch(v, r->stream.word, r->stream.nr, NULL);
	cycles = chrono_cycles(v);
	chrono_free(v);
	return cycles;
}

/* Half the latency is twice the speed; twice any throughput or size is nothing. */
static void test_401_figure_1_is_latency(void **state)
{
	struct machine *m = wide_machine();
	struct abstract_costs base, c;
	struct outcome_run r;

	m->desc.rob_entries = 64;
	m->desc.commit_width = 4;
	figure_1(m, false, 1000);
	outcome_run_init(&r, m);
	abstract_costs_init(&base, &m->desc);
	uint64_t cycles = cycles_with(&r, m, &base);
	assert_in_range(cycles, 8000, 8030);
	c = base;
	c.latency[LATENCY_FLOAT] /= 2;
	assert_in_range(cycles_with(&r, m, &c), 4000, 4030);
	for (unsigned i = 0; i < RESOURCE_PORTS; i++) {
		c = base;
		c.inverse[i] /= 2;
		assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	}
	for (unsigned i = 0; i < CORE_PORTS; i++) {
		c = base;
		c.port_weight[i] *= 2;
		assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	}
	c = base;
	c.rob *= 2;
	assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	c = base;
	c.load /= 2;
	assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	outcome_run_fini(&r);
	machine_free(m);
}

static void test_402_figure_1_causality(void **state)
{
	for (int hoisted = 0; hoisted < 2; hoisted++) {
		struct machine *m = wide_machine();
		struct abstract_costs c;
		struct outcome_run r;
		struct chrono *v;

		m->desc.rob_entries = 64;
		m->desc.commit_width = 4;
		struct loop l = figure_1(m, hoisted, 1000);
		outcome_run_init(&r, m);
		abstract_costs_init(&c, &m->desc);
		assert_int_equal(chrono_new(&v, &m->desc, &c, &r.recipes, CHRONO_TAINT), 0);
		chrono_batch(v, r.stream.word, r.stream.nr, NULL);
		chrono_finish(v);
		const struct causality_row *one = chrono_row(v, l.fma1), *two = chrono_row(v, l.fma2);
		assert_non_null(one);
		assert_non_null(two);
		assert_true((one->count + two->count) * 100 >= chrono_critical(v) * 95);
		assert_true(one->reason[REASON_LATENCY] * 100 >= one->count * 99);
		assert_true(two->reason[REASON_LATENCY] * 100 >= two->count * 99);
		chrono_free(v);
		outcome_run_fini(&r);
		machine_free(m);
	}
}

/* --- 500: the stream --------------------------------------------------------------------------------- */

/* Awkward instructions in random order: the stream keeps its rules, and nothing depends on the batches. */
static void test_500_random(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct machine *m = machine_new();
		uint64_t random = seed * 0x9e3779b97f4a7c15 | 1;
		uint32_t insn[24], nr = 0;
		uint16_t access[24] = { 0 };

		m->desc.ideal.itlb = m->desc.ideal.dtlb = m->desc.ideal.l1i = seed & 1;
		m->desc.uopcache_sets = seed & 2 ? 4 : 0;
		for (uint8_t i = 0; i < 6; i++)
			insn[nr++] = make_alu(m, (uint8_t)(1 + i), (uint8_t)(1 + stream_random(&random, 6)), 7, (uint8_t)(1 + i), i & 1 ? ALU : ALU0);
		for (uint8_t i = 0; i < 4; i++) {
			access[nr] = (uint16_t)(1u << i);
			insn[nr++] = make_load(m, (uint8_t)(1 + i), 7);
		}
		for (uint8_t i = 0; i < 4; i++) {
			access[nr] = (uint16_t)(1u << (i + 2));
			insn[nr++] = make_store(m, 7, (uint8_t)(1 + i));
		}
		m->insn[insn[3]].slots = 7;
		insn[nr++] = make_flagged(m, INSN_NOP);
		insn[nr++] = make_flagged(m, INSN_SERIALIZE);
		insn[nr++] = make_flagged(m, INSN_DISPATCH_SERIALIZE);
		insn[nr++] = make_flagged(m, INSN_SYSCALL);
		insn[nr++] = make_flagged(m, INSN_FENCE);
		insn[nr++] = make_flagged(m, INSN_FLUSH);
		insn[nr++] = make_flagged(m, INSN_UNMODELLED);
		uint32_t compare = make_alu(m, REG_FLAGS, 1, 2, 1, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000);
		m->insn[compare].flags |= INSN_FUSES_NEXT;
		for (int i = 0; i < 6000; i++) {
			uint32_t k = (uint32_t)stream_random(&random, nr + 4);
			if (k >= 15 && k < nr && stream_random(&random, 8))
				k = (uint32_t)stream_random(&random, 14);
			if (k >= nr) {
				run_insn(m, compare);
				if (stream_random(&random, 3))
					run_taken(m, branch);
				else
					run_insn(m, branch);
			} else if (access[k]) {
				run_access(m, insn[k], 0x10000 + stream_random(&random, 1 << 18), access[k]);
			} else {
				run_insn(m, insn[k]);
			}
			if (!stream_random(&random, 500))
				m->step[m->nr_steps - 1].flags |= STEP_FAULT;
			else if (!stream_random(&random, 500))
				m->step[m->nr_steps - 1].flags |= STEP_ENTER;
		}
		time_steps(m, 4096);
		struct timed *whole = g_memdup2(m->timed, m->nr_timed * sizeof *whole);
		time_steps(m, 7);
		assert_memory_equal(whole, m->timed, m->nr_timed * sizeof *whole);
		g_free(whole);

		/* The cycles that a variant counts are those of the records. */
		struct abstract_costs c;
		struct outcome_run r;
		outcome_run_init(&r, m);
		abstract_costs_init(&c, &m->desc);
		assert_int_equal(cycles_with(&r, m, &c), timed_leave(&m->timed[m->nr_timed - 1]) + 1);
		outcome_run_fini(&r);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_100_rename_width),
		cmocka_unit_test(test_101_decoders),
		cmocka_unit_test(test_102_taken_branches),
		cmocka_unit_test(test_103_misprediction),
		cmocka_unit_test(test_200_port_groups),
		cmocka_unit_test(test_201_one_port_bounds),
		cmocka_unit_test(test_202_latency),
		cmocka_unit_test(test_203_unit),
		cmocka_unit_test(test_204_rob),
		cmocka_unit_test(test_205_scheduler_out_of_order),
		cmocka_unit_test(test_206_eliminated_move),
		cmocka_unit_test(test_207_several_schedulers),
		cmocka_unit_test(test_208_more_uops_than_entries),
		cmocka_unit_test(test_209_forwarding),
		cmocka_unit_test(test_210_more_uops_than_all_entries),
		cmocka_unit_test(test_300_load_latency),
		cmocka_unit_test(test_301_store_to_load),
		cmocka_unit_test(test_302_memory_bandwidth),
		cmocka_unit_test(test_303_line_on_its_way),
		cmocka_unit_test(test_304_store_queue),
		cmocka_unit_test(test_305_renamed),
		cmocka_unit_test(test_306_over_lines),
		cmocka_unit_test(test_307_stores_over_lines),
		cmocka_unit_test(test_400_figure_1),
		cmocka_unit_test(test_401_figure_1_is_latency),
		cmocka_unit_test(test_402_figure_1_causality),
		cmocka_unit_test(test_500_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
