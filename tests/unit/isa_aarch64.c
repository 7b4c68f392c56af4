/*
 * AArch64 forms on Cortex-A72: registers, uops on ports, latencies, slots. isa_show.h has the notation.
 *
 * Latencies are those of Arm's optimization guide, busy units those measured on silicon (cortex-a72.costs); what is
 * not in that file is LLVM's model of the A57.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "isa_show.h"

static const struct show_row rows[] = {
	{ "20 00 02 8b", "add    x0, x1, x2", "i01:1 ; x1 x2 -> x0:1 ; 1 ;" },
	{ "20 0c 02 0b", "add    w0, w1, w2, lsl #3", "m:2 ; x1 x2 -> x0:2 ; 1 ;" },
	{ "20 04 00 b1", "adds   x0, x1, #0x1", "i01:1 ; x1 -> x0:1 nzcv:1 ; 1 ;" },
	{ "1f 00 01 eb", "cmp    x0, x1", "i01:1 ; x0 x1 -> nzcv:1 ; 1 ;" },
	{ "20 04 40 f9", "ldr    x0, [x1, #0x8]", "l ; [x1] -> x0:0 ; 1 ; simple" },
	{ "20 78 62 f8", "ldr    x0, [x1, x2, lsl #3]", "l ; [x1,x2] -> x0:0 ; 1 ; indexed" },
	{ "20 84 40 f8", "ldr    x0, [x1], #0x8", "l i01:0 ; [x1] -> x1:wb1 x0:0 ; 2 ; simple" },
	{ "20 8c 40 f8", "ldr    x0, [x1, #0x8]!", "l i01:0 ; [x1] -> x1:wb1 x0:0 ; 2 ; simple" },
	{ "e0 07 c1 a8", "ldp    x0, x1, [sp], #0x10", "l i01:0 ; [sp] -> sp:wb1 x0:0 x1:0 ; 3 ; simple" },
	{ "e0 07 bf a9", "stp    x0, x1, [sp, #-0x10]!", "2*i01:0 2*s none(std) ; [sp] x0 x1 -> sp:wb1 ; 4 ; simple" },
	{ "20 68 22 f8", "str    x0, [x1, x2]", "s none(std) ; [x1,x2] x0 ; 1 ; indexed" },
	{ "20 00 c0 3d", "ldr    q0, [x1]", "l ; [x1] -> v0:0 ; 1 extra 1 ; vmem" },
	{ "20 00 80 3d", "str    q0, [x1]", "i01:0 2*s none(std) ; [x1] v0 ; 3 ; vmem" },
	{ "00 a8 40 4c", "ld1    {v0.4s, v1.4s}, [x0]", "2*l ; [x0] -> v0:0 v1:0 ; 2 extra 2 ; vmem" },
	{ "00 a8 df 4c", "ld1    {v0.4s, v1.4s}, [x0], #32", "2*l i01:0 ; [x0] -> x0:wb1 v0:0 v1:0 ; 3 extra 1 ; vmem" },
	{ "00 78 c3 4c", "ld1    {v0.4s}, [x0], x3", "l i01:0 ; [x0,x3] -> x0:wb1 v0:0 ; 2 extra 1 ; indexed vmem" },
	{ "00 90 00 0d", "st1    {v0.s}[1], [x0]", "s none(std) ; [x0] v0 ; 1 ; vmem" },
	{ "00 90 40 0d", "ld1    {v0.s}[1], [x0]", "l f01:3 ; [x0] v0 -> v0:3 ; 2 extra 1 ; vmem" },
	{ "20 7c 5f c8", "ldxr   x0, [x1]", "l ; [x1] -> x0:0 ; 1 ; simple" },
	{ "41 7c 00 c8", "stxr   w0, x1, [x2]", "i01:1 s none(std) ; [x2] x1 -> x0:1 ; 2 ; simple maybe" },
	{ "20 fc df c8", "ldar   x0, [x1]", "l ; [x1] -> x0:0 ; 1 ; acquire simple" },
	{ "20 fc 9f c8", "stlr   x0, [x1]", "s none(std) ; [x1] x0 ; 1 ; release simple" },
	{ "41 00 20 f8", "ldadd  x0, x1, [x2]", "- ; [x2] x0 -> x1:0 ; 1 ; locked simple unmodelled" },
	{ "41 fc e0 c8", "casal  x0, x1, [x2]", "- ; [x2] x0 x1 -> x0:0 ; 1 ; locked acquire release simple unmodelled" },
	{ "02 00 00 14", "b      100008", "b:1 ; ; 1 ; jump to +8" },
	{ "41 00 00 54", "b.ne   100008", "b:1 ; nzcv ; 1 ; conditional to +8" },
	{ "40 00 00 b4", "cbz    x0, 100008", "b:1 ; x0 ; 1 ; conditional to +8" },
	{ "40 00 18 36", "tbz    w0, #0x3, 100008", "b:1 ; x0 ; 1 ; conditional to +8" },
	{ "02 00 00 94", "bl     100008", "b:1 ; -> x30:1 ; 1 ; call to +8" },
	{ "00 00 3f d6", "blr    x0", "b:1 ; x0 -> x30:1 ; 1 ; indirect_call" },
	{ "00 00 1f d6", "br     x0", "b:1 ; x0 ; 1 ; indirect" },
	{ "c0 03 5f d6", "ret", "b:1 ; x30 ; 1 ; return" },
	{ "20 0c 02 9b", "madd   x0, x1, x2, x3", "m:5/mdiv*3 ; x1 x2 x3+2 -> x0:5 ; 1 ; long" },
	{ "20 7c 02 9b", "mul    x0, x1, x2", "m:5/mdiv*3 ; x1 x2 -> x0:5 ; 1 ; long" },
	{ "20 7c 42 9b", "smulh  x0, x1, x2", "m:6/mdiv*4 ; x1 x2 -> x0:6 ; 1 ; long" },
	{ "20 0c c2 9a", "sdiv   x0, x1, x2", "m:10/mdiv*4 ; x1 x2 -> x0:10 ; 1 ; long" },
	{ "20 08 c2 1a", "udiv   w0, w1, w2", "m:8/mdiv*4 ; x1 x2 -> x0:8 ; 1 ; long" },
	{ "20 0c 42 1f", "fmadd  d0, d1, d2, d3", "f01:7 ; v1 v2 v3+4 -> v0:7 ; 1 ; fp long" },
	{ "20 cc 22 4e", "fmla   v0.4s, v1.4s, v2.4s", "2*f01:7 ; v0+4 v1 v2 -> v0:7 ; 2 ; fp long" },
	{ "20 28 62 1e", "fadd   d0, d1, d2", "f01:4 ; v1 v2 -> v0:4 ; 1 ; fp long" },
	{ "20 d4 62 4e", "fadd   v0.2d, v1.2d, v2.2d", "2*f01:4 ; v1 v2 -> v0:4 ; 2 ; fp long" },
	{ "20 18 62 1e", "fdiv   d0, d1, d2", "f0:12/fdiv*4 ; v1 v2 -> v0:12 ; 1 ; fp long" },
	{ "20 18 22 1e", "fdiv   s0, s1, s2", "f0:8/fdiv*2 ; v1 v2 -> v0:8 ; 1 ; fp long" },
	{ "20 fc 62 6e", "fdiv   v0.2d, v1.2d, v2.2d", "f0:22/fdiv*8 ; v1 v2 -> v0:22 ; 2 ; fp long" },
	{ "20 c0 61 1e", "fsqrt  d0, d1", "f1:16/fsqrt*7 ; v1 -> v0:16 ; 1 ; fp long" },
	{ "e0 03 01 aa", "mov    x0, x1", "i01:1 ; x1 -> x0:1 ; 1 ; move" },
	{ "20 40 60 1e", "fmov   d0, d1", "f01:3 ; v1 -> v0:3 ; 1 ; move" },
	{ "00 00 66 9e", "fmov   x0, d0", "l:5 ; v0 -> x0:5 ; 1 ;" },
	{ "00 e4 00 6f", "movi   v0.2d, #0000000000000000", "f01:3 ; -> v0:3 ; 2 ;" },
	{ "00 00 80 f9", "prfm   pldl1keep, [x0]", "l ; [x0] ; 1 ; prefetch simple" },
	{ "bf 3b 03 d5", "dmb    ish", "- ; ; 1 ; fence" },
	{ "bf 39 03 d5", "dmb    ishld", "- ; ; 1 ; acquire" },
	{ "df 3f 03 d5", "isb", "- ; ; 1 ; flush" },
	{ "01 00 00 d4", "svc    #0", "- ; ; 1 ; syscall" },
	{ "20 74 0b d5", "dc     zva, x0", "s none(std) ; [x0] ; 1 ;" },
	{ "40 d0 3b d5", "mrs    x0, TPIDR_EL0", "i01:1 ; -> x0:1 ; 1 ;" },
	{ "1f 20 03 d5", "nop", "- ; ; 1 ; nop" },
	{ "20 00 82 9a", "csel   x0, x1, x2, eq", "i01:1 ; x1 x2 nzcv -> x0:1 ; 1 ;" },
	{ "00 00 00 90", "adrp   x0, 0x100000", "i01:1 ; -> x0:1 ; 1 ;" },
	{ "40 00 00 58", "ldr    x0, 0x100008", "l ; -> x0:0 ; 1 ;" },
	{ "20 00 80 f2", "movk   x0, #0x1", "i01:1 ; x0 -> x0:1 ; 1 ;" },
	{ "20 20 03 4e", "tbl    v0.16b, {v1.16b, v2.16b}, v3.16b", "f01:1 > f01:1 > f01:1 > f01:1 > f01:5 ; v1 v2 v3 -> v0:9 ; 5 ;" },
	{ "3f 23 03 d5", "paciasp", "- ; ; 1 ; nop" },
	{ "20 08 7e b3", "bfi    x0, x1, #2, #3", "m:2 ; x0 x1 -> x0:2 ; 1 ;" },
	{ "41 80 e0 f8", "swpal  x0, x1, [x2]", "- ; [x2] x0 -> x1:0 ; 1 ; locked acquire release simple unmodelled" },
	{ "20 84 a2 4e", "add    v0.4s, v1.4s, v2.4s", "f01:3 ; v1 v2 -> v0:3 ; 2 ; vint" },
	{ "20 54 23 4f", "shl    v0.4s, v1.4s, #0x3", "f1:3 ; v1 -> v0:3 ; 2 ; vint" },
	{ "20 9c a2 4e", "mul    v0.4s, v1.4s, v2.4s", "f0:3 > f0:3 ; v1 v2 -> v0:6 ; 2 ; vint long" },
	{ "20 00 80 b9", "ldrsw  x0, [x1]", "l ; [x1] -> x0:0 ; 1 ; simple" },
	{ "20 48 62 38", "ldrb   w0, [x1, w2, uxtw]", "l ; [x1,x2] -> x0:0 ; 1 ; indexed" },
	{ "00 00 41 fa", "ccmp   x0, x1, #0x0, eq", "i01:1 ; x0 x1 nzcv -> nzcv:1 ; 1 ;" },
	{ "00 04 40 ac", "ldnp   q0, q1, [x0]", "2*l ; [x0] -> v0:0 v1:0 ; 3 extra 2 ; vmem" },
	{ "00 04 01 ad", "stp    q0, q1, [x0, #0x20]", "i01:0 4*s none(std) ; [x0] v0 v1 ; 5 ; vmem" },
	{ "00 08 df 4c", "ld4    {v0.4s, v1.4s, v2.4s, v3.4s}, [x0], #64", "4*l i01:1 > f01:1 > f01:1 > f01:1 > f01:2 ; [x0] -> x0:wb1 v0:6 v1:6 v2:6 v3:6 ; 9 extra 1 ; vmem" },
	{ "20 00 40 fd", "ldr    d0, [x1]", "l ; [x1] -> v0:0 ; 1 extra 1 ; vmem" },
	{ "20 68 e2 3c", "ldr    q0, [x1, x2]", "l ; [x1,x2] -> v0:0 ; 1 extra 1 ; indexed vmem" },
	{ "20 d8 62 f8", "ldr    x0, [x1, w2, sxtw #3]", "l ; [x1,x2] -> x0:0 ; 1 ; indexed" },
	{ "20 80 5f f8", "ldur   x0, [x1, #-0x8]", "l ; [x1] -> x0:0 ; 1 ; simple" },
	{ "20 44 40 bc", "ldr    s0, [x1], #0x4", "l i01:0 ; [x1] -> x1:wb1 v0:0 ; 2 extra 1 ; vmem" },
	{ "20 00 00 39", "strb   w0, [x1]", "s none(std) ; [x1] x0 ; 1 ; simple" },
	{ "20 04 81 3c", "str    q0, [x1], #0x10", "2*i01:0 2*s none(std) ; [x1] v0 -> x1:wb1 ; 4 ; vmem" },
	{ "e0 07 00 a9", "stp    x0, x1, [sp]", "2*s none(std) ; [sp] x0 x1 ; 2 ; simple" },
	{ "40 04 40 a9", "ldp    x0, x1, [x2]", "l ; [x2] -> x0:0 x1:0 ; 2 ; simple" },
	{ "ff 43 00 d1", "sub    sp, sp, #0x10", "i01:1 ; sp -> sp:1 ; 1 ;" },
	{ "e0 43 00 91", "add    x0, sp, #0x10", "i01:1 ; sp -> x0:1 ; 1 ;" },
	{ "20 00 02 8a", "and    x0, x1, x2", "i01:1 ; x1 x2 -> x0:1 ; 1 ;" },
	{ "20 10 02 8a", "and    x0, x1, x2, lsl #4", "m:2 ; x1 x2 -> x0:2 ; 1 ;" },
	{ "e0 03 01 2a", "mov    w0, w1", "i01:1 ; x1 -> x0:1 ; 1 ; move" },
	{ "e0 03 00 91", "mov    x0, sp", "i01:1 ; sp -> x0:1 ; 1 ;" },
	{ "a0 00 80 52", "mov    w0, #0x5", "i01:1 ; -> x0:1 ; 1 ;" },
	{ "20 18 43 d3", "ubfx   x0, x1, #3, #4", "i01:1 ; x1 -> x0:1 ; 1 ;" },
	{ "20 0c c2 93", "extr   x0, x1, x2, #0x3", "m:1 > i01:2 ; x1 x2 -> x0:3 ; 2 ;" },
	{ "20 10 c0 da", "clz    x0, x1", "i01:1 ; x1 -> x0:1 ; 1 ;" },
	{ "20 00 c0 da", "rbit   x0, x1", "i01:1 ; x1 -> x0:1 ; 1 ;" },
	{ "1f 00 01 ea", "tst    x0, x1", "i01:1 ; x0 x1 -> nzcv:1 ; 1 ;" },
	{ "00 18 43 fa", "ccmp   x0, #0x3, #0x0, ne", "i01:1 ; x0 nzcv -> nzcv:1 ; 1 ;" },
	{ "e0 17 9f 1a", "cset   w0, eq", "i01:1 ; nzcv -> x0:1 ; 1 ;" },
	{ "20 00 02 9a", "adc    x0, x1, x2", "i01:1 ; x1 x2 nzcv -> x0:1 ; 1 ;" },
	{ "20 0c a2 9b", "umaddl x0, w1, w2, x3", "m:3 ; x1 x2 x3+2 -> x0:3 ; 1 ; long" },
	{ "20 8c 02 1b", "msub   w0, w1, w2, w3", "m:3 ; x1 x2 x3+2 -> x0:3 ; 1 ; long" },
	{ "00 20 61 1e", "fcmp   d0, d1", "f1:3 ; v0 v1 -> nzcv:3 ; 1 ; fp long" },
	{ "20 1c 62 1e", "fcsel  d0, d1, d2, ne", "f01:3 ; v1 v2 nzcv -> v0:3 ; 1 ; fp" },
	{ "00 00 78 9e", "fcvtzs x0, d0", "l:1 > f01:9 ; v0 -> x0:10 ; 2 ; fp long" },
	{ "00 00 62 9e", "scvtf  d0, x0", "l:1 > f01:9 ; x0 -> v0:10 ; 2 ; fp long" },
	{ "20 c0 22 1e", "fcvt   d0, s1", "f0:3 ; v1 -> v0:3 ; 1 ; fp long" },
	{ "20 40 61 1e", "fneg   d0, d1", "f01:3 ; v1 -> v0:3 ; 1 ; fp" },
	{ "20 dc 22 2e", "fmul   v0.2s, v1.2s, v2.2s", "f01:4 ; v1 v2 -> v0:4 ; 1 ; fp long" },
	{ "20 1c a1 4e", "mov    v0.16b, v1.16b", "f01:3 ; v1 -> v0:3 ; 2 ; move" },
	{ "20 1c 22 6e", "eor    v0.16b, v1.16b, v2.16b", "f01:3 ; v1 v2 -> v0:3 ; 2 ; vint" },
	{ "20 98 20 4e", "cmeq   v0.16b, v1.16b, #0", "f01:3 ; v1 -> v0:3 ; 2 ; vint" },
	{ "20 1c 18 4e", "mov    v0.d[1], x1", "l:1 > f01:7 ; v0 x1 -> v0:8 ; 2 ;" },
	{ "20 3c 18 4e", "mov    x0, v1.d[1]", "l:1 > i01:5 ; v1 -> x0:6 ; 2 ;" },
	{ "20 0c 04 4e", "dup    v0.4s, w1", "l:1 > f01:7 ; x1 -> v0:8 ; 2 ;" },
	{ "20 b8 b1 4e", "addv   s0, v1.4s", "f1:1 > f01:6 ; v1 -> v0:7 ; 2 ;" },
	{ "20 48 28 4e", "aese   v0.16b, v1.16b", "f0:3 ; v0 v1 -> v0:3 ; 1 ; vint long" },
	{ "20 4c c2 9a", "crc32x w0, w1, x2", "m:2 ; x1 x2 -> x0:2 ; 1 ; long" },
	{ "9f 3f 03 d5", "dsb    sy", "- ; ; 1 ; fence" },
	{ "3f 20 03 d5", "yield", "- ; ; 1 ; nop" },
	{ "5f 24 03 d5", "bti    c", "- ; ; 1 ; nop" },
	{ "bf 23 03 d5", "autiasp", "- ; ; 1 ; nop" },
	{ "40 d0 1b d5", "msr    TPIDR_EL0, x0", "i01:1 ; x0 ; 1 ;" },
	{ "00 00 00 00", "udf    #0x0", "- ; ; 1 ; unmodelled" },
};

static void forms(void **state)
{
	struct code *code = show_core("cortex-a72");

	(void)state;
	show_check(code, rows, sizeof rows / sizeof *rows);
	code_free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forms) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
