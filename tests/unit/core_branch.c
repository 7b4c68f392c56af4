/*
 * The branch unit: exact behaviour on sequences made by hand, agreement of the guesses with the predictions, and
 * misprediction counts on synthetic streams, committed to the last one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "branch_refused.h"
#include "base/random.h"
#include "core/predict/branch.h"
#include "core/params.h"

/* The TAGE of a TAGE-SC-L of 8 KB, over directions. */
static const char *const base[] = {
	"branch.history=directions",
	"branch.tage=256/4/8 256/7/8 256/12/8 256/21/8 512/36/12 512/63/12 512/110/12 512/192/12 128/335/12 128/640/12",
	"branch.base_entries=4096", "branch.hysteresis_shift=2", "branch.indirect_history=64",
};

/* A unit of skylake-sp with that and `settings` ("a.b=c;a.c=d") applied. */
static struct branch_unit *unit(const char *settings)
{
	struct branch_unit *b = NULL;
	struct core_desc d;
	char **set = g_strsplit(settings, ";", -1);

	assert_int_equal(core_desc_load(&d, "skylake-sp"), 0);
	for (unsigned i = 0; i < G_N_ELEMENTS(base); i++)
		assert_int_equal(core_desc_set(&d, base[i]), 0);
	for (char **s = set; *s; s++)
		assert_int_equal(core_desc_set(&d, *s), 0);
	assert_int_equal(branch_new(&b, &d), 0);
	g_strfreev(set);
	return b;
}

static struct insn branch_at(uint64_t pc, enum branch_kind kind, uint64_t target)
{
	return (struct insn){ .pc = pc, .target = target, .length = 4, .branch = kind & 15 };
}

/* Resolves a conditional branch; whether it was mispredicted. */
static bool conditional(struct branch_unit *b, uint64_t pc, bool taken)
{
	struct insn in = branch_at(pc, BRANCH_CONDITIONAL, pc + 64);
	struct prediction p;

	branch_resolve(b, &in, taken, taken ? in.target : pc + 4, &p);
	assert_int_equal(p.mispredicted, p.taken != taken);
	assert_int_equal(p.target, p.taken ? in.target : pc + 4);
	return p.mispredicted;
}

static struct prediction resolve(struct branch_unit *b, enum branch_kind kind, uint64_t pc, uint64_t next)
{
	bool direct = kind == BRANCH_JUMP || kind == BRANCH_CALL;
	struct insn in = branch_at(pc, kind, direct ? next : 0);
	struct prediction p;

	branch_resolve(b, &in, true, next, &p);
	return p;
}

static unsigned alternating(const char *settings, unsigned from)
{
	struct branch_unit *b = unit(settings);
	unsigned missed = 0;

	for (unsigned n = 0; n < 2000; n++)
		missed += conditional(b, 0x1000, n % 2) && n >= from;
	branch_free(b);
	return missed;
}

static void alternation_needs_history(void **state)
{
	assert_int_equal(alternating("", 100), 0);
	assert_int_equal(alternating("branch.predictor=gshare", 100), 0);
	assert_int_equal(alternating("branch.predictor=bimodal", 0), 1000);
}

/* A loop of `count` branches, entered over and over with nothing else in between; mispredictions of the last `times`. */
static unsigned loop_of(const char *settings, unsigned count, unsigned times)
{
	struct branch_unit *b = unit(settings);
	unsigned missed = 0;

	for (unsigned n = 0; n < 400; n++) {
		for (unsigned i = 0; i < count; i++) {
			bool wrong = conditional(b, 0x1000, i + 1 < count);

			missed += wrong && n >= 400 - times;
		}
	}
	branch_free(b);
	return missed;
}

static void exits_beyond_the_history_are_a_surprise(void **state)
{
	static const char *const short_history = "branch.tage=256/4/8 256/8/8 256/16/9";

	assert_int_equal(loop_of(short_history, 10, 100), 0);    /* the history holds a whole round */
	assert_int_equal(loop_of(short_history, 100, 100), 100); /* not so: each exit is a surprise */
}

/* A branch that goes as the one `distance` branches before, which is random. */
static unsigned correlated(const char *settings, unsigned distance)
{
	struct branch_unit *b = unit(settings);
	uint64_t x = RANDOM_START;
	unsigned missed = 0;

	for (unsigned n = 0; n < 6000; n++) {
		bool taken;

		next_random(&x);
		taken = x >> 32 & 1;
		conditional(b, 0x1000, taken);
		for (unsigned i = 1; i < distance; i++)
			conditional(b, 0x2000 + 32 * i, true);
		missed += conditional(b, 0x8010, taken) && n >= 3000;
	}
	branch_free(b);
	return missed;
}

