/* Port sharing: machines whose ports are known, the pairs they would show, and the sets found from these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/random.h"
#include "calibrate/ports.h"

static unsigned count(unsigned set)
{
	return (unsigned)__builtin_popcount(set);
}

/* What pairs of these sets show, all of them. */
static void ask(struct port_puzzle *p, const uint16_t *truth, const uint16_t *parent, unsigned nr, uint16_t allowed)
{
	*p = (struct port_puzzle){ .nr = nr };
	for (unsigned c = 0; c < nr; c++) {
		p->size[c] = count(truth[c]);
		p->parent[c] = parent[c];
		p->allowed[c] = allowed;
		for (unsigned k = 0; k < nr; k++)
			p->shared[c][k] = (int)count(truth[c] & truth[k]);
	}
}

/* Sizes and intersections are those asked for. */
static void check(const struct port_puzzle *p)
{
	for (unsigned c = 0; c < p->nr; c++) {
		assert_int_equal(count(p->found[c]), p->size[c]);
		assert_int_equal(p->found[c] & ~p->allowed[c], 0);
		for (unsigned k = 0; k < c; k++)
			if (p->shared[c][k] != PORTS_UNKNOWN)
				assert_int_equal(count(p->found[c] & p->found[k]), p->shared[c][k]);
	}
}

/* Skylake's arithmetic: p0156, p06, p1, p15, p5, p01, p015, p0 and the loads' p23, and a parent that has it right. */
static void a_parent_that_is_right_stays(void **state)
{
	static const uint16_t skylake[] = { 0x63, 0x41, 0x02, 0x22, 0x20, 0x03, 0x23, 0x01, 0x0c };
	struct port_puzzle p;

	ask(&p, skylake, skylake, 9, 0xff);
	assert_true(ports_solve(&p));
	assert_memory_equal(p.found, skylake, sizeof skylake);
}

/* A parent with four adders where there are six, one multiplier where there are three. */
static void new_ports(void **state)
{
	static const uint16_t truth[] = { 0x3f, 0x07, 0x07, 0x03 }, parent[] = { 0x0f, 0x02, 0x06, 0x0f };
	struct port_puzzle p;

	ask(&p, truth, parent, 4, 0x3f);
	assert_true(ports_solve(&p));
	check(&p);
	assert_int_equal(p.found[0], 0x3f);
	assert_int_equal(p.found[1], p.found[2]);
	assert_int_equal(p.found[1] & 0x02, 0x02);
	assert_int_equal(p.found[3] & ~p.found[1], 0);
}

/* What is known of no pair keeps the parent's sets as far as their sizes allow; what it keeps apart stays apart. */
static void unknown_pairs(void **state)
{
	static const uint16_t parent[] = { 0x03, 0x0c, 0x05 };
	struct port_puzzle p;

	ask(&p, parent, parent, 3, 0x0f);
	for (unsigned c = 0; c < 3; c++)
		for (unsigned k = 0; k < 3; k++)
			p.shared[c][k] = PORTS_UNKNOWN;
	assert_true(ports_solve(&p));
	assert_memory_equal(p.found, parent, sizeof parent);
	p.size[1] = 1;
	assert_true(ports_solve(&p));
	assert_int_equal(p.found[1] & p.found[0], 0);
}

static void no_ports_fit(void **state)
{
	static const uint16_t sets[] = { 0x03, 0x0c, 0x05 };
	struct port_puzzle p;

	ask(&p, sets, sets, 3, 0x0f);
	/* Two sets that are one, of which a third meets only one. */
	p.shared[0][1] = p.shared[1][0] = 2;
	p.shared[0][2] = p.shared[2][0] = 1;
	p.shared[1][2] = p.shared[2][1] = 0;
	assert_false(ports_solve(&p));
	p.shared[1][2] = p.shared[2][1] = 1;
	assert_true(ports_solve(&p));
	check(&p);
}

/* Random machines of eight ports, and parents that differ from them in some: every answer fits all pairs. */
static void random_machines(void **state)
{
	uint64_t seed = RANDOM_START;

	for (int round = 0; round < 300; round++) {
		uint16_t truth[5], parent[5];
		struct port_puzzle p;

		for (int c = 0; c < 5; c++) {
			next_random(&seed);
			truth[c] = (uint16_t)(seed >> 20 & 0xff);
			truth[c] = truth[c] ? truth[c] : 1;
			parent[c] = (uint16_t)(truth[c] ^ (seed >> 40 & seed >> 48 & 0xff));
		}
		ask(&p, truth, parent, 5, 0xff);
		assert_true(ports_solve(&p));
		check(&p);
	}
}

