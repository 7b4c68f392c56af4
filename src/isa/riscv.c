/*
 * RV64GC: what LLVM's description of an instruction lacks or says in a way of its own.
 *
 *  - Calls and returns are jumps whose link or source register is ra or t0.
 *  - Acquire and release are in the opcode's name.
 *  - x0 is no register. A load into it asks for a line and nobody waits: a prefetch, as the hints of Zicbop are.
 *  - fflags and frm are not renamed: arithmetic only accumulates into fflags, and what reads or writes them
 *    does so alone in the pipeline (the core's cost file says how).
 *
 * Ref: RISC-V unprivileged ISA 20191213, tables 2.1 (return-address stack hints) and 16.4 (compressed).
 */
#include <stdlib.h>
#include <string.h>

#include "isa/arch.h"

enum { RISCV_X = 0, RISCV_RA = 1, RISCV_T0 = 5, RISCV_F = REG_VECTOR };

enum riscv_trait {
	ACQUIRES = 1 << 0, RELEASES = 1 << 1,
	ATOMIC = 1 << 2,
	MAY_FAIL = 1 << 3,         /* store-conditional */
	JUMPS = 1 << 4,            /* with a link register, direct */
	JUMPS_INDIRECT = 1 << 5,
	LINKS_RA = 1 << 6,         /* compressed: the link register is not an operand */
	FENCES = 1 << 7,
	SYSCALLS = 1 << 8,
	PREFETCHES = 1 << 9,
	FP = 1 << 10,
	LONG = 1 << 11,
	MOVES = 1 << 12,
	CSR = 1 << 13,
	SIGN_COPY = 1 << 14,       /* fsgnj: a copy where both sources are one */
	ADDS_IMMEDIATE = 1 << 15,  /* a copy where it is 0 */
};

static const struct trait table[] = {
	{ "AMO*", ATOMIC }, { "*_AQ", ACQUIRES }, { "*_RL", RELEASES }, { "*_AQ_RL", ACQUIRES | RELEASES },
	{ "SC_?*", MAY_FAIL },
	{ "JAL", JUMPS }, { "C_J", JUMPS }, { "JALR", JUMPS_INDIRECT }, { "C_JR", JUMPS_INDIRECT },
	{ "C_JALR", JUMPS_INDIRECT | LINKS_RA },
	{ "FENCE", FENCES }, { "FENCE_TSO", FENCES }, { "ECALL", SYSCALLS }, { "EBREAK", SYSCALLS },
	{ "C_EBREAK", SYSCALLS },
	{ "PREFETCH_*", PREFETCHES }, { "CSR*", CSR },
	{ "MUL*", LONG }, { "DIV*", LONG }, { "REM*", LONG },
	{ "FADD_*", FP | LONG }, { "FSUB_*", FP | LONG }, { "FMUL_*", FP | LONG }, { "FDIV_*", FP | LONG },
	{ "FSQRT_*", FP | LONG },
	{ "FMADD_*", FP | LONG }, { "FMSUB_*", FP | LONG }, { "FNMADD_*", FP | LONG }, { "FNMSUB_*", FP | LONG },
	{ "FMIN_*", FP | LONG }, { "FMAX_*", FP | LONG }, { "FEQ_*", FP | LONG }, { "FLT_*", FP | LONG },
	{ "FLE_*", FP | LONG },
	{ "FCVT_*", FP | LONG }, { "FCLASS_*", FP | LONG }, { "FSGNJ*", FP | LONG }, { "FMV_*", FP },
	{ "C_MV", MOVES }, { "FSGNJ_*", SIGN_COPY }, { "ADDI", ADDS_IMMEDIATE },
};

static uint64_t riscv_traits(const char *form)
{
	return traits_of(table, sizeof table / sizeof *table, form);
}

/* X10, F10_D, F10_F, F10_H */
static struct reg riscv_reg(const char *name)
{
	bool fp = name[0] == 'F';
	int n;

	if ((name[0] != 'X' && !fp) || name[1] < '0' || name[1] > '9')
		return (struct reg){ 0 };
	n = atoi(name + 1);
	if (!fp && (n == 0 || strchr(name, '_')))
		return (struct reg){ 0 };
	return (struct reg){ .nr = 1, .number = { (uint8_t)((fp ? RISCV_F : RISCV_X) + n) }, .bits = 64 };
}

/* Control and status registers by what a core does with them. */
static const char *csr_group(int64_t csr)
{
	if (csr >= 1 && csr <= 3)
		return "float";
	if ((csr >= 0xc00 && csr <= 0xc1f) || (csr >= 0xc80 && csr <= 0xc9f))
		return "counter";
	return NULL;
}