static void correlated_branches_are_learnt_over_a_distance(void **state)
{
	assert_int_equal(correlated("", 1), 1);
	assert_int_equal(correlated("", 6), 0);
	assert_int_equal(correlated("", 20), 0);
	/* Of 3000, where the history is too short, and where there is none. */
	assert_int_equal(correlated("branch.tage=256/2/8 256/4/8", 6), 1523);
	assert_int_equal(correlated("branch.predictor=bimodal", 1), 1517);
}

static void returns_come_from_the_stack(void **state)
{
	struct branch_unit *b = unit("branch.ras_entries=4");
	struct prediction p;

	/* Four deep: all right. */
	for (uint64_t n = 0; n < 4; n++)
		resolve(b, n % 2 ? BRANCH_CALL : BRANCH_INDIRECT_CALL, 0x1000 + 0x100 * n, 0x1100 + 0x100 * n);
	for (uint64_t n = 4; n-- > 0;) {
		p = resolve(b, BRANCH_RETURN, 0x9000, 0x1004 + 0x100 * n);
		assert_false(p.mispredicted);
		assert_int_equal(p.target, 0x1004 + 0x100 * n);
	}
	/* Six deep: the two outermost were overwritten by the two innermost. */
	for (uint64_t n = 0; n < 6; n++)
		resolve(b, BRANCH_CALL, 0x1000 + 0x100 * n, 0x1100 + 0x100 * n);
	for (uint64_t n = 6; n-- > 0;) {
		p = resolve(b, BRANCH_RETURN, 0x9000, 0x1004 + 0x100 * n);
		assert_int_equal(p.mispredicted, n < 2);
		assert_int_equal(p.target, 0x1004 + 0x100 * (n < 2 ? n + 4 : n));
	}
	branch_free(b);
}

static void an_empty_stack_knows_nothing(void **state)
{
	struct branch_unit *b = unit("branch.ras_entries=4");
	struct prediction p = resolve(b, BRANCH_RETURN, 0x9000, 0x1004);

	assert_true(p.mispredicted);
	assert_int_equal(p.target, 0);
	assert_false(p.redirect);
	branch_free(b);
}

/* 64 sets of 4 ways by blocks of 16 bytes. */
#define SMALL_BTB "branch.btb1_entries=0;branch.btb_entries=256;branch.btb_ways=4"

static unsigned btb_misses(struct branch_unit *b, uint64_t first, unsigned nr, uint64_t distance)
{
	unsigned missed = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < nr; i++) {
			struct prediction p = resolve(b, BRANCH_JUMP, first + i * distance, 0x100000);

			assert_false(p.mispredicted);
			assert_int_equal(p.redirect, p.btb == BTB_MISS);
			missed += p.btb == BTB_MISS && round == 2;
		}
	}
	return missed;
}

static void the_btb_holds_what_it_has_room_for(void **state)
{
	struct branch_unit *b = unit(SMALL_BTB);

	assert_int_equal(btb_misses(b, 0x10000, 256, 16), 0);
	assert_int_equal(btb_misses(b, 0x20000, 257, 16), 5); /* one set has five of them, which in turn push each other out */
	assert_int_equal(btb_misses(b, 0x30000, 512, 16), 512);
	branch_free(b);
}

static void branches_conflict_by_their_block(void **state)
{
	struct branch_unit *b = unit(SMALL_BTB);

	assert_int_equal(btb_misses(b, 0x10000, 4, 4), 0);         /* four in a block: its four ways */
	assert_int_equal(btb_misses(b, 0x20000, 8, 2), 8);         /* eight in one */
	assert_int_equal(btb_misses(b, 0x30000, 4, 64 * 16), 0);   /* the same set */
	assert_int_equal(btb_misses(b, 0x40000, 5, 64 * 16), 5);
	branch_free(b);
}

static void the_second_level_catches_what_the_first_drops(void **state)
{
	struct branch_unit *b = unit("branch.btb1_entries=8;branch.btb1_ways=8;branch.btb_entries=256;branch.btb_ways=4");
	unsigned level[3] = { 0 };

	for (unsigned n = 0; n < 40; n++)
		level[resolve(b, BRANCH_JUMP, 0x10000 + n % 20 * 16, 0x100000).btb]++;
	assert_int_equal(level[BTB_MISS], 20);
	assert_int_equal(level[BTB_SECOND], 20);
	memset(level, 0, sizeof level);
	for (unsigned n = 0; n < 40; n++)
		level[resolve(b, BRANCH_JUMP, 0x10000 + n % 8 * 16, 0x100000).btb]++;
	assert_int_equal(level[BTB_SECOND], 8);
	assert_int_equal(level[BTB_FIRST], 32);
	branch_free(b);
}

