/*
 * The first record of the waist: what the program did. Source -> core.
 *
 * A stream of steps belongs to one guest thread and is in program order. Static facts are not in it:
 * they stand once in the table of static instructions (isa/code.h), which `insn` indexes.
 *
 * An instruction is one STEP_INSN, directly followed by the further records that belong to it:
 * STEP_ACCESS for each access beyond the first (reads before writes, each in the order made; what lies
 * contiguously in one direction is merged), STEP_REPEAT with the iterations of a `rep` string.
 */
#ifndef CYCLEWISE_RECORD_STEP_H
#define CYCLEWISE_RECORD_STEP_H

#include <stdbool.h>
#include <stdint.h>

enum step_kind {
	STEP_INSN,             /* one executed instruction */
	STEP_ACCESS,           /* a further access of the instruction before */
	STEP_REPEAT,           /* addr: iterations of the `rep` string before (may be 0) */
	STEP_UNMAP,            /* addr: first byte of a range whose translations are gone; insn: its 4 KiB pages */
	STEP_LOST,             /* addr: how many records were lost here */
};

enum step_flags {
	STEP_KIND   = 0x0007,
	STEP_TAKEN  = 0x0008,  /* INSN: a branch that was taken */
	STEP_LOAD   = 0x0010,  /* INSN, ACCESS: `addr` was read */
	STEP_STORE  = 0x0020,  /* INSN, ACCESS: `addr` was written (both for an atomic read-modify-write) */
	STEP_FAULT  = 0x0040,  /* INSN: raised an exception and did not complete; a signal follows */
	STEP_COUNTED = 0x0080, /* INSN: inside the region of interest */
	STEP_ENTER  = 0x0100,  /* INSN: the first of a signal handler or of a thread: nothing before it led here */
	STEP_MARK   = 0x0200,  /* INSN: begins or ends a marked region (the region table says which) */
};

struct step {
	uint64_t addr;         /* virtual address of the access; 0 where there is none */
	uint32_t insn;         /* index of the static instruction */
	uint16_t bytes;        /* bytes accessed, 0 for none; over 65535: further records */
	uint16_t flags;        /* enum step_kind | enum step_flags */
};

/* How many records beyond those it is to time a core wants to see (what a squash runs again, where a branch went). */
enum { STEP_AHEAD = 2048 };

_Static_assert(sizeof(struct step) == 16, "a step is 16 bytes");

static inline enum step_kind step_kind(const struct step *s)
{
	return (enum step_kind)(s->flags & STEP_KIND);
}

/* Whether it is of the instruction before it. */
static inline bool step_belongs(const struct step *s)
{
	return step_kind(s) == STEP_ACCESS || step_kind(s) == STEP_REPEAT;
}

#endif
