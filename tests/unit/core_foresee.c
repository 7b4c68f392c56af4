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
#include "core/order/foresee.h"
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
	struct forecasts all;
	size_t wanted = 0, runs = 0, mispredicted = 0;

	machine_count(m);
	assert_int_equal(foresight_new(&f, &m->desc, &m->code), 0);
	foresight_batch(f, m->step, m->nr_steps, 0, &seen);
	all = forecasts_of(&seen);
	for (size_t i = 0; i < m->nr_steps; i++) {
		const struct step *s = &m->step[i];

		if (step_kind(s) != STEP_INSN || !foresee_wanted(code_insn(&m->code, s->insn), s))
			continue;
		const struct insn *in = code_insn(&m->code, s->insn);
		const struct forecast *c = &all.forecast[wanted++];
		uint64_t next = c->predicted.mispredicted ? c->predicted.target : in->pc + in->length;

		mispredicted += c->predicted.mispredicted;
		assert_int_equal(c->nr_runs != 0, c->predicted.mispredicted || in->flags & INSN_FLUSH);
		for (size_t k = 0; k < c->nr_runs; k++) {
			const struct wrong_run *r = &all.run[runs++];

			assert_true(r->nr >= 1);
			for (uint32_t j = r->first; j < r->first + r->nr; j++) {
				assert_int_equal(code_insn(&m->code, j)->pc, next);
				next += code_insn(&m->code, j)->length;
			}
			if (r->end.taken)
				next = r->end.target;
		}
	}
	assert_int_equal(wanted, all.nr);
	assert_int_equal(runs, all.nr_runs);
	assert_in_range(mispredicted, 100, 200);       /* every other one of 300 */
	foreseen_fini(&seen);
	foresight_free(f);
	machine_free(m);
}

/* How many instructions are foreseen behind a flush, as many as the core can hold. The description is gone by then. */
static uint32_t held_behind_flush(struct machine *m, uint32_t flush)
{
	struct core_desc *desc = malloc(sizeof *desc);
	struct foreseen seen = { 0 };
	struct forecasts all;
	struct foresight *f;
	uint32_t nr = 0;

	*desc = m->desc;
	assert_int_equal(foresight_new(&f, desc, &m->code), 0);
	memset(desc, 0, sizeof *desc);
	free(desc);
	m->nr_steps = 0;
	run_insn(m, flush);
	foresight_batch(f, m->step, m->nr_steps, 0, &seen);
	all = forecasts_of(&seen);
	for (size_t i = 0; i < all.nr_runs; i++)
		nr += all.run[i].nr;
	foreseen_fini(&seen);
	foresight_free(f);
	return nr;
}

/*
 * Compares and branches that are not taken, one pair in eight of which lies in two lines: whether a pair takes a slot or two
 * decides how many a core can hold.
 */
static void pairs_are_those_of_the_core(void **state)
{
	struct machine *m = machine_new();
	uint32_t flush = make_flagged(m, INSN_FLUSH);

	for (unsigned n = 0; n < 400; n++) {
		m->insn[make_alu(m, 0, R1, R2, 1, ALU)].flags |= INSN_FUSES_NEXT;
		make_branch(m, BRANCH_CONDITIONAL, 0x1000);
	}
	machine_count(m);
	m->desc.rob_entries = 80;
	m->desc.queue_entries = m->desc.fetch_queue = 8; /* 160 with those in flight */
	m->desc.decode_macro_fusion = 0;
	assert_int_equal(held_behind_flush(m, flush), 160);
	m->desc.decode_macro_fusion = m->desc.decode_fusion_across = 1;
	assert_int_equal(held_behind_flush(m, flush), 320);
	m->desc.decode_fusion_across = 0;
	assert_int_equal(held_behind_flush(m, flush), 2 * 143); /* the 8th, 16th ... 136th, 17 of them, take two slots */
	machine_free(m);
}

/* Cores foresee the same unless something differs that foresight asks for; the size of a line does where pairs have to lie in one. */
static void same_unless_asked_for(void **state)
{
	struct machine *m = machine_new();
	struct core_desc *a = &m->desc, b = *a;

	b.rob_entries++;
	b.cache_line *= 2;
	assert_true(foresight_same(a, &b));
	b.branch_ras_entries++;
	assert_false(foresight_same(a, &b));
	b = *a;
	b.decode_macro_fusion = !b.decode_macro_fusion;
	assert_false(foresight_same(a, &b));
	b = *a;
	b.decode_fusion_across = !b.decode_fusion_across;
	assert_false(foresight_same(a, &b));
	for (int32_t across = 0; across <= 1; across++) {
		a->decode_fusion_across = across;
		b = *a;
		b.cache_line *= 2;
		assert_int_equal(foresight_same(a, &b), across);
	}
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
	struct foreseen seen[8] = { 0 };
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
		cmocka_unit_test(pairs_are_those_of_the_core),
		cmocka_unit_test(same_unless_asked_for),
		cmocka_unit_test(parts_and_batches_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
