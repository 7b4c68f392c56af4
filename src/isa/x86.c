/*
 * x86-64: what LLVM's description of an instruction lacks or says in a way of its own.
 *
 *  - Flags are two renamer registers, CF and the rest: INC and DEC leave CF alone, BT leaves the rest, and a
 *    chain through CF (ADC) is not broken by them. LLVM sees EFLAGS as one.
 *  - RSP of PUSH, POP, CALL and RET is updated by the stack engine: no uop, no latency; who else reads it is marked.
 *  - The x87 stack is st0..st7 by the names in the instruction; a popping instruction's result goes by the name
 *    it has afterwards. Pushes do not rename what lies below, so a chain through it may be lost.
 *  - MXCSR, FPCW and segment registers are not renamed: what writes them serialises or is rare.
 *
 * Ref: Intel SDM volumes 2A to 2D for what is read and written; the optimization manual for macro-fusion.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/arch.h"
#include "isa/x86_forms.h"

enum {
	X86_GPR = 1,               /* rax .. r15 in order of encoding, then APX's r16 .. r31 */
	X86_RCX = X86_GPR + 1, X86_RSP = X86_GPR + 4, X86_RBP, X86_RSI, X86_RDI,
	X86_CF = 33, X86_REST, X86_DF,
	X86_XMM = REG_VECTOR,      /* 32 */
	X86_MASK = 96,             /* 8 */
	X86_ST = 104,              /* 8, the MMX registers too */
	X86_FPSW = 112,
};

/* Flags of an instance, decoded.prefixes. Ref: LLVM's X86::IPREFIXES. */
enum { REPEAT = 4 | 8, LOCK = 16, OTHER_PREFIX = 1 << 16 };

static struct reg gpr(int number, unsigned bits)
{
	return (struct reg){
		.nr = 1, .number = { (uint8_t)(X86_GPR + number) }, .bits = (uint16_t)bits, .merges = bits < 32
	};
}

/* RAX, EAX, AX, AL, AH, R8, R8D, R8W, R8B, SIL, ... */
static struct reg x86_gpr(const char *name)
{
	static const char legacy[8][3] = { "AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI" };
	size_t length = strlen(name);

	if (name[0] == 'R' && name[1] >= '0' && name[1] <= '9') {
		int n = atoi(name + 1);
		char last = name[length - 1];
		return gpr(n, last == 'D' ? 32 : last == 'W' ? 16 : last == 'B' ? 8 : 64);
	}
	for (int i = 0; i < 8; i++) {
		if (strcmp(name, legacy[i]) == 0)
			return gpr(i, 16);
		if (length == 3 && strcmp(name + 1, legacy[i]) == 0 && (name[0] == 'R' || name[0] == 'E'))
			return gpr(i, name[0] == 'R' ? 64 : 32);
		if (length == 3 && name[2] == 'L' && strncmp(name, legacy[i], 2) == 0)
			return gpr(i, 8);
		if (length == 2 && i < 4 && name[0] == legacy[i][0] && name[1] == 'L')
			return gpr(i, 8);
		if (length == 2 && i < 4 && name[0] == legacy[i][0] && name[1] == 'H')
			return (struct reg){
				.nr = 1, .number = { (uint8_t)(X86_GPR + i) }, .bits = 8, .merges = true, .high = true
			};
	}
	return (struct reg){ 0 };
}

static struct reg x86_reg(const char *name)
{
	static const struct {
		const char *prefix;
		uint8_t first;
		uint16_t bits;
	} files[] = {
		{ "XMM", X86_XMM, 128 }, { "YMM", X86_XMM, 256 }, { "ZMM", X86_XMM, 512 },
		{ "MM", X86_ST, 64 }, { "ST", X86_ST, 80 }, { "K", X86_MASK, 64 },
	};

	if (strcmp(name, "EFLAGS") == 0)
		return (struct reg){ .nr = 1, .number = { X86_CF }, .special = true };
	if (strcmp(name, "RIP") == 0)
		return (struct reg){ .special = true };
	if (strcmp(name, "DF") == 0)
		return (struct reg){ .nr = 1, .number = { X86_DF } };
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
		size_t n = strlen(files[i].prefix);
		if (strncmp(name, files[i].prefix, n) == 0 && name[n] >= '0' && name[n] <= '9' && !strchr(name, '_'))
			return (struct reg){
				.nr = 1, .number = { (uint8_t)(files[i].first + atoi(name + n)) },
				.bits = files[i].bits,
			};
	}
	return x86_gpr(name);
}

