/*
 * The detailed out-of-order core: its state, and the parts of one attempt to execute one instruction.
 *
 * Instruction-driven: instructions are taken in program order and each gets the earliest cycle at which it can
 * pass each stage, the maximum over its constraints. Nothing ticks. The stages are in files of their own:
 * frontend.c -> rename.h -> execute.h and .c (with lsq.c, core/cache/memory.c) -> commit.h; wrongpath.c walks what is
 * fetched and squashed, repeat.c unrolls rep strings.
 */
#ifndef CYCLEWISE_CORE_OOO_OOO_H
#define CYCLEWISE_CORE_OOO_OOO_H

#include <assert.h>

#include "core/cache/memory.h"
#include "core/core.h"
#include "core/cycle.h"
#include "core/ooo/frontend.h"
#include "core/ooo/lsq.h"
#include "core/ooo/ports.h"
#include "core/ooo/release.h"
#include "core/ooo/nsq.h"
#include "core/order/bind.h"
#include "core/order/foresee.h"
#include "core/order/memory_renaming.h"
#include "core/order/stack.h"
#include "core/predict/branch.h"

enum {
	ROB_RING = 8192,               /* slots; more than any reorder buffer and the uops of an instruction */
	OUT_RECORDS = 1600,            /* timed records to the sink: few, so that they are still near when it copies
	                                * them */
	OUT_ROOM = 1200,               /* more than one instruction can append: two walks of WRONG_MAX and itself */
	MAX_ACCESS = 64,               /* accesses of one instruction that are timed one by one */
	NO_SCHEDULER = 0xff,
	MOVE_RELEASE = 2,              /* cycles from the overwriting of an eliminated move until its slot is free */
	NR_ARCHITECTURAL = 32,         /* physical registers of each bank that hold architectural state */
};

enum { BANK_INTEGER, BANK_VECTOR, NR_BANKS };

enum reg_flag {
	REG_LOADED = 1,                /* comes straight from a load */
	REG_DOMAIN_INT = 2,            /* integer vector domain */
	REG_ELIMINATED = 4,            /* holds a move slot */
	REG_BYPASS_SHIFT = 6,          /* from this bit on: insn.bypass of what wrote it */
};

/* Who took an entry of a structure that is freed in order. */
struct holder {
	uint64_t leave;                /* cycle of its commit, which frees the entry */
	uint64_t record;               /* number of its timed record */
};

struct ooo {
	const struct core_desc *desc;
	struct code *code;
	struct timed_sink sink;
	struct memory *memory;
	struct foresight *foresight;   /* foresee() alone uses it, which may run in another thread */
	struct foreseen own;           /* where that is not done apart */
	const struct forecast *forecast; /* the next */
	const struct wrong_run *run;   /* the first that is not used up */
	const struct wrong_access *access; /* the same */
	bool full;                     /* the wrong path is executed, too */
	struct frontend front;
	struct ports ports;
	struct line_traffic passing;        /* of the attempt in hand */
	struct release held;
	struct nsq nsq;
	struct lsq lsq;
	struct memory_renaming renaming;
	uint64_t renamed_value[RENAMED_STORES]; /* [number % RENAMED_STORES]: cycle in which its register has it */
	uint64_t stack_by;             /* record + 1 that last set the stack pointer otherwise than by push and pop */

