/*
 * Exact cycles of the detailed core on hand-made streams. 100: front end, 200: rename and issue, 300: memory
 * operations, 400: commit and flushes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

enum { R1 = 1, R2, R3, R4, R5, R6, R7, R8 };

/* Cycles between the commits of the first and the last of the n youngest. */
static uint64_t span(const struct machine *m, size_t from, size_t to)
{
	return commit_of(m, to) - commit_of(m, from);
}

static void repeat(struct machine *m, uint32_t insn, unsigned n)
{
	while (n--)
		run_insn(m, insn);
}

/* One instruction: fetch 0, decode 1, queue 2, rename 3, issue 4, complete 5, commit 6. */
static void t100_stages(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 1, ALU));
	machine_time(m);
	const struct timed *t = committed(m, 0);
	assert_int_equal(t->fetch, 0);
	assert_int_equal(t->avail, 3);
	assert_int_equal(t->dispatch, 3);
	assert_int_equal(t->issue, 4);
	assert_int_equal(t->complete, 5);
	assert_int_equal(t->leave, 6);
	assert_int_equal(t->psv, 0);
	assert_true(t->flags & TIMED_PACKET_FIRST);
	machine_free(m);
}

/* Straight code: 16 bytes, four instructions, a cycle. */
static void t101_fetch_width(void **state)
{
	struct machine *m = machine_new();
	for (int i = 0; i < 400; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	assert_int_equal(span(m, 0, 396), 99);
	for (size_t i = 0; i < 400; i++)
		assert_int_equal(committed(m, i)->fetch, i / 4);
	machine_free(m);
}

/* Instructions of 8 bytes: two a cycle. */
static void t102_fetch_bytes(void **state)
{
	struct machine *m = machine_new();
	for (int i = 0; i < 100; i++) {
		uint32_t n = make_flagged(m, INSN_NOP);
		m->insn[n].length = 8;
		m->pc += 4;
		run_insn(m, n);
	}
	machine_time(m);
	assert_int_equal(span(m, 0, 98), 49);
	machine_free(m);
}

/* A loop of one block with a bubble after its taken branch: two cycles an iteration. */
static void t110_taken_bubble(void **state)
{
	struct machine *m = machine_new();
	m->desc.branch_taken_bubble = 1;
	m->desc.ideal.branch = true;
	uint32_t a = make_flagged(m, INSN_NOP), j = make_branch(m, BRANCH_JUMP, 0x1000);
	for (int i = 0; i < 100; i++) {
		run_insn(m, a);
		run_taken(m, j);
	}
	machine_time(m);
	assert_int_equal(span(m, 1, 199), 2 * 99);
	machine_free(m);
}

/* The same out of the loop buffer: one cycle an iteration. */
static void t111_loop_buffer(void **state)
{
	struct machine *m = machine_new();
	m->desc.branch_taken_bubble = 1;
	m->desc.loop_buffer = 32;
	m->desc.ideal.branch = true;
	uint32_t a = make_flagged(m, INSN_NOP), j = make_branch(m, BRANCH_JUMP, 0x1000);
	for (int i = 0; i < 200; i++) {
		run_insn(m, a);
		run_taken(m, j);
	}
	machine_time(m);
	assert_int_equal(span(m, 201, 399), 99);
	machine_free(m);
}

/* The first miss of L1I goes to memory: the packet's first instruction has DR-L1 and the stall. */
static void t120_icache_miss(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1i = false;
	run_insn(m, make_flagged(m, INSN_NOP));
	run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	const struct timed *t = committed(m, 0);
	assert_int_equal(t->psv, PSV_DR_L1);
	assert_int_equal(t->avail, 3 + t->icache_stall);
	assert_true(t->icache_stall > 100);
	assert_int_equal(timed_code_level(t), ILEVEL_MEMORY);
	assert_int_equal(committed(m, 1)->psv, 0);
	machine_free(m);
}

/* A second pass through the same code comes from the uop cache: 6 uops a cycle, here bounded by rename. */
static void t130_uop_cache(void **state)
{
	struct machine *m = machine_new();
	m->desc.uopcache_sets = 32;
	m->desc.uopcache_latency = 1;
	m->desc.rename_width = m->desc.commit_width = 8;
	m->desc.ideal.branch = true;
	uint32_t code[96];
	for (int i = 0; i < 95; i++)
		code[i] = make_flagged(m, INSN_NOP);
	code[95] = make_branch(m, BRANCH_JUMP, 0x1000);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < 96; i++)
			i < 95 ? run_insn(m, code[i]) : run_taken(m, code[i]);
	machine_time(m);
	assert_int_equal(span(m, 0, 92), 23);          /* decoders: 4 a cycle */
	/* uop cache: 6 a cycle */
	assert_int_equal(timed_dispatch(committed(m, 192 + 90)) - timed_dispatch(committed(m, 192)), 15);
	machine_free(m);
}

