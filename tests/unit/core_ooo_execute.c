/*
 * Exact cycles of the detailed core on hand-made streams, 200: rename, schedulers, ports and units.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

/* Dependent: one a cycle. Their latency 3: three cycles each. */
static void t200_chain(void **state)
{
	for (uint8_t latency = 1; latency <= 3; latency++) {
		struct machine *m = machine_new();
		uint32_t i = make_alu(m, R1, R1, 0, latency, ALU);
		run_times(m, i, 200);
		machine_time(m);
		assert_int_equal(between(m, 100, 199), 99 * latency);
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
		assert_int_equal(between(m, 200, 398), 198 / ports);
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
	run_times(m, i, 50);
	machine_time(m);
	assert_int_equal(between(m, 10, 49), 39 * 6);
	machine_free(m);
}

/*
 * A unit of 6 cycles between two operations of a chain of 10 is free for 4: one that waits starts there and holds the unit behind
 * the second of the chain for the other 2, which the next that waits feels.
 */
static void t208_unit_between(void **state)
{
	struct machine *m = machine_new();
	uint32_t chain = make_alu(m, R1, R1, 0, 10, ALU0), other = make_alu(m, R2, 0, 0, 10, ALU0);
	m->uop[0].unit = m->uop[1].unit = 1;
	m->uop[0].busy = m->uop[1].busy = 6;
	run_times(m, chain, 2);
	run_times(m, other, 2);
	machine_time(m);
	uint64_t start = committed(m, 0)->issue;
	assert_int_equal(committed(m, 1)->issue, start + 10);
	assert_int_equal(committed(m, 2)->issue, start + 6);
	assert_int_equal(committed(m, 3)->issue, start + 18);
	assert_int_equal(timed_issue_wait(committed(m, 3)), WAIT_UNIT);
	machine_free(m);
}

/* A bound uop counts for its port until two cycles after it issued: two slots after two idle ones, another takes the other port. */
static void t204_bound_until(void **state)
{
	struct machine *m = machine_new();
	machine_bind(m, BIND_COUNT, ALU);
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

/* A queue of 8 in front of a scheduler of 16; a long operation, which what comes behind it waits for. */
static struct machine *machine_with_queue(void)
{
	struct machine *m = machine_new();
	m->desc.waiting_entries = 8;
	m->desc.waiting_ports = ALU0;
	m->desc.sched0_ports = ALU | MEM0;
	m->desc.sched1_ports = MEM1 | STD;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	return m;
}

/*
 * Behind the 16 in the scheduler, the 17th to the 24th wait in the queue, and the 25th is held up. What is ready in the queue
 * does not issue before it is in the scheduler: two leave that in 105, so the 20th enters in 106.
 */
static void t206_waiting(void **state)
{
	struct machine *m = machine_with_queue();
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

/*
 * Two schedulers behind the queue, of two entries each: uops for ports of both go to that of the port that fewer wait for; to the other
 * where one is full of what waits for a long operation; and wait behind what finds its own full.
 */
static void t226_schedulers_behind_queue(void **state)
{
	static const uint64_t issue[4][2] = { { 4, 4 }, { 4, 4 }, { 4, 5 }, { 106, 107 } };

	for (unsigned held = 0; held <= 3; held++) {
		struct machine *m = machine_new();
		m->desc.waiting_entries = 8;
		m->desc.waiting_ports = ALU;
		m->desc.sched0_entries = m->desc.sched1_entries = 2;
		m->desc.sched0_ports = ALU0;
		m->desc.sched1_ports = ALU1;
		run_insn(m, make_alu(m, R1, 0, 0, 100, MEM0));
		run_times(m, make_alu(m, R2, R1, 0, 1, ALU0), held);
		run_times(m, make_alu(m, R3, 0, 0, 1, ALU), 2);
		machine_time(m);
		for (unsigned i = 0; i < 2; i++) {
			const struct timed *t = committed(m, held + 1 + i);
			assert_int_equal(t->fetch + t->issue, issue[held][i]);
		}
		machine_free(m);
	}
}

/* Three wait for ALU0, in a scheduler with room: what could take either port is bound to ALU1, though ALU0 is idle. */
static void t227_bound_behind_queue(void **state)
{
	struct machine *m = machine_with_queue();

	run_times(m, make_alu(m, R2, R1, 0, 1, ALU0), 3);
	run_times(m, make_alu(m, R3, 0, 0, 1, ALU), 3);
	machine_time(m);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(committed(m, 4 + i)->fetch + committed(m, 4 + i)->issue, 5 + i);
	machine_free(m);
}

/* A port that two schedulers of one entry each feed: two uops wait for it, and behind them one of another port, until the first has left. */
static void t228_port_of_two_schedulers(void **state)
{
	struct machine *m = machine_new();

	m->desc.waiting_entries = 8;
	m->desc.waiting_ports = ALU;
	m->desc.sched0_entries = m->desc.sched1_entries = 1;
	m->desc.sched0_ports = m->desc.sched1_ports = ALU;
	run_insn(m, make_alu(m, R1, 0, 0, 100, MEM0));
	run_times(m, make_alu(m, R2, R1, 0, 1, ALU0), 2);
	run_insn(m, make_alu(m, R3, 0, 0, 1, ALU1));
	machine_time(m);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(committed(m, 1 + i)->fetch + committed(m, 1 + i)->issue, 104 + i);
	machine_free(m);
}

/* Of two cycles, those that came through the queue take both, as the 17th to the 24th do, and the others one; one of one cycle takes that. */
static void t225_queued_latency(void **state)
{
	for (unsigned latency = 1; latency <= 2; latency++) {
		struct machine *m = machine_with_queue();
		uint32_t dependent = make_alu(m, R2, R1, 0, (uint8_t)latency, ALU);
		m->insn[dependent].queued = 1;
		for (unsigned i = 1; i <= 24; i++)
			run_insn(m, dependent);
		machine_time(m);
		for (size_t i = 1; i <= 24; i++)
			assert_int_equal(committed(m, i)->complete - committed(m, i)->issue, i <= 16 ? 1 : latency);
		machine_free(m);
	}
}

/* Pairs ALU0 and MEM0, ALU1 and MEM1: each uop goes where the generator says, though the other port be idle. */
static void t207_bound_to_pairs(void **state)
{
	enum { UOPS = 64 };
	struct machine *m = machine_new();

	machine_bind(m, BIND_PAIR, ALU | MEM);
	for (unsigned i = 0; i < UOPS; i++) {
		run_insn(m, make_alu(m, R1, 0, 0, 1, ALU));
		run_insn(m, make_alu(m, R2, 0, 0, 1, STD));   /* in no pair: draws nothing */
	}
	machine_time(m);
	assert_bound_to_pairs(m, UOPS);
	machine_free(m);
}

/* Each uop goes to the port next in turn, or to the first behind it that it can use: two that can use every other of four skip one. */
static void t209_bound_in_turn(void **state)
{
	enum { UOPS = 64, NR_PORTS = 4 };
	static const struct { const char *name; bool narrow[4]; uint8_t port[4]; } orders[] = {
		{ "two neighbours", { true, true, false, false }, { 0, 2, 3, 0 } },
		{ "one of two", { true, false, true, false }, { 0, 1, 2, 3 } },
	};

	for (unsigned k = 0; k < sizeof orders / sizeof *orders; k++) {
		struct machine *m = machine_new();
		uint64_t free[NR_PORTS] = { 0 };

		machine_bind(m, BIND_TURN, ALU | MEM);
		for (unsigned i = 0; i < UOPS; i++)
			run_insn(m, make_alu(m, R1, 0, 0, 1, orders[k].narrow[i % 4] ? ALU0 | MEM0 : ALU | MEM));
		machine_time(m);
		for (unsigned i = 0, next = 0; i < UOPS; i++) {
			const struct timed *t = committed(m, i);
			unsigned port = orders[k].narrow[i % 4] ? (next + 1) / 2 * 2 % NR_PORTS : next;
			uint64_t ready = timed_dispatch(t) + 1, issue = ready > free[port] ? ready : free[port];

			if (i < 4)
				assert_int_equal(port, orders[k].port[i]);
			assert_int_equal(t->fetch + t->issue, issue);
			free[port] = issue + 1;
			next = (port + 1) % NR_PORTS;
		}
		machine_free(m);
	}
}

/* 16 scheduler entries behind a long operation: the 17th dependent waits for one to issue. */
static void t210_scheduler_full(void **state)
{
	struct machine *m = machine_new();
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	uint32_t dependent = make_alu(m, R2, R1, 0, 1, ALU);
	run_times(m, dependent, 20);
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
 * A producer has to wait a cycle for its port. What waits for it is woken as if it had not to, and takes the other
 * port of its pair, which the youngest would have had; not where the result takes longer than a cycle, nor where
 * nothing is bound to pairs.
 */
static void t216_replays(void **state)
{
	static const struct { uint16_t pairs; uint8_t latency; uint64_t youngest; } kind[] = {
		{ ALU, 1, 3 }, { ALU, 3, 1 }, { 0, 1, 1 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		machine_bind(m, BIND_PAIR, kind[k].pairs);
		uint32_t producer = make_alu(m, R2, 0, 0, kind[k].latency, ALU0);
		uint32_t consumer = make_alu(m, R3, R2, 0, 1, ALU1);
		run_insn(m, make_alu(m, R1, 0, 0, 1, ALU0));
		run_insn(m, producer);
		run_insn(m, consumer);
		run_times(m, make_alu(m, R4, 0, 0, 1, ALU1), 2);
		machine_time(m);
		uint64_t start = committed(m, 0)->issue;
		assert_int_equal(committed(m, 1)->issue, start + 1);
		assert_int_equal(committed(m, 2)->issue, start + 1 + kind[k].latency);
		assert_int_equal(committed(m, 3)->issue, start);
		assert_int_equal(committed(m, 4)->issue + committed(m, 4)->fetch - committed(m, 0)->fetch,
		                 start + kind[k].youngest);
		machine_free(m);
	}
}

/* Four entries for loads, all of which issue at once: the fifth waits until the first gives its own back, a cycle after issue or later. */
static void t217_loads_hold_entries(void **state)
{
	for (int32_t held = 0; held <= 5; held += 5) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.sched1_entries = 4;
		m->desc.load_queue_holds_entry = held;
		for (int i = 0; i < 8; i++)
			run_access(m, make_load(m, R3, R2), 0x10000, 8);
		machine_time(m);
		assert_int_equal(timed_dispatch(committed(m, 4)), committed(m, 0)->issue + 1 + (unsigned)held);
		assert_int_equal(timed_dispatch_wait(committed(m, 4)), WAIT_SCHEDULER);
		machine_free(m);
	}
}

/* A load whose data comes in through ALU1, addressed through MEM0 or MEM1. */
static uint32_t make_load_through(struct machine *m)
{
	uint32_t i = make_load(m, R3, R2);
	struct insn *in = &m->insn[i];

	m->uop[m->nr_uops++] = (struct uop){ .ports = ALU1, .kind = UOP_COMPUTE, .latency = 1 };
	in->nr_uops++;
	in->latency = in->dst_latency[0] = 1;
	return i;
}

/*
 * Two loads whose data comes in through the same port, and two others, addressed through two ports in turn: the second asks for its own in
 * vain, so that the last, which is bound to it as well, is a cycle later; not where nothing says that the port brings data in.
 */
static void t218_loads_in_vain(void **state)
{
	for (int32_t data = 0; data <= ALU1; data += ALU1) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		machine_bind(m, BIND_TURN, MEM);
		m->desc.load_queue_data_ports = data;
		for (int i = 0; i < 4; i++)
			run_access(m, i < 2 ? make_load_through(m) : make_load(m, R3, R2), 0x10000, 8);
		machine_time(m);
		uint64_t start = committed(m, 0)->issue;
		assert_int_equal(committed(m, 1)->issue, start + !!data);
		assert_int_equal(committed(m, 2)->issue, start + 1);
		assert_int_equal(committed(m, 3)->issue, start + 1 + !!data);
		assert_int_equal(committed(m, 1)->complete, committed(m, 0)->complete + 1);
		machine_free(m);
	}
}

/* What brings data in waits for no other operand: the port is taken when the load issues, and what another load brings may come by later. */
static void t219_data_comes_first(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	m->desc.load_queue_data_ports = ALU1;
	run_insn(m, make_alu(m, R1, 0, 0, 50, ALU0));
	uint32_t adds = make_load_through(m);
	m->insn[adds].data[m->insn[adds].nr_data++] = R1;
	run_access(m, adds, 0x10000, 8);
	run_times(m, make_alu(m, R4, R1, 0, 1, ALU1), 2);
	machine_time(m);
	const struct timed *waits = committed(m, 1), *first = committed(m, 2);
	assert_int_equal(waits->issue, committed(m, 0)->issue);
	assert_int_equal(waits->complete, committed(m, 0)->issue + 50 + 1);
	assert_int_equal(first->issue, committed(m, 0)->issue + 50);
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

/* Registers for eight results: zeros and eliminated moves between them take none; moves that are not eliminated do. */
static void t215_registers_shared(void **state)
{
	static const struct { uint32_t flags; int32_t move_slots; unsigned first; } kind[] = {
		{ INSN_ZERO, 0, 16 }, { INSN_MOVE, 64, 16 }, { INSN_MOVE, 0, 8 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.prf_integer = 40;
		m->desc.rename_move_slots = kind[k].move_slots;
		uint32_t slow = make_alu(m, R1, 0, 0, 100, ALU0), free = make_alu(m, R3, R4, 0, 1, ALU1), alu = make_alu(m, R2, 0, 0, 1, ALU1);
		m->insn[free].flags = kind[k].flags;
		run_insn(m, slow);
		for (int i = 0; i < 20; i++) {
			run_insn(m, free);
			run_insn(m, alu);
		}
		machine_time(m);
		unsigned first = kind[k].first;
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
	assert_int_equal(between(m, 10, 49), 39);
	machine_free(m);
}

/* Flags alone take a register of the integer bank; beside a result they take none more. */
static void t214_registers_of_flags(void **state)
{
	struct machine *m = machine_new();
	m->desc.prf_integer = 40;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU0));
	for (int i = 0; i < 20; i++) {
		run_insn(m, make_alu(m, REG_FLAGS, 0, 0, 1, ALU1));
		run_insn(m, make_alu(m, R2, 0, 0, 1, ALU1));
	}
	machine_time(m);
	assert_true(timed_dispatch(committed(m, 7)) < 20);
	assert_int_equal(timed_dispatch(committed(m, 8)), commit_of(m, 0) + 1);
	assert_int_equal(timed_dispatch_wait(committed(m, 8)), WAIT_REGISTERS);
	machine_free(m);
}

/* Eliminated moves take no cycle of the chain. */
static void t220_move_elimination(void **state)
{
	struct machine *m = machine_new();
	m->desc.rename_move_slots = 8;
	uint32_t add = make_alu(m, R1, R2, 0, 1, ALU), move = make_alu(m, R2, R1, 0, 1, ALU);
	m->insn[move].flags = INSN_MOVE;
	run_rounds(m, (uint32_t[]){ add, move }, 2, 100);
	machine_time(m);
	assert_int_equal(between(m, 100, 198), 49);
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
		each[direct] = between(m, 20, 30);
		machine_free(m);
	}
	assert_int_equal(each[0], 70);
	assert_int_equal(each[1], 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t200_chain),
		cmocka_unit_test(t201_ports),
		cmocka_unit_test(t202_out_of_order),
		cmocka_unit_test(t203_unit),
		cmocka_unit_test(t204_bound_until),
		cmocka_unit_test(t205_bypass),
		cmocka_unit_test(t206_waiting),
		cmocka_unit_test(t225_queued_latency),
		cmocka_unit_test(t226_schedulers_behind_queue),
		cmocka_unit_test(t227_bound_behind_queue),
		cmocka_unit_test(t228_port_of_two_schedulers),
		cmocka_unit_test(t207_bound_to_pairs),
		cmocka_unit_test(t208_unit_between),
		cmocka_unit_test(t209_bound_in_turn),
		cmocka_unit_test(t210_scheduler_full),
		cmocka_unit_test(t216_replays),
		cmocka_unit_test(t218_loads_in_vain),
		cmocka_unit_test(t219_data_comes_first),
		cmocka_unit_test(t217_loads_hold_entries),
		cmocka_unit_test(t211_rob_full),
		cmocka_unit_test(t212_registers),
		cmocka_unit_test(t213_slots),
		cmocka_unit_test(t215_registers_shared),
		cmocka_unit_test(t214_registers_of_flags),
		cmocka_unit_test(t220_move_elimination),
		cmocka_unit_test(t221_stack_engine),
		
		cmocka_unit_test(t223_ends_dispatch),
		cmocka_unit_test(t224_stores_result),
	};
	return cmocka_run_group_tests_name("core_ooo_execute", tests, NULL, NULL);
}
