/*
 * What is peculiar to one ISA: its registers, and what LLVM leaves out or says in a way of its own.
 *
 * Second stage of the room. LLVM's operands are a flat list; the ISA's file turns them into addresses, data
 * and results (insn.h), and adds the facts LLVM does not know: flag groups, stack pointers, fences, fusion.
 * One const object a file, named in list.h.
 */
#ifndef CYCLEWISE_ISA_ARCH_H
#define CYCLEWISE_ISA_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/code.h"
#include "isa/costs.h"
#include "isa/insn.h"
#include "isa/llvm.h"

/* A register of LLVM's as the renamer sees it. */
struct reg {
	uint8_t nr;                /* renamer numbers it stands for; 0: not renamed */
	uint8_t number[4];
	uint16_t bits;             /* width */
	bool merges;               /* writing it keeps other bits of the renamer's register */
	bool high;                 /* bits 8 to 15 */
	bool special;              /* for the ISA's own eyes: not an ordinary operand (flags) */
};

/* An instruction on its way from decoded to insn. */
struct shape {
	const struct decoded *d;
	const struct reg *regs;    /* [LLVM's register] */
	uint64_t traits;           /* of the form: what arch->traits() said */
	const struct decoder *decoder; /* for names */
	struct insn *insn;         /* to be filled: registers, flags, branch, target */
	int16_t result[INSN_DSTS]; /* latency LLVM gives for insn->dst[i], load included; -1: not said */
	uint16_t reads[INSN_DATAS];/* which of the registers read, in LLVM's order, insn->data[i] stands for: bit n,
	                            * the n-th */
	unsigned nr_reads;
	int16_t load_advance;      /* the largest ReadAdvance of a data operand: LLVM's latency of the load part */
	uint16_t bits;             /* of the widest register operand */
	bool vector;               /* it has a vector register operand */
	bool high;                 /* it has a register operand of bits 8 to 15 */
	bool unlaminates;          /* with an index register its micro-fused uops part at rename */
	bool splits;               /* its uops are never micro-fused */
	bool long_address;         /* of its memory operand: a scaled index, or base, index and displacement */
	bool overflow;             /* more operands than insn.h has room for */
	uint8_t fuse;              /* for arch->fuses(): what it is as one of a pair; 0: neither */
};

struct arch {
	enum isa isa;
	const char *triple;
	const char *features;      /* always on, so that what a program runs can be decoded; "" for none */
	uint8_t max_length;        /* bytes */
	uint8_t sequencer_uops;    /* an instruction of more decoded uops is microcoded, of more than one complex; 0:
	                            * no such decoders */
	struct reg (*reg)(const char *name);
	uint64_t (*traits)(const char *form);
	/* A form that costs differently by its operands: the suffix cost files know it by, or NULL. */
	const char *(*variant)(const struct decoded *d, const struct decoder *decoder, uint64_t traits);
	void (*shape)(struct shape *s);
	/*
	 * A prefix that LLVM takes for an instruction of its own: a bit for decoded.prefixes, or 0. NULL: there are
	 * none.
	 */
	uint32_t (*prefix)(const char *form);
	/*
	 * Whether two make one uop where the core fuses such pairs, by their shape.fuse; `b`, the second, is right
	 * behind. NULL: never.
	 */
	bool (*fuses)(const struct cost_core *core, uint8_t first, uint8_t second, const struct insn *b);
	/* Length of an undecodable instruction of which `size` bytes are given. */
	unsigned (*bad_length)(const uint8_t *bytes, size_t size);
};

extern const struct arch *const arch_list[NR_ISAS]; /* indexed by enum isa */

/* Helpers for arch->shape(). Numbers that are there already are not added twice. */
void shape_address(struct shape *s, unsigned reg);
void shape_data(struct shape *s, unsigned reg, int16_t late);
void shape_result(struct shape *s, unsigned reg, int16_t latency);
void shape_writeback(struct shape *s, unsigned reg, unsigned cycles);
/* The whole of an operand as one of these, by its role; ignores immediates, empty slots and special registers. */
void shape_operand(struct shape *s, const struct operand *o);

/* A row of an ISA's table of traits: a glob on LLVM's opcode names. */
struct trait {
	const char *glob;
	uint64_t traits;
};
uint64_t traits_of(const struct trait *table, unsigned n, const char *form);

#endif
