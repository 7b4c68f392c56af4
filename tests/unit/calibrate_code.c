/* From texts to code that runs: the assembler, kernels, the signals they raise. Nothing here depends on how fast the host is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "calibrate/bench.h"
#include "calibrate/forms.h"

#ifdef __x86_64__

static struct bench bench;

static int set_up(void **state)
{
	return bench_init(&bench, 0.1, 60);
}

static int tear_down(void **state)
{
	bench_fini(&bench);
	return 0;
}

static void text_to_bytes(void **state)
{
	static const uint8_t expected[] = { 0x48, 0x01, 0xd8, 0xff, 0xce, 0x75, 0xf9, 0xc3 };
	uint8_t bytes[64];
	size_t length;

	assert_int_equal(assembler_text(bench.as, "1:\naddq %rbx, %rax\ndecl %esi\njnz 1b\nret\n", bytes, sizeof bytes, &length), 0);
	assert_int_equal(length, sizeof expected);
	assert_memory_equal(bytes, expected, sizeof expected);
	assert_int_equal(assembler_text(bench.as, "", bytes, sizeof bytes, &length), 0);
	assert_int_equal(length, 0);
}

static void texts_that_are_wrong(void **state)
{
	uint8_t bytes[16];
	size_t length;

	assert_int_equal(assembler_text(bench.as, "addq %rbx, %zax\n", bytes, sizeof bytes, &length), -EINVAL);
	assert_non_null(strstr(error_get()->why, "invalid register name"));
	assert_int_equal(assembler_text(bench.as, "nosuchinstruction\n", bytes, sizeof bytes, &length), -EINVAL);
	assert_int_equal(assembler_text(bench.as, "jmp elsewhere\n", bytes, sizeof bytes, &length), -EINVAL);
	assert_int_equal(assembler_text(bench.as, ".skip 17, 0x90\n", bytes, sizeof bytes, &length), -ENOSPC);
}

static void an_instruction_with_other_registers(void **state)
{
	/* add %rcx, %rbx, its result and the source tied to it becoming rdx; LLVM's order: result, tied source, source. */
	static const uint8_t add[] = { 0x48, 0x01, 0xcb }, expected[] = { 0x48, 0x01, 0xca };
	/* mov 8(%rdi), %eax: base, scale, index, displacement, segment behind the result. */
	static const uint8_t load[] = { 0x8b, 0x47, 0x08 }, moved[] = { 0x8b, 0x47, 0x40 };
	struct parent p;
	struct decoded d;
	uint8_t out[ASSEMBLER_LONGEST];
	uint16_t rdx = 0;

	assert_int_equal(parent_init(&p, "zen4"), 0);
	for (unsigned r = 1; r < decoder_nr_registers(p.decoder); r++)
		if (!strcmp(decoder_register(p.decoder, r), "RDX"))
			rdx = (uint16_t)r;
	assert_true(decoder_decode(p.decoder, 0, add, sizeof add, &d));
	const struct operand_change to_rdx[] = { { .operand = 0, .reg = rdx }, { .operand = 1, .reg = rdx } };
	assert_int_equal(assembler_change(bench.as, add, sizeof add, to_rdx, 2, out), 3);
	assert_memory_equal(out, expected, 3);
	const struct operand_change to_64 = { .operand = 4, .immediate = true, .imm = 64 };
	assert_int_equal(assembler_change(bench.as, load, sizeof load, &to_64, 1, out), 3);
	assert_memory_equal(out, moved, 3);
	assert_int_equal(assembler_change(bench.as, (const uint8_t[]){ 0x0f, 0x04 }, 2, NULL, 0, out), -EINVAL);
	const struct operand_change outside = { .operand = 9, .reg = rdx };
	assert_int_equal(assembler_change(bench.as, add, sizeof add, &outside, 1, out), -EINVAL);
	parent_fini(&p);
}

