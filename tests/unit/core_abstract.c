/* The abstract core as a whole: the paper's loops, conservation, the rules of the stream. */
#include "core_abstract.h"

#include <glib.h>

#include "core/gus/recipe.h"
#include "stream.h"

enum { FMA0 = 70, LOADED = 71, CONSTANT = 72 };

/* --- 400: figure 1 ----------------------------------------------------------------------------------- */

static uint32_t make_fma(struct machine *m, uint8_t dst, uint8_t a, uint8_t b)
{
	uint32_t i = make_alu(m, dst, a, b, 4, ALU);

	m->insn[i].data[m->insn[i].nr_data++] = dst;
	m->insn[i].flags = INSN_FP | INSN_LONG;
	return i;
}

/* Loop (a) loads both operands in the inner loop, (b) one of them. All but the FMAs is told by `insn`. */
struct loop { uint32_t load1, load2, fma1, fma2, branch; };

static struct loop figure_1(struct machine *m, bool hoisted, unsigned iterations)
{
	struct loop l;
	uint64_t start = m->pc;

	l.load1 = make_load(m, LOADED, BASE);
	l.load2 = hoisted ? l.load1 : make_load(m, LOADED + 10, BASE);
	l.fma1 = make_fma(m, FMA0, LOADED, CONSTANT);
	l.fma2 = make_fma(m, FMA0, LOADED, LOADED + 10);
	l.branch = make_branch(m, BRANCH_CONDITIONAL, start);
	for (unsigned i = 0; i < iterations; i++) {
		run_access(m, l.load1, 0x8000 + 32 * (uint64_t)(i % 16), 32);
		if (!hoisted)
			run_access(m, l.load2, 0x9000 + 32 * (uint64_t)(i % 16), 32);
		run_insn(m, l.fma1);
		run_insn(m, l.fma2);
		run_taken(m, l.branch);
	}
	return l;
}

static void test_400_figure_1(void **state)
{
	for (int hoisted = 0; hoisted < 2; hoisted++) {
		struct machine *m = wide_machine();
		size_t each = hoisted ? 4 : 5;

		m->desc.rob_entries = 64;
		m->desc.commit_width = 4;
		figure_1(m, hoisted, 300);
		time_steps(m, 512);
		assert_int_equal(between(m, each * 100 - 1, each * 300 - 1), 200 * 8);
		machine_free(m);
	}
}

/* The table of instructions ends where there would be no recipes left. */
static void test_409_limit(void **state)
{
	struct machine *m = wide_machine();

	m->code.limit = CODE_MOST;
	figure_1(m, true, 3);
	time_steps(m, 512);
	assert_int_equal(m->code.limit, RECIPE_INSNS);
	machine_free(m);
}

/* Half the latency is twice the speed; twice any throughput or size is nothing. */
static void test_401_figure_1_is_latency(void **state)
{
	struct machine *m = wide_machine();
	struct abstract_costs base, c;
	struct outcome_run r;

	m->desc.rob_entries = 64;
	m->desc.commit_width = 4;
	figure_1(m, false, 1000);
	outcome_run_init(&r, m);
	abstract_costs_init(&base, &m->desc);
	uint64_t cycles = cycles_with(&r, m, &base);
	assert_in_range(cycles, 8000, 8030);
	c = base;
	c.latency[LATENCY_FLOAT] /= 2;
	assert_in_range(cycles_with(&r, m, &c), 4000, 4030);
	for (unsigned i = 0; i < RESOURCE_PORTS; i++) {
		c = base;
		c.inverse[i] /= 2;
		assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	}
	for (unsigned i = 0; i < CORE_PORTS; i++) {
		c = base;
		c.port_weight[i] *= 2;
		assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	}
	c = base;
	c.rob *= 2;
	assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	c = base;
	c.load[0] /= 2;
	assert_true(cycles_with(&r, m, &c) * 102 >= cycles * 100);
	outcome_run_fini(&r);
	machine_free(m);
}

