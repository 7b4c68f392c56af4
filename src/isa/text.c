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
#include <stdio.h>
#include <string.h>

/* The size suffix of an AT&T mnemonic is redundant where a general register is an operand outside the address. */
static bool redundant_suffix(const char *form, char last)
{
	static const struct {
		const char *bits;
		char suffix;
	} widths[] = { { "64", 'q' }, { "32", 'l' }, { "16", 'w' }, { "8", 'b' } };

	if (strncmp(form, "MOVZX", 5) == 0 || strncmp(form, "MOVSX", 5) == 0 || strncmp(form, "NOOP", 4) == 0 ||
	    strstr(form, "to"))
		return false;
	if (strcmp(form, "CALL64pcrel32") == 0 || strcmp(form, "RET64") == 0 || strcmp(form, "LEAVE64") == 0)
		return last == 'q';
	for (unsigned i = 0; i < G_N_ELEMENTS(widths); i++) {
		const char *at = strstr(form, widths[i].bits);
		if (at && last == widths[i].suffix) {
			const char *operands = at + strlen(widths[i].bits);
			return strchr(operands, 'r') || *operands == 'i' || form[0] == 'P' || strncmp(form, "CALL", 4) == 0 || strncmp(form, "JMP", 3) == 0;
		}
	}
	return false;
}

static void put_target(GString *out, const char *operands, const struct insn *i)
{
	char hex[32];
	const char *at;

	snprintf(hex, sizeof hex, "0x%" PRIx64, i->target);
	at = i->branch && i->target ? strstr(operands, hex) : NULL;
	if (at && at[strlen(hex)] == '\0') {
		g_string_append_len(out, operands, at - operands);
		g_string_append(out, hex + 2);
	} else {
		g_string_append(out, operands);
	}
}

/* (%rax,%rbx) -> (%rax,%rbx,1) */
static void put_x86_scale(GString *text)
{
	gchar *open = strchr(text->str, '(');
	gchar *close = open ? strchr(open, ')') : NULL;
	gchar *comma = open ? strchr(open, ',') : NULL;

	if (close && comma && comma < close && !memchr(comma + 1, ',', (size_t)(close - comma - 1)))
		g_string_insert(text, close - text->str, ",1");
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
	while (strncmp(mnemonic, "rep ", 4) == 0 || strncmp(mnemonic, "repne ", 6) == 0 || strncmp(mnemonic, "repz ", 5) == 0 ||
	       strncmp(mnemonic, "repnz ", 6) == 0 || strncmp(mnemonic, "lock ", 5) == 0 || strncmp(mnemonic, "notrack ", 8) == 0) {
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
		do
			g_string_append_c(out, ' ');
		while (length++ < 6);
		put_target(out, operands, insn);
		if (isa == ISA_X86_64)
			put_x86_scale(out);
	}
	g_strlcpy(buf, out->str, size);
	g_string_free(out, TRUE);
}
