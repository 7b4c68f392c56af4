/*
 * A plugin by hand: definitions and words of a lane are written by the test and decoded to steps.
 */
#ifndef CYCLEWISE_TESTS_WIRE_FIXTURE_H
#define CYCLEWISE_TESTS_WIRE_FIXTURE_H

#include "isa/code.h"
#include "record/wire.h"
#include "source/blocks.h"
#include "source/decode.h"

struct wire_fixture {
	struct code *code;
	struct maps *maps;
	GHashTable *handlers;
	struct ring definitions_ring, lane_ring;
	uint64_t *definitions_words, *lane_words;
	struct ring_writer definitions, lane;
	struct ring_reader reader;
	struct blocks blocks;
	struct decoder decoder;
	uint32_t nr_blocks;
	uint64_t begun;            /* what the plugin would have counted */
};

/* An x86-64 instruction: its bytes and how many. */
struct bytes {
	uint8_t size, byte[15];
};

void wire_fixture_init(struct wire_fixture *f);
void wire_fixture_fini(struct wire_fixture *f);

/* Defines the block of these instructions at `pc`; returns its number. */
uint32_t wire_define(struct wire_fixture *f, uint64_t pc, const struct bytes *insn, unsigned nr);
/* The block is entered and all of it begun. */
void wire_enter(struct wire_fixture *f, uint32_t number);
/* Of the block entered last, `missing` instructions were not begun. */
void wire_cut(struct wire_fixture *f, unsigned missing);
/* Instruction `insn` accesses `bytes` (a power of two) at `addr`. */
void wire_touch(struct wire_fixture *f, unsigned insn, unsigned rw, uint64_t addr, unsigned bytes);
void wire_word(struct wire_fixture *f, uint64_t word);
/* Decodes all that was written. */
void wire_decode(struct wire_fixture *f);
/* The same, and the thread ends. */
void wire_end(struct wire_fixture *f, bool fault);

#endif
