/* The detailed core as calibrate asks it: exact cycles of rounds on a shipped description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/model.h"

static struct parent parent;

static int begin(void **state)
{
	(void)state;
	return parent_init(&parent, "skylake-sp");
}

static int end(void **state)
{
	(void)state;
	parent_fini(&parent);
	return 0;
}

static double round_of(struct core_desc *d, const struct sequence *s, const struct model_access *access)
{
	double cycles = 0;

	assert_int_equal(model_round(&parent, d, s, access, &cycles), 0);
	return cycles;
}

/* add $1, %rax and imul %rax, %rax. */
static void chains(void **state)
{
	const struct sequence s = { .bytes = { { 0x48, 0x83, 0xc0, 0x01 }, { 0x48, 0x0f, 0xaf, 0xc0 } }, .length = { 4, 4 }, .n = 2 };
	const struct model_access none[2] = { { 0, 0 }, { 0, 0 } };
	struct core_desc d = parent.desc;

	assert_true(round_of(&d, &s, none) == 1 + 3);
}

/* Two 4-byte stores and a load of both: 17 cycles were measured of the processor described, of which the penalty is a part. */
static void failed_forwarding(void **state)
{
	const struct sequence s = {
		.bytes = { { 0x89, 0x47, 0x40 }, { 0x89, 0x47, 0x44 }, { 0x49, 0x8b, 0x00 } }, .length = { 3, 3, 3 }, .n = 3,
	};
	const struct model_access access[] = { { 64, 4 }, { 68, 4 }, { 64, 8 } };
	struct core_desc d = parent.desc;
	double with = round_of(&d, &s, access);

	d.forward_fail_penalty = 0;
	assert_true(with == 17);
	assert_true(round_of(&d, &s, access) == with - parent.desc.forward_fail_penalty);
}

/* What has been found is the description's; what was left is the parent's. */
static void findings_count_in(void **state)
{
	struct findings *f = findings_new(&parent.desc);
	struct core_desc d;

	findings_add(f, "a latency", "cycles", estimate_exact(7), "l1d.latency", 7, NULL);
	findings_leave(f, "not there", "rob.entries", "no step");
	model_description(&parent, f, &d);
	assert_int_equal(d.l1d_latency, 7);
	assert_int_equal(d.rob_entries, parent.desc.rob_entries);
	findings_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains), cmocka_unit_test(failed_forwarding), cmocka_unit_test(findings_count_in),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