static void only_taken_branches_enter_the_btb(void **state)
{
	struct branch_unit *b = unit("");
	struct insn in = branch_at(0x1000, BRANCH_CONDITIONAL, 0x2000);
	struct prediction p;

	for (unsigned n = 0; n < 10; n++)
		branch_resolve(b, &in, false, 0x1004, &p);
	assert_int_equal(p.btb, BTB_MISS);
	assert_false(p.taken || p.redirect || p.mispredicted);
	branch_resolve(b, &in, true, 0x2000, &p);
	assert_true(p.mispredicted);
	in.branch = BRANCH_JUMP; /* predicted taken at once, so that it shows what the BTB knows */
	branch_resolve(b, &in, true, 0x2000, &p);
	assert_int_equal(p.btb, BTB_FIRST);
	branch_free(b);
}

/* An indirect jump that goes where the one before it did: only the path tells, and only the tables know. */
static unsigned switches(const char *settings, unsigned targets)
{
	struct branch_unit *b = unit(settings);
	uint64_t x = RANDOM_START;
	unsigned missed = 0;

	for (unsigned n = 0; n < 8000; n++) {
		uint64_t which;

		next_random(&x);
		which = (x >> 32) % targets;
		resolve(b, BRANCH_INDIRECT, 0x1000, 0x10000 + 0x40 * which);
		missed += resolve(b, BRANCH_INDIRECT, 0x2000, 0x20000 + 0x40 * which).mispredicted && n >= 4000;
	}
	branch_free(b);
	return missed;
}

static void indirect_jumps_follow_the_path(void **state)
{
	assert_int_equal(switches("", 1), 0);
	assert_in_range(switches("", 2), 0, 4);
	assert_in_range(switches("", 4), 0, 40);
	/* Without the predictor it is the last target, right every fourth time. */
	assert_in_range(switches("branch.indirect_entries=0", 4), 2900, 3100);
}

static void an_indirect_jump_never_seen_has_no_target(void **state)
{
	struct branch_unit *b = unit("");
	struct prediction p = resolve(b, BRANCH_INDIRECT, 0x1000, 0x2000);

	assert_true(p.mispredicted && p.taken && !p.redirect);
	assert_int_equal(p.target, 0);
	p = resolve(b, BRANCH_INDIRECT, 0x1000, 0x2000);
	assert_false(p.mispredicted);
	assert_int_equal(p.target, 0x2000);
	branch_free(b);
}

static void an_ideal_unit_is_never_wrong(void **state)
{
	static const enum branch_kind kinds[] = { BRANCH_CONDITIONAL, BRANCH_JUMP, BRANCH_CALL, BRANCH_INDIRECT, BRANCH_INDIRECT_CALL, BRANCH_RETURN };
	struct branch_unit *b;
	struct core_desc d;
	uint64_t x = RANDOM_START;

	assert_int_equal(core_desc_load(&d, "boom"), 0);
	assert_int_equal(core_desc_ideal(&d, "branch"), 0);
	assert_int_equal(branch_new(&b, &d), 0);
	for (unsigned n = 0; n < 5000; n++) {
		struct prediction p;

		next_random(&x);
		struct insn in = branch_at(x & 0xffff0, kinds[(x >> 32) % 6], x >> 20 & 0xffff0);
		bool taken = in.branch != BRANCH_CONDITIONAL || (x >> 50 & 1);
		uint64_t next = taken ? x >> 20 & 0xffff0 : in.pc + 4;

		branch_resolve(b, &in, taken, next, &p);
		assert_true(!p.mispredicted && !p.redirect && p.taken == taken && p.target == next && p.btb == BTB_FIRST);
	}
	branch_free(b);
}

/* Some program: calls, loops, switches, data-dependent branches. Deterministic. */
struct program {
	uint64_t x, stack[64];
	unsigned depth, n;
	uint64_t last;
};

static struct insn next_branch(struct program *g, bool *taken, uint64_t *next)
{
	struct insn in;
	unsigned r;

