/* LLVM's text of an instruction in the form that objdump -d prints. */
#ifndef CYCLEWISE_ISA_TEXT_H
#define CYCLEWISE_ISA_TEXT_H

#include <stddef.h>

#include "isa/code.h"

/* Rewrites `buf` (of `size` bytes) in place. `form`: LLVM's opcode name. */
void text_as_objdump(enum isa isa, const char *form, const struct insn *insn, char *buf, size_t size);

#endif