/* A bound uop counts for its port until two cycles after it issued: two slots after two idle ones, another takes the other port. */
static void t204_bound_until(void **state)
{
	struct machine *m = machine_new();
	m->desc.rename_bind_ports = 1;
	m->desc.rename_width = m->desc.fetch_width = 2;
	run_insn(m, make_alu(m, R1, 0, 0, 1, ALU));    /* ALU1: of equals the highest. Dispatched in 3, issued in 4 */
	for (unsigned i = 0; i < 3; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	run_insn(m, make_alu(m, R2, 0, 0, 1, ALU));    /* dispatched in 5: ALU0 */
	run_insn(m, make_alu(m, R3, 0, 0, 1, ALU1));
	machine_time(m);
	assert_int_equal(timed_dispatch(committed(m, 4)), 5);
	assert_int_equal(committed(m, 4)->fetch + committed(m, 4)->issue, 6);
	assert_int_equal(committed(m, 5)->fetch + committed(m, 5)->issue, 6);
	machine_free(m);
}

/* Pairs ALU0 and MEM0, ALU1 and MEM1: each uop goes where the generator says, though the other port be idle. */
static void t207_bound_to_pairs(void **state)
{
	enum { UOPS = 64 };
	struct machine *m = machine_new();
	uint64_t free[2] = { 0 }, taken[2] = { 0 };
	uint32_t draw = 0;

	m->desc.rename_bind_pairs = ALU | MEM;
	for (unsigned i = 0; i < UOPS; i++) {
		run_insn(m, make_alu(m, R1, 0, 0, 1, ALU));
		run_insn(m, make_alu(m, R2, 0, 0, 1, STD));   /* in no pair: draws nothing */
	}
	machine_time(m);
	for (unsigned i = 0; i < UOPS; i++) {
		const struct timed *t = committed(m, 2 * (size_t)i);
		draw = draw * 1664525 + 1013904223;
		unsigned port = draw >> 31;
		uint64_t ready = timed_dispatch(t) + 1, issue = ready > free[port] ? ready : free[port];
		assert_int_equal(t->fetch + t->issue, issue);
		free[port] = issue + 1;
		taken[port]++;
	}
	assert_true(taken[0] > UOPS / 4 && taken[1] > UOPS / 4);
	machine_free(m);
}

/* Dependent: one a cycle. Their latency 3: three cycles each. */
static void t200_chain(void **state)
{
	for (uint8_t latency = 1; latency <= 3; latency++) {
		struct machine *m = machine_new();
		uint32_t i = make_alu(m, R1, R1, 0, latency, ALU);
		repeat(m, i, 200);
		machine_time(m);
		assert_int_equal(span(m, 100, 199), 99 * latency);
		machine_free(m);
	}
}

/* Independent on two ports: two a cycle; on one: one. */
static void t201_ports(void **state)
{
	for (unsigned ports = 1; ports <= 2; ports++) {
		struct machine *m = machine_new();
		for (int i = 0; i < 400; i++)
			run_insn(m, make_alu(m, (uint8_t)(1 + i % 8), 0, 0, 1, ports == 2 ? ALU : ALU0));
		machine_time(m);
		assert_int_equal(span(m, 200, 398), 198 / ports);
		machine_free(m);
	}
}

/* A younger uop takes the port in front of an older one that waits. */
static void t202_out_of_order(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 10, ALU0));
	run_insn(m, make_alu(m, R2, R1, 0, 1, ALU0));
	run_insn(m, make_alu(m, R3, 0, 0, 1, ALU0));
	machine_time(m);
	assert_int_equal(committed(m, 0)->issue, 4);
	assert_int_equal(committed(m, 1)->issue, 14);
	assert_int_equal(committed(m, 2)->issue, 5);
	assert_int_equal(timed_issue_wait(committed(m, 1)), WAIT_OPERAND);
	assert_int_equal(committed(m, 1)->issue_by, 1);
	assert_int_equal(timed_issue_wait(committed(m, 2)), WAIT_PORT);
	assert_int_equal(commit_of(m, 2), commit_of(m, 1));
	machine_free(m);
}

