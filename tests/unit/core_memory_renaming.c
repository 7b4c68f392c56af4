/*
 * Exact cycles of memory renaming: when the user of a load has what a store before it wrote, by who names the place
 * how.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

enum { VALUE = 1, BASE, OTHER, LOADED, USED, STACK, INDEX, V0 = REG_VECTOR, V1 };
enum { PLACE = 0x8000, ELSEWHERE = 0x9000, REACH = 4 };

/* The value is there in 24; a store of it has its data in 25, from where it takes 5 to the load's user. */
enum { RENAMED = 24, FORWARDED = 25 + 5 };

/* The value on its way: 20 cycles from issue in 4. */
static struct machine *renaming_new(void)
{
	struct machine *m = machine_new();

	m->desc.forward_renamed = REACH;
	m->desc.ideal.l1d = true;
	run_insn(m, make_alu(m, VALUE, 0, 0, 20, ALU));
	return m;
}

static void store(struct machine *m, uint8_t base, uint8_t data, uint64_t place, uint16_t bytes)
{
	run_access(m, make_store(m, base, data), place, bytes);
}

static void load(struct machine *m, uint8_t base, uint64_t place, uint16_t bytes)
{
	run_access(m, make_load(m, LOADED, base), place, bytes);
}

/* The cycle in which what has been loaded is used. */
static uint64_t used(struct machine *m)
{
	run_insn(m, make_alu(m, USED, LOADED, 0, 1, ALU));
	machine_time(m);
	const struct timed *t = &m->timed[m->nr_timed - 1];
	uint64_t cycle = t->fetch + t->issue;
	assert_int_equal(t->psv, 0);
	machine_free(m);
	return cycle;
}

/* The user waits for the value alone; the load is over when a forwarded one is. */
static void t100_no_time(void **state)
{
	struct machine *m = renaming_new();

	store(m, BASE, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 8);
	run_insn(m, make_alu(m, USED, LOADED, 0, 1, ALU));
	machine_time(m);
	const struct timed *t = committed(m, 2), *user = committed(m, 3);
	assert_int_equal(t->fetch + t->complete, FORWARDED);
	assert_int_equal(timed_data_level(t), LEVEL_FORWARD);
	assert_int_equal(user->fetch + user->issue, RENAMED);
	machine_free(m);
}

/* Known long since: as soon as the user could be issued at all, where a hit of L1D takes 5 cycles more. */
static void t101_long_since(void **state)
{
	uint64_t cycle[2];

	for (int on = 0; on < 2; on++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.forward_renamed = on;
		store(m, BASE, VALUE, PLACE, 4);
		load(m, BASE, PLACE, 4);
		cycle[on] = used(m);
	}
	assert_int_equal(cycle[1], 4);
	assert_int_equal(cycle[0], 5 + 5);
}

static void t102_off(void **state)
{
	struct machine *m = renaming_new();

	m->desc.forward_renamed = 0;
	store(m, BASE, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), FORWARDED);
}

/* Of one load that is remembered: not the first time, nor where another comes in between. */
static void t103_remembered(void **state)
{
	for (unsigned others = 0; others < 3; others++) {
		struct machine *m = renaming_new();
		m->desc.forward_renamed_loads = 1;
		uint32_t here = make_load(m, LOADED, BASE), there = make_load(m, LOADED, BASE);
		store(m, BASE, VALUE, PLACE, 8);
		if (others)
			run_access(m, here, PLACE, 8);
		if (others == 2)
			run_access(m, there, PLACE, 8);
		run_access(m, here, PLACE, 8);
		assert_int_equal(used(m), others == 1 ? RENAMED : FORWARDED);
	}
}

/* What is computed with in the same instruction, or is of less than 4 bytes and merged, is renamed too. */
static void t104_computed_with(void **state)
{
	struct machine *m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	uint32_t adds = make_load(m, LOADED, BASE);
	m->uop[m->nr_uops++] = (struct uop){ .ports = ALU, .kind = UOP_COMPUTE, .latency = 1 };
	m->insn[adds].nr_uops++;
	m->insn[adds].nr_compute++;
	m->insn[adds].latency = m->insn[adds].dst_latency[0] = 1;
	run_access(m, adds, PLACE, 8);
	assert_int_equal(used(m), RENAMED + 1);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 2);
	uint32_t merges = make_load(m, LOADED, BASE);
	m->insn[merges].data[m->insn[merges].nr_data++] = OTHER;
	run_access(m, merges, PLACE, 2);
	assert_int_equal(used(m), RENAMED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 4);
	load(m, BASE, PLACE, 4);
	assert_int_equal(used(m), RENAMED);
}

