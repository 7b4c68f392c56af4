/*
 * x86-64 forms on Skylake-SP: registers, uops on ports, latencies, slots. isa_show.h has the notation.
 *
 * The expectations are those of the measurements of a Cascade Lake guest and of Agner Fog's and uops.info's tables
 * where LLVM has the same; data/cores/skylake-sp.costs says which is which.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "isa_show.h"

static const struct show_row integer[] = {
	{ "48 01 f8", "add    %rdi,%rax", "p0156:1 ; rax rdi -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "83 c0 01", "add    $0x1,%eax", "p0156:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 03 07", "add    (%rdi),%rax", "p23 p0156:1 ; [rdi] rax -> rax:1 cf:1 zf:1 ; 1 ; simple" },
	{ "48 03 44 b7 08", "add    0x8(%rdi,%rsi,4),%rax",
	  "p23 p0156:1 ; [rdi,rsi] rax -> rax:1 cf:1 zf:1 ; 1 ; indexed" },
	{ "48 01 07", "add    %rax,(%rdi)", "p23 p0156:1 p237 p4 ; [rdi] rax -> cf:1 zf:1 ; 2 ; simple" },
	{ "48 01 04 37", "add    %rax,(%rdi,%rsi,1)", "p23 p0156:1 p23 p4 ; [rdi,rsi] rax -> cf:1 zf:1 ; 2 ; indexed" },
	{ "00 c8", "add    %cl,%al", "p0156:1 ; rax rcx -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "66 01 c8", "add    %cx,%ax", "p0156:1 ; rax rcx -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 11 f8", "adc    %rdi,%rax", "p06:1 ; rax rdi cf -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 19 f8", "sbb    %rdi,%rax", "p06:1 ; rax rdi cf -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 ff c0", "inc    %rax", "p0156:1 ; rax -> rax:1 zf:1 ; 1 ;" },
	{ "ff c8", "dec    %eax", "p0156:1 ; rax -> rax:1 zf:1 ; 1 ;" },
	{ "48 39 f8", "cmp    %rdi,%rax", "p0156:1 ; rax rdi -> cf:1 zf:1 ; 1 ;" },
	{ "83 7f 08 00", "cmpl   $0x0,0x8(%rdi)", "p23 p0156:1 ; [rdi] -> cf:1 zf:1 ; 1 ; simple" },
	{ "48 85 c0", "test   %rax,%rax", "p0156:1 ; rax -> cf:1 zf:1 ; 1 ;" },
	{ "48 f7 d8", "neg    %rax", "p0156:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 f7 d0", "not    %rax", "p0156:1 ; rax -> rax:1 ; 1 ;" },
	{ "48 0f af c7", "imul   %rdi,%rax", "p1:3 ; rax rdi -> rax:3 cf:3 zf:3 ; 1 ; long" },
	{ "48 6b c7 0c", "imul   $0xc,%rdi,%rax", "p1:3 ; rdi -> rax:3 cf:3 zf:3 ; 1 ; long" },
	{ "48 f7 e1", "mul    %rcx", "p1:3 > p5:1 ; rcx rax -> rax:3 rdx:4 cf:4 zf:4 ; 2 ; long" },
	{ "f7 e1", "mul    %ecx", "p1:3 > 2*p0156:1 ; rcx rax -> rax:4 rdx:4 cf:4 zf:4 ; 3 ; long" },
	{ "48 f7 e9", "imul   %rcx", "p1:3 > p5:1 ; rcx rax -> rax:3 rdx:4 cf:4 zf:4 ; 2 ; long" },
	{ "c4 e2 fb f6 cf", "mulx   %rdi,%rax,%rcx", "p1:3 > p5:1 ; rdi rdx -> rcx:4 rax:3 ; 2 ; long" },
	{ "f7 f1", "div    %ecx",
	  "p0:26/div*6 p0:1 2*p06:1 p1:1 p5:1 4*p0156:1 ; rcx rax rdx -> rax:26 rdx:26 cf:26 zf:26 ; 10 ; microcoded "
	  "long" },
	{ "f7 f9", "idiv   %ecx",
	  "p0:27/div*6 p0:1 2*p06:1 p1:1 p5:1 4*p0156:1 ; rcx rax rdx -> rax:27 rdx:27 cf:27 zf:27 ; 10 ; microcoded "
	  "long" },
	{ "48 8d 47 08", "lea    0x8(%rdi),%rax", "p15:1 ; rdi -> rax:1 ; 1 ;" },
	{ "48 8d 04 37", "lea    (%rdi,%rsi,1),%rax", "p15:1 ; rdi rsi -> rax:1 ; 1 ;" },
	{ "48 8d 44 37 08", "lea    0x8(%rdi,%rsi,1),%rax", "p1:3 ; rdi rsi -> rax:3 ; 1 ;" },
	{ "48 8d 44 35 00", "lea    0x0(%rbp,%rsi,1),%rax", "p1:3 ; rbp rsi -> rax:3 ; 1 ;" },
	{ "48 8d 04 f5 08 00 00 00", "lea    0x8(,%rsi,8),%rax", "p15:1 ; rsi -> rax:1 ; 1 ;" },
	{ "48 8d 05 10 00 00 00", "lea    0x10(%rip),%rax", "p15:1 ; -> rax:1 ; 1 ;" },
	{ "48 c1 e0 03", "shl    $0x3,%rax", "p06:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 d1 e0", "shl    %rax", "p06:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 d3 e0", "shl    %cl,%rax", "p0156:1 p06:1 > p06:1 ; rax rcx cf zf -> rax:2 cf:2 zf:2 ; 3 ;" },
	{ "c4 e2 f1 f7 c7", "shlx   %rcx,%rdi,%rax", "p06:1 ; rdi rcx -> rax:1 ; 1 ;" },
	{ "c1 c0 07", "rol    $0x7,%eax", "p06:1 ; rax -> rax:1 cf:1 ; 1 ;" },
	{ "d1 c0", "rol    %eax", "2*p06:1 ; rax zf -> rax:1 cf:1 zf:1 ; 2 ;" },
	{ "d1 d0", "rcl    %eax", "p06:1 > 2*p0156:1 ; rax cf zf -> rax:2 cf:2 zf:2 ; 3 ;" },
	{ "c4 e3 7b f0 c7 07", "rorx   $0x7,%edi,%eax", "p06:1 ; rdi -> rax:1 ; 1 ;" },
	{ "48 0f a4 f8 03", "shld   $0x3,%rdi,%rax", "p1:3 ; rax rdi -> rax:3 cf:3 zf:3 ; 1 ;" },
	{ "48 0f ba e0 05", "bt     $0x5,%rax", "p06:1 ; rax -> cf:1 ; 1 ;" },
	{ "48 0f a3 0f", "bt     %rcx,(%rdi)",
	  "p23 p06:1 > p06:1 > p06:1 > p06:1 > 5*p0156:1 ; [rdi] rcx -> cf:5 ; 10 ; microcoded simple" },
	{ "48 0f ab 0f", "bts    %rcx,(%rdi)",
	  "p23 p06:1 > p06:1 > p06:1 > p06:1 > 4*p0156:1 p237 p4 ; [rdi] rcx -> cf:5 ; 11 ; microcoded simple" },
	{ "f3 48 0f b8 c7", "popcnt %rdi,%rax", "p1:3 ; rdi rax -> rax:3 cf:3 zf:3 ; 1 ;" },
	{ "f3 48 0f bc c7", "tzcnt  %rdi,%rax", "p1:3 ; rdi -> rax:3 cf:3 zf:3 ; 1 ;" },
	{ "f3 48 0f bd c7", "lzcnt  %rdi,%rax", "p1:3 ; rdi -> rax:3 cf:3 zf:3 ; 1 ;" },
	{ "48 0f bc c7", "bsf    %rdi,%rax", "p1:3 ; rdi rax -> rax:3 cf:3 zf:3 ; 1 ;" },
	{ "48 0f c8", "bswap  %rax", "p15:1 > p06:1 ; rax -> rax:2 ; 2 ;" },
	{ "0f c8", "bswap  %eax", "p15:1 ; rax -> rax:1 ; 1 ;" },
	{ "c4 e2 c8 f2 c7", "andn   %rdi,%rsi,%rax", "p15:1 ; rsi rdi -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "c4 e2 f8 f3 cf", "blsr   %rdi,%rax", "p15:1 ; rdi -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "c4 e2 cb f5 c7", "pdep   %rdi,%rsi,%rax", "p1:3 ; rsi rdi -> rax:3 ; 1 ;" },
	{ "f2 48 0f 38 f1 c7", "crc32q %rdi,%rax", "p1:3 ; rax rdi -> rax:3 ; 1 ;" },
	{ "0f 94 c0", "sete   %al", "p06:1 ; rax zf -> rax:1 ; 1 ;" },
	{ "0f 92 c0", "setb   %al", "p06:1 ; rax cf -> rax:1 ; 1 ;" },
	{ "0f 97 c0", "seta   %al", "p06:1 > p06:1 ; rax cf zf -> rax:2 ; 2 ;" },
	{ "48 0f 44 c7", "cmove  %rdi,%rax", "p06:1 ; rax rdi zf -> rax:1 ; 1 ;" },
	{ "48 0f 42 c7", "cmovb  %rdi,%rax", "p06:1 ; rax rdi cf -> rax:1 ; 1 ;" },
	{ "48 0f 47 c7", "cmova  %rdi,%rax", "p06:1 > p06:1 ; rax+1 rdi+1 cf zf -> rax:2 ; 2 ;" },
	{ "48 0f 44 07", "cmove  (%rdi),%rax", "p23 p06:1 ; [rdi] rax zf -> rax:1 ; 1 ; simple" },
	{ "f8", "clc", "- ; -> cf:0 ; 1 ;" },
	{ "f5", "cmc", "p0156:1 ; cf -> cf:1 ; 1 ;" },
	{ "9f", "lahf", "p06:1 ; rax cf zf -> rax:1 ; 1 ;" },
	{ "9e", "sahf", "p06:1 ; rax -> cf:1 zf:1 ; 1 ;" },
	{ "48 98", "cltq", "p0156:1 ; rax -> rax:1 ; 1 ;" },
	{ "48 99", "cqto", "p06:1 ; rax -> rdx:1 ; 1 ;" },
	{ "48 97", "xchg   %rdi,%rax", "p0156:1 > 2*p0156:1 ; rdi rax -> rdi:2 rax:2 ; 3 ;" },
	{ "48 0f c1 f8", "xadd   %rdi,%rax", "p0156:1 > 2*p0156:1 ; rax rdi -> rax:2 rdi:2 cf:2 zf:2 ; 3 ;" },
	{ "48 89 f8", "mov    %rdi,%rax", "p0156:1 ; rdi -> rax:1 ; 1 ; move" },
	{ "89 f8", "mov    %edi,%eax", "p0156:1 ; rdi -> rax:1 ; 1 ; move" },
	/*
	 * A prefix changes the length of what 66h leaves an immediate of 16 bits, or 67h an absolute address of 32; of
	 * others it does not.
	 */
	{ "66 05 2c 01", "add    $0x12c,%ax", "p0156:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ; lengthens" },
	{ "66 81 f9 2c 01", "cmp    $0x12c,%cx", "p0156:1 ; rcx -> cf:1 zf:1 ; 1 ; lengthens" },
	{ "66 81 3f 2c 01", "cmpw   $0x12c,(%rdi)", "p23 p0156:1 ; [rdi] -> cf:1 zf:1 ; 1 ; simple lengthens" },
	{ "66 f7 c1 2c 01", "test   $0x12c,%cx", "p0156:1 ; rcx -> cf:1 zf:1 ; 1 ; lengthens" },
	{ "66 c7 07 2c 01", "movw   $0x12c,(%rdi)", "p237 p4 ; [rdi] ; 1 ; lengthens" },
	{ "66 b9 2c 01", "mov    $0x12c,%cx", "p0156:1 ; rcx -> rcx:1 ; 1 ; lengthens" },
	{ "66 69 c9 2c 01", "imul   $0x12c,%cx,%cx", "p1:1 > p0156:3 ; rcx -> rcx:4 cf:4 zf:4 ; 2 ; long lengthens" },
	{ "66 68 2c 01", "push   $0x12c", "p237 p4 ; [rsp] -> rsp:wb0 ; 1 ; lengthens" },
	{ "67 a1 34 12 00 00", "movl   0x1234,%eax", "p23 p0156:1 ; -> rax:1 ; 1 ; lengthens" },
	{ "66 83 f9 03", "cmp    $0x3,%cx", "p0156:1 ; rcx -> cf:1 zf:1 ; 1 ;" },
	{ "66 c1 e1 03", "shl    $0x3,%cx", "p06:1 ; rcx -> rcx:1 cf:1 zf:1 ; 1 ;" },
	{ "66 48 05 2c 01 00 00", "add    $0x12c,%rax", "p0156:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "66 89 f8", "mov    %di,%ax", "p0156:1 ; rax rdi -> rax:1 ; 1 ;" },
	{ "40 88 f8", "mov    %dil,%al", "p0156:1 ; rax rdi -> rax:1 ; 1 ;" },
	{ "88 e3", "mov    %ah,%bl", "p0156:1 ; rbx rax -> rbx:1 ; 1 ;" },
	{ "40 0f b6 c7", "movzbl %dil,%eax", "p0156:1 ; rdi -> rax:1 ; 1 ; move" },
	{ "0f b6 c4", "movzbl %ah,%eax", "p0156:1 ; rax -> rax:1 ; 1 ;" },
	{ "0f b7 c7", "movzwl %di,%eax", "p0156:1 ; rdi -> rax:1 ; 1 ;" },
	{ "48 63 c7", "movslq %edi,%rax", "p0156:1 ; rdi -> rax:1 ; 1 ;" },
	{ "48 c7 c0 01 00 00 00", "mov    $0x1,%rax", "p0156:1 ; -> rax:1 ; 1 ;" },
	{ "48 b8 f0 de bc 9a 78 56 34 12", "movabs $0x123456789abcdef0,%rax", "p0156:1 ; -> rax:1 ; 1 ;" },
	{ "31 c0", "xor    %eax,%eax", "- ; -> rax:0 cf:0 zf:0 ; 1 ; zero" },
	{ "48 29 c0", "sub    %rax,%rax", "- ; -> rax:0 cf:0 zf:0 ; 1 ; zero" },
	{ "48 31 f8", "xor    %rdi,%rax", "p0156:1 ; rax rdi -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "19 c0", "sbb    %eax,%eax", "p06:1 ; rax cf -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 8b 07", "mov    (%rdi),%rax", "p23 ; [rdi] -> rax:0 ; 1 ; simple" },
	{ "48 8b 87 00 08 00 00", "mov    0x800(%rdi),%rax", "p23 ; [rdi] -> rax:0 ; 1 ;" },
	{ "48 8b 47 f8", "mov    -0x8(%rdi),%rax", "p23 ; [rdi] -> rax:0 ; 1 ;" },
	{ "48 8b 04 f7", "mov    (%rdi,%rsi,8),%rax", "p23 ; [rdi,rsi] -> rax:0 ; 1 ; indexed" },
	{ "48 8b 05 08 00 00 00", "mov    0x8(%rip),%rax", "p23 ; -> rax:0 ; 1 ;" },
	{ "64 48 8b 07", "mov    %fs:(%rdi),%rax", "p23 ; [rdi] -> rax:0 ; 1 ;" },
	{ "0f b6 07", "movzbl (%rdi),%eax", "p23 ; [rdi] -> rax:0 ; 1 ;" },
	{ "48 63 07", "movslq (%rdi),%rax", "p23 ; [rdi] -> rax:0 ; 1 ;" },
	{ "8a 07", "mov    (%rdi),%al", "p23 p0156:1 ; [rdi] rax -> rax:1 ; 1 ;" },
	{ "66 8b 07", "mov    (%rdi),%ax", "p23 p0156:1 ; [rdi] rax -> rax:1 ; 1 ;" },
	{ "48 89 07", "mov    %rax,(%rdi)", "p237 p4 ; [rdi] rax ; 1 ; simple" },
	{ "48 89 04 f7", "mov    %rax,(%rdi,%rsi,8)", "p23 p4 ; [rdi,rsi] rax ; 1 ; indexed" },
	{ "c7 07 01 00 00 00", "movl   $0x1,(%rdi)", "p237 p4 ; [rdi] ; 1 ; simple" },
	{ "88 07", "mov    %al,(%rdi)", "p237 p4 ; [rdi] rax ; 1 ;" },
	{ "53", "push   %rbx", "p237 p4 ; [rsp] rbx -> rsp:wb0 ; 1 ;" },
	{ "6a 01", "push   $0x1", "p237 p4 ; [rsp] -> rsp:wb0 ; 1 ;" },
	{ "ff 37", "push   (%rdi)", "p23 p237 p4 ; [rdi,rsp] -> rsp:wb0 ; 2 ; simple" },
	{ "5b", "pop    %rbx", "p23 ; [rsp] -> rbx:0 rsp:wb0 ; 1 ;" },
	{ "9c", "pushf", "p0156:1 > p0156:1 > p0156:1 > p0156:1 p237 p4 ; [rsp] df cf zf -> rsp:wb0 ; 5 ; microcoded" },
	{ "c9", "leave", "p23 p0156:1 > p0156:1 ; [rbp] -> rbp:0 rsp:wb1 ; 3 ;" },
	{ "e8 00 00 00 00", "call   100005", "p6:1 p237 p4 ; [rsp] -> rsp:wb0 ; 2 ; call to +5" },
	{ "ff d0", "call   *%rax", "p6:1 p237 p4 ; [rsp] rax -> rsp:wb0 ; 2 ; indirect_call" },
	{ "ff 17", "call   *(%rdi)", "p23 p6:1 p237 p4 ; [rdi,rsp] -> rsp:wb0 ; 3 ; simple indirect_call" },
	{ "c3", "ret", "p23 p6:1 ; [rsp] -> rsp:wb0 ; 2 ; return" },
	{ "eb 00", "jmp    100002", "p6:1 ; ; 1 ; jump to +2" },
	{ "ff e0", "jmp    *%rax", "p6:1 ; rax ; 1 ; indirect" },
	{ "ff 27", "jmp    *(%rdi)", "p23 p6:1 ; [rdi] ; 1 ; simple indirect" },
	{ "74 00", "je     100002", "p06:1 ; zf ; 1 ; conditional to +2" },
	{ "77 00", "ja     100002", "p06:1 ; cf zf ; 1 ; conditional to +2" },
	{ "72 00", "jb     100002", "p06:1 ; cf ; 1 ; conditional to +2" },
	{ "e3 00", "jrcxz  100002", "p06:1 > p0156:1 ; rcx ; 2 ; conditional to +2" },
	{ "90", "nop", "- ; ; 1 ; nop" },
	{ "66 0f 1f 04 00", "nopw   (%rax,%rax,1)", "- ; ; 1 ; nop" },
	{ "f3 0f 1e fa", "endbr64", "- ; ; 1 ; nop" },
	{ "f3 90", "pause", "p0156:35 > p0156:35 > p0156:35 > p0156:35 ; ; 4 ; dispatch_serialize" },
	{ "0f ae e8", "lfence", "- ; ; 2 ; dispatch_serialize" },
	{ "0f ae f8", "sfence", "p23:1 p4:1 ; ; 2 ; release" },
	{ "0f ae f0", "mfence", "p23:1 p4:1 2*p06:1 ; ; 4 ; fence" },
	{ "0f 05", "syscall", "p0156:1 ; ; 1 ; syscall" },
	{ "f0 48 01 07", "lock add %rax,(%rdi)",
	  "p23 2*p06:1 3*p0156:1 p237 p4 ; [rdi] rax -> cf:1 zf:1 ; 8 ; locked microcoded simple" },
	{ "f0 48 0f b1 0f", "lock cmpxchg %rcx,(%rdi)",
	  "p23 4*p06:1 3*p0156:1 p237 p4 ; [rdi] rcx rax -> rax:1 cf:1 zf:1 ; 10 ; locked microcoded simple" },
	{ "48 87 07", "xchg   %rax,(%rdi)",
	  "p23 2*p06:1 3*p0156:1 p237 p4 ; [rdi] rax -> rax:1 ; 8 ; locked microcoded simple" },
	{ "f0 48 0f c1 07", "lock xadd %rax,(%rdi)",
	  "p23 2*p06:1 4*p0156:1 p237 p4 ; [rdi] rax -> rax:1 cf:1 zf:1 ; 9 ; locked microcoded simple" },
	{ "48 0f c7 0f", "cmpxchg16b (%rdi)",
	  "p23 p0:1 > p0:1 > p5:1 > p5:1 > p5:1 > p5:1 > p06:1 > p06:1 > p06:1 > p06:1 > p0156:1 > p0156:1 > p0156:1 > "
	  "p0156:1 > p0156:1 > p0156:2 p237 p4 ; [rdi] rax rbx rcx rdx zf -> rax:17 rdx:17 zf:17 ; 17 ; microcoded "
	  "simple" },
	{ "0f 18 0f", "prefetcht0 (%rdi)", "p23 ; [rdi] ; 1 ; prefetch simple" },
	{ "a4", "movsb  (%rsi),%es:(%rdi)",
	  "p23 2*p0156:1 p237 p4 ; [rdi,rsi] df -> rdi:wb1 rsi:wb1 ; 5 ; microcoded" },
	{ "f3 a4", "rep movsb (%rsi),%es:(%rdi)",
	  "p23 p0156:1 p237 p4 ; [rdi,rsi] df rcx -> rdi:wb1 rsi:wb1 rcx:1 ; 2 ; rep" },
	{ "f3 48 ab", "rep stos %rax,%es:(%rdi)", "p0156:1 p237 p4 ; [rdi] rax df rcx -> rdi:wb1 rcx:1 ; 2 ; rep" },
	{ "f2 ae", "repne scas %es:(%rdi),%al", "p23 p0156:1 ; [rdi] rax df rcx -> rdi:wb1 rcx:1 cf:1 zf:1 ; 2 ; rep" },
	{ "48 ad", "lods   (%rsi),%rax", "p23 p0156:1 ; [rsi] df -> rsi:wb1 rax:1 ; 2 ;" },
	{ "fc", "cld", "p6:1 > p0156:1 > p0156:1 ; -> df:3 ; 3 ;" },
	{ "83 3d 08 00 00 00 01", "cmpl   $0x1,0x8(%rip)", "p23 p0156:1 ; -> cf:1 zf:1 ; 2 ;" },
	{ "c7 05 08 00 00 00 01 00 00 00", "movl   $0x1,0x8(%rip)", "p237 p4 ; ; 2 ;" },
	{ "89 05 08 00 00 00", "mov    %eax,0x8(%rip)", "p237 p4 ; rax ; 1 ;" },
	{ "83 05 08 00 00 00 01", "addl   $0x1,0x8(%rip)", "p23 p0156:1 p237 p4 ; -> cf:1 zf:1 ; 3 ;" },
	{ "01 05 08 00 00 00", "add    %eax,0x8(%rip)", "p23 p0156:1 p237 p4 ; rax -> cf:1 zf:1 ; 2 ;" },
	{ "48 13 04 37", "adc    (%rdi,%rsi,1),%rax",
	  "p23 p06:1 ; [rdi,rsi] rax cf -> rax:1 cf:1 zf:1 ; 2/1 ; indexed" },
	{ "48 13 07", "adc    (%rdi),%rax", "p23 p06:1 ; [rdi] rax cf -> rax:1 cf:1 zf:1 ; 1 ; simple" },
	{ "48 0f 45 04 37", "cmovne (%rdi,%rsi,1),%rax", "p23 p06:1 ; [rdi,rsi] rax zf -> rax:1 ; 2/1 ; indexed" },
	{ "66 0f 70 05 08 00 00 00 01", "pshufd $0x1,0x8(%rip),%xmm0", "p23 p5:1 ; -> xmm0:1 ; 2 extra 1 ; vmem vint" },
	{ "3b 04 37", "cmp    (%rdi,%rsi,1),%eax", "p23 p0156:1 ; [rdi,rsi] rax -> cf:1 zf:1 ; 1 ; indexed" },
	{ "48 6b 04 37 0c", "imul   $0xc,(%rdi,%rsi,1),%rax",
	  "p23 p1:3 ; [rdi,rsi] -> rax:3 cf:3 zf:3 ; 2/1 ; indexed long" },
	{ "48 0f af 04 37", "imul   (%rdi,%rsi,1),%rax",
	  "p23 p1:3 ; [rdi,rsi] rax -> rax:3 cf:3 zf:3 ; 1 ; indexed long" },
	{ "f3 48 0f b8 04 37", "popcnt (%rdi,%rsi,1),%rax",
	  "p23 p1:3 ; [rdi,rsi] rax -> rax:3 cf:3 zf:3 ; 1 ; indexed" },
	{ "c4 e2 f8 f2 0c 37", "andn   (%rdi,%rsi,1),%rax,%rcx",
	  "p23 p15:1 ; [rdi,rsi] rax -> rcx:1 cf:1 zf:1 ; 2/1 ; indexed" },
	{ "ff 07", "incl   (%rdi)", "p23 p0156:1 p237 p4 ; [rdi] -> zf:1 ; 2 ; simple" },
	{ "c1 27 03", "shll   $0x3,(%rdi)", "p23 p06:1 p237 p4 ; [rdi] -> cf:1 zf:1 ; 2 ; simple" },
	{ "d3 27", "shll   %cl,(%rdi)",
	  "p23 p0156:1 p06:1 > p06:1 p237 p4 ; [rdi] rcx cf zf -> cf:2 zf:2 ; 4 ; simple" },
	{ "48 f7 1c 37", "negq   (%rdi,%rsi,1)", "p23 p0156:1 p23 p4 ; [rdi,rsi] -> cf:1 zf:1 ; 2 ; indexed" },
	{ "0f c1 07", "xadd   %eax,(%rdi)", "p23 2*p0156:1 p237 p4 ; [rdi] rax -> rax:1 cf:1 zf:1 ; 3 ; simple" },
	{ "0f b1 0f", "cmpxchg %ecx,(%rdi)",
	  "p23 p06:1 > p06:1 p0156:1 p237 p4 ; [rdi] rcx rax -> rax:2 cf:2 zf:2 ; 4 ; simple" },
	{ "0f ae 17", "ldmxcsr (%rdi)", "p23 p0:1 > p0156:1 ; [rdi] ; 2 ; simple" },
	{ "0f ae 1f", "stmxcsr (%rdi)", "p5:1 p237 p4 ; [rdi] ; 2 ; simple" },
	{ "ff 24 f7", "jmp    *(%rdi,%rsi,8)", "p23 p6:1 ; [rdi,rsi] ; 1 ; indexed indirect" },
	{ "e2 00", "loop   100002",
	  "p6:1 > p15:1 > p06:1 > p06:1 > p06:1 > p0156:1 > p0156:1 ; rcx -> rcx:1 ; 7 ; microcoded conditional to "
	  "+2" },
};

static const struct show_row vector[] = {
	{ "0f 28 c1", "movaps %xmm1,%xmm0", "p015:1 ; xmm1 -> xmm0:1 ; 1 ; move" },
	{ "c5 fc 28 c1", "vmovaps %ymm1,%ymm0", "p015:1 ; xmm1 -> xmm0:1 ; 1 ; move" },
	{ "c5 fd 6f c1", "vmovdqa %ymm1,%ymm0", "p015:1 ; xmm1 -> xmm0:1 ; 1 ; move" },
	{ "66 0f 6f c1", "movdqa %xmm1,%xmm0", "p015:1 ; xmm1 -> xmm0:1 ; 1 ; move" },
	{ "f3 0f 10 c1", "movss  %xmm1,%xmm0", "p5:1 ; xmm0 xmm1 -> xmm0:1 ; 1 ;" },
	{ "0f 28 07", "movaps (%rdi),%xmm0", "p23 ; [rdi] -> xmm0:0 ; 1 extra 1 ; vmem" },
	{ "c5 fc 10 07", "vmovups (%rdi),%ymm0", "p23 ; [rdi] -> xmm0:0 ; 1 extra 2 ; vmem" },
	{ "62 f1 7c 48 10 07", "vmovups (%rdi),%zmm0", "p23 ; [rdi] -> xmm0:0 ; 1 extra 2 ; vmem wide" },
	{ "62 f1 7f 48 6f 07", "vmovdqu8 (%rdi),%zmm0", "p23 ; [rdi] -> xmm0:0 ; 1 extra 2 ; vmem wide" },
	{ "f2 0f 10 07", "movsd  (%rdi),%xmm0", "p23 ; [rdi] -> xmm0:0 ; 1 ; vmem" },
	{ "f3 0f 7e 07", "movq   (%rdi),%xmm0", "p23 ; [rdi] -> xmm0:0 ; 1 ; vmem" },
	{ "c5 fc 11 07", "vmovups %ymm0,(%rdi)", "p237 p4 ; [rdi] xmm0 ; 1 ; vmem" },
	{ "c5 fc 11 04 37", "vmovups %ymm0,(%rdi,%rsi,1)", "p23 p4 ; [rdi,rsi] xmm0 ; 1 ; indexed vmem" },
	{ "62 f1 7c 48 11 07", "vmovups %zmm0,(%rdi)", "p237 p4 ; [rdi] xmm0 ; 1 ; vmem wide" },
	{ "66 48 0f 6e c0", "movq   %rax,%xmm0", "p5:2 ; rax -> xmm0:2 ; 1 ;" },
	{ "66 48 0f 7e c0", "movq   %xmm0,%rax", "p0:2 ; xmm0 -> rax:2 ; 1 ;" },
	{ "66 0f 6e c0", "movd   %eax,%xmm0", "p5:2 ; rax -> xmm0:2 ; 1 ;" },
	{ "66 0f 58 c1", "addpd  %xmm1,%xmm0", "p01:4 ; xmm0 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "f2 0f 58 c1", "addsd  %xmm1,%xmm0", "p01:4 ; xmm0 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "c5 e9 58 c1", "vaddpd %xmm1,%xmm2,%xmm0", "p01:4 ; xmm2 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "c5 ed 58 c1", "vaddpd %ymm1,%ymm2,%ymm0", "p01:4 ; xmm2 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "62 f1 ed 48 58 c1", "vaddpd %zmm1,%zmm2,%zmm0", "p05:4 ; xmm2 xmm1 -> xmm0:4 ; 1 ; fp wide long" },
	{ "c5 f4 58 07", "vaddps (%rdi),%ymm1,%ymm0", "p23 p01:4 ; [rdi] xmm1 -> xmm0:4 ; 1 extra 2 ; vmem fp long" },
	{ "c5 f4 58 04 37", "vaddps (%rdi,%rsi,1),%ymm1,%ymm0",
	  "p23 p01:4 ; [rdi,rsi] xmm1 -> xmm0:4 ; 2/1 extra 2 ; indexed vmem fp long" },
	{ "0f 58 04 37", "addps  (%rdi,%rsi,1),%xmm0",
	  "p23 p01:4 ; [rdi,rsi] xmm0 -> xmm0:4 ; 1 extra 1 ; indexed vmem fp long" },
	{ "62 f1 f5 49 58 07", "vaddpd (%rdi),%zmm1,%zmm0{%k1}",
	  "p23 p05:4 ; [rdi] xmm0 k1 xmm1 -> xmm0:4 ; 1 extra 2 ; vmem fp wide long maybe" },
	{ "62 f1 f5 c9 58 c2", "vaddpd %zmm2,%zmm1,%zmm0{%k1}{z}",
	  "p05:4 ; k1 xmm1 xmm2 -> xmm0:4 ; 1 ; fp wide long" },
	{ "c5 ed 59 c1", "vmulpd %ymm1,%ymm2,%ymm0", "p01:4 ; xmm2 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "c4 e2 ed b8 c1", "vfmadd231pd %ymm1,%ymm2,%ymm0", "p01:4 ; xmm0 xmm2 xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "c4 e2 ed b8 07", "vfmadd231pd (%rdi),%ymm2,%ymm0",
	  "p23 p01:4 ; [rdi] xmm0 xmm2 -> xmm0:4 ; 1 extra 2 ; vmem fp long" },
	{ "c4 e2 ed b8 04 37", "vfmadd231pd (%rdi,%rsi,1),%ymm2,%ymm0",
	  "p23 p01:4 ; [rdi,rsi] xmm0 xmm2 -> xmm0:4 ; 2/1 extra 2 ; indexed vmem fp long" },
	{ "62 f2 ed 48 b8 c1", "vfmadd231pd %zmm1,%zmm2,%zmm0", "p05:4 ; xmm0 xmm2 xmm1 -> xmm0:4 ; 1 ; fp wide long" },
	{ "c5 e9 5e c1", "vdivpd %xmm1,%xmm2,%xmm0", "p0:13/div*4 ; xmm2 xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "c5 ed 5e c1", "vdivpd %ymm1,%ymm2,%ymm0", "p0:13/div*8 ; xmm2 xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "62 f1 ed 48 5e c1", "vdivpd %zmm1,%zmm2,%zmm0",
	  "p0:1/div*16 > p0:1 > p5:21 ; xmm2 xmm1 -> xmm0:23 ; 3 ; fp wide long" },
	{ "c5 ec 5e c1", "vdivps %ymm1,%ymm2,%ymm0", "p0:11/div*5 ; xmm2 xmm1 -> xmm0:11 ; 1 ; fp long" },
	{ "f2 0f 5e c1", "divsd  %xmm1,%xmm0", "p0:13/div*4 ; xmm0 xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "f3 0f 5e c1", "divss  %xmm1,%xmm0", "p0:11/div*3 ; xmm0 xmm1 -> xmm0:11 ; 1 ; fp long" },
	{ "c5 f9 51 c1", "vsqrtpd %xmm1,%xmm0", "p0:13/div*4 ; xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "c5 fd 51 c1", "vsqrtpd %ymm1,%ymm0", "p0:13/div*9 ; xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "62 f1 fd 48 51 c1", "vsqrtpd %zmm1,%zmm0",
	  "p0:1/div*18 > p0:1 > p5:22 ; xmm1 -> xmm0:24 ; 3 ; fp wide long" },
	{ "f2 0f 51 c1", "sqrtsd %xmm1,%xmm0", "p0:13/div*4 ; xmm0 xmm1 -> xmm0:13 ; 1 ; fp long" },
	{ "c5 fc 53 c1", "vrcpps %ymm1,%ymm0", "p0:4 ; xmm1 -> xmm0:4 ; 1 ; fp long" },
	{ "c5 e9 fe c1", "vpaddd %xmm1,%xmm2,%xmm0", "p015:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c5 ed fe c1", "vpaddd %ymm1,%ymm2,%ymm0", "p015:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "62 f1 6d 48 fe c1", "vpaddd %zmm1,%zmm2,%zmm0", "p05:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint wide" },
	{ "c5 f5 fe 07", "vpaddd (%rdi),%ymm1,%ymm0", "p23 p015:1 ; [rdi] xmm1 -> xmm0:1 ; 1 extra 2 ; vmem vint" },
	{ "66 0f fe c1", "paddd  %xmm1,%xmm0", "p015:1 ; xmm0 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c4 e2 6d 40 c1", "vpmulld %ymm1,%ymm2,%ymm0", "p01:5 > p01:5 ; xmm2 xmm1 -> xmm0:10 ; 2 ; vint long" },
	{ "c5 ed f4 c1", "vpmuludq %ymm1,%ymm2,%ymm0", "p01:5 ; xmm2 xmm1 -> xmm0:5 ; 1 ; vint long" },
	{ "c5 fd 72 f1 03", "vpslld $0x3,%ymm1,%ymm0", "p01:1 ; xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "62 f1 7d 48 72 f1 03", "vpslld $0x3,%zmm1,%zmm0", "p0:1 ; xmm1 -> xmm0:1 ; 1 ; vint wide" },
	{ "c5 ed db c1", "vpand  %ymm1,%ymm2,%ymm0", "p015:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c5 ec 54 c1", "vandps %ymm1,%ymm2,%ymm0", "p015:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c5 f5 ef c1", "vpxor  %ymm1,%ymm1,%ymm0", "- ; -> xmm0:0 ; 1 ; zero vint" },
	{ "66 0f ef c0", "pxor   %xmm0,%xmm0", "- ; -> xmm0:0 ; 1 ; zero vint" },
	{ "0f 57 c0", "xorps  %xmm0,%xmm0", "- ; -> xmm0:0 ; 1 ; zero vint" },
	{ "c5 e8 57 c1", "vxorps %xmm1,%xmm2,%xmm0", "p015:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c5 f5 76 c1", "vpcmpeqd %ymm1,%ymm1,%ymm0", "p01:1 ; xmm1 -> xmm0:1 ; 1 ; vint leaf" },
	{ "c5 ed 76 c1", "vpcmpeqd %ymm1,%ymm2,%ymm0", "p01:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "62 f1 6d 48 74 c1", "vpcmpeqb %zmm1,%zmm2,%k0", "p5:4 ; xmm2 xmm1 -> k0:4 ; 1 ; vint wide" },
	{ "c4 e1 f8 98 c0", "kortestq %k0,%k0", "p0:3 ; k0 -> cf:3 zf:3 ; 1 ;" },
	{ "c4 e1 fb 93 c0", "kmovq  %k0,%rax", "p0:3 ; k0 -> rax:3 ; 1 ;" },
	{ "c5 ec c6 c1 01", "vshufps $0x1,%ymm1,%ymm2,%ymm0", "p5:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c4 e3 fd 01 c1 01", "vpermpd $0x1,%ymm1,%ymm0", "p5:3 ; xmm1 -> xmm0:3 ; 1 ; vint" },
	{ "c4 e3 6d 06 c1 01", "vperm2f128 $0x1,%ymm1,%ymm2,%ymm0", "p5:3 ; xmm2 xmm1 -> xmm0:3 ; 1 ; vint" },
	{ "c4 e3 7d 19 c8 01", "vextractf128 $0x1,%ymm1,%xmm0", "p5:3 ; xmm1 -> xmm0:3 ; 1 ; vint" },
	{ "c4 e3 6d 18 c1 01", "vinsertf128 $0x1,%xmm1,%ymm2,%ymm0", "p5:3 ; xmm2 xmm1 -> xmm0:3 ; 1 ; vint" },
	{ "c5 ed 7c c1", "vhaddpd %ymm1,%ymm2,%ymm0", "p5:1 > p5:1 > p01:4 ; xmm2 xmm1 -> xmm0:6 ; 3 ; fp long" },
	{ "c5 ed 14 c1", "vunpcklpd %ymm1,%ymm2,%ymm0", "p5:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c4 e3 65 4b c2 10", "vblendvpd %ymm1,%ymm2,%ymm3,%ymm0",
	  "p015:1 > p015:1 ; xmm3 xmm2 xmm1 -> xmm0:2 ; 2 ;" },
	{ "c4 e2 6d 00 c1", "vpshufb %ymm1,%ymm2,%ymm0", "p5:1 ; xmm2 xmm1 -> xmm0:1 ; 1 ; vint" },
	{ "c5 fd d7 c1", "vpmovmskb %ymm1,%eax", "p0:2 ; xmm1 -> rax:2 ; 1 ;" },
	{ "c4 e2 7d 17 c1", "vptest %ymm1,%ymm0", "p0:1 > p5:2 ; xmm0 xmm1 -> cf:3 zf:3 ; 2 ;" },
	{ "66 0f 2e c1", "ucomisd %xmm1,%xmm0", "p0:2 ; xmm0 xmm1 -> cf:2 zf:2 ; 1 ; fp long" },
	{ "f2 48 0f 2a c0", "cvtsi2sd %rax,%xmm0", "p5:2 > p01:4 ; xmm0 rax -> xmm0:6 ; 2 ; fp long" },
	{ "c4 e1 f3 2a c0", "vcvtsi2sd %rax,%xmm1,%xmm0", "p5:2 > p01:4 ; xmm1 rax -> xmm0:6 ; 2 ; fp long" },
	{ "f2 48 0f 2c c0", "cvttsd2si %xmm0,%rax", "p01:4 > p0:2 ; xmm0 -> rax:6 ; 2 ; fp long" },
	{ "f3 0f 5a c1", "cvtss2sd %xmm1,%xmm0", "p5:1 > p01:4 ; xmm0 xmm1 -> xmm0:5 ; 2 ; fp long" },
	{ "c5 fe e6 c1", "vcvtdq2pd %xmm1,%ymm0", "p5:1 > p01:6 ; xmm1 -> xmm0:7 ; 2 ; fp long" },
	{ "66 0f 3a 0b c1 01", "roundsd $0x1,%xmm1,%xmm0", "p01:4 > p01:4 ; xmm0 xmm1 -> xmm0:8 ; 2 ; fp long" },
	{ "66 0f 38 dc c1", "aesenc %xmm1,%xmm0", "p0:4 ; xmm0 xmm1 -> xmm0:4 ; 1 ; vint long" },
	{ "66 0f 3a 44 c1 00", "pclmulqdq $0x0,%xmm1,%xmm0", "p5:6 ; xmm0 xmm1 -> xmm0:6 ; 1 ; vint long" },
	{ "66 0f 3a 63 c1 00", "pcmpistri $0x0,%xmm1,%xmm0",
	  "p0:3 > p0:3 > p0:4 ; xmm0 xmm1 -> rcx:10 cf:10 zf:10 ; 3 ; vint" },
	{ "c4 e2 f5 92 04 d7", "vgatherdpd %ymm1,(%rdi,%xmm2,8),%ymm0",
	  "4*p23 p0:1 > p5:1 > p015:11 ; [rdi,xmm2] xmm0 xmm1 -> xmm0:13 xmm1:13 ; 5/4 extra 2 ; indexed vmem maybe" },
	{ "c4 e2 75 2c 07", "vmaskmovps (%rdi),%ymm1,%ymm0",
	  "p23 p015:1 ; [rdi] xmm1 -> xmm0:1 ; 1 extra 2 ; vmem maybe" },
	{ "c5 f8 77", "vzeroupper", "- ; ; 4 ;" },
	{ "c4 e2 7d 58 07", "vpbroadcastd (%rdi),%ymm0", "p23 ; [rdi] -> xmm0:0 ; 1 extra 2 ; vmem" },
	{ "62 f2 7d 48 7c c0", "vpbroadcastd %eax,%zmm0", "p5:3 ; rax -> xmm0:3 ; 1 ; vint wide" },
	{ "62 f3 ed 48 25 c1 01", "vpternlogq $0x1,%zmm1,%zmm2,%zmm0",
	  "p05:1 ; xmm0 xmm2 xmm1 -> xmm0:1 ; 1 ; vint wide" },
	{ "66 48 0f 3a 22 c0 01", "pinsrq $0x1,%rax,%xmm0", "p5:1 > p5:1 ; xmm0 rax -> xmm0:2 ; 2 ; vint" },
	{ "66 48 0f 3a 16 c0 01", "pextrq $0x1,%xmm0,%rax", "p0:1 > p5:2 ; xmm0 -> rax:3 ; 2 ;" },
	{ "dd 07", "fldl   (%rdi)", "p23 ; [rdi] -> st0:0 ; 1 extra 2 ; simple" },
	{ "db 2f", "fldt   (%rdi)", "2*p23 p01:1 > p01:1 ; [rdi] -> st0:2 ; 4 ; simple" },
	{ "dd 1f", "fstpl  (%rdi)", "p237 p4 ; [rdi] st0 ; 1 ; simple" },
	{ "d8 c1", "fadd   %st(1),%st", "p5:3 ; st0 st1 -> st0:3 ; 1 ; long" },
	{ "de c1", "faddp  %st,%st(1)", "p5:3 ; st0 st1 -> st0:3 ; 1 ; long" },
	{ "d8 ca", "fmul   %st(2),%st", "p0:4 ; st0 st2 -> st0:4 ; 1 ; long" },
	{ "de f1", "fdivp  %st,%st(1)", "p0:15/div*5 ; st0 st1 -> st0:15 ; 1 ; long" },
	{ "d9 c9", "fxch   %st(1)", "- ; st0 st1 -> st0:0 st1:0 ; 2 ;" },
	{ "df e9", "fucompi %st(1),%st", "p0:2 ; st0 st1 -> cf:2 zf:2 ; 1 ;" },
	{ "df e0", "fnstsw %ax", "p0:1 > p0156:2 ; rax fpsw -> rax:3 ; 2 ;" },
	{ "62 f2 6d 28 76 c1", "vpermi2d %ymm1,%ymm2,%ymm0", "p5:3 ; xmm0 xmm2 xmm1 -> xmm0:3 ; 1 ; vint" },
	{ "62 f2 7d 49 8a c8", "vcompressps %zmm1,%zmm0{%k1}", "p5:3 > p5:3 ; xmm0 k1 xmm1 -> xmm0:6 ; 2 ; wide" },
};

/* What Zen 5 has of its own: long addresses, stores that pass the ALUs, shifts by CL that leave the old flags be. */
static const struct show_row zen5[] = {
	{ "01 08", "add    %ecx,(%rax)",
	  "ag0123 alu012345:1 ag0123 none(std) ; [rax] rcx -> cf:1 zf:1 ; 1 stores result ; simple" },
	{ "0f b6 44 05 00", "movzbl 0x0(%rbp,%rax,1),%eax", "ag0123 ; [rbp,rax] -> rax:0 ; 1 address 1 ; indexed" },
	{ "48 63 07", "movslq (%rdi),%rax", "ag0123 alu012345:1 ; [rdi] -> rax:1 ; 1 ;" },
	{ "0f 46 c1", "cmovbe %ecx,%eax", "alu012345:1 > alu012345:1 ; rax+1 rcx+1 cf zf -> rax:2 ; 2 ;" },
	{ "0f 4c c1", "cmovl  %ecx,%eax", "alu012345:1 > alu012345:1 ; rax+1 rcx+1 zf -> rax:2 ; 2 ;" },
	{ "0f 48 c1", "cmovs  %ecx,%eax", "alu012345:1 ; rax rcx zf -> rax:1 ; 1 ;" },
	{ "0f 46 07", "cmovbe (%rdi),%eax",
	  "ag0123 alu012345:1 > alu012345:1 ; [rdi] rax+1 cf zf -> rax:2 ; 2 ; simple" },
	{ "c5 f8 77", "vzeroupper", "- ; ; 1 ends dispatch ;" },
	{ "48 8d 44 37 08", "lea    0x8(%rdi,%rsi,1),%rax", "alu012345:1 > alu012345:1 ; rdi rsi+1 -> rax:2 ; 2 ;" },
	{ "48 8d 44 35 00", "lea    0x0(%rbp,%rsi,1),%rax", "alu012345:1 > alu012345:1 ; rbp rsi+1 -> rax:2 ; 2 ;" },
	{ "49 8d 44 75 00", "lea    0x0(%r13,%rsi,2),%rax", "alu012345:1 > alu012345:1 ; r13 rsi+1 -> rax:2 ; 2 ;" },
	{ "48 8d 04 77", "lea    (%rdi,%rsi,2),%rax", "alu012345:1 ; rdi rsi -> rax:1 ; 1 ;" },
	{ "48 8d 05 10 00 00 00", "lea    0x10(%rip),%rax", "alu345:1 ; -> rax:1 ; 1 ;" },
	{ "48 d3 e0", "shl    %cl,%rax", "alu345:1 ; rax rcx -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 c1 e0 03", "shl    $0x3,%rax", "alu345:1 ; rax -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "19 c0", "sbb    %eax,%eax", "alu012345:1 ; cf -> rax:1 cf:1 zf:1 ; 1 ;" },
	{ "48 0f af c7", "imul   %rdi,%rax", "alu123:3 ; rax rdi -> rax:3 cf:3 zf:3 ; 1 ; long" },
	{ "b8 01 00 00 00", "mov    $0x1,%eax", "alu012345:1 ; -> rax:1 ; 1 ;" },
	{ "0f b6 c1", "movzbl %cl,%eax", "alu012345:1 ; rcx -> rax:1 ; 1 ;" },
	{ "48 89 c8", "mov    %rcx,%rax", "- ; rcx -> rax:0 ; 1 ; move" },
	{ "48 8b 04 37", "mov    (%rdi,%rsi,1),%rax", "ag0123 ; [rdi,rsi] -> rax:0 ; 1 ; indexed" },
	{ "48 8b 04 77", "mov    (%rdi,%rsi,2),%rax", "ag0123 ; [rdi,rsi] -> rax:0 ; 1 address 1 ; indexed" },
	{ "48 8b 44 37 08", "mov    0x8(%rdi,%rsi,1),%rax", "ag0123 ; [rdi,rsi] -> rax:0 ; 1 address 1 ; indexed" },
	{ "48 8b 04 f5 08 00 00 00", "mov    0x8(,%rsi,8),%rax", "ag0123 ; [rsi] -> rax:0 ; 1 address 1 ; indexed" },
	{ "48 03 04 77", "add    (%rdi,%rsi,2),%rax",
	  "ag0123 alu012345:1 ; [rdi,rsi] rax -> rax:1 cf:1 zf:1 ; 1 address 1 ; indexed" },
	{ "48 89 07", "mov    %rax,(%rdi)", "ag0123 alu012345 ; [rdi] rax ; 1 ; simple" },
	{ "48 01 07", "add    %rax,(%rdi)",
	  "ag0123 alu012345:1 ag0123 none(std) ; [rdi] rax -> cf:1 zf:1 ; 1 stores result ; simple" },
	{ "0f 11 07", "movups %xmm0,(%rdi)", "ag0123 alu012345 ; [rdi] xmm0 ; 1 ; vmem" },
	{ "0f 10 07", "movups (%rdi),%xmm0", "ag02 fs01:1 ; [rdi] -> xmm0:1 ; 1 extra 1 ; vmem" },
	{ "66 0f 3a 22 07 01", "pinsrd $0x1,(%rdi),%xmm0",
	  "ag02 fs01:1 > fp0123:1 ; [rdi] xmm0 -> xmm0:2 ; 1 extra 1 ; vmem vint" },
	{ "66 0f c4 07 01", "pinsrw $0x1,(%rdi),%xmm0",
	  "ag02 fs01:1 > fp0123:1 ; [rdi] xmm0 -> xmm0:2 ; 1 extra 1 ; vmem vint" },
	{ "66 0f 3a 21 07 10", "insertps $0x10,(%rdi),%xmm0",
	  "ag02 fs01:1 > fp0123:1 ; [rdi] xmm0 -> xmm0:2 ; 2 extra 1 ; vmem vint" },
	{ "66 0f 3a 21 c1 10", "insertps $0x10,%xmm1,%xmm0", "fp0123:2 ; xmm0 xmm1 -> xmm0:2 ; 1 queued 1 ; vint" },
};

static void check(const char *core, const struct show_row *rows, unsigned n)
{
	struct code *code = show_core(core);

	show_check(code, rows, n);
	code_free(code);
}

static void integer_forms(void **state)
{
	(void)state;
	check("skylake-sp", integer, sizeof integer / sizeof *integer);
}

static void vector_forms(void **state)
{
	(void)state;
	check("skylake-sp", vector, sizeof vector / sizeof *vector);
}

static void forms_of_zen5(void **state)
{
	(void)state;
	check("zen5", zen5, sizeof zen5 / sizeof *zen5);
}

/* Who moves the stack engine's offset, who reads the register, who overwrites it. */
static void stack_pointer(void **state)
{
	static const struct { const char *hex; enum stack_use use; } row[] = {
		{ "53", STACK_MOVES },  /* push %rbx */
		{ "5b", STACK_MOVES },  /* pop %rbx */
		{ "e8 00 00 00 00", STACK_MOVES },  /* call */
		{ "c3", STACK_MOVES },  /* ret */
		{ "48 83 ec 18", STACK_READS },   /* sub $0x18,%rsp */
		{ "48 39 e1", STACK_READS },      /* cmp %rsp,%rcx */
		{ "48 8b 44 24 08", STACK_READS },  /* mov 0x8(%rsp),%rax */
		{ "48 83 04 24 01", STACK_READS },  /* addq $1,(%rsp) */
		{ "48 8d 64 24 18", STACK_READS },  /* lea 0x18(%rsp),%rsp */
		{ "48 89 e5", STACK_READS },  /* mov %rsp,%rbp */
		{ "48 89 ec", STACK_SETS },  /* mov %rbp,%rsp */
		{ "c9", STACK_SETS },  /* leave */
		{ "48 01 f8", STACK_NONE },  /* add %rdi,%rax */
	};
	struct code *code = show_core("skylake-sp");

	(void)state;
	for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
		uint8_t bytes[SHOW_BYTES];
		unsigned length = show_bytes(row[k].hex, bytes);
		const struct insn *in = code_insn(code, code_add(code, 0x100000, bytes, length));
		assert_int_equal(in->stack, row[k].use);
	}
	code_free(code);
}

/* Sign extensions into RDX leave RAX as it was. */
static void extensions_into_rdx(void **state)
{
	static const char *const row[] = { "66 99", "99", "48 99" }; /* cwd, cdq, cqo */
	struct code *code = show_core("zen5");

	(void)state;
	for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
		uint8_t bytes[SHOW_BYTES];
		unsigned length = show_bytes(row[k], bytes);
		const struct insn *in = code_insn(code, code_add(code, 0x100000, bytes, length));
		assert_int_equal(in->nr_dst, 1);
		assert_int_not_equal(in->dst[0], in->data[0]);
	}
	code_free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integer_forms), cmocka_unit_test(vector_forms),        cmocka_unit_test(forms_of_zen5),
		cmocka_unit_test(stack_pointer), cmocka_unit_test(extensions_into_rdx),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
