/* The abstract core's ports, units, latencies, reorder buffer and schedulers: exact cycles of hand-made streams. */
#include "core_abstract.h"

static void test_200_port_groups(void **state)
{
	struct machine *m = wide_machine();
	uint32_t only0 = make_alu(m, 0, 0, 0, 1, ALU0), either = make_alu(m, 0, 0, 0, 1, ALU);

	/* Of three uops one can go to port 0 alone, the others to 0 and 1: 3 uops on 2 ports. */
	run_rounds(m, (uint32_t[]){ only0, either, either }, 3, 200);
	time_steps(m, 128);
	assert_int_equal(between(m, 299, 599), 150);
	machine_free(m);
}

static void test_201_one_port_bounds(void **state)
{
	struct machine *m = wide_machine();
	uint32_t only0 = make_alu(m, 0, 0, 0, 1, ALU0), either = make_alu(m, 0, 0, 0, 1, ALU);

	run_rounds(m, (uint32_t[]){ only0, only0, either }, 3, 200);
	time_steps(m, 128);
	assert_int_equal(between(m, 299, 599), 200);
	machine_free(m);
}

static void test_202_latency(void **state)
{
	struct machine *m = wide_machine();
	uint32_t chain = make_alu(m, 1, 1, 0, 5, ALU);

	run_times(m, chain, 100);
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
	run_times(m, divide, 50);
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
	uint32_t slow = make_alu(m, 1, 0, 0, 100, ALU0), waits = make_alu(m, 2, 1, 0, 1, ALU0),
		 free = make_alu(m, 3, 0, 0, 1, ALU1);

	/* One entry is held for 100 cycles, three let the others by, one a cycle: they do not wait in its order. */
	m->desc.sched0_entries = 4;
	m->desc.sched0_ports = ALU;
	run_insn(m, slow);
	run_insn(m, waits);
	run_times(m, free, 60);
	time_steps(m, 1000);
	assert_true(timed_dispatch(committed(m, 61)) < timed_dispatch(committed(m, 0)) + 70);
	assert_true(timed_dispatch(committed(m, 61)) > timed_dispatch(committed(m, 0)) + 40);
	machine_free(m);
}

/* A load that could issue at once takes the one entry until it has, or some cycles longer. */
static void test_214_loads_hold_entries(void **state)
{
	for (int32_t held = 0; held <= 5; held += 5) {
		struct machine *m = wide_machine();
		uint32_t load = make_load(m, 1, 0);

		m->desc.sched0_entries = 1;
		m->desc.sched0_ports = MEM;
		m->desc.load_queue_holds_entry = held;
		for (int i = 0; i < 50; i++)
			run_access(m, load, 0x10000, 8);
		time_steps(m, 1000);
		assert_int_equal(timed_dispatch(committed(m, 40)) - timed_dispatch(committed(m, 20)), 20 * (2 + held));
		machine_free(m);
	}
}

static void test_206_eliminated_move(void **state)
{
	struct machine *m = wide_machine();
	uint32_t chain = make_alu(m, 1, 2, 0, 3, ALU), move = make_alu(m, 2, 1, 0, 1, ALU);

	m->insn[move].flags = INSN_MOVE;
	m->desc.rename_move_slots = 4;
	run_rounds(m, (uint32_t[]){ chain, move }, 2, 50);
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
	run_times(m, wait, 20);
	time_steps(m, 1000);
	while (n < 21 && timed_dispatch_wait(committed(m, n)) != WAIT_SCHEDULER)
		n++;
	assert_int_equal(timed_dispatch(committed(m, n - 1)) - timed_dispatch(committed(m, 0)), (n - 1) / 4);
	return n - 1;
}

static void test_207_several_schedulers(void **state)
{
	struct machine *m = wide_machine();
	uint32_t slow = make_alu(m, 1, 0, 0, 100, MEM0), first = make_alu(m, 2, 1, 0, 1, ALU0),
		 both = make_alu(m, 2, 1, 0, 1, ALU);

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

/*
 * An instruction whose parts want more entries than there are holds the scheduler alone, and does not wait for
 * itself.
 */
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
	/*
	 * Each comes in when the addition of the one before has issued and its entry is given back: a load and a cycle
	 * of each.
	 */
	assert_int_equal(timed_dispatch_wait(committed(m, 1)), WAIT_SCHEDULER);
	assert_int_equal(between(m, 0, 49), 49 * ((uint64_t)m->desc.l1d_latency + 2));
	machine_free(m);
}

/*
 * Of two schedulers, too, one with more uops than entries gives back what it took: a chain goes on as if it had not
 * been.
 */
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
	run_times(m, many, 8);
	run_times(m, chain, 50);
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
	uint32_t add = make_alu(m, 70, 70, 0, 2, ALU), multiply = make_alu(m, 70, 70, 0, 4, ALU),
		 shuffle = make_alu(m, 70, 70, 0, 1, ALU);

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

/*
 * A push, then the stack pointer is read: by an uop in front of it, with a slot of its own; not once it has been added,
 * nor where nothing is followed.
 */
static void test_215_stack_engine(void **state)
{
	uint64_t alone = 0;

	for (unsigned follows = 0; follows <= 1; follows++) {
		struct machine *m = wide_machine();
		m->desc.rename_width = 16;
		m->desc.rename_stack_ports = follows ? ALU : 0;
		uint32_t push = make_store(m, BASE, 1), read = make_alu(m, 3, BASE, 0, 1, ALU),
			 compute = make_alu(m, 4, BASE, 0, 1, ALU);
		m->insn[push].stack = STACK_MOVES;
		m->insn[read].stack = m->insn[compute].stack = STACK_READS;
		run_access(m, push, 0x10000, 8);
		run_insn(m, read);
		run_insn(m, compute);
		time_steps(m, 100);
		const struct timed *reads = committed(m, 1), *computes = committed(m, 2);
		alone = follows ? alone : reads->issue;
		assert_int_equal(reads->slots, 1 + follows);
		assert_int_equal(computes->slots, 1);
		assert_int_equal(reads->issue, alone + follows);
		assert_int_equal(computes->issue, alone + follows);
		machine_free(m);
	}
}

