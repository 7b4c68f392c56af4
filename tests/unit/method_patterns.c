/* How instructions behave, on hand-made streams: strides, origins of addresses, footprints, branches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glib.h>

#include "method/patterns.h"

/*
 * LOAD A = [A]; LOAD B = [I]; LOAD V = [B]; ADD V += V; STORE [P] = V; RELOAD A = [P]; the branch; a base pointer into P; by number.
 */
enum { CHASE, INDEX, GATHER, ADD, STORE, RELOAD, BRANCH, BASE, SCATTER, NR };
enum { A = 1, B, I, V, P, Q };

static struct insn insns[NR] = {
	[CHASE] = { .pc = 0x1000, .nr_addr = 1, .addr = { A }, .nr_dst = 1, .dst = { A } },
	[INDEX] = { .pc = 0x1010, .nr_addr = 1, .addr = { I }, .nr_dst = 1, .dst = { B } },
	[GATHER] = { .pc = 0x1020, .nr_addr = 1, .addr = { B }, .nr_dst = 1, .dst = { V } },
	[ADD] = { .pc = 0x1030, .nr_data = 1, .data = { V }, .nr_dst = 1, .dst = { V } },
	[STORE] = { .pc = 0x1040, .nr_addr = 1, .addr = { P }, .nr_data = 1, .data = { A } },
	[RELOAD] = { .pc = 0x1050, .nr_addr = 1, .addr = { P }, .nr_dst = 1, .dst = { A } },
	[BRANCH] = { .pc = 0x1060, .branch = BRANCH_CONDITIONAL, .flags = INSN_BRANCH },
	[BASE] = { .pc = 0x1070, .nr_addr = 1, .addr = { P }, .nr_dst = 1, .dst = { Q } },
	[SCATTER] = { .pc = 0x1080, .nr_addr = 2, .addr = { Q, I }, .nr_dst = 1, .dst = { V } },
};
static const struct code code = { .insn = insns, .nr = NR };

struct fixture {
	struct patterns *p;
	struct patterns_lane *l;
};

static int setup(void **state)
{
	struct fixture *f = g_new0(struct fixture, 1);

	f->p = patterns_new(&code);
	f->l = patterns_lane_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	patterns_lane_free(f->l);
	patterns_free(f->p);
	g_free(f);
	return 0;
}

static void give(struct fixture *f, uint32_t insn, uint64_t addr, unsigned flags, enum level level, uint16_t psv)
{
	struct timed t = { .insn = insn, .addr = addr, .flags = (uint16_t)(TIMED_COUNTED | flags), .level = timed_level(level, ILEVEL_L1, 0), .psv = psv };

	patterns_batch(f->p, f->l, &t, 1);
}

static void load(struct fixture *f, uint32_t insn, uint64_t addr)
{
	give(f, insn, addr, TIMED_LOAD, LEVEL_L1, 0);
}

static void test_sketch(void **state)
{
	struct sketch s = { { 0 } };
	static const uint64_t upto[] = { 1, 10, 50, 1000, 100000 };
	uint64_t n = 0;

	assert_int_equal(sketch_count(&s), 0);
	for (size_t i = 0; i < G_N_ELEMENTS(upto); i++) {
		for (; n < upto[i]; n++) {
			sketch_add(&s, n * 64);
			sketch_add(&s, n * 64); /* again: the same */
		}
		assert_in_range(sketch_count(&s), n - n / 6, n + n / 6);
	}
}

static void test_stride(void **state)
{
	struct fixture *f = *state;
	uint64_t times;

	/* Steps of 64, every tenth of them a jump elsewhere and back. */
	for (uint64_t i = 0; i < 1000; i++)
		load(f, INDEX, i % 10 == 9 ? 1 << 30 | i * i * 4096 : 0x10000 + i * 64);
	const struct access_pattern *a = patterns_access(f->p, INDEX);
	assert_int_equal(a->accesses, 1000);
	assert_int_equal(access_stride(a, &times), 64);
	assert_in_range(times, 750, 800);
	assert_int_equal(a->line_changes, 999);
	assert_int_equal(a->indirect, 0);
	assert_null(patterns_access(f->p, GATHER));
	assert_null(patterns_branch(f->p, BRANCH));
}

