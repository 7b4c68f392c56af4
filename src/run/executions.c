#include "run/executions.h"

#include <glib.h>
#include <string.h>

#include "method/unmodelled.h"

void executions_fini(struct executions *e)
{
	g_free(e->of);
	*e = (struct executions){ .nr = 0 };
}

void executions_count(struct executions *e, const struct code *code, const struct step_batch *b)
{
	if (e->nr < code->nr) {
		uint32_t nr = MAX(2 * e->nr, code->nr);
		e->of = g_renew(uint64_t, e->of, nr);
		memset(e->of + e->nr, 0, (nr - e->nr) * sizeof *e->of);
		e->nr = nr;
	}
	for (size_t i = 0; i < b->n; i++)
		if ((b->step[i].flags & (STEP_KIND | STEP_COUNTED)) == (STEP_INSN | STEP_COUNTED))
			e->of[b->step[i].insn]++;
}

static uint64_t executions_of(const void *ctx, uint32_t insn)
{
	const struct executions *e = ctx;

	return insn < e->nr ? e->of[insn] : 0;
}

int executions_save_unmodelled(const struct executions *e, struct code *code, struct profile *p)
{
	return unmodelled_save(code, executions_of, e, p);
}
