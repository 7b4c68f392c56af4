/* view/json and view/number: the exact bytes. */
#include "view/json.h"
#include "view/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

/* What `write` writes. The caller frees it. */
static char *written(void (*write)(struct json *j))
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	assert_non_null(f);
	json_init(&j, f);
	write(&j);
	json_fini(&j);
	fclose(f);
	return text;
}

#define EXPECT(write, want) do { \
	char *got = written(write); \
	assert_string_equal(got, want); \
	free(got); \
} while (0)

static void empty_object(struct json *j)
{
	json_object(j, NULL);
	json_end_object(j);
}

static void nested(struct json *j)
{
	json_object(j, NULL);
	json_uint(j, "n", UINT64_MAX);
	json_array(j, "list");
	json_object(j, NULL);
	json_int(j, "a", INT64_MIN);
	json_array(j, "b");
	json_bool(j, NULL, true);
	json_bool(j, NULL, false);
	json_null(j, NULL);
	json_end_array(j);
	json_end_object(j);
	json_object(j, NULL);
	json_end_object(j);
	json_end_array(j);
	json_array(j, "none");
	json_end_array(j);
	json_hex(j, "at", 0xdeadbeef12);
	json_end_object(j);
}

static void one_line(struct json *j)
{
	j->indented = 0;
	json_object(j, NULL);
	json_array(j, "set");
	json_string(j, NULL, "a");
	json_string(j, NULL, "b");
	json_end_array(j);
	json_null(j, "x");
	json_end_object(j);
}

static void test_layout(void **state)
{
	EXPECT(empty_object, "{}\n");
	EXPECT(nested, "{\n  \"n\": 18446744073709551615,\n  \"list\": [\n"
	       "    {\"a\": -9223372036854775808, \"b\": [true, false, null]},\n    {}\n  ],\n  \"none\": [],\n"
	       "  \"at\": \"0xdeadbeef12\"\n}\n");
	EXPECT(one_line, "{\"set\": [\"a\", \"b\"], \"x\": null}\n");
}

static void strings(struct json *j)
{
	j->indented = 0;
	json_array(j, NULL);
	json_string(j, NULL, NULL);
	json_string(j, NULL, "");
	json_string(j, NULL, "q\" b\\ n\n t\t \x01 \x7f");
	json_string(j, NULL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
	json_string(j, NULL, "\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81"); /* what a terminal could obey */
	json_string(j, NULL, "\xff" "a\xc3");          /* no beginning; cut short at the end */
	json_string(j, NULL, "\xe2\x82(\xed\xa0\x80"); /* cut short by another; a surrogate */
	json_end_array(j);
}

static void test_strings(void **state)
{
	EXPECT(strings, "[null, \"\", \"q\\\" b\\\\ n\\u000a t\\u0009 \\u0001 \\u007f\", \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82\", "
	       "\"\\u009b\\u202e\\udb40\\udc01\", \"\\ufffda\\ufffd\", \"\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd\"]\n");
}

static void ratios(struct json *j)
{
	j->indented = 0;
	json_array(j, NULL);
	json_ratio(j, NULL, 0, 720720);
	json_ratio(j, NULL, 720720, 720720);
	json_ratio(j, NULL, 1, 720720);
	json_ratio(j, NULL, 360360, 720720);
	json_ratio(j, NULL, 240240, 720720);
	json_ratio(j, NULL, 480480, 720720);
	json_ratio(j, NULL, 1999999, 2000000); /* a half: up */
	json_ratio(j, NULL, 19999999, 20000000);
	json_ratio(j, NULL, UINT64_MAX, 720720);
	json_ratio(j, NULL, UINT64_MAX, UINT64_MAX);
	json_ratio(j, NULL, 5, 0);
	json_end_array(j);
}

static void test_ratios(void **state)
{
	EXPECT(ratios, "[0, 1, 0.000001, 0.5, 0.333333, 0.666667, 1, 1, 25594882997155.000021, 1, null]\n");
}

static void parts(struct json *j)
{
	j->indented = 0;
	json_array(j, NULL);
	json_share(j, NULL, 0);
	json_share(j, NULL, 1);
	json_share(j, NULL, 0.25);
	json_share(j, NULL, 1.0 / 3);
	json_share(j, NULL, 1e-7);
	json_share(j, NULL, 4e-13);
	json_share(j, NULL, 1.5);
	json_share(j, NULL, -0.5);
	json_share(j, NULL, NAN);
	json_end_array(j);
}

static void test_parts(void **state)
{
	EXPECT(parts, "[0, 1, 0.25, 0.333333333333, 0.0000001, 0, null, null, null]\n");
}

/* Six decimals tell any two shares apart: rounding what is printed gives the share back. */
static void test_shares_come_back(void **state)
{
	for (uint64_t units = 0; units < 720720; units++) {
		char buf[NUMBER_SIZE], *point;
		uint64_t millionths = 0;

		number_ratio(buf, units, 720720, 6);
		point = buf + 1;
		assert_int_equal(*point, '.');
		millionths = strtoull(point + 1, NULL, 10) + (buf[0] == '1' ? 1000000 : 0);
		assert_int_equal((millionths * 720720 + 500000) / 1000000, units);
	}
}

static void test_decimals(void **state)
{
	char buf[NUMBER_SIZE];

	assert_string_equal(number_ratio(buf, 5, 2, 0), "3"); /* halves go up */
	assert_string_equal(number_ratio(buf, 7, 2, 1), "3.5");
	assert_string_equal(number_ratio(buf, 1999, 1000, 2), "2.00");
	assert_string_equal(number_ratio(buf, 1, 3, 2), "0.33");
	assert_string_equal(number_grouped(buf, 0), "0");
	assert_string_equal(number_grouped(buf, 999), "999");
	assert_string_equal(number_grouped(buf, 1000), "1,000");
	assert_string_equal(number_grouped(buf, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(number_whole(buf, 1500, 1000), "2");
	assert_string_equal(number_whole(buf, 1499, 1000), "1");
	assert_string_equal(number_whole(buf, 1234567500, 1000), "1,234,568");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_ratios), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_shares_come_back),
		cmocka_unit_test(test_decimals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
