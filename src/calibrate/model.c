/* Runs of the detailed core; model.h says what for. */
#include "calibrate/model.h"

#include <assert.h>
#include <glib.h>
#include <string.h>

#include "core/core.h"

enum { ROUNDS = 100, COUNTED = 50, DATA = 1 << 20 };

void model_description(const struct parent *p, const struct findings *f, struct core_desc *d)
{
	*d = p->desc;
	for (unsigned i = 0; i < nr_core_params; i++) {
		int32_t value = findings_param(f, core_params[i].name);

		memcpy((char *)d + core_params[i].offset, &value, sizeof value);
	}
}

struct commits {
	uint64_t begin, end;       /* of the last before those that are counted, and of the last */
};

static void take(void *ctx, const struct timed *t, size_t n)
{
	struct commits *c = ctx;

	for (size_t i = 0; i < n; i++) {
		if (!timed_commits(&t[i]))
			continue;
		c->end = timed_leave(&t[i]);
		if (!(t[i].flags & TIMED_COUNTED))
			c->begin = c->end;
	}
}

static struct step step_of(struct parent *p, const struct sequence *s, const struct model_access *access, unsigned k,
                           bool counted)
{
	uint32_t index = code_add(p->code, p->pc, s->bytes[k], s->length[k]);
	const struct insn *in = code_insn(p->code, index);
	struct step step = { .insn = index, .flags = (uint8_t)(STEP_INSN | (counted ? STEP_COUNTED : 0)) };

	p->pc += s->length[k];
	if (access[k].bytes) {
		assert(!(in->flags & INSN_LOAD) || !(in->flags & INSN_STORE));
		step.addr = DATA + access[k].addr;
		step.bytes = access[k].bytes;
		step.flags |= in->flags & INSN_STORE ? STEP_STORE : STEP_LOAD;
	}
	return step;
}

int model_round(struct parent *p, struct core_desc *d, const struct sequence *s, const struct model_access *access,
                double *cycles)
{
	const struct core_ops *ooo = core_find("ooo");
	struct commits commits = { 0 };
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	struct core *core;

	d->ideal = (struct core_ideal){ .l1i = true, .itlb = true, .l1d = true, .dtlb = true, .branch = true };
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned k = 0; k < s->n; k++) {
			struct step step = step_of(p, s, access, k, round >= ROUNDS - COUNTED);

			g_array_append_val(steps, step);
		}
	p->pc = (p->pc + 15) & ~UINT64_C(15);
	int ret = ooo->open(&core, d, p->code, (struct timed_sink){ .take = take, .ctx = &commits });
	if (!ret) {
		ooo->batch(core, (struct step *)(void *)steps->data, steps->len, 0);
		ooo->finish(core);
		ooo->close(core);
		*cycles = (double)(commits.end - commits.begin) / COUNTED;
	}
	g_array_free(steps, TRUE);
	return ret;
}
