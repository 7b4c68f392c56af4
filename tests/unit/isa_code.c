/* The table of static instructions: interning, page images, pairs, errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "base/error.h"
#include "isa_show.h"

static uint32_t add(struct code *code, uint64_t pc, const char *hex)
{
	uint8_t bytes[SHOW_BYTES];
	unsigned n = show_bytes(hex, bytes);
	return code_add(code, pc, bytes, n);
}

/* A full table knows what it has; the wrong path ends at what it has not. */
static void full(void **state)
{
	struct code *code = show_core("skylake-sp");
	uint8_t page[4096] = { 0x90, 0x90 };

	(void)state;
	code->limit = 2;
	assert_int_equal(add(code, 0x1000, "48 01 f8"), 0);
	assert_int_equal(add(code, 0x1000, "48 29 f8"), 1);
	assert_int_equal(add(code, 0x2000, "48 01 f8"), CODE_NONE);
	assert_int_equal(add(code, 0x1000, "48 01 f8"), 0);
	code_page(code, 0x3000, page);
	assert_int_equal(code_find(code, 0x3000), CODE_NONE);
	assert_int_equal(code_find(code, 0x1000), 0);
	assert_int_equal(code->nr, 2);
	code_free(code);
}

static void interns(void **state)
{
	struct code *code = show_core("skylake-sp");
	const struct insn *array = code->insn;
	uint32_t a = add(code, 0x1000, "48 01 f8"), b = add(code, 0x1000, "48 29 f8");
	size_t size;

	(void)state;
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	assert_int_equal(code_find(code, 0x1000), b);
	assert_int_equal(add(code, 0x1000, "48 01 f8 90 90"), a);
	assert_int_equal(code_find(code, 0x1000), a);
	assert_int_equal(add(code, 0x1000, "48 29 f8"), b);
	assert_int_equal(add(code, 0x2000, "48 01 f8"), 2);
	assert_int_equal(code->nr, 3);
	assert_ptr_equal(code->insn, array);
	assert_memory_equal(code_bytes(code, b, &size), "\x48\x29\xf8", 3);
	assert_int_equal(size, 3);
	assert_string_equal(code_form(code, b), "SUB64rr");
	assert_int_equal(code_find(code, 0x1001), CODE_NONE);
	code_free(code);
}

/* Against a table of strings: random instructions at few addresses, many times. */
static void interns_as_reference(void **state)
{
	static const char *const encodings[] = { "90", "48 01 f8", "48 03 47 08", "0f 1f 00", "c3", "e8 01 02 03 04", "74 00", "48 39 f8", "f0 48 01 07", "06" };
	struct code *code = show_core("skylake-sp");
	GHashTable *indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	uint32_t newest[4096];
	GRand *random = g_rand_new_with_seed(7);
	uint32_t expected = 0;

	(void)state;
	memset(newest, 0xff, sizeof newest);
	for (unsigned step = 0; step < 200000; step++) {
		unsigned at = (unsigned)g_rand_int_range(random, 0, 4096);
		const char *hex = encodings[g_rand_int_range(random, 0, G_N_ELEMENTS(encodings))];
		char *key = g_strdup_printf("%u %s", at, hex);
		uint64_t pc = 0x7f0000000000 + at * 16;
		gpointer known;
		bool found = g_hash_table_lookup_extended(indices, key, NULL, &known);
		uint32_t i = add(code, pc, hex);

		assert_int_equal(i, found ? GPOINTER_TO_UINT(known) : expected++);
		newest[at] = i;
		assert_int_equal(code_find(code, pc), i);
		unsigned other = (unsigned)g_rand_int_range(random, 0, 4096);
		assert_int_equal(code_find(code, 0x7f0000000000 + other * 16), newest[other]);
		if (found)
			g_free(key);
		else
			g_hash_table_insert(indices, key, GUINT_TO_POINTER(i));
	}
	assert_int_equal(code->nr, expected);
	g_rand_free(random);
	g_hash_table_destroy(indices);
	code_free(code);
}

