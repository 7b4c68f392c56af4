/*
 * Names, lines and inline chains of programs compiled for the test, in the shapes that executables come in.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glib.h>

#include "base/error.h"
#include "symbol/symbol.h"
#include "symbol_fixture.h"

/* Compilers of other ISAs, dwz and libdebuginfod may be missing: at most this many tests are skipped. */
enum { MOST_SKIPPED = 4 };

static unsigned skipped;

struct found {
	uint64_t address, size;
	unsigned nr;
};

static void take(void *ctx, uint64_t address, uint64_t size)
{
	struct found *found = ctx;

	found->address = address;
	found->size = size;
	found->nr++;
}

struct program {
	struct symbols *symbols;
	int file;
};

static struct program load(const char *name)
{
	struct program p;

	assert_int_equal(symbols_new(&p.symbols), 0);
	p.file = symbols_open(p.symbols, fixture_path(name));
	assert_true(p.file >= 0);
	return p;
}

static struct found find(struct program p, const char *name)
{
	struct found found = { 0 };
	int nr = symbols_find(p.symbols, p.file, name, take, &found);

	assert_int_equal(nr, found.nr);
	return found;
}

static struct place place(struct program p, uint64_t address)
{
	struct place place;

	assert_true(symbols_place(p.symbols, p.file, address, &place));
	return place;
}

/* What `objdump` or `nm` piped through a filter prints, as one number. */
static uint64_t ask(const char *command)
{
	char *redirected = g_strdup_printf("(%s) > %%1/answer", command), *text;
	uint64_t number;

	assert_true(fixture_run(redirected));
	assert_true(g_file_get_contents(fixture_path("answer"), &text, NULL, NULL));
	number = g_ascii_strtoull(text, NULL, 16);
	assert_true(number);
	g_free(redirected);
	g_free(text);
	return number;
}

static bool ends_with(const char *text, const char *end)
{
	return text && g_str_has_suffix(text, end);
}

static void need(const char *program)
{
	char *found = g_find_program_in_path(program);

	g_free(found);
	if (found)
		return;
	fprintf(stderr, "%s is not installed\n", program);
	assert_true(++skipped <= MOST_SKIPPED);
	skip();
}

/* The inline chain of outer() in fixtures/chain.c, wherever the compiler put it. */
static void check_chain(struct program p)
{
	struct found outer = find(p, "outer");
	unsigned in_inner = 0, in_middle = 0, in_outer = 0;

	assert_int_equal(outer.nr, 1);
	assert_true(outer.size);
	for (uint64_t address = outer.address; address < outer.address + outer.size; address++) {
		struct place at = place(p, address);

		assert_string_equal(at.symbol, "outer");
		assert_string_equal(at.linkage, "outer");
		assert_int_equal(at.start, outer.address);
		assert_int_equal(at.size, outer.size);
		assert_true(ends_with(at.file, "chain.c"));
		if (!at.nr_inlined) {
			in_outer += at.line == 20;
			continue;
		}
		assert_string_equal(at.inlined[at.nr_inlined - 1].symbol, "middle");
		assert_int_equal(at.inlined[at.nr_inlined - 1].line, 19);
		assert_true(ends_with(at.inlined[at.nr_inlined - 1].file, "chain.c"));
		in_middle += at.nr_inlined == 1 && at.line == 14;
		if (at.nr_inlined == 1)
			continue;
		assert_int_equal(at.nr_inlined, 2);
		assert_string_equal(at.inlined[0].symbol, "inner");
		assert_int_equal(at.inlined[0].line, 13);
		in_inner += at.line == 8;
	}
	assert_true(in_inner && in_middle && in_outer);
}

static void add_bytes(void *ctx, uint64_t start, uint64_t end)
{
	*(uint64_t *)ctx += end - start;
}

