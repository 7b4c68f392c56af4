/*
 * The tables behind x86_forms.h: globs on LLVM 19's opcode names. A form has the traits of every row it matches.
 *
 * Ref: Intel SDM volumes 2A to 2D (flags, accesses), optimization manual (idioms, macro-fusion).
 */
#include "isa/x86_forms.h"

#include <string.h>

#include "isa/arch.h"

static const struct trait flag_traits[] = {
	{ "ADC*", READS_CF }, { "SBB*", READS_CF }, { "ADCX*", KEEPS_REST }, { "CMC", READS_CF | KEEPS_REST },
	{ "SALC", READS_CF },
	{ "ADOX*", KEEPS_CF | READS_REST }, { "INC*", KEEPS_CF }, { "DEC*", KEEPS_CF },
	{ "BT16*", KEEPS_REST }, { "BT32*", KEEPS_REST }, { "BT64*", KEEPS_REST }, { "BTC*", KEEPS_REST },
	{ "BTR*", KEEPS_REST },
	{ "BTS*", KEEPS_REST }, { "CLC", KEEPS_REST }, { "STC", KEEPS_REST },
	/*
	 * Rotates by an immediate leave the overflow flag undefined, those by one write it, those by CL may write
	 * nothing.
	 */
	{ "RO?*i", KEEPS_REST }, { "RO?*CL", KEEPS_REST | READS_CF }, { "RO?*1", READS_REST },
	{ "RC?*i", KEEPS_REST | READS_CF }, { "RC?*CL", KEEPS_REST | READS_CF }, { "RC?*1", READS_CF | READS_REST },
	{ "SHL*CL", READS_CF | READS_REST }, { "SHR*CL", READS_CF | READS_REST }, { "SAR*CL", READS_CF | READS_REST },
	{ "CMPXCHG8B", KEEPS_CF | READS_REST }, { "CMPXCHG16B", KEEPS_CF | READS_REST },
	{ "JCC_*", CONDITION }, { "SETCC*", CONDITION }, { "CMOV16*", CONDITION }, { "CMOV32*", CONDITION },
	{ "CMOV64*", CONDITION },
	{ "LOOPE", READS_REST }, { "LOOPNE", READS_REST },
	{ "CMOVB_F", READS_CF }, { "CMOVNB_F", READS_CF }, { "CMOVBE_F", READS_CF | READS_REST },
	{ "CMOVNBE_F", READS_CF | READS_REST },
	{ "CMOVE_F", READS_REST }, { "CMOVNE_F", READS_REST }, { "CMOVP_F", READS_REST }, { "CMOVNP_F", READS_REST },
};

static const struct trait access_traits[] = {
	{ "PUSH*", STACK }, { "POP16*", STACK }, { "POP32*", STACK }, { "POP64*", STACK }, { "POPF*", STACK },
	{ "CALL*", STACK | STORES }, { "RET*", STACK | LOADS }, { "ENTER", STACK | STORES },
	{ "LEAVE*", LOADS | FRAME },
	{ "MOVSB", STRING | LOADS | STORES }, { "MOVSW", STRING | LOADS | STORES },
	{ "MOVSL", STRING | LOADS | STORES }, { "MOVSQ", STRING | LOADS | STORES },
	{ "CMPSB", STRING | LOADS }, { "CMPSW", STRING | LOADS }, { "CMPSL", STRING | LOADS },
	{ "CMPSQ", STRING | LOADS },
	{ "STOS?", STRING | STORES }, { "LODS?", STRING | LOADS }, { "SCAS?", STRING | LOADS },
	{ "INSB", STRING | STORES }, { "INSW", STRING | STORES }, { "INSL", STRING | STORES },
	{ "OUTS?", STRING | LOADS },
	{ "LDMXCSR*", LOADS | NO_ACCESS }, { "VLDMXCSR*", LOADS | NO_ACCESS },
	{ "FXSAVE*", STORES | NO_ACCESS }, { "XSAVE*", STORES | NO_ACCESS }, { "FXRSTOR*", LOADS | NO_ACCESS },
	{ "XRSTOR*", LOADS | NO_ACCESS },
	{ "LOOP*", COUNTS },
	{ "NOOP*", IS_NOP | NO_ACCESS }, { "ENDBR*", IS_NOP }, { "FNOP", IS_NOP }, { "INCSSP*", IS_NOP },
	{ "RDSSP*", IS_NOP }, /* a no-op where shadow stacks are off, as under QEMU */
	{ "PREFETCH*", PREFETCHES }, { "CLDEMOTE", PREFETCHES },
	{ "MOVZX*rm*", EXTENDS }, { "MOVSX*rm*", EXTENDS }, { "MOV8*", EXTENDS }, { "MOV16*", EXTENDS },
	{ "LEA16r", LEA }, { "LEA32r", LEA }, { "LEA64*r", LEA },
	{ "VMASKMOV*", MASKED }, { "VPMASKMOV*", MASKED }, { "MASKMOV*", MASKED | STORES }, { "VMASKMOVDQU*", STORES },
	{ "MMX_MASKMOV*", MASKED | STORES }, { "V*rmk*", MASKED }, { "V*rmik*", MASKED }, { "V*rmbk*", MASKED },
	{ "V*rmbik*", MASKED }, { "V*mk", MASKED }, { "V*mrk*", MASKED },
	{ "VPGATHER*", MASKED }, { "VGATHER*", MASKED }, { "VPSCATTER*", MASKED }, { "VSCATTER*", MASKED },
};

