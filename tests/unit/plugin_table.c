/* The plugin's hash table, against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "plugin/table.h"

enum { KEYS = 5000, TIMES = 3 };

/* Keys that are pages, as those of the plugin are: equal in their low bits. */
static uint64_t key(unsigned i)
{
	return (uint64_t)i * 4096;
}

static void finds_all(void **state)
{
	struct table t = { 0 };

	(void)state;
	assert_null(table_find(&t, 0, NULL));
	for (unsigned times = 0; times < TIMES; times++)
		for (unsigned i = 0; i < KEYS; i++)
			assert_true(table_add(&t, key(i), i * 10 + times));
	assert_int_equal(t.nr, KEYS * TIMES);
	for (unsigned i = 0; i < KEYS; i++) {
		unsigned seen = 0;
		for (const struct table_slot *s = table_find(&t, key(i), NULL); s; s = table_find(&t, key(i), s)) {
			assert_int_equal(s->value / 10, i);
			seen |= 1u << s->value % 10;
		}
		assert_int_equal(seen, (1u << TIMES) - 1);
	}
	assert_null(table_find(&t, key(KEYS), NULL));
	assert_null(table_find(&t, 1, NULL));
	table_find(&t, key(7), NULL)->value = 99;
	table_fini(&t);
	assert_null(table_find(&t, key(7), NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_all) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
