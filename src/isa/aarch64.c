/*
 * AArch64: what LLVM's description of an instruction lacks or says in a way of its own.
 *
 *  - LLVM does not mark memory operands: the base is the first source of class GPR64sp, what follows is the
 *    index, and what stands before it is data.
 *  - A base register that is written too is ready as soon as it is added to.
 *  - Exclusives, acquire and release are told by the opcode's name; LLVM says load and store of all of them.
 *  - Hints of later architectures (pointer authentication, branch targets) are no-ops on older cores.
 *
 * FPCR and FPSR are not renamed. Ref: Arm Architecture Reference Manual, C6 and C7.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/arch.h"

enum { ARM_X = 1, ARM_SP = 32, ARM_NZCV = 33, ARM_V = REG_VECTOR, ARM_P = 96 };

enum arm_trait {
	ACQUIRES = 1 << 0, RELEASES = 1 << 1,
	ATOMIC = 1 << 2,
	EXCLUSIVE_LOAD = 1 << 3, EXCLUSIVE_STORE = 1 << 4,
	BARRIER = 1 << 5,          /* the operand says for what */
	FLUSHES = 1 << 6,
	IS_NOP = 1 << 7,
	SYSCALLS = 1 << 8,
	PREFETCHES = 1 << 9,
	SYSTEM = 1 << 10,          /* SYS: the operands say what */
	NO_IMPLICIT = 1 << 11,     /* registers that LLVM lists and the hardware does not need */
	FP = 1 << 12,
	VINT = 1 << 13,
	LONG = 1 << 14,
	OR_SHIFTED = 1 << 15,      /* a copy where the first source is the zero register */
	MOVES = 1 << 16,
	OR_VECTOR = 1 << 17,       /* a copy where both sources are one */
	EXTRACTS = 1 << 18,        /* a rotation where they are */
};

static const struct trait table[] = {
	{ "LDXR*", EXCLUSIVE_LOAD }, { "LDXP*", EXCLUSIVE_LOAD }, { "LDAXR*", EXCLUSIVE_LOAD | ACQUIRES },
	{ "LDAXP*", EXCLUSIVE_LOAD | ACQUIRES },
	{ "STXR*", EXCLUSIVE_STORE }, { "STXP*", EXCLUSIVE_STORE }, { "STLXR*", EXCLUSIVE_STORE | RELEASES },
	{ "STLXP*", EXCLUSIVE_STORE | RELEASES },
	{ "LDAR?", ACQUIRES }, { "LDAPR?", ACQUIRES }, { "LDLAR?", ACQUIRES }, { "LDAPUR*", ACQUIRES },
	{ "STLR?", RELEASES }, { "STLLR?", RELEASES }, { "STLUR*", RELEASES },
	{ "LDADD*", ATOMIC }, { "LDCLR*", ATOMIC }, { "LDEOR*", ATOMIC }, { "LDSET*", ATOMIC }, { "LDSMAX*", ATOMIC },
	{ "LDSMIN*", ATOMIC },
	{ "LDUMAX*", ATOMIC }, { "LDUMIN*", ATOMIC }, { "SWP*", ATOMIC }, { "CAS*", ATOMIC },
	{ "DMB", BARRIER }, { "DSB", BARRIER }, { "ISB", FLUSHES },
	{ "HINT", IS_NOP }, { "PAC*SP", IS_NOP }, { "PAC*Z", IS_NOP }, { "PACI?1716", IS_NOP }, { "AUT*SP", IS_NOP },
	{ "AUTI*Z", IS_NOP },
	{ "AUTI?1716", IS_NOP }, { "XPACLRI", IS_NOP }, { "CLREX", IS_NOP },
	{ "SVC", SYSCALLS }, { "BRK", SYSCALLS }, { "HVC", SYSCALLS }, { "PRFM*", PREFETCHES },
	{ "PRFUM*", PREFETCHES }, { "SYSxt", SYSTEM },
	{ "BL", NO_IMPLICIT }, { "BLR", NO_IMPLICIT }, { "MRS", NO_IMPLICIT },
	{ "MADD*", LONG }, { "MSUB*", LONG }, { "SMADDL*", LONG }, { "UMADDL*", LONG }, { "SMSUBL*", LONG },
	{ "UMSUBL*", LONG },
	{ "SMULH*", LONG }, { "UMULH*", LONG }, { "SDIV?r", LONG }, { "UDIV?r", LONG }, { "CRC32*", LONG },
	{ "FADD*", FP | LONG }, { "FSUB*", FP | LONG }, { "FMUL*", FP | LONG }, { "FNMUL*", FP | LONG },
	{ "FDIV*", FP | LONG }, { "FSQRT*", FP | LONG },
	{ "FMADD*", FP | LONG }, { "FMSUB*", FP | LONG }, { "FNMADD*", FP | LONG }, { "FNMSUB*", FP | LONG },
	{ "FMLA*", FP | LONG }, { "FMLS*", FP | LONG },
	{ "FMAX*", FP | LONG }, { "FMIN*", FP | LONG }, { "FABD*", FP | LONG }, { "FABS*", FP }, { "FNEG*", FP },
	{ "FRINT*", FP | LONG }, { "FCVT*", FP | LONG },
	{ "SCVTF*", FP | LONG }, { "UCVTF*", FP | LONG }, { "FCMP*", FP | LONG }, { "FCM??*", FP | LONG },
	{ "FCCMP*", FP | LONG }, { "FRECP*", FP | LONG }, { "FRSQRT*", FP | LONG }, { "FAC??*", FP | LONG },
	{ "FCSEL*", FP },
	{ "ADDv*", VINT }, { "SUBv*", VINT }, { "ANDv*", VINT }, { "EORv*", VINT }, { "BICv*", VINT },
	{ "CM??v*", VINT }, { "SSHL*v*", VINT }, { "USHL*v*", VINT }, { "SHLv*", VINT },
	{ "SSHRv*", VINT }, { "USHRv*", VINT }, { "MULv*", VINT | LONG }, { "MLAv*", VINT | LONG },
	{ "MLSv*", VINT | LONG }, { "?MULLv*", VINT | LONG }, { "?MLALv*", VINT | LONG }, { "PMULL*", VINT | LONG },
	{ "AES*", VINT | LONG }, { "SHA*", VINT | LONG },
	{ "ORRWrs", OR_SHIFTED }, { "ORRXrs", OR_SHIFTED }, { "FMOVSr", MOVES }, { "FMOVDr", MOVES },
	{ "ORRv8i8", OR_VECTOR }, { "ORRv16i8", OR_VECTOR },
	{ "EXTR?rri", EXTRACTS },
};

