/*
 * LLVM's text of an instruction in the form that objdump -d prints: mnemonic padded to a column, no blanks
 * after commas (x86, RISC-V), branch targets as bare hexadecimal, no AT&T size suffix where a register tells the size.
 *
 * For people's eyes only: nothing is decided by it. Left as LLVM has it: names of aliases that the two choose
 * differently, and displacements of zero.
 */
#include "isa/text.h"

#include <ctype.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The width that a form's name begins with: 64 in ADD64rm, 0 where there is none. */
static unsigned form_bits(const char *form, const char **operands)
{
	char *end;

	while (*form && !isdigit((unsigned char)*form))
		form++;
	unsigned bits = (unsigned)strtoul(form, &end, 10);
	*operands = end;
	return bits;
}

/* The size suffix of an AT&T mnemonic is redundant where a general register is an operand outside the address. */
static bool redundant_suffix(const char *form, char last)
{
	static const char *const keep[] = { "MOVZX", "MOVSX", "NOOP", "F", "V", "MMX" };
	static const char *const drop[] = { "STOS", "LODS", "SCAS", "CALL64pcrel32", "RET64", "LEAVE64",
		                            "CALL", "JMP",  "PUSH", "POP",           "LEA" };
	const char *operands;
	unsigned bits = form_bits(form, &operands);

	for (unsigned i = 0; i < G_N_ELEMENTS(keep); i++)
		if (g_str_has_prefix(form, keep[i]) || strstr(form, "to"))
			return false;
	for (unsigned i = 0; i < G_N_ELEMENTS(drop); i++)
		if (g_str_has_prefix(form, drop[i]) && strchr("qlwb", last))
			return true;
	if (last != (bits == 64 ? 'q' : bits == 32 ? 'l' : bits == 16 ? 'w' : bits == 8 ? 'b' : '\0'))
		return false;
	return strchr(operands, 'r') || *operands == 'i';
}

/* The last operand of a direct branch is its target, which LLVM may print relative to elsewhere. */
static void put_target(GString *text, const struct insn *i)
{
	gchar *at = i->branch && i->target ? g_strrstr(text->str, "0x") : NULL;

	if (!at)
		return;
	g_string_truncate(text, (gsize)(at - text->str));
	g_string_append_printf(text, "%" PRIx64, i->target);
}

/* $-0x1 -> $0xffffffff, as wide as the operation. */
static void put_unsigned(GString *text, const char *form)
{
	gchar *at = strstr(text->str, "$-0x"), *end;
	const char *operands;
	unsigned bits = form_bits(form, &operands);
	uint64_t value;
	char hex[32];

	if (!at || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return;
	value = -(uint64_t)strtoull(at + 4, &end, 16);
	g_snprintf(hex, sizeof hex, "$0x%" PRIx64, bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1));
	g_string_erase(text, at - text->str, end - at);
	g_string_insert(text, at - text->str, hex);
}

/* (%rax,%rbx) -> (%rax,%rbx,1); and without a base, or with rbp or r13, there always is a displacement. */
static void put_address(GString *text)
{
	gchar *open = strchr(text->str, '(');
	gchar *close = open ? strchr(open, ')') : NULL;
	gchar *comma = open ? strchr(open, ',') : NULL;

	if (!close)
		return;
	if (comma && comma < close && !memchr(comma + 1, ',', (size_t)(close - comma - 1)))
		g_string_insert(text, close - text->str, ",1");
	open = strchr(text->str, '(');
	if ((strncmp(open, "(,", 2) == 0 || strncmp(open, "(%rbp", 5) == 0 || strncmp(open, "(%r13", 5) == 0) &&
	    (open == text->str || !isxdigit((unsigned char)open[-1])))
		g_string_insert(text, open - text->str, "0x0");
}

static void put_x86(GString *text, const char *form)
{
	put_unsigned(text, form);
	put_address(text);
	g_string_replace(text, " {", "{", 0);
}

static void put_aarch64(GString *text)
{
	g_string_replace(text, "{ ", "{", 0);
	g_string_replace(text, " }", "}", 0);
}

static void squeeze(char *text, bool after_commas)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool blank = *from == ' ' || *from == '\t';
		if (blank && to > text && (to[-1] == ' ' || (after_commas && to[-1] == ',')))
			continue;
		*to++ = blank ? ' ' : *from;
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

void text_as_objdump(enum isa isa, const char *form, const struct insn *insn, char *buf, size_t size)
{
	GString *out = g_string_new(NULL);
	char *mnemonic = buf, *operands;
	size_t length;

	squeeze(buf, isa != ISA_AARCH64);
	while (*mnemonic == ' ')
		mnemonic++;
	/* Prefixes stand in front: rep, lock, notrack. */
	while (strncmp(mnemonic, "rep ", 4) == 0 || strncmp(mnemonic, "repne ", 6) == 0 ||
	       strncmp(mnemonic, "repz ", 5) == 0 || strncmp(mnemonic, "repnz ", 6) == 0 ||
	       strncmp(mnemonic, "lock ", 5) == 0 || strncmp(mnemonic, "notrack ", 8) == 0) {
		size_t n = strcspn(mnemonic, " ") + 1;
		g_string_append_len(out, mnemonic, (gssize)n);
		mnemonic += n;
	}
	length = strcspn(mnemonic, " ");
	operands = mnemonic + length + (mnemonic[length] == ' ');
	if (isa == ISA_X86_64 && length > 1 && redundant_suffix(form, mnemonic[length - 1]))
		length--;
	g_string_append_len(out, mnemonic, (gssize)length);
	if (*operands) {
		GString *rest = g_string_new(operands);
		put_target(rest, insn);
		if (isa == ISA_X86_64)
			put_x86(rest, form);
		else if (isa == ISA_AARCH64)
			put_aarch64(rest);
		do
			g_string_append_c(out, ' ');
		while (out->len < 7);
		g_string_append(out, rest->str);
		g_string_free(rest, TRUE);
	}
	g_strlcpy(buf, out->str, size);
	g_string_free(out, TRUE);
}
