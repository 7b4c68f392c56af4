/*
 * The reader's side of the definitions ring: blocks, as steps ready to be copied; code pages; mappings.
 *
 * Definitions are taken from the ring as they come, but applied only up to the one that a thread's words ask for:
 * what is known at a place of the stream then depends on the stream alone, not on how far the program has run ahead.
 */
#ifndef CYCLEWISE_SOURCE_BLOCKS_H
#define CYCLEWISE_SOURCE_BLOCKS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/code.h"
#include "record/ring.h"
#include "record/step.h"
#include "source/maps.h"

/* How the accesses of an instruction become steps. */
enum form {
	FORM_PLAIN,                /* what is contiguous in one direction is one access */
	FORM_ATOMIC,               /* a read and a write of the same place are one access */
	FORM_SEPARATE,             /* gathers and scatters: each element stays */
	FORM_READS_4, FORM_READS_8, FORM_READS_16, /* the emulator reads more than the instruction does: so many
	                                            * bytes are its own */
	FORM_REP,                  /* rep string with one access an iteration */
	FORM_REP_COPY,             /* a read and a write an iteration */
	FORM_REP_COMPARE,          /* two reads an iteration */
	FORM_UNSEEN,               /* in the code table by the wrong path alone: never defined by the plugin */
};

struct block {
	uint64_t pc, end;          /* of its bytes */
	uint64_t through, target;  /* where its last instruction leads, if that is a jump not taken or none, or a
	                            * direct one; else BLOCK_NOWHERE */
	uint32_t step;             /* its first in blocks->step */
	uint16_t nr_insns;         /* 0: there is no room for them */
	bool special;              /* an instruction in it is not FORM_PLAIN */
};

#define BLOCK_NOWHERE (UINT64_MAX - 1)     /* nothing is asked whether it leads here */

/* Told of every static instruction when it is first seen; may set INSN_MARK in code->insn[insn].flags. */
struct blocks_hooks {
	void (*seen)(void *ctx, uint32_t insn, uint32_t module, uint64_t offset);
	void *ctx;
};

struct blocks {
	struct code *code;
	struct maps *maps;
	struct blocks_hooks hooks;
	uint16_t flags;            /* every step starts with: STEP_COUNTED where all is counted, else 0 */
	struct ring_reader ring;
	GArray *word;              /* uint64_t: taken from the ring, not applied yet from `applied` on */
	size_t applied;
	GArray *block;             /* struct block, by number */
	GArray *step;              /* struct step: those of all blocks */
	GByteArray *form;          /* enum form, by static instruction */
	uint64_t bad;              /* definitions that made no sense */
	uint64_t untold;           /* blocks without instructions: there was no room for those */
};

void blocks_init(struct blocks *b, struct code *code, struct maps *maps, const struct ring_reader *ring,
                 struct blocks_hooks hooks);
void blocks_fini(struct blocks *b);

/* Takes what is in the ring, so that the program never waits for room there. */
void blocks_pull(struct blocks *b);
/* Applies definitions up to that of block `number`; NULL where it does not come. Valid until the next call. */
const struct block *blocks_need(struct blocks *b, uint64_t number);
/* Applies what is left. */
void blocks_apply_all(struct blocks *b);

static inline const struct block *blocks_get(struct blocks *b, uint64_t number)
{
	if (number < b->block->len) {
		const struct block *block = &g_array_index(b->block, struct block, number);
		if (block->nr_insns)
			return block;
	}
	return blocks_need(b, number);
}

static inline const struct step *blocks_steps(const struct blocks *b, const struct block *block)
{
	return &g_array_index(b->step, struct step, block->step);
}

static inline enum form blocks_form(const struct blocks *b, uint32_t insn)
{
	return (enum form)b->form->data[insn];
}

/* How an instruction's accesses become steps; forms.c. */
enum form form_of(enum isa isa, uint32_t flags, const uint8_t *bytes, size_t size);
/* Bytes that an instruction of such a form reads; 0: all that the emulator does. */
static inline unsigned form_reads(enum form form)
{
	return form >= FORM_READS_4 && form <= FORM_READS_16 ? 4u << (form - FORM_READS_4) : 0;
}

/* x86: bytes of each access of a string instruction. */
unsigned form_element(const uint8_t *bytes, size_t size);
/* x86: whether an instruction writes several places that do not join. */
bool form_scatters(const uint8_t *bytes, size_t size);
/* Whether an instruction that has not branched can only have raised an exception (undefined, breakpoint). */
bool form_raises(enum isa isa, uint32_t flags, const uint8_t *bytes, size_t size);

#endif