static void decodes_from_pages(void **state)
{
	struct code *code = show_core("skylake-sp");
	uint8_t page[4096], next[4096];
	uint32_t first, add_;

	(void)state;
	memset(page, 0x90, sizeof page);
	memset(next, 0x90, sizeof next);
	memcpy(page + 16, "\x48\x01\xf8", 3);
	memcpy(page + 4094, "\x48\x8b", 2);
	memcpy(next, "\x47\x08", 2);

	assert_int_equal(code_find(code, 0x5010), CODE_NONE);
	code_page(code, 0x5000, page);
	add_ = code_find(code, 0x5010);
	assert_int_equal(code_insn(code, add_)->length, 3);
	assert_int_equal(code_find(code, 0x5010), add_);
	/* Half of an instruction at the end of what is known; then the whole. */
	assert_int_equal(code_find(code, 0x5ffe), CODE_NONE);
	code_page(code, 0x6000, next);
	first = code_find(code, 0x5ffe);
	assert_int_equal(code_insn(code, first)->length, 4);
	/* New bytes: the entry stays, the newest is another; where nothing changed it is the same. */
	assert_int_equal(code->changes, 0);
	page[17] = 0x29;
	code_page(code, 0x5000, page);
	assert_int_equal(code->changes, 1);
	assert_int_not_equal(code_find(code, 0x5010), add_);
	assert_int_equal(code_find(code, 0x5ffe), first);
	assert_string_equal(code_form(code, add_), "ADD64rr");
	assert_string_equal(code_form(code, code_find(code, 0x5010)), "SUB64rr");
	page[17] = 0x01;
	code_page(code, 0x5000, page);
	assert_int_equal(code_find(code, 0x5010), add_);
	assert_int_equal(code->changes, 2);
	/* Executed bytes that differ from the newest are a change too, those that do not are none. */
	code_add(code, 0x5010, page + 16, 16);
	assert_int_equal(code->changes, 2);
	code_add(code, 0x5010, (const uint8_t[]){ 0x90 }, 1);
	assert_int_equal(code->changes, 3);
	code_free(code);
}

struct pair {
	uint64_t pc;
	const char *first, *second;
	bool fuses, erratum;       /* erratum: of the first, as a pair */
};

static const struct pair pairs[] = {
	{ 0x1000, "48 39 f8", "74 10", true, false },    /* cmp; je */
	{ 0x1000, "48 39 f8", "72 10", true, false },    /* cmp; jb */
	{ 0x1000, "48 39 f8", "78 10", false, false },   /* cmp; js */
	{ 0x1000, "48 39 f8", "70 10", false, false },   /* cmp; jo */
	{ 0x1000, "48 85 c0", "78 10", true, false },    /* test; js */
	{ 0x1000, "48 21 f8", "7a 10", true, false },    /* and; jp */
	{ 0x1000, "48 ff c0", "75 10", true, false },    /* inc; jne */
	{ 0x1000, "48 ff c8", "7f 10", true, false },    /* dec; jg */
	{ 0x1000, "48 ff c0", "72 10", false, false },   /* inc; jb */
	{ 0x1000, "48 ff c0", "77 10", false, false },   /* inc; ja */
	{ 0x1000, "48 01 f8", "7c 10", true, false },    /* add; jl */
	{ 0x1000, "48 31 f8", "74 10", false, false },   /* xor; je */
	{ 0x1000, "48 3b 07", "74 10", true, false },    /* cmp (%rdi),%rax; je */
	{ 0x1000, "48 39 07", "74 10", true, false },    /* cmp %rax,(%rdi); je */
	{ 0x1000, "48 83 3f 00", "74 10", false, false },/* cmpq $0,(%rdi); je */
	{ 0x1000, "48 83 c0 01", "75 10", true, false }, /* add $1,%rax; jne */
	{ 0x1000, "48 01 07", "74 10", false, false },   /* add %rax,(%rdi); je */
	{ 0x1000, "48 39 f8", "eb 10", false, false },   /* cmp; jmp */
	{ 0x1000, "48 39 f8", "e3 10", false, false },   /* cmp; jrcxz */
	{ 0x103d, "48 39 f8", "74 10", false, false },   /* the jump begins a line */
	{ 0x103c, "48 39 f8", "74 10", true, true },     /* the jump crosses 32 bytes */
	{ 0x101e, "48 39 f8", "74 10", true, true },     /* the compare does */
	{ 0x101b, "48 39 f8", "74 10", true, true },     /* the pair ends there */
	{ 0x101a, "48 39 f8", "74 10", true, false },
	{ 0x1000, "48 89 c3", "74 10", false, false },   /* mov; je */
};

