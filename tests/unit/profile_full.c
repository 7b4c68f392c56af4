/* No room left: the error is told, and the last checkpoint that had room is still the file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "symbol_fixture.h"

enum { FEW = 100, MANY = 200000, ROOM = 1 << 20 };

static int checkpoint(struct profile *p, uint32_t rows)
{
	int err = profile_begin(p);

	for (uint32_t i = 0; !err && i < rows; i++)
		err = profile_cycles(p, i, 0, 1, 1);
	return err ? err : profile_commit(p);
}

static void check_rows(const char *path, size_t expected)
{
	const struct query_insn *rows;
	struct profile *p;
	struct query *q;
	size_t nr;

	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_hot(q, 0, &rows, &nr, NULL), 0);
	assert_int_equal(nr, expected);
	query_free(q);
	assert_int_equal(profile_close(p), 0);
}

/* A small checkpoint, one that has no room, a small one again. */
static void fill(const char *path, int expected)
{
	struct profile *p;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(checkpoint(p, FEW), 0);
	assert_int_equal(checkpoint(p, MANY), expected);
	assert_string_not_equal(error_get()->remedy, "");
	check_rows(path, FEW);
	assert_int_equal(checkpoint(p, 2 * FEW), 0);
	check_rows(path, 2 * FEW);
	assert_int_equal(checkpoint(p, MANY), expected);
	assert_int_equal(profile_close(p), expected);
	check_rows(path, 2 * FEW);
}

static void file_size_limit(void **state)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = ROOM;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill(fixture_path("limited.cw"), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void full_disk(void **state)
{
	const char *folder = fixture_path("full");

	assert_int_equal(mkdir(folder, 0755), 0);
	if (mount("none", folder, "tmpfs", 0, "size=1m"))
		skip();
	fill(fixture_path("full/run.cw"), -ENOSPC);
	assert_int_equal(umount(folder), 0);
}

/* Not even the empty profile has room. */
static void full_from_the_start(void **state)
{
	struct rlimit before, limit;
	struct profile *p;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(profile_create(&p, fixture_path("none.cw")), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(access(fixture_path("none.cw"), F_OK), -1);
	assert_true(fixture_run("! ls -A %1 | grep none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_size_limit),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(full_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
