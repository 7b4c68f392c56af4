/*
 * What a static instruction is to a core: registers, uops, ports, latencies. isa/ fills it from LLVM's MC
 * layer, the ISA's peculiarities and the core's cost file; the core only reads it.
 *
 * The shape every instruction is brought to:
 *
 *      addr[] ──► load uops ──► data ─┐
 *        │                            ▼
 *        │        data[] ──────► compute uops ──► dst[] (not DST_WRITEBACK)
 *        │                            │
 *        ├──────► store-address uop   └──► store-data uop
 *        └──────► dst[] with DST_WRITEBACK
 *
 * An instruction without compute uops hands the loaded data, or data[], straight on.
 */
#ifndef CYCLEWISE_ISA_INSN_H
#define CYCLEWISE_ISA_INSN_H

#include <stdint.h>

/*
 * Registers as the renamer sees them: one number per architectural register that is renamed on its own.
 * 1..63 integer bank (general registers and flags), 64..127 vector bank (vector, floating point, mask).
 * 0 is no register. Partial writes that merge (8/16-bit x86, merging vector writes) list the destination
 * as a source too.
 */
enum { REG_NONE = 0, REG_FLAGS = 33 /* 33..63: flags and status */, REG_VECTOR = 64, NR_REGS = 128 };

enum uop_kind { UOP_COMPUTE, UOP_LOAD, UOP_STA, UOP_STD };

struct uop {
	uint16_t ports;        /* ports it may run on, a bit each in the order of the core's `ports`; 0: needs none */
	uint8_t kind;          /* enum uop_kind */
	uint8_t unit;          /* unpipelined unit held (1-based, in the order of the core's `units`); 0: none */
	uint16_t busy;         /* cycles the unit is held */
	uint8_t stage;         /* compute: 0 = starts the chain, n = issues with the n-th dependent uop; see
	                        * `latency` */
	uint8_t latency;       /* compute: cycles from issue to result of this uop; chains add up to insn.latency */
};

enum branch_kind {
	BRANCH_NONE,
	BRANCH_CONDITIONAL,    /* direct */
	BRANCH_JUMP,           /* direct, always taken */
	BRANCH_CALL,           /* direct call */
	BRANCH_INDIRECT,       /* indirect jump */
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN,
};

enum insn_flags {
	/* Those that every timed record repeats, in the order of enum timed_flags. */
	INSN_MARK       = 1u << 0,   /* a mark of cyclewise.h */
	INSN_LOAD       = 1u << 1,
	INSN_STORE      = 1u << 2,
	INSN_BRANCH     = 1u << 3,   /* any control transfer: `branch` says which (insn_count() sets it) */
	INSN_LONG       = 1u << 4,   /* long-latency unit (multiply, divide, floating point): the ASPLOS 2006 "long
	                              * latency" */
	/* The others. */
	INSN_PREFETCH   = 1u << 5,   /* software prefetch: an access that nobody waits for */
	INSN_REP        = 1u << 6,   /* rep string: the step says how often */
	INSN_LOCKED     = 1u << 7,   /* atomic read-modify-write that waits for the store buffer and holds back loads */
	INSN_ACQUIRE    = 1u << 8,   /* younger memory operations wait for it */
	INSN_RELEASE    = 1u << 9,   /* waits for older memory operations */
	INSN_FENCE      = 1u << 10,  /* waits for all older memory operations, store buffer drained; younger wait for
	                              * it */
	INSN_SERIALIZE  = 1u << 11,  /* dispatches alone: after all older have committed, and nothing dispatches
	                              * until it does */
	INSN_DISPATCH_SERIALIZE = 1u << 12, /* lfence: older have completed before it does, younger dispatch only
	                                     * then */
	INSN_FLUSH      = 1u << 13,  /* flushes the pipeline when it commits: what follows is fetched anew */
	INSN_SYSCALL    = 1u << 14,
	INSN_NOP        = 1u << 15,  /* a slot, no uop */
	INSN_ZERO       = 1u << 16,  /* zero idiom: done at rename */
	INSN_MOVE       = 1u << 17,  /* register copy that rename may eliminate: data[0] -> dst[0] */
	INSN_MICROCODED = 1u << 18,  /* from the microcode sequencer */
	INSN_COMPLEX    = 1u << 19,  /* only the first decoder takes it */
	INSN_FUSES_NEXT = 1u << 20,  /* makes one uop with the branch right behind it */
	INSN_SIMPLE_ADDR = 1u << 21, /* [base + 0..2047], base alone: the short load-to-use latency may apply */
	INSN_INDEXED    = 1u << 22,  /* memory operand with an index register */
	INSN_VECTOR_MEM = 1u << 23,  /* loads or stores a vector register */
	INSN_FP         = 1u << 24,  /* floating-point domain: a source from the integer vector domain costs a bypass */
	INSN_VINT       = 1u << 25,  /* integer vector domain */
	INSN_WIDE       = 1u << 26,  /* 512-bit operation: may close ports to others */
	INSN_UNMODELLED = 1u << 27,  /* no cost known: counted and reported; costs what the core's `unmodelled` key
	                              * says */
	INSN_UNDECODED  = 1u << 28,  /* LLVM cannot decode it; a bit on top of INSN_UNMODELLED */
	INSN_CONDITIONAL_ACCESS = 1u << 29, /* may make no access (predicated, masked, failing store-conditional) */
	INSN_LEAF_RESULT = 1u << 30, /* result does not depend on its inputs (dependency-breaking) although it
	                              * executes */
	INSN_JCC_ERRATUM = 1u << 31, /* a jump, or fused pair, that crosses or ends on a 32-byte boundary */
};

