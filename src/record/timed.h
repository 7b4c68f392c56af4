/*
 * The second record of the waist: when it took each step. Core -> methods.
 *
 * One record is one attempt to execute one instruction, and holds all that any accounting method may
 * ask of it: every method is a function of the stream of these and of the core's description.
 *
 * Rules of the stream (one stream a guest thread):
 *  - records stand in fetch order; wrong-path and squashed attempts stand after what squashed them;
 *  - fetch, fetch + avail and fetch + dispatch never decrease along it;
 *  - fetch + leave never decreases among the committed (neither TIMED_WRONG nor TIMED_SQUASHED);
 *  - an instruction commits with its last uop;
 *  - the second of a macro-fused pair is a record with 0 slots and TIMED_FUSED, and commits with the first;
 *  - a copy that is one uop with the arithmetic behind it is a record with 0 slots and no uops in front of that, and
 *  commits by itself; - what has over 255 uops (rep strings, microcode) continues in further records with
 *  TIMED_CONTINUED, right behind
 *    it; its flags stand on the first record, its events on any, and it commits with the last;
 *  - at most rename.width slots dispatch in a cycle, and at most 64 instructions commit in one;
 *  - who squashes from the ROB's head or by memory order is an attempt too (TIMED_SQUASHED and TIMED_FLUSHER, its
 *    event in its psv); where it is fetched again, the attempt that commits has the event as well;
 *  - cycle 0 is the first fetch. A stage that an attempt never reached is TIMED_NEVER.
 */
#ifndef CYCLEWISE_RECORD_TIMED_H
#define CYCLEWISE_RECORD_TIMED_H

#include <stdint.h>

#define TIMED_NEVER UINT32_MAX

/* The nine events, one bit each of a performance signature vector. Ref: TEA §3, table 1. */
enum psv {
	PSV_DR_L1  = 1 << 0,   /* the fetch packet it stands first in missed the L1 instruction cache */
	PSV_DR_TLB = 1 << 1,   /* the same for the L1 instruction TLB */
	PSV_DR_SQ  = 1 << 2,   /* a store that was the oldest not yet dispatched while the store queue was full */
	PSV_FL_MB  = 1 << 3,   /* a mispredicted branch */
	PSV_FL_EX  = 1 << 4,   /* trapped, serialised or always flushes */
	PSV_FL_MO  = 1 << 5,   /* a load that ran before an older store to its address */
	PSV_ST_L1  = 1 << 6,   /* missed the L1 data cache */
	PSV_ST_TLB = 1 << 7,   /* missed the L1 data TLB */
	PSV_ST_LLC = 1 << 8,   /* a load that missed the last-level cache */
	NR_PSV = 9,
};

enum timed_flags {
	TIMED_WRONG       = 0x0001, /* fetched on the wrong path: never commits */
	TIMED_SQUASHED    = 0x0002, /* on the right path, squashed (memory order, exception): fetched again later */
	TIMED_TAKEN       = 0x0004, /* a branch that was taken (wrong path: predicted so) */
	TIMED_MISPREDICT  = 0x0008, /* a branch whose direction or target was predicted wrongly and found out at
	                             * execution */
	TIMED_FLUSHER     = 0x0010, /* what follows was fetched anew on its account */
	TIMED_PACKET_FIRST = 0x0020,/* first of its fetch packet */
	TIMED_FUSED       = 0x0040, /* second of a macro-fused pair */
	TIMED_CONTINUED   = 0x0080, /* a further record of the instruction before: not an execution of its own */
	TIMED_COUNTED     = 0x0100, /* inside the region of interest */
	TIMED_MARK        = 0x0200, /* begins or ends a marked region */
	TIMED_LOAD        = 0x0400,
	TIMED_STORE       = 0x0800,
	TIMED_BRANCH      = 0x1000, /* any control transfer */
	TIMED_LONG        = 0x2000, /* issued to a long-latency unit (multiply, divide, floating point) */
	TIMED_ENTER       = 0x4000, /* first of a signal handler or thread */
	TIMED_DECODED     = 0x8000, /* came from the decoders, on a core that has a uop cache */
};

