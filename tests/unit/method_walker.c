/* The commit-state walker, and what pics and states make of it: exact units of hand-made streams, and random streams cycle by cycle. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "method/walker.h"
#include "method_fake.h"
#include "method_reference.h"

#define U CYCLE_UNITS
enum { BASE = 0 };

/* A committed instruction by absolute cycles; fetched three cycles before it dispatches, or in cycle 0. */
static struct timed at(uint32_t insn, uint32_t dispatch, uint32_t leave, uint16_t psv, unsigned flags)
{
	uint32_t fetch = dispatch > 3 ? dispatch - 3 : 0;

	return (struct timed){ .insn = insn, .fetch = fetch, .avail = dispatch - fetch, .dispatch = dispatch - fetch,
	                       .leave = leave - fetch, .psv = psv, .slots = 1, .uops = 1,
	                       .flags = (uint16_t)(flags | TIMED_COUNTED) };
}

#define PICS(stream) fake_profile(method_find("pics"), NULL, stream, G_N_ELEMENTS(stream))
#define STATES(stream) fake_profile(method_find("states"), NULL, stream, G_N_ELEMENTS(stream))

static void assert_states(const struct timed *t, size_t n, uint64_t compute, uint64_t stalled, uint64_t drained,
                          uint64_t flushed)
{
	struct profile *p = fake_profile(method_find("states"), NULL, t, n);

	assert_int_equal(fake_value(p, "state", "compute", 0), compute);
	assert_int_equal(fake_value(p, "state", "stalled", 0), stalled * U);
	assert_int_equal(fake_value(p, "state", "drained", 0), drained * U);
	assert_int_equal(fake_value(p, "state", "flushed", 0), flushed * U);
	free(p);
}

/* TEA's figure 1: an instruction cache miss, a mispredicted branch, a data cache miss, then four a cycle. */
static void test_tea_figure_1(void **ctx)
{
	enum { I1 = 1, I2, I3, I4 };
	const struct timed t[] = {
		at(I1, 1000, 1001, PSV_DR_L1, 0), at(I2, 1000, 1001, BASE, 0), at(I3, 1000, 1001, BASE, 0),
		at(I4, 1000, 1001, PSV_FL_MB, TIMED_MISPREDICT | TIMED_FLUSHER),
		at(I1, 2002, 3003, PSV_ST_L1, 0), at(I2, 2002, 3003, BASE, 0), at(I3, 2002, 3003, BASE, 0), at(I4, 2002, 3003, BASE, 0),
		at(I1, 3003, 3004, BASE, 0), at(I2, 3003, 3004, BASE, 0), at(I3, 3003, 3004, BASE, 0), at(I4, 3003, 3004, BASE, 0),
	};
	struct profile *p = PICS(t);

	assert_int_equal(p->units[I1][PSV_DR_L1], 1001 * U + U / 4);  /* 0..999 Drained, 1000 Stalled, its share of 1001 */
	assert_int_equal(p->units[I4][PSV_FL_MB], 1000 * U + U / 4);  /* 1002..2001 Flushed */
	assert_int_equal(p->units[I1][PSV_ST_L1], 1001 * U + U / 4);  /* 2002..3002 Stalled */
	assert_int_equal(p->units[I1][BASE], U / 4);
	assert_int_equal(p->units[I2][BASE], 3 * (U / 4));
	assert_int_equal(p->units[I3][BASE], 3 * (U / 4));
	assert_int_equal(p->units[I4][BASE], 2 * (U / 4));
	assert_int_equal(p->executions[I1][BASE] + p->executions[I1][PSV_DR_L1] + p->executions[I1][PSV_ST_L1], 3);
	assert_int_equal(p->executions[I4][PSV_FL_MB], 1);
	assert_int_equal(fake_total_units(p), 3005 * (uint64_t)U);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 3 * U, 1002, 1000, 1000);

	p = STATES(t);
	assert_int_equal(fake_value(p, "event", "DR-L1", 0), 1);
	assert_int_equal(fake_value(p, "event", "FL-MB", 0), 1);
	assert_int_equal(fake_value(p, "event", "ST-L1", 0), 1);
	assert_int_equal(fake_value(p, "event", "ST-LLC", 0), 0);
	free(p);
}

/* Cycles in which only earlier uops of an instruction commit are Stalled on it, whoever else commits. */
static void test_wider_than_commit(void **ctx)
{
	struct timed t[] = { at(1, 0, 4, BASE, 0), at(2, 1, 6, BASE, 0), at(3, 2, 6, BASE, 0) };
	struct profile *p;

	t[1].slots = 12;                       /* four commit in each of the cycles 4, 5 and 6 */
	p = PICS(t);
	assert_int_equal(p->units[1][BASE], 5 * U);
	assert_int_equal(p->units[2][BASE], U + U / 2);
	assert_int_equal(p->units[3][BASE], U / 2);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 2 * U, 5, 0, 0);
}

