/* The abstract core's loads, stores and caches: exact cycles of hand-made streams. */
#include <string.h>

#include "core_abstract.h"

/* A machine whose loads go to L2 and memory without prefetches, and as many misses at a time as a test leaves. */
static struct machine *missing_machine(void)
{
	struct machine *m = wide_machine();

	m->desc.ideal.l1d = false;
	m->desc.page_bits = 30;
	strcpy(m->desc.l1d_replacement, "lru");
	m->desc.l1d_mshrs = m->desc.l2_mshrs = m->desc.llc_mshrs = m->desc.dram_reads = 1000;
	m->desc.prefetch_l2_stream = m->desc.prefetch_l1_stride = m->desc.prefetch_l1_next = 0;
	return m;
}

static void test_300_load_latency(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, 1);

	for (int i = 0; i < 50; i++)
		run_access(m, load, 0x8000, 8);
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 49), 49 * (uint64_t)m->desc.l1d_latency);
	m->insn[load].address_extra = 1;
	m->insn[load].load_extra = 2;
	time_steps(m, 100);
	assert_int_equal(between(m, 0, 49), 49 * (3 + (uint64_t)m->desc.l1d_latency));
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
	/* An address that takes longer is there long before the data; a value that is there later is later for all. */
	m->insn[load].address_extra = 1;
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 99), 49 * (1 + (uint64_t)m->desc.forward_latency));
	m->insn[load].load_extra = 2;
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 99), 49 * (3 + (uint64_t)m->desc.forward_latency));
	m->insn[load].address_extra = 0;
	m->insn[load].load_extra = 0;
	/* The data of a vector register are with the store later. */
	m->desc.forward_from_vector = 4;
	m->insn[store].flags |= INSN_VECTOR_MEM;
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 99), 49 * (1 + 4 + (uint64_t)m->desc.forward_latency));
	m->insn[store].flags &= ~(uint32_t)INSN_VECTOR_MEM;
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
	struct machine *m = missing_machine();
	uint32_t load = make_load(m, 1, 0);

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
	/* With an index, if it is the same; where the sign is extended, so much later. */
	struct insn *named[] = { &m->insn[store], &m->insn[load] };
	for (unsigned i = 0; i < 2; i++) {
		named[i]->addr[named[i]->nr_addr++] = (uint8_t)(i ? BASE : COUNTER);
		named[i]->flags |= INSN_INDEXED;
	}
	assert_int_equal(renamed_pairs(m, store, load, 0), 1 + (uint64_t)m->desc.forward_latency);
	named[1]->addr[1] = COUNTER;
	assert_int_equal(renamed_pairs(m, store, load, 0), 1);
	named[1]->load_extra = 2;
	assert_int_equal(renamed_pairs(m, store, load, 0), 2);
	named[1]->load_extra = 0;
	/* Where no store is remembered, too. */
	m->desc.forward_renamed = 0;
	assert_int_equal(renamed_pairs(m, store, load, 0), 1 + (uint64_t)m->desc.forward_latency);
	machine_free(m);
}