/* An unpipelined unit of 6 cycles. */
static void t203_unit(void **state)
{
	struct machine *m = machine_new();
	uint32_t i = make_alu(m, R1, 0, 0, 10, ALU0);
	m->uop[0].unit = 1;
	m->uop[0].busy = 6;
	repeat(m, i, 50);
	machine_time(m);
	assert_int_equal(span(m, 10, 49), 39 * 6);
	machine_free(m);
}

/* A result with a bypass of a cycle: at once to one of its unit, a cycle later to another, and through an eliminated move as without it. */
static void t205_bypass(void **state)
{
	static const struct { bool to_own; bool moved; uint8_t cycles; } kind[] = {
		{ true, false, 2 }, { false, false, 3 }, { true, true, 2 }, { false, true, 3 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.rename_move_slots = 8;
		uint32_t from = make_alu(m, R1, 0, 0, 2, ALU), move = make_alu(m, R2, R1, 0, 1, ALU);
		uint32_t to = make_alu(m, R3, kind[k].moved ? R2 : R1, 0, 2, ALU), store = make_store(m, R4, R1);
		m->insn[from].bypass = 1;
		m->insn[move].flags = INSN_MOVE;
		m->insn[to].bypass = kind[k].to_own;
		run_insn(m, from);
		run_insn(m, move);
		run_insn(m, to);
		run_access(m, store, 0x10000, 8);
		machine_time(m);
		assert_int_equal(committed(m, 2)->issue - committed(m, 0)->issue, kind[k].cycles);
		assert_int_equal(committed(m, 3)->complete - committed(m, 0)->issue, 3 + 1);
		machine_free(m);
	}
}

/* 16 scheduler entries behind a long operation: the 17th dependent waits for one to issue. */
static void t210_scheduler_full(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	uint32_t dependent = make_alu(m, R2, R1, 0, 1, ALU);
	repeat(m, dependent, 20);
	machine_time(m);
	assert_int_equal(committed(m, 0)->issue, 4);
	for (size_t i = 1; i <= 16; i++)
		assert_true(committed(m, i)->dispatch + committed(m, i)->fetch < 20);
	/* two issue in cycle 104; their entries are free in 105 */
	assert_int_equal(timed_dispatch(committed(m, 17)), 105);
	assert_int_equal(timed_dispatch_wait(committed(m, 17)), WAIT_SCHEDULER);
	machine_free(m);
}

/*
 * The same with a queue of 8 in front: the 17th to the 24th wait there, and the 25th is held up. What is ready in the queue
 * does not issue before it is in the scheduler: two leave that in 105, so the 20th enters in 106.
 */
static void t206_waiting(void **state)
{
	struct machine *m = machine_new();
	m->desc.waiting_entries = 8;
	m->desc.waiting_ports = ALU0;
	m->desc.sched0_ports = ALU | MEM0;
	m->desc.sched1_ports = MEM1 | STD;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	uint32_t dependent = make_alu(m, R2, R1, 0, 1, ALU), ready = make_alu(m, R3, 0, 0, 1, MEM0);
	for (unsigned i = 1; i <= 26; i++)
		run_insn(m, i == 20 ? ready : dependent);
	machine_time(m);
	for (size_t i = 1; i <= 24; i++)
		assert_int_equal(timed_dispatch(committed(m, i)), 3 + i / 4);
	assert_int_equal(timed_dispatch(committed(m, 25)), 105);
	assert_int_equal(timed_dispatch_wait(committed(m, 25)), WAIT_SCHEDULER);
	assert_int_equal(timed_dispatch(committed(m, 26)), 105);
	assert_int_equal(committed(m, 16)->issue, 111);
	assert_int_equal(committed(m, 17)->issue, 112);
	assert_int_equal(committed(m, 20)->issue, 107);
	machine_free(m);
}

/* A reorder buffer of 64 behind an operation of 200 cycles. */
static void t211_rob_full(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 200, ALU0));
	for (int i = 0; i < 100; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	uint64_t head = commit_of(m, 0);
	assert_int_equal(head, 205);
	assert_true(timed_dispatch(committed(m, 63)) < 30);
	assert_int_equal(timed_dispatch(committed(m, 64)), head + 1);
	assert_int_equal(timed_dispatch_wait(committed(m, 64)), WAIT_ROB);
	assert_int_equal(committed(m, 64)->dispatch_by, 64);
	machine_free(m);
}

/* 40 physical registers, 32 of them architectural: 8 results in flight. */
static void t212_registers(void **state)
{
	struct machine *m = machine_new();
	m->desc.prf_integer = 40;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	for (int i = 0; i < 20; i++)
		run_insn(m, make_alu(m, R2, 0, 0, 1, ALU1));
	machine_time(m);
	assert_true(timed_dispatch(committed(m, 7)) < 20);
	assert_int_equal(timed_dispatch(committed(m, 8)), commit_of(m, 0) + 1);
	assert_int_equal(timed_dispatch_wait(committed(m, 8)), WAIT_REGISTERS);
	machine_free(m);
}

