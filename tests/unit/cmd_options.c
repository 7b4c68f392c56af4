/* cmd/options: what a command line is taken for. */
#include "cmd/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { RUN = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST };

static int count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

/* Parses "command" and the words; the index of the first operand among the words, or -errno. */
#define PARSE(o, groups, permute, ...) \
	parse_words(o, groups, permute, (char *[]){ (char[]){ "command" }, __VA_ARGS__ __VA_OPT__(,) NULL })

static int parse_words(struct options *o, unsigned groups, bool permute, char **argv)
{
	int ret = options_parse(o, groups, permute, count(argv), argv);

	return ret < 0 ? ret : ret - 1;
}

#define W(s) ((char[]){ s })

static void test_everything(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, RUN, false, W("--core"), W("boom"), W("--model=ooo"), W("--set"), W("rob.entries=1"),
	                       W("--set=l2.size=0"), W("--scale"), W("dram.latency_ns=0.5"), W("--ideal"), W("l1d,branch"),
	                       W("--roi"), W("f"), W("--start-after"), W("g"), W("--stop-at"), W("h"), W("--skip"), W("10"),
	                       W("--count"), W("20"), W("--period"), W("30"), W("--seed"), W("40"), W("-o"), W("a.cw"),
	                       W("--json=j"), W("--report"), W("r"), W("--limit"), W("5"), W("-qv"), W("--no-progress"),
	                       W("gzip"), W("-9"), W("--help")), 33);
	assert_string_equal(o.core, "boom");
	assert_string_equal(o.model, "ooo");
	assert_int_equal(o.set->len, 2);
	assert_string_equal(o.set->pdata[0], "rob.entries=1");
	assert_string_equal(o.set->pdata[1], "l2.size=0");
	assert_string_equal(o.scale->pdata[0], "dram.latency_ns=0.5");
	assert_string_equal(o.ideal->pdata[0], "l1d,branch");
	assert_string_equal(o.window.roi, "f");
	assert_string_equal(o.window.start_after, "g");
	assert_string_equal(o.window.stop_at, "h");
	assert_int_equal(o.window.skip, 10);
	assert_int_equal(o.window.count, 20);
	assert_int_equal(o.period, 30);
	assert_int_equal(o.seed, 40);
	assert_string_equal(o.output, "a.cw");
	assert_true(o.json);
	assert_string_equal(o.json_file, "j");
	assert_string_equal(o.report, "r");
	assert_int_equal(o.limit, 5);
	assert_true(o.quiet && o.verbose && o.no_progress);
	assert_false(o.help); /* the program's own */
	options_fini(&o);
}

static void test_defaults(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, RUN, false), 0);
	assert_null(o.core);
	assert_int_equal(o.seed, 1);
	assert_int_equal(o.period, 0);
	assert_int_equal(o.set->len, 0);
	assert_false(o.json || o.quiet || o.verbose || o.no_progress || o.help);
	options_fini(&o);
}

/* --json takes its file with = alone: the next word is the program. */
static void test_json_without_file(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, RUN, false, W("--json"), W("gzip")), 1);
	assert_true(o.json);
	assert_null(o.json_file);
	options_fini(&o);
}

static void test_two_dashes_end_the_options(void **state)
{
	struct options o;

	assert_int_equal(PARSE(&o, RUN, false, W("-q"), W("--"), W("-v")), 2);
	assert_true(o.quiet);
	assert_false(o.verbose);
	options_fini(&o);
}

static void test_options_behind_operands(void **state)
{
	struct options o;
	char *argv[] = { W("report"), W("a.cw"), W("--limit"), W("3"), NULL };

	assert_int_equal(options_parse(&o, OPTIONS_LIST, true, 4, argv), 3);
	assert_string_equal(argv[3], "a.cw");
	assert_int_equal(o.limit, 3);
	options_fini(&o);
}

static void wrong(int ret, const char *what, const char *why, const char *remedy)
{
	const struct error *e = error_get();

	assert_int_equal(ret, -EINVAL);
	assert_string_equal(e->what, what);
	assert_string_equal(e->why, why);
	assert_string_equal(e->remedy, remedy);
	assert_int_equal(e->status, EXIT_USAGE);
}

