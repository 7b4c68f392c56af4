/* run/kanata: the log of four attempts to the letter, and which records it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "run/kanata.h"

static const char *const ports[] = { "p0", NULL }, *const units[] = { NULL };
static const char thread;

/* What was logged of these records of a program that is not named. */
static char *logged(const struct timed *t, size_t n)
{
	static const uint8_t load[] = { 0x48, 0x8b, 0x07 }, add[] = { 0x48, 0x01, 0xc3 };
	struct code_config config = { .isa = ISA_X86_64, .cpu = "skylake", .features = "", .ports = ports, .units = units };
	char *path = NULL, *text;
	struct profile *p;
	struct kanata *k;
	struct query *q;
	struct code *code;

	assert_int_equal(code_new(&code, &config), 0);
	assert_int_equal(code_add(code, 0x1000, load, sizeof load), 0);
	assert_int_equal(code_add(code, 0x1003, add, sizeof add), 1);
	assert_int_equal(profile_create(&p, NULL), 0);
	assert_int_equal(query_new(&q, p), 0);
	close(g_file_open_tmp("cyclewise-XXXXXX", &path, NULL));
	assert_int_equal(kanata_new(&k, path), 0);
	kanata_take(k, &thread, t, n / 2);
	kanata_take(k, &path, t, n);
	kanata_take(k, &thread, t + n / 2, n - n / 2);
	assert_int_equal(kanata_write(k, code, q), 0);
	kanata_free(k);
	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	unlink(path);
	g_free(path);
	query_free(q);
	profile_close(p);
	code_free(code);
	return text;
}

static void to_the_letter(void **state)
{
	const struct timed t[] = {
		{ .fetch = 95, .insn = 0, .avail = 3, .dispatch = 3, .issue = 4, .complete = 9, .leave = 10 }, /* not counted */
		{ .fetch = 100, .insn = 0, .avail = 3, .dispatch = 3, .issue = 4, .complete = 9, .leave = 10, .psv = PSV_ST_L1,
		  .flags = TIMED_COUNTED | TIMED_LOAD, .level = LEVEL_L2 },
		{ .fetch = 100, .insn = 1, .avail = 3, .dispatch = 4, .issue = 9, .complete = 10, .leave = 11, .issue_by = 1,
		  .flags = TIMED_COUNTED, .why = WAIT_SCHEDULER | WAIT_OPERAND << 4 },
		{ .fetch = 104, .insn = 1, .avail = 3, .dispatch = TIMED_NEVER, .issue = TIMED_NEVER, .complete = TIMED_NEVER, .leave = 5,
		  .flags = TIMED_WRONG }, /* of those before, and so counted with them */
		{ .fetch = 110, .insn = 1, .avail = 3, .dispatch = 3, .issue = 4, .complete = 5, .leave = 6 }, /* not counted */
		{ .fetch = 111, .insn = 1, .avail = 3, .dispatch = 3, .issue = 4, .complete = 5, .leave = 6, .flags = TIMED_WRONG }, /* nor this */
		{ .fetch = 112, .insn = 1, .avail = 3, .dispatch = 3, .issue = 4, .complete = 5, .leave = 6, .issue_by = 1,
		  .flags = TIMED_COUNTED, .why = WAIT_OPERAND << 4 }, /* by one that is not logged: no arrow */
	};
	char *text = logged(t, sizeof t / sizeof *t);

	assert_string_equal(text,
		"Kanata\t0004\nC=\t100\n"
		"I\t0\t0\t0\nL\t0\t0\t1000: mov    (%rdi),%rax\nL\t0\t1\tST-L1\\ndata from L2\nS\t0\t0\tF\n"
		"I\t1\t1\t0\nL\t1\t0\t1003: add    %rax,%rbx\n"
		"L\t1\t1\tdispatch waited for a scheduler\\nissue waited for an operand\nS\t1\t0\tF\n"
		"C\t3\nS\t0\t0\tS\nS\t1\t0\tD\n"
		"C\t1\nS\t0\t0\tX\nS\t1\t0\tS\nI\t2\t2\t0\nL\t2\t0\t1003: add    %rax,%rbx\nS\t2\t0\tF\n"
		"C\t3\nS\t2\t0\tD\n"
		"C\t2\nS\t0\t0\tC\nS\t1\t0\tX\nW\t1\t0\t0\nR\t2\t0\t1\n"
		"C\t1\nR\t0\t0\t0\nS\t1\t0\tC\n"
		"C\t1\nR\t1\t1\t0\n"
		"C\t1\nI\t3\t3\t0\nL\t3\t0\t1003: add    %rax,%rbx\nL\t3\t1\tissue waited for an operand\nS\t3\t0\tF\n"
		"C\t3\nS\t3\t0\tS\nC\t1\nS\t3\t0\tX\nC\t1\nS\t3\t0\tC\nC\t1\nR\t3\t2\t0\n");
	g_free(text);
}

/* Of a longer run the first, and no more. */
static void the_first(void **state)
{
	struct timed *t = g_new0(struct timed, KANATA_MOST + 100);
	unsigned begun = 0;

	for (uint32_t i = 0; i < KANATA_MOST + 100; i++)
		t[i] = (struct timed){ .fetch = i, .leave = 6, .flags = TIMED_COUNTED };
	char *text = logged(t, KANATA_MOST + 100);
	for (const char *line = text; line; line = strchr(line + 1, '\n'))
		begun += !strncmp(line, "\nI\t", 3);
	assert_int_equal(begun, KANATA_MOST);
	g_free(text);
	g_free(t);
}

static void cannot_be_written(void **state)
{
	struct kanata *k;

	assert_int_equal(kanata_new(&k, "/no/such/directory/log"), -ENOENT);
	assert_string_equal(error_get()->what, "/no/such/directory/log");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_the_letter),
		cmocka_unit_test(the_first),
		cmocka_unit_test(cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
