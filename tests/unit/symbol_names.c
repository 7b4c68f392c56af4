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
	GStringChunk *strings = g_string_chunk_new(256);

	for (unsigned i = 0; i < G_N_ELEMENTS(demanglings); i++)
		assert_string_equal(demangle(strings, demanglings[i].linkage), demanglings[i].plain);
	g_string_chunk_free(strings);
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
	GStringChunk *strings = g_string_chunk_new(256);
	GRand *random = g_rand_new_with_seed(2);
	char name[64];

	for (unsigned round = 0; round < 20000; round++) {
		int length = g_rand_int_range(random, 0, 40);

		for (int i = 0; i < length; i++)
			name[i] = letters[g_rand_int_range(random, 0, sizeof(letters) - 1)];
		name[length] = 0;
		assert_non_null(demangle(strings, name));
		assert_int_equal(name_match(name, name, name), length ? NAME_WHOLE : NAME_OTHER);
		assert_true(name_match("E", "x", name) <= NAME_WHOLE);
	}
	g_rand_free(random);
	g_string_chunk_free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangled),
		cmocka_unit_test(matched),
		cmocka_unit_test(random_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
