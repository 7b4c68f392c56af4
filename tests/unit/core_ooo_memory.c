/*
 * Exact cycles of the detailed core on hand-made streams, 300: loads and stores, 430: rep strings, which are both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

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
		assert_int_equal(between(m, 20, 59), 39 * (simple ? 4 : 5));
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

/*
 * The data known, and the address late: the load, which has learnt to wait for it, has the data no sooner than from a
 * store whose data are as late.
 */
static void t318_forward_address(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = true;
	m->desc.forward_latency = 9;
	uint32_t late = make_alu(m, R1, R1, 0, 20, ALU), store = make_store(m, R1, R2), load = make_load(m, R3, R2);

	for (int i = 0; i < 4; i++) {
		run_insn(m, late);
		run_access(m, store, 0x10000, 8);
		run_access(m, load, 0x10000, 8);
	}
	machine_time(m);
	const struct timed *address = committed(m, 9), *read = committed(m, 11);
	assert_int_equal(read->fetch + read->complete, address->fetch + address->complete + 1 + 9);
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

/*
 * The data known long since: no sooner than from L1D, and from the middle of a store later than that. A vector register
 * on either side, fewer bytes than were stored, and 32 bytes take longer.
 */
static void t312_forward_kinds(void **state)
{
	static const struct { uint32_t stored, flags; uint16_t bytes; uint8_t late, complete; uint8_t from; } kind[] = {
		{ 0, 0, 8, 1, 4 + 5, 0 }, { 0, 0, 8, 20, 25 + 3, 0 }, { 0, INSN_VECTOR_MEM, 8, 20, 25 + 3 + 1, 0 },
		{ 0, 0, 4, 20, 25 + 3 + 2, 0 },
		{ INSN_VECTOR_MEM, 0, 8, 20, 25 + 3 + 5, 0 },
		{ INSN_VECTOR_MEM, INSN_VECTOR_MEM, 8, 20, 25 + 3 + 1 + 5, 0 }, { 0, 0, 32, 20, 25 + 3 + 7, 0 },
		{ 0, 0, 4, 1, 5 + 3 + 2, 0 }, { 0, 0, 4, 1, 4 + 5 + 11, 4 }, { 0, 0, 4, 20, 25 + 3 + 2, 4 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.forward_latency = 3;
		m->desc.forward_vector = 1;
		m->desc.forward_from_vector = 5;
		m->desc.forward_narrow = 2;
		m->desc.forward_wide = 7;
		m->desc.forward_offset = 11;
		m->desc.memdep_entries = 0;
		run_insn(m, make_alu(m, R1, 0, 0, kind[k].late, ALU));
		uint32_t store = make_store(m, R2, kind[k].late > 1 ? R1 : R2), load = make_load(m, R3, R2);
		m->insn[store].flags |= kind[k].stored;
		run_access(m, store, 0x10000, kind[k].bytes > 8 ? kind[k].bytes : 8);
		m->insn[load].flags |= kind[k].flags;
		run_access(m, load, 0x10000u + kind[k].from, kind[k].bytes);
		machine_time(m);
		assert_int_equal(committed(m, 2)->complete, kind[k].complete);
		machine_free(m);
	}
}

/*
 * With forward.again and one load port: a load that waits for a store's data books the port once more, five cycles
 * before it has them, so that 40 independent loads behind it take a cycle more; one that finds them there does not.
 */
static void t317_forward_again(void **state)
{
	static const struct {
		int32_t again;
		uint8_t late;
		uint64_t cycles;
	} kind[] = { { 0, 20, 40 }, { 1, 20, 41 }, { 1, 1, 40 } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = m->desc.ideal.l1i = true;
		m->desc.forward_again = kind[k].again;
		m->desc.load_queue_entries = 64;
		uint32_t first = make_load(m, R3, R2), next = make_load(m, R4, R2);
		m->uop[m->insn[first].uop].ports = m->uop[m->insn[next].uop].ports = MEM0;
		run_insn(m, make_alu(m, R1, 0, 0, kind[k].late, ALU));
		run_access(m, make_store(m, R2, kind[k].late > 1 ? R1 : R2), 0x10000, 8);
		run_access(m, first, 0x10000, 8);
		for (unsigned i = 0; i < 40; i++)
			run_access(m, next, 0x20000, 8);
		machine_time(m);
		assert_int_equal(committed(m, 42)->fetch + committed(m, 42)->issue - committed(m, 2)->fetch -
		                         committed(m, 2)->issue,
		                 kind[k].cycles);
		machine_free(m);
	}
}

/*
 * Independent loads, two a cycle; over a line, each takes a second access; over a page, one in so many cycles starts
 * anew.
 */
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
		assert_int_equal(between(m, 38, 138), kind[k].cycles);
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

/*
 * A vector load over a line takes two cycles of what loads of vectors pass besides, which the first access has as a
 * uop.
 */
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
		assert_int_equal(k == 1 ? between(m, 76, 276) : between(m, 38, 138), kind[k].cycles);
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
		assert_int_equal(between(m, 38, 138), 100 * (m->desc.l1d_latency + (int)extra));
		machine_free(m);
	}
}

