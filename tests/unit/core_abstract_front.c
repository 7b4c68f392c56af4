/* The abstract core's front end: exact cycles of hand-made streams. */
#include "core_abstract.h"

static void test_100_rename_width(void **state)
{
	struct machine *m = wide_machine();
	uint32_t nop = make_flagged(m, INSN_NOP);

	run_times(m, nop, 400);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_100_rename_width),
		cmocka_unit_test(test_101_decoders),
		cmocka_unit_test(test_102_taken_branches),
		cmocka_unit_test(test_103_misprediction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