/* The five operands of a memory reference; NULL where there is none (string instructions have fewer). */
static const struct operand *memory_operand(const struct decoded *d)
{
	for (unsigned k = 0; k + 5 <= d->nr_explicit; k++)
		if (d->operand[k].role & OPERAND_MEMORY)
			return d->operand[k + 1].role & OPERAND_IMMEDIATE ? &d->operand[k] : NULL;
	return NULL;
}

/* Whether an address has a displacement in the encoding; RBP, R13, RIP and no base at all always do. */
static bool has_displacement(const struct operand *m, const struct decoder *decoder)
{
	const char *base = m[0].reg ? decoder_register(decoder, m[0].reg) : "";

	return m[3].imm || !*base || strcmp(base + 1, "IP") == 0 || strcmp(base + 1, "BP") == 0 ||
	       strncmp(base, "R13", 3) == 0;
}

/*
 * Whether the address is made of base, index and displacement. With RBP or R13 for a base there always is a
 * displacement in the encoding, zero or not, and it takes as long as any other (measured on Zen 5, of LEA and of loads;
 * Intel's optimization manual says so of LEA).
 */
static bool three_parts(const struct operand *m, const struct decoder *decoder)
{
	return m[0].reg && m[2].reg && has_displacement(m, decoder);
}

static const char *lea_variant(const struct operand *m, const struct decoder *decoder)
{
	if (three_parts(m, decoder))
		return "slow";
	return m[0].reg && strcmp(decoder_register(decoder, m[0].reg), "RIP") == 0 ? "rip" : NULL;
}

/* What a condition is made of: of both flag registers, or of two flags of one; condition codes as encoded. */
static const char *condition_variant(int64_t code, const char *form)
{
	if ((code | 1) == 7)
		return "be";
	return code >= 12 && strncmp(form, "CMOV", 4) == 0 ? "l" : NULL;
}

static const char *x86_variant(const struct decoded *d, const struct decoder *decoder, uint64_t traits)
{
	if (traits & LEA)
		return lea_variant(&d->operand[1], decoder);
	if (traits & STRING && d->prefixes & REPEAT)
		return "rep";
	if (d->prefixes & LOCK)
		return "lock";
	if (traits & CONDITION && !(d->flags & DECODED_BRANCH))
		return condition_variant(d->operand[d->nr_explicit - 1].imm, decoder_form(decoder, d->form));
	return NULL;
}

static void access_flags(struct shape *s, const struct operand *m)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;

	if (s->traits & LOADS || (d->flags & DECODED_LOAD && !(s->traits & NO_ACCESS)))
		i->flags |= INSN_LOAD;
	if (s->traits & STORES || (d->flags & DECODED_STORE && !(s->traits & NO_ACCESS)))
		i->flags |= INSN_STORE;
	if (s->traits & PREFETCHES)
		i->flags = (i->flags & ~(uint32_t)INSN_STORE) | INSN_LOAD | INSN_PREFETCH;
	if (!(i->flags & (INSN_LOAD | INSN_STORE)))
		return;
	if (s->traits & MASKED)
		i->flags |= INSN_CONDITIONAL_ACCESS;
	if (s->vector && !(s->traits & (X87 | STRING)))
		i->flags |= INSN_VECTOR_MEM;
	if (!m)
		return;
	if (m[2].reg && s->regs[m[2].reg].nr) {
		i->flags |= INSN_INDEXED;
		s->long_address = m[1].imm > 1 || three_parts(m, s->decoder);
	} else if (m[0].reg && s->regs[m[0].reg].nr && m[3].imm >= 0 && m[3].imm < 2048 && !m[4].reg)
		i->flags |= s->vector || s->traits & EXTENDS ? 0 : INSN_SIMPLE_ADDR;
}

static void order_flags(struct shape *s)
{
	struct insn *i = s->insn;
	uint64_t t = s->traits;

	if (t & ATOMIC || (s->d->prefixes & LOCK && i->flags & INSN_STORE))
		i->flags |= INSN_LOCKED;
	i->flags |= (t & FENCES ? INSN_FENCE : 0) | (t & FENCES_LOADS ? INSN_DISPATCH_SERIALIZE : 0) |
	            (t & FENCES_STORES ? INSN_RELEASE : 0) | (t & SERIALIZES ? INSN_SERIALIZE : 0) |
	            (t & SYSCALLS ? INSN_SYSCALL : 0);
}