/*
 * By another register, by one that was written in between, for other bytes, filled up with zeros, or of vectors:
 * forwarded.
 */
static void t110_other_names(void **state)
{
	struct machine *m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	load(m, OTHER, PLACE, 8);
	assert_int_equal(used(m), FORWARDED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	run_insn(m, make_alu(m, BASE, 0, 0, 1, ALU));
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), FORWARDED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 4);
	assert_int_equal(used(m), FORWARDED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 2);
	load(m, BASE, PLACE, 2);
	assert_int_equal(used(m), FORWARDED);

	m = renaming_new();
	store(m, BASE, V0, PLACE, 8);
	m->insn[0].dst[0] = V0;
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), FORWARDED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 8);
	m->insn[2].dst[0] = V1;
	run_insn(m, make_alu(m, USED, V1, 0, 1, ALU));
	machine_time(m);
	assert_int_equal(committed(m, 3)->fetch + committed(m, 3)->issue, FORWARDED);
	machine_free(m);
}

static void index_by(struct insn *in, uint8_t reg)
{
	in->flags |= INSN_INDEXED;
	in->addr[in->nr_addr++] = reg;
}

/*
 * By the same base and index: renamed, unless the index was written in between, is another, or the base is the stack
 * pointer.
 */
static void t115_index(void **state)
{
	static const struct { uint8_t index; bool written, stack; uint64_t used; } kind[] = {
		{ INDEX, false, false, RENAMED }, { INDEX, true, false, FORWARDED }, { OTHER, false, false, FORWARDED },
		{ INDEX, false, true, FORWARDED }, { REG_NONE, false, false, FORWARDED },
	};

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = renaming_new();
		store(m, BASE, VALUE, PLACE, 8);
		index_by(&m->insn[1], INDEX);
		if (kind[k].written)
			run_insn(m, make_alu(m, INDEX, 0, 0, 1, ALU));
		load(m, BASE, PLACE, 8);
		struct insn *in = &m->insn[m->step[m->nr_steps - 1].insn];
		if (kind[k].index)
			index_by(in, kind[k].index);
		if (kind[k].stack)
			in->stack = STACK_READS;
		assert_int_equal(used(m), kind[k].used);
	}
}

/* Of 2 bytes: merged into the register that it goes to, and a cycle later where the sign is extended. */
static void t116_narrow(void **state)
{
	struct machine *m = renaming_new();
	store(m, BASE, VALUE, PLACE, 2);
	load(m, BASE, PLACE, 2);
	m->insn[2].data[m->insn[2].nr_data++] = LOADED;
	assert_int_equal(used(m), RENAMED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 2);
	load(m, BASE, PLACE, 2);
	m->insn[2].load_extra = 1;
	assert_int_equal(used(m), RENAMED + 1);
}

/* The last to the place decides, and one that names it otherwise is in the way. */
static void t111_the_youngest(void **state)
{
	struct machine *m = renaming_new();
	store(m, BASE, 0, PLACE, 8);
	store(m, BASE, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), RENAMED);

	m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	store(m, OTHER, VALUE, PLACE, 8);
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), FORWARDED + 1); /* one store data uop a cycle */
}

/* As far back as the core remembers: three stores between are not too many, four are. */
static void t112_reach(void **state)
{
	for (unsigned between = REACH - 1; between <= REACH; between++) {
		struct machine *m = renaming_new();
		store(m, BASE, VALUE, PLACE, 8);
		for (unsigned i = 0; i < between; i++)
			store(m, BASE, OTHER, ELSEWHERE + 8 * i, 8);
		load(m, BASE, PLACE, 8);
		assert_int_equal(used(m), between < REACH ? RENAMED : FORWARDED);
	}
}

