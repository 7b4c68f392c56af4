/*
 * Variants that go along with the core as it is: what their costs matter to, what is executed, and that their cycles are those of a
 * variant that is always timed, after each batch of random programs on cores with one feature after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/gus/sharing.h"
#include "core_abstract.h"
#include "stream.h"

enum { FLOAT1 = 64, FLOAT2 };  /* vector registers */

static uint32_t latency(enum latency_class class)
{
	return (uint32_t)SHARING_LATENCY << class;
}

static void test_depends(void **state)
{
	struct machine *m = machine_new();
	struct abstract_costs as_is, c;

	/* What lies between members is compared, too: it is the same, whatever was there. */
	memset(&as_is, 0x55, sizeof as_is);
	memset(&c, 0xaa, sizeof c);
	abstract_costs_init(&as_is, &m->desc);
	abstract_costs_init(&c, &m->desc);
	assert_int_equal(sharing_depends(&as_is, &c), 0);
#define DEPENDS(change, part) memcpy(&c, &as_is, sizeof c), change, assert_int_equal(sharing_depends(&as_is, &c), part)
	DEPENDS((void)0, 0);
	DEPENDS(c.latency[LATENCY_FLOAT] /= 2, latency(LATENCY_FLOAT));
	DEPENDS((c.latency[LATENCY_FLOAT] /= 2, c.latency[LATENCY_VECTOR] *= 2), latency(LATENCY_FLOAT) | latency(LATENCY_VECTOR));
	DEPENDS(c.inverse[RESOURCE_UNITS + 2] /= 2, SHARING_UNIT << 2);
	DEPENDS((c.inverse[RESOURCE_DECODE] /= 2, c.inverse[RESOURCE_MICROCODE] /= 2), SHARING_DECODED);
	DEPENDS(c.level[LEVEL_LLC] /= 2, SHARING_LLC);
	DEPENDS(c.misses[MISSES_L2].known += 1, SHARING_LLC);
	DEPENDS((c.level[LEVEL_MEMORY] /= 2, c.code[LEVEL_MEMORY] /= 2), SHARING_MEMORY);
	DEPENDS((c.inverse[RESOURCE_MEMORY] /= 2, c.write[LEVEL_MEMORY].ticks /= 2), SHARING_MEMORY);
	DEPENDS(c.misses[MISSES_LLC].known += 1, SHARING_MEMORY);
	DEPENDS(c.level[LEVEL_L2] /= 2, SHARING_ALL);
	DEPENDS(c.misses[MISSES_L1].most *= 2, SHARING_ALL);
	DEPENDS(c.port_weight[1] *= 2, SHARING_ALL);
	DEPENDS(c.inverse[RESOURCE_L2] /= 2, SHARING_ALL);
	DEPENDS(c.rob *= 2, SHARING_ALL);
	DEPENDS(c.write[LEVEL_LLC].resource = RESOURCE_L2, SHARING_ALL);
#undef DEPENDS
	machine_free(m);
}

/* What the steps so far are from the n-th instruction on. */
static uint32_t parts_from(struct machine *m, size_t n)
{
	struct outcome_run r;
	struct sharing a = { 0 };
	uint32_t parts, some;

	outcome_run_init(&r, m);
	const uint64_t *word = r.stream.word, *end = word + r.stream.nr;
	while (n--)
		word += 1 + outcome_words(*word);
	parts = sharing_parts(&a, &r.recipes, word, (size_t)(end - word), SHARING_ALL - 1);
	some = sharing_parts(&a, &r.recipes, word, (size_t)(end - word), SHARING_LLC);
	assert_int_equal(some, parts & SHARING_LLC);
	sharing_fini(&a);
	outcome_run_fini(&r);
	m->nr_steps = 0;
	return parts & ~(uint32_t)SHARING_DECODED;
}

static uint32_t parts_of(struct machine *m)
{
	return parts_from(m, 0);
}