static void test_origins(void **state)
{
	struct fixture *f = *state;

	load(f, BASE, 0x5000);         /* once, long before it is used */
	for (uint64_t i = 0; i < 2000; i++) {
		load(f, CHASE, 0x100000 + i * 7919 % 4096 * 64);
		load(f, INDEX, 0x2000 + i * 4);
		load(f, GATHER, 0x400000 + i * 7907 % 1024 * 64);
		give(f, ADD, 0, 0, LEVEL_NONE, 0);
		load(f, SCATTER, 0x800000 + i * 7901 % 1024 * 64);
	}
	const struct access_pattern *a = patterns_access(f->p, CHASE);
	assert_int_equal(a->indirect, 1999);
	assert_int_equal(a->chased, a->checked);
	assert_int_equal(a->feeder, CHASE);
	a = patterns_access(f->p, GATHER);
	assert_int_equal(a->indirect, 2000);
	assert_int_equal(a->chased, 0);
	assert_int_equal(a->feeder, INDEX);
	a = patterns_access(f->p, SCATTER);
	assert_in_range(a->indirect, 100, 200); /* while the base is young */
	assert_int_equal(patterns_access(f->p, INDEX)->indirect, 0);
}

/* A chain that goes through memory: what is stored is reloaded; and the store that a violation was with. */
static void test_memory(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 100; i++) {
		load(f, CHASE, 0x100000 + i * 7919 % 4096 * 64);
		give(f, STORE, 0x7000, TIMED_STORE, LEVEL_L1, 0);
		give(f, RELOAD, 0x7000, TIMED_LOAD, LEVEL_FORWARD, i == 50 ? PSV_FL_MO : 0);
	}
	const struct access_pattern *a = patterns_access(f->p, CHASE);
	assert_int_equal(a->indirect, 99);
	assert_int_equal(a->chased, a->checked);
	assert_int_equal(a->feeder, CHASE);
	assert_int_equal(patterns_access(f->p, RELOAD)->partner, STORE);
	assert_int_equal(a->partner, CODE_NONE);
}

static void test_branches(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 100; i++) {
		bool taken = i % 5 != 4;

		load(f, INDEX, 0x2000 + i * 4);
		give(f, BRANCH, 0, TIMED_BRANCH | (taken ? TIMED_TAKEN : 0), LEVEL_NONE, taken ? 0 : PSV_FL_MB);
		if (!taken)
			load(f, BASE, 0x5000);
	}
	const struct branch_pattern *b = patterns_branch(f->p, BRANCH);
	assert_int_equal(b->executions, 100);
	assert_int_equal(b->taken, 80);
	assert_int_equal(b->mispredicted, 20);
	assert_int_equal(b->flips, 39);
	assert_int_equal(b->back, 80);
	assert_int_equal(b->back_to, INDEX);
	assert_int_equal(sketch_count(&b->targets), 1);
}

/* What does not commit, or is not counted, leaves nothing. */
static void test_not_counted(void **state)
{
	struct fixture *f = *state;
	struct timed t = { .insn = INDEX, .addr = 0x2000, .flags = TIMED_COUNTED | TIMED_LOAD | TIMED_WRONG };

	patterns_batch(f->p, f->l, &t, 1);
	t.flags = TIMED_COUNTED | TIMED_LOAD | TIMED_SQUASHED;
	patterns_batch(f->p, f->l, &t, 1);
	t.flags = TIMED_LOAD;
	patterns_batch(f->p, f->l, &t, 1);
	assert_null(patterns_access(f->p, INDEX));
	t.insn = GATHER;
	t.flags = TIMED_LOAD | TIMED_COUNTED;
	patterns_batch(f->p, f->l, &t, 1);
	assert_int_equal(patterns_access(f->p, GATHER)->feeder, INDEX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sketch),
		cmocka_unit_test_setup_teardown(test_stride, setup, teardown),
		cmocka_unit_test_setup_teardown(test_origins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_branches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_counted, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