/* An addition to memory hands on its sum: a cycle after what it added, where forwarding twice would take longer. */
static void t113_read_modify_write(void **state)
{
	struct machine *m = renaming_new();
	store(m, BASE, VALUE, PLACE, 8);
	uint32_t add = make_load(m, 0, BASE);
	struct insn *in = &m->insn[add];
	in->flags |= INSN_STORE;
	in->nr_dst = 0;
	in->latency = 1;
	m->uop[m->nr_uops++] = (struct uop){ .ports = ALU, .kind = UOP_COMPUTE, .latency = 1 };
	m->uop[m->nr_uops++] = (struct uop){ .ports = MEM, .kind = UOP_STA };
	m->uop[m->nr_uops++] = (struct uop){ .ports = STD, .kind = UOP_STD };
	in->nr_uops += 3;
	run_access(m, add, PLACE, 8);
	m->step[m->nr_steps - 1].flags |= STEP_LOAD;
	m->step[m->nr_steps - 1].flags &= (uint8_t)~STEP_STORE;
	m->step[m->nr_steps++] =
		(struct step){ .insn = add, .addr = PLACE, .bytes = 8, .flags = STEP_ACCESS | STEP_STORE };
	load(m, BASE, PLACE, 8);
	assert_int_equal(used(m), RENAMED + 1);
}

/*
 * The address comes late, the value does not: its user waits for no address, the load is over when it has been
 * checked.
 */
static void t120_no_address(void **state)
{
	for (int on = 0; on < 2; on++) {
		struct machine *m = machine_new();
		m->desc.ideal.l1d = true;
		m->desc.forward_renamed = on ? REACH : 0;
		run_insn(m, make_alu(m, BASE, 0, 0, 20, ALU));
		store(m, BASE, VALUE, PLACE, 8);
		load(m, BASE, PLACE, 8);
		run_insn(m, make_alu(m, USED, LOADED, 0, 1, ALU));
		machine_time(m);
		const struct timed *t = committed(m, 2), *user = committed(m, 3);
		assert_int_equal(t->psv, 0);
		/* address known in 24, + 1 + forward.latency */
		assert_int_equal(t->fetch + t->complete, 24 + 1 + 5);
		assert_int_equal(user->fetch + user->issue, on ? 4 : 24 + 1 + 5);
		machine_free(m);
	}
}

static uint32_t stack_insn(struct machine *m, uint32_t insn, enum stack_use use)
{
	m->insn[insn].stack = use & 3;
	return insn;
}

static uint32_t push(struct machine *m, uint8_t data)
{
	uint32_t insn = stack_insn(m, make_store(m, STACK, data), STACK_MOVES);

	m->insn[insn].dst[0] = STACK;
	m->insn[insn].dst_latency[0] = DST_WRITEBACK;
	m->insn[insn].nr_dst = 1;
	return insn;
}

/*
 * A push further down moves the stack pointer and its place is known; what is written to the stack pointer otherwise is
 * not.
 */
static void t130_stack(void **state)
{
	for (int written = 0; written < 2; written++) {
		struct machine *m = renaming_new();
		run_access(m, push(m, VALUE), PLACE, 8);
		run_access(m, push(m, OTHER), PLACE - 8, 8);
		if (written)
			run_insn(m, stack_insn(m, make_alu(m, STACK, STACK, 0, 1, ALU), STACK_READS));
		run_access(m, stack_insn(m, make_load(m, LOADED, STACK), STACK_READS), PLACE, 8);
		assert_int_equal(used(m), written ? FORWARDED : RENAMED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_no_time),
		cmocka_unit_test(t101_long_since),
		cmocka_unit_test(t102_off),
		cmocka_unit_test(t103_remembered),
		cmocka_unit_test(t104_computed_with),
		cmocka_unit_test(t110_other_names),
		cmocka_unit_test(t111_the_youngest),
		cmocka_unit_test(t112_reach),
		cmocka_unit_test(t113_read_modify_write),
		cmocka_unit_test(t115_index),
		cmocka_unit_test(t116_narrow),
		cmocka_unit_test(t120_no_address),
		cmocka_unit_test(t130_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