/* Both of a fused pair share the cycle. */
static void test_fused_pair(void **ctx)
{
	struct timed t[] = { at(1, 0, 2, BASE, 0), at(2, 0, 2, BASE, 0), at(3, 0, 2, PSV_FL_MB, TIMED_FUSED | TIMED_FLUSHER),
	                     at(4, 9, 9, BASE, 0) };
	struct profile *p;

	t[2].slots = 0;
	p = PICS(t);
	assert_int_equal(p->units[1][BASE], 2 * U + U / 3);
	assert_int_equal(p->units[2][BASE], U / 3);
	assert_int_equal(p->units[3][PSV_FL_MB], U / 3 + 6 * U);
	assert_int_equal(p->units[4][BASE], U);
	free(p);
}

/* 17 in a cycle: 720720 = 17 * 42395 + 5, so the five oldest have one unit more. */
static void test_odd_shares(void **ctx)
{
	struct timed t[17];
	struct profile *p;

	for (unsigned i = 0; i < 17; i++)
		t[i] = at(i, 0, 0, BASE, 0);
	p = PICS(t);
	for (unsigned i = 0; i < 17; i++)
		assert_int_equal(p->units[i][BASE], i < 5 ? 42396 : 42395);
	free(p);
}

/* A load that violates memory order pays for the ROB it held, and for the refetch; the second time it just commits. */
static void test_memory_order(void **ctx)
{
	struct timed t[] = {
		at(1, 0, 3, BASE, 0),
		at(2, 2, 10, PSV_FL_MO, TIMED_SQUASHED | TIMED_FLUSHER), at(3, 2, 10, BASE, TIMED_SQUASHED),
		at(4, 3, 10, PSV_FL_MB, TIMED_SQUASHED | TIMED_FLUSHER | TIMED_MISPREDICT), at(5, 4, 7, BASE, TIMED_WRONG),
		at(2, 20, 25, PSV_FL_MO | PSV_ST_L1, 0), at(3, 20, 25, BASE, 0),
	};
	struct profile *p = PICS(t);

	assert_int_equal(p->units[1][BASE], 4 * U);
	assert_int_equal(p->units[2][PSV_FL_MO], (7 + 9) * U);              /* Stalled 4..10, Flushed 11..19 */
	assert_int_equal(p->executions[2][PSV_FL_MO], 0);
	assert_int_equal(p->units[2][PSV_FL_MO | PSV_ST_L1], 5 * U + U / 2);/* Stalled 20..24, half of 25 */
	assert_int_equal(p->executions[2][PSV_FL_MO | PSV_ST_L1], 1);
	assert_int_equal(p->units[3][BASE], U / 2);
	assert_int_equal(p->units[4][PSV_FL_MB] + p->units[5][BASE], 0);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 2 * U, 3 + 7 + 5, 0, 9);
	p = STATES(t);
	assert_int_equal(fake_value(p, "event", "FL-MO", 0), 1);
	free(p);
}

/* Squashed behind something slow: no cycle of its own, and where the ROB never empties, none for the flush. */
static void test_hidden_squash(void **ctx)
{
	struct timed hidden[] = { at(1, 0, 50, BASE, 0), at(2, 2, 10, PSV_FL_MO, TIMED_SQUASHED | TIMED_FLUSHER),
	                          at(2, 20, 50, PSV_FL_MO, 0), at(3, 60, 60, BASE, 0) };
	struct timed shown[] = { at(1, 0, 15, BASE, 0), at(2, 2, 10, PSV_FL_MO, TIMED_SQUASHED | TIMED_FLUSHER),
	                         at(2, 20, 21, PSV_FL_MO | PSV_ST_L1, 0) };
	struct profile *p = PICS(hidden);

	assert_int_equal(p->units[1][BASE], 50 * U + U / 2);
	assert_int_equal(p->units[2][PSV_FL_MO], U / 2);
	assert_int_equal(p->units[3][BASE], 10 * U);                        /* Drained: the load has committed since */
	free(p);
	assert_states(hidden, G_N_ELEMENTS(hidden), 2 * U, 50, 9, 0);
	p = PICS(shown);
	assert_int_equal(p->units[2][PSV_FL_MO], 4 * U);                    /* 16..19 */
	assert_int_equal(p->units[2][PSV_FL_MO | PSV_ST_L1], 2 * U);
	free(p);
}