/* Which flag registers a condition code reads; LLVM's codes are the encoding's. */
static void read_condition(struct shape *s, int64_t code)
{
	bool carry = code == 2 || code == 3, both = code == 6 || code == 7;

	if (carry || both)
		shape_data(s, X86_CF, 0);
	if (!carry)
		shape_data(s, X86_REST, 0);
}

static void flag_registers(struct shape *s)
{
	const struct decoded *d = s->d;
	uint64_t t = s->traits;
	bool reads = false, writes = false;
	int16_t latency = -1;

	for (unsigned k = d->nr_explicit; k < d->nr_operands; k++) {
		const struct operand *o = &d->operand[k];
		if (!o->reg || s->regs[o->reg].number[0] != X86_CF)
			continue;
		writes = writes || o->role & OPERAND_DEF;
		reads = reads || !(o->role & OPERAND_DEF);
		latency = o->role & OPERAND_DEF ? o->latency : latency;
	}
	if (t & CONDITION) {
		read_condition(s, d->operand[d->nr_explicit - 1].imm);
	} else {
		bool all = reads && !(t & (READS_CF | READS_REST));
		if (t & READS_CF || (all && !(t & KEEPS_REST)))
			shape_data(s, X86_CF, 0);
		if (t & READS_REST || (all && !(t & KEEPS_REST)))
			shape_data(s, X86_REST, 0);
	}
	if (writes && !(t & KEEPS_CF))
		shape_result(s, X86_CF, latency);
	if (writes && !(t & KEEPS_REST))
		shape_result(s, X86_REST, latency);
}

/* Register stack: LLVM names the operand beside st0, if any, and not st0 itself. */
static void x87_registers(struct shape *s)
{
	const struct decoded *d = s->d;
	uint64_t t = s->traits;
	unsigned other = 0;

	if (t & X87_STATUS)
		shape_data(s, X86_FPSW, 0);
	if (!(t & X87))
		return;
	if (d->nr_explicit == 1 && d->operand[0].reg)
		other = s->regs[d->operand[0].reg].number[0];
	if (!(t & X87_LOAD))
		shape_data(s, X86_ST, 0);
	if (other && !(t & X87_STORE && !(t & LONG)))
		shape_data(s, other, 0);
	if (t & X87_COMPARE) {
		if (s->insn->nr_dst == 0)
			shape_result(s, X86_FPSW, d->latency);
	} else if (!(t & X87_STORE)) {
		shape_result(s, X86_ST, d->latency);
		if (t & X87_EXCHANGE && other)
			shape_result(s, other, d->latency);
	} else if (other) {
		shape_result(s, other - (t & X87_POP && other > X86_ST), d->latency);
	}
}

static void string_operands(struct shape *s)
{
	for (unsigned k = 0; k < s->d->nr_operands; k++) {
		const struct operand *o = &s->d->operand[k];
		const struct reg *r = &s->regs[o->reg];
		if (r->nr && (r->number[0] == X86_RSI || r->number[0] == X86_RDI)) {
			shape_address(s, r->number[0]);
			shape_writeback(s, r->number[0], 1);
		} else {
			shape_operand(s, o);
		}
	}
	if (s->d->prefixes & REPEAT) {
		s->insn->flags |= INSN_REP;
		shape_data(s, X86_RCX, 0);
		shape_result(s, X86_RCX, 1);
	}
}

static void operands(struct shape *s)
{
	for (unsigned k = 0; k < s->d->nr_operands; k++) {
		const struct operand *o = &s->d->operand[k];
		if (s->traits & NO_RESULT && o->role & OPERAND_DEF)
			continue;
		if (s->traits & KEEPS_RAX && o->role & OPERAND_DEF && s->regs[o->reg].nr &&
		    s->regs[o->reg].number[0] == X86_GPR)
			continue;
		if (s->traits & IS_NOP || (s->traits & X87 && !(o->role & OPERAND_MEMORY)))
			continue;
		if (o->role & OPERAND_IMPLICIT && s->traits & (STACK | FRAME) && s->regs[o->reg].nr &&
		    (s->regs[o->reg].number[0] == X86_RSP || s->regs[o->reg].number[0] == X86_RBP))
			continue;
		shape_operand(s, o);
	}
	if (s->traits & STACK) {
		shape_address(s, X86_RSP);
		shape_writeback(s, X86_RSP, 0);
	}
	if (s->traits & COUNTS) {
		shape_data(s, X86_RCX, 0);
		shape_result(s, X86_RCX, 1);
	}
	if (s->traits & FRAME) {
		shape_address(s, X86_RBP);
		shape_result(s, X86_RBP, -1);
		shape_writeback(s, X86_RSP, 1);
	}
}