static void test_mistakes(void **state)
{
	struct options o;

	wrong(PARSE(&o, RUN, false, W("--limt"), W("3")), "--limt", "no such option, or not one of this command",
	      "did you mean --limit? (--help lists the options)");
	options_fini(&o);
	wrong(PARSE(&o, RUN, false, W("-z")), "-z", "no such option, or not one of this command", "--help lists the options");
	options_fini(&o);
	wrong(PARSE(&o, OPTIONS_LIST, true, W("--core"), W("boom")), "--core", "no such option, or not one of this command",
	      "--help lists the options");
	options_fini(&o);
	wrong(PARSE(&o, RUN, false, W("--core")), "--core", "its argument is missing", "");
	options_fini(&o);
	wrong(PARSE(&o, OPTIONS_LIST, true, W("a.cw"), W("--limit")), "--limit", "its argument is missing", "");
	options_fini(&o);
	wrong(PARSE(&o, OPTIONS_LIST, true, W("a.cw"), W("b"), W("--no"), W("-q")), "--no", "no such option, or not one of this command",
	      "--help lists the options");
	options_fini(&o);
	wrong(PARSE(&o, RUN, false, W("-o")), "-o", "its argument is missing", "");
	options_fini(&o);
	wrong(PARSE(&o, RUN, false, W("--quiet=yes")), "--quiet=yes", "takes no argument", "");
	options_fini(&o);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = { "", "x", "-", "-1x", "+1", " 1", "1x", "1.5", "0x10", "18446744073709551616" };
	struct options o;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char why[64];

		snprintf(why, sizeof why, "'%s' is not a whole number", bad[i]);
		wrong(PARSE(&o, RUN, false, W("--skip"), (char *)(uintptr_t)bad[i]), "--skip", why, "");
		options_fini(&o);
	}
	assert_int_equal(PARSE(&o, RUN, false, W("--skip"), W("18446744073709551615")), 2);
	assert_true(o.window.skip == UINT64_MAX);
	options_fini(&o);
	wrong(PARSE(&o, RUN, false, W("--skip"), W("-1")), "--skip", "'-1' is too few", "give a whole number from 0 up");
	options_fini(&o);
	/* Where nothing is asked for with 0, that is a mistake. */
	assert_int_equal(PARSE(&o, RUN, false, W("--skip"), W("0"), W("--seed"), W("0")), 4);
	options_fini(&o);
	static const char *const counts[] = { "--count", "--period", "--limit" };
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		wrong(PARSE(&o, RUN, false, (char *)(uintptr_t)counts[i], W("0")), counts[i], "'0' is too few",
		      "give a whole number from 1 up");
		options_fini(&o);
	}
}

/* A script that asks for JSON is told in JSON, wherever the mistake stands. */
static void test_json_behind_a_mistake(void **state)
{
	struct options o;

	wrong(PARSE(&o, RUN, false, W("--limit"), W("x"), W("--json=f"), W("--nonsense")), "--limit", "'x' is not a whole number", "");
	assert_true(o.json);
	assert_string_equal(o.json_file, "f");
	options_fini(&o);
}

/* Whether one command may take both. */
static bool together(const struct option_row *a, const struct option_row *b)
{
	return a->groups == OPTIONS_ALL || b->groups == OPTIONS_ALL || (a->groups & b->groups);
}

/* The table itself: every option has a help and is told apart from all others of its commands. */
static void test_table(void **state)
{
	for (unsigned i = 0; i < nr_option_rows; i++) {
		assert_true(strlen(option_rows[i].help) > 10);
		assert_int_equal(option_rows[i].help[strlen(option_rows[i].help) - 1], '.');
		assert_int_equal(option_rows[i].kind == OPTION_FLAG, option_rows[i].metavar == NULL);
		for (unsigned k = 0; k < i; k++) {
			if (!together(&option_rows[i], &option_rows[k]))
				continue;
			assert_string_not_equal(option_rows[i].name, option_rows[k].name);
			assert_true(!option_rows[i].letter || option_rows[i].letter != option_rows[k].letter);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_json_without_file),
		cmocka_unit_test(test_two_dashes_end_the_options),
		cmocka_unit_test(test_options_behind_operands),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_json_behind_a_mistake),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
