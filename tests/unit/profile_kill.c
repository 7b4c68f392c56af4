/*
 * Writers killed at random moments: the file is always one whole checkpoint, the last that was acknowledged or the
 * one after it, readable from a folder that nobody may write to. And who may not write where.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib.h>

#include "base/error.h"
#include "profile/profile.h"
#include "profile/query.h"
#include "symbol_fixture.h"

enum { KILLS = 60, ROWS = 400, LONGEST_US = 6000, NOBODY = 65534 };

/* Checkpoint after checkpoint; the number of each goes to `pipe` once it is committed. */
static void write_forever(const char *path, unsigned round, int pipe)
{
	struct profile *p;

	if (profile_create(&p, path))
		_exit(1);
	for (uint32_t n = 1;; n++) {
		profile_begin(p);
		profile_set_int(p, "instructions", n);
		profile_set_int(p, "seed", round);
		for (uint32_t i = 0; i < ROWS; i++)
			profile_cycles(p, i, 0, 1, n);
		if (profile_commit(p) || write(pipe, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

/* The checkpoint that is in the file, every row of which must be its own; in *round, by which writer. */
static uint64_t read_checkpoint(const char *path, uint64_t *round)
{
	const struct query_insn *rows;
	struct profile *p;
	struct query *q;
	uint64_t n;
	size_t nr;

	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	n = query_run(q)->instructions;
	*round = query_run(q)->seed;
	assert_false(query_run(q)->complete);
	assert_int_equal(query_hot(q, 0, &rows, &nr, NULL), 0);
	assert_int_equal(nr, n ? ROWS : 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(rows[i].stack.units, n);
	query_free(q);
	profile_close(p);
	return n;
}

/* As read_checkpoint(), by someone who may write nowhere. Without root it is this process itself. */
static void read_as_nobody(const char *path, uint64_t expected)
{
	struct profile *p;
	struct query *q;
	pid_t child = fork();
	int status;

	if (!child) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(2);
		_exit(profile_open(&p, path) || query_new(&q, p) || query_run(q)->instructions != expected);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The last number in a pipe whose writer is dead; `last` where there is none. */
static uint32_t last_number(int pipe, uint32_t last)
{
	uint32_t n;

	while (read(pipe, &n, sizeof(n)) == sizeof(n))
		last = n;
	return last;
}

/* Every fifth writer may be killed while it starts; the others have acknowledged a checkpoint before. */
static void kill_once(const char *folder, const char *path, unsigned round, gulong after_us)
{
	uint32_t acknowledged = 0;
	uint64_t found, writer;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[0]);
		write_forever(path, round, ends[1]);
	}
	close(ends[1]);
	if (round % 5)
		assert_int_equal(read(ends[0], &acknowledged, sizeof(acknowledged)), sizeof(acknowledged));
	g_usleep(after_us);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	acknowledged = last_number(ends[0], acknowledged);
	close(ends[0]);
	if (access(path, F_OK)) {
		assert_int_equal(acknowledged, 0);       /* killed before anything was promised */
		return;
	}
	assert_int_equal(chmod(folder, 0555), 0);
	found = read_checkpoint(path, &writer);
	if (writer == round)
		assert_in_range(found, acknowledged, acknowledged + 1);
	else
		assert_int_equal(acknowledged, 0);       /* the writer before, or the empty profile */
	read_as_nobody(path, found);
	assert_int_equal(chmod(folder, 0755), 0);
}

static void killed_writers(void **state)
{
	char *folder = g_build_filename(fixture_folder(), "kill", NULL), *path = g_build_filename(folder, "run.cw", NULL);
	GRand *random = g_rand_new_with_seed(1);

	assert_int_equal(chmod(fixture_folder(), 0755), 0);
	assert_int_equal(mkdir(folder, 0755), 0);
	for (unsigned round = 1; round <= KILLS; round++)
		kill_once(folder, path, round, (gulong)g_rand_int_range(random, 0, LONGEST_US));
	assert_true(fixture_run("cd %1/kill && ! ls -A | grep -vx -e run.cw -e run.cw.old -e .run.cw.part"));
	g_rand_free(random);
	g_free(path);
	g_free(folder);
}

static void earlier_profile_is_kept(void **state)
{
	const char *path = fixture_path("kept.cw");
	struct profile *p;
	uint64_t writer;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_begin(p), 0);
	assert_int_equal(profile_set_int(p, "seed", 5), 0);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_close(p), 0);
	read_checkpoint(path, &writer);
	assert_int_equal(writer, 0);
	read_checkpoint(fixture_path("kept.cw.old"), &writer);
	assert_int_equal(writer, 5);
	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_close(p), 0);
	read_checkpoint(fixture_path("kept.cw.old"), &writer);
	assert_int_equal(writer, 0);
}

static void one_writer_at_a_time(void **state)
{
	const char *path = fixture_path("shared.cw");
	struct profile *p, *second;

	assert_int_equal(profile_create(&p, path), 0);
	assert_int_equal(profile_create(&second, path), -EBUSY);
	assert_string_equal(error_get()->why, "another cyclewise is writing it");
	assert_int_equal(profile_begin(p), 0);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(profile_create(&second, path), -EBUSY);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_create(&second, path), 0);
	assert_int_equal(profile_close(second), 0);
}

static void check_refused(const char *path, int expected)
{
	char *before = NULL, *after = NULL;
	struct profile *p;

	g_file_get_contents(path, &before, NULL, NULL);
	assert_int_equal(profile_create(&p, path), expected);
	assert_string_not_equal(error_get()->why, "");
	g_file_get_contents(path, &after, NULL, NULL);
	if (before)
		assert_string_equal(before, after);
	g_free(before);
	g_free(after);
}

/* Nothing but a profile, or an empty file, is ever taken away. */
static void other_files_are_safe(void **state)
{
	struct profile *p;

	assert_true(fixture_run("echo precious > %1/text.cw; mkdir %1/folder.cw; mkfifo %1/fifo.cw; : > %1/nothing.cw; "
	                        "ln -s text.cw %1/link.cw"));
	check_refused(fixture_path("text.cw"), -EEXIST);
	assert_string_not_equal(error_get()->remedy, "");
	check_refused(fixture_path("link.cw"), -EEXIST);
	check_refused(fixture_path("folder.cw"), -EEXIST);
	check_refused("/dev/null", -EEXIST);
	assert_int_equal(profile_create(&p, fixture_path("fifo.cw")), -EEXIST);
	check_refused(fixture_path("none/run.cw"), -ENOENT);
	assert_int_equal(profile_create(&p, fixture_path("nothing.cw")), 0);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(access(fixture_path("nothing.cw.old"), F_OK), -1);
	assert_true(fixture_run("echo precious > %1/nothing.cw.old"));
	check_refused(fixture_path("nothing.cw"), -EEXIST);
	assert_string_equal(error_get()->what, fixture_path("nothing.cw.old"));
}

/* A link to a profile stays a link: the file it leads to is replaced. */
static void through_a_link(void **state)
{
	struct profile *p;
	struct stat st;
	uint64_t writer;

	assert_true(fixture_run("mkdir %1/elsewhere && : > %1/elsewhere/run.cw && ln -s elsewhere/run.cw %1/way.cw"));
	assert_int_equal(profile_create(&p, fixture_path("way.cw")), 0);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(lstat(fixture_path("way.cw"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(read_checkpoint(fixture_path("elsewhere/run.cw"), &writer), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_writers),
		cmocka_unit_test(earlier_profile_is_kept),
		cmocka_unit_test(one_writer_at_a_time),
		cmocka_unit_test(other_files_are_safe),
		cmocka_unit_test(through_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