/* Flags alone take a register of the integer bank, or none; flags beside a result never take one more. */
static void t214_registers_of_flags(void **state)
{
	for (int apart = 0; apart < 2; apart++) {
		struct machine *m = machine_new();
		m->desc.prf_integer = 40;
		m->desc.prf_flags_apart = apart;
		run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
		for (int i = 0; i < 20; i++) {
			run_insn(m, make_alu(m, REG_FLAGS, 0, 0, 1, ALU1));
			run_insn(m, make_alu(m, R2, 0, 0, 1, ALU1));
		}
		machine_time(m);
		unsigned first = apart ? 16 : 8;
		assert_true(timed_dispatch(committed(m, first - 1)) < 20);
		assert_int_equal(timed_dispatch(committed(m, first)), commit_of(m, 0) + 1);
		assert_int_equal(timed_dispatch_wait(committed(m, first)), WAIT_REGISTERS);
		machine_free(m);
	}
}

/* Four slots each: one instruction a cycle through rename and commit. */
static void t213_slots(void **state)
{
	struct machine *m = machine_new();
	for (int i = 0; i < 50; i++) {
		uint32_t n = make_flagged(m, INSN_NOP);
		m->insn[n].slots = 4;
		run_insn(m, n);
	}
	machine_time(m);
	assert_int_equal(span(m, 10, 49), 39);
	machine_free(m);
}

/* Eliminated moves take no cycle of the chain. */
static void t220_move_elimination(void **state)
{
	struct machine *m = machine_new();
	m->desc.rename_move_slots = 8;
	uint32_t add = make_alu(m, R1, R2, 0, 1, ALU), move = make_alu(m, R2, R1, 0, 1, ALU);
	m->insn[move].flags = INSN_MOVE;
	for (int i = 0; i < 100; i++) {
		run_insn(m, add);
		run_insn(m, move);
	}
	machine_time(m);
	assert_int_equal(span(m, 100, 198), 49);
	machine_free(m);
}

/* A push, a pop, or both, then the stack pointer itself is read: two slots, and a cycle later, where its offset is not 0. */
static void t221_stack_engine(void **state)
{
	static const struct { bool push, pop; uint8_t slots; } kind[] = { { true, true, 1 }, { true, false, 2 }, { false, true, 2 } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.rename_stack_ports = ALU;
		uint32_t push = make_store(m, R1, R2), pop = make_load(m, R3, R1), read = make_alu(m, R4, R1, 0, 1, ALU);
		m->insn[push].stack = m->insn[pop].stack = STACK_MOVES;
		m->insn[read].stack = STACK_READS;
		if (kind[k].push)
			run_access(m, push, 0x10000, 8);
		if (kind[k].pop)
			run_access(m, pop, 0x20000, 8);
		run_insn(m, read);
		run_insn(m, read);
		machine_time(m);
		size_t n = (size_t)kind[k].push + kind[k].pop;
		assert_int_equal(committed(m, n)->slots, kind[k].slots);
		assert_int_equal(committed(m, n + 1)->slots, 1);
		assert_int_equal(committed(m, n)->issue, 4 + kind[k].slots - 1);
		machine_free(m);
	}
}

/* An address by the stack pointer behind a push: where addresses add what is left by themselves, no uop, and none behind a LEA to it. */
static void t222_stack_addresses(void **state)
{
	static const struct { bool data, sets; uint8_t slots, behind; } kind[] = { { true, false, 2, 1 }, { false, false, 1, 2 }, { false, true, 1, 1 } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.rename_stack_ports = ALU;
		m->desc.rename_stack_addresses = 0;
		uint32_t push = make_store(m, R1, R2), read = make_alu(m, kind[k].sets ? R1 : R4, R1, 0, 1, ALU), compute = make_alu(m, R4, R1, 0, 1, ALU);
		m->insn[push].stack = STACK_MOVES;
		m->insn[read].stack = m->insn[compute].stack = STACK_READS;
		m->insn[read].stack_data = kind[k].data;
		m->insn[compute].stack_data = 1;
		run_access(m, push, 0x10000, 8);
		run_insn(m, read);
		run_insn(m, compute);
		machine_time(m);
		assert_int_equal(committed(m, 1)->slots, kind[k].slots);
		assert_int_equal(committed(m, 2)->slots, kind[k].behind);
		machine_free(m);
	}
}