/* The store's address comes late, the load runs before it: squashed, fetched again, FL-MO; next time it waits. */
static void t320_violation(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	uint32_t slow = make_alu(m, R2, R2, 0, 20, ALU), store = make_store(m, R2, R1), read = make_load(m, R3, R4),
		 tail = make_flagged(m, INSN_NOP);
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
		assert_int_equal(committed(m, 50)->drain + committed(m, 50)->fetch - committed(m, 30)->drain -
		                         committed(m, 30)->fetch,
		                 kind[k].cycles);
		machine_free(m);
	}
}

/*
 * Stores to one block in turn with others: one write each, one across blocks two, and one of a part of 4 bytes just
 * written waits. Over a line it is no more than two; and where stores go up, each across blocks shares writes with
 * those before and behind it.
 */
static void t332_merged(void **state)
{
	static const struct { uint64_t addr, other, step; uint16_t bytes; uint64_t cycles; } kind[] = {
		{ 0x10000, 0x10008, 0, 8, 20 }, { 0x10000, 0x10040, 0, 8, 20 }, { 0x1001c, 0x1001c, 0, 8, 40 },
		{ 0x1003c, 0x1003c, 0, 8, 40 },
		{ 0x10000, 0x10040, 0, 2, 50 }, { 0x10000, 0x10000, 0, 2, 20 }, { 0x10008, 0x1001c, 0, 8, 20 },
		{ 0x10008, 0x10028, 64, 32, 20 }, { 0x10001, 0x10021, 64, 32, 20 },
	};

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.split_line_store = 1;
		m->desc.store_queue_entries = 8;
		m->desc.store_queue_merge_bytes = 32;
		m->desc.store_queue_part_again = 3;
		uint32_t store = make_store(m, R2, R1);
		for (int i = 0; i < 60; i++)
			run_access(m, store, (i % 2 ? kind[k].other : kind[k].addr) + (uint64_t)i / 2 * kind[k].step,
			           kind[k].bytes);
		machine_time(m);
		assert_int_equal(committed(m, 50)->drain + committed(m, 50)->fetch - committed(m, 30)->drain - committed(m, 30)->fetch, kind[k].cycles);
		machine_free(m);
	}
}

/* Stores that all commit late: two to one block leave the queue in a cycle, one across blocks alone. */
static void t333_leave_to_merge(void **state)
{
	static const struct { uint64_t addr, cycles; } kind[] = { { 0x10000, 8 }, { 0x10004, 12 } };

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.store_queue_entries = 64;
		m->desc.store_queue_merge_bytes = 32;
		run_insn(m, make_alu(m, R1, 0, 0, 200, ALU));
		uint32_t store = make_store(m, R2, R1);
		for (uint64_t i = 0; i < 28; i++)
			run_access(m, store, kind[k].addr + 8 * i, 8);
		machine_time(m);
		assert_int_equal(committed(m, 24)->drain + committed(m, 24)->fetch - committed(m, 8)->drain -
		                         committed(m, 8)->fetch,
		                 kind[k].cycles);
		machine_free(m);
	}
}

/*
 * Two hundred loads of two ports, while a miss evicts a line that was stored to, or not: the ports close for a
 * cycle.
 */