/* The copies of inlined functions have the code that chains put down to them; functions are where they are declared. */
static void check_inlined(struct program p)
{
	struct found outer = find(p, "outer");
	uint64_t inner = 0, middle = 0, none = 0, in_inner = 0, in_middle = 0;
	const char *file;
	uint32_t line;

	assert_int_equal(symbols_find_inlined(p.symbols, p.file, "inner", add_bytes, &inner), 1);
	assert_int_equal(symbols_find_inlined(p.symbols, p.file, "middle", add_bytes, &middle), 1);
	symbols_find_inlined(p.symbols, p.file, "outer", add_bytes, &none);
	assert_int_equal(symbols_find_inlined(p.symbols, p.file, "rand", add_bytes, &none), 0); /* declared only */
	for (uint64_t address = outer.address; address < outer.address + outer.size; address++) {
		in_middle += place(p, address).nr_inlined > 0;
		in_inner += place(p, address).nr_inlined > 1;
	}
	assert_true(inner && inner < middle && middle < outer.size && !none);
	assert_int_equal(inner, in_inner);
	assert_int_equal(middle, in_middle);
	assert_true(symbols_declared(p.symbols, p.file, outer.address, &file, &line));
	assert_true(ends_with(file, "chain.c"));
	assert_int_equal(line, 17);
}

static void check_program(const char *name)
{
	struct program p = load(name);
	struct place at;

	check_chain(p);
	check_inlined(p);
	at = place(p, find(p, "main").address);
	assert_string_equal(at.symbol, "main");
	assert_int_equal(at.line, 38);
	symbols_free(p.symbols);
}

#define CHAIN " -O2 -g -Wl,--build-id -o %1/"

static void position_independent(void **state)
{
	assert_true(fixture_run("gcc -fPIE -pie" CHAIN "pie %2/chain.c"));
	check_program("pie");
}

static void fixed_position(void **state)
{
	assert_true(fixture_run("gcc -no-pie -fno-pie" CHAIN "fixed %2/chain.c"));
	check_program("fixed");
}

static void older_dwarf(void **state)
{
	assert_true(fixture_run("gcc -gdwarf-4" CHAIN "dwarf4 %2/chain.c"));
	check_program("dwarf4");
}

/* What a function's declaration says of files is said by another unit, or numbers them otherwise. */
static void other_units(void **state)
{
	assert_true(fixture_run("gcc -flto" CHAIN "lto %2/chain.c"));
	check_program("lto");
	assert_true(fixture_run("gcc -gsplit-dwarf" CHAIN "split %2/chain.c"));
	check_program("split");
	assert_true(fixture_run("gcc -gdwarf-4 -gsplit-dwarf" CHAIN "split4 %2/chain.c"));
	check_program("split4");
}

static void from_clang(void **state)
{
	struct program p;

	need("clang");
	assert_true(fixture_run("clang" CHAIN "clang %2/chain.c"));
	p = load("clang");
	check_inlined(p);
	symbols_free(p.symbols);
}

static void compressed(void **state)
{
	assert_true(fixture_run("gcc -gz" CHAIN "compressed %2/chain.c"));
	check_program("compressed");
}

/* Which binutils can do, and GCC where it was built for it. */
static void compressed_with_zstd(void **state)
{
	assert_true(fixture_run("gcc" CHAIN "zstd_whole %2/chain.c && "
	                        "objcopy --compress-debug-sections=zstd %1/zstd_whole %1/zstd && strip -o %1/zstd_split %1/zstd && "
	                        "objcopy --only-keep-debug %1/zstd %1/zstd_split.debug && "
	                        "cd %1 && objcopy --add-gnu-debuglink=zstd_split.debug zstd_split"));
	check_program("zstd");
	check_program("zstd_split");
}

static void without_address_ranges(void **state)
{
	assert_true(fixture_run("gcc" CHAIN "ranges %2/chain.c && objcopy --remove-section .debug_aranges %1/ranges"));
	check_program("ranges");
}

