/*
 * ELF and DWARF made to hurt: entries that are found again and again, and names of files that never end. Each must be
 * answered at once; the test hangs where it is not. What was passed over is noted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <glib.h>

#include "symbol/symbol.h"
#include "symbol_fixture.h"

static void take(void *ctx, uint64_t address, uint64_t size)
{
	*(uint64_t *)ctx = address;
}

static void take_note(void *ctx, const char *note)
{
	g_string_append_printf(ctx, "%s\n", note);
}

/* Places the function `name` of a program; what is noted of it must have `note` in it, or there must be none (NULL). */
static struct place look(const char *program, const char *name, const char *note)
{
	static struct symbols *s; /* for its strings: of the last one */
	GString *notes = g_string_new(NULL);
	struct place at;
	uint64_t address = 0;
	int file;

	symbols_free(s);
	assert_int_equal(symbols_new(&s), 0);
	file = symbols_open(s, fixture_path(program));
	assert_true(file >= 0);
	assert_int_equal(symbols_find(s, file, name, take, &address), 1);
	assert_true(symbols_place(s, file, address, &at));
	assert_string_equal(at.symbol, name);
	symbols_notes(s, take_note, notes);
	if (note ? !strstr(notes->str, note) : notes->len)
		fail_msg("%s: notes: '%s', not '%s'", program, notes->str, note ? note : "");
	g_string_free(notes, TRUE);
	return at;
}

/*
 * A unit of DWARF 4 with the entries `entries` (assembly), for a function `_start`. Abbreviations: 2, a lexical block
 * with DW_AT_sibling and children; 3, one without it, with children; 4, a leaf with DW_AT_sibling; 5, a leaf; 6, an
 * enumeration, which holds no code, without DW_AT_sibling, with children.
 */
static void assemble(const char *name, const char *entries)
{
	static const char head[] =
		".globl _start\n.text\n.Lt0:\n_start: nop\n nop\n.Lt1:\n.type _start,@function\n.size _start,.-_start\n"
		".section .debug_abbrev,\"\",@progbits\n"
		".byte 1,0x11,1, 0x11,1, 0x12,7, 3,8, 0,0\n"
		".byte 2,11,1, 1,0x13, 0,0\n.byte 3,11,1, 0,0\n.byte 4,11,0, 1,0x13, 0,0\n.byte 5,11,0, 0,0\n"
		".byte 6,4,1, 0,0\n.byte 0\n"
		".section .debug_info,\"\",@progbits\n.Lcu: .long .Lend-.Lv\n.Lv: .value 4\n.long .debug_abbrev\n.byte 8\n"
		".Lunit: .byte 1\n.quad .Lt0\n.quad .Lt1-.Lt0\n.asciz \"x.c\"\n";
	char *text = g_strconcat(head, entries, ".byte 0\n.Lend:\n", NULL), *source = g_strconcat(name, ".s", NULL);
	char *command = g_strdup_printf("gcc -nostdlib -static -o %%1/%s %%1/%s", name, source);

	assert_true(g_file_set_contents(fixture_path(source), text, -1, NULL));
	assert_true(fixture_run(command));
	g_free(command);
	g_free(source);
	g_free(text);
}