	next_random(&g->x);
	r = (unsigned)(g->x >> 33) % 100;
	g->n++;
	*taken = true;
	if (r < 70) {
		uint64_t site = (g->n * 2654435761u >> 7) % 199;

		in = branch_at(0x10000 + site * 36, BRANCH_CONDITIONAL, 0x10000 + site * 36 + 300);
		*taken = site % 3 == 0 ? g->n / (site + 1) % 3 != 0 : site % 3 == 1 ? g->last % 5 < 3 : g->x % 16 < site % 16;
		*next = *taken ? in.target : in.pc + in.length;
	} else if (r < 80) {
		in = branch_at(0x30000 + r * 64, BRANCH_JUMP, 0x40000 + r * 64);
		*next = in.target;
	} else if (r < 90 && g->depth < 60) {
		in = branch_at(0x50000 + r * 64, r % 2 ? BRANCH_CALL : BRANCH_INDIRECT_CALL, r % 2 ? 0x60000 + r * 64 : 0);
		*next = 0x60000 + r * 64;
		g->stack[g->depth++] = in.pc + in.length;
	} else if (r < 96 && g->depth) {
		in = branch_at(0x70000, BRANCH_RETURN, 0);
		*next = g->stack[--g->depth];
	} else {
		in = branch_at(0x80000 + r * 64, BRANCH_INDIRECT, 0);
		*next = 0x90000 + g->last % 4 * 64;
	}
	g->last = g->last * 5 + *next / 64 % 7;
	return in;
}

static struct program program_new(void)
{
	return (struct program){ .x = RANDOM_START };
}

/* All that a prediction says but for the two fields that only branch_resolve() can know. */
static void assert_same(const struct prediction *a, const struct prediction *b)
{
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->taken, b->taken);
	assert_int_equal(a->btb, b->btb);
	assert_int_equal(a->redirect, b->redirect);
}

/* The guess on a fresh copy is the prediction that follows, after every branch. */
static void guesses_agree_with_predictions(void **state)
{
	static const char *const cores[] = { "skylake-sp", "boom", "cortex-a72", "asplos06" };

	for (unsigned c = 0; c < G_N_ELEMENTS(cores); c++) {
		struct program g = program_new();
		struct branch_unit *b;
		struct branch_state *s;
		struct core_desc d;

		assert_int_equal(core_desc_load(&d, cores[c]), 0);
		assert_int_equal(branch_new(&b, &d), 0);
		s = malloc(branch_state_size(b));
		for (unsigned n = 0; n < 30000; n++) {
			struct prediction guess, p;
			uint64_t next;
			bool taken;
			struct insn in = next_branch(&g, &taken, &next);

			branch_save(b, s);
			branch_guess(b, s, &in, &guess);
			branch_resolve(b, &in, taken, next, &p);
			assert_same(&guess, &p);
			assert_false(guess.mispredicted);
		}
		free(s);
		branch_free(b);
	}
}

/* Where nothing is left to learn, a copy guesses a long way ahead: training moves no histories that guessing does not. */
static void a_copy_walks_far(void **state)
{
	struct branch_unit *b = unit("");
	struct branch_state *s = malloc(branch_state_size(b));
	uint64_t guessed[800];
	unsigned wrong = 0;

	for (unsigned round = 0; round < 600; round++) {
		if (round == 598)
			branch_save(b, s);
		for (unsigned i = 0; i < 40; i++) {
			bool taken = i + 1 < 40;
			struct insn in = branch_at(0x1000, BRANCH_CONDITIONAL, 0x0ff0);
			struct insn call = branch_at(0x0ff4, BRANCH_CALL, 0x3000), ret = branch_at(0x3004, BRANCH_RETURN, 0);
			struct prediction p;

			branch_resolve(b, &call, true, 0x3000, &p);
			branch_resolve(b, &ret, true, 0x0ff8, &p);
			branch_resolve(b, &in, taken, taken ? in.target : 0x1004, &p);
			wrong += p.mispredicted && round >= 598;
			if (round >= 598)
				guessed[(round - 598) * 40 + i] = p.target;
		}
	}
	assert_int_equal(wrong, 0);
	for (unsigned i = 0; i < 80; i++) {
		struct insn in = branch_at(0x1000, BRANCH_CONDITIONAL, 0x0ff0);
		struct insn call = branch_at(0x0ff4, BRANCH_CALL, 0x3000), ret = branch_at(0x3004, BRANCH_RETURN, 0);
		struct prediction p;

		branch_guess(b, s, &call, &p);
		branch_guess(b, s, &ret, &p);
		assert_int_equal(p.target, 0x0ff8);
		branch_guess(b, s, &in, &p);
		assert_int_equal(p.target, guessed[i]);
	}
	free(s);
	branch_free(b);
}

