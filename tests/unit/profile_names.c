/*
 * Instructions named and read back: modules, functions, lines and chains of a real program, JIT code by its perf
 * map, nameless code; orders, sums, limits; and that checkpoints do not change what the last one says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <glib.h>

#include "profile/profile.h"
#include "profile/query.h"
#include "profile_fake.h"
#include "symbol/symbol.h"
#include "symbol_fixture.h"

enum { JIT = 0x70000000, VDSO = 0x7fff0000, LOADED = 0x555500000000 };

/* The program of fixtures/chain.c, where its functions are. */
struct target {
	const char *path;
	uint64_t outer, outer_size, twin;
	uint64_t bias;             /* of address over offset, in .text */
};

static struct target target;

static void take(void *ctx, uint64_t address, uint64_t size)
{
	uint64_t *found = ctx;

	found[0] = address;
	found[1] = size;
}

static int build(void **state)
{
	uint64_t found[2], address;
	struct symbols *s;
	int file;

	if (!fixture_run("gcc -O2 -g -no-pie -Wl,--build-id -o %1/target %2/chain.c"))
		return -1;
	target.path = g_strdup(fixture_path("target"));
	if (symbols_new(&s) || (file = symbols_open(s, target.path)) < 0)
		return -1;
	symbols_find(s, file, "twin", take, found);
	target.twin = found[0];
	symbols_find(s, file, "outer", take, found);
	target.outer = found[0];
	target.outer_size = found[1];
	target.bias = symbols_address(s, file, 0x1000, &address) ? address - 0x1000 : 0;
	symbols_free(s);
	return 0;
}

static uint32_t target_insn(struct fake *f, uint32_t module, uint64_t address)
{
	return fake_insn(f, module, address - target.bias, address + LOADED, 0);
}

static void write_map(void)
{
	char path[64];

	g_snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	assert_true(g_file_set_contents(path, "70000000 40 jitted one\n70000040 40 jitted two\n", -1, NULL));
}

static void remove_map(void)
{
	char path[64];

	g_snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
}

static void checkpoint(struct profile *p, struct fake *f, const uint64_t units[][2], uint32_t nr)
{
	assert_int_equal(profile_begin(p), 0);
	for (uint32_t i = 0; i < nr; i++) {
		if (units[i][0])
			assert_int_equal(profile_cycles(p, i, 0, 10, units[i][0]), 0);
		if (units[i][1])
			assert_int_equal(profile_cycles(p, i, 0x40, 5, units[i][1]), 0);
	}
	assert_int_equal(profile_instructions(p, fake_code(f), fake_maps(f), getpid()), 0);
	assert_int_equal(profile_commit(p), 0);
}

/* Eight instructions: units without event, and with ST-L1. The seventh was never executed. */
static const uint64_t units[8][2] = {
	{ 700, 0 },                /* 0: outer */
	{ 100, 300 },              /* 1: outer, later */
	{ 50, 0 },                 /* 2: twin */
	{ 400, 0 },                /* 3: JIT, first */
	{ 0, 400 },                /* 4: JIT, second */
	{ 25, 0 },                 /* 5: JIT, in no map */
	{ 0, 0 },                  /* 6 */
	{ 60, 0 },                 /* 7: no file */
};

static struct fake *make_fake(void)
{
	struct fake *f = fake_new();
	uint32_t vdso = fake_module(f, "[vdso]"), program = fake_module(f, target.path);

	target_insn(f, program, target.outer);
	target_insn(f, program, target.outer + target.outer_size - 1);
	target_insn(f, program, target.twin);
	fake_insn(f, MODULE_NONE, 0, JIT + 4, 0);
	fake_insn(f, MODULE_NONE, 0, JIT + 0x44, INSN_UNMODELLED);
	fake_insn(f, MODULE_NONE, 0, JIT + 0x1000, INSN_UNDECODED | INSN_UNMODELLED);
	target_insn(f, program, target.outer + 4);
	fake_insn(f, vdso, 0x800, VDSO + 0x800, 0);
	return f;
}

