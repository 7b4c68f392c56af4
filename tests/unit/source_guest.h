/* What tests that run a guest under the real emulator share: how the variant under test is opened, read, and found whole. */
#ifndef CYCLEWISE_TESTS_SOURCE_GUEST_H
#define CYCLEWISE_TESTS_SOURCE_GUEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "source/source.h"

/* A guest that runs. */
struct running {
	struct program program;
	struct code *code;
	const struct source_ops *ops;
	struct source *source;
	const struct source_result *result;
};

static const char *guest; /* the variant under test */

/* Starts the guest with the argument `what`. */
static inline void guest_open(struct running *g, const char *what, struct window window)
{
	static const char *const cpus[NR_ISAS] = { "skylake-avx512", "cortex-a72", "sifive-u74" };
	static const char *const none[] = { NULL };
	char *const argv[] = { (char *)"guest", (char *)what, NULL };

	assert_int_equal(program_probe(&g->program, guest), 0);
	const struct code_config config = { .isa = g->program.isa, .cpu = cpus[g->program.isa], .features = "", .ports = none, .units = none };
	assert_int_equal(code_new(&g->code, &config), 0);
	g->ops = source_find("qemu");
	assert_non_null(g->ops);
	const struct source_config source = { .program = &g->program, .argv = argv, .code = g->code, .window = window, .stdout_to_stderr = true };
	if (g->ops->open(&g->source, &source))
		fail_msg("%s: %s", error_get()->what, error_get()->why);
	g->result = g->ops->result(g->source);
}

/* False: it has ended. */
static inline bool guest_read(const struct running *g, struct step_batch *b)
{
	int ret = g->ops->read(g->source, b);

	if (ret < 0)
		fail_msg("%s: %s", error_get()->what, error_get()->why);
	return ret;
}

/* Nothing was lost of its `instructions`, and nothing found wrong. */
static inline void guest_is_whole(const struct running *g, uint64_t instructions)
{
	assert_int_equal(g->result->instructions, instructions);
	assert_int_equal(g->result->lost, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(g->result->note); i++)
		assert_null(strstr(g->result->note[i], "defect"));
}

static inline void guest_close(struct running *g)
{
	g->ops->close(g->source);
	code_free(g->code);
}

#endif