static bool names(const uint8_t *regs, unsigned nr, uint8_t reg)
{
	while (nr)
		if (regs[--nr] == reg)
			return true;
	return false;
}

static enum stack_use stack_use(const struct shape *s)
{
	const struct insn *i = s->insn;

	if (s->traits & STACK)
		return STACK_MOVES;
	if (names(i->addr, i->nr_addr, X86_RSP) || names(i->data, i->nr_data, X86_RSP))
		return STACK_READS;
	return names(i->dst, i->nr_dst, X86_RSP) ? STACK_SETS : STACK_NONE;
}

static bool same_sources(const struct decoded *d)
{
	return d->nr_explicit == 3 && d->operand[1].reg && d->operand[1].reg == d->operand[2].reg;
}

/* Of what it reads, the carry alone is waited for. */
static void keep_carry(struct shape *s)
{
	struct insn *i = s->insn;

	for (unsigned k = 0; k < i->nr_data; k++) {
		if (i->data[k] != X86_CF)
			continue;
		i->data[0] = X86_CF;
		i->data_late[0] = i->data_late[k];
		s->reads[0] = s->reads[k];
	}
	i->nr_data = 1;
}

/* Zero idioms, copies and other results that rename or the scheduler gets for less. */
static void idioms(struct shape *s)
{
	struct insn *i = s->insn;

	if (s->traits & IS_NOP)
		i->flags |= INSN_NOP;
	if (s->d->flags & DECODED_ZERO || (s->traits & ZERO_SAME && same_sources(s->d))) {
		i->flags |= INSN_ZERO;
		i->nr_data = 0;
	} else if (s->d->flags & DECODED_BREAKS && s->traits & READS_CF) {
		keep_carry(s);                 /* sbb of a register from itself */
	} else if (s->d->flags & DECODED_BREAKS || (s->traits & ONES_SAME && same_sources(s->d))) {
		i->flags |= INSN_LEAF_RESULT;
	}
	/* mov %r32,%r32 onto itself and movzbl from ah..dh or onto itself are not eliminated. */
	if (s->traits & MOVES && i->nr_data == 1 && i->nr_dst == 1 && i->data[0] != i->dst[0] && !s->high)
		i->flags |= INSN_MOVE;
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
	if (!i->branch)
		return;
	i->target = direct && i->branch != BRANCH_RETURN ? d->target : 0;
	if (i->pc / 32 != (i->pc + i->length) / 32)
		i->flags |= INSN_JCC_ERRATUM;
}

static bool has_immediate(const struct shape *s)
{
	const struct decoded *d = s->d;
	unsigned last = d->nr_explicit ? d->operand[d->nr_explicit - 1].role : 0;

	return last & OPERAND_IMMEDIATE && !(last & OPERAND_MEMORY) && !(s->traits & CONDITION);
}

/*
 * shape.fuse: SECOND | condition code; or what fuses with that on Intel's cores, one of three kinds, and on AMD's, one
 * of two.
 */
enum {
	FUSE_TEST = 1,
	FUSE_CMP,
	FUSE_INC,
	FUSE_INTEL = 3,
	FUSE_COMPARE = 1 << 2,
	FUSE_ARITHMETIC = 1 << 3,
	FUSE_SECOND = 0x10,
};

/* Whether a place's displacement and the immediate both take four bytes. */
static bool both_long(const struct shape *s, const struct operand *m)
{
	int64_t imm = s->d->operand[s->d->nr_explicit - 1].imm, at = m[3].imm;
	const char *form = decoder_form(s->decoder, s->d->form);

	return has_immediate(s) && imm != (int8_t)imm && at != (int8_t)at &&
	       (strstr(form, "32m") || strstr(form, "64m"));
}

/* Ref: Intel's optimization manual §3.4.2.2. */
static uint8_t intel_fusion(const struct shape *s, const struct operand *m)
{
	if (m && has_immediate(s))
		return 0;
	return s->traits & FUSES_TEST  ? FUSE_TEST
	       : s->traits & FUSES_CMP ? FUSE_CMP
	       : s->traits & FUSES_INC ? FUSE_INC
	                               : 0;
}

/*
 * Measured on Zen 5: nothing with an address relative to RIP, nor where displacement and immediate are both long. Which
 * instructions do, on Zen 3 too: corsix.org, "x86 macro-op fusion notes".
 */