static void statically_linked(void **state)
{
	struct program p;
	char slot[64] = "";

	assert_true(fixture_run("gcc -static" CHAIN "static %2/chain.c"));
	check_program("static");
	p = load("static");
	g_snprintf(slot, sizeof(slot), "%s", place(p, ask("objdump -h %1/static | awk '$2 == \".plt\" { print $4 }'")).symbol);
	assert_true(ends_with(slot, "@plt"));
	assert_false(g_str_has_prefix(slot, "*ABS*"));
	symbols_free(p.symbols);
}

/* Stripped, with the debugging information elsewhere: first nothing is known of it, then it is found. */
static void separate_by_build_id(void **state)
{
	struct program p;
	char *command;

	assert_true(fixture_run("gcc" CHAIN "whole %2/chain.c"));
	p = load("whole");
	assert_int_equal(strlen(symbols_build_id(p.symbols, p.file)), 40);
	command = g_strdup_printf("mkdir -p %%1/debug/.build-id/%.2s && objcopy --only-keep-debug %%1/whole "
	                          "%%1/debug/.build-id/%.2s/%s.debug && strip -o %%1/stripped %%1/whole",
	                          symbols_build_id(p.symbols, p.file), symbols_build_id(p.symbols, p.file),
	                          symbols_build_id(p.symbols, p.file) + 2);
	symbols_free(p.symbols);
	assert_true(fixture_run(command));
	p = load("stripped");
	assert_int_equal(find(p, "outer").nr, 0);
	symbols_free(p.symbols);
	command = (g_free(command), g_strdup_printf("/nowhere:%s", fixture_path("debug")));
	g_setenv("CYCLEWISE_DEBUG_DIR", command, TRUE);
	check_program("stripped");
	g_unsetenv("CYCLEWISE_DEBUG_DIR");
	g_free(command);
}

/* What dwz moved into a file of its own: beside the debug file, then in a folder by build-id, as Debian's are. */
static void shared_by_dwz(void **state)
{
	struct program p;
	char *id, *command;

	need("dwz");
	assert_true(fixture_run("gcc" CHAIN "dwz1 %2/chain.c && gcc" CHAIN "dwz2 %2/chain.c && cd %1 && "
	                        "dwz -L none -l none -m shared.debug -M /usr/lib/debug/.dwz/shared.debug dwz1 dwz2"));
	p = load("dwz1");
	id = g_strdup(symbols_build_id(p.symbols, p.file));
	symbols_free(p.symbols);
	command = g_strdup_printf("mkdir -p %%1/dwz/.build-id/%.2s %%1/dwz/.dwz && cd %%1 && mv shared.debug dwz/.dwz && "
	                          "objcopy --only-keep-debug dwz1 dwz/.build-id/%.2s/%s.debug && strip -o dwz3 dwz1", id, id, id + 2);
	assert_true(fixture_run(command));
	g_setenv("CYCLEWISE_DEBUG_DIR", fixture_path("dwz"), TRUE);
	check_program("dwz1");
	check_program("dwz3");
	g_free(command);
	command = g_strdup("id=$(readelf -n %1/dwz/.dwz/shared.debug | sed -n 's/.*Build ID: //p') && "
	                   "folder=%1/dwz/.build-id/$(echo $id | cut -c 1-2) && mkdir -p $folder && "
	                   "mv %1/dwz/.dwz/shared.debug $folder/$(echo $id | cut -c 3-).debug");
	assert_true(fixture_run(command));
	check_program("dwz3");
	g_unsetenv("CYCLEWISE_DEBUG_DIR");
	g_free(command);
	g_free(id);
}

