/* Random bytes, fixed seeds: every ISA's decoder gives an entry that keeps the promises of insn.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "isa_show.h"

static void check_entry(struct code *code, uint32_t index, unsigned given)
{
	const struct insn *i = code_insn(code, index);
	unsigned loads = 0, stores = 0;
	uint8_t kind = UOP_LOAD;

	assert_in_range(i->length, 1, given);
	assert_in_range(i->slots, 1, 255);
	assert_in_range(i->decode_uops, 1, 255);
	assert_in_range(i->nr_addr, 0, INSN_ADDRS);
	assert_in_range(i->nr_data, 0, INSN_DATAS);
	assert_in_range(i->nr_dst, 0, INSN_DSTS);
	for (unsigned k = 0; k < i->nr_addr; k++)
		assert_in_range(i->addr[k], 1, NR_REGS - 1);
	for (unsigned k = 0; k < i->nr_data; k++)
		assert_in_range(i->data[k], 1, NR_REGS - 1);
	for (unsigned k = 0; k < i->nr_dst; k++)
		assert_in_range(i->dst[k], 1, NR_REGS - 1);
	for (unsigned k = 0; k < i->nr_uops; k++) {
		const struct uop *u = &code->uops[i->uop + k];
		/* loads, compute, STA, STD */
		static const uint8_t order[] = { [UOP_LOAD] = 0, [UOP_COMPUTE] = 1, [UOP_STA] = 2, [UOP_STD] = 3 };
		assert_true(order[u->kind] >= order[kind]);
		kind = u->kind;
		loads += u->kind == UOP_LOAD;
		stores += u->kind == UOP_STA;
	}
	if (i->flags & (INSN_UNMODELLED | INSN_NOP | INSN_ZERO)) {
		assert_int_equal(i->nr_uops, 0);
	} else {
		assert_int_equal(loads > 0, (i->flags & INSN_LOAD) != 0);
		assert_int_equal(stores > 0, (i->flags & INSN_STORE) != 0);
	}
	if (i->flags & INSN_MOVE) {
		assert_int_equal(i->nr_data, 1);
		assert_int_equal(i->nr_dst, 1);
	}
	assert_true(!i->target || i->branch);
}

static void noise(const char *core, unsigned longest, unsigned step)
{
	struct code *code = show_core(core);
	GRand *random = g_rand_new_with_seed(1);

	for (unsigned k = 0; k < 100000; k++) {
		uint8_t bytes[15];
		unsigned n = (unsigned)g_rand_int_range(random, 1, (int)longest + 1);
		char text[128];

		for (unsigned b = 0; b < sizeof bytes; b++)
			bytes[b] = (uint8_t)g_rand_int(random);
		/* Half of them begin as instructions with many forms do. */
		if (longest == 15 && k % 2)
			memcpy(bytes, (const uint8_t[][2]){ { 0x62, 0xf1 }, { 0xc4, 0xe2 }, { 0x0f, 0x38 }, { 0xf0, 0x48 }, { 0xf3, 0x0f }, { 0x66, 0x0f }, { 0xd8, 0xc0 }, { 0x48, 0x8b } }[k / 2 % 8], 2);
		uint32_t i = code_add(code, k * step, bytes, n);
		check_entry(code, i, n);
		if (k % 16 == 0)
			assert_true(code_text(code, i, text, sizeof text) > 0);
	}
	g_rand_free(random);
	code_free(code);
}

static void x86_noise(void **state)
{
	(void)state;
	noise("skylake-sp", 15, 3);
}

static void aarch64_noise(void **state)
{
	(void)state;
	noise("cortex-a72", 4, 4);
}

static void riscv_noise(void **state)
{
	(void)state;
	noise("boom", 4, 2);
}

static void noisy_pages(void **state)
{
	struct code *code = show_core("skylake-sp");
	GRand *random = g_rand_new_with_seed(3);
	uint8_t page[4096];

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned b = 0; b < sizeof page; b++)
			page[b] = (uint8_t)g_rand_int(random);
		code_page(code, 0x1000 * (1 + round % 3), page);
		for (unsigned k = 0; k < 500; k++) {
			uint64_t pc = (uint64_t)g_rand_int_range(random, 0x800, 0x4800);
			uint32_t i = code_find(code, pc);
			if (i == CODE_NONE)
				continue;
			assert_int_equal(code_insn(code, i)->pc, pc);
			check_entry(code, i, 15);
		}
	}
	g_rand_free(random);
	code_free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_noise), cmocka_unit_test(aarch64_noise), cmocka_unit_test(riscv_noise), cmocka_unit_test(noisy_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