static void test_parts(void **state)
{
	struct machine *m = machine_new();
	uint32_t multiply = make_alu(m, R1, R2, 0, 3, ALU0), divide = make_alu(m, R1, R2, 0, 20, ALU0), add = make_alu(m, R1, R2, 0, 1, ALU);
	uint32_t fadd = make_alu(m, FLOAT1, FLOAT2, 0, 4, ALU), move = make_alu(m, FLOAT1, FLOAT2, 0, 0, ALU);

	m->insn[multiply].flags |= INSN_LONG;
	m->uop[m->insn[divide].uop].unit = 2;
	m->uop[m->insn[divide].uop].busy = 10;
	m->insn[fadd].flags |= INSN_FP;
	run_insn(m, make_flagged(m, INSN_NOP));
	assert_int_equal(parts_of(m), 0);
	run_insn(m, add);
	assert_int_equal(parts_of(m), latency(LATENCY_INTEGER));
	run_insn(m, multiply);
	assert_int_equal(parts_of(m), latency(LATENCY_MULTIPLY));
	run_insn(m, divide);
	assert_int_equal(parts_of(m), latency(LATENCY_INTEGER) | SHARING_UNIT << 1);
	run_insn(m, fadd);
	assert_int_equal(parts_of(m), latency(LATENCY_FLOAT));
	run_insn(m, move);
	assert_int_equal(parts_of(m), 0);

	/* Where results of a float operation come later to other units, whoever reads a vector register may wait for one. */
	m->insn[fadd].bypass = 1;
	run_insn(m, move);
	run_insn(m, fadd);
	run_insn(m, move);
	assert_int_equal(parts_of(m), latency(LATENCY_FLOAT));

	machine_free(m);
}

static void test_levels(void **state)
{
	struct machine *m = machine_new();
	uint32_t load = make_load(m, R1, BASE);

	/* All levels lack a line at first; then L1D has it. */
	run_access(m, load, 0x10000, 8);
	run_access(m, load, 0x10000, 8);
	assert_int_equal(parts_of(m), SHARING_LLC | SHARING_MEMORY);
	run_access(m, load, 0x10000, 8);
	run_access(m, load, 0x10000, 8);
	assert_int_equal(parts_from(m, 1), 0);

	/* Pages that a TLB of two entries lacks again: what the walk reaches is not looked at. */
	m->desc.ideal.dtlb = false;
	m->desc.dtlb_entries = m->desc.dtlb_ways = 2;
	m->desc.stlb_entries = 0;
	for (uint64_t i = 0; i < 8; i++)
		run_access(m, load, 0x10000 + i % 4 * 0x1040, 8);
	assert_int_equal(parts_from(m, 4), SHARING_LLC | SHARING_MEMORY);
	m->desc.ideal.dtlb = true;

	/* Lines that the last level has, where there is none between it and L1D. */
	m->desc.l2_size = 0;
	size_t again = run_lines_again(m, load, 64, 32);
	assert_int_equal(parts_from(m, again), SHARING_LLC);
	machine_free(m);
}

/* --- always timed, or not ---------------------------------------------------------------------------- */

enum { LOOP = 24, BATCHES = 300, ROUNDS = 2, VARIANTS = 12, SELDOM = 14, OTHERS = 7, PROGRAMS = 24 };

/* Features that a core keeps state for; with the last, no variant shares another's times. */
enum { NOT_SHARED = 7 };
static void equip(struct core_desc *d, unsigned feature)
{
	switch (feature) {
	case 1:
		d->binds[d->nr_binds++] = (struct core_bind){ BIND_TURN, ALU | MEM };
		break;
	case 2:
		d->l1d_set_fill = 7;
		break;
	case 3:
		d->store_queue_merge_bytes = 32;
		d->store_queue_part_again = 3;
		break;
	case 4:
		d->fetch_runahead = 2;
		d->ideal.l1i = false;
		break;
	case 5:
		d->load_queue_holds_entry = 3;
		break;
	case 6:
		d->forward_renamed = 100;
		d->rename_memory = 2;
		d->ideal.dtlb = false;
		break;
	case NOT_SHARED:
		d->binds[d->nr_binds++] = (struct core_bind){ BIND_PAIR, ALU | MEM };
		break;
	default:
		break;
	}
}