static const char *riscv_variant(const struct decoded *d, const struct decoder *decoder, uint64_t traits)
{
	(void)decoder;
	if (traits & CSR && d->nr_explicit >= 2)
		return csr_group(d->operand[1].imm);
	return NULL;
}

static bool is_link(const struct shape *s, const struct operand *o)
{
	const struct reg *r = &s->regs[o->reg];
	return r->nr && (r->number[0] == RISCV_RA || r->number[0] == RISCV_T0);
}

/* JAL rd, JALR rd, rs1, C.JR rs1, C.JALR rs1: what the return-address stack does. */
static void jump(struct shape *s)
{
	const struct decoded *d = s->d;
	bool has_rd = d->nr_defs > 0, links = s->traits & LINKS_RA || (has_rd && is_link(s, &d->operand[0]));
	const struct operand *source = &d->operand[has_rd];

	if (s->traits & JUMPS)
		s->insn->branch = links ? BRANCH_CALL : BRANCH_JUMP;
	else if (links)
		s->insn->branch = BRANCH_INDIRECT_CALL;
	else
		s->insn->branch = is_link(s, source) ? BRANCH_RETURN : BRANCH_INDIRECT;
}

static void branch(struct shape *s)
{
	const struct decoded *d = s->d;

	if (s->traits & (JUMPS | JUMPS_INDIRECT))
		jump(s);
	else if (d->flags & DECODED_CONDITIONAL)
		s->insn->branch = BRANCH_CONDITIONAL;
	if (s->insn->branch && d->flags & DECODED_TARGET && !(s->traits & JUMPS_INDIRECT))
		s->insn->target = d->target;
}

static void access_flags(struct shape *s)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;
	uint64_t t = s->traits;

	i->flags |= (d->flags & DECODED_LOAD ? INSN_LOAD : 0) | (d->flags & DECODED_STORE ? INSN_STORE : 0);
	if (t & FENCES)
		i->flags = (i->flags & ~(uint32_t)(INSN_LOAD | INSN_STORE)) | INSN_FENCE;
	if (t & PREFETCHES)
		i->flags = (i->flags & ~(uint32_t)INSN_STORE) | INSN_LOAD | INSN_PREFETCH;
	if (i->flags & INSN_LOAD && !(i->flags & INSN_STORE) && i->nr_dst == 0)
		i->flags |= INSN_PREFETCH;
	if (i->flags & (INSN_LOAD | INSN_STORE)) {
		i->flags |= s->vector ? INSN_VECTOR_MEM : 0;
		i->flags |= i->nr_addr ? INSN_SIMPLE_ADDR : 0;
	}
	i->flags |= (t & ATOMIC ? INSN_LOCKED : 0) | (t & ACQUIRES ? INSN_ACQUIRE : 0) |
	            (t & RELEASES ? INSN_RELEASE : 0) | (t & MAY_FAIL ? INSN_CONDITIONAL_ACCESS : 0) |
	            (t & SYSCALLS ? INSN_SYSCALL : 0);
}

static void riscv_shape(struct shape *s)
{
	const struct decoded *d = s->d;
	struct insn *i = s->insn;
	bool copies = s->traits & MOVES || (s->traits & SIGN_COPY && d->operand[1].reg == d->operand[2].reg) ||
		(s->traits & ADDS_IMMEDIATE && d->nr_explicit == 3 && d->operand[2].imm == 0);

	for (unsigned k = 0; k < d->nr_operands; k++)
		shape_operand(s, &d->operand[k]);
	access_flags(s);
	branch(s);
	if (copies && i->nr_data == 1 && i->nr_dst == 1)
		i->flags |= INSN_MOVE;
	i->flags |= (s->traits & FP ? INSN_FP : 0) | (s->traits & LONG ? INSN_LONG : 0);
}

/* The two lowest bits tell compressed instructions, two bytes, from the rest, four. */
static unsigned riscv_bad_length(const uint8_t *bytes, size_t size)
{
	unsigned length = (bytes[0] & 3) == 3 ? 4 : 2;
	return size < length ? (unsigned)size : length;
}

const struct arch arch_riscv = {
	.isa = ISA_RISCV64,
	.triple = "riscv64-linux-gnu",
	.features = "+zicbop,+zba,+zbb,+zbc,+zbs,+zfh",
	.max_length = 4,
	.reg = riscv_reg,
	.traits = riscv_traits,
	.variant = riscv_variant,
	.shape = riscv_shape,
	.bad_length = riscv_bad_length,
};
