/*
 * The store queue's search against an obvious reference: all stores, youngest first, on random accesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "core/ooo/lsq.h"
#include "machine.h"

enum { STORES = 20000, QUEUE = 56 };

struct made { uint64_t addr, freed; uint32_t bytes; };

/* What lsq_search() says it finds, by looking at every store; returns how many are at and before it, 0: none. */
static size_t reference(const struct made *all, size_t n, uint64_t addr, uint32_t bytes, uint64_t cycle,
                        struct lsq_answer *out)
{
	*out = (struct lsq_answer){ .kind = SOURCE_WHOLE };
	for (size_t i = n; i-- > 0 && all[i].freed > cycle; ) {
		const struct made *s = &all[i];
		if (s->addr < addr + bytes && addr < s->addr + s->bytes) {
			bool whole = s->addr <= addr && addr + bytes <= s->addr + s->bytes;
			enum source_kind same = bytes < s->bytes ? SOURCE_NARROW : SOURCE_WHOLE;
			out->kind = !whole ? SOURCE_PARTIAL : addr != s->addr ? SOURCE_INSIDE : same;
			out->alias = false;
			return i + 1;
		}
		for (uint64_t g = addr / 8; g <= (addr + bytes - 1) / 8; g++)
			for (uint64_t h = s->addr / 8; h <= (s->addr + s->bytes - 1) / 8; h++)
				out->alias |= g % 512 == h % 512 && g != h;
	}
	return 0;
}

static void t_search(void **state)
{
	struct machine *m = machine_new();
	struct memory *memory;
	static struct lsq q;
	struct made *all = calloc(STORES, sizeof *all);
	uint64_t seed = RANDOM_START, cycle = 100;
	size_t found[4] = { 0 }, aliases = 0;

	m->desc.store_queue_entries = QUEUE;
	m->desc.alias4k_penalty = 1;
	m->desc.ideal.l1d = true;
	assert_int_equal(memory_new(&memory, &m->desc), 0);
	assert_int_equal(lsq_init(&q, &m->desc, memory), 0);
	for (size_t n = 0; n < STORES; n++) {
		uint64_t r = next_random(&seed);
		uint32_t bytes = 1u << (r & 7) % 7;
		uint64_t addr = 0x10000 + (r >> 8) % 512 + (r >> 20) % 3 * 4096;
		uint64_t free = lsq_stores_free(&q, 1);
		cycle = (cycle > free ? cycle : free) + (r >> 30) % 3;
		uint64_t freed = lsq_add_store(&q, r, addr, bytes, cycle, cycle + 1, cycle + 20 + (r >> 32) % 30, n);
		all[n] = (struct made){ .addr = addr, .bytes = bytes, .freed = freed };
		for (int k = 0; k < 4; k++) {
			r = next_random(&seed);
			uint32_t read = 1u << (r & 7) % 7;
			uint64_t from = 0x10000 + (r >> 8) % 512 + (r >> 20) % 3 * 4096, at = cycle + (r >> 40) % 60;
			struct lsq_answer want, got;
			size_t source = reference(all, n + 1, from, read, at, &want);
			lsq_search(&q, from, read, at, &got);
			assert_int_equal(got.store ? got.store->record + 1 : 0, source);
			if (source)
				assert_int_equal(got.kind, want.kind);
			assert_int_equal(got.alias, want.alias);
			found[want.kind] += source != 0;
			aliases += want.alias;
		}
	}
	for (int v = 0; v < 4; v++)
		assert_true(found[v] > 100);
	assert_true(aliases > 1000);
	lsq_fini(&q);
	memory_free(memory);
	free(all);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(t_search) };
	return cmocka_run_group_tests_name("core_lsq", tests, NULL, NULL);
}
