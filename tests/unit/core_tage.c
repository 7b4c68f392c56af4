/*
 * The parts of direction prediction, each by itself: folded histories and TAGE's indices against a slow
 * reference, TAGE's rules on entries written by hand, counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/predict/base.h"
#include "core/predict/history.h"
#include "core/predict/tage.h"

static uint32_t random_state;

static uint32_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* All bits ever pushed, the youngest last. */
struct slow_history {
	uint8_t bit[20000];
	unsigned nr;
};

static uint32_t slow_fold(const struct slow_history *h, unsigned length)
{
	uint32_t fold = 0;

	for (unsigned age = 0; age < length && age < h->nr; age++)
		fold ^= (uint32_t)h->bit[h->nr - 1 - age] << age % HISTORY_FOLD;
	return fold;
}

static void folds_match_the_reference(void **state)
{
	static const unsigned lengths[] = { 1, 2, 4, 8, 15, 16, 17, 30, 31, 32, 33, 62, 63, 64, 93, 128, 500, 640, 1000, HISTORY_LONGEST };
	enum { NR = sizeof lengths / sizeof *lengths };
	struct history_shape shape = { 0 };
	struct history h = { 0 };
	static struct slow_history slow;

	slow.nr = 0;
	random_state = 88675123;
	for (unsigned i = 0; i < NR; i++)
		assert_int_equal(history_add_length(&shape, lengths[i]), i);
	for (unsigned n = 0; n < 5000; n++) {
		uint8_t bit = (uint8_t)(n < 2500 ? next_random() & 1 : n / 7 % 2);

		history_push(&h, &shape, bit);
		slow.bit[slow.nr++] = bit;
		for (unsigned i = 0; i < NR; i++)
			assert_int_equal(h.fold[i], slow_fold(&slow, lengths[i]));
		assert_int_equal(h.recent & 1, bit);
	}
}

/* A target is HISTORY_TARGET pushes of the upper bits of its hash, the lowest of them first. */
static void a_target_is_some_bits(void **state)
{
	struct history_shape shape = { 0 };
	struct history by_target = { 0 }, by_bits = { 0 };

	history_add_length(&shape, 20);
	for (uint64_t target = 0x400000; target < 0x400400; target += 24) {
		uint64_t hash = target * 0x9e3779b97f4a7c15u >> 60;

		history_push_target(&by_target, &shape, target);
		for (unsigned i = 0; i < 4; i++)
			history_push(&by_bits, &shape, (unsigned)(hash >> i & 1));
	}
	assert_memory_equal(&by_target, &by_bits, sizeof by_target);
}

/* Indices and tags from the list of all bits, by the definition. */
static void tage_indices_match_the_reference(void **state)
{
	static const unsigned length[] = { 4, 13, 40, 200, 640 }, entries[] = { 64, 256, 1024, 256, 16 }, tag_bits[] = { 4, 8, 16, 12, 11 };
	struct history_shape shape = { 0 };
	struct history h = { 0 };
	static struct slow_history slow;
	struct tage_lookup l;
	struct tage t;
	uint32_t path = 0;

	slow.nr = 0;
	random_state = 362436069;
	assert_int_equal(tage_init(&t, "test", "64/4/4 256/13/8 1024/40/16 256/200/12 16/640/11", 64, 0, &shape), 0);
	for (unsigned n = 0; n < 2000; n++) {
		uint64_t pc = next_random();
		uint32_t first = 0;
		uint8_t bit = next_random() & 1;

		tage_predict(&t, &h, &shape, pc, &l);
		for (unsigned i = 0; i < 5; i++) {
			uint32_t key = slow_fold(&slow, length[i]) ^ (path & ((1u << (length[i] < 16 ? length[i] : 16)) - 1)) << 15;
			uint32_t address = (uint32_t)(pc * 0x9e3779b97f4a7c15u >> 32);

			assert_int_equal(l.index[i], first + (key ^ key >> 10 ^ key >> 20 ^ address) % entries[i]);
			assert_int_equal(l.tag[i], (key ^ key >> 13 ^ key << 5 ^ address >> 16) % (1u << tag_bits[i]));
			first += entries[i];
		}
		history_push(&h, &shape, bit);
		slow.bit[slow.nr++] = bit;
		path = h.path = next_random() & 0xffff;
	}
	tage_fini(&t);
}

static void assert_no_tage(const char *tables, const char *why)
{
	struct history_shape shape = { 0 };
	struct tage t;

	assert_int_equal(tage_init(&t, "some core", tables, 64, 0, &shape), -EINVAL);
	assert_string_equal(error_get()->what, "some core");
	assert_string_equal(error_get()->why, why);
	tage_fini(&t);
}