/* From a server, here one of files, and only where there is one. */
static void separate_by_server(void **state)
{
	void *client = dlopen("libdebuginfod.so.1", RTLD_LAZY);
	struct program p;
	char *text;

	if (!client) {
		fprintf(stderr, "libdebuginfod is not installed\n");
		assert_true(++skipped <= MOST_SKIPPED);
		skip();
	}
	dlclose(client);
	assert_true(fixture_run("gcc" CHAIN "served_whole %2/chain.c && strip -o %1/served %1/served_whole"));
	p = load("served_whole");
	text = g_strdup_printf("mkdir -p %%1/server/buildid/%s && objcopy --only-keep-debug %%1/served_whole "
	                       "%%1/server/buildid/%s/debuginfo", symbols_build_id(p.symbols, p.file),
	                       symbols_build_id(p.symbols, p.file));
	symbols_free(p.symbols);
	assert_true(fixture_run(text));
	g_unsetenv("DEBUGINFOD_URLS");
	p = load("served");
	assert_int_equal(find(p, "outer").nr, 0);
	symbols_free(p.symbols);
	text = (g_free(text), g_strconcat("file://", fixture_path("server"), NULL));
	g_setenv("DEBUGINFOD_URLS", text, TRUE);
	g_setenv("DEBUGINFOD_CACHE_PATH", fixture_path("cache"), TRUE);
	check_program("served");
	g_unsetenv("DEBUGINFOD_URLS");
	g_free(text);
}

static void separate_by_link(void **state)
{
	assert_true(fixture_run("gcc -O2 -g -Wl,--build-id=none -o %1/linked %2/chain.c && mkdir -p %1/.debug && "
	                        "objcopy --only-keep-debug %1/linked %1/.debug/linked.debug && strip %1/linked && "
	                        "cd %1/.debug && objcopy --add-gnu-debuglink=linked.debug %1/linked"));
	check_program("linked");
	assert_true(fixture_run("echo >> %1/.debug/linked.debug"));  /* the CRC is wrong now */
	struct program p = load("linked");
	assert_int_equal(find(p, "outer").nr, 0);
	symbols_free(p.symbols);
}

/* Fedora's way: a compressed symbol table within the stripped file. */
static void mini_debug_info(void **state)
{
	struct program p;
	struct found outer;

	assert_true(fixture_run("gcc -O2 -o %1/mini %2/chain.c && objcopy --only-keep-debug %1/mini %1/mini.debug && xz -f %1/mini.debug && "
	                        "strip %1/mini && objcopy --add-section .gnu_debugdata=%1/mini.debug.xz %1/mini"));
	p = load("mini");
	outer = find(p, "outer");
	assert_int_equal(outer.nr, 1);
	assert_true(outer.size);
	assert_string_equal(place(p, outer.address + 1).symbol, "outer");
	symbols_free(p.symbols);
}

/* Of symbols at one address: a function before a label, global before weak before local. */
static void choice_of_symbol(void **state)
{
	struct program p;
	struct found sized, after;
	struct place at;

	assert_true(fixture_run("gcc" CHAIN "choice %2/chain.c"));
	p = load("choice");
	assert_string_equal(place(p, find(p, "twin").address).linkage, "twin_alias");
	sized = find(p, "sized");
	after = find(p, "after");
	assert_int_equal(sized.size, 8);
	assert_string_equal(place(p, sized.address + 7).symbol, "sized");
	at = place(p, sized.address + 8);
	assert_string_equal(at.symbol, "unsized");
	assert_int_equal(at.size, 24);
	assert_int_equal(find(p, "unsized").size, 24);
	assert_string_equal(place(p, after.address - 1).symbol, "unsized");
	assert_string_equal(place(p, after.address).symbol, "after");
	symbols_free(p.symbols);
}

/* The stubs of the procedure linkage table, by the address objdump gives for them. */
static void check_stub(const char *name, const char *objdump)
{
	struct program p = load(name);
	char *command = g_strdup_printf("%s -d %%1/%s | sed -n 's/^\\([0-9a-f]*\\) <rand@plt>:$/\\1/p'", objdump, name);
	struct place at = place(p, ask(command));

	assert_string_equal(at.symbol, "rand@plt");
	assert_string_equal(at.linkage, "rand@plt");
	assert_int_equal(find(p, "rand@plt").address, at.start);
	g_free(command);
	symbols_free(p.symbols);
}