static void test_402_figure_1_causality(void **state)
{
	for (int hoisted = 0; hoisted < 2; hoisted++) {
		struct machine *m = wide_machine();
		struct abstract_costs c;
		struct outcome_run r;
		struct chrono *v;

		m->desc.rob_entries = 64;
		m->desc.commit_width = 4;
		struct loop l = figure_1(m, hoisted, 1000);
		outcome_run_init(&r, m);
		abstract_costs_init(&c, &m->desc);
		assert_int_equal(chrono_new(&v, &m->desc, &c, &r.recipes, CHRONO_TAINT), 0);
		chrono_batch(v, r.stream.word, r.stream.nr);
		chrono_finish(v);
		const struct causality_row *one = chrono_row(v, l.fma1), *two = chrono_row(v, l.fma2);
		assert_non_null(one);
		assert_non_null(two);
		assert_true((one->count + two->count) * 100 >= chrono_critical(v) * 95);
		assert_true(one->reason[REASON_LATENCY] * 100 >= one->count * 99);
		assert_true(two->reason[REASON_LATENCY] * 100 >= two->count * 99);
		chrono_free(v);
		outcome_run_fini(&r);
		machine_free(m);
	}
}

/* Code that is run once, a miss a line: the path goes from miss to miss, whatever begins and ceases to be busy between them. */
static void test_403_cold_code(void **state)
{
	enum { NR = 1600, EACH = 16 };
	struct machine *m = wide_machine();
	struct abstract_costs c;
	struct outcome_run r;
	struct chrono *v;

	m->desc.ideal.l1i = false;
	m->desc.rob_entries = 64;
	for (int i = 0; i < NR; i++)
		run_insn(m, make_flagged(m, INSN_NOP));
	outcome_run_init(&r, m);
	abstract_costs_init(&c, &m->desc);
	assert_int_equal(chrono_new(&v, &m->desc, &c, &r.recipes, CHRONO_TAINT), 0);
	chrono_batch(v, r.stream.word, r.stream.nr);
	chrono_finish(v);
	for (uint32_t i = 0; i < NR; i += EACH) {
		const struct causality_row *row = chrono_row(v, i);
		assert_non_null(row);
		assert_int_equal(row->count, 1);
		assert_int_equal(row->reason[REASON_CODE], 1);
	}
	chrono_free(v);
	outcome_run_fini(&r);
	machine_free(m);
}

/* Variants of unlike sizes and latencies that are timed together, in batches, take what each takes alone. */
static void test_404_together(void **state)
{
	enum { NR = 5, BATCH = 97 };
	struct machine *m = wide_machine();
	struct abstract_costs c[NR];
	struct chrono *v[NR];
	struct outcome_run r;
	uint64_t before = 0;

	figure_1(m, 0, 300);
	outcome_run_init(&r, m);
	for (unsigned i = 0; i < NR; i++) {
		abstract_costs_init(&c[i], &m->desc);
		c[i].rob = 24 + 16 * i;
		c[i].latency[LATENCY_FLOAT] *= i + 1;
		c[i].load[0] *= i + 1;
		assert_int_equal(chrono_new(&v[i], &m->desc, &c[i], &r.recipes, CHRONO_PLAIN), 0);
	}
	for (size_t from = 0, to; from < r.stream.nr; from = to) {
		for (to = from; to < r.stream.nr && to < from + BATCH; )
			to += 1 + outcome_words(r.stream.word[to]);
		chrono_batch_together(v, NR, r.stream.word + from, to - from);
	}
	for (unsigned i = 0; i < NR; i++) {
		uint64_t cycles = cycles_with(&r, m, &c[i]);
		assert_int_equal(chrono_cycles(v[i]), cycles);
		assert_true(cycles > before);
		before = cycles;
		chrono_free(v[i]);
	}
	outcome_run_fini(&r);
	machine_free(m);
}