static void t334_victims(void **state)
{
	static const struct {
		int32_t ports;
		bool store;
		uint64_t cycles;
	} kind[] = { { 0, true, 100 }, { MEM, true, 101 }, { MEM, false, 100 } };
	enum { LOADS = 200, BEFORE = 6, FIRST = 0x10000, SECOND = 0x11000, OTHER = 0x10040 };

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.l1d_size = 4096;
		m->desc.l1d_ways = 1;
		m->desc.l1d_victim_ports = kind[k].ports;
		m->desc.rob_entries = m->desc.load_queue_entries = 512;
		uint32_t store = make_store(m, R2, 0), read = make_load(m, R3, R1),
			 apart = make_flagged(m, INSN_SERIALIZE);
		run_access(m, read, OTHER, 8);
		run_access(m, read, SECOND, 8);
		run_insn(m, apart);
		run_access(m, kind[k].store ? store : read, FIRST, 8);
		run_insn(m, apart);
		run_access(m, read, SECOND, 8);
		for (int i = 0; i < LOADS; i++)
			run_access(m, read, OTHER, 8);
		machine_time(m);
		const struct timed *miss = committed(m, BEFORE - 1), *last = committed(m, BEFORE + LOADS - 1);
		assert_int_equal(last->fetch + last->issue - miss->fetch - miss->issue, kind[k].cycles);
		machine_free(m);
	}
}

/*
 * The same of loads over a line, each of two cycles of a port, behind one load of a cycle beside the miss, or three:
 * the ports close for another cycle where they did between the accesses of two loads, and not where they did between
 * two loads and the next two.
 */
static void t336_victims_again(void **state)
{
	static const struct { unsigned before; uint64_t cycles; } kind[] = { { 1, 201 }, { 3, 201 } };
	enum { LOADS = 200, BEFORE = 7, FIRST = 0x10000, SECOND = 0x11000, OTHER = 0x10040, ACROSS = 0x1007c };

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.l1d_size = 4096;
		m->desc.l1d_ways = 1;
		m->desc.l1d_victim_ports = MEM;
		m->desc.rob_entries = m->desc.load_queue_entries = 512;
		uint32_t store = make_store(m, R2, 0), read = make_load(m, R3, R1),
			 apart = make_flagged(m, INSN_SERIALIZE);
		run_access(m, read, OTHER, 8);
		run_access(m, read, OTHER + 64, 8);
		run_access(m, read, SECOND, 8);
		run_insn(m, apart);
		run_access(m, store, FIRST, 8);
		run_insn(m, apart);
		run_access(m, read, SECOND, 8);
		for (unsigned i = 0; i < kind[k].before; i++)
			run_access(m, read, OTHER, 8);
		for (int i = 0; i < LOADS; i++)
			run_access(m, read, ACROSS, 8);
		machine_time(m);
		const struct timed *miss = committed(m, BEFORE - 1),
				   *last = committed(m, BEFORE + kind[k].before + LOADS - 1);
		assert_int_equal(last->fetch + last->issue - miss->fetch - miss->issue, kind[k].cycles);
		machine_free(m);
	}
}

/*
 * Stores that all commit late, a cycle each, while a load between them begins, of a line that comes from L2, or is
 * there: one that comes takes one of their cycles.
 */
static void t338_fill_writes(void **state)
{
	enum { STORES = 40, LINE = 64, FIRST = 0x10000, OTHER = 0x10800 };
	uint64_t cycles[2][2];

	for (int32_t writes = 0; writes <= 1; writes++) {
		for (int miss = 0; miss <= 1; miss++) {
			struct machine *m = machine_new();
			m->desc.l1d_victim_ports = writes ? MEM : 0;
			m->desc.ideal.l2d = true;
			m->desc.store_queue_entries = 2 * STORES;
			uint32_t store = make_store(m, R2, 0), read = make_load(m, R3, R2),
				 between = make_load(m, R3, R4);
			for (unsigned i = 0; i < 2; i++)
				run_access(m, read, FIRST + i * LINE, 8);
			run_insn(m, make_flagged(m, INSN_SERIALIZE));
			run_insn(m, make_alu(m, R1, 0, 0, 100, ALU));
			run_insn(m, make_alu(m, R4, 0, 0, 110, ALU));
			for (unsigned i = 0; i < 2 * STORES; i++) {
				if (i == STORES)
					run_access(m, between, miss ? OTHER : FIRST, 8);
				run_access(m, store, FIRST + i % 2 * LINE, 8);
			}
			machine_time(m);
			const struct timed *first = committed(m, 5), *last = committed(m, 5 + 2 * STORES);
			cycles[writes][miss] = last->drain + last->fetch - first->drain - first->fetch;
			machine_free(m);
		}
	}
	assert_int_equal(cycles[1][0], cycles[0][0]);
	assert_int_equal(cycles[1][1], cycles[0][1] + 1);
}

