/*
 * What is foreseen: a forecast for each instruction that wants one, runs that are straight code, and the same timing
 * whether the two parts of a core run as one or apart, whatever the batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/core.h"
#include "core/foresee.h"
#include "machine.h"

/* A loop with a branch that nobody can know, a load, and a fault and a flush here and there. */
static struct machine *program(unsigned turns)
{
	struct machine *m = machine_new();
	uint64_t x = RANDOM_START;
	uint32_t top = make_alu(m, R1, R1, 0, 3, ALU);
	uint32_t load = make_load(m, R2, R1);
	uint32_t skip = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 6);
	uint32_t flush = make_flagged(m, INSN_FLUSH);
	uint32_t then = make_alu(m, R3, R2, 0, 1, ALU);
	uint32_t also = make_alu(m, R4, R3, 0, 1, ALU);
	uint32_t join = make_alu(m, R5, R1, 0, 1, ALU);
	uint32_t back = make_branch(m, BRANCH_CONDITIONAL, 0x1000);

	for (unsigned n = 0; n < 20; n++)
		make_flagged(m, INSN_NOP);
	for (unsigned n = 0; n < turns; n++) {
		next_random(&x);
		run_insn(m, top);
		run_access(m, load, 0x100000 + x % 4096 * 8, 8);
		if (x >> 40 & 1) {
			run_taken(m, skip);
		} else {
			run_insn(m, skip);
			run_insn(m, flush);
			run_insn(m, then);
			run_insn(m, also);
		}
		run_insn(m, join);
		run_taken(m, back);
	}
	return m;
}

static void forecasts_are_complete(void **state)
{
	struct machine *m = program(300);
	struct foreseen seen = { 0 };
	struct foresight *f;
	size_t wanted = 0, runs = 0, mispredicted = 0;

	machine_count(m);
	assert_int_equal(foresight_new(&f, &m->desc, &m->code), 0);
	foresight_batch(f, m->step, m->nr_steps, 0, &seen);
	for (size_t i = 0; i < m->nr_steps; i++) {
		const struct step *s = &m->step[i];

		if (step_kind(s) != STEP_INSN || !foresee_wanted(code_insn(&m->code, s->insn), s))
			continue;
		const struct insn *in = code_insn(&m->code, s->insn);
		const struct forecast *c = &seen.forecast[wanted++];
		uint64_t next = c->predicted.mispredicted ? c->predicted.target : in->pc + in->length;

		mispredicted += c->predicted.mispredicted;
		assert_int_equal(c->nr_runs != 0, c->predicted.mispredicted || in->flags & INSN_FLUSH);
		for (size_t k = 0; k < c->nr_runs; k++) {
			const struct wrong_run *r = &seen.run[runs++];

			assert_true(r->nr >= 1);
			for (uint32_t j = r->first; j < r->first + r->nr; j++) {
				assert_int_equal(code_insn(&m->code, j)->pc, next);
				next += code_insn(&m->code, j)->length;
			}
			if (r->end.taken)
				next = r->end.target;
		}
	}
	assert_int_equal(wanted, seen.nr);
	assert_int_equal(runs, seen.nr_runs);
	assert_in_range(mispredicted, 100, 200);       /* every other one of 300 */
	foreseen_fini(&seen);
	foresight_free(f);
	machine_free(m);
}

struct records {
	struct timed *t;
	size_t nr, room;
};

static void take(void *ctx, const struct timed *t, size_t n)
{
	struct records *r = ctx;

	if (r->nr + n > r->room) {
		r->room = 2 * (r->nr + n);
		r->t = realloc(r->t, r->room * sizeof *r->t);
	}
	memcpy(r->t + r->nr, t, n * sizeof *t);
	r->nr += n;
}

/* Times it in batches of `size`; `before`: so many batches are foreseen before the first of them is timed. */
static struct records time_it(struct machine *m, size_t size, size_t before)
{
	const struct core_ops *ooo = core_find("ooo");
	struct foreseen seen[8] = { { 0 } };
	struct records r = { 0 };
	struct core *core;

	assert_true(before <= 8);
	assert_int_equal(ooo->open(&core, &m->desc, &m->code, (struct timed_sink){ .take = take, .ctx = &r }), 0);
	for (size_t i = 0, k = 0; i < m->nr_steps || (before && k * size < m->nr_steps + before * size); i += size, k++) {
		if (!before) {
			size_t n = m->nr_steps - i < size ? m->nr_steps - i : size;

			ooo->batch(core, m->step + i, n, m->nr_steps - i - n);
			continue;
		}
		if (k >= before) {
			size_t at = (k - before) * size, n = m->nr_steps - at < size ? m->nr_steps - at : size;

			ooo->batch_foreseen(core, m->step + at, n, m->nr_steps - at - n, &seen[(k - before) % 8]);
		}
		if (i < m->nr_steps) {
			size_t n = m->nr_steps - i < size ? m->nr_steps - i : size;

			ooo->foresee(core, m->step + i, n, m->nr_steps - i - n, &seen[k % 8]);
		}
	}
	ooo->finish(core);
	ooo->close(core);
	for (size_t i = 0; i < 8; i++)
		foreseen_fini(&seen[i]);
	return r;
}

static void parts_and_batches_do_not_matter(void **state)
{
	struct machine *m = program(200);

	machine_count(m);
	struct records whole = time_it(m, m->nr_steps, 0);
	static const size_t sizes[] = { 1, 7, 100, 100000 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		for (size_t before = 0; before <= 7; before += before ? 3 : 1) {
			struct records parted = time_it(m, sizes[i], before);

			assert_int_equal(parted.nr, whole.nr);
			assert_memory_equal(parted.t, whole.t, whole.nr * sizeof *whole.t);
			free(parted.t);
		}
	}
	free(whole.t);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forecasts_are_complete),
		cmocka_unit_test(parts_and_batches_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