/* A fault: the instruction never commits, and pays until the handler is in the ROB. */
static void test_fault(void **ctx)
{
	struct timed t[] = { at(1, 0, 1, BASE, 0), at(2, 1, 4, PSV_FL_EX, TIMED_SQUASHED | TIMED_FLUSHER),
	                     at(3, 54, 55, BASE, TIMED_ENTER) };
	struct profile *p = PICS(t);

	assert_int_equal(p->units[1][BASE], 2 * U);
	assert_int_equal(p->units[2][PSV_FL_EX], (3 + 49) * U);             /* 2..4 Stalled, 5..53 Flushed */
	assert_int_equal(p->executions[2][PSV_FL_EX], 0);
	assert_int_equal(p->units[3][BASE], 2 * U);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 2 * U, 1 + 3 + 1, 0, 49);
}

/* One that serialises: its wait for the ROB to empty, and what waits for it, are Flushed and its own. */
static void test_serialise(void **ctx)
{
	struct timed t[] = { at(1, 0, 1, BASE, 0), at(2, 5, 8, PSV_FL_EX, TIMED_FLUSHER), at(3, 12, 13, BASE, 0) };
	struct profile *p;

	t[1].why = t[2].why = WAIT_SERIAL;
	p = PICS(t);
	assert_int_equal(p->units[2][PSV_FL_EX], (3 + 3 + 1 + 3) * U);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 3 * U, 1 + 3 + 1, 0, 3 + 3);
	t[1].why = WAIT_NONE;
	assert_states(t, G_N_ELEMENTS(t), 3 * U, 1 + 3 + 1, 3, 3);
}

/* One instruction in three records: an execution, with the events of all of them on all its cycles. */
static void test_continued(void **ctx)
{
	struct timed t[] = { at(1, 0, 4, BASE, 0), at(2, 0, 4, BASE, 0), at(2, 4, 7, PSV_ST_L1, TIMED_CONTINUED),
	                     at(2, 6, 9, BASE, TIMED_CONTINUED), at(3, 7, 9, BASE, 0),
	                     at(4, 15, 16, BASE, 0), at(4, 15, 18, PSV_ST_TLB, TIMED_CONTINUED) };
	struct profile *p = PICS(t);

	assert_int_equal(p->units[1][BASE], 5 * U);                         /* the cycle 4 is all its own */
	assert_int_equal(p->units[2][PSV_ST_L1], 4 * U + U / 2);
	assert_int_equal(p->executions[2][PSV_ST_L1], 1);
	assert_int_equal(p->units[3][BASE], U / 2);
	assert_int_equal(p->units[4][PSV_ST_TLB], 9 * U);                   /* Drained 10..14, Stalled 15..17, 18 */
	assert_int_equal(p->executions[2][BASE] + p->executions[4][BASE], 0);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), 3 * U, 4 + 4 + 3, 5, 0);
}

/* Counted cycles run from the commit before the first counted instruction to the commit of the last. */
static void test_windows(void **ctx)
{
	struct timed t[] = { at(1, 0, 10, BASE, 0), at(2, 0, 10, PSV_FL_MB, TIMED_FLUSHER), at(3, 15, 20, BASE, 0),
	                     at(4, 15, 20, BASE, 0), at(5, 15, 30, BASE, 0) };
	struct profile *p;

	t[0].flags = t[4].flags = 0;
	t[1].flags = TIMED_FLUSHER;
	p = PICS(t);
	assert_int_equal(p->units[1][BASE] + p->units[5][BASE], 0);
	assert_int_equal(p->units[2][PSV_FL_MB], 4 * U);                    /* 11..14, though it is not counted itself */
	assert_int_equal(p->executions[2][PSV_FL_MB], 0);
	assert_int_equal(p->units[3][BASE], 5 * U + U / 2);
	assert_int_equal(p->units[4][BASE], U / 2);
	free(p);
	assert_states(t, G_N_ELEMENTS(t), U, 5, 0, 4);
	t[3].flags = 0;                                                     /* the last counted shares its cycle */
	assert_states(t, G_N_ELEMENTS(t), U / 2, 5, 0, 4);
}

struct reference {
	uint64_t units[FAKE_INSNS][FAKE_PSVS], executions[FAKE_INSNS][FAKE_PSVS];
	uint64_t state[NR_STATES];
	uint64_t events[NR_PSV];
};

