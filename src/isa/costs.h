/*
 * The cost file of a core (data/cores/NAME.costs): what overrides LLVM's figures, or stands in for them.
 *
 *      # comment
 *      inherit = NAME.costs        once, in front of all sections: a file beside this one, or by its whole path, as if
 *                                  its sections stood first; ports of its sets that this core has not are left out of
 *                                  them
 *      [ports]                     LLVM's resources as sets of the core's ports; inherited resources are
 *                                  dropped where the file's first one begins
 *      SKXPort01 = p0 p1
 *      [units]                     LLVM's resources that are unpipelined units
 *      SKXFPDivider = div
 *      [core]                      where loads and stores go: port sets
 *      load = p23
 *      load_vector = p2            of loads into vector registers, where not as others
 *      sta = p237
 *      sta_indexed = p23
 *      std = p4
 *      load_latency = 5            cycles that LLVM's latencies hold for a load into a general register
 *      placeholder = 100           a latency that LLVM gives what it has no figure for
 *      long_address = 1            cycles, at most one, later that a load starts with a scaled index, or with base,
 *                                  index and displacement
 *      fusion = 2                  what fuses with a conditional jump: 0, as Intel's cores have it (isa/x86.c); 1, as
 *                                  AMD's: compare and test, whatever the condition; 2, add, sub, and, or, xor, inc and
 *                                  dec as well
 *      wide_closed = p1            ports that 512-bit uops cannot use, whatever LLVM says
 *      [DIV32r !DIV32m]            globs on LLVM's opcode names; `!` excludes; a variant follows a dot (LEA64r.slow)
 *      uops = 2*p0 p5:1 > p01:4    compute uops; `>` starts the next dependent stage; `:n` latency; `/div*6` unit, busy
 *      latency = 26                operand to result of the compute uops
 *      results = 3 4               the same, one for each result in turn; the last stands for all that follow
 *      late = 0 0 4                cycles after issue at which each source is needed, in LLVM's order
 *      loads = 1                   load uops      stores = 1     STA and STD uops, each
 *      std = f01                   where this form's STD uops go, other than [core] says; `result`: to no port, and in
 *                                  no time: what the compute uops give is what is stored
 *      slots = 10                  fused-domain uops           indexed_slots = 2   the same, with an index register
 *      decode = 10                 fused uops as decoded       load_extra = 1      cycles beyond l1d.latency
 *      indexed_decode = 2          as decode, with an index register
 *      reads_results = 1           waits for the old values of what it writes (a false dependency)
 *      bypass = 1                  cycles more, at most 3, until forms without this key have the results
 *      ends_dispatch = 1           nothing else dispatches behind it in its cycle
 *      queued = 1                  cycles of the latency, at most 1, that only those take that waited in
 *                                  the queue before their scheduler
 *      reads_flags = 0             does not wait for the flags that it may leave as they are (shifts by CL)
 *      flags = microcoded -long    sets (or, with -, clears) INSN_ flags
 *      source = measured           where the figures are from; every such section has one
 *
 * A port set is names joined by `|`, or a name's letters followed by one digit per port: p23 is p2|p3; `none` is none.
 * A line that begins with a tab continues the one before.
 * Sections apply in order of the file, a later one over an earlier one, key by key.
 */
#ifndef CYCLEWISE_ISA_COSTS_H
#define CYCLEWISE_ISA_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

enum cost_keys {
	COST_UOPS = 1 << 0,
	COST_LATENCY = 1 << 1,
	COST_RESULTS = 1 << 2,
	COST_LATE = 1 << 3,
	COST_LOADS = 1 << 4,
	COST_STORES = 1 << 5,
	COST_SLOTS = 1 << 6,
	COST_INDEXED_SLOTS = 1 << 7,
	COST_DECODE = 1 << 8,
	COST_LOAD_EXTRA = 1 << 9,
	COST_READS_RESULTS = 1 << 10,
	COST_STD = 1 << 11,
	COST_BYPASS = 1 << 12,
	COST_READS_FLAGS = 1 << 13,
	COST_ENDS_DISPATCH = 1 << 14,
	COST_QUEUED = 1 << 15,
	COST_INDEXED_DECODE = 1 << 16,
};

/* What the file says of one form. Fields are valid where their bit of `set` is. */
struct cost {
	unsigned set;              /* enum cost_keys */
	const struct uop *uops;    /* compute uops; latency 0 where not said; borrowed from the file */
	uint8_t nr_uops;
	bool staged;               /* the uops' stages and latencies are said */
	uint16_t std;
	bool std_result;           /* `std = result` */
	uint8_t latency, loads, stores, slots, indexed_slots, decode, indexed_decode, load_extra, reads_results,
		reads_flags, bypass, ends_dispatch, queued;
	uint8_t results[INSN_DSTS], nr_results;
	uint8_t late[INSN_DATAS], nr_late;
	uint32_t flags_on, flags_off;
};

enum fusion { FUSION_INTEL, FUSION_COMPARE, FUSION_ARITHMETIC };

struct cost_core {
	uint16_t load, load_vector, sta, sta_indexed, std, wide_closed; /* port sets; load_vector 0: as load */
	uint8_t load_latency;      /* cycles */
	uint8_t placeholder;       /* 0: none */
	uint8_t long_address;      /* cycles, at most 1 */
	uint8_t fusion;            /* enum fusion */
};

struct costs;

/*
 * Reads the file at `path` (NULL: an empty one). `ports` and `units`: the core's, NULL-terminated.
 * 0 or -errno; -EINVAL names the line.
 */
int costs_new(struct costs **out, const char *path, const char *const *ports, const char *const *units);
void costs_free(struct costs *costs);

/* Everything said of `form`, a variant's name included ("LEA64r.slow"). */
void costs_find(const struct costs *costs, const char *form, struct cost *out);
/* The port set or unit (1-based; 0: none) of LLVM's resource; both 0 where the file has no line for it. */
void costs_resource(const struct costs *costs, const char *resource, uint16_t *ports, uint8_t *unit);
/* The sets of ports that the file names, each once, in its order: at most `max`. Returns how many. */
unsigned costs_port_sets(const struct costs *costs, uint16_t *sets, unsigned max);
const struct cost_core *costs_core(const struct costs *costs);

#endif
