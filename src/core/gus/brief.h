/*
 * What executions of a static instruction want of it and of its recipes, in a line of cache: the instruction itself is one, the
 * table that finds recipes has one for each instruction, and a recipe is two, so that programs with much code would wait for all of
 * them. Part of outcome.c, which alone includes it.
 */
#ifndef CYCLEWISE_CORE_GUS_BRIEF_H
#define CYCLEWISE_CORE_GUS_BRIEF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/gus/deliver.h"
#include "core/gus/recipe.h"

/* What is left to find out of an execution that is a single step without a fault, and not the second of a pair. */
enum way {
	WAY_PLAIN,                     /* how its code comes into the core, and what its accesses meet */
	WAY_BRANCH,                    /* the same, and where it leads */
	WAY_FIRST,                     /* the same, and whether it makes a pair with the next */
	WAY_ANY,
};

struct brief {
	_Alignas(64) uint64_t pc;
	uint64_t keeps;                /* general registers that it does not write */
	uint64_t gives, copied;        /* those that come straight from a load behind it; that do where the one it copies does */
	uint32_t known;                /* as many instructions were known when `way` was found out, since others may make a pair of it; 0: it was not */
	uint32_t recipe;               /* number + 1 of its RECIPE_PLAIN; 0: none was wanted */
	uint32_t other[2];             /* [RECIPE_TAKEN or not]: number + 1 of the last of another kind that was wanted; 0: none was */
	uint16_t branch_ports[2];      /* what those were made for */
	uint8_t kind;                  /* the same, RECIPE_TAKEN apart */
	uint8_t copies;                /* the register that it copies */
	uint8_t base;                  /* register whose value makes its load simple where that comes from a load; REG_NONE: nothing does */
	uint8_t words;                 /* deliver_words() */
	uint8_t way;                   /* enum way */
	bool stack;                    /* it has to do with a stack pointer whose offset rename keeps */
};

_Static_assert(sizeof(struct brief) == 64, "a brief is one cache line");

struct briefs {
	struct recipes *recipes;
	struct brief *of;              /* [nr], by static instruction */
	uint32_t nr;
	uint32_t known;                /* instructions, when the batch began */
	unsigned nr_groups;            /* of ports, when they were made: further ones make other recipes */
};

static inline void briefs_fini(struct briefs *b)
{
	free(b->of);
}

static __attribute__((noinline)) void briefs_grow(struct briefs *b)
{
	uint32_t nr = b->recipes->code->nr + b->recipes->code->nr / 2 + (1 << 12);
	struct brief *of = aligned_alloc(_Alignof(struct brief), nr * sizeof *of);

	g_assert(of);
	if (b->nr)
		memcpy(of, b->of, b->nr * sizeof *of);
	memset(of + b->nr, 0, (nr - b->nr) * sizeof *of);
	free(b->of);
	b->of = of;
	b->nr = nr;
}

static inline void briefs_check(struct briefs *b)
{
	if (b->nr && b->nr_groups != b->recipes->nr_groups)
		memset(b->of, 0, b->nr * sizeof *b->of);
	b->nr_groups = b->recipes->nr_groups;
}

/* From now on there is one for each instruction that is known now. */
static inline void briefs_begin(struct briefs *b)
{
	b->known = b->recipes->code->nr;
	if (b->nr < b->known)
		briefs_grow(b);
	briefs_check(b);
}

/* What is static of the instruction. */
static __attribute__((noinline)) void brief_look(struct briefs *b, uint32_t insn)
{
	const struct insn *in = code_insn(b->recipes->code, insn);
	struct brief *f = &b->of[insn];

	f->pc = in->pc;
	f->base = in->flags & INSN_SIMPLE_ADDR && in->nr_addr && in->addr[0] < REG_VECTOR ? in->addr[0] : REG_NONE;
	f->words = deliver_words(in);
	f->stack = in->stack && b->recipes->desc->rename_stack_ports;
	if (in->flags & (INSN_SYSCALL | INSN_FLUSH | INSN_PREFETCH) || (in->branch && in->flags & INSN_FUSES_NEXT))
		f->way = WAY_ANY;
	else
		f->way = in->branch ? WAY_BRANCH : in->flags & INSN_FUSES_NEXT ? WAY_FIRST : WAY_PLAIN;
	f->known = b->known;
}

/* That of the instruction, as far as is known now. */
static inline const struct brief *brief_of(struct briefs *b, uint32_t insn)
{
	const struct brief *f = &b->of[insn];

	if (__builtin_expect(f->known != b->known, 0))
		brief_look(b, insn);
	return f;
}

static __attribute__((noinline)) uint32_t brief_learn(struct briefs *b, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct core_desc *d = b->recipes->desc;
	uint32_t number = recipe_of(b->recipes, insn, kind, branch_ports);
	const struct recipe *p = &b->recipes->recipe[number];
	struct brief *f = &b->of[insn];
	unsigned taken = kind & RECIPE_TAKEN;
	bool simple = d->l1d_simple_latency != d->l1d_latency;

	briefs_check(b);
	brief_look(b, insn);
	f->keeps = ~p->writes;
	f->gives = simple && p->from_load ? p->loads : 0;
	f->copied = simple && d->rename_move_slots && p->copies ? p->loads : 0;
	f->copies = p->copies;
	if (kind == RECIPE_PLAIN) {
		f->recipe = number + 1;
		return number;
	}
	if (f->kind != kind - taken)
		f->other[0] = f->other[1] = 0;
	f->kind = (uint8_t)(kind - taken);
	f->other[taken] = number + 1;
	f->branch_ports[taken] = branch_ports;
	return number;
}

/* As recipe_of(); its brief is made then. */
static inline uint32_t brief_recipe(struct briefs *b, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct brief *f = &b->of[insn];
	unsigned taken = kind & RECIPE_TAKEN;

	_Static_assert(RECIPE_PLAIN == 0 && RECIPE_TAKEN == 1, "it is an index");
	if (kind == RECIPE_PLAIN)
		return __builtin_expect(f->recipe != 0, 1) ? f->recipe - 1 : brief_learn(b, insn, kind, branch_ports);
	if (__builtin_expect(f->other[taken] && f->kind == kind - taken && f->branch_ports[taken] == branch_ports, 1))
		return f->other[taken] - 1;
	return brief_learn(b, insn, kind, branch_ports);
}

#endif