/*
 * Lines of one set of one way, in L2: they come as far apart as it says, and as long as the third waits, the second is
 * on its way for others, too. Without it that is asked for again.
 */
static void t335_set_fill(void **state)
{
	static const struct {
		int32_t cycles;
		uint64_t apart;
		enum level again;
	} kind[] = { { 0, 1, LEVEL_L2 }, { 50, 50, LEVEL_FILL_BUFFER } };
	enum { FIRST = 0x10000, SECOND = 0x11000, THIRD = 0x12000, BEFORE = 5 };

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.l1d_size = 4096;
		m->desc.l1d_ways = 1;
		m->desc.l1d_set_fill = kind[k].cycles;
		m->desc.l2_bandwidth = 64;
		uint32_t read = make_load(m, R3, R1), apart = make_flagged(m, INSN_SERIALIZE);
		run_access(m, read, SECOND, 8);
		run_access(m, read, THIRD, 8);
		run_insn(m, apart);
		run_access(m, read, FIRST, 8);
		run_insn(m, apart);
		run_access(m, read, SECOND, 8);
		run_access(m, read, THIRD, 8);
		run_access(m, read, SECOND, 8);
		machine_time(m);
		const struct timed *second = committed(m, BEFORE), *third = committed(m, BEFORE + 1),
				   *again = committed(m, BEFORE + 2);
		assert_int_equal(timed_data_level(second), LEVEL_L2);
		assert_int_equal(third->fetch + third->complete - second->fetch - second->complete, kind[k].apart);
		assert_int_equal(timed_data_level(again), kind[k].again);
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

/*
 * Eight loads of one line: the first asks for it and its page. A load and a store elsewhere in the page find that on
 * its way.
 */
static void t341_on_its_way(void **state)
{
	struct machine *m = machine_new();
	m->desc.ideal.dtlb = false;
	uint32_t read = make_load(m, R1, R2), store = make_store(m, R3, R4);
	for (int i = 0; i < 8; i++)
		run_access(m, read, 0x10000 + (uint64_t)i * 8, 8);
	run_access(m, read, 0x10800, 8);
	run_access(m, store, 0x10c00, 8);
	machine_time(m);
	assert_int_equal(committed(m, 0)->psv, PSV_ST_L1 | PSV_ST_LLC | PSV_ST_TLB);
	assert_int_equal(committed(m, 0)->level, timed_level(LEVEL_MEMORY, ILEVEL_L1, 0));
	for (size_t i = 1; i < 8; i++) {
		assert_int_equal(committed(m, i)->psv, PSV_ST_L1 | PSV_ST_LLC | PSV_ST_TLB);
		assert_int_equal(committed(m, i)->level, timed_level(LEVEL_FILL_BUFFER, ILEVEL_L1, MERGED_DTLB));
	}
	assert_int_equal(committed(m, 8)->level, timed_level(LEVEL_MEMORY, ILEVEL_L1, MERGED_DTLB));
	assert_int_equal(committed(m, 9)->psv, PSV_ST_TLB);
	assert_int_equal(committed(m, 9)->level, timed_level(LEVEL_NONE, ILEVEL_L1, MERGED_DTLB));
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
	assert_int_equal(between(m, 1, 63), 62 * 2);
	machine_free(m);
}

/* rep stos of 64 lines that L2 has: they come as those of a loop do, not one L2 latency behind the other. */
static void t431_repeat_misses(void **state)
{
	struct machine *m = machine_new();

	m->desc.ideal.l2d = m->desc.ideal.dtlb = true;
	m->desc.store_queue_entries = 64;
	m->desc.l2_latency = 20;
	run_access(m, make_flagged(m, INSN_REP | INSN_STORE), 0x20000, 4096);
	m->step[0].flags = (uint16_t)(STEP_INSN | STEP_STORE | STEP_COUNTED);
	m->step[m->nr_steps++] = (struct step){ .addr = 4096, .flags = STEP_REPEAT };
	run_insn(m, make_flagged(m, INSN_NOP));
	machine_time(m);
	const struct timed *early = committed(m, 8), *late = committed(m, 56);
	assert_in_range(late->fetch + late->drain - early->fetch - early->drain, 48 * 2, 48 * 4);
	machine_free(m);
}

/*
 * rep movs of bytes to where it reads some bytes later: `repeat.slow` cycles each, but where that is a line away, or
 * behind.
 */
static void t432_repeat_reads_own(void **state)
{
	static const struct {
		int ahead;
		bool slow;
	} kind[] = { { 1, true }, { 63, true }, { 64, false }, { 4096, false }, { -1, false } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.store_queue_entries = 64;
		m->desc.repeat_slow = 5;
		uint32_t i = make_flagged(m, INSN_REP | INSN_LOAD | INSN_STORE), nop = make_flagged(m, INSN_NOP);
		run_access(m, i, 0x10000, 2048);
		m->step[0].flags = (uint16_t)(STEP_INSN | STEP_LOAD | STEP_COUNTED);
		m->step[m->nr_steps++] = (struct step){
			.addr = (uint64_t)(0x10000 + kind[k].ahead), .bytes = 2048, .flags = STEP_ACCESS | STEP_STORE,
		};
		m->step[m->nr_steps++] = (struct step){ .addr = 2048, .flags = STEP_REPEAT };
		run_insn(m, nop);
		machine_time(m);
		uint64_t cycles = commit_of(m, m->nr_timed - 1);
		assert_in_range(cycles, kind[k].slow ? 2048 * 5 : 64, kind[k].slow ? 2048 * 6 : 1000);
		machine_free(m);
	}
}

/*
 * Loads of pages that the first TLB has no more, two ports: with dtlb.again each takes two places; where vectors are
 * loaded, a place more of what they pass, too, which an operation beside each load wants as often.
 */
static void t319_translated_again(void **state)
{
	static const struct {
		int32_t again, entries;
		uint32_t flags;
		uint64_t cycles;
	} kind[] = {
		{ 0, 16, 0, 240 }, { 1, 16, 0, 480 }, { 1, 64, 0, 240 },
		{ 0, 16, INSN_VECTOR_MEM, 480 }, { 1, 16, INSN_VECTOR_MEM, 960 },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = m->desc.ideal.l1i = true; /* nothing is missing but translations */
		m->desc.ideal.dtlb = false;
		m->desc.dtlb_entries = m->desc.dtlb_ways = kind[k].entries;
		m->desc.dtlb_again = kind[k].again;
		m->desc.load_queue_entries = 64;
		m->desc.split_vector_ports = ALU0;
		uint32_t load = make_load(m, R3, R2), beside = make_alu(m, R1, 0, 0, 1, ALU0);
		m->insn[load].flags |= kind[k].flags;
		unsigned each = kind[k].flags ? 2 : 1;
		for (unsigned i = 0; i < 900; i++) {
			run_access(m, load, 0x100000 + i % 32 * 4096, 8);
			if (each == 2)
				run_insn(m, beside);
		}
		machine_time(m);
		uint64_t cycles = between(m, 400 * each, 880 * each);
		assert_in_range(cycles, kind[k].cycles, kind[k].cycles + 4); /* a place may stay free */
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t300_load_to_use),
		cmocka_unit_test(t310_forward),
		cmocka_unit_test(t311_partial),
		cmocka_unit_test(t312_forward_kinds),
		cmocka_unit_test(t318_forward_address),
		cmocka_unit_test(t317_forward_again),
		cmocka_unit_test(t313_split_loads),
		cmocka_unit_test(t319_translated_again),
		cmocka_unit_test(t314_alias),
		cmocka_unit_test(t315_split_vector_loads),
		cmocka_unit_test(t316_long_addresses),
		cmocka_unit_test(t320_violation),
		cmocka_unit_test(t330_store_queue),
		cmocka_unit_test(t331_drain),
		cmocka_unit_test(t332_merged),
		cmocka_unit_test(t333_leave_to_merge),
		cmocka_unit_test(t334_victims),
		cmocka_unit_test(t335_set_fill),
		cmocka_unit_test(t336_victims_again),
		cmocka_unit_test(t338_fill_writes),
		cmocka_unit_test(t340_miss),
		cmocka_unit_test(t341_on_its_way),
		cmocka_unit_test(t430_repeat),
		cmocka_unit_test(t431_repeat_misses),
		cmocka_unit_test(t432_repeat_reads_own),
	};
	return cmocka_run_group_tests_name("core_ooo_memory", tests, NULL, NULL);
}
