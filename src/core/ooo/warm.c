/* Steps that are not timed: what they leave in caches and predictors. */
#include "core/cache/warm.h"

#include "core/ooo/ooo.h"
#include "core/ooo/span.h"

/* The lines of its code, of which *line was read last. */
static void warm_code(struct ooo *o, const struct insn *in, uint64_t *line)
{
	const uint64_t first = in->pc >> FRONTEND_LINE, last = (in->pc + in->length - 1u) >> FRONTEND_LINE;

	if (first != *line)
		memory_warm_code(o->memory, first << FRONTEND_LINE);
	if (last != first)
		memory_warm_code(o->memory, last << FRONTEND_LINE);
	*line = last;
}

/* A rep string: each piece is read, then written, as repeat.c has it. */
static void warm_repeat(struct ooo *o, const struct insn *in, const struct step *s, uint32_t nr_steps)
{
	struct rep_span load = { s, s + nr_steps, 0, STEP_LOAD }, store = { s, s + nr_steps, 0, STEP_STORE };
	uint32_t each, read, written;

	repeat_iterations(s, nr_steps, &each);
	each = in->flags & INSN_STORE ? PIECE : each * (PIECE / 8);
	do {
		uint64_t from = 0, to = 0;

		written = rep_span_take(&store, PIECE, &to);
		read = rep_span_take(&load, written ? written : each, &from);
		memory_warm_data(o->memory, from, read, false, false, in->pc);
		memory_warm_data(o->memory, to, written, true, false, in->pc);
	} while (read || written);
}

static void warm_accesses(struct ooo *o, const struct insn *in, const struct step *s, uint32_t nr_steps)
{
	if (in->flags & INSN_PREFETCH) {
		if (s->addr)
			memory_warm_soft(o->memory, s->addr);
		return;
	}
	for (uint32_t i = 0; i < nr_steps; i++)
		if (s[i].flags & STEP_LOAD)
			memory_warm_data(o->memory, s[i].addr, s[i].bytes, false, false, in->pc);
	for (uint32_t i = 0; i < nr_steps; i++)
		if (s[i].flags & STEP_STORE)
			memory_warm_data(o->memory, s[i].addr, s[i].bytes, true, true, in->pc);
}

void ooo_warm(struct core *core, const struct step *s, size_t n, size_t ahead)
{
	struct ooo *o = (struct ooo *)core;
	size_t i = o->skip < n ? o->skip : n, all = n + ahead;
	uint64_t line = UINT64_MAX;

	foresight_warm(o->foresight, s, n, ahead);
	memory_suppose(o->memory, true, 0);    /* of what was fetched last */
	o->skip -= i;
	o->fused = false;
	while (i < n) {
		const struct step *first = &s[i++];

		if (step_kind(first) == STEP_UNMAP)
			memory_unmap(o->memory, first->addr, first->insn);
		if (step_kind(first) != STEP_INSN)
			continue;
		while (i < all && step_belongs(&s[i]))
			i++;
		const struct insn *in = code_insn(o->code, first->insn);
		const uint32_t nr = (uint32_t)(&s[i] - first);

		warm_code(o, in, &line);
		if (in->flags & INSN_REP)
			warm_repeat(o, in, first, nr);
		else if (nr > 1 || first->bytes || in->flags & INSN_PREFETCH)
			warm_accesses(o, in, first, nr);
	}
	o->skip += i - n;
}