/* --- 500: the stream --------------------------------------------------------------------------------- */

/* Awkward instructions in random order: the stream keeps its rules, and nothing depends on the batches. */
static void test_500_random(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct machine *m = machine_new();
		uint64_t random = seed * 0x9e3779b97f4a7c15 | 1;
		uint32_t insn[24], nr = 0;
		uint16_t access[24] = { 0 };

		m->desc.ideal.itlb = m->desc.ideal.dtlb = m->desc.ideal.l1i = seed & 1;
		m->desc.uopcache_sets = seed & 2 ? 4 : 0;
		for (uint8_t i = 0; i < 6; i++)
			insn[nr++] = make_alu(m, (uint8_t)(1 + i), (uint8_t)(1 + stream_random(&random, 6)), 7, (uint8_t)(1 + i), i & 1 ? ALU : ALU0);
		for (uint8_t i = 0; i < 4; i++) {
			access[nr] = (uint16_t)(1u << i);
			insn[nr++] = make_load(m, (uint8_t)(1 + i), 7);
		}
		for (uint8_t i = 0; i < 4; i++) {
			access[nr] = (uint16_t)(1u << (i + 2));
			insn[nr++] = make_store(m, 7, (uint8_t)(1 + i));
		}
		m->insn[insn[3]].slots = 7;
		insn[nr++] = make_flagged(m, INSN_NOP);
		insn[nr++] = make_flagged(m, INSN_SERIALIZE);
		insn[nr++] = make_flagged(m, INSN_DISPATCH_SERIALIZE);
		insn[nr++] = make_flagged(m, INSN_SYSCALL);
		insn[nr++] = make_flagged(m, INSN_FENCE);
		insn[nr++] = make_flagged(m, INSN_FLUSH);
		insn[nr++] = make_flagged(m, INSN_UNMODELLED);
		uint32_t compare = make_alu(m, REG_FLAGS, 1, 2, 1, ALU), branch = make_branch(m, BRANCH_CONDITIONAL, 0x1000);
		m->insn[compare].flags |= INSN_FUSES_NEXT;
		for (int i = 0; i < 6000; i++) {
			uint32_t k = (uint32_t)stream_random(&random, nr + 4);
			if (k >= 15 && k < nr && stream_random(&random, 8))
				k = (uint32_t)stream_random(&random, 14);
			if (k >= nr) {
				run_insn(m, compare);
				if (stream_random(&random, 3))
					run_taken(m, branch);
				else
					run_insn(m, branch);
			} else if (access[k]) {
				run_access(m, insn[k], 0x10000 + stream_random(&random, 1 << 18), access[k]);
			} else {
				run_insn(m, insn[k]);
			}
			if (!stream_random(&random, 500))
				m->step[m->nr_steps - 1].flags |= STEP_FAULT;
			else if (!stream_random(&random, 500))
				m->step[m->nr_steps - 1].flags |= STEP_ENTER;
		}
		time_steps(m, 4096);
		struct timed *whole = g_memdup2(m->timed, m->nr_timed * sizeof *whole);
		time_steps(m, 7);
		assert_memory_equal(whole, m->timed, m->nr_timed * sizeof *whole);
		g_free(whole);

		/* The cycles that a variant counts are those of the records. */
		struct abstract_costs c;
		struct outcome_run r;
		outcome_run_init(&r, m);
		abstract_costs_init(&c, &m->desc);
		assert_int_equal(cycles_with(&r, m, &c), timed_leave(&m->timed[m->nr_timed - 1]) + 1);
		outcome_run_fini(&r);
		machine_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_400_figure_1),
		cmocka_unit_test(test_409_limit),
		cmocka_unit_test(test_401_figure_1_is_latency),
		cmocka_unit_test(test_402_figure_1_causality),
		cmocka_unit_test(test_403_cold_code),
		cmocka_unit_test(test_404_together),
		cmocka_unit_test(test_500_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
