/* Every registry: what is listed has a name of its own and says what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cmd/command.h"
#include "core/core.h"
#include "method/method.h"
#include "source/source.h"
#include "view/view.h"

#define REGISTRY(test, list, find, ...) \
	static void test_##test(void **state) \
	{ \
		assert_non_null(list[0]); \
		for (size_t i = 0; list[i]; i++) { \
			assert_true(list[i]->help && strlen(list[i]->help) > 10); \
			assert_ptr_equal(find(list[i]->name), list[i]); \
			__VA_ARGS__ \
		} \
		assert_null(find("")); \
		assert_null(find("no such")); \
	}

REGISTRY(commands, command_list, command_find,
	assert_true(strlen(command_list[i]->summary) > 10);
	assert_non_null(command_list[i]->usage);
	assert_non_null(command_list[i]->run);
	assert_int_equal(command_list[i]->runs, (command_list[i]->groups & OPTIONS_RUN) != 0);)
REGISTRY(views, view_list, view_find,
	assert_non_null(view_list[i]->text);
	assert_non_null(view_list[i]->json);)
REGISTRY(methods, method_list, method_find,
	assert_true(method_list[i]->state_size > 0 && method_list[i]->lane_size > 0);)
REGISTRY(cores, core_list, core_find, assert_non_null(core_list[i]->batch);)

static void test_sources(void **state)
{
	assert_non_null(source_find("qemu"));
	assert_null(source_find("no such"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_cores),
		cmocka_unit_test(test_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
