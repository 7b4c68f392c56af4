/*
 * What executions of a static instruction want of its recipes, in half a line of cache: the table that finds recipes has a line for
 * each instruction, and a recipe is two, so that programs with much code would wait for both. Part of abstract_outcome.c, which
 * alone includes it.
 */
#ifndef CYCLEWISE_CORE_ABSTRACT_BRIEF_H
#define CYCLEWISE_CORE_ABSTRACT_BRIEF_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/abstract_recipe.h"

struct brief {
	_Alignas(32) uint64_t writes, loads; /* of all its recipes */
	uint32_t recipe[2];            /* [RECIPE_TAKEN or not]: number + 1 of the last that was wanted; 0: none was */
	uint16_t branch_ports[2];      /* what they were made for */
	uint8_t kind;                  /* the same, RECIPE_TAKEN apart */
	uint8_t copies;                /* of all its recipes */
	uint8_t base;                  /* register whose value makes its load simple where that comes from a load; REG_NONE: nothing does */
	bool from_load : 1;            /* of all its recipes */
	bool plain : 1;                /* the last was RECIPE_PLAIN, as all are but in pairs; and nothing begins anew behind it */
};

struct briefs {
	struct recipes *recipes;
	struct brief *of;              /* [nr], by static instruction */
	uint32_t nr;
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
	if (b->nr < b->recipes->code->nr)
		briefs_grow(b);
	briefs_check(b);
}

/* Whether all that becomes of its executions is said by recipe, code and accesses. */
static inline bool brief_is_plain(const struct core_desc *d, const struct insn *in)
{
	return !in->branch && !(in->flags & (INSN_SYSCALL | INSN_FLUSH | INSN_PREFETCH)) && !(in->stack && d->rename_stack_ports);
}

static __attribute__((noinline)) void brief_learn(struct briefs *b, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct insn *in = code_insn(b->recipes->code, insn);
	uint32_t number = recipe_of(b->recipes, insn, kind, branch_ports);
	const struct recipe *p = &b->recipes->recipe[number];
	struct brief *f = &b->of[insn];
	unsigned taken = kind & RECIPE_TAKEN;

	briefs_check(b);
	if (f->kind != kind - taken)
		f->recipe[0] = f->recipe[1] = 0;
	f->kind = (uint8_t)(kind - taken);
	f->recipe[taken] = number + 1;
	f->branch_ports[taken] = branch_ports;
	f->writes = p->writes;
	f->loads = p->loads;
	f->copies = p->copies;
	f->from_load = p->from_load;
	f->base = in->flags & INSN_SIMPLE_ADDR && in->nr_addr && in->addr[0] < REG_VECTOR ? in->addr[0] : REG_NONE;
	f->plain = kind == RECIPE_PLAIN && brief_is_plain(b->recipes->desc, in);
}

/* As recipe_of(); its brief is made then. */
static inline uint32_t brief_recipe(struct briefs *b, uint32_t insn, unsigned kind, uint16_t branch_ports)
{
	const struct brief *f = &b->of[insn];
	unsigned taken = kind & RECIPE_TAKEN;

	_Static_assert(RECIPE_PLAIN == 0 && RECIPE_TAKEN == 1, "it is an index");
	if (__builtin_expect(!f->recipe[taken] || f->kind != kind - taken || f->branch_ports[taken] != branch_ports, 0))
		brief_learn(b, insn, kind, branch_ports);
	return f->recipe[taken] - 1;
}

#endif