static const struct trait order_traits[] = {
	{ "LFENCE", FENCES_LOADS | NO_ACCESS }, { "SFENCE", FENCES_STORES | NO_ACCESS },
	{ "MFENCE", FENCES | NO_ACCESS },
	{ "PAUSE", NO_ACCESS }, { "XCHG*rm", ATOMIC },
	{ "CPUID", SERIALIZES }, { "SERIALIZE", SERIALIZES }, { "IRET*", SERIALIZES }, { "WRMSR", SERIALIZES },
	{ "INVLPG", SERIALIZES },
	{ "RSM", SERIALIZES }, { "MOV??cr", SERIALIZES }, { "MOV??dr", SERIALIZES },
	{ "SYSCALL", SYSCALLS }, { "SYSENTER", SYSCALLS }, { "INT", SYSCALLS }, { "INT3", SYSCALLS },
	{ "VZERO*", NO_RESULT },
	{ "CWD", KEEPS_RAX },
	{ "CDQ", KEEPS_RAX },
	{ "CQO", KEEPS_RAX },
};

static const struct trait kind_traits[] = {
	{ "MOV32rr*", MOVES }, { "MOV64rr*", MOVES }, { "MOVZX??rr8", MOVES },
	{ "MOVAP?rr*", MOVES }, { "MOVUP?rr*", MOVES }, { "MOVDQ?rr*", MOVES },
	{ "VMOVAP?rr*", MOVES }, { "VMOVUP?rr*", MOVES }, { "VMOVAP?Yrr*", MOVES }, { "VMOVUP?Yrr*", MOVES },
	{ "VMOVAP?Z*rr", MOVES }, { "VMOVUP?Z*rr", MOVES }, { "VMOVAP?Z*rr_REV", MOVES }, { "VMOVUP?Z*rr_REV", MOVES },
	{ "VMOVDQ?rr*", MOVES }, { "VMOVDQ?Yrr*", MOVES }, { "VMOVDQ???Z*rr", MOVES }, { "VMOVDQ???Z*rr_REV", MOVES },
	{ "SUB32rr*", ZERO_SAME }, { "SUB64rr*", ZERO_SAME }, { "XOR32rr*", ZERO_SAME }, { "XOR64rr*", ZERO_SAME },
	{ "PXORrr", ZERO_SAME }, { "PSUB?rr", ZERO_SAME }, { "PCMPGT?rr", ZERO_SAME }, { "XORP?rr", ZERO_SAME },
	{ "VPXOR*rr", ZERO_SAME }, { "VPSUB?rr", ZERO_SAME }, { "VPSUB?Yrr", ZERO_SAME }, { "VPSUB?Z*rr", ZERO_SAME },
	{ "VPCMPGT?rr", ZERO_SAME }, { "VPCMPGT?Yrr", ZERO_SAME }, { "VXORP?rr", ZERO_SAME },
	{ "VXORP?Yrr", ZERO_SAME }, { "VXORP?Z*rr", ZERO_SAME },
	{ "PCMPEQ?rr", ONES_SAME }, { "VPCMPEQ?rr", ONES_SAME }, { "VPCMPEQ?Yrr", ONES_SAME },
	{ "MUL*r", LONG }, { "MUL*m", LONG }, { "MULX*", LONG }, { "IMUL*", LONG }, { "DIV*r", LONG },
	{ "DIV*m", LONG }, { "IDIV*", LONG },
	{ "TEST*", FUSES_TEST }, { "AND8*", FUSES_TEST }, { "AND16*", FUSES_TEST }, { "AND32*", FUSES_TEST },
	{ "AND64*", FUSES_TEST },
	{ "CMP8*", FUSES_CMP }, { "CMP16*", FUSES_CMP }, { "CMP32*", FUSES_CMP }, { "CMP64*", FUSES_CMP },
	{ "ADD8*", FUSES_CMP }, { "ADD16*", FUSES_CMP }, { "ADD32*", FUSES_CMP }, { "ADD64*", FUSES_CMP },
	{ "SUB8*", FUSES_CMP }, { "SUB16*", FUSES_CMP }, { "SUB32*", FUSES_CMP }, { "SUB64*", FUSES_CMP },
	{ "INC*", FUSES_INC }, { "DEC*", FUSES_INC },
	{ "OR8*", FUSES_LOGIC }, { "OR16*", FUSES_LOGIC }, { "OR32*", FUSES_LOGIC }, { "OR64*", FUSES_LOGIC },
	{ "XOR8*", FUSES_LOGIC }, { "XOR16*", FUSES_LOGIC }, { "XOR32*", FUSES_LOGIC }, { "XOR64*", FUSES_LOGIC },
	{ "AND*", FUSES_ARITHMETIC }, { "ADD*", FUSES_ARITHMETIC }, { "SUB*", FUSES_ARITHMETIC },
	{ "*16i16", LENGTH_PREFIX }, { "ADD16?i", LENGTH_PREFIX }, { "ADC16?i", LENGTH_PREFIX },
	{ "AND16?i", LENGTH_PREFIX },
	{ "CMP16?i", LENGTH_PREFIX }, { "OR16?i", LENGTH_PREFIX }, { "SBB16?i", LENGTH_PREFIX },
	{ "SUB16?i", LENGTH_PREFIX },
	{ "XOR16?i", LENGTH_PREFIX }, { "TEST16?i", LENGTH_PREFIX }, { "MOV16?i", LENGTH_PREFIX },
	{ "MOV16ri_alt", LENGTH_PREFIX },
	{ "IMUL16r?i", LENGTH_PREFIX }, { "PUSH16i", LENGTH_PREFIX }, { "MOV*ao32", LENGTH_PREFIX },
	{ "MOV*o32a", LENGTH_PREFIX },
	{ "POPCNT*", KEEPS_FUSED }, { "LZCNT*", KEEPS_FUSED }, { "TZCNT*", KEEPS_FUSED }, { "BSF*", KEEPS_FUSED },
	{ "BSR*", KEEPS_FUSED },
	{ "V*", PARTS }, { "ANDN*", PARTS }, { "ADC*", PARTS }, { "SBB*", PARTS }, { "CMOV??rm", PARTS },
};

