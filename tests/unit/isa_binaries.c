/*
 * Every instruction of real binaries, against objdump: the same lengths, and hardly any without a cost.
 * Binaries or an objdump that are not installed are skipped, and said so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "isa_show.h"

struct line {
	uint64_t pc;
	uint8_t bytes[15];
	uint8_t length;
};

/* x86: "48 01 f8 "; others: one little-endian word, "8b020020". */
static unsigned line_bytes(const char *field, bool words, uint8_t bytes[15])
{
	unsigned n = 0;

	if (words) {
		size_t digits = strspn(field, "0123456789abcdef");
		unsigned long word = strtoul(field, NULL, 16);
		for (n = 0; n < digits / 2; n++)
			bytes[n] = (uint8_t)(word >> 8 * n);
		return n;
	}
	while (n < 15 && g_ascii_isxdigit(field[0]) && g_ascii_isxdigit(field[1])) {
		bytes[n++] = (uint8_t)strtoul(field, NULL, 16);
		field += 2 + (field[2] == ' ');
	}
	return n;
}

static GArray *disassemble(const char *objdump, const char *binary, bool words)
{
	char *command = g_strdup_printf("%s -d -w %s 2>/dev/null", objdump, binary), text[1024];
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	FILE *out = popen(command, "r");

	while (out && fgets(text, sizeof text, out)) {
		char *end, *tab = strchr(text, '\t');
		struct line line = { .pc = strtoull(text, &end, 16) };
		if (!tab || *end != ':')
			continue;
		line.length = (uint8_t)line_bytes(tab + 1, words, line.bytes);
		g_array_append_val(lines, line);
	}
	if (out)
		pclose(out);
	g_free(command);
	return lines;
}

/* What a caller who does not know the length gives: the bytes up to 15, over the instructions that follow. */
static unsigned following(const GArray *lines, unsigned at, uint8_t bytes[15])
{
	const struct line *l = &g_array_index(lines, struct line, at);
	unsigned n = 0;

	for (uint64_t pc = l->pc; at < lines->len; at++) {
		l = &g_array_index(lines, struct line, at);
		if (l->pc != pc + n)
			break;
		unsigned part = MIN(l->length, 15 - n);
		memcpy(bytes + n, l->bytes, part);
		n += part;
	}
	return n;
}

/* objdump takes a wait in front of an x87 instruction for part of it; it is one of its own. */
static bool is_wait(const struct line *l)
{
	return l->bytes[0] == 0x9b;
}

static void check(const char *core, const char *objdump, const char *binary, double unmodelled_share)
{
	struct code *code;
	GArray *lines;
	unsigned lengths = 0, unmodelled = 0;

	if (access(binary, R_OK)) {
		print_message("skipped: no %s\n", binary);
		return;
	}
	lines = disassemble(objdump, binary, strcmp(core, "skylake-sp") != 0);
	if (lines->len == 0) {
		print_message("skipped: no %s\n", objdump);
		g_array_free(lines, TRUE);
		return;
	}
	code = show_core(core);
	for (unsigned k = 0; k < lines->len; k++) {
		const struct line *l = &g_array_index(lines, struct line, k);
		uint8_t bytes[15];
		uint32_t i = code_add(code, l->pc, bytes, following(lines, k, bytes));
		const struct insn *insn = code_insn(code, i);
		if (insn->length != l->length && !(strcmp(core, "skylake-sp") == 0 && is_wait(l))) {
			print_error("%s: %#lx: length %u, objdump has %u\n", binary, (unsigned long)l->pc, insn->length, l->length);
			lengths++;
		}
		unmodelled += (insn->flags & INSN_UNMODELLED) != 0;
	}
	assert_int_equal(lengths, 0);
	if (unmodelled > unmodelled_share * lines->len)
		fail_msg("%s: %u of %u unmodelled", binary, unmodelled, lines->len);
	g_array_free(lines, TRUE);
	code_free(code);
}

static void x86_binaries(void **state)
{
	(void)state;
	check("skylake-sp", "objdump", "/bin/gzip", 0.001);
	check("skylake-sp", "objdump", "/usr/lib/x86_64-linux-gnu/libc.so.6", 0.001);
	check("skylake-sp", "objdump", "/usr/lib/x86_64-linux-gnu/libm.so.6", 0.001);
	check("skylake-sp", "objdump", "/usr/bin/python3", 0.001);
}

/* The C library has functions for SVE, memory tagging and large-system atomics, which a Cortex-A72 never runs. */
static void aarch64_binaries(void **state)
{
	(void)state;
	check("cortex-a72", "aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6", 0.0015);
	check("cortex-a72", "aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libm.so.6", 0.001);
}

static void riscv_binaries(void **state)
{
	(void)state;
	check("boom", "riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libc.so.6", 0.001);
	check("boom", "riscv64-linux-gnu-objdump", "/usr/riscv64-linux-gnu/lib/libm.so.6", 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_binaries), cmocka_unit_test(aarch64_binaries), cmocka_unit_test(riscv_binaries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