static uint64_t arm_traits(const char *form)
{
	uint64_t traits = traits_of(table, sizeof table / sizeof *table, form);
	size_t length = strlen(form);

	/* LDADDAX, LDADDLX, LDADDALX, CASPALX: order before the size. */
	if (traits & ATOMIC && length > 3) {
		const char *size = strpbrk(form + 3, "BHWX");
		const char *order = size ? size : form + length;
		if (order[-1] == 'L')
			traits |= RELEASES, order--;
		if (order[-1] == 'A' && strncmp(form, "LDEOR", 5) != 0)
			traits |= ACQUIRES;
	}
	return traits;
}

static uint8_t arm_number(char file, int n)
{
	switch (file) {
	case 'X': case 'W':
		return (uint8_t)(ARM_X + n);
	case 'P':
		return (uint8_t)(ARM_P + n);
	default:
		return (uint8_t)(ARM_V + n);
	}
}

/* X0, W0, Q0, D0, ..., Q30_Q31_Q0 */
static struct reg arm_reg(const char *name)
{
	struct reg r = { .bits = name[0] == 'Q' ? 128 : name[0] == 'W' || name[0] == 'S' ? 32 : 64 };

	if (strcmp(name, "SP") == 0 || strcmp(name, "WSP") == 0)
		return (struct reg){ .nr = 1, .number = { ARM_SP }, .bits = 64 };
	if (strcmp(name, "NZCV") == 0)
		return (struct reg){ .nr = 1, .number = { ARM_NZCV } };
	if (strcmp(name, "FP") == 0 || strcmp(name, "LR") == 0)
		return (struct reg){ .nr = 1, .number = { (uint8_t)(ARM_X + (name[0] == 'F' ? 29 : 30)) }, .bits = 64 };
	for (const char *part = name; r.nr < 4; part++) {
		int n;
		if (!strchr("XWBHSDQZP", part[0]) || part[1] < '0' || part[1] > '9') {
			bool named = strncmp(part, "FP", 2) == 0 || strncmp(part, "LR", 2) == 0;
			if (!named || !r.nr)
				return (struct reg){ 0 };
			n = part[0] == 'F' ? 29 : 30;
		} else {
			n = atoi(part + 1);
		}
		r.number[r.nr++] = arm_number(part[0] == 'L' || part[0] == 'F' ? 'X' : part[0], n);
		part = strchr(part, '_');
		if (!part)
			return r;
	}
	return (struct reg){ 0 };
}

static bool zero_variant(const struct decoded *d)
{
	/* dc zva: op1 3, CRn 7, CRm 4, op2 1 */
	return d->nr_explicit == 5 && d->operand[0].imm == 3 && d->operand[1].imm == 7 && d->operand[2].imm == 4 &&
	       d->operand[3].imm == 1;
}

static const char *arm_variant(const struct decoded *d, const struct decoder *decoder, uint64_t traits)
{
	(void)decoder;
	if (traits & SYSTEM && zero_variant(d))
		return "zva";
	if (traits & EXTRACTS && d->operand[1].reg == d->operand[2].reg)
		return "ror";
	return NULL;
}

static bool is_base(const struct shape *s, const struct operand *o)
{
	return o->role & OPERAND_REGISTER && o->reg_class &&
	       strcmp(decoder_class(s->decoder, o->reg_class - 1u), "GPR64sp") == 0;
}

