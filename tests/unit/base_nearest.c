/* base/nearest: what an unknown name is taken for. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *nearest(const char *name, const char *const *candidates)
{
	struct nearest n = { .name = name };

	for (; *candidates; candidates++)
		nearest_offer(&n, *candidates);
	return n.best;
}

static const char *const commands[] = { "run", "record", "report", "annotate", "stat", "cores", NULL };

static void test_typing_errors(void **state)
{
	assert_string_equal(nearest("reprot", commands), "report");     /* swapped */
	assert_string_equal(nearest("reort", commands), "report");      /* left out */
	assert_string_equal(nearest("annnotate", commands), "annotate");/* doubled */
	assert_string_equal(nearest("stet", commands), "stat");         /* changed */
}

static void test_beginning(void **state)
{
	assert_string_equal(nearest("ann", commands), "annotate");
	assert_string_equal(nearest("re", commands), "record");         /* of equals, the first offered */
}

static void test_nothing_near(void **state)
{
	assert_null(nearest("gzip", commands));
	assert_null(nearest("", commands));
	assert_null(nearest("x", commands));
}

static void test_nearer_wins_whatever_the_order(void **state)
{
	static const char *const far_first[] = { "recode", "record", NULL };
	static const char *const near_first[] = { "record", "recode", NULL };

	assert_string_equal(nearest("recrod", far_first), "record");
	assert_string_equal(nearest("recrod", near_first), "record");
}

static void test_longer_than_the_comparison(void **state)
{
	static const char huge[] = { [0 ... 999] = 'a', 0 };
	static const char *const names[] = { "aab", huge, NULL };

	assert_ptr_equal(nearest(huge, names), huge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing_errors),
		cmocka_unit_test(test_beginning),
		cmocka_unit_test(test_nothing_near),
		cmocka_unit_test(test_nearer_wins_whatever_the_order),
		cmocka_unit_test(test_longer_than_the_comparison),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