static void fuses_pairs(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2 * G_N_ELEMENTS(pairs); k++) {
		const struct pair *p = &pairs[k / 2];
		struct code *code = show_core("skylake-sp");
		uint8_t bytes[SHOW_BYTES];
		uint64_t second = p->pc + show_bytes(p->first, bytes);
		uint32_t a, b;
		/* In either order. */
		if (k % 2) {
			b = add(code, second, p->second);
			a = add(code, p->pc, p->first);
		} else {
			a = add(code, p->pc, p->first);
			b = add(code, second, p->second);
		}
		bool fuses = code_insn(code, a)->flags & INSN_FUSES_NEXT, erratum = code_insn(code, a)->flags & INSN_JCC_ERRATUM;
		if (fuses != p->fuses || erratum != p->erratum)
			fail_msg("%s; %s at %#lx: fuses %d, erratum %d", p->first, p->second, (unsigned long)p->pc, fuses, erratum);
		assert_false(code_insn(code, b)->flags & INSN_FUSES_NEXT);
		code_free(code);
	}
}

/* What fuses with a conditional jump on AMD's cores: on Zen 2, and on later ones. */
static void fuses_as_amd(void **state)
{
	static const struct {
		const char *first, *second;
		bool zen2, zen5;
	} amd[] = {
		{ "48 39 f8", "70 10", true, true },             /* cmp; jo */
		{ "48 85 c0", "72 10", true, true },             /* test; jb */
		{ "48 83 3f 00", "74 10", true, true },          /* cmpq $0,(%rdi); je */
		{ "48 3b 07", "78 10", true, true },             /* cmp (%rdi),%rax; js */
		{ "48 21 f8", "78 10", false, true },            /* and; js */
		{ "48 83 e8 01", "72 10", false, true },         /* sub $1; jb */
		{ "48 01 f8", "7a 10", false, true },            /* add; jp */
		{ "48 09 f8", "74 10", false, true },            /* or; je */
		{ "48 33 07", "75 10", false, true },            /* xor (%rdi),%rax; jne */
		{ "48 ff c8", "72 10", false, true },            /* dec; jb */
		{ "48 ff c0", "78 10", false, true },            /* inc; js */
		{ "48 11 f8", "74 10", false, false },           /* adc; je */
		{ "48 f7 d8", "74 10", false, false },           /* neg; je */
		{ "48 d1 e0", "74 10", false, false },           /* shl; je */
		{ "0f 58 c1", "74 10", false, false },           /* addps; je */
		{ "48 01 07", "74 10", false, false },           /* add %rax,(%rdi); je */
		{ "48 83 3d 04 00 00 00 01", "74 10", false, false },  /* cmpq $1,4(%rip); je */
		{ "48 3b 0d 04 00 00 00", "74 10", false, false },     /* cmp 4(%rip),%rcx; je */
		{ "81 ba 23 01 00 00 45 23 01 00", "74 10", false, false }, /* cmpl $0x12345,0x123(%rdx); je */
		{ "81 7a 08 45 23 01 00", "74 10", true, true },       /* cmpl $0x12345,8(%rdx); je */
		{ "83 ba 23 01 00 00 12", "74 10", true, true },       /* cmpl $0x12,0x123(%rdx); je */
		{ "66 81 ba 23 01 00 00 34 12", "74 10", true, true }, /* cmpw $0x1234,0x123(%rdx); je */
		{ "48 39 f8", "eb 10", false, false },           /* cmp; jmp */
	};

	(void)state;
	for (unsigned k = 0; k < 2 * G_N_ELEMENTS(amd); k++) {
		struct code *code = show_core(k % 2 ? "zen5" : "zen2");
		uint8_t bytes[SHOW_BYTES];
		uint32_t a = add(code, 0x1000, amd[k / 2].first);
		add(code, 0x1000 + show_bytes(amd[k / 2].first, bytes), amd[k / 2].second);
		bool fuses = code_insn(code, a)->flags & INSN_FUSES_NEXT;
		if (fuses != (k % 2 ? amd[k / 2].zen5 : amd[k / 2].zen2))
			fail_msg("%s; %s: fuses %d", amd[k / 2].first, amd[k / 2].second, fuses);
		code_free(code);
	}
}

