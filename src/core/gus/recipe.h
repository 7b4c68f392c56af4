/*
 * What a static instruction takes of the abstract core: resources, registers, latencies.
 *
 * A resource is something of bounded throughput that an instruction uses an amount of. Ports are conjunctive: for a
 * set S of ports there is one resource of throughput |S|, and a uop that may run on P uses every resource whose S
 * contains P. Together these bounds say what an ideal choice of ports could reach, and no port has to be chosen. Where
 * a core binds uops to ports in turn or to pairs (core/order/bind.h), those are resources beside these, chosen each
 * time.
 *
 * Which sets matter is found out from the uops as they appear: every set that a uop may run on, and every union of two
 * known sets that overlap. That is the closure of the groups which LLVM lists by hand. A new set makes new recipes;
 * those handed out before stay valid and are not changed, so that other threads may read them meanwhile.
 *
 * Place: isa -> recipe -> outcome.c, time.c.
 * Ref: Gus §3.1.1 (resource mapping); PALMED (Derumigny et al., CGO 2022).
 */
#ifndef CYCLEWISE_CORE_GUS_RECIPE_H
#define CYCLEWISE_CORE_GUS_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/order/bind.h"
#include "core/params.h"
#include "isa/code.h"

/* Resources: what is shared by all cores, unpipelined units, sets of ports. */
enum recipe_resource {
	RESOURCE_FRONTEND,             /* slots: rename */
	RESOURCE_UOPCACHE,             /* uops delivered */
	RESOURCE_FETCH,                /* bytes fetched for the decoders */
	RESOURCE_PREDECODE,            /* instructions found in them */
	RESOURCE_DECODE, RESOURCE_COMPLEX, /* instructions decoded; those of several uops */
	RESOURCE_MICROCODE,            /* uops from the sequencer */
	RESOURCE_TAKEN,                /* taken branches */
	RESOURCE_RETIRE,               /* slots */
	RESOURCE_DRAIN,                /* stores written to L1D */
	RESOURCE_RESTART,              /* loads that cross a page or alias a store, and start anew */
	RESOURCE_L2, RESOURCE_LLC, RESOURCE_MEMORY, /* lines from that level to the one above, and down where those
	                                               take turns */
	RESOURCE_L2_WRITE, RESOURCE_LLC_WRITE, /* evicted lines written to that level, where they have a bus of their
	                                        * own */
	RESOURCE_WALK,                 /* page walks; an amount is ticks */
	RESOURCE_UNITS,
	RESOURCE_PORTS = RESOURCE_UNITS + CORE_UNITS,
	NR_GROUPS = 64,
	NR_RESOURCES = RESOURCE_PORTS + NR_GROUPS,
};

struct use {
	uint16_t resource;             /* from RESOURCE_UNITS on */
	uint16_t amount;
};

enum { RECIPE_NOWHERE = NR_REGS };

enum { RECIPE_NO_SCHEDULER = 0xff, RECIPE_SCHEDULERS = 0xfe };

/*
 * Uops of one kind: the resources they use, and the scheduler that holds them until they issue. Where that is not the
 * same one for all (RECIPE_SCHEDULERS), what follows the uses says `amount` uops go to any of the set `resource` of
 * schedulers, until all uops are told. Where it is the same for all, or none, uops may be bound: behind the uses comes
 * one for each that is, by the group `amount` of the binder, to one of the ports `resource` in turn, or a pair of them.
 */
struct part {
	uint32_t use;                  /* first in recipes.use */
	uint8_t nr_uses;
	uint8_t uops;
	uint8_t scheduler;             /* RECIPE_NO_SCHEDULER: none */
	uint8_t nr_bound;
};

/* Behind the parts that each execution has, PART_SPLIT: what a load takes besides that crosses a line. */
enum { PART_LOAD, PART_COMPUTE, PART_STA, PART_STD, NR_PARTS, PART_SPLIT = NR_PARTS };

/*
 * What forwards a vector register to whom: a result's kind is its bypass, and whether it is of an integer vector; what
 * an instruction takes quickly, that of its own unit (it has a bypass, too), and whether it is of floating point.
 */
enum { RESULT_BYPASS = 3, RESULT_INTEGER = 4, NR_RESULTS = 8 };
enum { TAKES_UNIT = 1, TAKES_FLOAT = 2, NR_TAKES = 4 };

/* What an instruction is like: the common kinds are timed by a way of their own, which asks less. */
enum recipe_path {
	PATH_ANY,
	PATH_COMPUTE,                  /* one slot, no address, uops that compute alone */
	PATH_MEMORY,                   /* one slot, at most one load and one store; no branch */
	PATH_SECOND,                   /* second of a macro-fused pair */
};