/* The wrong path must leave no trace: a run with guesses in between is the run without. */
static void guessing_changes_nothing(void **state)
{
	struct branch_unit *a = unit(""), *b = unit("");
	struct program g = program_new(), h;
	struct branch_state *s = malloc(branch_state_size(b));

	for (unsigned n = 0; n < 20000; n++) {
		struct prediction pa, pb;
		uint64_t next;
		bool taken;
		struct insn in = next_branch(&g, &taken, &next);

		branch_resolve(a, &in, taken, next, &pa);
		branch_resolve(b, &in, taken, next, &pb);
		assert_same(&pa, &pb);
		assert_int_equal(pa.mispredicted, pb.mispredicted);
		if (!pb.mispredicted)
			continue;
		branch_save(b, s);
		h = g;
		h.x += n;
		for (unsigned i = 0; i < 50; i++) {
			in = next_branch(&h, &taken, &next);
			branch_guess(b, s, &in, &pb);
		}
	}
	free(s);
	branch_free(a);
	branch_free(b);
}

/* Of 200000 branches of the program above, and by kind: a change of any predictor shows here, and is to be meant. */
static void synthetic_rates(void **state)
{
	static const struct {
		const char *settings;
		unsigned conditional, target;
	} expected[] = {
		{ "", 53490, 5938 },
		{ "branch.predictor=gshare", 54861, 5938 },
		{ "branch.predictor=bimodal", 53368, 5938 },
		{ "branch.indirect_entries=0;branch.ras_entries=4", 53490, 6722 },
	};

	for (unsigned e = 0; e < G_N_ELEMENTS(expected); e++) {
		struct branch_unit *b = unit(expected[e].settings);
		struct program g = program_new();
		unsigned conditional = 0, target = 0;

		for (unsigned n = 0; n < 200000; n++) {
			struct prediction p;
			uint64_t next;
			bool taken;
			struct insn in = next_branch(&g, &taken, &next);

			branch_resolve(b, &in, taken, next, &p);
			conditional += p.mispredicted && in.branch == BRANCH_CONDITIONAL;
			target += p.mispredicted && in.branch != BRANCH_CONDITIONAL;
		}
		assert_int_equal(conditional, expected[e].conditional);
		assert_int_equal(target, expected[e].target);
		branch_free(b);
	}
}

static void copies_are_small(void **state)
{
	static const char *const cores[] = { "skylake-sp", "boom", "cortex-a72" };

	for (unsigned c = 0; c < G_N_ELEMENTS(cores); c++) {
		struct branch_unit *b;
		struct core_desc d;

		assert_int_equal(core_desc_load(&d, cores[c]), 0);
		assert_int_equal(branch_new(&b, &d), 0);
		assert_in_range(branch_state_size(b), 1, 1088);
		branch_free(b);
	}
}

static void sizes_must_fit(void **state)
{
	assert_no_unit("branch.base_entries=5000", "branch.base_entries is 5000, which is not a power of two");
	assert_string_equal(error_get()->remedy, "try 4096");
	assert_no_unit("branch.btb_entries=4000", "branch.btb_entries: 4000 entries in 4 ways are not a power of two of sets");
	assert_no_unit("branch.btb1_ways=3", "branch.btb1_entries: 2048 entries in 3 ways are not a power of two of sets");
	assert_no_unit("branch.indirect_entries=500", "branch.indirect_entries: 500 entries in 4 tables are not a power of two each");
	assert_no_unit("branch.indirect_entries=2", "branch.indirect_entries: 2 entries in 4 tables are not a power of two each");
	assert_no_unit("branch.tage=1/2", "branch.tage: '1/2' is not a table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternation_needs_history),
		cmocka_unit_test(exits_beyond_the_history_are_a_surprise),
		cmocka_unit_test(correlated_branches_are_learnt_over_a_distance),
		cmocka_unit_test(returns_come_from_the_stack),
		cmocka_unit_test(an_empty_stack_knows_nothing),
		cmocka_unit_test(the_btb_holds_what_it_has_room_for),
		cmocka_unit_test(branches_conflict_by_their_block),
		cmocka_unit_test(the_second_level_catches_what_the_first_drops),
		cmocka_unit_test(only_taken_branches_enter_the_btb),
		cmocka_unit_test(indirect_jumps_follow_the_path),
		cmocka_unit_test(an_indirect_jump_never_seen_has_no_target),
		cmocka_unit_test(an_ideal_unit_is_never_wrong),
		cmocka_unit_test(guesses_agree_with_predictions),
		cmocka_unit_test(a_copy_walks_far),
		cmocka_unit_test(guessing_changes_nothing),
		cmocka_unit_test(synthetic_rates),
		cmocka_unit_test(copies_are_small),
		cmocka_unit_test(sizes_must_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