static void stubs(void **state)
{
	assert_true(fixture_run("gcc -fcf-protection=none" CHAIN "lazy %2/chain.c -Wl,-z,lazy"));
	check_stub("lazy", "objdump");
	assert_true(fixture_run("gcc -fcf-protection" CHAIN "branch %2/chain.c -Wl,-z,lazy -Wl,-z,ibtplt"));
	check_stub("branch", "objdump");
	assert_true(fixture_run("gcc" CHAIN "now %2/chain.c -Wl,-z,now"));
	check_stub("now", "objdump");
}

static void aarch64(void **state)
{
	need("aarch64-linux-gnu-gcc");
	assert_true(fixture_run("aarch64-linux-gnu-gcc" CHAIN "aarch64 %2/chain.c"));
	check_program("aarch64");
	check_stub("aarch64", "aarch64-linux-gnu-objdump");
	assert_true(fixture_run("aarch64-linux-gnu-gcc -mbranch-protection=standard -Wl,-z,force-bti" CHAIN "bti %2/chain.c 2>/dev/null"));
	check_stub("bti", "aarch64-linux-gnu-objdump");
}

static void riscv64(void **state)
{
	need("riscv64-linux-gnu-gcc");
	assert_true(fixture_run("riscv64-linux-gnu-gcc" CHAIN "riscv64 %2/chain.c"));
	check_program("riscv64");
	check_stub("riscv64", "riscv64-linux-gnu-objdump");
}

static void cplusplus(void **state)
{
	struct program p;
	struct found grow;
	struct place at;
	unsigned inlined = 0;

	assert_true(fixture_run("g++" CHAIN "templates %2/templates.cc"));
	p = load("templates");
	at = place(p, find(p, "int shapes::area<int>(int, int)").address);
	assert_string_equal(at.linkage, "_ZN6shapes4areaIiEET_S1_S1_");
	assert_int_equal(find(p, "double shapes::area<double>").nr, 1);
	grow = find(p, "shapes::box::grow");
	assert_int_equal(grow.nr, 1);
	for (uint64_t address = grow.address; address < grow.address + grow.size; address++) {
		at = place(p, address);
		if (!at.nr_inlined)
			continue;
		assert_string_equal(at.inlined[0].symbol, "shapes::box::hit(long) const");
		assert_int_equal(at.inlined[0].line, 22);
		inlined += at.line == 17;
	}
	assert_true(inlined);
	assert_string_equal(place(p, ask("objdump -d %1/templates | sed -n 's/^\\([0-9a-f]*\\) <_Znwm@plt>:$/\\1/p'")).symbol,
	                    "operator new(unsigned long)@plt");
	symbols_free(p.symbols);
}

/* Innermost line, then the lines of the calls, as "8 13 19 "; 0: unknown. */
static char *lines_of(struct program p, uint64_t address)
{
	GString *text = g_string_new(NULL);
	struct place at;

	symbols_place(p.symbols, p.file, address, &at);
	g_string_append_printf(text, "%u ", at.line);
	for (uint32_t i = 0; i < at.nr_inlined; i++)
		g_string_append_printf(text, "%u ", at.inlined[i].line);
	return g_string_free(text, FALSE);
}

/* The same from what addr2line -i prints for one address: "FILE:LINE", with or without "(discriminator N)". */
static char *lines_of_block(char **line)
{
	GString *text = g_string_new(NULL);

	for (; *line && **line && !g_str_has_prefix(*line, "0x"); line++)
		g_string_append_printf(text, "%u ", (unsigned)g_ascii_strtoull(strrchr(*line, ':') + 1, NULL, 10));
	return g_string_free(text, FALSE);
}