static const struct trait x87_traits[] = {
	{ "LD_F*", X87 | X87_LOAD }, { "ILD_F*", X87 | X87_LOAD }, { "FLDL*", X87 | X87_LOAD },
	{ "FLDPI", X87 | X87_LOAD }, { "FBLDm", X87 | X87_LOAD },
	{ "ST_F*", X87 | X87_STORE }, { "IST_F*", X87 | X87_STORE }, { "ISTT_F*", X87 | X87_STORE },
	{ "FBSTPm", X87 | X87_STORE }, { "ST_FPrr", X87_POP },
	{ "ADD_F*", X87 | LONG }, { "SUB_F*", X87 | LONG }, { "SUBR_F*", X87 | LONG }, { "MUL_F*", X87 | LONG },
	{ "DIV_F*", X87 | LONG }, { "DIVR_F*", X87 | LONG }, { "SQRT_F", X87 | LONG },
	{ "ABS_F", X87 }, { "CHS_F", X87 }, { "XCH_F", X87 | X87_EXCHANGE }, { "CMOV*_F", X87 },
	{ "*_FrST0", X87_STORE }, { "*_FPrST0", X87_STORE | X87_POP },
	{ "COM_F*", X87 | X87_COMPARE }, { "COMP_F*", X87 | X87_COMPARE }, { "UCOM_F*", X87 | X87_COMPARE },
	{ "FCOM*", X87 | X87_COMPARE }, { "FICOM*", X87 | X87_COMPARE }, { "TST_F", X87 | X87_COMPARE },
	{ "XAM_F", X87 | X87_COMPARE },
	{ "F2XM1", X87 | LONG }, { "FPATAN", X87 | LONG }, { "FPREM*", X87 | LONG }, { "FPTAN", X87 | LONG },
	{ "FRNDINT", X87 | LONG },
	{ "FSCALE", X87 | LONG }, { "FSIN*", X87 | LONG }, { "FCOS", X87 | LONG }, { "FXTRACT", X87 | LONG },
	{ "FYL2X*", X87 | LONG },
	{ "FNSTSW*", X87_STATUS },
};

/*
 * Domains of vector operations, by the name without its leading V. Blends and moves belong to neither. Logic and
 * shuffles of floating-point operands count as integer: measured on Skylake, vandps and vshufps into vaddps cost
 * what vpand does.
 */