static void memory_operands(struct shape *s)
{
	const struct decoded *d = s->d;
	unsigned base = d->nr_defs;

	while (base < d->nr_explicit && !is_base(s, &d->operand[base]))
		base++;
	for (unsigned k = 0; k < d->nr_operands; k++) {
		struct operand o = d->operand[k];
		if (k >= base && k < d->nr_explicit) {
			o.role |= OPERAND_MEMORY;
			shape_operand(s, &o);
		} else if (o.role & OPERAND_DEF && base < d->nr_explicit && is_base(s, &o) &&
		           o.reg == d->operand[base].reg) {
			if (s->regs[o.reg].nr)
				shape_writeback(s, s->regs[o.reg].number[0], 1);
		} else {
			shape_operand(s, &o);
		}
	}
	if (s->insn->nr_addr > 1)
		s->insn->flags |= INSN_INDEXED;
	else if (s->insn->nr_addr == 1 && !s->vector)
		s->insn->flags |= INSN_SIMPLE_ADDR;
	if (s->vector)
		s->insn->flags |= INSN_VECTOR_MEM;
}

static void access_flags(struct shape *s)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;
	uint64_t t = s->traits;
	bool load = d->flags & DECODED_LOAD, store = d->flags & DECODED_STORE;

	if (t & (BARRIER | FLUSHES | IS_NOP))
		load = store = false;
	if (t & EXCLUSIVE_LOAD)
		store = false;
	if (t & EXCLUSIVE_STORE)
		load = false;
	if (t & PREFETCHES)
		load = true;
	if (t & SYSTEM && zero_variant(d))
		store = true;
	i->flags |= (load ? INSN_LOAD : 0) | (store ? INSN_STORE : 0) | (t & PREFETCHES ? INSN_PREFETCH : 0) |
	            (t & ACQUIRES ? INSN_ACQUIRE : 0) | (t & RELEASES ? INSN_RELEASE : 0) |
	            (t & ATOMIC ? INSN_LOCKED : 0) | (t & EXCLUSIVE_STORE ? INSN_CONDITIONAL_ACCESS : 0) |
	            (t & FLUSHES ? INSN_FLUSH : 0) | (t & SYSCALLS ? INSN_SYSCALL : 0);
	if (t & BARRIER)
		i->flags |= (d->operand[0].imm & 3) == 1   ? INSN_ACQUIRE
		            : (d->operand[0].imm & 3) == 2 ? INSN_RELEASE
		                                           : INSN_FENCE;
}

static void branch(struct shape *s)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;
	bool direct = d->flags & DECODED_TARGET;

	if (d->flags & DECODED_RETURN)
		i->branch = BRANCH_RETURN;
	else if (d->flags & DECODED_CALL)
		i->branch = direct ? BRANCH_CALL : BRANCH_INDIRECT_CALL;
	else if (d->flags & DECODED_CONDITIONAL)
		i->branch = BRANCH_CONDITIONAL;
	else if (d->flags & DECODED_BRANCH)
		i->branch = direct ? BRANCH_JUMP : BRANCH_INDIRECT;
	if (i->branch && direct && i->branch != BRANCH_RETURN)
		i->target = d->target;
}

static bool copies(const struct shape *s)
{
	const struct decoded *d = s->d;

	if (s->traits & MOVES)
		return true;
	if (s->traits & OR_SHIFTED)
		return d->nr_explicit == 4 && !s->regs[d->operand[1].reg].nr && d->operand[3].imm == 0;
	return s->traits & OR_VECTOR && d->operand[1].reg == d->operand[2].reg;
}

static void arm_shape(struct shape *s)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;

	access_flags(s);
	if (s->traits & IS_NOP) {
		i->flags |= INSN_NOP;
		return;
	}
	if (s->traits & SYSTEM && i->flags & INSN_STORE) {
		if (s->regs[d->operand[4].reg].nr)
			shape_address(s, s->regs[d->operand[4].reg].number[0]);
	} else if (i->flags & (INSN_LOAD | INSN_STORE)) {
		memory_operands(s);
	} else {
		for (unsigned k = 0; k < d->nr_operands; k++) {
			const struct operand *o = &d->operand[k];
			bool link = o->role & OPERAND_DEF && d->flags & DECODED_CALL;
			if (!(s->traits & NO_IMPLICIT && o->role & OPERAND_IMPLICIT) || link)
				shape_operand(s, o);
		}
	}
	branch(s);
	if (copies(s) && i->nr_data == 1 && i->nr_dst == 1)
		i->flags |= INSN_MOVE;
	i->flags |= (s->traits & FP ? INSN_FP : 0) | (s->traits & VINT ? INSN_VINT : 0) |
	            (s->traits & LONG ? INSN_LONG : 0);
}

static unsigned arm_bad_length(const uint8_t *bytes, size_t size)
{
	(void)bytes;
	return size < 4 ? (unsigned)size : 4;
}

const struct arch arch_aarch64 = {
	.isa = ISA_AARCH64,
	.triple = "aarch64-linux-gnu",
	.features = "+all",
	.max_length = 4,
	.reg = arm_reg,
	.traits = arm_traits,
	.variant = arm_variant,
	.shape = arm_shape,
	.bad_length = arm_bad_length,
};
