/*
 * What the abstract core keeps so that it need not look again: the window that it is in, granules that no store wrote.
 * Random paths and accesses must meet the same where that is forgotten before each step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/gus/deliver.h"
#include "core/gus/memory.h"
#include "core/order/shadow.h"
#include "core_memory_desc.h"

enum { STEPS = 200000 };

static uint64_t seed;

/* Below `n`. */
static uint64_t random_below(uint64_t n)
{
	seed = seed * 0x5851f42d4c957f2d + 1;
	return (seed >> 33) % n;
}

static void assert_same_words(struct outcome_stream *a, struct outcome_stream *b)
{
	assert_int_equal(a->nr, b->nr);
	assert_memory_equal(a->word, b->word, a->nr * sizeof *a->word);
	a->nr = b->nr = 0;
}

/* --- windows ----------------------------------------------------------------------------------------- */

/* One of the two looks at the window of every instruction. */
struct twins {
	struct outcome_memory memory[2];
	struct delivery path[2];
	struct outcome_stream out[2];
};

static void deliver_both(struct twins *t, const struct insn *in)
{
	unsigned flags[2];

	t->path[1].inside = UOPCACHE_NONE;
	for (unsigned i = 0; i < 2; i++)
		flags[i] = deliver(&t->path[i], in, &t->out[i]);
	assert_int_equal(flags[0], flags[1]);
}

static void both_break(struct twins *t, bool taken)
{
	for (unsigned i = 0; i < 2; i++) {
		deliver_anew(&t->path[i]);
		if (taken)
			uop_cache_build_end(&t->path[i].uops);
	}
}

static void windows(int sets, int ways, int max_ways, int whole)
{
	static struct twins t;
	struct core_desc d;
	uint64_t pc = PC, loops = 0;

	desc_skylake(&d);
	d.uopcache_sets = sets;
	d.uopcache_ways = ways;
	d.uopcache_max_ways = max_ways;
	d.uopcache_whole = whole;
	seed = 1;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(outcome_memory_init(&t.memory[i], &d), 0);
		assert_int_equal(delivery_init(&t.path[i], &d, &t.memory[i]), 0);
	}
	for (unsigned n = 0; n < STEPS; n++) {
		struct insn in = { .pc = pc,
			           .length = (uint8_t)(1 + pc % 7),
			           .decode_uops = (uint8_t)(1 + pc / 3 % 4) };

		if (pc % 97 == 0)
			in.flags |= INSN_MICROCODED;
		deliver_both(&t, &in);
		pc += in.length;
		if (random_below(6) == 0) {
			/*
			 * Most often near: what is there is left and come back to, and others take its place in its
			 * set.
			 */
			pc = PC + (random_below(8) ? random_below(40) * 16 : random_below(3000) * 16);
			both_break(&t, true);
			loops++;
		} else if (random_below(300) == 0) {
			both_break(&t, false);
		}
	}
	assert_same_words(&t.out[0], &t.out[1]);
	assert_true(loops > STEPS / 10);
	for (unsigned i = 0; i < 2; i++) {
		delivery_fini(&t.path[i]);
		outcome_memory_fini(&t.memory[i]);
		outcome_stream_fini(&t.out[i]);
	}
}

static void t001_windows(void **state)
{
	windows(32, 8, 3, 0);
	windows(4, 4, 3, 0);
	windows(64, 16, 11, 1);
	windows(1, 2, 2, 0);
	windows(16, 4, 3, 0);
	windows(0, 8, 3, 0);
}

/* --- stores ------------------------------------------------------------------------------------------ */

enum { BYTES = 1 << 17 };

/* Byte by byte: the number + 1 of the store that wrote it last. */
static struct source by_bytes(const uint32_t *writer, const struct shadow *s, uint64_t addr, uint32_t bytes)
{
	struct source from = { 0, SOURCE_WHOLE };
	uint32_t youngest = 0;
	bool whole = true;

	for (uint64_t at = addr; at < addr + bytes; at++) {
		uint32_t w = writer[at] && s->nr_stores - (writer[at] - 1) <= SHADOW_FAR ? writer[at] : 0;
		whole &= w && (at == addr || w == youngest);
		youngest = w > youngest ? w : youngest;
	}
	from.distance = youngest ? s->nr_stores - (youngest - 1) : 0;
	from.kind = youngest && !whole ? SOURCE_PARTIAL : SOURCE_WHOLE;
	return from;
}

/* So few granules a store that the ring holds those of all stores that are near enough. */
static void t002_stores(void **state)
{
	static struct shadow s;
	static uint32_t writer[BYTES + 64];
	unsigned found = 0;

	seed = 2;
	for (unsigned n = 0; n < STEPS; n++) {
		/* Places that share buckets, and some that are near each other. */
		uint64_t addr = random_below(2) ? random_below(256)
		                                : random_below(4) * SHADOW_BUCKETS * SHADOW_BYTES + random_below(512);
		uint32_t bytes = 1u << random_below(4);

		if (random_below(8) == 0)
			addr = random_below(BYTES);
		if (random_below(4) == 0) {
			addr &= ~(uint64_t)(bytes - 1);
			shadow_store(&s, addr, bytes, false);
			for (uint64_t at = addr; at < addr + bytes; at++)
				writer[at] = s.nr_stores;
			continue;
		}
		bytes = 1u << random_below(6);
		struct source is = shadow_load(&s, addr, bytes), ought = by_bytes(writer, &s, addr, bytes);
		assert_int_equal(is.distance, ought.distance);
		assert_int_equal(is.kind == SOURCE_PARTIAL, ought.kind == SOURCE_PARTIAL);
		found += is.distance != 0;
	}
	assert_true(found > STEPS / 10 && found < STEPS * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t001_windows),
		cmocka_unit_test(t002_stores),
	};
	return cmocka_run_group_tests_name("core abstract known", tests, NULL, NULL);
}