/* What is full first. */
static void limit(struct core_desc *d, unsigned which)
{
	d->rob_entries = which == 1 ? 20 : 200;
	d->sched0_entries = which == 2 ? 3 : 60;
	d->sched1_entries = which == 3 ? 3 : 60;
	d->queue_entries = which == 4 ? 5 : 60;
	d->load_queue_entries = which == 5 ? 3 : 60;
	d->store_queue_entries = which == 6 ? 2 : 60;
	d->l1d_mshrs = which == 7 ? 1 : 10;
}

/*
 * A loop of arithmetic, loads and stores with a branch that is mispredicted, and beside it what comes seldom: of these, one of a few
 * instructions each is executed in some of the batches.
 */
struct program {
	struct machine *m;
	uint32_t common[LOOP], back, other[OTHERS];
	uint64_t random, far;
	unsigned reach;                /* of 8 bytes: what the loop accesses */
};

static struct program program_new(unsigned feature, uint64_t seed)
{
	struct program p = { .m = machine_new(), .random = seed * 0x9e3779b97f4a7c15 | 1, .far = 0x1000000 };
	static const uint16_t ports[] = { ALU0, ALU1, ALU, ALU | MEM0 };
	struct machine *m = p.m;

	m->desc.uopcache_sets = 64;
	limit(&m->desc, (unsigned)seed % 8);
	equip(&m->desc, feature);
	p.reach = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 600 : 16000;
	for (unsigned i = 0; i < LOOP; i++) {
		uint8_t a = (uint8_t)(1 + stream_random(&p.random, 8)), b = (uint8_t)(1 + stream_random(&p.random, 8)), d = (uint8_t)(1 + stream_random(&p.random, 8));
		unsigned kind = (unsigned)stream_random(&p.random, 8);
		p.common[i] = kind < 2 ? make_load(m, d, a) : kind == 2 ? make_store(m, a, b) : make_alu(m, d, a, b, 1, ports[stream_random(&p.random, 4)]);
	}
	p.back = make_branch(m, BRANCH_CONDITIONAL, m->insn[p.common[0]].pc);
	p.other[5] = make_flagged(m, INSN_FENCE);
	p.other[6] = make_flagged(m, INSN_SERIALIZE);
	for (unsigned i = 0; i < 5; i++)
		p.other[i] = i == 3 ? make_load(m, R1, R2) : make_alu(m, i == 1 ? FLOAT1 : R1, i == 1 ? FLOAT2 : R2, 0, 4, ALU0);
	m->insn[p.other[0]].flags |= INSN_LONG;
	m->insn[p.other[1]].flags |= INSN_FP;
	m->uop[m->insn[p.other[2]].uop].unit = 1;
	m->uop[m->insn[p.other[2]].uop].busy = 9;
	m->insn[p.other[4]].flags |= INSN_LONG;
	machine_count(m);
	return p;
}

/* The first of the loop, up to `nr`. */
static void program_pass(struct program *p, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		uint32_t insn = p->common[i];
		if (p->m->insn[insn].flags & (INSN_LOAD | INSN_STORE))
			run_access(p->m, insn, 0x10000 + stream_random(&p->random, p->reach) * 8, 8);
		else
			run_insn(p->m, insn);
	}
}

/* The steps of a batch, in place of those before. It ends anywhere in the loop. */
static void program_go_on(struct program *p)
{
	unsigned kind = (unsigned)stream_random(&p->random, SELDOM);

	p->m->nr_steps = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		program_pass(p, LOOP);
		if (stream_random(&p->random, 6))
			run_taken(p->m, p->back);
		else
			run_insn(p->m, p->back);
		if (kind < OTHERS && kind != 3)
			run_insn(p->m, p->other[kind]);
		else if (kind == 3)
			run_access(p->m, p->other[3], p->far += 64, 8);
	}
	program_pass(p, (unsigned)stream_random(&p->random, LOOP));
}

