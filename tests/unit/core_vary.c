/* What a sensitivity analysis weights: the list of resources, and what weights do to descriptions, costs and instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "core/gus/time.h"
#include "core/vary.h"
#include "core/vary_code.h"
#include "machine.h"

static struct core_desc *load(const char *name)
{
	struct core_desc *d = g_new0(struct core_desc, 1);

	assert_int_equal(core_desc_load(d, name), 0);
	return d;
}

static const struct vary *find(const struct vary *list, unsigned nr, const char *name)
{
	for (unsigned i = 0; i < nr; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static void test_list(void **state)
{
	static const uint16_t sets[] = { 0x03, 0x0c, 0xff };
	struct core_desc *d = load("skylake-sp"), *boom = load("boom");
	static struct vary list[VARY_MAX];
	unsigned nr = vary_list(list, d, sets, 3, abstract_resources);

	for (unsigned i = 0; i < nr; i++)
		assert_ptr_equal(find(list, nr, list[i].name), &list[i]);
	assert_true(find(list, nr, "rob")->capacity == 224);
	assert_true(find(list, nr, "p01")->capacity == 2 && find(list, nr, "p01")->ports == 3);
	assert_non_null(find(list, nr, "p7"));
	assert_null(find(list, nr, "p01234567")); /* all ports are no group */
	assert_non_null(find(list, nr, "div"));
	assert_non_null(find(list, nr, "branch"));
	d->branch_taken_bubble = 1;
	nr = vary_list(list, d, sets, 1, abstract_resources);
	assert_true(find(list, nr, "branch.taken")->capacity == 0.5);
	assert_true(find(list, nr, "latency")->time && find(list, nr, "memory.latency")->time && !find(list, nr, "misses")->time);
	nr = vary_list(list, d, NULL, 0, NULL);
	assert_null(find(list, nr, "branch"));
	assert_null(find(list, nr, "branch.taken"));
	/* BOOM has neither a uop cache nor a level between L1 and the last. */
	nr = vary_list(list, boom, NULL, 0, abstract_resources);
	assert_null(find(list, nr, "uopcache"));
	assert_null(find(list, nr, "l2.latency"));
	assert_non_null(find(list, nr, "llc.latency"));
	g_free(d);
	g_free(boom);
}

static void test_descriptions(void **state)
{
	struct core_desc *d = load("skylake-sp"), *boom = load("boom");
	static struct vary list[VARY_MAX];
	unsigned nr = vary_list(list, d, NULL, 0, abstract_resources);

	assert_true(vary_desc(find(list, nr, "rob"), 2000, d));
	assert_int_equal(d->rob_entries, 448);
	assert_true(vary_desc(find(list, nr, "l2.latency"), 500, d));
	assert_int_equal(d->l2_latency, 7);
	assert_true(vary_desc(find(list, nr, "frontend"), 1500, d));
	assert_int_equal(d->rename_width, 6);
	assert_int_equal(d->fetch_bytes, 16); /* 24 is no power of two */
	assert_false(vary_desc(find(list, nr, "rob"), 1000, d));
	d->commit_width = 32;
	assert_false(vary_desc(find(list, nr, "retire"), 2000, d)); /* as wide as can be */

	nr = vary_list(list, boom, NULL, 0, abstract_resources);
	assert_true(vary_desc(find(list, nr, "tlb"), 500, boom));
	assert_true(boom->dtlb_ways <= boom->dtlb_entries && boom->itlb_ways <= boom->itlb_entries);
	g_free(d);
	g_free(boom);
}

