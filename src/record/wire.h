/*
 * What the plugin and the reader agree on: the layout of the memory they share and the words that go through it.
 *
 *     struct wire | words of the definitions ring | words of lane 0 | words of lane 1 | ...
 *
 * The definitions ring carries what is said once (blocks, code pages, mappings), a lane what one thread executes.
 * A definition is pushed before the first word of a lane that needs it. Native byte order: both ends are one machine.
 * The program can write here as well: the reader takes nothing for true (source/decode.h, source/intake.h).
 *
 * Words of a lane. Bits 0-1 tell an access from the rest:
 *
 *      63             16 15 14 13     5 4   2 1  0
 *     |     address     | 0   | insn   | size |rw |   access: instruction of the block, log2 of bytes, WIRE_READ |
 *     WIRE_WRITE
 *      63      48 47       8 7       2 1  0
 *     |   count  |  number  |  kind   | 0 |           enum wire_word; what count and number are is said there
 *
 * A block's word is sent when it is entered. Its accesses follow, in the order made. Where fewer instructions were
 * begun than it has (a fault, or an instruction that the emulator restarts), WIRE_CUT says so before the next block.
 */
#ifndef CYCLEWISE_RECORD_WIRE_H
#define CYCLEWISE_RECORD_WIRE_H

#include <stdint.h>

#include "record/answer.h"
#include "record/ring.h"

enum {
	WIRE_VERSION = 4,
	WIRE_LANES = 512,                  /* threads alive at a time that can be followed */
	WIRE_THREADS = 1 << 20,            /* threads in all */
	WIRE_LANE_WORDS = 1 << 15,         /* 256 KiB each, committed on use */
	WIRE_DEFINITION_WORDS = 1 << 18,
	WIRE_BLOCK_INSNS = 512,            /* QEMU's TCG_MAX_INSNS */
	WIRE_PAGE = 4096,
};
#define WIRE_MAGIC UINT64_C(0x31657369776c6379)
#define WIRE_NO_BLOCK UINT32_MAX           /* the number of a block that could not be defined */

enum { WIRE_READ = 1, WIRE_WRITE = 2 };

enum wire_word {
	WIRE_BLOCK,                        /* number: of the block; count: its instructions */
	WIRE_CUT,                          /* count: instructions of the last block that were not begun */
	WIRE_UNMAP,                        /* number: 4 KiB pages whose translations are gone; next word: address of
	                                    * the first */
	WIRE_HANDLER,                      /* next word: address of a signal handler now installed */
	WIRE_ASK,                          /* the last block has run to its end, and the thread waits for its
	                                    * counters (answer.h) */
	NR_WIRE_WORDS,
};

enum wire_definition {
	WIRE_DEFINE_BLOCK,                 /* struct wire_block, lengths[nr_insns], bytes */
	WIRE_DEFINE_PAGE,                  /* address, 4096 bytes */
	WIRE_DEFINE_MAP,                   /* struct wire_map, path without a final zero; no path: anonymous */
	WIRE_DEFINE_UNMAP,                 /* struct wire_map */
	WIRE_DEFINE_MOVE,                  /* struct wire_move */
};

/* Head of every definition; its bytes follow, padded to whole words. */
struct wire_head {
	uint32_t kind;                     /* enum wire_definition */
	uint32_t bytes;                    /* after this head, without the padding */
};

struct wire_block { uint64_t pc; uint32_t number, nr_insns; };
struct wire_map { uint64_t start, end, offset; };
struct wire_move { uint64_t from, from_bytes, to, to_bytes; };

enum wire_lane_state {
	WIRE_LANE_FREE,                    /* set by the reader once it has drained an ended lane */
	WIRE_LANE_OPEN,
	WIRE_LANE_ENDED,                   /* its thread has ended; words may still be there */
};

struct wire_lane {
	struct ring ring;
	_Alignas(64) uint64_t begun;       /* instructions begun by the thread; by the emulated code itself */
	_Atomic uint32_t state;            /* enum wire_lane_state */
	uint32_t thread;                   /* 0, 1, ... in order of creation; set before the lane opens */
	_Alignas(64) struct answer answer;
};

struct wire {
	uint64_t magic;
	uint32_t version;
	int32_t reader;                    /* process id of the reader */
	_Atomic uint32_t stop;             /* by the reader: send no more */
	/* By the plugin: */
	_Atomic uint32_t attached;         /* 1: it was installed */
	_Atomic uint32_t counted;          /* 1: the lanes' `begun` is exact at any time; else once the program has
	                                    * exited */
	_Atomic uint32_t exited;           /* 1: it ended by exit_group or the exit of its last thread */
	_Atomic uint32_t lanes;            /* those ever used are [0, lanes) */
	_Atomic uint32_t threads;          /* ever created */
	_Atomic uint32_t unfollowed;       /* of these: there was no lane for */
	_Atomic uint32_t forks;            /* children, which are not followed */
	_Atomic uint32_t execs;            /* 1: the program is replacing itself, or has */
	_Atomic uint32_t taken;            /* 1: the program puts other memory in place of this: nothing more comes */
	struct ring definitions;
	struct wire_lane lane[WIRE_LANES];
};

static inline uint64_t wire_event(enum wire_word kind, uint64_t number, uint64_t count)
{
	return count << 48 | number << 8 | (uint64_t)kind << 2;
}
static inline enum wire_word wire_kind(uint64_t word) { return (enum wire_word)(word >> 2 & 63); }
static inline uint64_t wire_number(uint64_t word) { return word >> 8 & ((UINT64_C(1) << 40) - 1); }
static inline uint32_t wire_count(uint64_t word) { return (uint32_t)(word >> 48); }
static inline int wire_is_access(uint64_t word) { return (word & 3) != 0; }

/* The constant part of an instruction's accesses; to be joined with address << 16, size << 2 and rw. */
static inline uint64_t wire_access(unsigned insn) { return (uint64_t)insn << 5; }

/* Where the words of the rings start, and how much there is in all. Bytes; multiples of a page. */
static inline size_t wire_definitions_offset(void)
{
	return (sizeof(struct wire) + WIRE_PAGE - 1) / WIRE_PAGE * WIRE_PAGE;
}
static inline size_t wire_lane_offset(unsigned lane)
{
	return wire_definitions_offset() + sizeof(uint64_t) * (WIRE_DEFINITION_WORDS + (size_t)lane * WIRE_LANE_WORDS);
}
static inline size_t wire_bytes(void)
{
	return wire_lane_offset(WIRE_LANES);
}

#endif
