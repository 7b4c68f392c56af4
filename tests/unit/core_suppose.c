/*
 * Exact cycles of the detailed core where events are supposed away: each stream is timed as it is, which must meet the event;
 * with the event supposed away; and on a core that cannot meet it, which must give the same commits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine.h"

enum how { AS_IT_IS, SUPPOSED, IMPOSSIBLE };

/* A stream: what is supposed of which instruction, and the core that cannot meet it, are its own. */
typedef void stream(struct machine *m, enum how how);

static struct machine *timed_machine(stream *make, enum how how)
{
	struct machine *m = machine_new();

	make(m, how);
	machine_time(m);
	return m;
}

static bool meets(const struct machine *m, uint16_t event)
{
	for (size_t i = 0; i < m->nr_timed; i++)
		if (m->timed[i].psv & event)
			return true;
	return false;
}

static void check_event(stream *make, uint16_t event)
{
	struct machine *is = timed_machine(make, AS_IT_IS), *never = timed_machine(make, SUPPOSED), *cannot = timed_machine(make, IMPOSSIBLE);
	size_t last = 0;

	assert_true(meets(is, event));
	assert_false(meets(never, event));
	assert_false(meets(cannot, event));
	for (size_t i = 0; i < is->nr_steps; i++)
		last += step_kind(&is->step[i]) == STEP_INSN;
	for (size_t i = 0; i < last; i++)
		assert_int_equal(commit_of(never, i), commit_of(cannot, i));
	assert_true(commit_of(is, last - 1) > commit_of(never, last - 1));
	machine_free(is);
	machine_free(never);
	machine_free(cannot);
}

static void suppose(struct machine *m, enum how how, uint32_t insn, uint16_t event)
{
	m->never[insn] = how == SUPPOSED ? event : 0;
}

/* Straight code over three lines. */
static void code(struct machine *m, enum how how)
{
	m->desc.ideal.l1i = how == IMPOSSIBLE;
	for (int i = 0; i < 48; i++) {
		uint32_t n = make_flagged(m, INSN_NOP);
		suppose(m, how, n, PSV_DR_L1);
		run_insn(m, n);
	}
}

static void t500_dr_l1(void **state)
{
	check_event(code, PSV_DR_L1);
}

static void pages_of_code(struct machine *m, enum how how)
{
	m->desc.ideal.itlb = how == IMPOSSIBLE;
	for (int i = 0; i < 8; i++) {
		uint32_t n = make_flagged(m, INSN_NOP);
		suppose(m, how, n, PSV_DR_TLB);
		run_insn(m, n);
	}
}

static void t501_dr_tlb(void **state)
{
	check_event(pages_of_code, PSV_DR_TLB);
}

static void many_stores(struct machine *m, enum how how)
{
	m->desc.ideal.l1d = true;
	m->desc.store_queue_entries = how == IMPOSSIBLE ? 64 : 8;
	run_insn(m, make_alu(m, R1, 0, 0, 100, ALU));
	uint32_t store = make_store(m, R2, R1), tail = make_alu(m, R3, 0, 0, 50, ALU);
	suppose(m, how, store, PSV_DR_SQ);
	for (int i = 0; i < 12; i++)
		run_access(m, store, 0x10000 + 64u * (unsigned)i, 8);
	run_insn(m, tail);                             /* late where the stores before it dispatch late */
}

static void t510_dr_sq(void **state)
{
	check_event(many_stores, PSV_DR_SQ);
}

static void branches(struct machine *m, enum how how)
{
	m->desc.ideal.branch = how == IMPOSSIBLE;
	uint32_t slow = make_alu(m, R1, 0, 0, 30, ALU), jump = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 40), after[60];
	m->insn[jump].data[m->insn[jump].nr_data++] = R1;
	for (int i = 0; i < 60; i++)
		after[i] = make_flagged(m, INSN_NOP);
	suppose(m, how, jump, PSV_FL_MB);
	run_insn(m, slow);
	run_taken(m, jump);
	for (int i = 38; i < 60; i++)
		run_insn(m, after[i]);
}

static void t520_fl_mb(void **state)
{
	check_event(branches, PSV_FL_MB);
}