/* What dispatch waited for (low 4 bits of `why`): the last constraint to lift. */
enum dispatch_wait {
	WAIT_NONE,             /* dispatched as soon as the front end offered it */
	WAIT_WIDTH,            /* rename width of older instructions in the same cycle */
	WAIT_ROB, WAIT_SCHEDULER, WAIT_LOAD_QUEUE, WAIT_STORE_QUEUE, WAIT_REGISTERS,
	WAIT_BRANCHES,         /* branch tags or checkpoints */
	WAIT_SERIAL,           /* a serialising instruction, or its own serialising */
};

/* What issue waited for (high 4 bits of `why`). */
enum issue_wait {
	WAIT_ISSUE_NONE,       /* issued as soon as it had passed dispatch */
	WAIT_OPERAND, WAIT_PORT, WAIT_UNIT, /* a result; a port; an unpipelined unit */
	WAIT_MEMORY_ORDER,     /* an older store: address or data not there yet */
	WAIT_MSHR,             /* a line-fill buffer */
	WAIT_FENCE,
};

/* Where a line came from. */
enum level { LEVEL_NONE, LEVEL_L1, LEVEL_FORWARD, LEVEL_FILL_BUFFER, LEVEL_L2, LEVEL_LLC, LEVEL_MEMORY };

/*
 * What it waited for that was on its way already, asked for by another: an event in its psv, but no miss that a counter
 * in the cache or TLB would see. (Of a data line LEVEL_FILL_BUFFER says so.)
 */
enum merged { MERGED_CODE = 1 << 5, MERGED_ITLB = 1 << 6, MERGED_DTLB = 1 << 7 };

struct timed {
	uint64_t fetch;        /* absolute cycle of its fetch */
	uint64_t addr;         /* data address, 0 for none */
	uint32_t insn;         /* index of the static instruction */
	uint32_t avail;        /* cycles after fetch, this and the next six: the front end offered it to rename */
	uint32_t dispatch;     /* its first slot entered the ROB; the others follow in order */
	uint32_t ready;        /* all operands of its last-ready uop there */
	uint32_t issue;        /* first uop issued */
	uint32_t complete;     /* last uop complete */
	uint32_t leave;        /* committed; or squashed, where TIMED_WRONG or TIMED_SQUASHED */
	uint32_t drain;        /* store: its queue entry freed; load: its data returned; else equal to leave */
	uint16_t psv;          /* enum psv */
	uint16_t flags;        /* enum timed_flags */
	uint16_t icache_stall; /* cycles in which nothing was delivered on account of the instruction cache;
	                        * saturates */
	uint16_t itlb_stall;   /* the same for the instruction TLB: these come first, from fetch on */
	uint16_t dispatch_by;  /* records back to the one that made dispatch wait; 0: none, or too far */
	uint16_t issue_by;     /* the same for issue */
	uint8_t slots;         /* fused-domain uops = rename slots = ROB entries; 0: those of the first, or next, of
	                        * its pair */
	uint8_t uops;          /* unfused uops */
	uint8_t why;           /* enum dispatch_wait | enum issue_wait << 4 */
	uint8_t level;         /* enum level of the data | enum ilevel of the instruction << 3 | enum merged */
};

_Static_assert(sizeof(struct timed) == 64, "a timed record is one cache line");

/* Levels an instruction line can come from, in the two bits of timed.level. */
enum ilevel { ILEVEL_L1, ILEVEL_L2, ILEVEL_LLC, ILEVEL_MEMORY };

static inline uint8_t timed_level(enum level data, enum ilevel code, unsigned merged)
{
	return (uint8_t)((unsigned)data | (unsigned)code << 3 | merged);
}
static inline enum level timed_data_level(const struct timed *t) { return (enum level)(t->level & 7); }
static inline enum ilevel timed_code_level(const struct timed *t) { return (enum ilevel)(t->level >> 3 & 3); }
static inline enum dispatch_wait timed_dispatch_wait(const struct timed *t)
{
	return (enum dispatch_wait)(t->why & 15);
}
static inline enum issue_wait timed_issue_wait(const struct timed *t) { return (enum issue_wait)(t->why >> 4); }
static inline uint64_t timed_leave(const struct timed *t) { return t->fetch + t->leave; }
static inline uint64_t timed_dispatch(const struct timed *t) { return t->fetch + t->dispatch; }
static inline int timed_commits(const struct timed *t) { return !(t->flags & (TIMED_WRONG | TIMED_SQUASHED)); }

#endif