	/* rename and dispatch */
	uint64_t rename_cycle;         /* of the youngest dispatched slot */
	uint32_t rename_used;          /* slots dispatched in it */
	uint64_t ring_mask;            /* of the rings below: beyond the entries in force and one instruction's uops */
	uint64_t nr_slots;             /* ROB entries taken so far */
	struct holder rob[ROB_RING];   /* [slot & mask] */
	uint64_t nr_regs[NR_BANKS];    /* physical registers taken so far */
	struct holder reg[NR_BANKS][ROB_RING]; /* [n & mask]: of the instruction that took the n-th */
	int32_t reg_usable[NR_BANKS];  /* beyond the architectural ones */
	uint64_t serial_until;         /* nothing dispatches before */
	uint64_t serial_record;
	struct binder binder;          /* load_queue.data_ports, too */
	uint16_t again_rest;           /* dtlb.again: of the ports, those behind the one last issued on again */
	uint64_t load_floor[2];        /* see load_floor() */
	uint16_t counted;              /* ports whose uops are counted, for it */
	uint16_t data_ports;           /* those that bring in what is loaded */
	unsigned nr_queued;            /* uops of the attempt in hand that go through the queue in front of
	                                * schedulers */
	uint32_t nr_memory;            /* loads and stores dispatched in ... */
	uint64_t memory_cycle;
	uint16_t port[256];            /* of the attempt in hand: ports each uop may issue on, one where bound */
	struct stack_engine stack;
	uint8_t sched_of_port[CORE_PORTS]; /* NO_SCHEDULER: holds no entry */
	uint32_t sched_entries[CORE_SCHEDULERS]; /* those of the queue in front included */

	/* execute */
	uint64_t reg_ready[NR_REGS];
	uint64_t reg_by[NR_REGS];      /* number of the record that wrote it */
	uint32_t reg_early[NR_REGS];   /* by so many cycles what waits for it is woken too soon: see replay() */
	uint8_t reg_flags[NR_REGS];
	uint64_t memory_floor;         /* no younger memory operation issues before (fences, locks, acquires) */
	uint64_t completed;            /* all older ones */
	uint64_t loads_done;           /* latest data of any load so far */
	uint64_t stores_freed;         /* latest drain of any store so far */
	uint64_t wrong_ready[NR_REGS]; /* reg_ready as the wrong path in hand sees it */
	uint64_t wide_until;           /* a 512-bit uop is in flight until */
	uint64_t pair_issue, pair_complete; /* of the instruction before: what a fused second inherits */

	/* commit */
	uint64_t commit_cycle;         /* of the youngest committed */
	uint32_t commit_used;          /* slots committed in it */

	struct suppose *suppose;       /* what is supposed of instructions; NULL: nothing */

	/* stream */
	uint64_t record;               /* number of the next record */
	size_t skip;                   /* steps of the next batch that belong to an instruction already timed */
	bool fused;                    /* the instruction before made a pair with the next */
	bool started;
	struct timed out[OUT_RECORDS];
	size_t nr_out;
};

/*
 * Whether it may be a move that rename eliminates: then it shares its source's register, and no lack of them holds it
 * up, not even where rename.move_slots are used up and it takes one after all.
 */
static inline bool may_share(const struct ooo *o, const struct insn *in)
{
	return in->flags & INSN_MOVE && o->desc->rename_move_slots;
}

/* One attempt: what the stages hand on to one another. Cycles are absolute. */
struct attempt {
	const struct insn *in;
	uint32_t index;                /* of the static instruction */
	const struct step *step;       /* its STEP_INSN, further records behind it */
	uint32_t nr_steps;             /* including the first */
	struct fetched fetched;
	struct prediction predicted;
	const struct uop *uop;
	uint32_t nr_uops, slots;
	uint16_t pair_ports;           /* first of a macro-fused pair: those of the branch that it issues with; 0: it
	                                * is none */
	bool fused;                    /* second of one */
	bool eliminated;               /* a move done at rename */
	bool stack_sync;               /* one of its slots is the uop that brings the stack pointer up to date */
	uint16_t never;                /* what is supposed of it: core/suppose.h */

	uint64_t dispatch, dispatch_last; /* first and last slot */
	uint32_t slot_position;        /* slots of older instructions in the cycle of `dispatch` */
	uint8_t dispatch_wait, issue_wait;
	uint8_t holds_entry;           /* cycles that the uop in hand keeps its scheduler entry beyond its issue */
	uint8_t queued;                /* 1: its last uop that may have waited in the queue in front of its
	                                * scheduler, did */
	uint64_t dispatch_by, issue_by;/* record number + 1; 0: none */