static void tables_are_checked(void **state)
{
	assert_no_tage("", "branch.tage names no tables");
	assert_no_tage("  ", "branch.tage names no tables");
	assert_no_tage("64/4", "branch.tage: '64/4' is not a table");
	assert_no_tage("64/4/8/2/1", "branch.tage: '64/4/8/2/1' is not a table");
	assert_no_tage("60/4/8", "branch.tage: '60/4/8' is not a table");
	assert_no_tage("131072/4/8", "branch.tage: '131072/4/8' is not a table");
	assert_no_tage("64/0/8", "branch.tage: '64/0/8' is not a table");
	assert_no_tage("64/1009/8", "branch.tage: '64/1009/8' is not a table");
	assert_no_tage("64/4/3", "branch.tage: '64/4/3' is not a table");
	assert_no_tage("64/4/17", "branch.tage: '64/4/17' is not a table");
	assert_no_tage("64/4/x", "branch.tage: '64/4/x' is not a table");
	assert_no_tage("64/8/8 64/8/8", "branch.tage: the histories do not grow at '64/8/8'");
	assert_no_tage("16/1/8 16/2/8 16/3/8 16/4/8 16/5/8 16/6/8 16/7/8 16/8/8 16/9/8 16/10/8 16/11/8 16/12/8 16/13/8 16/14/8 "
		"16/15/8 16/16/8 16/17/8", "branch.tage: over 16 tables");
}

/* Three tables; nothing in them matches but what a test writes. */
struct tage_fixture {
	struct tage t;
	struct history_shape shape;
	struct history h;
	struct tage_lookup l;
	uint64_t pc;
};

static void tage_start(struct tage_fixture *f)
{
	memset(f, 0, sizeof *f);
	f->pc = 0x1234;
	assert_int_equal(tage_init(&f->t, "test", "64/4/8 64/8/8 64/16/8", 64, 0, &f->shape), 0);
	tage_predict(&f->t, &f->h, &f->shape, f->pc, &f->l);
	for (unsigned i = 0; i < 3; i++)
		assert_int_not_equal(f->l.tag[i], 0);
	assert_int_equal(f->l.provider, -1);
	assert_false(f->l.taken);
}

static struct tage_entry *entry_of(struct tage_fixture *f, unsigned table)
{
	return &f->t.entry[f->l.index[table]];
}

static void put_entry(struct tage_fixture *f, unsigned table, int counter, unsigned useful)
{
	f->t.tag[f->l.index[table]] = (uint16_t)f->l.tag[table];
	*entry_of(f, table) = (struct tage_entry){ .counter = (int8_t)counter, .useful = (uint8_t)useful };
}

static bool tage_again(struct tage_fixture *f)
{
	return tage_predict(&f->t, &f->h, &f->shape, f->pc, &f->l);
}

static void the_longest_match_provides(void **state)
{
	struct tage_fixture f;

	tage_start(&f);
	put_entry(&f, 0, -3, 0);
	put_entry(&f, 1, 2, 0);
	assert_true(tage_again(&f));
	assert_int_equal(f.l.provider, 1);
	assert_int_equal(f.l.alternate, 0);
	assert_false(f.l.alternate_taken);
	assert_false(f.l.weak);
	put_entry(&f, 2, -4, 0);
	assert_false(tage_again(&f));
	assert_int_equal(f.l.provider, 2);
	assert_int_equal(f.l.alternate, 1);
	tage_fini(&f.t);
}

static void weak_entries_give_way_while_that_pays(void **state)
{
	struct tage_fixture f;

	tage_start(&f);
	put_entry(&f, 2, 0, 1);
	assert_false(tage_again(&f)); /* weakly taken, but the base says no, and is believed at first */
	assert_true(f.l.weak && f.l.provider_taken && !f.l.alternate_taken);
	tage_train(&f.t, f.pc, &f.l, true);
	assert_int_equal(f.t.use_alternate[f.pc % TAGE_ALTERNATES], -1);
	put_entry(&f, 2, 0, 1);
	assert_true(tage_again(&f));
	tage_train(&f.t, f.pc, &f.l, false);
	assert_int_equal(f.t.use_alternate[f.pc % TAGE_ALTERNATES], 0);
	tage_fini(&f.t);
}

static void training_moves_the_provider(void **state)
{
	struct tage_fixture f;

	tage_start(&f);
	put_entry(&f, 0, -2, 1);
	put_entry(&f, 1, 2, 1);
	tage_again(&f);
	tage_train(&f.t, f.pc, &f.l, true);   /* provider right, alternate wrong */
	assert_int_equal(entry_of(&f, 1)->counter, 3);
	assert_int_equal(entry_of(&f, 1)->useful, 2);
	assert_int_equal(entry_of(&f, 0)->counter, -2);
	tage_again(&f);
	tage_train(&f.t, f.pc, &f.l, true);
	assert_int_equal(entry_of(&f, 1)->counter, TAGE_COUNTER_MAX);
	assert_int_equal(entry_of(&f, 1)->useful, TAGE_USEFUL_MAX);
	tage_again(&f);
	tage_train(&f.t, f.pc, &f.l, true);
	assert_int_equal(entry_of(&f, 1)->counter, TAGE_COUNTER_MAX);
	assert_int_equal(entry_of(&f, 1)->useful, TAGE_USEFUL_MAX);
	tage_again(&f);
	tage_train(&f.t, f.pc, &f.l, false);  /* provider wrong, alternate right */
	assert_int_equal(entry_of(&f, 1)->counter, 2);
	assert_int_equal(entry_of(&f, 1)->useful, 2);
	f.t.tag[f.l.index[2]] = 0; /* what the misprediction allocated */
	put_entry(&f, 1, 2, 0);
	tage_again(&f);
	tage_train(&f.t, f.pc, &f.l, true);   /* not useful yet: the alternate learns too */
	assert_int_equal(entry_of(&f, 0)->counter, -1);
	tage_fini(&f.t);
}