static const struct trait domain_traits[] = {
	{ "ADDP?*", FP | LONG }, { "ADDSUB*", FP | LONG }, { "ADDS?*", FP | LONG }, { "SUBP?*", FP | LONG },
	{ "SUBS?*", FP | LONG },
	{ "MULP?*", FP | LONG }, { "MULS?*", FP | LONG }, { "DIVP?*", FP | LONG }, { "DIVS?*", FP | LONG },
	{ "SQRTP?*", FP | LONG }, { "SQRTS?*", FP | LONG }, { "RCP*", FP | LONG }, { "RSQRT*", FP | LONG },
	{ "HADDP?*", FP | LONG }, { "HSUBP?*", FP | LONG }, { "DPP?*", FP | LONG },
	{ "FMADD*", FP | LONG }, { "FMSUB*", FP | LONG }, { "FNMADD*", FP | LONG }, { "FNMSUB*", FP | LONG },
	{ "MAXP?*", FP | LONG }, { "MAXS?*", FP | LONG }, { "MINP?*", FP | LONG }, { "MINS?*", FP | LONG },
	{ "MAXC*", FP | LONG }, { "MINC*", FP | LONG }, { "CMPP?*", FP | LONG }, { "CMPS?r*", FP | LONG },
	{ "CMPS?Z*", FP | LONG },
	{ "COMIS*", FP | LONG }, { "UCOMIS*", FP | LONG }, { "CVT*", FP | LONG }, { "ROUND*", FP | LONG },
	{ "RNDSCALE*", FP | LONG },
	{ "GETEXP*", FP | LONG }, { "GETMANT*", FP | LONG }, { "SCALEF*", FP | LONG }, { "REDUCE*", FP | LONG },
	{ "RANGE*", FP | LONG },
	{ "FIXUPIMM*", FP | LONG }, { "FPCLASS*", FP | LONG },
	{ "ANDP?*", VINT }, { "ANDNP?*", VINT }, { "ORP?*", VINT }, { "XORP?*", VINT },
	{ "SHUFP?*", VINT }, { "SHUFF*", VINT }, { "SHUFI*", VINT }, { "UNPCK*", VINT }, { "PERM*", VINT },
	{ "PSHUF*", VINT }, { "PUNPCK*", VINT },
	{ "PALIGNR*", VINT }, { "ALIGN?Z*", VINT }, { "PACK*", VINT }, { "PMOVSX*", VINT }, { "PMOVZX*", VINT },
	{ "INSERTPS*", VINT },
	{ "INSERTF*", VINT }, { "INSERTI*", VINT }, { "EXTRACTF*", VINT }, { "EXTRACTI*", VINT }, { "MOVDDUP*", VINT },
	{ "MOVS?DUP*", VINT },
	{ "MOVHLPS*", VINT }, { "MOVLHPS*", VINT }, { "BROADCASTS?*r", VINT }, { "PBROADCAST*r", VINT },
	{ "PINSR*", VINT },
	{ "PADD*", VINT }, { "PSUB*", VINT }, { "PAND*", VINT }, { "POR*", VINT }, { "PXOR*", VINT },
	{ "PTERNLOG*", VINT },
	{ "PCMP*", VINT }, { "PMAX*", VINT }, { "PMIN*", VINT }, { "PABS*", VINT }, { "PAVG*", VINT },
	{ "PSIGN*", VINT },
	{ "PSLL*", VINT }, { "PSRL*", VINT }, { "PSRA*", VINT }, { "PROL*", VINT }, { "PROR*", VINT },
	{ "PHADD*", VINT }, { "PHSUB*", VINT },
	{ "PMUL*", VINT | LONG }, { "PMADD*", VINT | LONG }, { "PSADBW*", VINT | LONG }, { "MPSADBW*", VINT | LONG },
	{ "DBPSADBW*", VINT | LONG },
	{ "PDPBUSD*", VINT | LONG }, { "PDPWSSD*", VINT | LONG }, { "PHMINPOSUW*", VINT | LONG },
	{ "PCLMUL*", VINT | LONG },
	{ "AES*", VINT | LONG }, { "SHA1*", VINT | LONG }, { "SHA256*", VINT | LONG }, { "GF2P8*", VINT | LONG },
	{ "PCONFLICT*", VINT }, { "PLZCNT*", VINT | LONG },
};

#define TRAITS_OF(table, form) traits_of(table, sizeof(table) / sizeof *(table), form)

uint64_t x86_traits(const char *form)
{
	uint64_t traits = TRAITS_OF(flag_traits, form) | TRAITS_OF(access_traits, form) |
	                  TRAITS_OF(order_traits, form) | TRAITS_OF(kind_traits, form) | TRAITS_OF(x87_traits, form);
	const char *name = strncmp(form, "MMX_", 4) == 0 ? form + 4 : form + (form[0] == 'V');

	if (!(traits & (X87 | STRING)))
		traits |= TRAITS_OF(domain_traits, name);
	return traits;
}