static void check_functions(struct query *q)
{
	const struct query_function *rows, *const *found;
	const struct query_insn *insns;
	size_t nr;

	assert_int_equal(query_functions(q, &rows, &nr), 0);
	assert_int_equal(nr, 6);
	assert_string_equal(rows[0].symbol, "outer");
	assert_string_equal(rows[0].module, target.path);
	assert_int_equal(strlen(rows[0].build_id), 40);
	assert_int_equal(rows[0].address, target.outer);
	assert_int_equal(rows[0].size, target.outer_size);
	assert_true(g_str_has_suffix(rows[0].file, "chain.c"));
	assert_int_equal(rows[0].nr_insns, 2);
	assert_int_equal(rows[0].stack.units, 1100);
	assert_int_equal(rows[0].stack.nr, 2);
	assert_true(rows[0].stack.share[0].signature == 0 && rows[0].stack.share[0].units == 800);
	assert_true(rows[0].stack.share[1].signature == 0x40 && rows[0].stack.share[1].units == 300);
	assert_int_equal(rows[0].stack.share[0].executions, 20);
	assert_string_equal(rows[1].symbol, "jitted one");    /* 400 units, as the next: by address */
	assert_null(rows[1].module);
	assert_int_equal(rows[1].address, JIT);
	assert_string_equal(rows[2].symbol, "jitted two");
	assert_null(rows[3].symbol);
	assert_string_equal(rows[3].module, "[vdso]");
	assert_null(rows[3].build_id);
	assert_string_equal(rows[4].symbol, "twin_alias");
	assert_null(rows[5].symbol);
	assert_null(rows[5].module);
	assert_int_equal(query_find(q, "outer", &found, &nr), 0);
	assert_int_equal(nr, 1);
	assert_ptr_equal(found[0], &rows[0]);
	assert_int_equal(query_find(q, "none", &found, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(query_insns(q, &rows[0], &insns, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(insns[0].insn, 0);
	assert_int_equal(insns[1].insn, 1);
	assert_int_equal(insns[1].offset, target.outer_size - 1);
	assert_int_equal(query_insns(q, &rows[5], &insns, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(insns[0].insn, 5);
}

static void check_hot(struct query *q)
{
	static const uint32_t order[] = { 0, 1, 3, 4, 7, 2, 5 };
	const struct query_insn *rows;
	uint64_t sum = 0;
	size_t nr, total;

	assert_int_equal(query_hot(q, 3, &rows, &nr, &total), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(total, 7);
	assert_int_equal(query_hot(q, 0, &rows, &nr, NULL), 0);
	assert_int_equal(nr, 7);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(rows[i].insn, order[i]);
		sum += rows[i].stack.units;
	}
	assert_int_equal(sum, 2035);
	assert_string_equal(rows[0].module, target.path);
	assert_int_equal(rows[0].address, target.outer);
	assert_int_equal(rows[0].pc, target.outer + LOADED);
	assert_int_equal(rows[0].offset, 0);
	assert_string_equal(rows[0].disassembly, "op 0");
	assert_string_equal(rows[0].form, "OPrr");
	assert_int_equal(rows[0].length, 4);
	assert_int_equal(rows[0].bytes[1], 0x0f);
	assert_int_equal(rows[0].executions, 10);
	assert_int_equal(rows[1].executions, 15);
	assert_int_equal(rows[1].stack.nr, 2);
	assert_true(rows[3].unmodelled && !rows[0].unmodelled);
	assert_int_equal(rows[3].function->address, JIT + 0x40);
	assert_int_equal(rows[3].offset, 4);
	assert_int_equal(rows[4].address, 0x800);             /* of no file: the offset stands for it */
	assert_null(rows[4].file);
	assert_null(rows[6].form);
	assert_int_equal(rows[6].address, JIT + 0x1000);
}

static void check_lines(struct query *q)
{
	const struct query_line *rows;
	const struct query_insn *insns;
	uint64_t sum = 0;
	size_t nr;

	assert_int_equal(query_lines(q, &rows, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		sum += rows[i].stack.units;
		if (i)
			assert_true(rows[i - 1].stack.units >= rows[i].stack.units);
		if (rows[i].file)
			continue;
		assert_int_equal(rows[i].nr_insns, 4);
		assert_int_equal(rows[i].stack.units, 400 + 400 + 25 + 60);
		assert_int_equal(rows[i].executions, 10);
	}
	assert_int_equal(sum, 2035);
	assert_int_equal(query_hot(q, 1, &insns, &nr, NULL), 0);
	assert_int_equal(insns[0].line, rows[1].line);
	assert_true(rows[0].file == NULL);                    /* 885 */
	assert_string_equal(insns[0].file, rows[1].file);
}

static void named(void **state)
{
	const char *path = fixture_path("named.cw");
	struct fake *f = make_fake();
	struct profile *p;
	struct query *q;

	write_map();
	assert_int_equal(profile_create(&p, path), 0);
	checkpoint(p, f, units, 8);
	remove_map();
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_open(&p, path), 0);
	assert_int_equal(query_new(&q, p), 0);
	check_functions(q);
	check_hot(q);
	check_lines(q);
	query_free(q);
	profile_close(p);
	fake_free(f);
}

/* The inline chain of each byte of outer(), as the symbol room gives it. */
static void chains(void **state)
{
	struct fake *f = fake_new();
	uint32_t program = fake_module(f, target.path), nr = (uint32_t)target.outer_size;
	uint64_t (*all)[2] = g_malloc0_n(nr, sizeof(*all));
	const struct query_insn *rows;
	unsigned longest = 0;
	struct profile *p;
	struct symbols *s;
	struct place place;
	struct query *q;
	size_t total;

	for (uint32_t i = 0; i < nr; i++) {
		target_insn(f, program, target.outer + i);
		all[i][0] = 1;
	}
	assert_int_equal(profile_create(&p, NULL), 0);
	checkpoint(p, f, (const uint64_t (*)[2])all, nr);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_hot(q, 0, &rows, &total, NULL), 0);
	assert_int_equal(total, nr);
	assert_int_equal(symbols_new(&s), 0);
	symbols_open(s, target.path);
	for (uint32_t i = 0; i < nr; i++) {
		assert_true(symbols_place(s, 0, target.outer + i, &place));
		assert_int_equal(rows[i].line, place.line);
		assert_string_equal(rows[i].file, place.file);
		assert_int_equal(rows[i].nr_inlined, place.nr_inlined);
		longest = MAX(longest, place.nr_inlined);
		for (unsigned j = 0; j < place.nr_inlined; j++) {
			assert_string_equal(rows[i].inlined[j].symbol, place.inlined[j].symbol);
			assert_string_equal(rows[i].inlined[j].file, place.inlined[j].file);
			assert_int_equal(rows[i].inlined[j].line, place.inlined[j].line);
		}
	}
	assert_int_equal(longest, 2);
	symbols_free(s);
	query_free(q);
	profile_close(p);
	fake_free(f);
	g_free(all);
}

/* Instructions met in another order and over several checkpoints: the last is the same, and nothing is resolved twice. */
static void checkpoints(void **state)
{
	static const uint64_t early[8][2] = { [2] = { 1, 0 }, [5] = { 7, 0 }, [7] = { 3, 3 } };
	struct fake *f = make_fake();
	struct profile *p;

	write_map();
	assert_int_equal(profile_create(&p, fixture_path("direct.cw")), 0);
	checkpoint(p, f, units, 8);
	assert_int_equal(fake_texts(f), 7);
	assert_int_equal(profile_close(p), 0);
	assert_int_equal(profile_create(&p, fixture_path("stepped.cw")), 0);
	remove_map();
	checkpoint(p, f, early, 8);
	assert_int_equal(fake_texts(f), 10);
	write_map();
	checkpoint(p, f, units, 8);
	checkpoint(p, f, units, 8);
	assert_int_equal(fake_texts(f), 14);
	assert_int_equal(profile_close(p), 0);
	remove_map();
	assert_true(fixture_run("cmp %1/direct.cw %1/stepped.cw"));
	fake_free(f);
}

/* Cycles of instructions that were never named are still in every sum. */
static void nameless(void **state)
{
	const struct query_function *functions;
	const struct query_insn *rows;
	struct profile *p;
	struct query *q;
	size_t nr;

	assert_int_equal(profile_create(&p, NULL), 0);
	assert_int_equal(profile_begin(p), 0);
	assert_int_equal(profile_cycles(p, 9, 1, 1, 5), 0);
	assert_int_equal(profile_cycles(p, 4, 1, 1, 6), 0);
	assert_int_equal(profile_commit(p), 0);
	assert_int_equal(query_new(&q, p), 0);
	assert_int_equal(query_hot(q, 0, &rows, &nr, NULL), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(rows[0].insn, 4);
	assert_string_equal(rows[0].disassembly, "");
	assert_null(rows[0].module);
	assert_int_equal(query_functions(q, &functions, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(functions[0].stack.units, 11);
	query_free(q);
	profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named),
		cmocka_unit_test(chains),
		cmocka_unit_test(checkpoints),
		cmocka_unit_test(nameless),
	};

	return cmocka_run_group_tests(tests, build, NULL);
}