static void serialising(struct machine *m, enum how how)
{
	static const uint32_t kinds[] = { INSN_SERIALIZE, INSN_DISPATCH_SERIALIZE, INSN_SYSCALL, INSN_FLUSH };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		run_insn(m, make_alu(m, R1, 0, 0, 20, ALU));
		uint32_t n = make_flagged(m, how == IMPOSSIBLE ? INSN_NOP : kinds[i]);
		suppose(m, how, n, PSV_FL_EX);
		run_insn(m, n);
	}
	run_insn(m, make_flagged(m, INSN_NOP));
}

static void t530_fl_ex(void **state)
{
	check_event(serialising, PSV_FL_EX);
}

/* What faults commits, and its handler is fetched behind it as behind a jump. */
static void faulting(struct machine *m, enum how how)
{
	uint32_t n = how == IMPOSSIBLE ? make_branch(m, BRANCH_JUMP, 0x1004) : make_alu(m, R1, 0, 0, 1, ALU);

	m->desc.ideal.branch = true;
	suppose(m, how, n, PSV_FL_EX);
	if (how == IMPOSSIBLE)
		run_taken(m, n);
	else
		run_insn(m, n);
	m->step[0].flags |= how == IMPOSSIBLE ? 0 : STEP_FAULT;
	run_insn(m, make_flagged(m, INSN_NOP));
	m->step[1].flags |= how == IMPOSSIBLE ? 0 : STEP_ENTER;
}

static void t531_fault(void **state)
{
	struct machine *is = timed_machine(faulting, AS_IT_IS), *never = timed_machine(faulting, SUPPOSED), *jump = timed_machine(faulting, IMPOSSIBLE);

	assert_true(is->timed[0].flags & TIMED_SQUASHED && !(never->timed[0].flags & TIMED_SQUASHED));
	assert_false(meets(never, PSV_FL_EX));
	assert_int_equal(commit_of(never, 0), 6);
	assert_int_equal(committed(never, 1)->fetch, committed(jump, 1)->fetch);
	machine_free(is);
	machine_free(never);
	machine_free(jump);
}

/* The one store is the only one to wait for. */
static void violating(struct machine *m, enum how how)
{
	m->desc.ideal.l1d = m->desc.ideal.branch = true;
	m->desc.memdep_entries = how == IMPOSSIBLE ? 0 : 1024;
	run_insn(m, make_alu(m, R2, 0, 0, 20, ALU));
	uint32_t store = make_store(m, R2, R1), read = make_load(m, R3, R4);
	suppose(m, how, read, PSV_FL_MO);
	run_access(m, store, 0x10000, 8);
	run_access(m, read, 0x10000, 8);
	run_insn(m, make_flagged(m, INSN_NOP));
}

static void t540_fl_mo(void **state)
{
	check_event(violating, PSV_FL_MO);
}

/* Each load needs the one before. */
static void chain(struct machine *m, enum how how, uint16_t event, uint64_t stride)
{
	uint32_t read = make_load(m, R1, R1);

	suppose(m, how, read, event);
	for (unsigned i = 0; i < 40; i++)
		run_access(m, read, 0x100000 + stride * i, 8);
}

static void misses(struct machine *m, enum how how)
{
	m->desc.ideal.l1d = how == IMPOSSIBLE;
	chain(m, how, PSV_ST_L1, 64 * 5);
}

static void t550_st_l1(void **state)
{
	check_event(misses, PSV_ST_L1);
}

static void walks(struct machine *m, enum how how)
{
	m->desc.ideal.l1d = true;
	m->desc.ideal.dtlb = how == IMPOSSIBLE;
	chain(m, how, PSV_ST_TLB, 4096);
}

static void t560_st_tlb(void **state)
{
	check_event(walks, PSV_ST_TLB);
}

static void far_misses(struct machine *m, enum how how)
{
	m->desc.ideal.l2d = how == IMPOSSIBLE;
	m->desc.prefetch_l1_stride = m->desc.prefetch_l1_next = m->desc.prefetch_l2_stream = 0;
	chain(m, how, PSV_ST_LLC, 64 * 5);
}

