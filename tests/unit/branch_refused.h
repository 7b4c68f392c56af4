/* Settings that no branch unit can be made of. */
#ifndef CYCLEWISE_TESTS_BRANCH_REFUSED_H
#define CYCLEWISE_TESTS_BRANCH_REFUSED_H

#include <errno.h>

#include "base/error.h"
#include "core/params.h"
#include "core/predict/branch.h"

/* Skylake-SP with `setting` is refused, for the reason `why`. */
static inline void assert_no_unit(const char *setting, const char *why)
{
	struct branch_unit *b;
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	assert_int_equal(core_desc_set(&d, setting), 0);
	assert_int_equal(branch_new(&b, &d), -EINVAL);
	assert_null(b);
	assert_string_equal(error_get()->what, "skylake-sp");
	assert_string_equal(error_get()->why, why);
}

#endif
