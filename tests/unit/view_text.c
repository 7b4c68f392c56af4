/* view/text and view/stack: fields, filling, bars. */
#include "view/stack.h"
#include "view/text.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char *memory;
static size_t memory_size;

static struct text begin(unsigned width, bool colour)
{
	FILE *f = open_memstream(&memory, &memory_size);

	assert_non_null(f);
	return (struct text){ .out = f, .width = width, .colour = colour };
}

static void expect(struct text *t, const char *want)
{
	fclose(t->out);
	assert_string_equal(memory, want);
	free(memory);
}

#define FIELD(s, columns, pad, keep_end, want) do { \
	struct text t = begin(80, false); \
	text_field(&t, s, columns, pad, keep_end); \
	expect(&t, want); \
} while (0)

static void test_fields(void **state)
{
	FIELD("abc", 5, false, false, "abc");
	FIELD("abc", 5, true, false, "abc  ");
	FIELD("abcdef", 6, true, false, "abcdef");
	FIELD("abcdefg", 6, true, false, "abcde…");
	FIELD("abcdefg", 6, true, true, "…cdefg");
	FIELD("/a/path/file.c:12", 10, false, true, "…file.c:12");
	FIELD("äöüß", 3, false, false, "äö…");
	FIELD("漢字", 4, false, false, "漢字");
	FIELD("漢字漢", 4, true, false, "漢… ");    /* a wide character does not fit into one column */
	FIELD("漢字漢", 4, true, true, "…漢 ");
	FIELD("a\033[1mb\xff", 9, false, false, "a\\x1b[1m…");
	FIELD("a\033[1mb\xff", 20, false, false, "a\\x1b[1mb\\xff");
	FIELD("a\n\t\r\a\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x80\x81\\", 60, false, false,
	      "a\\n\\t\\r\\x07\\x7f\\u009b\\u202e\\u2028\\U000e0001\\");
	FIELD("ab\033", 5, true, true, "…\\x1b");
	FIELD("e\xcc\x81", 3, true, false, "e\xcc\x81  ");
	FIELD("", 2, true, false, "  ");
	FIELD("abc", 0, false, false, "");
	FIELD("abc", 1, false, true, "…");
}

static void test_filling(void **state)
{
	struct text t = begin(12, false);

	text_fill(&t, 4, 2, "one two three  four\nlongerthanaline x");
	/*          "....one two" */
	expect(&t, "one two\n  three four\n  longerthanaline\n  x\n");
}

static void test_styles(void **state)
{
	struct text t = begin(80, true);

	text_style(&t, "31");
	text_style(&t, NULL);
	expect(&t, "\033[31m\033[0m");
	t = begin(80, false);
	text_style(&t, "31");
	expect(&t, "");
}

static struct share exact(uint64_t units, uint64_t executions, unsigned signature)
{
	return (struct share){ .units = units, .executions = executions, .signature = (uint16_t)signature };
}

static void bar(const struct share *share, uint32_t nr, uint64_t full, unsigned width, const char *want)
{
	struct text t = begin(80, false);
	struct stack s = { .share = share, .nr = nr };

	stack_bar(&t, &s, full, width);
	expect(&t, want);
}

static void test_bars(void **state)
{
	const struct share parts[] = { exact(50, 1, 0), exact(25, 1, PSV_FL_MB), exact(25, 1, PSV_ST_L1 | PSV_ST_LLC) };
	const struct share thirds[] = { exact(1, 1, 0), exact(1, 1, PSV_DR_L1), exact(1, 1, PSV_DR_SQ) };
	const struct share tiny[] = { exact(1, 1, 0), exact(999, 1, PSV_ST_TLB) };

	bar(parts, 3, 100, 8, "====bbMM");
	bar(parts, 3, 200, 8, "==bM    ");
	bar(parts, 3, 100, 0, "");
	bar(parts, 3, 0, 4, "    ");
	bar(thirds, 3, 3, 10, "===iiiiqqq");    /* ends at 3.3, 6.7, 10 */
	bar(tiny, 2, 1000, 10, "tttttttttt");
	bar(NULL, 0, 100, 3, "   ");
}

/* However the parts are cut, a whole bar is full, and the letters of a part differ from its share by less than one. */
static void test_bars_have_no_rounding_to_add_up(void **state)
{
	struct share parts[NR_PSV];
	struct stack s = { .share = parts, .nr = NR_PSV };

	srand(1);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned width = 1 + (unsigned)rand() % 60;
		uint64_t full = 0;
		size_t at = 0;
		struct text t;

		for (unsigned i = 0; i < NR_PSV; i++) {
			parts[i] = exact((uint64_t)rand() % 1000, 1, 1u << i);
			full += parts[i].units;
		}
		t = begin(80, false);
		stack_bar(&t, &s, full, width);
		fclose(t.out);
		assert_int_equal(strlen(memory), width);
		assert_null(full ? strchr(memory, ' ') : NULL);
		for (unsigned i = 0; i < NR_PSV && full; i++) {
			size_t n = at < width ? strspn(memory + at, (char[]){ "ipqbxoctM"[i], 0 }) : 0;
			double exact = (double)parts[i].units * width / (double)full;

			assert_true((double)n > exact - 1 && (double)n < exact + 1);
			at += n;
		}
		free(memory);
	}
}

static void test_dominant(void **state)
{
	const struct share parts[] = { exact(10, 1, 0), exact(10, 1, PSV_DR_L1), exact(9, 1, PSV_ST_L1) };
	struct stack s = { .share = parts, .nr = 3 };

	assert_int_equal(stack_dominant(&s), 0);
	s.share++;
	s.nr = 2;
	assert_int_equal(stack_dominant(&s), PSV_DR_L1);
	s.nr = 0;
	assert_int_equal(stack_dominant(&s), 0);
}

static void test_sums(void **state)
{
	const struct share a[] = { exact(10, 1, 0), exact(5, 2, PSV_DR_L1) };
	const struct share b[] = { exact(5, 3, PSV_DR_L1), exact(10, 4, PSV_FL_MB), exact(0, 5, PSV_FL_EX) };
	struct stack_sum *sum = calloc(1, sizeof *sum);
	struct share ranked[1 << NR_PSV];

	stack_add(sum, &(struct stack){ .share = a, .nr = 2 });
	stack_add(sum, &(struct stack){ .share = b, .nr = 3 });
	assert_int_equal(sum->total, 30);
	assert_int_equal(stack_ranked(sum, ranked), 3);      /* without cycles: not shown */
	assert_int_equal(ranked[0].signature, 0);            /* ties by signature */
	assert_int_equal(ranked[1].signature, PSV_DR_L1);
	assert_int_equal(ranked[1].units, 10);
	assert_int_equal(ranked[1].executions, 5);
	assert_int_equal(ranked[2].signature, PSV_FL_MB);
	free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_filling),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_bars_have_no_rounding_to_add_up),
		cmocka_unit_test(test_dominant),
		cmocka_unit_test(test_sums),
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
