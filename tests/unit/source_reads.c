/*
 * Programs that read their own counters under the real emulator: each reading comes to the reader with all that was
 * executed up to it and nothing behind it, and gets the answer that it is given. The program is source_guest_reads.c, in
 * the variant that CYCLEWISE_GUEST names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cyclewise.h"
#include "orphan.h"
#include "source_guest.h"

enum { MAX_THREADS = 4 };

struct run {
	struct running g;
	uint64_t asked[MAX_THREADS];
	bool resumes[MAX_THREADS]; /* the thread's last batch asked */
	unsigned entered;          /* how often something else than what follows a reading came behind it */
	uint64_t instructions;
};

static void run_open(struct run *r, const char *what, struct window window)
{
	memset(r, 0, sizeof *r);
	guest_open(&r->g, what, window);
}

static struct counters answer(uint64_t n, uint64_t thread)
{
	return (struct counters){ .cycles = n, .instructions = thread, .slots_total = n + 1, .slots_filled = n + 2,
	                          .slots_issued = n + 3, .slots_retired = n + 4 };
}

/* False: the run is over. */
static bool run_read(struct run *r, struct step_batch *b)
{
	if (!guest_read(&r->g, b))
		return false;
	assert_true(b->thread < MAX_THREADS);
	for (size_t i = 0; i < b->n; i++)
		r->instructions += step_kind(&b->step[i]) == STEP_INSN;
	if (b->n && r->resumes[b->thread])
		r->entered += (b->step[0].flags & STEP_ENTER) != 0;
	r->resumes[b->thread] = b->asks;
	if (!b->asks)
		return true;
	const struct step *last = &b->step[b->n - 1];
	assert_int_equal(b->ahead, 0);
	assert_false(b->end);
	assert_int_equal(step_kind(last), STEP_INSN);
	assert_int_equal(last->flags & (STEP_STORE | STEP_LOAD), STEP_STORE);
	assert_int_equal(last->bytes, 8);
	assert_true(code_insn(r->g.code, last->insn)->flags & INSN_STORE);
	r->asked[b->thread]++;
	return true;
}

static void run_end(struct run *r, int status, bool complete)
{
	assert_int_equal(r->g.result->exit_status, status);
	assert_int_equal(r->g.result->signal, 0);
	assert_int_equal(r->g.result->complete, complete);
	guest_is_whole(&r->g, r->instructions);
	guest_close(&r->g);
}

/* Runs to the end, with all answered as they are due. */
static void run(struct run *r, const char *what)
{
	struct step_batch b;

	run_open(r, what, (struct window){ 0 });
	while (run_read(r, &b)) {
		struct counters c = answer(r->asked[b.thread], b.thread);
		if (b.asks)
			r->g.ops->answer(r->g.source, &c);
	}
	run_end(r, 0, true);
}

static void reads(void **state)
{
	struct run r;

	(void)state;
	run(&r, "reads");
	assert_int_equal(r.asked[0], 50);
	assert_int_equal(r.entered, 0);
	run(&r, "near_misses");
	assert_int_equal(r.asked[0], 0);
	run(&r, "faults");
	assert_int_equal(r.asked[0], 50);
	run(&r, "forks");
	assert_int_equal(r.asked[0], 50);
}

static void signals(void **state)
{
	struct run r;

	(void)state;
	run(&r, "signals");
	assert_int_equal(r.asked[0], 1000);
}

static void threads(void **state)
{
	struct run r;

	(void)state;
	run(&r, "threads");
	assert_int_equal(r.asked[0], 0);
	assert_int_equal(r.asked[1], 100);
	assert_int_equal(r.asked[2], 100);
}

/* Zeros: for who does not answer, and behind the end of a window whatever is answered. */
static void unanswered(void **state)
{
	const struct counters wrong = answer(1, 1);
	struct step_batch b;
	struct run r;

	(void)state;
	run_open(&r, "zeroed", (struct window){ 0 });
	while (run_read(&r, &b))
		;
	assert_int_equal(r.asked[0], 20);
	run_end(&r, 0, true);

	run_open(&r, "zeroed", (struct window){ .count = 100 });
	while (run_read(&r, &b))
		if (b.asks)
			r.g.ops->answer(r.g.source, &wrong);
	assert_true(r.asked[0] <= 1);
	run_end(&r, 0, true);
}

/* cyclewise dies while the program waits for an answer: so does the program. */
static void dead_reader(void **state)
{
	int out[2];

	(void)state;
	assert_int_equal(pipe(out), 0);
	pid_t pid = fork();
	if (!pid) {
		struct step_batch b = { .asks = false };
		struct run r;
		dup2(out[1], STDERR_FILENO);
		close(out[1]);
		run_open(&r, "zeroed", (struct window){ 0 });
		while (!b.asks && run_read(&r, &b))
			;
		raise(SIGKILL);
	}
	orphan_says(pid, out, "");
}

/* Without cyclewise. */
static void native(void **state)
{
	struct cyclewise_counters c;

	(void)state;
	memset(&c, 0xff, sizeof c);
	cyclewise_read(&c);
	assert_int_equal(c.cycles | c.instructions | c.slots_total | c.slots_filled | c.slots_issued | c.slots_retired, 0);
}

_Static_assert(sizeof(struct cyclewise_counters) == sizeof(struct counters) &&
	offsetof(struct cyclewise_counters, cycles) == offsetof(struct counters, cycles) &&
	offsetof(struct cyclewise_counters, instructions) == offsetof(struct counters, instructions) &&
	offsetof(struct cyclewise_counters, slots_total) == offsetof(struct counters, slots_total) &&
	offsetof(struct cyclewise_counters, slots_filled) == offsetof(struct counters, slots_filled) &&
	offsetof(struct cyclewise_counters, slots_issued) == offsetof(struct counters, slots_issued) &&
	offsetof(struct cyclewise_counters, slots_retired) == offsetof(struct counters, slots_retired),
	"what the plugin writes is what the program declares");

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads), cmocka_unit_test(signals), cmocka_unit_test(threads), cmocka_unit_test(unanswered),
		cmocka_unit_test(dead_reader), cmocka_unit_test(native),
	};

	guest = getenv("CYCLEWISE_GUEST");
	return cmocka_run_group_tests_name(strrchr(guest, '/') + 1, tests, NULL, NULL);
}
