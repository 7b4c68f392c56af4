/* Every allocation of memory_new() fails in turn: -ENOMEM each time, and nothing is left behind (the sanitizer build sees to that). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cache/memory.h"
#include "core_memory_desc.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static int left = -1;          /* allocations before the one that fails; negative: none does */

void *__wrap_malloc(size_t n)
{
	return left >= 0 && left-- == 0 ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return left >= 0 && left-- == 0 ? NULL : __real_calloc(n, size);
}

static void each_fails(void **state)
{
	struct core_desc d;
	struct memory *m = NULL;
	int failures = 0;

	desc_skylake(&d);
	for (;; failures++) {
		left = failures;
		int err = memory_new(&m, &d);
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_null(m);
		assert_int_equal(left, -1);
		assert_in_range(failures, 0, 200);
	}
	assert_int_equal(left, 0);
	left = -1;
	/* Two L1 caches and two levels of four arrays each are among them. */
	assert_in_range(failures, 30, 200);
	memory_free(m);
	memory_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_fails) };
	return cmocka_run_group_tests_name("core memory allocations", tests, NULL, NULL);
}
