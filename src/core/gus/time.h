/*
 * When: Algorithm 1 of the Gus paper, on the outcomes of outcome.h.
 *
 * Nothing ticks and nothing is simulated: each resource keeps the earliest time at which it can be used again, each
 * location (register, line, store) the time at which it is there, and an instruction starts when all that constrains
 * it allows. A resource is used for amount x inverse throughput from then on, or from the instruction's dispatch where
 * it had been idle (UsedBy); a constraint that is later replaces the time, and its taint, of the constrained; one that
 * is equal adds its taint (ConstrainBy).
 *
 * Times are whole ticks, ABSTRACT_TICKS a cycle: a common multiple of the numbers of ports, so that equal times are
 * equal.
 *
 * What is not in the paper's listing: the memory part of an instruction starts by its address, before its other
 * operands are there; the front end runs ahead of rename by a queue; schedulers, load and store queues and miss
 * registers are constraints like the dispatch queue; retire width and mispredicted branches (--set commit.width=32,
 * --ideal branch switch them off); memory fences and serialising instructions; loads that rename finds the store of.
 * Ports that uops are bound to in turn are chosen as in the detailed core.
 * Not modelled: queues in front of schedulers (waiting.entries); physical registers
 * and violations of memory order, since both come of what was guessed or renamed; bank conflicts of L1D and the bytes
 * that it reads in a cycle, since the ports of loads bound these; miss registers of L1I,
 * since code comes a line at a time; memory's banks and rows; stores that are written out of order, and lines asked
 * for no sooner than a store is written; turns of the ports that bring data in, and loads that wait for these
 * (load_queue.data_ports), and ports bound otherwise than in turn or in pairs (rename.bind), since an ideal choice of
 * ports is what the resources stand for; what takes a port later, which leaves none open until then: a load's again
 * for a store's data (forward.again). Ref: Gus §3.1, algorithm 1.
 */
#ifndef CYCLEWISE_CORE_GUS_TIME_H
#define CYCLEWISE_CORE_GUS_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gus/outcome.h"
#include "core/gus/recipe.h"
#include "core/params.h"
#include "core/vary.h"

#define ABSTRACT_TICKS UINT64_C(2882880) /* 2^6 * 3^2 * 5 * 7 * 11 * 13 */

/* Who takes an evicted line down, and how long one keeps it busy. */
struct bus { uint64_t ticks; uint16_t resource; };

/* Who waits for lines: L1D, L2, the last level, and memory's own queue of reads. */
enum { MISSES_L1, MISSES_L2, MISSES_LLC, MISSES_MEMORY, NR_MISSES };

/*
 * Lines that a level waits for at most, 0: there is no such level; ticks from a request in L1 until it knows that it
 * lacks the line.
 */
struct misses { uint32_t most; uint64_t known; };

/* What a variant may differ in. Ticks where nothing else is said; entries are counts. */
struct abstract_costs {
	uint64_t inverse[RESOURCE_PORTS]; /* ticks a use: inverse throughput; RESOURCE_WALK: ticks a tick of walking */
	struct bus write[LEVEL_MEMORY + 1]; /* to L2, LLC, MEMORY */
	uint32_t port_weight[CORE_PORTS]; /* capacity of each port, WEIGHT_ONE: one uop a cycle */
	uint64_t latency[NR_LATENCIES]; /* of a cycle of latency of an instruction of that class */
	uint64_t bypass;               /* an integer vector's result to floating point */
	uint64_t load[2], load_extra;  /* L1D hit, load to use, [1]: by a simple address; a cycle more of a form that
	                                  takes longer */
	uint64_t level[LEVEL_MEMORY + 1]; /* load to use from there: L2, LLC, MEMORY */
	uint64_t code[LEVEL_MEMORY + 1]; /* stall of the front end for a line from there */
	uint64_t stored[2];            /* until a store has its data, from a general register and a vector one */
	uint64_t set_fill;             /* from one line that comes into a set of L1D to the next */
	uint64_t forward[2], narrow;   /* store to load, into a general register and a vector one; more for fewer
	                                  bytes than the store's */
	uint64_t offset;               /* more than a hit of L1D where the load begins elsewhere than the store */
	uint64_t forward_fail, alias;  /* a load of what a store wrote in part, once that is in L1D; one that aliases
	                                  a store */
	uint64_t second, walk;         /* translation from the second level; a walk beside its loads */
	uint64_t split[3], split_store[3]; /* by enum outcome_split; of stores, beyond the second write */
	uint64_t mispredict, redirect, btb2; /* resolved to offered again; bubbles */
	uint64_t issue, commit;        /* dispatch to earliest issue; complete to commit */
	uint64_t leave, part_recent, part_again; /* where stores are merged: ticks a store that leaves for its write,
	                                            else 0; a part of 4 bytes just written */
	uint64_t serialize, flush, exception, syscall, fence, lock;
	uint64_t repeat_startup, repeat_line, repeat_slow; /* a line of a fast rep string; an iteration of a slow one */
	uint64_t front;                /* fetch to offered, for the records alone */
	uint32_t mispredicts;          /* so many of WEIGHT_ONE mispredictions cost anything */
	uint64_t returned;             /* more than a taken branch, of a return */
	uint32_t taken;                /* branches that fetch may follow in a cycle */
	bool lines;                    /* the uop cache is read line by line: its inverse is that of a line */
	uint32_t runahead;             /* blocks of fetch that prediction is ahead; 0: none */
	struct misses misses[NR_MISSES];
	uint32_t rob, queue, load_queue, store_queue;
	uint32_t memory;               /* instructions that access memory, dispatched in a cycle; 0: any number */
	uint32_t holds_entry;          /* cycles that a load keeps its scheduler's entry beyond its issue */
	uint32_t scheduler[CORE_SCHEDULERS]; /* 0: absent */
};

