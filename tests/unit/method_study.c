/* What is only looked at where methods are compared: stalls without an event, basic blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "method_fake.h"

/* Commits `stall` cycles after the one before it, all of them at the ROB's head. */
static struct timed *stalls(size_t n, uint32_t (*stall)(size_t i), uint16_t (*psv)(size_t i))
{
	struct timed *t = calloc(n, sizeof(*t));
	uint64_t commit = 0;

	for (size_t i = 0; i < n; i++) {
		commit += stall(i) + 1;
		t[i] = (struct timed){ .fetch = 0, .dispatch = 1, .leave = (uint32_t)commit, .slots = 1, .psv = psv(i),
		                       .flags = TIMED_COUNTED };
	}
	return t;
}

static uint32_t up_to_200(size_t i) { return (uint32_t)i % 200 + 1; }
static uint32_t none(size_t i) { return 0; }
static uint16_t no_event(size_t i) { return 0; }
static uint16_t long_missed(size_t i) { return i % 200 + 1 > 100 ? PSV_ST_L1 : 0; }

static void test_stalls(void **ctx)
{
	struct timed *t = stalls(2000, up_to_200, no_event);
	struct profile *p = fake_profile(method_find("stalls"), NULL, t, 2000);

	assert_int_equal(fake_value(p, "stalls", "eventless_p99", 0), 198);
	free(p);
	free(t);
	t = stalls(2000, up_to_200, long_missed);
	p = fake_profile(method_find("stalls"), NULL, t, 2000);
	assert_int_equal(fake_value(p, "stalls", "eventless_p99", 0), 99);
	free(p);
	free(t);
	t = stalls(2000, none, no_event);
	t[0].leave = 1;
	p = fake_profile(method_find("stalls"), NULL, t, 2000);
	assert_int_equal(fake_value(p, "stalls", "eventless_p99", 0), -1);
	free(p);
	free(t);
}

/* By address: 0 1 2 [branch] | 3 4 | 5 a gap | 7 8: entered at 4 by a jump, 8 by a signal. */
static void test_blocks(void **ctx)
{
	static const struct { uint32_t insn; unsigned flags; } path[] = {
		{ 0, 0 }, { 1, 0 }, { 2, TIMED_BRANCH }, { 3, 0 }, { 4, 0 }, { 5, 0 }, { 2, TIMED_BRANCH | TIMED_TAKEN }, { 4, 0 },
		{ 9, TIMED_WRONG }, { 7, 0 }, { 8, TIMED_ENTER },
	};
	static const uint32_t leader[] = { 0, 0, 0, 3, 4, 4, UINT32_MAX, 7, 8, UINT32_MAX };
	struct timed t[G_N_ELEMENTS(path)];
	struct code *code = fake_code();

	for (unsigned i = 0; i < FAKE_INSNS; i++) {
		code->insn[i].pc = 0x1000 + 4 * i;
		code->insn[i].length = 4;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(path); i++)
		t[i] = (struct timed){ .insn = path[i].insn, .dispatch = 1 + i, .leave = 2 + i, .slots = 1,
		                       .flags = (uint16_t)(path[i].flags | TIMED_COUNTED) };
	struct profile *p = fake_profile(method_find("blocks"), NULL, t, G_N_ELEMENTS(t));
	for (unsigned i = 0; i < G_N_ELEMENTS(leader); i++)
		assert_int_equal(fake_insn_value(p, "blocks", "leader", i), leader[i] == UINT32_MAX ? -1 : (int)leader[i]);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stalls), cmocka_unit_test(test_blocks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