static void common_ports_of_a_pair(void **state)
{
	/* p0 and p0: twice as long. p0 and p5: no longer. p06 and p01: three ports for four uops. */
	assert_int_equal(ports_shared(1, 1, 2.0, 4), 1);
	assert_int_equal(ports_shared(1, 1, 1.0, 4), 0);
	assert_int_equal(ports_shared(2, 2, 1.34, 8), 1);
	assert_int_equal(ports_shared(2, 4, 1.5, 8), 2);
	/* Four ports and two beside: six a cycle, where eight are renamed. */
	assert_int_equal(ports_shared(4, 2, 1.0, 8), 0);
	/* What rename lets through says nothing. */
	assert_int_equal(ports_shared(6, 3, 1.6, 8), PORTS_UNKNOWN);
	assert_int_equal(ports_shared(4, 4, 2.0, 4), PORTS_UNKNOWN);
	/* Neither is half a port, nor more than there are. */
	assert_int_equal(ports_shared(2, 2, 1.6, 8), PORTS_UNKNOWN);
	assert_int_equal(ports_shared(1, 2, 2.6, 8), PORTS_UNKNOWN);
}

/* A set is widened as long as what lies within it stays there. */
static void sets_of_resources(void **state)
{
	const struct port_class classes[] = {
		{ .parent = 0x0f, .found = 0x3f }, { .parent = 0x02, .found = 0x07 }, { .parent = 0x06, .found = 0x07 },
		{ .parent = 0x0f, .found = 0x03 }, { .parent = 0x30, .found = 0 },
	};
	struct port_extension all[] = { { 0x0f, 0 }, { 0x02, 0 }, { 0x06, 0 }, { 0x30, 0 } };
	struct port_extension hindered[] = { { 0x02, 0 }, { 0x0a, 0 }, { 0x0f, 0 } };
	const struct port_class mixed[] = { { .parent = 0x0c, .found = 0x0f }, { .parent = 0x0c, .found = 0x0c } };
	struct port_extension one[] = { { 0x0c, 0 } };

	ports_extend(classes, 5, all, 4);
	assert_int_equal(all[0].wider, 0x3f);
	assert_int_equal(all[1].wider, 0x07);
	assert_int_equal(all[2].wider, 0x07);
	assert_int_equal(all[3].wider, 0x30);
	/* 0x0a holds 0x02 and knows of no more ports: 0x02 stays what it is. */
	ports_extend(classes, 5, hindered, 3);
	assert_int_equal(hindered[0].wider, 0x02);
	assert_int_equal(hindered[1].wider, 0x0a);
	assert_int_equal(hindered[2].wider, 0x3f);
	/* Some of 0x0c have more ports, others do not: it stays what it is. */
	ports_extend(mixed, 2, one, 1);
	assert_int_equal(one[0].wider, 0x0c);
}

/* Nops that share slots do not tell the width; what is noisy tells nothing. */
static void width_of_rename(void **state)
{
	struct estimate six = estimate_exact(5.9), five = estimate_exact(5.0), twelve = estimate_exact(11.9), noisy = { .noisy = true, .value = 9 };
	bool paired = true;

	assert_true(ports_width(six, five, &paired).value == 5.9);
	assert_false(paired);
	assert_true(ports_width(five, six, &paired).value == 5.9);
	assert_false(paired);
	assert_true(ports_width(twelve, six, &paired).value == 5.9);
	assert_true(paired);
	assert_true(ports_width(noisy, six, &paired).value == 5.9);
	assert_false(paired);
	assert_true(ports_width(twelve, noisy, &paired).noisy);
	assert_false(paired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_parent_that_is_right_stays),
		cmocka_unit_test(new_ports),
		cmocka_unit_test(unknown_pairs),
		cmocka_unit_test(no_ports_fit),
		cmocka_unit_test(random_machines),
		cmocka_unit_test(common_ports_of_a_pair),
		cmocka_unit_test(sets_of_resources),
		cmocka_unit_test(width_of_rename),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
