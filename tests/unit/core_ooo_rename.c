/*
 * Exact cycles of the detailed core on hand-made streams, 226: how many slots rename dispatches in a cycle, and to
 * which schedulers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/order/bind.h"
#include "machine.h"

/*
 * One of `slots` slots and no uop, and `fillers` nops, over and over: cycles of a hundred of that, from the hundredth
 * on.
 */
static uint64_t cycles_of_slots(int32_t whole, uint8_t slots, unsigned fillers)
{
	struct machine *m = machine_new();
	uint32_t round[16] = { make_flagged(m, INSN_NOP) };

	m->desc.rename_whole = whole;
	m->desc.commit_width = 32;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.fetch_bytes = 64;
	m->insn[round[0]].slots = slots;
	for (unsigned i = 1; i <= fillers; i++)
		round[i] = make_flagged(m, INSN_NOP);
	run_rounds(m, round, 1 + fillers, 300);
	machine_time(m);
	uint64_t cycles = timed_dispatch(committed(m, 200 * (1 + fillers))) -
	                  timed_dispatch(committed(m, 100 * (1 + fillers)));
	machine_free(m);
	return cycles;
}

/* Four slots a cycle. */
static void t226_whole(void **state)
{
	static const struct {
		uint8_t slots;
		unsigned fillers;
		uint64_t whole, filling;
	} kind[] = {
		{ 2, 2, 100, 100 },            /* always fits */
		{ 2, 1, 100, 75 },             /* 2 + 1, and of the next 2 but one would fit */
		{ 2, 5, 200, 175 },            /* 2 + 2, 3: the 4th slot left */
		{ 3, 3, 200, 150 },            /* 3 + 1, 2 */
		{ 6, 1, 200, 175 },            /* from the start: 4, 2 + 1 */
		{ 6, 2, 200, 200 },
		{ 1, 2, 75, 75 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		assert_int_equal(cycles_of_slots(1, kind[k].slots, kind[k].fillers), kind[k].whole);
		assert_int_equal(cycles_of_slots(0, kind[k].slots, kind[k].fillers), kind[k].filling);
	}
}

/* Loads and nops, over and over, of which six fit into a cycle: cycles of thirty rounds, as long as queues take all. */
static uint64_t cycles_of_accesses(int32_t most, unsigned loads, unsigned fillers)
{
	struct machine *m = machine_new();
	uint32_t load = make_load(m, R3, R2), nop = make_flagged(m, INSN_NOP);
	unsigned nr = loads + fillers;

	m->desc.ideal.l1d = true;
	m->desc.rename_width = 6;
	m->desc.rename_memory = most;
	m->desc.commit_width = 32;
	m->desc.fetch_width = m->desc.decode_width = 16;
	m->desc.fetch_bytes = 64;
	m->desc.sched1_entries = m->desc.load_queue_entries = m->desc.rob_entries = 400;
	for (unsigned i = 0; i < 60 * nr; i++) {
		if (i % nr < loads)
			run_access(m, load, 0x10000, 8);
		else
			run_insn(m, nop);
	}
	machine_time(m);
	uint64_t cycles = timed_dispatch(committed(m, 40 * nr)) - timed_dispatch(committed(m, 10 * nr));
	machine_free(m);
	return cycles;
}

/* What accesses memory, three a cycle at most: the next begins a cycle, in which three more fit. */
static void t229_memory(void **state)
{
	static const struct { int32_t most; unsigned loads, fillers; uint64_t cycles; } kind[] = {
		{ 0, 5, 4, 45 }, { 3, 5, 4, 60 },      /* LLL, LLNNNN */
		{ 3, 3, 3, 30 }, { 3, 2, 4, 30 },
		{ 3, 6, 6, 60 },                       /* NNNLLL, LLLNNN */
		{ 3, 4, 2, 40 },                       /* three a cycle */
		{ 1, 1, 5, 30 }, { 1, 2, 4, 60 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++)
		assert_int_equal(cycles_of_accesses(kind[k].most, kind[k].loads, kind[k].fillers), kind[k].cycles);
}

/*
 * One of ALU0 where `narrow` says so, else of both, over and over, each port with a scheduler of its own: cycles of a
 * hundred of them all.
 */
static uint64_t cycles_of_spread(uint16_t ports, const char *narrow)
{
	struct machine *m = machine_new();
	uint32_t round[16];
	size_t nr = 0;

	m->desc.sched0_ports = ALU0;
	m->desc.sched2_ports = ALU1;
	m->desc.sched2_entries = 16;
	machine_bind(m, BIND_SPREAD, ports);
	for (; narrow[nr]; nr++)
		round[nr] = narrow[nr] == 'n' ? make_flagged(m, INSN_NOP)
		                              : make_alu(m, R1, 0, 0, 1, narrow[nr] == '0' ? ALU0 : ALU);
	run_rounds(m, round, nr, 300);
	machine_time(m);
	uint64_t cycles = between(m, 100 * nr, 200 * nr);
	machine_free(m);
	return cycles;
}

/* Of two ports each gets one a cycle that either could take, and both together two. */
static void t227_spread(void **state)
{
	static const struct { const char *narrow; uint64_t spread, even; } kind[] = {
		{ "**", 100, 100 },
		{ "0*", 100, 100 },            /* the other */
		{ "0***", 200, 200 },          /* 0*, **: two each */
		{ "00**", 300, 200 },          /* 00, **: three for ALU0 */
		{ "0*n", 100, 100 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		assert_int_equal(cycles_of_spread(ALU, kind[k].narrow), kind[k].spread);
		assert_int_equal(cycles_of_spread(0, kind[k].narrow), kind[k].even);
	}
}

/*
 * A third uop for two ports is dispatched in the next cycle, for lack of width; what has ports besides is not
 * spread.
 */
static void t228_spread_as_many_as_ports(void **state)
{
	struct machine *m = machine_new();

	m->desc.sched0_ports = ALU0;
	m->desc.sched2_ports = ALU1;
	m->desc.sched2_entries = 16;
	machine_bind(m, BIND_SPREAD, ALU);
	run_times(m, make_alu(m, R1, 0, 0, 1, ALU), 2);
	run_insn(m, make_alu(m, R1, 0, 0, 1, ALU | STD));
	run_insn(m, make_alu(m, R1, 0, 0, 1, ALU0));
	machine_time(m);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(timed_dispatch(committed(m, i)), timed_dispatch(committed(m, 0)));
	assert_int_equal(timed_dispatch(committed(m, 3)), timed_dispatch(committed(m, 0)) + 1);
	assert_int_equal(timed_dispatch_wait(committed(m, 3)), WAIT_WIDTH);
	machine_free(m);
}

/*
 * The first group that takes a uop binds it: two that alternate take what can use just these, the upper first; counts
 * what is left.
 */
static void t231_first_group_binds(void **state)
{
	static const uint8_t count[CORE_PORTS] = { 0, 5, 0, 1 };
	struct core_desc d = { .nr_binds = 2, .binds = { { BIND_ALTERNATE, ALU }, { BIND_COUNT, ALU | MEM } } };
	struct binder b;

	binder_init(&b, &d);
	binder_count(&b, count, 7);
	struct bind_group *alternate = binder_group(&b, ALU), *counts = binder_group(&b, ALU | MEM);
	assert_true(alternate == &b.group[0] && counts == &b.group[1] && binder_group(&b, ALU0) == counts);
	assert_true(!binder_group(&b, ALU | STD) && !binder_group(&b, 0));
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(bind_to(&b, alternate, ALU, 7, 0), i % 2 ? ALU0 : ALU1);
	/* Of MEM0 and ALU0, with none, the higher; in odd slots the next, unless that has far more. */
	assert_int_equal(bind_to(&b, counts, ALU | MEM, 7, 0), MEM0);
	assert_int_equal(bind_to(&b, counts, ALU | MEM, 7, 1), ALU0);
	assert_int_equal(bind_to(&b, counts, MEM, 7, 1), MEM1);
	assert_int_equal(bind_to(&b, counts, ALU, 7, 1), ALU0);
}

/*
 * More uops than a scheduler can have entries wait for a port that has none: they go one by one, whether ports are
 * bound by counts or not.
 */
static void t230_many_wait_without_a_scheduler(void **state)
{
	enum { WAITING = 400 };

	for (int32_t bound = 0; bound <= 1; bound++) {
		struct machine *m = machine_new();
		m->desc.sched0_entries = m->desc.sched1_entries = 0;
		machine_bind(m, BIND_COUNT, bound ? ALU : 0);
		m->desc.rob_entries = WAITING + 16;
		m->desc.prf_integer = WAITING + 64;
		run_insn(m, make_alu(m, R1, 0, 0, 120, ALU0));
		run_times(m, make_alu(m, R2, R1, 0, 1, ALU1), WAITING);
		machine_time(m);
		const struct timed *first = committed(m, 0), *last = committed(m, WAITING);
		assert_int_equal(last->issue + last->fetch - first->fetch, first->issue + 120 + WAITING - 1);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t226_whole), cmocka_unit_test(t229_memory),
		cmocka_unit_test(t227_spread),
		cmocka_unit_test(t228_spread_as_many_as_ports),
		cmocka_unit_test(t231_first_group_binds),
		cmocka_unit_test(t230_many_wait_without_a_scheduler),
	};

	return cmocka_run_group_tests_name("core_ooo_rename", tests, NULL, NULL);
}