/* What ends a cycle's dispatch: alone one a cycle, with three more as many, with four more two cycles. */
static void t223_ends_dispatch(void **state)
{
	for (unsigned others = 0; others <= 4; others++) {
		struct machine *m = machine_new();
		uint32_t last = make_flagged(m, INSN_NOP), nop = make_flagged(m, INSN_NOP);
		m->insn[last].ends_dispatch = 1;
		for (unsigned i = 0; i < 100; i++) {
			run_insn(m, last);
			for (unsigned k = 0; k < others; k++)
				run_insn(m, nop);
		}
		machine_time(m);
		const struct timed *first = committed(m, 0), *end = committed(m, 99 * (others + 1));
		assert_int_equal(timed_dispatch(end) - timed_dispatch(first), others < 4 ? 99 : 198);
		machine_free(m);
	}
}

/* A sum that is stored as soon as it is there: a cycle less from one to the next than by way of a store-data uop. */
static void t224_stores_result(void **state)
{
	uint64_t each[2];

	for (unsigned direct = 0; direct < 2; direct++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		uint32_t add = make_update(m, R1, direct);
		for (int i = 0; i < 40; i++)
			run_update(m, add, 0x10000);
		machine_time(m);
		each[direct] = span(m, 20, 30);
		machine_free(m);
	}
	assert_int_equal(each[0], 70);
	assert_int_equal(each[1], 60);
}

/* Load to use: 5 cycles; pointer chase by a simple address: 4. */
static void t300_load_to_use(void **state)
{
	for (int simple = 0; simple < 2; simple++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		uint32_t i = make_load(m, R1, R1);
		if (simple)
			m->insn[i].flags |= INSN_SIMPLE_ADDR;
		for (int n = 0; n < 60; n++)
			run_access(m, i, 0x10000, 8);
		machine_time(m);
		assert_int_equal(span(m, 20, 59), 39 * (simple ? 4 : 5));
		machine_free(m);
	}
}

/* Store to load through the queue, the data known late: forward.latency after it. */
static void t310_forward(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	run_insn(m, make_alu(m, R1, 0, 0, 20, ALU));
	run_access(m, make_store(m, R2, R1), 0x10000, 8);
	run_access(m, make_load(m, R3, R2), 0x10000, 8);
	machine_time(m);
	/* data at 24, store data uop 24, known 25, + 5 */
	assert_int_equal(committed(m, 2)->complete, 30);
	assert_int_equal(timed_data_level(committed(m, 2)), LEVEL_FORWARD);
	assert_int_equal(committed(m, 2)->psv, 0);
	machine_free(m);
}

