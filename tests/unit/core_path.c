/*
 * Histories of taken branches: the register against a slow reference made from the published list of bits, tables of
 * several ways, and what was measured of the Skylake family's and Zen 5's predictors from outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "branch_refused.h"
#include "base/random.h"
#include "core/predict/branch.h"
#include "core/predict/history.h"
#include "core/params.h"
#include "core/predict/tage.h"

enum { REGISTER = 186 };

/* One bit an element, the youngest first. Ref: Half&Half, figure 4, in its form for Skylake. */
static void slow_push(uint8_t bit[REGISTER], uint64_t last, uint64_t target)
{
	static const uint8_t branch_bit[16] = { 3, 4, 7, 8, 11, 12, 5, 6, 9, 10, 13, 14, 15, 16, 17, 18 };

	memmove(bit + 2, bit, REGISTER - 2);
	bit[0] = bit[1] = 0;
	for (unsigned i = 0; i < 16; i++)
		bit[i] ^= (uint8_t)(last >> branch_bit[i] & 1);
	for (unsigned i = 0; i < 6; i++)
		bit[i] ^= (uint8_t)(target >> i & 1);
}

static void the_register_matches_the_reference(void **state)
{
	struct history_shape shape = { .kind = HISTORY_TAKEN_PATH };
	struct history h = { 0 };
	uint8_t bit[REGISTER] = { 0 };

	history_add_length(&shape, 11);
	history_add_length(&shape, 93);
	assert_int_equal(shape.words, 3);
	uint64_t random = RANDOM_START;
	for (unsigned n = 0; n < 2000; n++) {
		uint64_t last = next_random(&random), target = next_random(&random);

		history_push_taken(&h, &shape, last, target);
		slow_push(bit, last, target);
		for (unsigned i = 0; i < REGISTER; i++)
			assert_int_equal(h.taken[i / 64] >> i % 64 & 1, bit[i]);
	}
}

/* A fold knows the youngest branches of its length, and nothing of older ones. */
static void a_fold_ends_at_its_length(void **state)
{
	static const unsigned lengths[] = { 1, 11, 29, 31, 32, 33, 93, 194, 256, 512 };

	for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct history_shape shape = { .kind = HISTORY_TAKEN_PATH };
		struct history h = { 0 };
		unsigned bits = HISTORY_STEP * lengths[i];

		history_add_length(&shape, lengths[i]);
		for (unsigned at = 0; at < HISTORY_REGISTER; at++) {
			memset(&h, 0, sizeof h);
			h.taken[at / 64] = UINT64_C(1) << at % 64;
			assert_int_equal(history_fold_taken(&h, &shape, 0) != 0, at < bits);
		}
	}
}

static unsigned bit(uint64_t word, unsigned n)
{
	return (unsigned)(word >> n & 1);
}

/* A register, a bit a place, moves on by a taken branch. */
static void move_on(uint8_t *bits, size_t nr)
{
	memmove(bits + 2, bits, nr - 2);
	bits[0] = bits[1] = 0;
}

static void assert_bits(const uint64_t *words, const uint8_t *bits, size_t nr)
{
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(bit(words[i / 64], i % 64), bits[i]);
}

/* Of taken branches alone: pairs of low bits folded in one register, the bits themselves in the other, a target's hash. */
static void the_registers_of_branches_match_the_reference(void **state)
{
	struct history_shape shape = { .kind = HISTORY_TAKEN_BRANCHES };
	uint8_t reference[REGISTER] = { 0 }, near[64] = { 0 };
	struct history h = { 0 };

	history_add_length(&shape, 93);
	uint64_t random = RANDOM_START;
	for (unsigned n = 0; n < 2000; n++) {
		uint64_t last = next_random(&random), target = n % 3 ? 0 : next_random(&random);

		history_push_taken_branch(&h, &shape, last, target);
		move_on(reference, REGISTER);
		move_on(near, sizeof near);
		reference[0] ^= (uint8_t)bit(last, 1);
		for (unsigned i = 1; i < 4; i++)
			reference[i] ^= (uint8_t)(bit(last, 2 * i) ^ bit(last, 2 * i + 1));
		for (unsigned i = 4; i < 16; i++)
			reference[i] ^= (uint8_t)bit(last, i + 4);
		for (unsigned i = 0; i < 16; i++)
			reference[i] ^= (uint8_t)bit(target * 0x9e3779b97f4a7c15u, 48 + i);
		for (unsigned i = 0; i < 8; i++)
			near[i] ^= (uint8_t)bit(last, i);
		assert_bits(h.taken, reference, 2 * 93);
		assert_bits(&h.near, near, sizeof near);
	}
}