static void test_costs(void **state)
{
	static const uint16_t sets[] = { 0x03 };
	struct core_desc *d = load("skylake-sp");
	static struct vary list[VARY_MAX];
	unsigned nr = vary_list(list, d, sets, 1, abstract_resources);
	struct abstract_costs base, c;

	abstract_costs_init(&base, d);
	c = base;
	vary_costs(find(list, nr, "p01"), 2000, &c);
	assert_int_equal(c.port_weight[0], 2000);
	assert_int_equal(c.port_weight[1], 2000);
	assert_int_equal(c.port_weight[2], 1000);
	vary_costs(find(list, nr, "latency.float"), 500, &c);
	assert_int_equal(2 * c.latency[LATENCY_FLOAT], base.latency[LATENCY_FLOAT]);
	assert_int_equal(c.latency[LATENCY_INTEGER], base.latency[LATENCY_INTEGER]);
	vary_costs(find(list, nr, "branch"), 4000, &c);
	assert_int_equal(c.mispredicts, 250);
	vary_costs(find(list, nr, "branch.taken"), 2000, &c);
	assert_int_equal(2 * c.inverse[RESOURCE_TAKEN], base.inverse[RESOURCE_TAKEN]);
	vary_costs(find(list, nr, "div"), 2000, &c);
	assert_int_equal(2 * c.inverse[RESOURCE_UNITS], base.inverse[RESOURCE_UNITS]);
	g_free(d);
}

static void test_overlaps(void **state)
{
	static const uint16_t sets[] = { 0x03 };
	struct core_desc *d = load("skylake-sp");
	static struct vary list[VARY_MAX];
	unsigned nr = vary_list(list, d, sets, 1, abstract_resources);

	assert_true(vary_overlaps(find(list, nr, "p01"), find(list, nr, "p0")));
	assert_false(vary_overlaps(find(list, nr, "p01"), find(list, nr, "p5")));
	assert_true(vary_overlaps(find(list, nr, "latency"), find(list, nr, "latency.float")));
	assert_true(vary_overlaps(find(list, nr, "frontend"), find(list, nr, "rename")));
	assert_false(vary_overlaps(find(list, nr, "rob"), find(list, nr, "latency")));
	g_free(d);
}

static uint64_t last_leave;

static void take(void *ctx, const struct timed *t, size_t n)
{
	last_leave = timed_leave(&t[n - 1]);
}

/* Cycles of the machine's steps on the detailed core, with one resource relaxed twofold; NULL: as it is. */
static uint64_t cycles(struct machine *m, const struct vary *v)
{
	const struct core_ops *ooo = core_find("ooo");
	struct core_desc *d = g_memdup2(&m->desc, sizeof *d);
	struct vary_code *code = NULL;
	struct core *core;

	if (v) {
		assert_true(vary_code_able(&v, 1, 2000, d));
		assert_int_equal(vary_code_new(&code, &m->code, &v, 1, 2000, d), 0);
		vary_code_follow(code);
	}
	assert_int_equal(ooo->open(&core, d, code ? vary_code(code) : &m->code, (struct timed_sink){ .take = take, .ctx = NULL }), 0);
	ooo->batch(core, m->step, m->nr_steps, 0);
	ooo->finish(core);
	ooo->close(core);
	vary_code_free(code);
	g_free(d);
	return last_leave;
}

static void test_instructions(void **state)
{
	static const char *const ports[] = { "a0", "a1", "m0", "m1", "s" };
	struct machine *m = machine_new();
	uint32_t port = make_alu(m, 0, 0, 0, 1, ALU0), chain = make_alu(m, 1, 1, 0, 6, ALU1);
	struct vary a0 = { .name = "a0", .kind = VARY_PORTS, .ports = ALU0 };
	struct vary latency = { .name = "latency", .kind = VARY_LATENCY, .time = true, .classes = 0xf };

	memcpy(m->desc.port_names, ports, sizeof ports);
	for (uint32_t i = 0; i < m->code.nr; i++)
		insn_count(&m->insn[i], m->uop + m->insn[i].uop);
	run_times(m, port, 400);
	uint64_t plain = cycles(m, NULL);
	assert_in_range(cycles(m, &a0), plain - 205, plain - 195);
	assert_int_equal(cycles(m, &latency), plain);
	m->nr_steps = 0;
	run_times(m, chain, 400);
	plain = cycles(m, NULL);
	assert_int_equal(cycles(m, &a0), plain);
	assert_in_range(cycles(m, &latency), plain - 1203, plain - 1197);
	machine_free(m);
}