static void add(const struct charge *c, void *ctx)
{
	struct reference *r = ctx;

	if (!c->counted)
		return;
	r->units[c->insn][c->psv] += c->units;
	r->state[c->state] += c->units;
	if (c->state == STATE_COMPUTE) {
		r->executions[c->insn][c->psv]++;
		for (unsigned e = 0; e < NR_PSV; e++)
			r->events[e] += c->psv >> e & 1;
	}
}

/* Whenever it is saved, what is there adds up. */
static void check_states(const struct profile *checkpoint, void *ctx)
{
	int64_t sum = 0;

	for (uint32_t thread = 0; thread < 2; thread++)
		sum += fake_value(checkpoint, "state", "compute", thread) + fake_value(checkpoint, "state", "stalled", thread) +
		       fake_value(checkpoint, "state", "drained", thread) + fake_value(checkpoint, "state", "flushed", thread);
	assert_int_equal(sum % U, 0);
}

static void check_pics(const struct profile *checkpoint, void *ctx)
{
	assert_int_equal(fake_total_units(checkpoint) % U, 0);
}

static void test_random(void **ctx)
{
	for (unsigned k = 0; k < 60; k++) {
		struct stream_config config = { .seed = k + 1, .records = 4000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 32 + k * 4, .trouble = k % 3 * 20, .misses = k % 4 * 15,
		                                .windows = k % 5 == 4 ? 10 : 0, .marks = 5 };
		struct timed *t[2];
		size_t n[2];
		struct reference *r[2];
		struct profile *pics = calloc(1, sizeof(*pics)), *states = calloc(1, sizeof(*states));
		struct fake_run run = { .method = method_find("pics"), .profile = pics, .checkpoints = !config.windows,
		                        .check = check_pics };

		for (unsigned i = 0; i < 2; i++, config.seed += 1000) {
			t[i] = stream_new(&config, &n[i]);
			r[i] = calloc(1, sizeof(*r[i]));
			reference_walk(t[i], n[i], add, r[i]);
		}
		fake_drive(&run, t, n, 2);
		run.method = method_find("states");
		run.profile = states;
		run.check = check_states;
		fake_drive(&run, t, n, 2);

		for (unsigned i = 0; i < FAKE_INSNS; i++)
			for (unsigned s = 0; s < FAKE_PSVS; s++) {
				assert_int_equal(pics->units[i][s], r[0]->units[i][s] + r[1]->units[i][s]);
				assert_int_equal(pics->executions[i][s], r[0]->executions[i][s] + r[1]->executions[i][s]);
			}
		for (unsigned i = 0; i < 2; i++) {
			static const char *const names[] = { "compute", "stalled", "drained", "flushed" };
			for (unsigned s = 0; s < NR_STATES; s++)
				assert_int_equal(fake_value(states, "state", names[s], i), r[i]->state[s]);
		}
		for (unsigned e = 0; e < NR_PSV; e++)
			assert_int_equal(fake_value(states, "event", psv_event(e), 0), r[0]->events[e] + r[1]->events[e]);
		if (!config.windows) {         /* all cycles from 0 to the last commit */
			uint64_t cycles = 0;
			for (unsigned i = 0; i < 2; i++) {
				size_t last = n[i] - 1;
				while (!timed_commits(&t[i][last]))
					last--;
				cycles += timed_leave(&t[i][last]) + 1;
			}
			assert_int_equal(fake_total_units(pics), cycles * U);
		}
		for (unsigned i = 0; i < 2; i++) {
			free(t[i]);
			free(r[i]);
		}
		free(pics);
		free(states);
	}
}

static void test_names(void **ctx)
{
	char buf[64];

	assert_string_equal(psv_name(0, buf), "Base");
	assert_string_equal(psv_name(PSV_ST_L1 | PSV_ST_TLB, buf), "ST-L1+ST-TLB");
	assert_string_equal(psv_name((1 << NR_PSV) - 1, buf), "DR-L1+DR-TLB+DR-SQ+FL-MB+FL-EX+FL-MO+ST-L1+ST-TLB+ST-LLC");
	assert_string_equal(psv_event(3), "FL-MB");
	assert_null(method_find("none"));
	for (const struct method *const *m = method_list; *m; m++) {
		assert_ptr_equal(method_find((*m)->name), *m);
		assert_true(strlen((*m)->help) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tea_figure_1), cmocka_unit_test(test_wider_than_commit), cmocka_unit_test(test_fused_pair),
		cmocka_unit_test(test_odd_shares), cmocka_unit_test(test_memory_order), cmocka_unit_test(test_hidden_squash),
		cmocka_unit_test(test_fault), cmocka_unit_test(test_serialise), cmocka_unit_test(test_continued),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_random), cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