static void vary_costs_of(struct abstract_costs *c, unsigned variant)
{
	switch (variant) {
	case 0: case 1: case 2: case 3:
		c->latency[variant % 2 ? LATENCY_FLOAT : LATENCY_MULTIPLY] = variant < 2 ? ABSTRACT_TICKS / 2 : 3 * ABSTRACT_TICKS;
		break;
	case 4:
		c->inverse[RESOURCE_UNITS] /= 2;
		break;
	case 5:
		c->inverse[RESOURCE_UNITS] *= 2;
		break;
	case 6:
		c->level[LEVEL_MEMORY] += 64 * ABSTRACT_TICKS;
		break;
	case 7:
		c->level[LEVEL_MEMORY] /= 2;
		break;
	case 8:
		c->level[LEVEL_LLC] *= 2;
		c->inverse[RESOURCE_LLC] *= 3;
		break;
	case 9:
		c->inverse[RESOURCE_DECODE] *= 2;
		break;
	case 10:
		c->latency[LATENCY_MULTIPLY] *= 2;
		c->inverse[RESOURCE_UNITS] *= 2;
		break;
	case 11:
		c->mispredict += 5 * ABSTRACT_TICKS;
		break;
	}
}

struct varied {
	struct chrono *always, *seldom; /* timed in each batch, where it has to be */
	struct sharing_state way;      /* of `seldom` */
	uint32_t depends;
};

/* What happened over all programs: batches that variants went along in, how often they did not any more, and behind the core as it is. */
struct happened { unsigned along, left, later; };

static void one_batch(struct varied *v, struct chrono *as_is, uint32_t parts, const struct outcome_stream *s, struct happened *h)
{
	bool before = v->way.shared, along = sharing_holds(&v->way, v->seldom, as_is, v->depends, parts);

	h->left += before && !along;
	h->along += along;
	h->later += along && v->way.later;
	chrono_batch(v->always, s->word, s->nr);
	if (!along)
		chrono_batch(v->seldom, s->word, s->nr);
}

static void compare(unsigned feature, uint64_t seed, struct happened *h)
{
	struct program p = program_new(feature, seed);
	struct varied v[VARIANTS] = { 0 };
	struct abstract_costs costs, c;
	struct outcome_stream s = { 0 };
	struct sharing a = { 0 };
	struct recipes recipes;
	struct outcomes *o;
	struct chrono *as_is;

	assert_int_equal(recipes_init(&recipes, &p.m->desc, &p.m->code), 0);
	assert_int_equal(outcomes_new(&o, &p.m->desc, &p.m->code, &recipes), 0);
	abstract_costs_init(&costs, &p.m->desc);
	assert_int_equal(chrono_new(&as_is, &p.m->desc, &costs, &recipes, CHRONO_PLAIN), 0);
	for (unsigned i = 0; i < VARIANTS; i++) {
		memcpy(&c, &costs, sizeof c);
		vary_costs_of(&c, i);
		v[i].depends = sharing_depends(&costs, &c);
		assert_int_equal(chrono_new(&v[i].always, &p.m->desc, &c, &recipes, CHRONO_PLAIN), 0);
		assert_int_equal(chrono_new(&v[i].seldom, &p.m->desc, &c, &recipes, CHRONO_PLAIN), 0);
	}
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		program_go_on(&p);
		s.nr = 0;
		outcomes_batch(o, p.m->step, p.m->nr_steps, 0, &s);
		uint32_t parts = sharing_parts(&a, &recipes, s.word, s.nr, SHARING_ALL - 1);
		for (unsigned i = 0; i < VARIANTS; i++)
			one_batch(&v[i], as_is, parts, &s, h);
		chrono_batch(as_is, s.word, s.nr);
		for (unsigned i = 0; i < VARIANTS; i++)
			assert_int_equal(sharing_cycles(&v[i].way, v[i].seldom, as_is), chrono_cycles(v[i].always));
	}
	for (unsigned i = 0; i < VARIANTS; i++) {
		chrono_free(v[i].always);
		chrono_free(v[i].seldom);
	}
	chrono_free(as_is);
	sharing_fini(&a);
	outcomes_free(o);
	outcome_stream_fini(&s);
	recipes_fini(&recipes);
	machine_free(p.m);
}

static void test_same_cycles(void **state)
{
	for (unsigned feature = 0; feature <= NOT_SHARED; feature++) {
		struct happened h = { 0 };
		for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
			compare(feature, seed, &h);
		if (feature == NOT_SHARED)
			assert_int_equal(h.along, 0);
		else
			assert_true(h.along > BATCHES && h.left > 20 && h.later > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depends), cmocka_unit_test(test_parts), cmocka_unit_test(test_levels), cmocka_unit_test(test_same_cycles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
