/*
 * RV64GC forms on BOOM: registers, uops on ports, latencies, and what its decode table says of uniqueness and
 * flushing. isa_show.h has the notation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "isa_show.h"

static const struct show_row rows[] = {
	{ "33 85 c5 00", "add    a0,a1,a2", "int0123:1 ; x11 x12 -> x10:1 ; 1 ;" },
	{ "13 85 55 00", "addi   a0,a1,5", "int0123:1 ; x11 -> x10:1 ; 1 ;" },
	{ "05 05", "addi   a0,a0,1", "int0123:1 ; x10 -> x10:1 ; 1 ;" },
	{ "2e 85", "mv     a0,a1", "int0123:1 ; x11 -> x10:1 ; 1 ; move" },
	{ "01 00", "nop", "int0123:1 ; ; 1 ;" },
	{ "11 65", "lui    a0,4", "int0123:1 ; -> x10:1 ; 1 ;" },
	{ "17 45 00 00", "auipc  a0,4", "int0:1 ; -> x10:1 ; 1 ;" },
	{ "33 85 05 40", "sub    a0,a1,zero", "int0123:1 ; x11 -> x10:1 ; 1 ;" },
	{ "33 95 c5 00", "sll    a0,a1,a2", "int0123:1 ; x11 x12 -> x10:1 ; 1 ;" },
	{ "33 85 c5 02", "mul    a0,a1,a2", "int1:3 ; x11 x12 -> x10:3 ; 1 ; long" },
	{ "3b 85 c5 02", "mulw   a0,a1,a2", "int1:3 ; x11 x12 -> x10:3 ; 1 ; long" },
	{ "33 c5 c5 02", "div    a0,a1,a2", "int2:36/idiv*36 ; x11 x12 -> x10:36 ; 1 ; long" },
	{ "3b f5 c5 02", "remuw  a0,a1,a2", "int2:20/idiv*20 ; x11 x12 -> x10:20 ; 1 ; long" },
	{ "03 b5 85 7f", "ld     a0,2040(a1)", "mem01 ; [x11] -> x10:0 ; 1 ; simple" },
	{ "03 c5 15 00", "lbu    a0,1(a1)", "mem01 ; [x11] -> x10:0 ; 1 ; simple" },
	{ "22 65", "ld     a0,8(sp)", "mem01 ; [x2] -> x10:0 ; 1 ; simple" },
	{ "03 a0 05 00", "lw     zero,0(a1)", "mem01 ; [x11] ; 1 ; prefetch simple" },
	{ "23 bc a5 7e", "sd     a0,2040(a1)", "mem01 none(std) ; [x11] x10 ; 1 ; simple" },
	{ "2a e4", "sd     a0,8(sp)", "mem01 none(std) ; [x2] x10 ; 1 ; simple" },
	{ "a3 80 a5 00", "sb     a0,1(a1)", "mem01 none(std) ; [x11] x10 ; 1 ; simple" },
	{ "07 b5 15 00", "fld    fa0,1(a1)", "mem01 ; [x11] -> f10:0 ; 1 ; simple vmem" },
	{ "a7 b0 a5 00", "fsd    fa0,1(a1)", "mem01 fp01 ; [x11] f10 ; 1 ; simple vmem" },
	{ "07 a5 15 00", "flw    fa0,1(a1)", "mem01 ; [x11] -> f10:0 ; 1 ; simple vmem" },
	{ "13 60 15 00", "prefetch.r 0(a0)", "int0123:1 ; x10 ; 1 ;" },
	{ "2f b5 05 10", "lr.d   a0,(a1)", "mem01 ; [x11] -> x10:0 ; 1 ; serialize flush simple" },
	{ "2f a5 05 14", "lr.w.aq a0,(a1)", "mem01 ; [x11] -> x10:0 ; 1 ; acquire serialize flush simple" },
	{ "2f b5 c5 1a", "sc.d.rl a0,a2,(a1)", "int0:1 mem01 none(std) ; [x11] x12 -> x10:1 ; 1 ; release serialize flush simple maybe" },
	{ "2f b5 c5 00", "amoadd.d a0,a2,(a1)", "mem01 mem01 none(std) ; [x11] x12 -> x10:0 ; 1 ; locked serialize flush simple" },
	{ "2f a5 c5 0e", "amoswap.w.aqrl a0,a2,(a1)", "mem01 mem01 none(std) ; [x11] x12 -> x10:0 ; 1 ; locked acquire release serialize flush simple" },
	{ "63 04 b5 00", "beq    a0,a1,100008", "int0123:1 ; x10 x11 ; 1 ; conditional to +8" },
	{ "11 c1", "beqz   a0,100004", "int0123:1 ; x10 ; 1 ; conditional to +4" },
	{ "ef 00 80 00", "jal    100008", "int0:1 ; -> x1:1 ; 1 ; call to +8" },
	{ "6f 00 80 00", "j      100008", "int0:1 ; ; 1 ; jump to +8" },
	{ "6f 03 80 00", "jal    t1,100008", "int0:1 ; -> x6:1 ; 1 ; jump to +8" },
	{ "02 95", "jalr   a0", "int0:1 ; x10 -> x1:1 ; 1 ; indirect_call" },
	{ "82 80", "ret", "int0:1 ; x1 ; 1 ; return" },
	{ "82 82", "jr     t0", "int0:1 ; x5 ; 1 ; return" },
	{ "02 85", "jr     a0", "int0:1 ; x10 ; 1 ; indirect" },
	{ "53 f5 c5 02", "fadd.d fa0,fa1,fa2", "fp01:4 ; f11 f12 -> f10:4 ; 1 ; fp long" },
	{ "53 f5 c5 10", "fmul.s fa0,fa1,fa2", "fp01:4 ; f11 f12 -> f10:4 ; 1 ; fp long" },
	{ "43 f5 c5 6a", "fmadd.d fa0,fa1,fa2,fa3", "fp01:4 ; f11 f12 f13 -> f10:4 ; 1 ; fp long" },
	{ "53 f5 c5 1a", "fdiv.d fa0,fa1,fa2", "fp1:25/fdiv*24 ; f11 f12 -> f10:25 ; 1 ; fp long" },
	{ "53 f5 c5 18", "fdiv.s fa0,fa1,fa2", "fp1:25/fdiv*24 ; f11 f12 -> f10:25 ; 1 ; fp long" },
	{ "53 f5 05 5a", "fsqrt.d fa0,fa1", "fp1:27/fdiv*26 ; f11 -> f10:27 ; 1 ; fp long" },
	{ "53 85 b5 22", "fmv.d  fa0,fa1", "fp01:4 ; f11 -> f10:4 ; 1 ; move fp long" },
	{ "53 85 c5 22", "fsgnj.d fa0,fa1,fa2", "fp01:4 ; f11 f12 -> f10:4 ; 1 ; fp long" },
	{ "53 95 b5 22", "fneg.d fa0,fa1", "fp01:4 ; f11 -> f10:4 ; 1 ; fp long" },
	{ "53 05 05 e2", "fmv.x.d a0,fa0", "fp0:4 ; f10 -> x10:4 ; 1 ; fp" },
	{ "53 05 05 f2", "fmv.d.x fa0,a0", "int1:2 ; x10 -> f10:2 ; 1 ; fp" },
	{ "53 75 25 d2", "fcvt.d.l fa0,a0", "int1:2 ; x10 -> f10:2 ; 1 ; fp long" },
	{ "53 75 25 c2", "fcvt.l.d a0,fa0", "fp0:4 ; f10 -> x10:4 ; 1 ; fp long" },
	{ "53 85 05 42", "fcvt.d.s fa0,fa1", "fp01:4 ; f11 -> f10:4 ; 1 ; fp long" },
	{ "53 25 b5 a2", "feq.d  a0,fa0,fa1", "fp0:4 ; f10 f11 -> x10:4 ; 1 ; fp long" },
	{ "53 85 c5 2a", "fmin.d fa0,fa1,fa2", "fp01:4 ; f11 f12 -> f10:4 ; 1 ; fp long" },
	{ "73 25 10 00", "frflags a0", "int3:1 ; -> x10:1 ; 1 ; serialize flush" },
	{ "73 10 15 00", "fsflags a0", "int3:1 ; x10 ; 1 ; serialize flush" },
	{ "73 95 35 00", "fscsr  a0,a1", "int3:1 ; x11 -> x10:1 ; 1 ; serialize flush" },
	{ "73 25 00 c0", "rdcycle a0", "int3:1 ; -> x10:1 ; 1 ; serialize flush" },
	{ "0f 00 f0 0f", "fence", "mem01:1 ; ; 1 ; fence serialize flush" },
	{ "0f 10 00 00", "fence.i", "int0:1 ; ; 1 ; serialize flush" },
	{ "0f 00 10 03", "fence  rw,w", "mem01:1 ; ; 1 ; fence serialize flush" },
	{ "73 00 00 00", "ecall", "int3:1 ; ; 1 ; serialize flush syscall" },
	{ "02 90", "ebreak", "int3:1 ; ; 1 ; serialize flush syscall" },
};

static void forms(void **state)
{
	struct code *code = show_core("boom");

	(void)state;
	show_check(code, rows, sizeof rows / sizeof *rows);
	code_free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forms) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