/* Each byte of a program's code, against addr2line, which walks the whole unit for each. */
static void check_against_addr2line(const char *name)
{
	struct program p = load(name);
	uint64_t address = ask("objdump -h %1/reference | awk '$2 == \".text\" { print $4 }'");
	uint64_t size = ask("objdump -h %1/reference | awk '$2 == \".text\" { print $3 }'");
	char *command, *text, **lines;
	unsigned compared = 0;

	command = g_strdup_printf("seq %llu %llu | xargs printf '%%x\\n' | addr2line -aie %%1/%s > %%1/addr2line",
	                          (unsigned long long)address, (unsigned long long)(address + size - 1), name);
	assert_true(fixture_run(command));
	assert_true(g_file_get_contents(fixture_path("addr2line"), &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && **line; line++) {
		char *theirs, *ours;

		if (!g_str_has_prefix(*line, "0x"))
			continue;
		theirs = lines_of_block(line + 1);
		ours = lines_of(p, g_ascii_strtoull(*line, NULL, 16));
		assert_string_equal(ours, theirs);
		g_free(theirs);
		g_free(ours);
		compared++;
	}
	assert_int_equal(compared, size);
	g_strfreev(lines);
	g_free(text);
	g_free(command);
	symbols_free(p.symbols);
}

static void same_as_addr2line(void **state)
{
	assert_true(fixture_run("g++ -O3 -g -o %1/reference %2/templates.cc"));
	check_against_addr2line("reference");
}

/* Every exported function of this process's own C library is named where it starts. */
static void c_library(void **state)
{
	unsigned checked = 0;
	struct symbols *s;
	struct place at;
	char *text, *at_line, *end;
	int file;

	assert_true(fixture_run("path=$(ldd $(command -v ls) | awk '/libc\\.so/ { print $3 }') && ln -s \"$path\" %1/libc && "
	                        "nm -D --defined-only %1/libc | awk '$2 == \"T\" { print $1 }' > %1/exported"));
	assert_true(g_file_get_contents(fixture_path("exported"), &text, NULL, NULL));
	assert_int_equal(symbols_new(&s), 0);
	file = symbols_open(s, fixture_path("libc"));
	assert_true(file >= 0);
	for (at_line = text; *at_line; at_line = end + 1, checked++) {
		uint64_t address = g_ascii_strtoull(at_line, &end, 16);

		assert_true(symbols_place(s, file, address, &at));
		assert_non_null(at.symbol);
		assert_int_equal(at.start, address);
	}
	assert_true(checked > 500);
	symbols_free(s);
	g_free(text);
}

struct probes {
	unsigned nr;
	uint64_t address[4];
	char name[4][16], args[4][16];
};

static void take_probe(void *ctx, uint64_t address, const char *name, const char *args)
{
	struct probes *probes = ctx;

	assert_true(probes->nr < 4);
	probes->address[probes->nr] = address;
	g_strlcpy(probes->name[probes->nr], name, 16);
	g_strlcpy(probes->args[probes->nr++], args, 16);
}

static void check_probes(const char *name, uint64_t moved)
{
	struct program p = load(name);
	struct found first = find(p, "first"), second = find(p, "second");
	struct probes probes = { 0 };

	assert_int_equal(symbols_probes(p.symbols, p.file, "cyclewise", take_probe, &probes), 2);
	assert_string_equal(probes.name[0], "begin");
	assert_string_equal(probes.args[0], "-4@$7");
	assert_in_range(probes.address[0], first.address + moved, first.address + moved + first.size - 1);
	assert_string_equal(probes.name[1], "end");
	assert_string_equal(probes.args[1], "");
	assert_in_range(probes.address[1], second.address + moved, second.address + moved + second.size - 1);
	assert_int_equal(symbols_probes(p.symbols, p.file, "none", take_probe, &probes), 0);
	symbols_free(p.symbols);
}

static void static_probes(void **state)
{
	assert_true(fixture_run("gcc -O1 -no-pie -o %1/probe %2/probe.c"));
	check_probes("probe", 0);
	assert_true(fixture_run("objcopy --change-section-address .stapsdt.base+0x1000 %1/probe %1/moved 2>/dev/null"));
	check_probes("moved", 0x1000);
}

static void offsets_and_bytes(void **state)
{
	struct program p;
	struct found outer;
	uint64_t offset, address;
	uint8_t bytes[16], whole[16];
	char *text;
	gsize size;

	assert_true(fixture_run("gcc -no-pie" CHAIN "offsets %2/chain.c"));
	p = load("offsets");
	outer = find(p, "outer");
	offset = outer.address - ask("objdump -h %1/offsets | awk '$2 == \".text\" { print $4 }'") +
		ask("objdump -h %1/offsets | awk '$2 == \".text\" { print $6 }'");
	assert_true(symbols_address(p.symbols, p.file, offset, &address));
	assert_int_equal(address, outer.address);
	assert_false(symbols_address(p.symbols, p.file, 1ull << 40, &address));
	assert_int_equal(symbols_bytes(p.symbols, p.file, outer.address, bytes, sizeof(bytes)), sizeof(bytes));
	assert_true(g_file_get_contents(fixture_path("offsets"), &text, &size, NULL));
	memcpy(whole, text + offset, sizeof(whole));
	assert_memory_equal(bytes, whole, sizeof(bytes));
	assert_int_equal(symbols_bytes(p.symbols, p.file, 16, bytes, sizeof(bytes)), 0);
	g_free(text);
	symbols_free(p.symbols);
}

static void not_programs(void **state)
{
	struct symbols *s;
	struct place at;
	int file;

	assert_int_equal(symbols_new(&s), 0);
	assert_int_equal(symbols_open(s, fixture_path("none")), -ENOENT);
	assert_int_equal(symbols_open(s, fixture_folder()), -EISDIR);
	assert_int_equal(symbols_open(s, "/dev/null"), -EINVAL);
	assert_true(g_file_set_contents(fixture_path("text"), "text", -1, NULL));
	assert_int_equal(symbols_open(s, fixture_path("text")), -EINVAL);
	assert_int_equal(symbols_open(s, fixture_path("text")), -EINVAL);
	assert_string_equal(error_get()->what, fixture_path("text"));
	assert_true(fixture_run("gcc" CHAIN "twice %2/chain.c"));
	file = symbols_open(s, fixture_path("twice"));
	assert_int_equal(symbols_open(s, fixture_path("twice")), file);
	assert_false(symbols_place(s, file, UINT64_MAX, &at));
	assert_null(at.symbol);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(position_independent),
		cmocka_unit_test(fixed_position),
		cmocka_unit_test(older_dwarf),
		cmocka_unit_test(other_units),
		cmocka_unit_test(from_clang),
		cmocka_unit_test(compressed),
		cmocka_unit_test(compressed_with_zstd),
		cmocka_unit_test(without_address_ranges),
		cmocka_unit_test(statically_linked),
		cmocka_unit_test(separate_by_build_id),
		cmocka_unit_test(separate_by_server),
		cmocka_unit_test(shared_by_dwz),
		cmocka_unit_test(separate_by_link),
		cmocka_unit_test(mini_debug_info),
		cmocka_unit_test(choice_of_symbol),
		cmocka_unit_test(stubs),
		cmocka_unit_test(aarch64),
		cmocka_unit_test(riscv64),
		cmocka_unit_test(cplusplus),
		cmocka_unit_test(same_as_addr2line),
		cmocka_unit_test(c_library),
		cmocka_unit_test(static_probes),
		cmocka_unit_test(offsets_and_bytes),
		cmocka_unit_test(not_programs),
	};

	g_unsetenv("DEBUGINFOD_URLS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
