/* Demangling, and which symbol a person means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>

#include "symbol/file.h"

static const struct { const char *linkage, *plain; } demanglings[] = {
	{ "main", "main" },
	{ "_start", "_start" },
	{ "_ZN6shapes4areaIiEET_S1_S1_", "int shapes::area<int>(int, int)" },
	{ "_ZNK6shapes3box4growEl", "shapes::box::grow(long) const" },
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_Z", "_Z" },
	{ "_ZN", "_ZN" },
};

static void demangled(void **state)
{
	struct symbol_file f = { .strings = g_string_chunk_new(256) };

	for (unsigned i = 0; i < G_N_ELEMENTS(demanglings); i++)
		assert_string_equal(demangle(&f, demanglings[i].linkage), demanglings[i].plain);
	assert_int_equal(f.kept_mangled, 0);
	g_string_chunk_free(f.strings);
}

/* The C++ name of a template whose arguments are each time the one before, twice: 2^n times as long. */
static char *doubling(unsigned n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	GString *s = g_string_new("_Z1f1AIiiE");

	for (unsigned k = 0; k < n; k++) {
		char last[8];

		if (k < 36)
			g_snprintf(last, sizeof last, "S%c_", digits[k]);
		else
			g_snprintf(last, sizeof last, "S1%c_", digits[k - 36]);
		g_string_append_printf(s, "S_I%s%sE", last, last);
	}
	return g_string_free(s, FALSE);
}

/* What stands for more than anyone reads is left as it is, counted, and takes no time. */
static void names_that_explode(void **state)
{
	static const unsigned levels[] = { 16, 26, 40, 60 };
	struct symbol_file f = { .strings = g_string_chunk_new(256) };
	char *name = doubling(5);

	assert_string_not_equal(demangle(&f, name), name);
	assert_int_equal(f.kept_mangled, 0);
	g_free(name);
	for (unsigned i = 0; i < G_N_ELEMENTS(levels); i++) {
		name = doubling(levels[i]);
		assert_ptr_equal(demangle(&f, name), name);
		assert_int_equal(f.kept_mangled, i + 1);
		g_free(name);
	}
	g_string_chunk_free(f.strings);
}

/* What is read again and again before anything is made of it. */
static void names_that_are_read_twice(void **state)
{
	struct symbol_file f = { .strings = g_string_chunk_new(256) };
	static const struct { const char *head, *level, *leaf, *tail; } kinds[] = {
		{ "_Z", "cvT_IL_Z", "1fv", "EE" }, { "_Z", "cvT_IL_Z", "1fQ", "" }, { "_ZcvPK", "T0_I", "i", "E" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		GString *name = g_string_new(kinds[i].head);

		for (unsigned k = 0; k < 60; k++)
			g_string_append(name, kinds[i].level);
		g_string_append(name, kinds[i].leaf);
		for (unsigned k = 0; k < 60; k++)
			g_string_append(name, kinds[i].tail);
		g_string_append_c(name, 'v');
		assert_ptr_equal(demangle(&f, name->str), name->str);
		assert_int_equal(f.kept_mangled, i + 1);
		g_string_free(name, TRUE);
	}
	/* Real ones stay. */
	assert_string_equal(demangle(&f, "_ZN1AcvT_I1BEIS0_EEv"), demangle(&f, "_ZN1AcvT_I1BEIS0_EEv"));
	assert_string_equal(demangle(&f, "_ZN2cv3MatcvPT_IiEEv"), "cv::Mat::operator int*<int>()");
	assert_int_equal(f.kept_mangled, G_N_ELEMENTS(kinds));
	g_string_chunk_free(f.strings);
}

/* However many names a file has, what is made of them is bounded. */
static void many_long_names(void **state)
{
	struct symbol_file f = { .strings = g_string_chunk_new(256), .plain_bytes = (1 << 28) - 1 };

	assert_string_equal(demangle(&f, "_ZN2ns1gEi"), "ns::g(int)");
	assert_string_equal(demangle(&f, "_ZN2ns1gEi"), "_ZN2ns1gEi");
	assert_int_equal(f.kept_mangled, 1);
	g_string_chunk_free(f.strings);
}

static const struct {
	const char *name, *linkage, *plain;
	enum name_match match;
} matches[] = {
	{ "main", "main", "main", NAME_WHOLE },
	{ "mai", "main", "main", NAME_OTHER },
	{ "ain", "main", "main", NAME_OTHER },
	{ "", "main", "main", NAME_OTHER },
	{ "f", "f.constprop.0", "f.constprop.0", NAME_STEM },
	{ "f", "f.cold", "f.cold", NAME_OTHER },
	{ "f.cold", "f.cold", "f.cold", NAME_WHOLE },
	{ "_ZN2ns1gEi", "_ZN2ns1gEi", "ns::g(int)", NAME_WHOLE },
	{ "ns::g(int)", "_ZN2ns1gEi", "ns::g(int)", NAME_WHOLE },
	{ "ns::g", "_ZN2ns1gEi", "ns::g(int)", NAME_STEM },
	{ "g", "_ZN2ns1gEi", "ns::g(int)", NAME_LAST },
	{ "s::g", "_ZN2ns1gEi", "ns::g(int)", NAME_OTHER },
	{ "ns", "_ZN2ns1gEi", "ns::g(int)", NAME_OTHER },
	{ "A::h", "x", "A::h(void (*)(int)) const", NAME_STEM },
	{ "A::operator()", "x", "A::operator()(int)", NAME_STEM },
	{ "A::operator()", "x", "A::operator()", NAME_WHOLE },
	{ "(anonymous namespace)::k", "x", "(anonymous namespace)::k(int)", NAME_STEM },
	{ "k", "x", "(anonymous namespace)::k(int)", NAME_LAST },
	{ "m<a::b>", "x", "ns::m<a::b>(int) &", NAME_LAST },
	{ "b>", "x", "ns::m<a::b>(int) &", NAME_OTHER },
	{ "n", "x", "n(int) [clone .isra.0]", NAME_STEM },
};

static void matched(void **state)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(matches); i++)
		if (name_match(matches[i].name, matches[i].linkage, matches[i].plain) != matches[i].match)
			fail_msg("%s for %s", matches[i].name, matches[i].plain);
}

/* Names from a hostile file: the demangler and the matcher take any bytes. */
static void random_names(void **state)
{
	static const char letters[] = "_ZN4coreIiES_T_RNvC0123E(<[]>):: &*";
	struct symbol_file f = { .strings = g_string_chunk_new(256) };
	GRand *random = g_rand_new_with_seed(2);
	char name[64];

	for (unsigned round = 0; round < 20000; round++) {
		int length = g_rand_int_range(random, 0, 40);

		for (int i = 0; i < length; i++)
			name[i] = letters[g_rand_int_range(random, 0, sizeof(letters) - 1)];
		name[length] = 0;
		assert_non_null(demangle(&f, name));
		assert_int_equal(name_match(name, name, name), length ? NAME_WHOLE : NAME_OTHER);
		assert_true(name_match("E", "x", name) <= NAME_WHOLE);
	}
	g_rand_free(random);
	g_string_chunk_free(f.strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangled),
		cmocka_unit_test(names_that_explode),
		cmocka_unit_test(names_that_are_read_twice),
		cmocka_unit_test(many_long_names),
		cmocka_unit_test(matched),
		cmocka_unit_test(random_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
