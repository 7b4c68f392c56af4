/*
 * A small machine for exact-cycle tests of the cores: a core description with round figures, and an
 * assembler that makes static instructions and the steps that execute them.
 */
#ifndef CYCLEWISE_TESTS_MACHINE_H
#define CYCLEWISE_TESTS_MACHINE_H

#include "core/core.h"

enum { MACHINE_INSNS = 8192, MACHINE_STEPS = 1 << 16, MACHINE_RECORDS = 1 << 16 };

/* Ports of the machine: two for arithmetic, two for loads and store addresses, one for store data. */
enum { ALU0 = 1 << 0, ALU1 = 1 << 1, ALU = ALU0 | ALU1, MEM0 = 1 << 2, MEM1 = 1 << 3, MEM = MEM0 | MEM1, STD = 1 << 4 };
/* Integer registers. */
enum { R1 = 1, R2, R3, R4, R5, R6, R7, R8 };

struct machine {
	struct core_desc desc;
	struct code code;
	struct insn insn[MACHINE_INSNS];
	struct uop uop[4 * MACHINE_INSNS];
	uint32_t nr_uops;
	uint64_t pc;                   /* of the next instruction made */
	struct step step[MACHINE_STEPS];
	size_t nr_steps;
	uint16_t never[MACHINE_INSNS]; /* what is supposed of instructions: core/suppose.h */
	const uint64_t *future;        /* of the one that is prefetched */
	struct timed timed[MACHINE_RECORDS];
	size_t nr_timed;
};

/* Default parameters, then: 4 wide, no uop cache, 1 cycle each way, ALU latency as made, 32 KiB caches, perfect TLBs. */
struct machine *machine_new(void);
void machine_free(struct machine *m);

/* Each makes an instruction of 4 bytes behind the last and returns its index. Registers: 1.. integer, 64.. vector; 0: none. */
uint32_t make_alu(struct machine *m, uint8_t dst, uint8_t a, uint8_t b, uint8_t latency, uint16_t ports);
uint32_t make_load(struct machine *m, uint8_t dst, uint8_t base);
uint32_t make_store(struct machine *m, uint8_t base, uint8_t data);
uint32_t make_branch(struct machine *m, enum branch_kind kind, uint64_t target);
uint32_t make_flagged(struct machine *m, uint32_t flags);
/* Adds to what is at the base; `direct`: the sum is stored without a uop for the store's data. */
uint32_t make_update(struct machine *m, uint8_t base, bool direct);

/* Each executes one. */
void run_insn(struct machine *m, uint32_t insn);
void run_taken(struct machine *m, uint32_t insn);
void run_access(struct machine *m, uint32_t insn, uint64_t addr, uint16_t bytes);
/*
 * Reads lines `stride` bytes apart, twice; all are out of an L1D of one way and 8 sets, which it makes the core's, in between.
 * Returns which instruction is the first of the second time.
 */
size_t run_lines_again(struct machine *m, uint32_t load, uint64_t stride, unsigned lines);
/* One n times; several in order, n rounds of them. */
void run_times(struct machine *m, uint32_t insn, unsigned n);
void run_rounds(struct machine *m, const uint32_t *insn, size_t nr, unsigned n);
/* 8 bytes, read and written. */
void run_update(struct machine *m, uint32_t insn, uint64_t addr);

/* Rename binds uops to the ports so; none: nothing more. */
void machine_bind(struct machine *m, enum bind_kind kind, uint16_t ports);
/* Counts what is static of the instructions made so far; machine_time() does it, too. */
void machine_count(struct machine *m);
/* Times all steps and leaves the records in m->timed. */
void machine_time(struct machine *m);
/* The same on the core model of that name, anew, `batch` steps at a time. */
void machine_time_on(struct machine *m, const char *model, size_t batch);
/* The n-th committed record. */
const struct timed *committed(const struct machine *m, size_t n);
/* Cycle of the commit of the n-th committed. */
uint64_t commit_of(const struct machine *m, size_t n);
/* Cycles from the commit of one to that of another. */
uint64_t between(const struct machine *m, size_t from, size_t to);

/*
 * Of two pairs, the one that a uop is bound to next by the generator that rename.bind's pairs are drawn by; *draw: 0
 * at first.
 */
unsigned next_of_two_pairs(uint32_t *draw);
/*
 * Of the first 2 * nr committed, every other is a uop of one port of each of two pairs, and no other uop is for pairs:
 * each issues as soon as the port that the generator says lets it, though the other one be idle.
 */
void assert_bound_to_pairs(const struct machine *m, unsigned nr);

#endif
