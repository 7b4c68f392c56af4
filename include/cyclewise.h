/*
 * Marks for cyclewise in a program's source, and the program's own counters. One header, no library.
 *
 *     CYCLEWISE_BEGIN("parse");
 *     ...
 *     CYCLEWISE_END("parse");
 *
 * Each is one no-op instruction, which costs nothing worth mentioning anywhere, and a note in the file (in the format
 * of SystemTap's static probes: provider "cyclewise", probes "begin" and "end", the region's name as arguments) that
 * says where it is. `cyclewise` then reports the region between them, per thread.
 *
 * The name is a string literal without " \ and %. A region may be entered in one function and left in another; marks
 * that the compiler copies (inlining, unrolling) all count. Memory accesses are not moved across a mark.
 *
 *     struct cyclewise_counters before, after;
 *     cyclewise_read(&before);
 *     ...
 *     cyclewise_read(&after);
 *     printf("%llu cycles\n", (unsigned long long)(after.cycles - before.cycles));
 *
 * gives the calling thread's counters as the model has them at that instruction, a few instructions that cost what they
 * cost. All zeros come where nobody counts for the program: without cyclewise, in a child process, under a command that
 * times several cores at once (sensitivity, causality), and after the end of what is to be counted (--count,
 * --stop-at).
 *
 * For GCC and Clang, C and C++, on 64-bit ELF systems; elsewhere the marks are nothing, and the counters are zeros.
 */
#ifndef CYCLEWISE_H
#define CYCLEWISE_H

#include <stdint.h>

/*
 * Of what is counted of the thread (the region of interest, else everything), up to one instruction: that of
 * cyclewise_read() which fills them.
 */
struct cyclewise_counters {
	uint64_t cycles;        /* of its core, to the end of the one that the instruction commits in */
	uint64_t instructions;  /* that have committed, this one included */
	uint64_t slots_total;   /* issue slots to its dispatch: width times cycles */
	uint64_t slots_filled;  /* of these, with something to issue: the others wait for the front end */
	uint64_t slots_issued;  /* of these, issued: the others wait for the back end */
	uint64_t slots_retired; /* of these, of what commits: the others are of wrong paths */
};

#define CYCLEWISE_BEGIN(name) CYCLEWISE_MARK("begin", name)
#define CYCLEWISE_END(name) CYCLEWISE_MARK("end", name)

#if defined(__ELF__) && defined(__LP64__) && defined(__GNUC__)

/* Ref: SystemTap wiki, "User Space Probe Implementation": the note and the section that its base address lies in. */
#define CYCLEWISE_MARK(which, name) \
	__asm__ __volatile__( \
		"990:	nop\n" \
		"	.pushsection .note.stapsdt,\"?\",\"note\"\n" \
		"	.balign 4\n" \
		"	.4byte 992f-991f, 994f-993f, 3\n" \
		"991:	.asciz \"stapsdt\"\n" \
		"992:	.balign 4\n" \
		"993:	.8byte 990b\n" \
		"	.8byte _.stapsdt.base\n" \
		"	.8byte 0\n" \
		"	.asciz \"cyclewise\"\n" \
		"	.asciz \"" which "\"\n" \
		"	.asciz \"" name "\"\n" \
		"994:	.balign 4\n" \
		"	.popsection\n" \
		"	.ifndef _.stapsdt.base\n" \
		"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		"	.weak _.stapsdt.base\n" \
		"	.hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		"	.size _.stapsdt.base, 1\n" \
		"	.popsection\n" \
		"	.endif\n" \
		::: "memory")

#else
#define CYCLEWISE_MARK(which, name) ((void)0)
#endif

/*
 * What cyclewise knows a reading by: a store of zero to where the counters are to go, and behind it a no-op that no
 * compiler makes. The same instructions in assembly will do in other languages.
 */
#if defined(__ELF__) && defined(__LP64__) && defined(__x86_64__)
#define CYCLEWISE_READ(to) \
	__asm__ __volatile__( /* movq $0,(%rdi); nopl 0x64727763(%rax,%rax), whatever the dialect */ \
		"	.byte 0x48, 0xc7, 0x07, 0, 0, 0, 0, 0x0f, 0x1f, 0x84, 0x00, 0x63, 0x77, 0x72, 0x64\n" \
		:: "D"(to) : "memory")
#elif defined(__ELF__) && defined(__LP64__) && defined(__aarch64__)
#define CYCLEWISE_READ(to) \
	__asm__ __volatile__( \
		"	str xzr, [%0]\n" \
		"	movz xzr, #0x6377\n" \
		:: "r"(to) : "memory")
#elif defined(__ELF__) && defined(__LP64__) && defined(__riscv)
#define CYCLEWISE_READ(to) \
	__asm__ __volatile__( \
		"	.option push\n" \
		"	.option norvc\n" \
		"	sd zero, 0(%0)\n" \
		"	slti zero, zero, 0x637\n" \
		"	.option pop\n" \
		:: "r"(to) : "memory")
#else
#define CYCLEWISE_READ(to) ((void)(to))
#endif

static inline void cyclewise_read(struct cyclewise_counters *to)
{
	const struct cyclewise_counters zeros = { 0, 0, 0, 0, 0, 0 };

	*to = zeros;
	CYCLEWISE_READ(to);
}

#endif