/* A kernel has the registers that bench.h promises, runs as many rounds as it is told, and keeps the caller's registers. */
static void a_kernel_runs(void **state)
{
	uint64_t *memory = (uint64_t *)(void *)bench.scratch;
	struct kernel_text text = {
		.before = "movq %rax, 8(%rdi)\nmovq %rdx, 16(%rdi)\nmovq %r15, 24(%rdi)\nmovq $0, (%rdi)\n",
		.body = "incq (%rdi)\n", .after = "movq %rcx, 32(%rdi)\n",
	};
	struct kernel k = { .memory = memory };

	assert_int_equal(bench_make(&bench, &text, &k.run), 0);
	assert_int_equal(bench_try(&bench, &k, 1000), 0);
	assert_int_equal(memory[0], 1000);
	assert_int_equal(memory[1], 77777);
	assert_int_equal(memory[2], 0);
	assert_int_equal(memory[3], 1);
	assert_int_equal(memory[4], 77777);
}

static void what_a_kernel_raises_is_caught(void **state)
{
	static const char *const bodies[] = { "ud2\n", "xorl %ecx, %ecx\ndivl %ecx\n", "movq 0, %rax\n", "hlt\n" };
	struct kernel k = { .memory = bench.scratch };

	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		assert_int_equal(bench_make(&bench, &(struct kernel_text){ .body = bodies[i] }, &k.run), 0);
		assert_int_equal(bench_try(&bench, &k, 1), -EFAULT);
		assert_true(bench_measure(&bench, &k).noisy);
	}
}

/* What meets noise gets more samples than what is calm as long as patience lasts, and then as many. */
static void noise_is_given_up(void **state)
{
	struct bench b = { .effort = 1, .patient_until = 100 };

	assert_int_equal(bench_most(&b, 99), 1200);
	assert_int_equal(bench_most(&b, 100), 240);
	b.effort = 0.4;
	assert_int_equal(bench_most(&b, 99), 480);
	b.effort = 0.1;
	assert_int_equal(bench_most(&b, 99), 240);
}