/* Of six a cycle, three may access memory: as on the detailed core. */
static void test_220_memory(void **state)
{
	static const struct { int32_t most; unsigned loads, fillers; uint64_t cycles; } kind[] = {
		{ 0, 5, 4, 45 }, { 3, 5, 4, 60 }, { 3, 3, 3, 30 }, { 3, 6, 6, 60 }, { 3, 4, 2, 40 }, { 1, 2, 4, 60 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = wide_machine();
		uint32_t load = make_load(m, 1, 2), nop = make_flagged(m, INSN_NOP);
		unsigned nr = kind[k].loads + kind[k].fillers;
		m->desc.rename_width = 6;
		m->desc.rename_memory = kind[k].most;
		m->desc.sched0_entries = m->desc.sched1_entries = m->desc.load_queue_entries = m->desc.rob_entries =
			400;
		for (unsigned i = 0; i < 60 * nr; i++) {
			if (i % nr < kind[k].loads)
				run_access(m, load, 0x8000, 8);
			else
				run_insn(m, nop);
		}
		time_steps(m, 1000);
		assert_int_equal(timed_dispatch(committed(m, 40 * nr)) - timed_dispatch(committed(m, 10 * nr)),
		                 kind[k].cycles);
		machine_free(m);
	}
}

/*
 * Each uop goes to the port next in turn, or to the first behind it that it can use: the order decides how well four
 * ports are used.
 */
static void test_216_bound_in_turn(void **state)
{
	static const struct { uint16_t turn; bool narrow[4]; uint64_t cycles; } kind[] = {
		{ 0, { true, true, false, false }, 32 }, { ALU | MEM, { true, false, true, false }, 32 },
		/* Of eight, port 0 gets three, and so does port 2. */
		{ ALU | MEM, { true, true, false, false }, 48 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = wide_machine();
		uint32_t narrow = make_alu(m, 1, 0, 0, 1, ALU0 | MEM0), any = make_alu(m, 1, 0, 0, 1, ALU | MEM);
		machine_bind(m, BIND_TURN, kind[k].turn);
		for (unsigned i = 0; i < 200; i++)
			run_insn(m, kind[k].narrow[i % 4] ? narrow : any);
		time_steps(m, 64);
		assert_int_equal(between(m, 63, 191), kind[k].cycles);
		machine_free(m);
	}
}

/* Pairs ALU0 and MEM0, ALU1 and MEM1: each uop goes where the generator says, though the other port be idle. */
static void test_217_bound_to_pairs(void **state)
{
	enum { UOPS = 64 };
	struct machine *m = wide_machine();
	uint32_t alu = make_alu(m, 1, 0, 0, 1, ALU), nop = make_flagged(m, INSN_NOP);

	machine_bind(m, BIND_PAIR, ALU | MEM);
	run_rounds(m, (uint32_t[]){ alu, nop }, 2, UOPS);
	time_steps(m, 16);
	assert_bound_to_pairs(m, UOPS);
	machine_free(m);
}

/*
 * A producer has to wait a cycle for its port. What waits for it is woken as if it had not to, and takes the other
 * port of its pair, which those behind would have had; not where the result takes longer than a cycle, nor where
 * nothing is bound to pairs.
 */
static void test_218_replays(void **state)
{
	static const struct {
		uint16_t pairs;
		uint8_t latency;
		uint64_t behind[2];
	} kind[] = { { ALU, 1, { 3, 4 } }, { ALU, 3, { 1, 2 } }, { 0, 1, { 1, 2 } } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = wide_machine();
		m->desc.rename_width = 16;
		machine_bind(m, BIND_PAIR, kind[k].pairs);
		run_insn(m, make_alu(m, 1, 0, 0, 1, ALU0));
		run_insn(m, make_alu(m, 2, 0, 0, kind[k].latency, ALU0));
		run_insn(m, make_alu(m, 3, 2, 0, 1, ALU1));
		run_times(m, make_alu(m, 4, 0, 0, 1, ALU1), 2);
		time_steps(m, 16);
		uint64_t start = committed(m, 0)->issue;
		assert_int_equal(committed(m, 1)->issue, start + 1);
		assert_int_equal(committed(m, 2)->issue, start + 1 + kind[k].latency);
		assert_int_equal(committed(m, 3)->issue, start + kind[k].behind[0]);
		assert_int_equal(committed(m, 4)->issue, start + kind[k].behind[1]);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_200_port_groups),
		cmocka_unit_test(test_201_one_port_bounds),
		cmocka_unit_test(test_202_latency),
		cmocka_unit_test(test_203_unit),
		cmocka_unit_test(test_204_rob),
		cmocka_unit_test(test_205_scheduler_out_of_order),
		cmocka_unit_test(test_206_eliminated_move),
		cmocka_unit_test(test_214_loads_hold_entries),
		cmocka_unit_test(test_207_several_schedulers),
		cmocka_unit_test(test_208_more_uops_than_entries),
		cmocka_unit_test(test_210_more_uops_than_all_entries),
		cmocka_unit_test(test_209_forwarding), cmocka_unit_test(test_215_stack_engine),
		cmocka_unit_test(test_220_memory), cmocka_unit_test(test_216_bound_in_turn),
		cmocka_unit_test(test_217_bound_to_pairs), cmocka_unit_test(test_218_replays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