static void marks_jumps_at_boundaries(void **state)
{
	struct code *code = show_core("skylake-sp");

	(void)state;
	assert_false(code_insn(code, add(code, 0x1010, "74 10"))->flags & INSN_JCC_ERRATUM);
	assert_true(code_insn(code, add(code, 0x101f, "74 10"))->flags & INSN_JCC_ERRATUM);
	assert_true(code_insn(code, add(code, 0x103e, "eb 10"))->flags & INSN_JCC_ERRATUM);
	assert_false(code_insn(code, add(code, 0x1060, "c3"))->flags & INSN_JCC_ERRATUM);
	assert_false(code_insn(code, add(code, 0x107f, "90"))->flags & INSN_JCC_ERRATUM);
	code_free(code);
}

static void keeps_what_it_cannot_decode(void **state)
{
	struct code *code = show_core("skylake-sp");
	uint32_t i = add(code, 0x1000, "06 06 06");
	char text[32];

	(void)state;
	assert_int_equal(code_insn(code, i)->flags, INSN_UNMODELLED | INSN_UNDECODED);
	assert_int_equal(code_insn(code, i)->length, 3);
	assert_int_equal(code_insn(code, i)->slots, 1);
	assert_int_equal(add(code, 0x1000, "06 06 06"), i);
	code_text(code, i, text, sizeof text);
	assert_string_equal(text, "(bad)");
	/* No figure but LLVM's placeholder: said so, and not one cycle. */
	i = add(code, 0x2000, "0f 08");
	assert_string_equal(code_form(code, i), "INVD");
	assert_int_equal(code_insn(code, i)->flags & (INSN_UNMODELLED | INSN_UNDECODED), INSN_UNMODELLED);
	code_free(code);
}

static void says_what_is_wrong(void **state)
{
	struct code_config config = { .isa = ISA_X86_64, .cpu = "pentium-v" };
	struct code *code;

	(void)state;
	assert_int_equal(code_new(&code, &config), -ENOENT);
	assert_null(code);
	assert_string_equal(error_get()->what, "pentium-v");
	config.cpu = "cascadelake";
	config.costs = "/nonexistent/x.costs";
	assert_int_equal(code_new(&code, &config), -ENOENT);
	assert_string_equal(error_get()->what, "/nonexistent/x.costs");
	/* Without a cost file: latencies, and uops that need no port. */
	config.costs = NULL;
	assert_int_equal(code_new(&code, &config), 0);
	assert_int_equal(code_insn(code, add(code, 0x1000, "48 01 f8"))->dst_latency[0], 1);
	code_free(code);
	code_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interns), cmocka_unit_test(full), cmocka_unit_test(interns_as_reference), cmocka_unit_test(decodes_from_pages),
		cmocka_unit_test(fuses_pairs), cmocka_unit_test(fuses_as_amd), cmocka_unit_test(marks_jumps_at_boundaries), cmocka_unit_test(keeps_what_it_cannot_decode),
		cmocka_unit_test(says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
