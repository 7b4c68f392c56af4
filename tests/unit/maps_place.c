/* Mappings over time, against an array with one entry a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/maps.h"

static void simple(void **state)
{
	struct maps *m;
	uint64_t offset;

	(void)state;
	assert_int_equal(maps_new(&m), 0);
	assert_int_equal(maps_find(m, 0x1000, &offset), MODULE_NONE);
	assert_int_equal(maps_add(m, 0x10000, 0x18000, 0, "/bin/a"), 0);
	assert_int_equal(maps_add(m, 0x12000, 0x14000, 0x1000, "/lib/b"), 0); /* in its middle */
	assert_int_equal(maps_modules(m), 2);
	assert_string_equal(maps_path(m, 0), "/bin/a");
	assert_string_equal(maps_path(m, 1), "/lib/b");
	assert_null(maps_path(m, 2));

	assert_int_equal(maps_find(m, 0x10008, &offset), 0);
	assert_int_equal(offset, 8);
	assert_int_equal(maps_find(m, 0x13fff, &offset), 1);
	assert_int_equal(offset, 0x2fff);
	assert_int_equal(maps_find(m, 0x14000, &offset), 0);
	assert_int_equal(offset, 0x4000);
	assert_int_equal(maps_find(m, 0x18000, &offset), MODULE_NONE);

	maps_note(m, 5, 0x13000);
	maps_remove(m, 0x11000, 0x15000);
	assert_int_equal(maps_find(m, 0x13000, &offset), MODULE_NONE);
	assert_int_equal(maps_find(m, 0x15000, &offset), 0);
	assert_int_equal(offset, 0x5000);
	assert_int_equal(maps_place(m, 5, &offset), 1); /* remembered from before */
	assert_int_equal(offset, 0x2000);
	assert_int_equal(maps_place(m, 4, &offset), MODULE_NONE);
	assert_int_equal(maps_place(m, 6, &offset), MODULE_NONE);

	maps_move(m, 0x15000, 0x3000, 0x40000, 0x5000);
	assert_int_equal(maps_find(m, 0x15000, &offset), MODULE_NONE);
	assert_int_equal(maps_find(m, 0x44fff, &offset), 0);
	assert_int_equal(offset, 0x9fff);
	assert_int_equal(maps_add(m, 0x42000, 0x43000, 0, NULL), 0); /* anonymous */
	assert_int_equal(maps_find(m, 0x42000, &offset), MODULE_NONE);
	assert_int_equal(maps_find(m, 0x43000, &offset), 0);
	assert_int_equal(maps_add(m, 0x5000, 0x5000, 0, "/bin/a"), -22);
	maps_free(m);
	maps_free(NULL);
}

enum { PAGES = 64, ROUNDS = 20000 };

struct page {
	uint32_t module;
	uint64_t offset;
};

static void random_against_pages(void **state)
{
	static const char *const paths[] = { "/a", "/b", "/c" };
	struct page page[PAGES];
	struct maps *m;

	(void)state;
	maps_new(&m);
	for (uint32_t i = 0; i < 3; i++)
		maps_add(m, 0x100000 + i * 4096, 0x100000 + (i + 1) * 4096, 0, paths[i]);
	for (unsigned i = 0; i < PAGES; i++)
		page[i] = (struct page){ MODULE_NONE, 0 };
	srand(1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned start = (unsigned)rand() % PAGES, end = start + 1 + (unsigned)rand() % (PAGES - start);
		unsigned what = (unsigned)rand() % 5, offset = (unsigned)rand() % 100;
		if (what < 3)
			maps_add(m, start * 4096, end * 4096, offset * 4096, paths[what]);
		else
			maps_remove(m, start * 4096, end * 4096);
		for (unsigned i = start; i < end; i++)
			page[i] = (struct page){ what < 3 ? what : MODULE_NONE, what < 3 ? (offset + i - start) * 4096 : 0 };
		for (unsigned i = 0; i < PAGES; i++) {
			uint64_t at;
			assert_int_equal(maps_find(m, i * 4096 + 7, &at), page[i].module);
			assert_int_equal(at, page[i].module == MODULE_NONE ? 0 : page[i].offset + 7);
		}
	}
	assert_int_equal(maps_modules(m), 3);
	maps_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple),
		cmocka_unit_test(random_against_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
