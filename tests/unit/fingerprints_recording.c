/* The file format of the fingerprints' streams: what was written is read, what is damaged is refused or read, and never more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "base/random.h"
#include "recording.h"

static char *path;

/* Some instructions in a loop, with strides, accesses of their own and addresses as if by chance. */
static void make(struct recording *s)
{
	uint64_t random = 42;

	recording_init(s, ISA_AARCH64);
	for (unsigned i = 0; i < 20; i++) {
		struct recording_insn insn = { .pc = 0x400000 + i * 4, .length = 4, .mark = i == 3, .bytes = { (uint8_t)i, 1, 2, 3 } };
		g_array_append_val(s->insn, insn);
	}
	g_array_append_val(s->page, ((struct recording_page){ .address = 0x400000, .bytes = { 1, 2, 3 } }));
	for (unsigned i = 0; i < 5000; i++) {
		struct step step = { .insn = i % 20, .flags = STEP_INSN | STEP_COUNTED };

		if (i % 20 == 5) {
			step.addr = 0x10000 + i * 8;
			step.bytes = 8;
			step.flags |= STEP_LOAD;
		} else if (i % 20 == 7) {
			step.addr = next_random(&random);
			step.bytes = (uint16_t)(1 << i % 4);
			step.flags |= STEP_STORE;
		}
		g_array_append_val(s->step, step);
	}
}

static void is_read_as_written(void **state)
{
	struct recording s, t;

	make(&s);
	assert_true(recording_write(&s, path));
	assert_true(recording_read(&t, path));
	assert_int_equal(t.isa, s.isa);
	assert_int_equal(t.insn->len, s.insn->len);
	assert_memory_equal(t.insn->data, s.insn->data, s.insn->len * sizeof(struct recording_insn));
	assert_int_equal(t.page->len, s.page->len);
	assert_memory_equal(t.page->data, s.page->data, s.page->len * sizeof(struct recording_page));
	assert_int_equal(t.step->len, s.step->len);
	assert_memory_equal(t.step->data, s.step->data, s.step->len * sizeof(struct step));
	recording_fini(&s);
	recording_fini(&t);
}

static void damage_is_refused(void **state)
{
	struct recording s, t;
	uint64_t random = 7;
	char *bytes;
	gsize size;

	make(&s);
	assert_true(recording_write(&s, path));
	recording_fini(&s);
	assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	for (unsigned i = 0; i < 300; i++) {
		char *bad = g_memdup2(bytes, size);
		gsize left = i % 3 ? size : next_random(&random) % size;

		for (unsigned k = 0; k < i % 3; k++)
			bad[next_random(&random) % size] ^= (char)(1 << next_random(&random) % 8);
		assert_true(g_file_set_contents(path, bad, (gssize)left, NULL));
		if (recording_read(&t, path))
			for (guint k = 0; k < t.step->len; k++)
				assert_true(g_array_index(t.step, struct step, k).insn < t.insn->len);
		recording_fini(&t);
		g_free(bad);
	}
	g_free(bytes);
}

static void none_is_refused(void **state)
{
	struct recording s;

	assert_false(recording_read(&s, "/nonexistent"));
	recording_fini(&s);
	assert_true(g_file_set_contents(path, "not a stream", -1, NULL));
	assert_false(recording_read(&s, path));
	recording_fini(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_read_as_written), cmocka_unit_test(damage_is_refused), cmocka_unit_test(none_is_refused),
	};
	int fd = g_file_open_tmp("streamXXXXXX", &path, NULL), failed;

	close(fd);
	if (!freopen("/dev/null", "w", stderr)) /* what is refused is told there */
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	g_remove(path);
	g_free(path);
	return failed;
}
