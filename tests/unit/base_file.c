/* base/file: what may be read, and how much of it. base/shown: what a terminal gets of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/shown.h"

static char *folder;

static const char *at(const char *name)
{
	static char path[256];

	g_snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	folder = g_dir_make_tmp("file-XXXXXX", NULL);
	return !folder;
}

static int remove_folder(void **state)
{
	g_unlink(at("file"));
	g_unlink(at("pipe"));
	return g_rmdir(folder);
}

static void regular_files_are_read(void **state)
{
	char *big = g_strnfill(200000, 'x'), *text;
	size_t bytes;

	assert_true(g_file_set_contents(at("file"), big, -1, NULL));
	assert_int_equal(file_read(&text, &bytes, at("file"), 200000), 0);
	assert_int_equal(bytes, 200000);
	assert_string_equal(text, big);
	free(text);
	assert_true(file_regular(at("file")));
	/* A size that is not told: files of the kernel. */
	assert_int_equal(file_read(&text, &bytes, "/proc/self/status", 1 << 20), 0);
	assert_true(bytes > 0);
	free(text);
	assert_int_equal(file_read(&text, &bytes, "/proc/self/status", 10), -EFBIG);
	g_free(big);
}

static void other_files_are_not(void **state)
{
	struct stat st;
	char *text;
	size_t bytes;
	int pipes[2];
	char link[64];

	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	assert_int_equal(file_read(&text, &bytes, at("pipe"), 100), -EINVAL);
	assert_string_equal(error_get()->why, "is not a regular file");
	assert_false(file_regular(at("pipe")));
	assert_int_equal(file_read(&text, &bytes, "/dev/zero", 100), -EINVAL);
	assert_int_equal(file_read(&text, &bytes, folder, 100), -EISDIR);
	assert_int_equal(file_read(&text, &bytes, at("none"), 100), -ENOENT);
	assert_int_equal(pipe(pipes), 0);
	g_snprintf(link, sizeof link, "/proc/self/fd/%d", pipes[0]);
	assert_int_equal(file_read(&text, &bytes, link, 100), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	/* Longer than any disk. */
	assert_true(g_file_set_contents(at("file"), "x", -1, NULL));
	assert_int_equal(truncate(at("file"), (off_t)1 << 40), 0);
	assert_int_equal(file_open(at("file"), 0, 3 << 20, &st), -EFBIG);
	assert_string_equal(error_get()->why, "is larger than 3 MiB");
	assert_int_equal(file_read(&text, &bytes, at("file"), 100), -EFBIG);
	assert_string_equal(error_get()->why, "is larger than 100 bytes");
}

static void where_text_ends(void **state)
{
	char *text;
	size_t bytes;

	assert_true(g_file_set_contents(at("file"), "a\nb\xc3\xa9" "c\xff", -1, NULL));
	assert_int_equal(file_read_text(&text, &bytes, at("file"), 100), -EINVAL);
	assert_true(g_str_has_suffix(error_get()->what, "/file:2:5"));
	assert_true(g_file_set_contents(at("file"), "a\nb\xc3\xa9", -1, NULL));
	assert_int_equal(file_read_text(&text, &bytes, at("file"), 100), 0);
	assert_int_equal(bytes, 5);
	free(text);
}

static void what_is_shown(void **state)
{
	static const struct { const char *outside, *shown; } rows[] = {
		{ "a b\\n\"'", "a b\\n\"'" }, { "\n\t\r", "\\n\\t\\r" }, { "\033]0;t\a", "\\x1b]0;t\\x07" },
		{ "\xff\xc3(", "\\xff\\xc3(" }, { "\xc2\x9b", "\\u009b" }, { "\xe2\x80\xae\xe2\x81\xa6", "\\u202e\\u2066" },
		{ "\xe2\x80\xa8", "\\u2028" }, { "\xe6\xbc\xa2\xc3\xa9", "\xe6\xbc\xa2\xc3\xa9" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		char *once = shown(rows[i].outside), *twice = shown(once);

		assert_string_equal(once, rows[i].shown);
		assert_string_equal(twice, once);
		g_free(once);
		g_free(twice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_files_are_read),
		cmocka_unit_test(other_files_are_not),
		cmocka_unit_test(where_text_ends),
		cmocka_unit_test(what_is_shown),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
