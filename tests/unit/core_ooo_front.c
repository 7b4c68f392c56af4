/*
 * Exact cycles of the detailed core's two ends, where all goes in program order, on hand-made streams. 100: front end,
 * 400: commit and what starts the front end anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "machine.h"

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
	assert_int_equal(between(m, 0, 396), 99);
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
	assert_int_equal(between(m, 0, 98), 49);
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
	assert_int_equal(between(m, 1, 199), 2 * 99);
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
	assert_int_equal(between(m, 201, 399), 99);
	machine_free(m);
}

/*
 * A loop of 12 iterations in another, of blocks of a cycle each: its exit is told by 11 branches before it, and takes
 * one cycle.
 */
static void t113_inner_loop(void **state)
{
	enum { INNER = 12, ROUNDS = 400 };
	struct machine *m = machine_new();

	strcpy(m->desc.predictor, "tage");
	strcpy(m->desc.tage, "1024/4/10 1024/16/12");
	m->desc.fetch_runahead = 16;
	uint32_t inner = make_branch(m, BRANCH_CONDITIONAL, 0x1000), outer = make_branch(m, BRANCH_CONDITIONAL, 0x1000);
	for (int i = 0; i < ROUNDS; i++) {
		for (int n = 0; n < INNER - 1; n++)
			run_taken(m, inner);
		run_insn(m, inner);
		run_taken(m, outer);
	}
	machine_time(m);
	assert_int_equal(between(m, (ROUNDS - 11) * (INNER + 1), (ROUNDS - 1) * (INNER + 1)), 10 * (INNER + 1));
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

/* 95 no-ops and a jump back, through a uop cache whose sizes are set, to a rename that is wider than it. */
static void run_loop_three_times(struct machine *m)
{
	uint32_t code[96];

	m->desc.uopcache_sets = 32;
	m->desc.uopcache_latency = 1;
	m->desc.rename_width = m->desc.commit_width = 8;
	m->desc.ideal.branch = true;
	for (int i = 0; i < 95; i++)
		code[i] = make_flagged(m, INSN_NOP);
	code[95] = make_branch(m, BRANCH_JUMP, 0x1000);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < 96; i++)
			i < 95 ? run_insn(m, code[i]) : run_taken(m, code[i]);
	machine_time(m);
}

/* A second pass through the same code comes from the uop cache: 6 uops a cycle, here bounded by rename. */
static void t130_uop_cache(void **state)
{
	struct machine *m = machine_new();
	run_loop_three_times(m);
	assert_int_equal(between(m, 0, 92), 23);          /* decoders: 4 a cycle */
	/* uop cache: 6 a cycle */
	assert_int_equal(timed_dispatch(committed(m, 192 + 90)) - timed_dispatch(committed(m, 192)), 15);
	machine_free(m);
}

/*
 * The same through windows of 8 uops, two ways of 6 each: where a set has no more than one, though uopcache.max_ways is
 * three, they are not cached, and the decoders go on.
 */
static void t131_more_ways_than_a_set_has(void **state)
{
	static const struct { int32_t ways; uint64_t cycles; } kind[] = { { 1, 23 }, { 2, 15 } };

	for (unsigned k = 0; k < sizeof kind / sizeof *kind; k++) {
		struct machine *m = machine_new();
		m->desc.uopcache_ways = kind[k].ways;
		m->desc.uopcache_max_ways = 3;
		m->desc.uopcache_line_uops = m->desc.uopcache_width = 6;
		run_loop_three_times(m);
		const struct timed *first = committed(m, 192), *last = committed(m, 192 + 92);
		assert_int_equal(timed_dispatch(last) - timed_dispatch(first), kind[k].cycles);
		machine_free(m);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t100_stages),
		cmocka_unit_test(t101_fetch_width),
		cmocka_unit_test(t102_fetch_bytes),
		cmocka_unit_test(t110_taken_bubble),
		cmocka_unit_test(t111_loop_buffer),
		cmocka_unit_test(t113_inner_loop),
		cmocka_unit_test(t120_icache_miss),
		cmocka_unit_test(t130_uop_cache),
		cmocka_unit_test(t131_more_ways_than_a_set_has),
		cmocka_unit_test(t400_commit_width),
		cmocka_unit_test(t410_mispredict),
		cmocka_unit_test(t420_serialise),
		cmocka_unit_test(t421_syscall),
		cmocka_unit_test(t422_fault),
	};
	return cmocka_run_group_tests_name("core_ooo_front", tests, NULL, NULL);
}