/* Of conditional branches alone, beside all the youngest. What an indirect predictor goes by knows these alone. */
static void the_registers_of_conditionals_match_the_reference(void **state)
{
	struct history_shape shape = { .kind = HISTORY_TAKEN_CONDITIONALS };
	uint8_t reference[REGISTER] = { 0 }, near[64] = { 0 };
	struct history h = { 0 };

	history_add_length(&shape, 93);
	history_add_path(&shape, 8);
	shape.kept = 1;
	uint64_t random = RANDOM_START;
	for (unsigned n = 0; n < 2000; n++) {
		uint64_t last = next_random(&random);
		bool conditional = n % 3;

		history_push_conditional(&h, &shape, last, conditional);
		move_on(near, sizeof near);
		for (unsigned i = 0; i < 6; i++)
			near[i] ^= (uint8_t)bit(last, i);
		if (conditional) {
			move_on(reference, REGISTER);
			for (unsigned i = 0; i < 16; i++)
				reference[i] ^= (uint8_t)bit(last, i);
		}
		assert_bits(h.taken, reference, 2 * 93);
		assert_bits(&h.near, near, sizeof near);
		assert_int_equal(h.path_fold[0], history_fold_taken(&h, &shape, 0));
		struct history path = { .near = h.near & 0xffff };
		assert_int_equal(history_fold_taken(&path, &shape, 1), history_fold_taken(&h, &shape, 1));
	}
}

/* A fold knows the nearer of its length and `most` of the second register. */
static void near_branches_enter(enum history_kind kind, unsigned most)
{
	static const unsigned lengths[] = { 5, HISTORY_NEAR, 135 };

	for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		struct history_shape shape = { .kind = kind };
		unsigned known = lengths[i] < most ? lengths[i] : most;

		history_add_length(&shape, lengths[i]);
		for (unsigned at = 0; at < 64; at++) {
			struct history h = { .near = UINT64_C(1) << at };

			assert_int_equal(history_fold_taken(&h, &shape, 0) != 0, at < HISTORY_STEP * known);
		}
	}
}

static void near_branches_enter_all_folds(void **state)
{
	near_branches_enter(HISTORY_TAKEN_BRANCHES, HISTORY_NEAR);
	near_branches_enter(HISTORY_TAKEN_CONDITIONALS, HISTORY_PATH_NEAR);
}

static struct branch_unit *unit(const char *core, const char *setting)
{
	struct branch_unit *b;
	struct core_desc d;

	assert_int_equal(core_desc_load(&d, core), 0);
	if (setting)
		assert_int_equal(core_desc_set(&d, setting), 0);
	assert_int_equal(branch_new(&b, &d), 0);
	return b;
}

static struct branch_unit *skylake(const char *setting)
{
	return unit("skylake-sp", setting);
}

static bool branch(struct branch_unit *b, uint64_t pc, bool taken)
{
	struct insn in = { .pc = pc, .target = pc + 0x40, .length = 2, .branch = BRANCH_CONDITIONAL };
	struct prediction p;

	branch_resolve(b, &in, taken, taken ? in.target : pc + 2, &p);
	return p.mispredicted;
}

static void jump(struct branch_unit *b, uint64_t pc)
{
	struct insn in = { .pc = pc, .target = pc + 0x40, .length = 2, .branch = BRANCH_JUMP };
	struct prediction p;

	branch_resolve(b, &in, true, in.target, &p);
}

/* Of 1000 branches that go as a random one did before `between` others, all taken or none of them: how many are mispredicted. */
static unsigned correlated(unsigned between, bool taken)
{
	struct branch_unit *b = skylake(NULL);
	unsigned missed = 0;

	uint64_t random = RANDOM_START;
	for (unsigned n = 0; n < 3000; n++) {
		bool way = next_random(&random) >> 32 & 1;

		branch(b, 0x10008, way);
		for (unsigned i = 0; i < between; i++) {
			if (taken)
				jump(b, 0x20000 + 0x40 * i);
			else
				branch(b, 0x20000 + 0x40 * i, false);
		}
		missed += branch(b, 0x80010, way) && n >= 2000;
	}
	branch_free(b);
	return missed;
}

/* Measured on Skylake: 93 taken branches, of any kind, are remembered, and branches not taken cost nothing. */
static void what_is_remembered(void **state)
{
	assert_in_range(correlated(0, true), 0, 2);
	assert_in_range(correlated(60, true), 0, 2);
	assert_in_range(correlated(85, true), 0, 2);
	assert_in_range(correlated(93, true), 400, 600);
	assert_in_range(correlated(300, false), 0, 2);
}

