/* Perf maps of JIT compilers: lines good and bad, overlaps, owners. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <glib.h>

#include "base/error.h"
#include "symbol/symbol.h"
#include "symbol_fixture.h"

static struct perf_map *load(const char *text)
{
	const char *path = fixture_path("perf.map");
	struct perf_map *map = NULL;

	assert_true(g_file_set_contents(path, text, -1, NULL));
	assert_int_equal(perf_map_load(&map, path), 0);
	return map;
}

static void check(const struct perf_map *map, uint64_t pc, const char *name, uint64_t start, uint64_t size)
{
	uint64_t got_start, got_size;
	const char *got = perf_map_find(map, pc, &got_start, &got_size);

	if (!name) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	assert_int_equal(got_start, start);
	assert_int_equal(got_size, size);
}

static void names(void **state)
{
	struct perf_map *map = load("7f00 10 LazyCompile:~a b.js:1\n0x8000 0x20 second\n");

	check(map, 0x7eff, NULL, 0, 0);
	check(map, 0x7f00, "LazyCompile:~a b.js:1", 0x7f00, 0x10);
	check(map, 0x7f0f, "LazyCompile:~a b.js:1", 0x7f00, 0x10);
	check(map, 0x7f10, NULL, 0, 0);
	check(map, 0x801f, "second", 0x8000, 0x20);
	assert_int_equal(perf_map_malformed(map), 0);
	perf_map_free(map);
}

static void newest_wins(void **state)
{
	struct perf_map *map = load("1000 100 old\n1040 20 new\n1000 10 newer\n");

	check(map, 0x1000, "newer", 0x1000, 0x10);
	check(map, 0x1010, "old", 0x1000, 0x100);
	check(map, 0x1040, "new", 0x1040, 0x20);
	check(map, 0x105f, "new", 0x1040, 0x20);
	check(map, 0x1060, "old", 0x1000, 0x100);
	perf_map_free(map);
}

static void malformed_lines(void **state)
{
	struct perf_map *map = load("\n1000\n1000 \n1000 10\n1000 10 \nzz 10 a\n1000 zz a\n-1000 10 a\n1000 0 a\n"
	                            "ffffffffffffffff 10 a\n11111111111111111 1 a\n2000 10 good\r\n3000 10 last");

	check(map, 0x1000, NULL, 0, 0);
	check(map, 0x2000, "good", 0x2000, 0x10);
	check(map, 0x300f, "last", 0x3000, 0x10);
	assert_int_equal(perf_map_malformed(map), 10);
	perf_map_free(map);
}

static void nothing_in_it(void **state)
{
	struct perf_map *map = load("");

	check(map, 0, NULL, 0, 0);
	perf_map_free(map);
}

static void refused(void **state)
{
	const char *path = fixture_path("foreign.map"), *link = fixture_path("link.map");
	struct perf_map *map;

	assert_int_equal(perf_map_load(&map, fixture_path("none.map")), -ENOENT);
	assert_int_equal(perf_map_load(&map, fixture_folder()), -EISDIR);
	assert_true(g_file_set_contents(path, "1000 10 a\n", -1, NULL));
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(perf_map_load(&map, link), -ELOOP);
	assert_int_equal(mkfifo(fixture_path("pipe.map"), 0600), 0);
	assert_int_equal(perf_map_load(&map, fixture_path("pipe.map")), -EINVAL);
	assert_string_equal(error_get()->why, "is not a regular file");
	assert_int_equal(perf_map_load(&map, "/dev/zero"), -EINVAL);
	/* Holes take no disk, and are as long as one likes. */
	assert_true(g_file_set_contents(fixture_path("sparse.map"), "1000 10 a\n", -1, NULL));
	assert_int_equal(truncate(fixture_path("sparse.map"), (off_t)3 << 30), 0);
	assert_int_equal(perf_map_load(&map, fixture_path("sparse.map")), -EFBIG);
	assert_string_equal(error_get()->why, "is larger than 64 MiB");
	if (geteuid())
		skip();
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(perf_map_load(&map, path), -EPERM);
	assert_string_equal(error_get()->why, "belongs to another user");
}

static void random_bytes(void **state)
{
	static const char letters[] = "0123456789abcdefx \n\r-z";
	GRand *random = g_rand_new_with_seed(3);
	char text[200];
	uint64_t start, size;

	for (unsigned round = 0; round < 500; round++) {
		struct perf_map *map;
		int length = g_rand_int_range(random, 0, sizeof(text) - 1);

		for (int i = 0; i < length; i++)
			text[i] = letters[g_rand_int_range(random, 0, sizeof(letters) - 1)];
		text[length] = 0;
		map = load(text);
		for (uint64_t pc = 0; pc < 4096; pc += 7)
			if (perf_map_find(map, pc, &start, &size))
				assert_true(pc - start < size);
		perf_map_free(map);
	}
	g_rand_free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(newest_wins),
		cmocka_unit_test(malformed_lines),
		cmocka_unit_test(nothing_in_it),
		cmocka_unit_test(refused),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
