/*
 * What of an instruction's bytes matters to the reader, by ISA: how its accesses belong together, and whether it
 * always raises an exception. The static table tells the rest.
 */
#include "source/blocks.h"

#include <string.h>

static uint32_t word_of(const uint8_t *bytes, size_t size)
{
	uint32_t word = 0;
	memcpy(&word, bytes, size < 4 ? size : 4);
	return word;
}

/* String instructions end with their opcode. */
static enum form rep_form(const uint8_t *bytes, size_t size)
{
	switch (size ? bytes[size - 1] & 0xfe : 0) {
	case 0xa4:
		return FORM_REP_COPY;
	case 0xa6:
		return FORM_REP_COMPARE;
	default:
		return FORM_REP;
	}
}

/* Bit 0 of the opcode is 0 for bytes; else REX.W and the operand-size prefix tell. */
unsigned form_element(const uint8_t *bytes, size_t size)
{
	unsigned element = 4;

	if (!size || !(bytes[size - 1] & 1))
		return 1;
	for (; size > 1; size--, bytes++) {
		if (*bytes >= 0x48 && *bytes <= 0x4f)
			return 8;
		if (*bytes == 0x66)
			element = 2;
	}
	return element;
}

/* ENTER; FXSAVE, XSAVE, XSAVEOPT (0F AE /0, /4, /6); XSAVEC, XSAVES (0F C7 /4, /5). */
bool form_scatters(const uint8_t *bytes, size_t size)
{
	while (size && (*bytes == 0x66 || *bytes == 0x67 || (*bytes & 0xf0) == 0x40 || (*bytes & 0xe7) == 0x26 ||
	                (*bytes & 0xfe) == 0x64))
		bytes++, size--;
	if (size && *bytes == 0xc8)
		return true;
	if (size < 3 || bytes[0] != 0x0f || bytes[2] >> 6 == 3)
		return false;
	unsigned group = bytes[2] >> 3 & 7;
	return (bytes[1] == 0xae && (group == 0 || group == 4 || group == 6)) ||
	       (bytes[1] == 0xc7 && (group == 4 || group == 5));
}

/* VGATHER* (VEX, EVEX) and VSCATTER* (EVEX): map 0F38, opcodes 90-93 and A0-A3. */
static bool x86_gathers(const uint8_t *bytes, size_t size)
{
	while (size && (*bytes == 0x67 || (*bytes & 0xe7) == 0x26 || (*bytes & 0xfe) == 0x64))
		bytes++, size--;
	if (size < 5)
		return false;
	bool vex = bytes[0] == 0xc4 && (bytes[1] & 0x1f) == 2;
	bool evex = bytes[0] == 0x62 && (bytes[1] & 0x07) == 2;
	uint8_t opcode = bytes[evex ? 4 : 3];
	return ((vex || evex) && (opcode & 0xfc) == 0x90) || (evex && (opcode & 0xfc) == 0xa0);
}

/*
 * What QEMU 7.2 reads too much of: 16 bytes for scalar fused multiply-adds (VEX map 0F38, opcodes 99, 9B .. BF), and
 * twice the operand of CVTDQ2PD (F3 0F E6). FORM_PLAIN: neither.
 */
static enum form x86_reads(const uint8_t *bytes, size_t size)
{
	unsigned map = 1, prefix = 0, wide = 0;
	bool w = false;

	for (; size && (*bytes == 0xf3 || *bytes == 0x67 || (*bytes & 0xe7) == 0x26 || (*bytes & 0xfe) == 0x64);
	     bytes++, size--)
		prefix = *bytes == 0xf3 ? 2 : prefix;
	if (size && (*bytes & 0xf0) == 0x40)
		bytes++, size--;
	if (size < 3 || (bytes[0] == 0xc5 && size < 4) || (bytes[0] == 0xc4 && size < 5))
		return FORM_PLAIN;
	if (bytes[0] == 0xc5 || bytes[0] == 0xc4) {
		unsigned last = bytes[0] == 0xc4 ? 2 : 1;
		map = last == 2 ? bytes[1] & 0x1f : 1;
		w = last == 2 && bytes[2] >> 7;
		prefix = bytes[last] & 3;
		wide = bytes[last] >> 2 & 1;
		bytes += last + 1;
	} else if (bytes[0] == 0x0f) {
		bytes++;
	} else {
		return FORM_PLAIN;
	}
	if (map == 1 && prefix == 2 && bytes[0] == 0xe6)
		return wide ? FORM_READS_16 : FORM_READS_8;
	if (map == 2 && prefix == 1 && bytes[0] >= 0x98 && bytes[0] <= 0xbf && (bytes[0] & 9) == 9)
		return w ? FORM_READS_8 : FORM_READS_4;
	return FORM_PLAIN;
}

/* Vector loads and stores with indexed addressing: LOAD-FP or STORE-FP, a vector width, mop 01 or 11. */
static bool riscv_gathers(uint32_t word)
{
	unsigned opcode = word & 0x7f, width = word >> 12 & 7;
	return (opcode == 0x07 || opcode == 0x27) && (width == 0 || width >= 5) && (word >> 26 & 1);
}

enum form form_of(enum isa isa, uint32_t flags, const uint8_t *bytes, size_t size)
{
	if (flags & INSN_REP)
		return rep_form(bytes, size);
	if (flags & INSN_LOCKED)
		return FORM_ATOMIC;
	if (isa == ISA_X86_64 && x86_gathers(bytes, size))
		return FORM_SEPARATE;
	if (isa == ISA_X86_64 && flags & INSN_LOAD)
		return x86_reads(bytes, size);
	if (isa == ISA_RISCV64 && riscv_gathers(word_of(bytes, size)))
		return FORM_SEPARATE;
	return FORM_PLAIN;
}

bool form_raises(enum isa isa, uint32_t flags, const uint8_t *bytes, size_t size)
{
	uint32_t word = word_of(bytes, size);

	if (flags & INSN_UNDECODED)
		return true;
	switch (isa) {
	case ISA_X86_64: /* INT3, INT n, INT1, HLT, UD2 */
		return (word & 0xff) == 0xcc || (word & 0xff) == 0xcd || (word & 0xff) == 0xf1 ||
		       (word & 0xff) == 0xf4 || (word & 0xffff) == 0x0b0f;
	case ISA_AARCH64: /* UDF; BRK, HLT */
		return word >> 16 == 0 || (word & 0xff800000) == 0xd4000000;
	case ISA_RISCV64: /* EBREAK, C.EBREAK, the all-zero instruction */
		return word == 0x00100073 || (size == 2 && ((word & 0xffff) == 0x9002 || (word & 0xffff) == 0));
	case NR_ISAS:
		break;
	}
	return false;
}