void abstract_costs_init(struct abstract_costs *c, const struct core_desc *d);
/* What of these can be weighted beside what every model has; core_ops.resources. */
unsigned abstract_resources(struct vary *out, const struct core_desc *d);
/* Puts the weight (in thousandths) of what is not in the description into effect. */
void vary_costs(const struct vary *v, uint32_t weight, struct abstract_costs *c);

/* Why an instruction started no earlier: a resource (enum recipe_resource), or one of these. */
enum reason {
	REASON_NONE = NR_RESOURCES,    /* nothing held it up */
	REASON_LATENCY,                /* an operand */
	REASON_LOAD,                   /* a line on its way, or what a store in the queue holds */
	REASON_ROB, REASON_SCHEDULER, REASON_LOAD_QUEUE, REASON_STORE_QUEUE, REASON_MISSES,
	REASON_BRANCH,                 /* a mispredicted branch before it */
	REASON_CODE,                   /* its code was not in L1I */
	REASON_SERIAL,                 /* a serialising instruction, a system call, a fence */
	NR_REASONS,
};
const char *reason_name(const struct recipes *r, unsigned reason, char *buf);

/* Shares of causality: how often instruction `insn` was on the critical path, and by what it was bound there. */
struct causality_row {
	uint64_t count;
	uint64_t reason[NR_REASONS];
};

struct chrono;

enum chrono_mode {
	CHRONO_PLAIN,                  /* times alone */
	CHRONO_RECORDS,
	CHRONO_TAINT,
};

/* One variant. `desc`: sizes of caches; `costs` is copied; `recipes` must outlive it. 0 or -errno. */
int  chrono_new(struct chrono **out, const struct core_desc *desc, const struct abstract_costs *costs,
                const struct recipes *recipes, enum chrono_mode mode);
void chrono_free(struct chrono *v);

/*
 * Times the instructions whose outcomes are word[0..nr), in a mode without records.
 * Other variants may read the same words in other threads, and another thread may make further recipes.
 */
void chrono_batch(struct chrono *v, const uint64_t *word, size_t nr);

/*
 * The same of v[0..nr_v), all of mode CHRONO_PLAIN and of the same recipes: each instruction by all of them, before
 * the next. So what kind it is, which no branch predictor knows, is found out once for all; but with more than three,
 * what they keep is more than a nearest cache holds.
 */
void chrono_batch_together(struct chrono *const *v, unsigned nr_v, const uint64_t *word, size_t nr);

/*
 * Mode CHRONO_RECORDS: of (*word .. end), the instructions of the steps from *step on, at most `most`; t[] gets a
 * record each. *word and *step go to what is left. *step NULL: nobody asks for addresses. Returns how many.
 */
size_t chrono_records(struct chrono *v, const uint64_t **word, const uint64_t *end, const struct step **step,
                      struct timed *t, size_t most);

/*
 * warm.c: these instructions are not timed. The lines that they have brought are there, and their stores have left the
 * queue long ago.
 */
void chrono_warm(struct chrono *v, const uint64_t *word, size_t nr);

/* Cycles of the counted instructions so far: of each, from the commit before it to its own. */
uint64_t chrono_cycles(const struct chrono *v);
uint64_t chrono_instructions(const struct chrono *v);

/* Mode CHRONO_TAINT: the stream has ended; what is left in the taint queue is judged by the last commit. */
void chrono_finish(struct chrono *v);
/* NULL: never on the path. Valid until chrono_free(). */
const struct causality_row *chrono_row(const struct chrono *v, uint32_t insn);
/* Sum of all rows' counts. */
uint64_t chrono_critical(const struct chrono *v);

#endif