/* The data known long since: no sooner than from L1D. A vector register, and fewer bytes than were stored, take longer. */
static void t312_forward_kinds(void **state)
{
	static const struct { uint32_t flags; uint16_t bytes; uint8_t late, complete; } kind[] = {
		{ 0, 8, 1, 4 + 5 }, { 0, 8, 20, 25 + 3 }, { INSN_VECTOR_MEM, 8, 20, 25 + 3 + 1 }, { 0, 4, 20, 25 + 3 + 2 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.forward_latency = 3;
		m->desc.forward_vector = 1;
		m->desc.forward_narrow = 2;
		m->desc.memdep_entries = 0;
		run_insn(m, make_alu(m, R1, 0, 0, kind[k].late, ALU));
		run_access(m, make_store(m, R2, kind[k].late > 1 ? R1 : R2), 0x10000, 8);
		uint32_t load = make_load(m, R3, R2);
		m->insn[load].flags |= kind[k].flags;
		run_access(m, load, 0x10000, kind[k].bytes);
		machine_time(m);
		assert_int_equal(committed(m, 2)->complete, kind[k].complete);
		machine_free(m);
	}
}

/* Independent loads, two a cycle; over a line, each takes a second access; over a page, one in so many cycles starts anew. */
static void t313_split_loads(void **state)
{
	static const struct { uint64_t offset; uint64_t cycles; } kind[] = { { 0, 50 }, { 60, 100 }, { 4092, 400 } };

	for (unsigned k = 0; k < 3; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = m->desc.ideal.l1i = true;
		m->desc.load_queue_restart = 4;
		m->desc.load_queue_entries = 64;
		for (unsigned i = 0; i < 140; i++)
			run_access(m, make_load(m, R3, R2), 0x10000 + kind[k].offset, 8);
		machine_time(m);
		assert_int_equal(span(m, 38, 138), kind[k].cycles);
		machine_free(m);
	}
}

/* A vector load over a line takes two cycles of what loads of vectors pass besides, which the first access has as a uop. */
static void t315_split_vector_loads(void **state)
{
	static const struct { uint64_t offset; uint32_t flags; uint64_t cycles; } kind[] = {
		{ 0, INSN_VECTOR_MEM, 50 }, { 60, INSN_VECTOR_MEM, 200 }, { 60, 0, 100 },
	};

	for (unsigned k = 0; k < 3; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = m->desc.ideal.l1i = true;
		m->desc.load_queue_entries = 64;
		m->desc.split_vector_ports = ALU0;
		uint32_t load = make_load(m, R3, R2);
		m->insn[load].flags |= kind[k].flags;
		for (unsigned i = 0; i < 140; i++) {
			run_access(m, load, 0x10000 + kind[k].offset, 8);
			if (k == 1)
				run_insn(m, make_alu(m, R1, 0, 0, 1, ALU0));
		}
		machine_time(m);
		assert_int_equal(k == 1 ? span(m, 76, 276) : span(m, 38, 138), kind[k].cycles);
		machine_free(m);
	}
}

/* A load with a long address starts a cycle later than another: a cycle more a link of a chain. */
static void t316_long_addresses(void **state)
{
	for (unsigned extra = 0; extra < 2; extra++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = m->desc.ideal.l1i = true;
		uint32_t load = make_load(m, R2, R2);
		m->insn[load].address_extra = extra & 1u;
		for (unsigned i = 0; i < 140; i++)
			run_access(m, load, 0x10000, 8);
		machine_time(m);
		assert_int_equal(span(m, 38, 138), 100 * (m->desc.l1d_latency + (int)extra));
		machine_free(m);
	}
}

/* A load behind a store 4 KiB away: 3 cycles more, and of several one in 4. */
static void t314_alias(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	m->desc.alias4k_penalty = 3;
	m->desc.load_queue_restart = 4;
	run_access(m, make_store(m, R2, R2), 0x10000, 8);
	for (unsigned i = 0; i < 3; i++)
		run_access(m, make_load(m, R3, R2), 0x11000, 8);
	machine_time(m);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(committed(m, 1 + i)->complete, 4 + 4 * i + 3 + 5);
	machine_free(m);
}

/* Partly covered: the load waits for the store to be written, and the penalty. */
static void t311_partial(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	uint32_t store = make_store(m, R2, R1), read = make_load(m, R3, R2);
	run_access(m, store, 0x10004, 4);
	run_access(m, read, 0x10000, 8);
	machine_time(m);
	uint64_t freed = committed(m, 0)->fetch + committed(m, 0)->drain;
	assert_int_equal(committed(m, 1)->complete + committed(m, 1)->fetch, freed + 12 + 5);
	machine_free(m);
}

/* The store's address comes late, the load runs before it: squashed, fetched again, FL-MO; next time it waits. */
static void t320_violation(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	uint32_t slow = make_alu(m, R2, R2, 0, 20, ALU), store = make_store(m, R2, R1), read = make_load(m, R3, R4), tail = make_flagged(m, INSN_NOP);
	uint32_t back = make_branch(m, BRANCH_JUMP, 0x1000);
	for (int i = 0; i < 2; i++) {
		run_insn(m, slow);
		run_access(m, store, 0x10000, 8);
		run_access(m, read, 0x10000, 8);
		run_insn(m, tail);
		run_taken(m, back);
	}
	machine_time(m);
	size_t squashed = 0, flushers = 0;
	for (size_t i = 0; i < m->nr_timed; i++) {
		squashed += m->timed[i].flags & TIMED_SQUASHED ? 1 : 0;
		if (m->timed[i].flags & TIMED_SQUASHED && m->timed[i].flags & TIMED_FLUSHER) {
			flushers++;
			/* store address known at 4 + 20 */
			assert_int_equal(timed_leave(&m->timed[i]), 24);
			assert_int_equal(m->timed[i].insn, read);
			assert_int_equal(m->timed[i].psv, PSV_FL_MO);
		}
	}
	assert_int_equal(flushers, 1);
	assert_true(squashed > 3);
	assert_int_equal(committed(m, 2)->psv, PSV_FL_MO);
	assert_int_equal(committed(m, 2)->fetch, 24 + 20);
	assert_int_equal(committed(m, 7)->psv, 0);
	assert_int_equal(timed_issue_wait(committed(m, 7)), WAIT_MEMORY_ORDER);
	machine_free(m);
}

/* Eight store entries: the ninth store waits for the first to be written; DR-SQ. */
static void t330_store_queue(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU));
	uint32_t store = make_store(m, R2, R1);
	for (int i = 0; i < 12; i++)
		run_access(m, store, 0x10000 + 64 * (uint64_t)i, 8);
	machine_time(m);
	assert_int_equal(committed(m, 8)->psv & PSV_DR_SQ, 0);
	assert_int_equal(committed(m, 9)->psv & PSV_DR_SQ, PSV_DR_SQ);
	assert_int_equal(timed_dispatch(committed(m, 9)), committed(m, 1)->fetch + committed(m, 1)->drain);
	assert_int_equal(timed_dispatch_wait(committed(m, 9)), WAIT_STORE_QUEUE);
	machine_free(m);
}

