/*
 * run/replay_log and run/future: what is kept of a run comes back as it was, and who looks ahead sees what will
 * come.
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

#include "run/future.h"
#include "stream.h"

enum { BATCHES = 60, STEPS = 500, AHEAD = 40, THREADS = 3, LOAD = 7, FAR = 300 };

/* The steps of a thread's batch, by its number: the same each time. */
static void make(unsigned nr, struct step_batch *b, struct step step[STEPS + AHEAD], struct foreseen *f)
{
	static uint64_t seen[FORESEEN_ARRAYS][STEPS];
	uint64_t seed = 1000 + nr;

	memset(step, 0, (STEPS + AHEAD) * sizeof *step);
	*b = (struct step_batch){ .step = step, .n = nr % 5 ? STEPS : 0, .ahead = nr % 7 ? AHEAD : 0, .thread = nr % THREADS, .end = nr + THREADS >= BATCHES };
	for (size_t i = 0; i < b->n + b->ahead; i++)
		step[i] = (struct step){ .addr = stream_random(&seed, 1 << 30),
			                 .insn = (uint32_t)stream_random(&seed, 20),
			                 .flags = STEP_INSN | STEP_LOAD };
	for (unsigned i = 0; i < FORESEEN_ARRAYS; i++) {
		size_t items = i ? nr % (2 + i) : stream_random(&seed, STEPS);

		for (size_t k = 0; k < items; k++)
			seen[i][k] = stream_random(&seed, 1 << 20);
		f->of[i] = (struct foreseen_array){ .item = seen[i], .bytes = items * sizeof *seen[i] };
	}
}

static struct replay_log *filled(uint64_t most)
{
	static struct step step[STEPS + AHEAD];
	struct step_batch b;
	struct foreseen f;
	struct replay_log *s;

	assert_int_equal(replay_log_new(&s, most), 0);
	for (unsigned i = 0; i < BATCHES; i++) {
		make(i, &b, step, &f);
		assert_int_equal(replay_log_put(s, &b, &f), 0);
	}
	assert_int_equal(replay_log_end(s), 0);
	return s;
}

static void test_back(void **state)
{
	static struct step step[STEPS + AHEAD];
	struct replay_log *s = filled(UINT64_MAX);

	assert_false(replay_log_full(s));
	for (int again = 0; again < 2; again++) {
		const struct foreseen *seen;
		struct replay_reader *r;
		struct step_batch b, is;
		struct foreseen f;

		assert_int_equal(replay_reader_new(&r, s), 0);
		for (unsigned i = 0; i < BATCHES; i++) {
			make(i, &b, step, &f);
			assert_int_equal(replay_log_read(r, &is, &seen), 1);
			assert_true(is.n == b.n && is.ahead == b.ahead && is.thread == b.thread && is.end == b.end);
			if (b.n + b.ahead)
				assert_memory_equal(is.step, b.step, (b.n + b.ahead) * sizeof *b.step);
			for (unsigned k = 0; k < FORESEEN_ARRAYS; k++) {
				assert_int_equal(seen->of[k].bytes, f.of[k].bytes);
				if (f.of[k].bytes)
					assert_memory_equal(seen->of[k].item, f.of[k].item, f.of[k].bytes);
			}
		}
		assert_int_equal(replay_log_read(r, &is, &seen), 0);
		assert_int_equal(replay_log_read(r, &is, &seen), 0);
		replay_reader_free(r);
	}
	replay_log_free(s);
}

/* A full one keeps whole batches, from the first. */
static void test_full(void **state)
{
	struct replay_log *s = filled(1);
	const struct foreseen *seen;
	struct replay_reader *r;
	struct step_batch b;
	unsigned n = 0;

	assert_true(replay_log_full(s));
	assert_int_equal(replay_reader_new(&r, s), 0);
	while (replay_log_read(r, &b, &seen) > 0)
		assert_int_equal(b.thread, n++ % THREADS);
	assert_true(n > 0 && n < BATCHES);
	replay_reader_free(r);
	replay_log_free(s);
}

/* All executions of LOAD by each thread, in order. */
static void all_loads(GArray *of[THREADS])
{
	static struct step step[STEPS + AHEAD];
	struct step_batch b;
	struct foreseen f;

	for (unsigned i = 0; i < BATCHES; i++) {
		make(i, &b, step, &f);
		for (size_t k = 0; k < b.n; k++)
			if (step[k].insn == LOAD)
				g_array_append_val(of[b.thread], step[k].addr);
	}
}

static void test_future(void **state)
{
	static struct step step[STEPS + AHEAD];
	static const uint32_t insn[] = { 3, LOAD, 1000 };
	struct replay_log *s = filled(UINT64_MAX);
	size_t at[THREADS] = { 0 };
	GArray *of[THREADS];
	struct future *future;

	for (unsigned i = 0; i < THREADS; i++)
		of[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	all_loads(of);
	assert_int_equal(future_new(&future, s, insn, 3), 0);
	for (unsigned i = 0; i < BATCHES; i++) {
		struct step_batch b;
		struct foreseen f;
		size_t n = 0;

		make(i, &b, step, &f);
		for (size_t k = 0; k < b.n; k++)
			n += step[k].insn == LOAD;
		assert_int_equal(future_reach(future, &b, FAR), 0);
		assert_null(future_of(future, 2, 1));
		for (uint32_t distance = 1; distance <= FAR; distance += 299) {
			const uint64_t *address = future_of(future, 1, distance);
			assert_int_equal(!address, !n);
			for (size_t k = 0; k < n; k++) {
				size_t then = at[b.thread] + k + distance;
				assert_int_equal(address[k], then < of[b.thread]->len
				                                     ? g_array_index(of[b.thread], uint64_t, then)
				                                     : 0);
			}
		}
		at[b.thread] += n;
	}
	future_free(future);
	replay_log_free(s);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(at[i], of[i]->len);
		g_array_free(of[i], TRUE);
	}
}

static void test_nowhere(void **state)
{
	struct replay_log *s;

	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(replay_log_new(&s, 1), -ENOENT);
	replay_log_free(s);
	unsetenv("TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_future),
		cmocka_unit_test(test_nowhere),
	};
	return cmocka_run_group_tests_name("cmd_replay_log", tests, NULL, NULL);
}