/* Flags that only instructions of PATH_ANY have. */
#define PATH_ANY_FLAGS ((uint32_t)INSN_PREFETCH | INSN_REP | INSN_LOCKED | INSN_ACQUIRE | INSN_FENCE | \
                        INSN_SERIALIZE | INSN_DISPATCH_SERIALIZE | INSN_FLUSH | INSN_SYSCALL | INSN_MICROCODED)

/* The common paths ask for what stands in the first of its two lines of cache alone. */
struct recipe {
	_Alignas(128) uint32_t insn;   /* index of the static instruction */
	uint32_t flags;                /* enum insn_flags */
	uint16_t timed;                /* enum timed_flags that each record of it has */
	uint8_t path;                  /* enum recipe_path */
	uint8_t slots, uops, decode_uops, branch; /* slots: 0 of a fused pair's branch; uops: unfused */
	uint8_t latency, load_extra, class;
	uint8_t address_extra;         /* of load_extra, what a load's address takes, before the access */
	uint8_t nr_addr, nr_data, nr_dst;
	/* data beyond nr_data: REG_NONE; dst beyond nr_dst: RECIPE_NOWHERE */
	uint8_t addr[INSN_ADDRS], data[INSN_DATAS], dst[INSN_DSTS];
	uint8_t result, takes;         /* RESULT_, TAKES_ */
	bool second;                   /* of a macro-fused pair: nothing of its own */
	bool stores_result;            /* what it computes is stored as soon as it is there */
	bool eliminated;               /* a move or zero idiom that rename does */
	bool simple;                   /* all operands and results at one time, none a vector register; not
	                                  eliminated */
	_Alignas(8) struct part part[NR_PARTS + 1];
	uint8_t data_late[INSN_DATAS], dst_latency[INSN_DSTS];
	uint16_t branch_ports;         /* first of a pair: those of the branch */
	uint8_t sync_uses, stack_pointer; /* uses behind those of PART_SPLIT: of the uop that brings that register up
	                                     to date; 0: none */
	/* Who looks for loads whose address comes straight from a load wants these; sets of general registers. */
	uint8_t base;                  /* the register that its address comes from; REG_NONE: it is never simple */
	uint8_t copies;                /* the general register that it copies; REG_NONE: it does not */
	bool from_load;                /* what it writes comes straight from its load */
	uint64_t writes, loads;        /* it writes; of these, what it does not write back to */
};
_Static_assert(offsetof(struct recipe, part[PART_STA]) == 64 && sizeof(struct recipe) == 128,
               "two lines, and what they hold");

struct recipes {
	const struct core_desc *desc;
	const struct code *code;
	uint8_t stack_pointer;         /* who makes RECIPE_SYNC says first which register that is */
	struct binder binder;          /* of which turns and pairs matter; its state is each variant's own */
	unsigned nr_own;               /* the first groups are each port in turn, and pairs: for what is bound alone */
	uint16_t group[NR_GROUPS];     /* sets of ports, in the order they were found */
	unsigned nr_groups;            /* another thread reads it with acquire, and then those groups */
	struct recipe *recipe;         /* [nr]: reserved address space, never moves */
	struct use *use;               /* [nr_uses]: the same */
	uint32_t nr, nr_uses;
	uint32_t *of;                  /* [nr_of]: by (insn, kind): recipe + 1; 0: not made yet */
	size_t nr_of;
};

/* Static instructions that there is room for, in four kinds each. */
enum { RECIPE_INSNS = 1 << 22 };

/* Kinds of execution that have recipes of their own. Pairs are those of core/order/pair.h. */
enum { RECIPE_PLAIN, RECIPE_TAKEN = 1, RECIPE_FIRST = 2 /* of a pair */, RECIPE_SECOND = 4,
       RECIPE_SYNC = 8 /* rename.stack_ports */, NR_RECIPE_KINDS = 16 };

/* `desc` and `code` must outlive the recipes. 0 or -errno. */
int  recipes_init(struct recipes *r, const struct core_desc *desc, const struct code *code);
void recipes_fini(struct recipes *r);

/* Makes the recipe; `branch_ports`: of the branch that the first of a pair issues with. */
uint32_t recipe_make(struct recipes *r, uint32_t insn, unsigned kind, uint16_t branch_ports);

/* The number of the recipe. */
static inline uint32_t recipe_of(struct recipes *r, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	size_t at = (size_t)insn * NR_RECIPE_KINDS + kind;
	uint32_t known = at < r->nr_of ? r->of[at] : 0;

	if (__builtin_expect(known && (!(kind & RECIPE_FIRST) || r->recipe[known - 1].branch_ports == branch_ports), 1))
		return known - 1;
	return recipe_make(r, insn, kind, branch_ports);
}

/* A resource's name, and the unit of its capacity. Valid until the next call with the same buffer. */
const char *resource_name(const struct recipes *r, unsigned resource, char *buf);

#endif
