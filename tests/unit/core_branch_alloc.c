/* Every allocation of branch_new() fails in turn: -ENOMEM each time, and nothing is left behind (the sanitizer build sees to that). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/params.h"
#include "core/predict/branch.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static int left = -1;          /* allocations before the one that fails; negative: none does */

void *__wrap_calloc(size_t n, size_t size)
{
	return left >= 0 && left-- == 0 ? NULL : __real_calloc(n, size);
}

/* The unit, and how many allocations it took. */
static void each_fails(const char *core, const char *setting, int allocations)
{
	struct branch_unit *b;
	struct core_desc d;
	int failures = 0, ret;

	assert_int_equal(core_desc_load(&d, core), 0);
	assert_int_equal(core_desc_set(&d, setting), 0);
	do {
		left = failures;
		ret = branch_new(&b, &d);
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			assert_null(b);
			assert_string_equal(error_get()->what, "branch predictor");
			failures++;
		}
	} while (ret);
	left = -1;
	assert_int_equal(failures, allocations);
	branch_free(b);
	branch_free(NULL);
}

/* The unit, its state; the predictor's own; two levels of BTB, indirect targets. */
static void every_predictor(void **state)
{
	each_fails("skylake-sp", "branch.predictor=tage", 2 + 4 + 3);
	each_fails("skylake-sp", "branch.predictor=gshare", 2 + 4 + 3);
	each_fails("skylake-sp", "branch.predictor=bimodal", 2 + 2 + 3);
	each_fails("boom", "branch.btb1_entries=0", 2 + 4 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_predictor) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