	uint64_t ready, issue, complete;
	uint64_t value;                /* store: cycle in which the register that it stores has its value */
	uint64_t result;               /* cycle to which dst latencies are added */
	uint64_t chain_end;            /* compute done: a branch is resolved, store data is there */
	uint64_t asked;                /* when the uop of its youngest load issued */
	uint64_t load_done, known, data;
	uint64_t write_back;           /* cycle to which write-back latencies are added */
	uint64_t violation;            /* cycle in which an older store found this load wrong; 0: none */
	uint64_t violation_pc;
	enum level level;
	uint8_t merged;                /* MERGED_DTLB or 0 */
	uint16_t psv;
	uint64_t leave, drain;
};

/* Store-queue entries of the attempt: a store-address and a store-data uop each. */
static inline unsigned store_entries(const struct attempt *a)
{
	unsigned uops = a->nr_uops - a->in->nr_loads - a->in->nr_compute;
	return (uops + 1) / 2;
}

static inline unsigned bank_of(uint8_t reg)
{
	return reg >= REG_VECTOR ? BANK_VECTOR : BANK_INTEGER;
}

/* Of an eliminated move, who wrote what it copies counts, as whom an operand waits for. */
static inline struct renaming_place place_of(const struct ooo *o, const struct insn *in)
{
	uint8_t base = in->addr[0], index = renaming_index(in);
	uint64_t by = base == o->stack.pointer ? o->stack_by : o->reg_by[base];

	return (struct renaming_place){ by, o->reg_by[index], base, index };
}

/*
 * The attempt's result in `reg`, there from `ready` on; `by`: the record it comes from + 1. Gives back a move slot that
 * the old value held.
 */
static inline void write_register(struct ooo *o, const struct attempt *a, uint8_t reg, uint64_t ready, uint64_t by,
                                  uint8_t flags)
{
	if (o->reg_flags[reg] & REG_ELIMINATED)
		release_at(&o->held, HELD_MOVE + bank_of(reg), a->dispatch + MOVE_RELEASE);
	o->reg_ready[reg] = ready;
	o->reg_early[reg] = 0;
	o->reg_by[reg] = by;
	o->reg_flags[reg] = flags;
}

/* The place of the next record in the stream. */
static inline struct timed *record_next(struct ooo *o)
{
	assert(o->nr_out < OUT_RECORDS);
	o->record++;
	return &o->out[o->nr_out++];
}

/* What of the static instruction and of its fetch the record repeats. */
static inline uint16_t record_flags(const struct insn *in, const struct fetched *f, uint32_t flags)
{
	_Static_assert(INSN_MARK << 9 == TIMED_MARK && INSN_LOAD << 9 == TIMED_LOAD && INSN_STORE << 9 == TIMED_STORE &&
		INSN_BRANCH << 9 == TIMED_BRANCH && INSN_LONG << 9 == TIMED_LONG, "one shift makes the flags");
	const uint32_t repeated = INSN_MARK | INSN_LOAD | INSN_STORE | INSN_BRANCH | INSN_LONG;

	return (uint16_t)(flags | (in->flags & repeated) << 9 | (f->packet_first ? TIMED_PACKET_FIRST : 0u) |
		(f->decoded ? TIMED_DECODED : 0u));
}

/* ooo.c */
void ooo_flush_out(struct ooo *o);

/*
 * wrongpath.c: fetches the wrong path of `c`, which o->run and o->access begin with, until `squash`, records
 * included.
 */
void wrong_path(struct ooo *o, const struct forecast *c, uint64_t squash);
/* The same for steps that are on the right path and will run again: s[0..n). */
void squashed_path(struct ooo *o, const struct step *s, size_t n, uint64_t squash);

/* warm.c: core_ops.warm(). */
void ooo_warm(struct core *core, const struct step *s, size_t n, size_t ahead);

/* repeat.c */
void repeat_execute(struct ooo *o, struct attempt *a, uint16_t flags);

#endif
