/*
 * run/variants: what a model does not say of itself has a default. One that can do no more than time steps takes as many cycles in
 * each variant as one that foresees apart; and both what a core by itself does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/random.h"
#include "machine.h"
#include "run/counted.h"
#include "run/variants.h"

enum { TURNS = 2000, BATCH = 700 };

/* Loads anywhere, and a branch that nobody can know. */
static struct machine *program(void)
{
	struct machine *m = machine_new();
	uint64_t x = RANDOM_START;
	uint32_t top = make_alu(m, R1, R1, 0, 3, ALU), load = make_load(m, R2, R1);
	uint32_t skip = make_branch(m, BRANCH_CONDITIONAL, 0x1000 + 4 * 4), then = make_alu(m, R3, R2, 0, 1, ALU);
	uint32_t back = make_branch(m, BRANCH_CONDITIONAL, 0x1000);

	for (unsigned n = 0; n < TURNS; n++) {
		next_random(&x);
		run_insn(m, top);
		run_access(m, load, 0x100000 + x % 65536 * 64, 8);
		if (x >> 40 & 1) {
			run_taken(m, skip);
		} else {
			run_insn(m, skip);
			run_insn(m, then);
		}
		run_taken(m, back);
	}
	machine_count(m);
	return m;
}

static struct step_batch batch_at(const struct machine *m, size_t at)
{
	size_t n = m->nr_steps - at < BATCH ? m->nr_steps - at : BATCH;

	return (struct step_batch){ .step = m->step + at, .n = n, .ahead = m->nr_steps - at - n, .end = at + n == m->nr_steps };
}

/* Cycles of the core as it is, with a small reorder buffer, and with caches that always hit. */
static void cycles_of(const struct core_ops *model, struct machine *m, const struct vary *rob, uint64_t cycles[3])
{
	const struct driven_run run = { .desc = &m->desc, .model = model, .code = &m->code };
	const struct variant variant[3] = { { .nr = 0 }, { .part = { rob }, .nr = 1, .weight = WEIGHT_ONE / 8 }, { .ideal = { .l1d = true } } };
	struct variants *v = variants_new(&run);
	unsigned nr[3];

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(variants_add(v, &variant[i], &nr[i]), 0);
	for (size_t at = 0; at < m->nr_steps; at += BATCH) {
		struct step_batch b = batch_at(m, at);
		assert_int_equal(variants_batch(v, &b), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		cycles[i] = variants_cycles(v, nr[i]);
	variants_free(v);
}

static uint64_t alone(const struct core_ops *model, struct machine *m)
{
	struct counted counted = { 0 };
	struct core *core;

	assert_int_equal(model->open(&core, &m->desc, &m->code, (struct timed_sink){ .take = counted_take, .ctx = &counted }), 0);
	for (size_t at = 0; at < m->nr_steps; at += BATCH) {
		struct step_batch b = batch_at(m, at);
		model->batch(core, b.step, b.n, b.ahead);
	}
	model->finish(core);
	model->close(core);
	return counted.cycles;
}

static const struct vary *find(const struct vary *list, unsigned nr, const char *name)
{
	for (unsigned i = 0; i < nr; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static void defaults(void **state)
{
	static struct vary list[VARY_MAX];
	const struct core_ops *ooo = core_find("ooo");
	const struct core_ops plain = { .name = "plain", .open = ooo->open, .batch = ooo->batch, .finish = ooo->finish, .close = ooo->close };
	struct machine *m = program();
	const struct vary *rob = find(list, vary_list(list, &m->desc, NULL, 0, plain.resources), "rob");
	uint64_t apart[3], whole[3];

	cycles_of(ooo, m, rob, apart);
	cycles_of(&plain, m, rob, whole);
	assert_memory_equal(apart, whole, sizeof apart);
	assert_true(apart[2] < apart[0] && apart[0] < apart[1]);
	assert_int_equal(apart[0], alone(ooo, m));
	machine_free(m);
}

/* The abstract core's own way: as many cycles as a core by itself. */
static void own_way(void **state)
{
	static struct vary list[VARY_MAX];
	const struct core_ops *abstract = core_find("abstract");
	struct machine *m = program();
	const struct vary *rob = find(list, vary_list(list, &m->desc, NULL, 0, abstract->resources), "rob");
	uint64_t cycles[3];

	assert_non_null(abstract->variants);
	cycles_of(abstract, m, rob, cycles);
	assert_true(cycles[2] < cycles[0] && cycles[0] < cycles[1]);
	assert_int_equal(cycles[0], alone(abstract, m));
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(defaults), cmocka_unit_test(own_way) };

	return cmocka_run_group_tests_name("run_variants", tests, NULL, NULL);
}