static uint8_t amd_fusion(const struct shape *s, const struct operand *m)
{
	if (m && (s->regs[m[0].reg].special || both_long(s, m)))
		return 0;
	if (!(s->traits & (FUSES_TEST | FUSES_CMP | FUSES_INC | FUSES_LOGIC)))
		return 0;
	return s->traits & (FUSES_LOGIC | FUSES_INC | FUSES_ARITHMETIC) ? FUSE_ARITHMETIC : FUSE_COMPARE;
}

static void fusion(struct shape *s, const struct operand *m)
{
	const struct decoded *d = s->d;

	if (s->insn->branch == BRANCH_CONDITIONAL && s->traits & CONDITION)
		s->fuse = (uint8_t)(FUSE_SECOND | d->operand[d->nr_explicit - 1].imm);
	else if (!(s->insn->flags & INSN_STORE))
		s->fuse = intel_fusion(s, m) | amd_fusion(s, m);
}

/*
 * Intel's: a pair with a branch split at a 64-byte line is not fused. Ref: optimization manual §3.4.2.2; condition
 * codes as encoded.
 */
static bool x86_fuses(const struct cost_core *core, uint8_t first, uint8_t second, const struct insn *b)
{
	unsigned code = second & 15, kind = first & FUSE_INTEL;
	bool sign_overflow_parity = code <= 1 || (code >= 8 && code <= 11),
	     carry = code == 2 || code == 3 || code == 6 || code == 7;

	if (!(second & FUSE_SECOND) || first & FUSE_SECOND || b->pc % 64 == 0)
		return false;
	if (core->fusion != FUSION_INTEL)
		return first & FUSE_COMPARE || (first & FUSE_ARITHMETIC && core->fusion == FUSION_ARITHMETIC);
	if (kind == 0)
		return false;
	return kind == FUSE_TEST || (!sign_overflow_parity && (kind == FUSE_CMP || !carry));
}

/*
 * Micro-fused uops part at rename where an index register is there and the form has more than two operands, flags
 * that it reads included, or does not read what it writes. Measured on Skylake for vaddps and vfmadd, which part, and
 * for `add r,[b+i]`, which does not. Ref: P. Cordes, "Micro fusion and addressing modes"; optimization manual.
 */
static bool unlaminates(const struct shape *s)
{
	const struct decoded *d = s->d;

	if (s->traits & KEEPS_FUSED)
		return false;
	if (s->traits & PARTS)
		return true;
	if (d->nr_defs == 0)
		return false;
	for (unsigned k = d->nr_defs; k < d->nr_explicit; k++)
		if (d->operand[k].role & OPERAND_TIED)
			return false;
	return true;
}

static void x86_shape(struct shape *s)
{
	const struct operand *m = s->traits & LEA ? NULL : memory_operand(s->d);

	if (s->traits & STRING)
		string_operands(s);
	else
		operands(s);
	s->insn->stack = stack_use(s) & 3;
	access_flags(s, m);
	order_flags(s);
	flag_registers(s);
	x87_registers(s);
	branch(s);
	idioms(s);
	fusion(s, m);
	s->unlaminates = unlaminates(s);
	s->insn->prefix_lengthens = (s->traits & LENGTH_PREFIX) != 0;
	/* An address relative to RIP leaves no room for an immediate in a micro-fused uop. */
	s->splits = m && s->regs[m[0].reg].special && has_immediate(s);
	s->insn->flags |= (s->traits & FP ? INSN_FP : 0) | (s->traits & VINT ? INSN_VINT : 0) |
		(s->traits & LONG ? INSN_LONG : 0) | (s->bits == 512 ? INSN_WIDE : 0);
}

static uint32_t x86_prefix(const char *form)
{
	size_t length = strlen(form);

	if (length < 7 || strcmp(form + length - 7, "_PREFIX") != 0)
		return 0;
	return strcmp(form, "LOCK_PREFIX") == 0 ? LOCK : OTHER_PREFIX;
}

static unsigned x86_bad_length(const uint8_t *bytes, size_t size)
{
	(void)bytes;
	return size < 15 ? (unsigned)size : 15;
}

const struct arch arch_x86 = {
	.isa = ISA_X86_64,
	.triple = "x86_64-linux-gnu",
	.features = "",
	.max_length = 15,
	.sequencer_uops = 4,
	.reg = x86_reg,
	.traits = x86_traits,
	.variant = x86_variant,
	.shape = x86_shape,
	.prefix = x86_prefix,
	.fuses = x86_fuses,
	.bad_length = x86_bad_length,
};