/* Mispredictions in 1000 runs of a loop of `n` iterations in another, whose closing branches are `apart`, after 1000 runs. */
static unsigned nested(const char *core, unsigned n, uint64_t apart, unsigned not_taken, unsigned jumps)
{
	struct branch_unit *b = unit(core, NULL);
	uint64_t inner = 0x40012f; /* its last byte is at a multiple of 16, as bits may flip */
	unsigned missed = 0;

	for (unsigned run = 0; run < 2000; run++) {
		for (unsigned i = 1; i <= n; i++) {
			for (unsigned k = 0; k < not_taken; k++)
				missed += branch(b, 0x400100 + 4 * k, false) && run >= 1000;
			for (unsigned k = 0; k < jumps; k++)
				jump(b, 0x400118 + 2 * k);
			missed += branch(b, inner, i < n) && run >= 1000;
		}
		missed += branch(b, inner + apart, true) && run >= 1000;
	}
	branch_free(b);
	return missed;
}

/*
 * Measured on Zen 5: the exit of a loop is predicted where its branch and that of the loop around it differ in the bits
 * that the register takes. Where they do not, short loops are, by the unfolded bits, and longer ones never; and so are
 * none that are longer than the register. Branches not taken change nothing.
 */
static void exits_of_loops(void **state)
{
	static const uint64_t seen[] = { 0x02, 0x04, 0x08, 0x10, 0x20, 0x80, 0x100 }, unseen[] = { 0x0c, 0xc0, 0xcc };

	for (unsigned i = 0; i < sizeof seen / sizeof *seen; i++) {
		assert_int_equal(nested("zen5", 4, seen[i], 0, 0), 0);
		assert_int_equal(nested("zen5", 24, seen[i], 0, 0), 0);
		assert_int_equal(nested("zen5", 48, seen[i], 0, 0), 0);
		assert_int_equal(nested("zen5", 48, seen[i], 3, 0), 0);
		assert_int_equal(nested("zen5", 142, seen[i], 0, 0), 1000);
	}
	for (unsigned i = 0; i < sizeof unseen / sizeof *unseen; i++) {
		assert_int_equal(nested("zen5", 4, unseen[i], 0, 0), 0);
		assert_int_equal(nested("zen5", 18, unseen[i], 0, 0), 0);
		assert_int_equal(nested("zen5", 18, unseen[i], 3, 0), 0);
		assert_int_equal(nested("zen5", 24, unseen[i], 0, 0), 1000);
		assert_int_equal(nested("zen5", 48, unseen[i], 0, 0), 1000);
	}
}

/*
 * Measured on Zen 3: they are predicted wherever both branches are, as long as no more than 120 taken conditional branches are in
 * a run. Branches not taken and jumps are not of them.
 */
static void exits_of_loops_by_conditionals(void **state)
{
	static const uint64_t apart[] = { 0x02, 0x0c, 0x40, 0xcc, 0x100, 0x1000, 0x8000 };

	for (unsigned i = 0; i < sizeof apart / sizeof *apart; i++) {
		assert_int_equal(nested("zen3", 26, apart[i], 0, 0), 0);
		assert_int_equal(nested("zen3", 48, apart[i], 3, 2), 0);
		assert_int_equal(nested("zen3", 96, apart[i], 0, 2), 0);
		assert_int_equal(nested("zen3", 116, apart[i], 3, 0), 0);
		assert_int_equal(nested("zen3", 128, apart[i], 0, 0), 1000);
	}
}

/* Of 1000 branches that go as the target of a random jump before it tells: how many are mispredicted. */
static unsigned after_jump(enum branch_kind kind)
{
	struct branch_unit *b = unit("zen5", NULL);
	unsigned missed = 0;

	uint64_t random = RANDOM_START;
	for (unsigned n = 0; n < 3000; n++) {
		bool way = next_random(&random) >> 32 & 1;
		struct insn in = { .pc = 0x10008, .target = 0x20000 + way, .length = 2, .branch = kind };
		struct prediction p;

		branch_resolve(b, &in, true, in.target, &p);
		missed += branch(b, 0x20010, way) && n >= 2000;
	}
	branch_free(b);
	return missed;
}

/* Measured on Zen 5: targets are remembered of indirect jumps, and of no others. */
static void targets_of_indirect_jumps(void **state)
{
	assert_in_range(after_jump(BRANCH_INDIRECT), 0, 5);
	assert_in_range(after_jump(BRANCH_JUMP), 400, 600);
}