/* Twins are bound with their ports: as many uops as before must pass the pair whose port is as it was. */
static void test_twins_of_pairs(void **state)
{
	static const char *const ports[] = { "a0", "a1", "m0", "m1", "s" };
	enum { UOPS = 400 };
	struct machine *m = machine_new();
	uint32_t alu = make_alu(m, 0, 0, 0, 1, ALU), draw = 0, other = 0;
	struct vary a0 = { .name = "a0", .kind = VARY_PORTS, .ports = ALU0 };
	struct vary both = { .name = "a01", .kind = VARY_PORTS, .ports = ALU };

	memcpy(m->desc.port_names, ports, sizeof ports);
	machine_bind(m, BIND_PAIR, ALU | MEM);
	insn_count(&m->insn[alu], m->uop + m->insn[alu].uop);
	for (unsigned i = 0; i < UOPS; i++) {
		run_insn(m, alu);
		other += next_of_two_pairs(&draw);
	}
	assert_in_range(cycles(m, &a0), other, other + 20);
	assert_true(cycles(m, &both) + 50 < other);
	machine_free(m);
}

/* A twin, here the sixth port, is in the sets that its port is in. */
static void test_twins_in_sets(void **state)
{
	static const char *const ports[] = { "a0", "a1", "m0", "m1", "s" };
	struct machine *m = machine_new();
	const struct vary a0 = { .name = "a0", .kind = VARY_PORTS, .ports = ALU0 };
	const struct vary *const parts[] = { &a0 };
	struct vary_code *v;

	memcpy(m->desc.port_names, ports, sizeof ports);
	m->desc.branch_taken_ports = ALU0;
	m->desc.split_vector_ports = MEM;
	assert_int_equal(vary_code_new(&v, &m->code, parts, 1, 2000, &m->desc), 0);
	assert_int_equal(m->desc.branch_taken_ports, ALU0 | 1 << 5);
	assert_int_equal(m->desc.split_vector_ports, MEM);
	vary_code_free(v);
	machine_free(m);
}

/* Twins have to find room together: each pair of ports does alone, both do not. */
static void test_room_for_twins(void **state)
{
	struct core_desc *d = load("alder-lake-p");
	const struct vary first = { .kind = VARY_PORTS, .ports = 0x003 }, second = { .kind = VARY_PORTS, .ports = 0x01c };
	const struct vary *const parts[] = { &first, &second };

	assert_true(d->port_names[11] && !d->port_names[12]);
	assert_true(vary_code_able(parts, 1, 2000, d) && vary_code_able(parts + 1, 1, 2000, d));
	assert_false(vary_code_able(parts, 2, 2000, d));
	assert_false(vary_code_able(parts, 1, 1500, d));
	g_free(d);
}

static void test_following(void **state)
{
	struct machine *m = machine_new();
	struct vary latency = { .kind = VARY_LATENCY, .time = true, .classes = 0xf };
	const struct vary *parts[] = { &latency };
	struct vary_code *v;

	make_alu(m, 1, 1, 0, 3, ALU);
	assert_int_equal(vary_code_new(&v, &m->code, parts, 1, 2000, &m->desc), 0);
	vary_code_follow(v);
	assert_int_equal(vary_code(v)->nr, 1);
	assert_int_equal(vary_code(v)->insn[0].latency, 2); /* 1.5, to the nearest */
	make_branch(m, BRANCH_CONDITIONAL, 0x1000);
	m->insn[0].flags |= INSN_FUSES_NEXT;
	vary_code_follow(v);
	assert_int_equal(vary_code(v)->nr, 2);
	assert_true(vary_code(v)->insn[0].flags & INSN_FUSES_NEXT);
	assert_int_equal(m->insn[0].latency, 3);
	vary_code_free(v);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_twins_of_pairs),
		cmocka_unit_test(test_twins_in_sets),
		cmocka_unit_test(test_room_for_twins),
		cmocka_unit_test(test_following),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