/* Kernels of forms: a latency kernel depends on itself, copies for throughput have results of their own. */
static void kernels_of_forms(void **state)
{
	static const struct {
		const char *text;
		bool latency, throughput, single;
		double chain;          /* cycles the parent's description gives the latency kernel */
	} rows[] = {
		{ "addq %rcx, %rbx", true, true, true, 1 },
		{ "imulq %rcx, %rbx", true, true, true, 3 },
		{ "movzbl %cl, %ebx", true, true, true, 1 },
		{ "mulsd %xmm1, %xmm2", true, true, true, 3 },
		{ "divq %rcx", true, true, true, 12 },
		{ "adcq %rcx, %rbx", true, false, true, 1 },
		{ "cmpq %rcx, %rbx", false, true, true, 0 },
		{ "movq (%rdi), %rbx", true, true, true, 4 },
		{ "movzbl 8(%rsi,%rcx,4), %ebx", true, true, true, 4 },
		{ "movq %rcx, (%rdi)", false, true, true, 0 },
		{ "cvttsd2si %xmm1, %rbx", true, true, false, -1 },
		{ "cvtsi2sdq %rbx, %xmm2", true, true, true, 1 }, /* from the register that it writes in part, which it needs late */
	};
	static const char *const refused[] = { "jmp .", "lock addl $1, (%rdi)", "rep movsb", "cpuid", "mfence", "pause", "flds (%rdi)", "pushq %rax", "nop" };
	struct parent p;
	struct forms *f;

	assert_int_equal(parent_init(&p, "zen4"), 0);
	assert_int_equal(forms_new(&f, &bench, &p), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct form *form;

		if (!forms_add_text(f, rows[i].text, NULL))
			fail_msg("%s is not added", rows[i].text);
		form = forms_at(f, forms_count(f) - 1);
		/* The round trip needs a bench without noise: it may be missing, but not wrong. */
		if (rows[i].chain >= 0)
			assert_int_equal(form->has_latency, rows[i].latency);
		assert_int_equal(form->has_throughput, rows[i].throughput);
		if (rows[i].latency && rows[i].chain > 0) {
			assert_int_equal(form->single, rows[i].single);
			assert_float_equal(parent_chain(&p, &form->latency_kernel), rows[i].chain, 1e-9);
		}
		assert_false(forms_add_text(f, rows[i].text, NULL));
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (forms_add_text(f, refused[i], NULL))
			fail_msg("%s is added", refused[i]);
	for (size_t i = 0; i < forms_count(f); i++)
		assert_int_equal(forms_measure(f, forms_at(f, i)), 0);
	forms_free(f);
	parent_fini(&p);
}

static bool stands_for(const char *globs, const char *name)
{
	char **words = g_strsplit(globs, " ", -1);
	bool found = false;

	for (char **w = words; *w; w++)
		found = found || g_pattern_match_simple(*w, name);
	g_strfreev(words);
	return found;
}

/* Every example of the built-in list assembles, where the processor has it, and stands for itself at least; none is there twice. */
static void the_list(void **state)
{
	struct parent p;
	struct forms *f;

	assert_int_equal(parent_init(&p, "zen4"), 0);
	assert_int_equal(forms_new(&f, &bench, &p), 0);
	for (size_t i = 0; i < nr_form_examples; i++) {
		const struct form_example *e = &form_examples[i];
		size_t before = forms_count(f), length;
		uint8_t bytes[64];

		if (assembler_text(bench.as, e->text, bytes, sizeof bytes, &length))
			continue;
		if (!forms_add_text(f, e->text, e->stands_for))
			fail_msg("%s is not added", e->text);
		const struct form *form = forms_at(f, before);
		if (!stands_for(form->stands_for, form->name))
			fail_msg("%s is %s, which is not among: %s", e->text, form->name, form->stands_for);
	}
	assert_true(forms_count(f) > 80);
	forms_free(f);
	parent_fini(&p);
}

/* Whatever bytes a profile may hold: never a crash. */
static void random_forms(void **state)
{
	uint64_t seed = RANDOM_START;
	struct parent p;
	struct forms *f;

	assert_int_equal(parent_init(&p, "skylake-sp"), 0);
	assert_int_equal(forms_new(&f, &bench, &p), 0);
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[15];

		for (size_t k = 0; k < sizeof bytes; k++) {
			next_random(&seed);
			bytes[k] = (uint8_t)(seed >> 32);
		}
		forms_add(f, bytes, sizeof bytes, NULL);
	}
	assert_true(forms_count(f) > 50);
	for (size_t i = 0; i < forms_count(f); i++) {
		const struct form *form = forms_at(f, i);

		assert_true(form->has_latency || form->has_throughput);
		assert_true(!form->has_throughput || form->throughput_kernel.parts >= 4);
		assert_true(parent_resources(&p, &form->throughput_kernel) >= 0);
	}
	forms_free(f);
	parent_fini(&p);
}

static void ports(void **state)
{
	const uint16_t sets[] = { 0x1, 0x3, 0x7, 0 };
	const double one[] = { 1, 1, 1, 1 }, heavy[] = { 4, 1, 1, 9 }, last[] = { 0, 0, 6, 0 };

	assert_float_equal(port_bound(sets, one, 4), 1, 1e-12);
	assert_float_equal(port_bound(sets, heavy, 4), 4, 1e-12);
	assert_float_equal(port_bound(sets, last, 4), 2, 1e-12);
	/* Two sets that overlap bound together what neither does alone. */
	assert_float_equal(port_bound((const uint16_t[]){ 0x3, 0x6 }, (const double[]){ 3, 3 }, 2), 2, 1e-12);
	/* Disjoint ones do not. */
	assert_float_equal(port_bound((const uint16_t[]){ 0x3, 0x4 }, (const double[]){ 2, 2 }, 2), 2, 1e-12);
	assert_float_equal(port_bound(sets, one, 0), 0, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_to_bytes),
		cmocka_unit_test(texts_that_are_wrong),
		cmocka_unit_test(an_instruction_with_other_registers),
		cmocka_unit_test(a_kernel_runs),
		cmocka_unit_test(what_a_kernel_raises_is_caught),
		cmocka_unit_test(noise_is_given_up),
		cmocka_unit_test(kernels_of_forms),
		cmocka_unit_test(the_list),
		cmocka_unit_test(random_forms),
		cmocka_unit_test(ports),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

/* On another ISA all that is to be seen is that it says so. */
static void another_isa(void **state)
{
	struct bench b;

	assert_int_equal(bench_init(&b, 1, 60), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(another_isa) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