/* A sum that is stored as soon as it is there: a cycle less from one to the next than by way of a store-data uop. */
static void test_306_stores_result(void **state)
{
	for (unsigned direct = 0; direct < 2; direct++) {
		struct machine *m = wide_machine();
		uint32_t add = make_update(m, BASE, direct);
		for (int i = 0; i < 50; i++)
			run_update(m, add, 0x8000);
		time_steps(m, 100);
		assert_int_equal(between(m, 1, 49), 48 * ((direct ? 1 : 2) + (uint64_t)m->desc.forward_latency));
		machine_free(m);
	}
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

/*
 * A stream of stores to twice what L1D holds, all in L2: of each line, one comes up and one goes down. Returns the
 * cycles of 1024 of them.
 */
static uint64_t cycles_of_stores(struct machine *m, uint32_t store, int32_t write_bandwidth, bool duplex)
{
	m->desc.l2_write_bandwidth = write_bandwidth;
	m->desc.cache_duplex = duplex;
	m->nr_steps = 0;
	for (int i = 0; i < 4096; i++)
		run_access(m, store, 0x100000 + 64 * (uint64_t)(i % 1024), 8);
	time_steps(m, 1000);
	return between(m, 3071, 4095);
}

static void test_308_lines_that_go_down(void **state)
{
	struct machine *m = missing_machine();
	uint32_t store = make_store(m, BASE, 1);

	m->desc.l2_bandwidth = 16;     /* 4 cycles a line */
	/* In turns 4 and 2 cycles; beside each other, the slower of both. */
	assert_int_equal(cycles_of_stores(m, store, 32, false), 1024 * 6);
	assert_int_equal(cycles_of_stores(m, store, 32, true), 1024 * 4);
	assert_int_equal(cycles_of_stores(m, store, 8, true), 1024 * 8);
	machine_free(m);
}

/* Cycles of 1000 loads from memory, four of which are on their way at a time. */
static uint64_t from_memory(struct machine *m, uint32_t load)
{
	m->nr_steps = 0;
	for (int i = 0; i < 2000; i++)
		run_access(m, load, 0x100000 + 64 * (uint64_t)(7 * i % 2048), 8);
	time_steps(m, 1000);
	return between(m, 999, 1999);
}

static void test_309_miss_registers(void **state)
{
	struct machine *m = missing_machine();
	uint32_t load = make_load(m, 1, 0);
	uint64_t l2 = (uint64_t)m->desc.l2_latency, llc = (uint64_t)m->desc.llc_latency;
	int32_t *most[] = { &m->desc.l1d_mshrs, &m->desc.l2_mshrs, &m->desc.llc_mshrs, &m->desc.dram_reads };
	uint64_t known[] = { 0, l2, llc, llc }; /* from the request in L1 until the level takes one */

	m->desc.clock_mhz = 1000;
	m->desc.dram_bandwidth = 1000000;
	uint64_t memory = llc + (uint64_t)(m->desc.dram_latency_ns + m->desc.dram_cas_ns + m->desc.dram_rcd_ns);
	for (int i = 0; i < 4; i++) {
		*most[i] = 4;
		assert_int_equal(from_memory(m, load), 250 * (memory - known[i]));
		*most[i] = 1000;
	}
	machine_free(m);
}

/* Of two registers one waits for memory; the other takes line after line from L2 meanwhile. */
static void test_310_registers_out_of_order(void **state)
{
	struct machine *m = missing_machine();
	uint32_t load = make_load(m, 1, 0);

	for (int i = 0; i < 1024; i++)
		run_access(m, load, 0x100000 + 64 * (uint64_t)i, 8);
	run_access(m, load, 0x800000, 8);
	for (int i = 0; i < 6; i++)
		run_access(m, load, 0x100000 + 64 * (uint64_t)i, 8);
	m->desc.l1d_mshrs = 2;
	time_steps(m, 1000);
	for (size_t i = 1026; i < 1030; i++) {
		const struct timed *t = committed(m, i), *next = t + 1;
		assert_int_equal(timed_data_level(t), LEVEL_L2);
		assert_int_equal(next->fetch + next->complete - (t->fetch + t->complete), m->desc.l2_latency);
	}
	machine_free(m);
}

/* A simple address is the shorter way for a register that was loaded, or moved from one that was; not for what has been computed. */
static void test_311_simple_address(void **state)
{
	struct machine *m = wide_machine();
	uint32_t load = make_load(m, 1, 1), move = make_alu(m, 1, 1, 0, 1, ALU), add = make_alu(m, 1, 1, 0, 1, ALU);
	uint64_t simple = (uint64_t)m->desc.l1d_simple_latency, other = (uint64_t)m->desc.l1d_latency;

	assert_true(simple < other);
	m->insn[load].flags |= INSN_SIMPLE_ADDR;
	m->insn[move].flags |= INSN_MOVE;
	m->desc.rename_move_slots = 4;
	const struct { uint32_t behind; uint64_t cycles; } cases[] = { { load, 2 * simple }, { move, simple }, { add, other + 1 } };
	for (size_t k = 0; k < 3; k++) {
		m->nr_steps = 0;
		for (int i = 0; i < 50; i++) {
			run_access(m, load, 0x8000, 8);
			if (cases[k].behind == load)
				run_access(m, load, 0x8000, 8);
			else
				run_insn(m, cases[k].behind);
		}
		time_steps(m, 100);
		assert_int_equal(between(m, 1, 97), 48 * cases[k].cycles);
	}
	/* Over two lines the other way, too. */
	m->nr_steps = 0;
	for (int i = 0; i < 50; i++)
		run_access(m, load, 0x803c, 8);
	time_steps(m, 100);
	assert_int_equal(between(m, 1, 49), 48 * (other + (uint64_t)m->desc.split_line_latency));
	machine_free(m);
}

/* Lines of L2 come into a set of L1D as far apart as it says; into all sets at the pace of the bus. */
static void test_315_set_fill(void **state)
{
	enum { LINES = 20 };
	struct machine *m = missing_machine();
	uint32_t load = make_load(m, 1, BASE), apart = make_flagged(m, INSN_SERIALIZE);

	m->desc.l1d_size = 4096;
	m->desc.l1d_ways = 1;
	m->desc.l1d_set_fill = 50;
	for (uint64_t stride = 4096; stride; stride = stride == 4096 ? 4096 + 64 : 0) {
		m->nr_steps = 0;
		for (int round = 0; round < 2; round++) {
			for (uint64_t i = 0; i < LINES; i++)
				run_access(m, load, 0x100000 + i * stride, 8);
			for (uint64_t i = 0; i < LINES && !round; i++)
				run_access(m, load, 0x200000 + i * stride, 8); /* in their place in L1D */
			run_insn(m, apart);
		}
		time_steps(m, 3 * LINES + 2);
		uint64_t took = between(m, 2 * LINES + 1, 3 * LINES);
		if (stride == 4096)
			assert_int_equal(took, 50 * (LINES - 1));
		else
			assert_in_range(took, 0, 2 * LINES);
	}
	machine_free(m);
}

/* Cycles of 48 rounds of a store of `stored` bytes and a load of `bytes` at `addr`. */
static uint64_t stores_and_loads(struct machine *m, uint32_t store, uint16_t stored, uint32_t load, uint64_t addr, uint16_t bytes)
{
	m->nr_steps = 0;
	for (int i = 0; i < 50; i++) {
		run_access(m, store, 0x8000, stored);
		run_access(m, load, addr, bytes);
	}
	time_steps(m, 100);
	return between(m, 3, 99);
}

static void test_312_stores_in_the_way(void **state)
{
	struct machine *m = wide_machine();
	uint32_t store = make_store(m, BASE, 1), load = make_load(m, 1, BASE), other = make_store(m, BASE, COUNTER), chase = make_load(m, 1, 1);
	uint64_t l1d = (uint64_t)m->desc.l1d_latency, forward = (uint64_t)m->desc.forward_latency;

	m->desc.forward_narrow = 3;
	m->desc.forward_fail_penalty = 7;
	m->desc.alias4k_penalty = 2;
	m->desc.commit_width = 1;
	assert_int_equal(stores_and_loads(m, store, 8, load, 0x8000, 8), 48 * (1 + forward));
	assert_int_equal(stores_and_loads(m, store, 8, load, 0x8000, 4), 48 * (1 + forward + 3));
	/* From another byte than the store's: late data hide what that takes more, of an early store's it is left. */
	m->desc.forward_offset = 6;
	assert_int_equal(stores_and_loads(m, store, 8, load, 0x8004, 4), 48 * (1 + forward + 3));
	assert_int_equal(stores_and_loads(m, other, 8, chase, 0x8004, 4), 48 * (l1d + 6));
	assert_int_equal(stores_and_loads(m, other, 8, chase, 0x8000, 4), 48 * l1d);
	/* Of more bytes than the store's: its data, both commits, its write, and what that costs. */
	assert_int_equal(stores_and_loads(m, store, 4, load, 0x8000, 8), 48 * (1 + 2 + 1 + 7 + l1d));
	assert_int_equal(stores_and_loads(m, store, 8, load, 0x8004, 8), 48 * (1 + 2 + 1 + 7 + l1d));
	/* At the same place of another page, and at none that is the same. */
	assert_int_equal(stores_and_loads(m, other, 8, chase, 0x9000, 8), 48 * (l1d + 2));
	assert_int_equal(stores_and_loads(m, other, 8, chase, 0x9008, 8), 48 * l1d);
	m->desc.load_queue_restart = 20;
	assert_int_equal(stores_and_loads(m, other, 8, chase, 0x9000, 8), 48 * 20);
	/* So do loads that cross a page, in a chain or not. */
	assert_int_equal(stores_and_loads(m, other, 8, load, 0x8ffc, 8), 48 * 20);
	machine_free(m);
}

/*
 * As the detailed core's: one write for stores to one block in turn, two across blocks, and one of a part of 4 bytes just written waits.
 * Of stores that go up each across blocks shares writes with those before and behind it: here 8 of them are 9 writes.
 */
static void test_314_merged(void **state)
{
	static const struct { uint64_t addr, step; int nr; uint16_t bytes; uint64_t cycles; } kind[] = {
		{ 0x10000, 8, 2, 8, 20 }, { 0x10000, 64, 2, 8, 40 }, { 0x1001c, 0, 1, 8, 80 }, { 0x1003c, 0, 1, 8, 80 },
		{ 0x10000, 64, 2, 2, 100 }, { 0x10000, 0, 1, 2, 20 }, { 0x10008, 32, 8, 32, 45 },
	};

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = wide_machine();
		uint32_t store = make_store(m, BASE, 1);

		m->uop[m->insn[store].uop + 1].ports = ALU; /* two a cycle, as MEM */
		m->desc.split_line_store = 0;
		m->desc.store_queue_entries = 32;
		m->desc.store_queue_merge_bytes = 32;
		m->desc.store_queue_part_again = 3;
		for (int i = 0; i < 300; i++)
			run_access(m, store, kind[k].addr + (uint64_t)(i % kind[k].nr) * kind[k].step, kind[k].bytes);
		time_steps(m, 1000);
		assert_int_equal(between(m, 200, 240), kind[k].cycles);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_300_load_latency),
		cmocka_unit_test(test_301_store_to_load),
		cmocka_unit_test(test_302_memory_bandwidth),
		cmocka_unit_test(test_303_line_on_its_way),
		cmocka_unit_test(test_304_store_queue),
		cmocka_unit_test(test_305_renamed), cmocka_unit_test(test_306_stores_result),
		cmocka_unit_test(test_306_over_lines),
		cmocka_unit_test(test_307_stores_over_lines),
		cmocka_unit_test(test_308_lines_that_go_down),
		cmocka_unit_test(test_309_miss_registers),
		cmocka_unit_test(test_310_registers_out_of_order),
		cmocka_unit_test(test_311_simple_address),
		cmocka_unit_test(test_312_stores_in_the_way), cmocka_unit_test(test_315_set_fill),
		cmocka_unit_test(test_314_merged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