static void a_misprediction_allocates_one_longer_entry(void **state)
{
	struct tage_fixture f;
	unsigned taken = 0;

	tage_start(&f);
	tage_train(&f.t, f.pc, &f.l, true);
	for (unsigned i = 0; i < 3; i++)
		taken += f.t.tag[f.l.index[i]] == f.l.tag[i];
	assert_int_equal(taken, 1);
	tage_again(&f);
	assert_true(f.l.provider >= 0);
	assert_int_equal(entry_of(&f, (unsigned)f.l.provider)->counter, 0);
	assert_int_equal(entry_of(&f, (unsigned)f.l.provider)->useful, 0);
	tage_fini(&f.t);
}

static void useful_entries_are_kept_until_they_age(void **state)
{
	struct tage_fixture f;
	const struct tage_entry other = { .counter = 1, .useful = 2 };
	unsigned refusals = 0;

	tage_start(&f);
	for (unsigned i = 0; i < 3; i++) {
		f.t.tag[f.l.index[i]] = (uint16_t)(f.l.tag[i] ^ 1);
		*entry_of(&f, i) = other;
	}
	f.l.taken = false;
	while (entry_of(&f, 2)->useful == 2) {
		tage_train(&f.t, f.pc, &f.l, true);
		refusals++;
	}
	/* Every misprediction found two or three useful entries, of which it had wanted one: 1024 of those age all. */
	assert_in_range(refusals, TAGE_TICK_MAX / 3, TAGE_TICK_MAX / 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(entry_of(&f, i)->useful, 1);
	assert_int_equal(f.t.tick, 0);
	tage_fini(&f.t);
}

static void bimodal_takes_two_to_turn(void **state)
{
	struct base b;

	assert_int_equal(base_init(&b, 16, 0), 0);
	assert_false(base_predict(&b, 3));
	base_train(&b, 3, true);       /* weakly not taken: turns */
	assert_true(base_predict(&b, 3));
	base_train(&b, 3, true);
	base_train(&b, 3, false);      /* sure: stays once */
	assert_true(base_predict(&b, 3));
	base_train(&b, 3, false);
	assert_false(base_predict(&b, 3));
	assert_false(base_predict(&b, 4));
	base_train(&b, 3 + 16, true);  /* the same entry */
	assert_true(base_predict(&b, 3));
	base_fini(&b);
}

static void neighbours_share_hysteresis(void **state)
{
	struct base b;

	assert_int_equal(base_init(&b, 16, 2), 0);
	base_train(&b, 4, true);
	base_train(&b, 4, true);       /* sure, and so is 5, which says not taken */
	base_train(&b, 5, true);
	assert_false(base_predict(&b, 5));
	base_train(&b, 5, true);
	assert_true(base_predict(&b, 5));
	base_fini(&b);
}

static void the_chooser_finds_the_better(void **state)
{
	struct gshare_lookup l;
	struct gshare g;
	uint64_t history = 0;
	unsigned missed = 0;

	assert_int_equal(gshare_init(&g, 256), 0);
	for (unsigned n = 0; n < 1000; n++) {
		bool taken = n % 3 == 0;       /* a pattern for gshare, not for bimodal */

		missed += gshare_predict(&g, history, 77, &l) != taken && n >= 100;
		gshare_train(&g, 77, &l, taken);
		history = history << 1 | taken;
	}
	assert_int_equal(missed, 0);
	assert_int_equal(g.chooser[77], 3);
	gshare_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds_match_the_reference),
		cmocka_unit_test(a_target_is_some_bits),
		cmocka_unit_test(tage_indices_match_the_reference),
		cmocka_unit_test(tables_are_checked),
		cmocka_unit_test(the_longest_match_provides),
		cmocka_unit_test(weak_entries_give_way_while_that_pays),
		cmocka_unit_test(training_moves_the_provider),
		cmocka_unit_test(a_misprediction_allocates_one_longer_entry),
		cmocka_unit_test(useful_entries_are_kept_until_they_age),
		cmocka_unit_test(bimodal_takes_two_to_turn),
		cmocka_unit_test(neighbours_share_hysteresis),
		cmocka_unit_test(the_chooser_finds_the_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