/* Two branches a set apart in nothing but their tags live side by side in two ways, and push each other out of one. */
static void ways_hold_what_collides(void **state)
{
	static const char *const tables[] = { "16/2/12/1", "64/2/12/4" };
	unsigned missed[2] = { 0, 0 };

	for (unsigned i = 0; i < 2; i++) {
		struct history_shape shape = { .kind = HISTORY_TAKEN_PATH };
		struct history h = { 0 };
		struct tage_lookup l;
		struct tage t;

		assert_int_equal(tage_init(&t, "test", tables[i], 16, 0, &shape), 0);
		uint64_t random = 362436069;
		for (unsigned n = 0; n < 40000; n++) { /* 48 contexts: three to a set, all of one base entry */
			unsigned context = (unsigned)(next_random(&random) >> 33) % 48;
			bool taken = context * 2654435761u >> 31;

			h.taken[0] = context % 16;
			h.path_fold[0] = history_fold_taken(&h, &shape, 0);
			uint64_t pc = 0x1000 + 16 * (context / 16);
			missed[i] += tage_predict(&t, &h, &shape, pc, &l) != taken && n >= 20000;
			tage_train(&t, pc, &l, taken);
		}
		tage_fini(&t);
	}
	assert_in_range(missed[0], 1000, 20000);
	assert_in_range(missed[1], 0, 300);
}

/* Eight tables, of which seven lengths are kept folded, and of every number of ways: a guess is the prediction, at any time. */
static void a_guess_is_the_prediction(void **state)
{
	struct history_shape shape = { .kind = HISTORY_TAKEN_PATH };
	struct history h = { 0 };
	unsigned provided[9] = { 0 }, weak = 0;
	struct tage t;

	assert_int_equal(tage_init(&t, "test",
		"64/2/5/1 64/4/5/2 64/6/6/4 64/9/6/4 64/14/6/4 64/24/6/1 64/44/7/2 64/93/7/8", 16, 0, &shape), 0);
	assert_int_equal(shape.kept, 7);
	uint64_t random = 521288629;
	for (unsigned n = 0; n < 50000; n++) {
		uint64_t r = next_random(&random), pc = 0x1000 + (r >> 20) % 32 * 6;
		struct tage_lookup l;
		bool taken = (h.taken[0] ^ pc) % 7 < 3 || !(r >> 40 & 15);

		assert_int_equal(tage_guess(&t, &h, &shape, pc), tage_predict(&t, &h, &shape, pc, &l));
		provided[l.provider + 1]++;
		weak += l.weak && l.alternate_taken != l.provider_taken;
		tage_train(&t, pc, &l, taken);
		if (taken)
			history_push_taken(&h, &shape, pc, pc + 0x40);
	}
	for (unsigned i = 0; i < 9; i++)
		assert_in_range(provided[i], 100, 50000);
	assert_in_range(weak, 100, 50000);
	tage_fini(&t);
}

static void sizes_are_checked(void **state)
{
	assert_no_unit("branch.tage=64/513/8", "branch.tage: '64/513/8' is not a table");
	assert_no_unit("branch.tage=64/4/8/3", "branch.tage: '64/4/8/3' is not a table");
	assert_no_unit("branch.tage=64/4/8/16", "branch.tage: '64/4/8/16' is not a table");
	assert_no_unit("branch.indirect_history=513",
		"branch.indirect_history: 513 is more than branch.history = taken-path can hold, 512");
	branch_free(skylake("branch.tage=64/512/8/8"));

	struct branch_unit *b;
	struct core_desc d;
	assert_int_equal(core_desc_load(&d, "zen3"), 0);
	assert_int_equal(core_desc_set(&d, "branch.indirect_history=9"), 0);
	assert_int_equal(branch_new(&b, &d), -EINVAL);
	assert_string_equal(error_get()->why, "branch.indirect_history: 9 is more than branch.history = taken-conditionals can hold, 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_register_matches_the_reference),
		cmocka_unit_test(a_fold_ends_at_its_length),
		cmocka_unit_test(the_registers_of_branches_match_the_reference),
		cmocka_unit_test(the_registers_of_conditionals_match_the_reference),
		cmocka_unit_test(near_branches_enter_all_folds),
		cmocka_unit_test(what_is_remembered),
		cmocka_unit_test(exits_of_loops),
		cmocka_unit_test(exits_of_loops_by_conditionals),
		cmocka_unit_test(targets_of_indirect_jumps),
		cmocka_unit_test(ways_hold_what_collides),
		cmocka_unit_test(a_guess_is_the_prediction),
		cmocka_unit_test(sizes_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
