/*
 * Marks for cyclewise in a program's source. One header, no library.
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
 * For GCC and Clang, C and C++, on 64-bit ELF systems; elsewhere the marks are nothing.
 */
#ifndef CYCLEWISE_H
#define CYCLEWISE_H

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

#endif