/* Stores drain one a cycle in order, or drain_width of them; one over a line is two writes. */
static void t331_drain(void **state)
{
	static const struct { int32_t width; uint64_t addr, cycles; } kind[] = {
		{ 1, 0x10000, 20 }, { 1, 0x1003c, 40 }, { 2, 0x1003c, 20 },
	};

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.store_queue_drain_width = kind[k].width;
		m->desc.split_line_store = 0;
		m->desc.store_queue_entries = 8;
		uint32_t store = make_store(m, R2, R1);
		for (int i = 0; i < 60; i++)
			run_access(m, store, kind[k].addr, 8);
		machine_time(m);
		assert_int_equal(committed(m, 50)->drain + committed(m, 50)->fetch - committed(m, 30)->drain - committed(m, 30)->fetch, kind[k].cycles);
		machine_free(m);
	}
}

/* A first load from memory, then its line. */
static void t340_miss(void **state)
{
	struct machine *m = machine_new();
	uint32_t read = make_load(m, R1, R2);
	run_access(m, read, 0x10000, 8);
	uint32_t use = make_alu(m, R3, R1, 0, 1, ALU);
	run_insn(m, use);
	for (int i = 0; i < 64; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	run_access(m, make_load(m, R4, R1), 0x10008, 8);
	machine_time(m);
	assert_int_equal(committed(m, 0)->psv, PSV_ST_L1 | PSV_ST_LLC);
	assert_int_equal(timed_data_level(committed(m, 0)), LEVEL_MEMORY);
	assert_int_equal(committed(m, 1)->issue, committed(m, 0)->complete);
	assert_int_equal(committed(m, 66)->psv, 0);
	assert_int_equal(timed_data_level(committed(m, 66)), LEVEL_L1);
	machine_free(m);
}

/* Commit four a cycle. */
static void t400_commit_width(void **state)
{
	struct machine *m = machine_new();
	m->desc.commit_width = 2;
	run_insn(m, make_alu(m, R1, 0, 0, 50, ALU));
	for (int i = 0; i < 40; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	assert_int_equal(commit_of(m, 0), 55);
	for (size_t i = 1; i <= 40; i++)
		assert_int_equal(commit_of(m, i), 55 + (i) / 2);
	machine_free(m);
}

/* A branch never seen, taken: fetch goes on one cycle after it is resolved; what was fetched behind it is WRONG. */
static void t410_mispredict(void **state)
{
	struct machine *m = machine_new();
	uint32_t slow = make_alu(m, R1, 0, 0, 30, ALU), jump = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 40);
	m->insn[jump].data[m->insn[jump].nr_data++] = R1;
	uint32_t code[60];
	for (int i = 0; i < 60; i++)
		code[i] = make_flagged(m, INSN_NOP);
	run_insn(m, slow);
	run_taken(m, jump);
	run_insn(m, code[38]);
	machine_time(m);
	uint64_t resolved = 4 + 30 + 1;
	const struct timed *b = committed(m, 1), *t = committed(m, 2);
	assert_int_equal(b->psv, PSV_FL_MB);
	assert_int_equal(b->complete, resolved);
	assert_int_equal(b->flags & (TIMED_MISPREDICT | TIMED_FLUSHER), TIMED_MISPREDICT | TIMED_FLUSHER);
	assert_int_equal(t->fetch, resolved + 1);
	size_t wrong = 0;
	for (size_t i = 0; i < m->nr_timed; i++) {
		if (!(m->timed[i].flags & TIMED_WRONG))
			continue;
		wrong++;
		assert_int_equal(timed_leave(&m->timed[i]), resolved);
	}
	assert_int_equal(wrong, 59);                   /* the known code ends there, and its last one is not certain: 15 blocks in 35 cycles */
	machine_free(m);
}

/* A serialising instruction dispatches after all older have committed, and holds the younger until it has. */
static void t420_serialise(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 30, ALU));
	run_insn(m, make_flagged(m, INSN_SERIALIZE));
	run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	assert_int_equal(commit_of(m, 0), 35);
	assert_int_equal(timed_dispatch(committed(m, 1)), 36);
	assert_int_equal(commit_of(m, 1), 37);
	assert_int_equal(committed(m, 1)->psv, PSV_FL_EX);
	assert_int_equal(timed_dispatch(committed(m, 2)), 38);
	machine_free(m);
}