/* What it has to do with a stack pointer whose offset rename keeps track of (x86's stack engine). */
enum stack_use {
	STACK_NONE,
	STACK_MOVES,           /* push, pop, call, return: the offset changes, the register does not */
	STACK_READS,           /* the register itself is wanted */
	STACK_SETS,            /* it gets another value without being read */
};

enum { INSN_ADDRS = 3, INSN_DATAS = 6, INSN_DSTS = 6 };
#define DST_WRITEBACK 0x80 /* in dst_latency: the base register's update, ready that many cycles after the addresses */

struct insn {
	uint64_t pc;
	uint64_t target;               /* direct branches: where it goes when taken; else 0 */
	uint32_t flags;                /* enum insn_flags */
	uint32_t uop;                  /* first of its uops in code->uops: loads, then compute, STA, STD */
	uint8_t nr_uops;               /* unfused; 0 for what needs no execution */
	uint8_t slots;                 /* fused-domain uops after unlamination; at least 1 */
	uint8_t length;                /* bytes */
	uint8_t branch : 4;            /* enum branch_kind */
	uint8_t bypass : 2;            /* cycles more until instructions without such a figure have its results
	                                * (forwarding within a unit) */
	uint8_t prefix_lengthens : 1;  /* a prefix changes its length: x86's 66h before an immediate, 67h before an
	                                * absolute address */
	uint8_t latency;               /* cycles from the last operand to the result of the compute uops; 0 where
	                                * none */
	uint8_t load_extra;            /* cycles a load of this form takes beyond the core's l1d.latency */
	uint8_t nr_addr : 2;           /* at most INSN_ADDRS */
	uint8_t address_extra : 1;     /* cycles that a load's address takes beyond others */
	uint8_t stores_result : 1;     /* what the compute uops give is stored without a way through a store-data
	                                * uop's port */
	uint8_t ends_dispatch : 1;     /* nothing else dispatches behind it in its cycle */
	uint8_t queued : 1;            /* cycles of `latency` that it takes only where it waited in a queue in front
	                                * of its scheduler */
	uint8_t nr_data;
	uint8_t nr_dst;
	uint8_t addr[INSN_ADDRS];
	uint8_t data[INSN_DATAS];
	uint8_t data_late[INSN_DATAS]; /* cycles after issue at which the operand is needed (forwarding into
	                                * accumulators) */
	uint8_t dst[INSN_DSTS];
	uint8_t dst_latency[INSN_DSTS];/* cycles after compute issue, normally `latency`; or DST_WRITEBACK | cycles */
	uint8_t nr_loads, nr_compute;  /* of its uops; what is left are store uops (insn_count() fills these and the
	                                * next) */
	uint8_t nr_integer : 3, nr_vector : 3; /* physical registers it takes of each bank */
	uint8_t stack : 2;             /* enum stack_use */
	uint8_t decode_uops;           /* fused uops as decoded: > 1 needs the complex decoder, > 4 the sequencer
	                                * (x86) */
};

static inline uint8_t insn_decode_uops(const struct insn *in)
{
	return in->decode_uops ? in->decode_uops : 1;
}

/*
 * Counts what the hot paths want to know, and marks branches. Flags share the physical register of the result they come
 * with; a zero that rename makes takes none (measured on Zen 5: as many as the reorder buffer holds are in flight
 * behind a long chain).
 */
static inline void insn_count(struct insn *in, const struct uop *uops)
{
	unsigned loads = 0, compute = 0, integer = 0, vector = 0, flags = 0;

	while (loads < in->nr_uops && uops[loads].kind == UOP_LOAD)
		loads++;
	while (loads + compute < in->nr_uops && uops[loads + compute].kind == UOP_COMPUTE)
		compute++;
	for (unsigned i = 0; i < in->nr_dst && !(in->flags & INSN_ZERO); i++) {
		if (in->dst[i] >= REG_VECTOR)
			vector++;
		else if (in->dst[i] >= REG_FLAGS)
			flags = 1;
		else
			integer++;
	}
	integer += flags && !integer && !vector;
	if (in->branch)
		in->flags |= INSN_BRANCH;
	in->nr_loads = (uint8_t)loads;
	in->nr_compute = (uint8_t)compute;
	in->nr_integer = integer & 7;
	in->nr_vector = vector & 7;
}

/* Classes of instructions whose latency can be scaled by itself. */
enum latency_class { LATENCY_INTEGER, LATENCY_MULTIPLY, LATENCY_FLOAT, LATENCY_VECTOR, NR_LATENCIES };

static inline enum latency_class latency_class(const struct insn *in)
{
	if (in->flags & INSN_FP)
		return LATENCY_FLOAT;
	if (in->flags & INSN_VINT)
		return LATENCY_VECTOR;
	return in->flags & INSN_LONG ? LATENCY_MULTIPLY : LATENCY_INTEGER;
}

_Static_assert(sizeof(struct insn) == 64, "a static instruction is one cache line");

#endif
