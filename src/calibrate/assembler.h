/*
 * LLVM's assembler as plain C: text, or an instruction with other operands, to the bytes this processor runs.
 *
 * First stage of the room: assembler (here) -> kernel (code that can be called) -> sampler (cycles) -> the experiments.
 * It knows the features of the processor it runs on, and refuses what that has not. x86-64 alone.
 * Ref: LLVM 19, MCAsmParser, MCObjectStreamer, MCCodeEmitter.
 */
#ifndef CYCLEWISE_CALIBRATE_ASSEMBLER_H
#define CYCLEWISE_CALIBRATE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assembler;

/* 0 or -errno (-ENOTSUP: this is no x86-64). */
int assembler_new(struct assembler **out);
void assembler_free(struct assembler *as);

/*
 * Assembles `text`, AT&T syntax, labels and .byte, .p2align and their like, to code without references outside itself.
 * *length gets its bytes. 0 or -errno: -EINVAL with LLVM's first complaint, -ENOSPC where `size` is too small.
 */
int assembler_text(struct assembler *as, const char *text, uint8_t *bytes, size_t size, size_t *length);

/* An explicit operand of an instruction, by its place in struct decoded, and what it is to be. */
struct operand_change {
	uint16_t operand;
	bool immediate;            /* `imm`, else `reg` */
	uint16_t reg;              /* LLVM's number; 0: none */
	int64_t imm;
};

enum { ASSEMBLER_LONGEST = 15 };

/* The instruction at `bytes` with these changes. Its length, or -EINVAL where either is no instruction. */
int assembler_change(struct assembler *as, const uint8_t *bytes, size_t size, const struct operand_change *changes,
                     unsigned nr_changes, uint8_t out[ASSEMBLER_LONGEST]);

#ifdef __cplusplus
}
#endif
#endif
