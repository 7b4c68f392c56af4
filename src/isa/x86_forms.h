/*
 * What the name of an x86 form says of it: LLVM's opcode names are the only stable key to its 20,000 forms.
 */
#ifndef CYCLEWISE_ISA_X86_FORMS_H
#define CYCLEWISE_ISA_X86_FORMS_H

#include <stdint.h>

enum x86_trait {
	READS_CF = 1ull << 0,      /* of the flags only CF */
	READS_REST = 1ull << 1,    /* a partial write of the rest, or a count that may be zero */
	KEEPS_CF = 1ull << 2,      /* writes the rest only */
	KEEPS_REST = 1ull << 3,    /* writes CF only */
	CONDITION = 1ull << 4,     /* the last operand is a condition code */
	STACK = 1ull << 5,         /* RSP is address and is written back by the stack engine */
	STRING = 1ull << 6,
	LOADS = 1ull << 7,         /* an access LLVM does not mention */
	STORES = 1ull << 8,
	NO_ACCESS = 1ull << 9,     /* what LLVM says of accesses is not so */
	IS_NOP = 1ull << 10,
	PREFETCHES = 1ull << 11,
	EXTENDS = 1ull << 12,      /* a load that takes the long way: extension, or a register of 8 or 16 bits */
	FP = 1ull << 13,
	VINT = 1ull << 14,
	LONG = 1ull << 15,
	MOVES = 1ull << 16,        /* a register copy that rename can eliminate */
	ZERO_SAME = 1ull << 17,    /* of a register with itself: zero, at rename (LLVM leaves out the other
	                            * encodings) */
	ONES_SAME = 1ull << 18,    /* of a register with itself: executes, but needs no input */
	LEA = 1ull << 19,
	FUSES_TEST = 1ull << 20,   /* may make one uop with a conditional jump; the three kinds differ in which */
	FUSES_CMP = 1ull << 21,
	FUSES_INC = 1ull << 22,
	FENCES_LOADS = 1ull << 23,
	FENCES_STORES = 1ull << 24,
	FENCES = 1ull << 25,
	ATOMIC = 1ull << 26,       /* locked without a prefix */
	SERIALIZES = 1ull << 27,
	SYSCALLS = 1ull << 28,
	KEEPS_FUSED = 1ull << 29,  /* stays micro-fused with an index register although it writes a new register */
	PARTS = 1ull << 30,        /* parts with an index register although it writes a register it reads */
	MASKED = 1ull << 31,       /* may make no access */
	X87 = 1ull << 32,
	X87_LOAD = 1ull << 33,     /* pushes */
	X87_STORE = 1ull << 34,    /* top of stack to the register named, or to memory */
	X87_POP = 1ull << 35,      /* the register operand's name is one lower afterwards */
	X87_COMPARE = 1ull << 36,  /* writes condition codes of the status word or flags only */
	X87_STATUS = 1ull << 37,   /* reads the status word */
	X87_EXCHANGE = 1ull << 40, /* both registers change */
	FRAME = 1ull << 38,        /* LEAVE: RBP is the address, and RSP is set from it */
	COUNTS = 1ull << 41,       /* RCX, which LLVM does not mention */
	LENGTH_PREFIX = 1ull << 42, /* the length that the opcode tells is another with a prefix that it has */
	NO_RESULT = 1ull << 39,    /* what LLVM lists as written is not renamed */
	FUSES_LOGIC = 1ull << 45,  /* as FUSES_TEST, on AMD's cores alone */
	FUSES_ARITHMETIC = 1ull << 46, /* of FUSES_TEST and FUSES_CMP: besides the flags it has a result */
	KEEPS_RAX = 1ull << 47,    /* which LLVM lists as written */
};

uint64_t x86_traits(const char *form);

#endif