/* A miss of L1 is left, and L2 has the line then. */
static void t570_st_llc(void **state)
{
	check_event(far_misses, PSV_ST_LLC);
	struct machine *m = timed_machine(far_misses, SUPPOSED);
	assert_int_equal(committed(m, 3)->psv, PSV_ST_L1);
	assert_int_equal(timed_data_level(committed(m, 3)), LEVEL_L2);
	machine_free(m);
}

/* Of two instructions, one never misses: the other pays as ever. */
static void t571_one_of_two(void **state)
{
	struct machine *m = machine_new();
	uint32_t one = make_load(m, R1, R3), two = make_load(m, R2, R3);
	m->never[one] = PSV_ST_L1;
	run_access(m, one, 0x10000, 8);
	run_access(m, two, 0x20000, 8);
	run_access(m, two, 0x10008, 8);                /* the line that the other was supposed to have there */
	machine_time(m);
	assert_int_equal(committed(m, 0)->psv, 0);
	assert_int_equal(committed(m, 1)->psv, PSV_ST_L1 | PSV_ST_LLC);
	assert_int_equal(committed(m, 2)->psv, 0);
	machine_free(m);
}

enum { LOADS = 4, LOAD_EVERY = 400 };

/* A load of a new line every 400 cycles, prefetched one execution ahead. */
static struct machine *prefetched(bool prefetch, int32_t mshrs, uint64_t other)
{
	static const uint64_t future[LOADS] = { 0x20000, 0x30000, 0x40000, 0 };
	struct machine *m = machine_new();

	m->desc.l1d_mshrs = mshrs;
	m->desc.prefetch_l1_stride = m->desc.prefetch_l1_next = m->desc.prefetch_l2_stream = 0;
	uint32_t wait = make_alu(m, R1, R1, 0, 100, ALU), load = make_load(m, R2, R1), another = make_load(m, R3, R4);
	m->never[load] = prefetch ? SUPPOSE_PREFETCH : 0;
	m->future = future;
	for (unsigned i = 0; i < LOADS; i++) {
		for (int k = 0; k < LOAD_EVERY / 100; k++)
			run_insn(m, wait);
		run_access(m, load, 0x10000 * (i + 1), 8);
		if (other)
			run_access(m, another, other + 0x1000 * i, 8);
	}
	machine_time(m);
	return m;
}

static void t580_prefetch(void **state)
{
	struct machine *m = prefetched(false, 10, 0), *p = prefetched(true, 10, 0);

	for (unsigned i = 0; i < LOADS; i++) {
		size_t n = i * 5 + 4;
		assert_int_equal(committed(m, n)->psv, PSV_ST_L1 | PSV_ST_LLC);
		assert_int_equal(committed(p, n)->psv, i ? 0 : PSV_ST_L1 | PSV_ST_LLC);
	}
	machine_free(m);
	machine_free(p);
}

/* With one miss register, what another load wants waits for the prefetch. */
static void t581_prefetch_takes_a_register(void **state)
{
	struct machine *m = prefetched(false, 1, 0x200000), *p = prefetched(true, 1, 0x200000);
	size_t n = 5;                                  /* the other load of the first round */

	assert_int_equal(committed(m, n)->psv, PSV_ST_L1 | PSV_ST_LLC);
	assert_true(committed(p, n)->complete - committed(p, n)->issue > committed(m, n)->complete - committed(m, n)->issue + 50);
	machine_free(m);
	machine_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t500_dr_l1), cmocka_unit_test(t501_dr_tlb), cmocka_unit_test(t510_dr_sq), cmocka_unit_test(t520_fl_mb),
		cmocka_unit_test(t530_fl_ex), cmocka_unit_test(t531_fault), cmocka_unit_test(t540_fl_mo), cmocka_unit_test(t550_st_l1),
		cmocka_unit_test(t560_st_tlb), cmocka_unit_test(t570_st_llc), cmocka_unit_test(t571_one_of_two), cmocka_unit_test(t580_prefetch),
		cmocka_unit_test(t581_prefetch_takes_a_register),
	};
	return cmocka_run_group_tests_name("core_suppose", tests, NULL, NULL);
}
