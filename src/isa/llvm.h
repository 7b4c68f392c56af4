/*
 * LLVM's MC layer as plain C: bytes -> what LLVM knows of the instruction, and its text.
 *
 * First stage of the room: decoder (here) -> arch (the ISA's peculiarities) -> lower (uops) -> code (the table).
 * Nothing of LLVM's is visible outside llvm.cc; names it returns live as long as the decoder.
 * Ref: LLVM 19, MCDisassembler, MCInstrDesc, MCSubtargetInfo, MCInstrAnalysis.
 */
#ifndef CYCLEWISE_ISA_LLVM_H
#define CYCLEWISE_ISA_LLVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DECODED_OPERANDS = 40, DECODED_RESOURCES = 24 };

enum operand_role {
	OPERAND_REGISTER  = 1 << 0, /* `reg` is one of LLVM's registers; 0 where the slot is empty */
	OPERAND_IMMEDIATE = 1 << 1, /* `imm` */
	OPERAND_DEF       = 1 << 2, /* written; else read */
	OPERAND_IMPLICIT  = 1 << 3, /* not in the encoding's operand list */
	OPERAND_MEMORY    = 1 << 4, /* part of a memory operand */
	OPERAND_TIED      = 1 << 5, /* read from the register that an explicit result is written to */
	OPERAND_PCREL     = 1 << 6,
};

struct operand {
	int64_t imm;
	uint16_t reg;
	uint16_t role;             /* enum operand_role */
	uint16_t reg_class;        /* LLVM's register class + 1; 0: none */
	int16_t latency;           /* OPERAND_DEF: cycles from issue to this result; -1: not said */
	int16_t advance;           /* else: cycles after issue at which it is read (largest ReadAdvance) */
};

struct resource {
	uint16_t resource;         /* LLVM's number; decoder_resource() names it */
	uint16_t cycles;
};

enum decoded_flags {
	DECODED_LOAD        = 1 << 0,
	DECODED_STORE       = 1 << 1,
	DECODED_BRANCH      = 1 << 2,
	DECODED_CONDITIONAL = 1 << 3,
	DECODED_CALL        = 1 << 4,
	DECODED_RETURN      = 1 << 5,
	DECODED_TARGET      = 1 << 6,  /* `target` is valid */
	DECODED_ZERO        = 1 << 7,  /* zero idiom on this CPU */
	DECODED_BREAKS      = 1 << 8,  /* result does not depend on the inputs on this CPU */
	DECODED_COST        = 1 << 9,  /* the scheduling model has a valid class: uops, latencies, resources */
};

struct decoded {
	uint64_t pc, target;
	uint32_t form;             /* LLVM's opcode */
	uint32_t flags;            /* enum decoded_flags */
	uint32_t prefixes;         /* LLVM's own flags of the instance (x86: X86::IPREFIXES) */
	uint8_t length;
	uint8_t nr_operands;       /* explicit first, in LLVM's order, then implicit reads, then implicit writes */
	uint8_t nr_explicit;
	uint8_t nr_defs;           /* explicit results, the first operands */
	uint8_t nr_resources;
	uint16_t uops;
	int16_t latency;           /* the longest of its results */
	struct operand operand[DECODED_OPERANDS];
	struct resource resource[DECODED_RESOURCES];
};

struct decoder;

/* 0 or -errno (-ENOENT: no such target or CPU). Costs 10 to 20 ms and the target's tables. */
int decoder_new(struct decoder **out, const char *triple, const char *cpu, const char *features);
void decoder_free(struct decoder *decoder);

/*
 * False where the bytes are no instruction, or not all of one; out->length then says how many were looked at (at least
 * 1).
 */
bool decoder_decode(struct decoder *decoder, uint64_t pc, const uint8_t *bytes, size_t size, struct decoded *out);
/* LLVM's text of the instruction, AT&T syntax on x86; empty where it is none. Returns its full length, as snprintf. */
int decoder_text(struct decoder *decoder, uint64_t pc, const uint8_t *bytes, size_t size, char *buf, size_t buf_size);

unsigned decoder_nr_forms(const struct decoder *decoder);
unsigned decoder_nr_registers(const struct decoder *decoder);
unsigned decoder_nr_resources(const struct decoder *decoder);
const char *decoder_form(const struct decoder *decoder, unsigned form);
const char *decoder_register(const struct decoder *decoder, unsigned reg);
const char *decoder_resource(const struct decoder *decoder, unsigned resource);
const char *decoder_class(const struct decoder *decoder, unsigned reg_class);

#ifdef __cplusplus
}
#endif
#endif