/* A system call: its fixed cost, then fetch. */
static void t421_syscall(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_flagged(m, INSN_SYSCALL));
	run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	assert_int_equal(committed(m, 1)->fetch, commit_of(m, 0) + 100);
	assert_int_equal(committed(m, 0)->psv, PSV_FL_EX);
	machine_free(m);
}

/* A fault: the attempt is squashed at what would be its commit, and the handler is fetched after it. */
static void t422_fault(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 1, ALU));
	m->step[0].flags |= STEP_FAULT;
	run_insn(m, make_flagged(m, INSN_NOP));
	m->step[1].flags |= STEP_ENTER;
	machine_time(m);
	assert_int_equal(m->timed[0].flags & (TIMED_SQUASHED | TIMED_FLUSHER), TIMED_SQUASHED | TIMED_FLUSHER);
	assert_int_equal(m->timed[0].psv, PSV_FL_EX);
	assert_int_equal(timed_leave(&m->timed[0]), 6);
	assert_int_equal(committed(m, 0)->fetch, 6 + 50);
	machine_free(m);
}

/* rep movs of 4 KiB: 64 pieces of a line, 2 cycles each at 32 bytes a cycle. */
static void t430_repeat(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	m->desc.store_queue_entries = 64;
	uint32_t i = make_flagged(m, INSN_REP | INSN_LOAD | INSN_STORE);
	run_access(m, i, 0x10000, 4096);
	m->step[0].flags = (uint16_t)(STEP_INSN | STEP_LOAD | STEP_COUNTED);
	m->step[m->nr_steps++] = (struct step){ .addr = 0x20000, .bytes = 4096, .flags = STEP_ACCESS | STEP_STORE };
	m->step[m->nr_steps++] = (struct step){ .addr = 4096, .flags = STEP_REPEAT };
	run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	assert_int_equal(m->nr_timed, 64 + 1);
	for (size_t k = 0; k < 64; k++)
		assert_int_equal(!!(m->timed[k].flags & TIMED_CONTINUED), k > 0);
	assert_int_equal(span(m, 1, 63), 62 * 2);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_stages), cmocka_unit_test(t101_fetch_width), cmocka_unit_test(t102_fetch_bytes),
		cmocka_unit_test(t110_taken_bubble), cmocka_unit_test(t111_loop_buffer), cmocka_unit_test(t120_icache_miss),
		cmocka_unit_test(t130_uop_cache),
		cmocka_unit_test(t200_chain), cmocka_unit_test(t201_ports), cmocka_unit_test(t202_out_of_order),
		cmocka_unit_test(t203_unit), cmocka_unit_test(t204_bound_until),
		cmocka_unit_test(t210_scheduler_full), cmocka_unit_test(t211_rob_full),
		cmocka_unit_test(t205_bypass), cmocka_unit_test(t206_waiting), cmocka_unit_test(t207_bound_to_pairs),
		cmocka_unit_test(t212_registers), cmocka_unit_test(t214_registers_of_flags), cmocka_unit_test(t213_slots), cmocka_unit_test(t220_move_elimination), cmocka_unit_test(t221_stack_engine),
		cmocka_unit_test(t222_stack_addresses), cmocka_unit_test(t223_ends_dispatch), cmocka_unit_test(t224_stores_result),
		cmocka_unit_test(t300_load_to_use), cmocka_unit_test(t310_forward), cmocka_unit_test(t311_partial),
		cmocka_unit_test(t312_forward_kinds), cmocka_unit_test(t313_split_loads), cmocka_unit_test(t315_split_vector_loads), cmocka_unit_test(t316_long_addresses), cmocka_unit_test(t314_alias),
		cmocka_unit_test(t320_violation), cmocka_unit_test(t330_store_queue), cmocka_unit_test(t331_drain),
		cmocka_unit_test(t340_miss),
		cmocka_unit_test(t400_commit_width), cmocka_unit_test(t410_mispredict), cmocka_unit_test(t420_serialise),
		cmocka_unit_test(t421_syscall), cmocka_unit_test(t422_fault), cmocka_unit_test(t430_repeat),
	};
	return cmocka_run_group_tests_name("core_ooo", tests, NULL, NULL);
}
