/*
 * ELF and DWARF that are damaged in fixed random ways: whatever the file says, the room answers and ends.
 *
 * The damage is put where it hurts: in the ELF header, the section headers and the debugging sections, by
 * overwriting bytes, by large numbers, by cutting the file short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <glib.h>

#include "symbol/symbol.h"
#include "symbol_fixture.h"

enum { MUTANTS = 1500, ADDRESSES = 96 };

static void take(void *ctx, uint64_t address, uint64_t size)
{
	*(uint64_t *)ctx = address ^ size;
}

static void take_probe(void *ctx, uint64_t address, const char *name, const char *args)
{
	*(uint64_t *)ctx = address ^ strlen(name) ^ strlen(args);
}

/* Every function of the room, at addresses in and around the code. True: the file could be opened. */
static bool exercise(const char *path, uint64_t start, uint64_t end)
{
	uint8_t bytes[64];
	struct symbols *s;
	struct place at;
	uint64_t any;
	bool opened;
	int file;

	assert_int_equal(symbols_new(&s), 0);
	file = symbols_open(s, path);
	opened = file >= 0;
	if (opened) {
		assert_true(strlen(symbols_build_id(s, file)) % 2 == 0);
		for (unsigned i = 0; i < ADDRESSES; i++) {
			uint64_t address = start + (end - start) * i / ADDRESSES;

			if (symbols_place(s, file, address, &at) && at.symbol)
				assert_true(strlen(at.symbol) && strlen(at.linkage));
			assert_true(at.nr_inlined <= 255);
			assert_true(symbols_bytes(s, file, address, bytes, sizeof(bytes)) <= sizeof(bytes));
			symbols_address(s, file, address, &any);
		}
		symbols_place(s, file, 0, &at);
		symbols_place(s, file, UINT64_MAX, &at);
		assert_true(symbols_find(s, file, "outer", take, &any) >= 0);
		assert_true(symbols_find(s, file, "shapes::box::grow", take, &any) >= 0);
		assert_true(symbols_probes(s, file, "cyclewise", take_probe, &any) >= 0);
	}
	symbols_free(s);
	return opened;
}

/* One kind of place a mutant: the ELF header, the section headers at the end, or anywhere behind the program headers. */
static void mutate(GRand *random, char *bytes, gsize *size)
{
	static const uint64_t numbers[] = { 0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, UINT64_MAX, INT64_MAX, 1ull << 32 };
	int kind = g_rand_int_range(random, 0, 8);
	unsigned nr = kind ? (unsigned)g_rand_int_range(random, 1, 64) : 1;

	for (unsigned i = 0; i < nr; i++) {
		gsize from = kind == 0 ? 16 : kind < 3 ? *size - 64 * 36 : 1024, to = kind == 0 ? 64 : *size;
		gsize at = (gsize)g_rand_double_range(random, (double)from, (double)to);
		gsize width = (gsize)1 << g_rand_int_range(random, 0, 4);
		uint64_t number = numbers[g_rand_int_range(random, 0, G_N_ELEMENTS(numbers))];

		if (g_rand_boolean(random)) {
			width = 1;
			number = g_rand_int(random);
		}
		memcpy(bytes + at, &number, MIN(width, *size - at));
	}
	if (!g_rand_int_range(random, 0, 20))
		*size = (gsize)g_rand_double_range(random, 1, (double)*size);
}

/* The bounds of .text, in which the addresses lie. */
static void text_bounds(const char *name, uint64_t *start, uint64_t *end)
{
	char *command = g_strdup_printf("objdump -h %%1/%s | awk '$2 == \".text\" { print $4, $3 }' > %%1/bounds", name), *text, *rest;

	assert_true(fixture_run(command));
	assert_true(g_file_get_contents(fixture_path("bounds"), &text, NULL, NULL));
	*start = g_ascii_strtoull(text, &rest, 16);
	*end = *start + g_ascii_strtoull(rest, NULL, 16);
	assert_true(*start < *end);
	g_free(command);
	g_free(text);
}

static void fuzz(const char *name, guint32 seed)
{
	GRand *random = g_rand_new_with_seed(seed);
	const char *path = fixture_path("mutant");
	uint64_t start, end;
	gsize size, kept;
	unsigned opened = 0;
	char *whole, *bytes;

	text_bounds(name, &start, &end);
	assert_true(exercise(fixture_path(name), start, end));
	assert_true(g_file_get_contents(fixture_path(name), &whole, &size, NULL));
	bytes = g_malloc(size);
	for (unsigned i = 0; i < MUTANTS; i++) {
		memcpy(bytes, whole, size);
		kept = size;
		mutate(random, bytes, &kept);
		assert_true(g_file_set_contents_full(path, bytes, (gssize)kept, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
		opened += exercise(path, start, end);
	}
	assert_in_range(opened, MUTANTS / 2, MUTANTS - 1);  /* most get past the door, and some do not */
	g_free(bytes);
	g_free(whole);
	g_rand_free(random);
}

static void c_program(void **state)
{
	assert_true(fixture_run("gcc -O2 -g -o %1/chain %2/chain.c"));
	fuzz("chain", 1);
}

static void older_dwarf(void **state)
{
	assert_true(fixture_run("gcc -O2 -gdwarf-4 -no-pie -o %1/older %2/chain.c"));
	fuzz("older", 2);
}

static void probes(void **state)
{
	assert_true(fixture_run("gcc -O2 -g -o %1/probe %2/probe.c"));
	fuzz("probe", 3);
}

static void stripped(void **state)
{
	assert_true(fixture_run("gcc -O2 -s -o %1/stripped %2/chain.c"));
	fuzz("stripped", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c_program),
		cmocka_unit_test(older_dwarf),
		cmocka_unit_test(probes),
		cmocka_unit_test(stripped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
