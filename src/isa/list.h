/* The ISAs: enum isa, and the name of the object in the ISA's file (arch.h). */
#ifndef CYCLEWISE_ISA_LIST_H
#define CYCLEWISE_ISA_LIST_H

#define ISAS(X) \
	X(ISA_X86_64, x86) \
	X(ISA_AARCH64, aarch64) \
	X(ISA_RISCV64, riscv)

#endif