static void siblings(void **state)
{
	GString *s = g_string_new(NULL);

	/* Each leads to its own first child: followed, the walk is of 2^64 entries. */
	for (unsigned i = 0; i < 64; i++)
		g_string_append_printf(s, ".Ld%u: .byte 2\n.long .Ld%u-.Lcu\n", i, i + 1);
	g_string_append(s, ".Ld64: .byte 5\n");
	for (unsigned i = 0; i < 64; i++)
		g_string_append(s, ".byte 0\n");
	assemble("doubling", s->str);
	look("doubling", "_start", "debugging information is damaged");
	g_string_free(s, TRUE);

	/* Each leads back: to itself, to the first, to the unit; below entries that say nothing of where they end. */
	assemble("self", ".Ld0: .byte 4\n.long .Ld0-.Lcu\n");
	look("self", "_start", "debugging information is damaged");
	assemble("self-below", ".byte 3\n.Ld0: .byte 4\n.long .Ld0-.Lcu\n.byte 0\n.byte 5\n");
	look("self-below", "_start", "debugging information is damaged");
	assemble("self-in-type", ".byte 6\n.Ld0: .byte 4\n.long .Ld0-.Lcu\n.byte 0\n.byte 5\n");
	look("self-in-type", "_start", "debugging information is damaged");
	assemble("back", ".byte 3\n.Ld0: .byte 5\n.byte 5\n.byte 4\n.long .Ld0-.Lcu\n.byte 0\n.byte 5\n");
	look("back", "_start", "debugging information is damaged");
	assemble("unit", ".byte 3\n.byte 4\n.long .Lunit-.Lcu\n.byte 0\n.byte 5\n");
	look("unit", "_start", "debugging information is damaged");

	/* And as it should be: with and without it, with a list that is empty. */
	assemble("sound", ".byte 3\n.byte 5\n.Ld0: .byte 2\n.long .Ld1-.Lcu\n.byte 5\n.byte 0\n.Ld1: .byte 6\n.byte 5\n.byte 0\n"
		 ".byte 3\n.byte 0\n.byte 0\n.byte 5\n");
	look("sound", "_start", NULL);
}

/* Nested so deep that it is not followed, with as much at the bottom: what is gone over again has its bound, too. */
static void deep(void **state)
{
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < 500; i++)
		g_string_append(s, ".byte 3\n");
	g_string_append(s, ".fill 1000000,1,5\n");
	for (unsigned i = 0; i < 500; i++)
		g_string_append(s, ".byte 0\n");
	assemble("deep", s->str);
	look("deep", "_start", "debugging information is damaged");
	g_string_free(s, TRUE);
}

static void make_linked(void)
{
	assert_true(fixture_run("gcc -O1 -g -Wl,--build-id=none -o %1/linked %2/chain.c && "
	                        "objcopy --only-keep-debug %1/linked %1/apart.debug && "
	                        "objcopy --strip-debug --add-gnu-debuglink=%1/apart.debug %1/linked && rm %1/apart.debug"));
}

static void debug_links(void **state)
{
	make_linked();
	assert_null(look("linked", "outer", NULL).file);
	assert_int_equal(symlink("/dev/zero", fixture_path("apart.debug")), 0);
	look("linked", "outer", "apart.debug is not a regular file");
	assert_int_equal(unlink(fixture_path("apart.debug")), 0);
	assert_int_equal(mkfifo(fixture_path("apart.debug"), 0600), 0);
	look("linked", "outer", "apart.debug is not a regular file");
	assert_int_equal(unlink(fixture_path("apart.debug")), 0);
	assert_true(g_file_set_contents(fixture_path("apart.debug"), "x", -1, NULL));
	assert_int_equal(truncate(fixture_path("apart.debug"), (off_t)1 << 40), 0);
	look("linked", "outer", "apart.debug is larger than 4096 MiB");
	assert_int_equal(unlink(fixture_path("apart.debug")), 0);
}

/* What libdw opens by itself: the units of split DWARF, and the file that dwz moves strings to. */
static void files_of_the_library(void **state)
{
	assert_true(fixture_run("cd %1 && gcc -O1 -g -gsplit-dwarf -gdwarf-5 -c -o split.o %2/chain.c && gcc -o split split.o"));
	assert_non_null(look("split", "outer", NULL).file);
	assert_true(fixture_run("cd %1 && rm split.dwo && mkfifo split.dwo"));
	look("split", "outer", "split.dwo is not a regular file");

	assert_true(fixture_run("cd %1 && gcc -O1 -g -o whole %2/chain.c && mkfifo supplement && "
	                        "printf 'supplement\\0aaaaaaaaaaaaaaaaaaaa' > link && "
	                        "objcopy --add-section .gnu_debugaltlink=link whole"));
	look("whole", "outer", "supplement is not a regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siblings),
		cmocka_unit_test(deep),
		cmocka_unit_test(debug_links),
		cmocka_unit_test(files_of_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
