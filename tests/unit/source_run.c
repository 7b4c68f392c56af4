/*
 * Real programs under the real emulator: what they execute is counted exactly, whatever happens to them, and they
 * notice nothing. The program is source_guest.c, in the variant that CYCLEWISE_GUEST names; and the one of CYCLEWISE_GUEST_THROW.
 */
#include "source_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "orphan.h"

/* The same steps with the same addresses every time. */
static void same_every_time(void **state)
{
	struct run a, b;

	(void)state;
	run(&a, "loop");
	run(&b, "loop");
	expect_end(&a, 0, 0, true);
	assert_true(a.g.result->ran && a.g.result->window_seen);
	assert_true(a.instructions > 300000);
	assert_int_equal(a.counted, a.instructions);
	assert_int_equal(a.instructions, b.instructions);
	assert_true(checksum(&a) == checksum(&b));
	assert_int_equal(a.g.code->nr, b.g.code->nr);
	run_close(&a);
	run_close(&b);
}

static void faults(void **state)
{
	struct run r;

	(void)state;
	run(&r, "faults");
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_bad_load", 0, NULL), 10);
	assert_int_equal(times(&r, 0, "guest_bad_load", STEP_FAULT, NULL), 5);
	assert_int_equal(times(&r, 0, "guest_bad_load", STEP_LOAD, NULL), 5);
	assert_int_equal(times(&r, 0, "guest_after_bad_load", 0, NULL), 5);
	run_close(&r);
}

static void traps(void **state)
{
	struct run r;

	(void)state;
	run(&r, "traps");
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_undefined", 0, NULL), 3);
	assert_int_equal(times(&r, 0, "guest_undefined", STEP_FAULT, NULL), 3);
	run_close(&r);
}

static void signals(void **state)
{
	struct run r;

	(void)state;
	run(&r, "signals");
	expect_end(&r, 0, 0, true);
	assert_true(times(&r, 0, "guest_count_signal", 0, NULL) >= 40);
	assert_int_equal(times(&r, 0, "guest_count_signal", STEP_ENTER, NULL), times(&r, 0, "guest_count_signal", 0, NULL));
	run_close(&r);
}

static void forks(void **state)
{
	struct run r;

	(void)state;
	run(&r, "forks");
	expect_end(&r, 0, 0, true);
	assert_int_equal(r.g.result->forks, r.g.program.isa == ISA_X86_64 ? 2 : 1);
	assert_int_equal(times(&r, 0, "guest_work", 0, NULL), 1);
	assert_true(noted(&r, "not profiled"));
	run_close(&r);
}

static void execs(void **state)
{
	struct run r;

	(void)state;
	run(&r, "execs");
	expect_end(&r, 9, 0, false);
	assert_int_equal(r.g.result->execs, 1);
	assert_true(noted(&r, "exec"));
	run_close(&r);
}

static void threads(void **state)
{
	struct run r;

	(void)state;
	run(&r, "threads");
	expect_end(&r, 0, 0, true);
	assert_int_equal(r.threads, 5);
	for (unsigned i = 1; i < 5; i++) {
		assert_int_equal(times(&r, i, "guest_work", 0, NULL), 100);
		assert_true(g_array_index(r.step[i], struct step, 0).flags & STEP_ENTER);
	}
	run_close(&r);

	run(&r, "sharing_threads");
	expect_end(&r, 0, 0, true);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(times(&r, i, "guest_work", 0, NULL), 100);
	run_close(&r);

	run(&r, "many_threads");
	expect_end(&r, 0, 0, true);
	assert_int_equal(r.threads, 601);
	run_close(&r);

	run(&r, "left_threads");
	expect_end(&r, 4, 0, true);
	assert_int_equal(times(&r, 0, "guest_work", 0, NULL), 1);
	run_close(&r);
}

/* The program cannot tell that it is watched. */
static void untouched(void **state)
{
	struct run r;
	bool native = !strstr(guest, "aarch64") && !strstr(guest, "riscv64");

	(void)state;
	run(&r, "closes");
	expect_end(&r, 6, 0, true);
	run_close(&r);
	run(&r, "environment");
	expect_end(&r, 0, 0, true);
	run_close(&r);
	if (native) {
		char *command = g_strdup_printf("exec '%s' descriptors", guest);
		int status = system(command);
		run(&r, "descriptors");
		expect_end(&r, WEXITSTATUS(status), 0, true);
		run_close(&r);
		g_free(command);
	}
}

static void deaths(void **state)
{
	const struct step *last = NULL;
	struct run r;

	(void)state;
	run(&r, "crash");
	expect_end(&r, 0, SIGSEGV, false);
	assert_int_equal(times(&r, 0, "guest_bad_load", STEP_FAULT, &last), 1);
	assert_ptr_equal(last, &g_array_index(r.step[0], struct step, r.step[0]->len - 1));
	run_close(&r);

	run(&r, "illegal");
	expect_end(&r, 0, SIGILL, false);
	assert_int_equal(times(&r, 0, "guest_undefined", STEP_FAULT, &last), 1);
	assert_ptr_equal(last, &g_array_index(r.step[0], struct step, r.step[0]->len - 1));
	assert_true(noted(&r, "undefined on purpose"));
	run_close(&r);

	run(&r, "abort");
	expect_end(&r, 0, SIGABRT, false);
	run_close(&r);
	run(&r, "killed");
	expect_end(&r, 0, SIGKILL, false);
	run_close(&r);
}

/* How often guest_work was entered and counted. */
static unsigned worked(struct window window, struct run *r)
{
	run_windowed(r, "regions", window);
	expect_end(r, 0, 0, true);
	return times(r, 0, "guest_work", STEP_COUNTED, NULL);
}

static void windows(void **state)
{
	struct run r;

	(void)state;
	assert_int_equal(worked((struct window){ 0 }, &r), 20);
	run_close(&r);
	assert_int_equal(worked((struct window){ .roi = "guest_region" }, &r), 6);
	assert_int_equal(times(&r, 0, "guest_work", 0, NULL), 20);
	run_close(&r);
	assert_int_equal(worked((struct window){ .roi = "guest_leaves" }, &r), 1); /* left by longjmp */
	run_close(&r);
	assert_int_equal(worked((struct window){ .start_after = "guest_region" }, &r), 19);
	run_close(&r);
	assert_int_equal(worked((struct window){ .stop_at = "guest_leaves" }, &r), 9);
	run_close(&r);
	assert_int_equal(worked((struct window){ .start_after = "guest_region", .stop_at = "guest_leaves", .roi = "guest_region" }, &r), 5);
	run_close(&r);

	assert_int_equal(worked((struct window){ .roi = "guest_never" }, &r), 0);
	assert_false(r.g.result->window_seen);
	assert_null(r.g.result->window_unknown);
	assert_false(noted(&r, "guest_never"));
	assert_int_equal(r.counted, 0);
	run_close(&r);
	assert_int_equal(worked((struct window){ .roi = "no_such_function" }, &r), 0);
	assert_true(noted(&r, "no_such_function"));
	assert_string_equal(r.g.result->window_unknown, "no_such_function");
	run_close(&r);

	run_windowed(&r, "regions", (struct window){ .skip = 1000, .count = 5000 });
	expect_end(&r, 0, 0, true);
	assert_int_equal(r.counted, 5000);
	assert_false(g_array_index(r.step[0], struct step, 0).flags & STEP_COUNTED);
	run_close(&r);
}

/* Handlers that run inside a region neither end it nor keep it from ending. */
static void window_signals(void **state)
{
	struct run r;

	(void)state;
	run_windowed(&r, "region_signals", (struct window){ .roi = "guest_busy_region" });
	expect_end(&r, 0, 0, true);
	assert_true(times(&r, 0, "guest_count_signal", 0, NULL) >= 60);
	assert_in_range(times(&r, 0, "guest_count_signal", STEP_COUNTED, NULL), 30, 35);
	assert_true(times(&r, 0, "guest_work", 0, NULL) >= times(&r, 0, "guest_work", STEP_COUNTED, NULL) + 100);
	run_close(&r);
}

static void marks(void **state)
{
	unsigned begins[2] = { 0 }, ends[2] = { 0 };
	struct run r;

	(void)state;
	run(&r, "marks");
	expect_end(&r, 0, 0, true);
	const struct regions *regions = r.g.ops->regions(r.g.source);
	assert_int_equal(regions_count(regions), 2);
	for (guint i = 0; i < r.step[0]->len; i++) {
		const struct step *s = &g_array_index(r.step[0], struct step, i);
		struct mark mark;
		bool is = step_kind(s) == STEP_INSN && regions_mark(regions, s->insn, &mark);
		assert_int_equal(is, step_kind(s) == STEP_INSN && (s->flags & STEP_MARK) != 0);
		if (is)
			(mark.begin ? begins : ends)[!strcmp(regions_name(regions, mark.region), "inner")]++;
	}
	assert_int_equal(begins[0], 1);
	assert_int_equal(ends[0], 1);
	assert_int_equal(begins[1], 4);
	assert_int_equal(ends[1], 4);
	run_close(&r);
}

/* Code made at run time, 50 times at the same place. */
static void rewritten(void **state)
{
	struct run r;
	uint64_t pc = 0, offset;
	unsigned n = 0;

	(void)state;
	run(&r, "rewritten");
	expect_end(&r, 0, 0, true);
	uint32_t last = CODE_NONE;
	for (guint i = 0; i < r.step[0]->len; i++) {
		const struct step *s = &g_array_index(r.step[0], struct step, i);
		if (step_kind(s) != STEP_INSN || maps_place(r.g.ops->maps(r.g.source), s->insn, &offset) != MODULE_NONE)
			continue;
		if (!pc)
			pc = code_insn(r.g.code, s->insn)->pc;
		if (code_insn(r.g.code, s->insn)->pc == pc) {
			assert_int_not_equal(s->insn, last);
			last = s->insn;
			n++;
		}
	}
	assert_int_equal(n, 50);
	run_close(&r);
}

static void mappings(void **state)
{
	unsigned seen = 0;
	uint64_t start = 0;
	struct run r;

	(void)state;
	run(&r, "mappings");
	expect_end(&r, 0, 0, true);
	for (guint i = 0; i < r.step[0]->len; i++) { /* mprotect of 1 page, munmap of 2, mremap of 4, in that order */
		const struct step *s = &g_array_index(r.step[0], struct step, i);
		if (step_kind(s) != STEP_UNMAP)
			continue;
		if (s->insn == 1) {
			seen = 1;
			start = s->addr;
		} else if (seen == 1 && s->insn == 2 && s->addr == start + 4096) {
			seen = 2;
		} else if (seen == 2 && s->insn == 4 && s->addr == start + 4 * 4096) {
			seen = 3;
		}
	}
	assert_int_equal(seen, 3);
	run_close(&r);
}

/* The iterations of each execution of the rep string at `label`. */
static void expect_repeats(const struct run *r, const char *label, const uint64_t *want, unsigned n)
{
	uint64_t address = UINT64_MAX;
	unsigned found = 0;

	symbols_find(r->symbols, r->file, label, set_address, &address);
	for (guint i = 0; i < r->step[0]->len; i++) {
		const struct step *s = &g_array_index(r->step[0], struct step, i);
		if (step_kind(s) != STEP_REPEAT || !is_at(r, s->insn, address))
			continue;
		assert_true(found < n);
		assert_int_equal(s->addr, want[found]);
		found++;
	}
	assert_int_equal(found, n);
	assert_int_equal(times(r, 0, label, 0, NULL), n);
}

/* How many iterations of the rep string at `label` there were in all. */
static uint64_t repeats(const struct run *r, const char *label)
{
	uint64_t address = UINT64_MAX, sum = 0;

	symbols_find(r->symbols, r->file, label, set_address, &address);
	for (guint i = 0; i < r->step[0]->len; i++) {
		const struct step *s = &g_array_index(r->step[0], struct step, i);
		if (step_kind(s) == STEP_REPEAT && is_at(r, s->insn, address))
			sum += s->addr;
	}
	return sum;
}

/* Signals are delivered behind instructions whose callbacks QEMU 7.2 calls for what it writes then. */
static void edges(void **state)
{
	struct run r;

	(void)state;
	if (strstr(guest, "aarch64") || strstr(guest, "riscv64"))
		return;
	run(&r, "edges");
	expect_end(&r, 0, 0, true);
	assert_true(times(&r, 0, "guest_count_signal", 0, NULL) > 20);
	assert_int_equal(repeats(&r, "guest_edge_copy"), 200000);
	assert_int_equal(repeats(&r, "guest_edge_fill"), 200000);
	assert_int_equal(repeats(&r, "guest_edge_compare"), 200000);
	assert_int_equal(times(&r, 0, "guest_edge_store", 0, NULL), 4000);
	assert_int_equal(times(&r, 0, "guest_edge_store", STEP_STORE, NULL), 4000);
	assert_int_equal(times(&r, 0, "guest_edge_load", 0, NULL), 4000);
	assert_int_equal(times(&r, 0, "guest_edge_load", STEP_LOAD, NULL), 4000);
	assert_int_equal(times(&r, 0, "guest_edge_move", 0, NULL), 4000);
	assert_int_equal(times(&r, 0, "guest_edge_jump", STEP_TAKEN, NULL), 4000);
	run_close(&r);
}

static void x86_only(void **state)
{
	struct run r;

	(void)state;
	if (strstr(guest, "aarch64") || strstr(guest, "riscv64"))
		return;
	run(&r, "strings");
	expect_end(&r, 0, 0, true);
	expect_repeats(&r, "guest_movsb", (const uint64_t[]){ 0, 1, 2, 1000, 100000 }, 5);
	expect_repeats(&r, "guest_stosq", (const uint64_t[]){ 0, 0, 0, 125, 12500 }, 5);
	expect_repeats(&r, "guest_backward", (const uint64_t[]){ 4096 }, 1);
	expect_repeats(&r, "guest_cmpsb", (const uint64_t[]){ 51 }, 1);
	run_close(&r);

	run(&r, "modifies");
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_patching", 0, NULL), 10);
	assert_int_equal(times(&r, 0, "guest_patching", STEP_STORE, NULL), 10);
	assert_int_equal(times(&r, 0, "guest_patched", 0, NULL), 10);
	run_close(&r);

	run(&r, "split_atomics");
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_split", 0, NULL), 100);
	assert_int_equal(times(&r, 0, "guest_split", STEP_LOAD | STEP_STORE, NULL), 100);
	run_close(&r);

	run(&r, "divides");
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_divide", STEP_FAULT, NULL), 3);
	assert_int_equal(times(&r, 0, "guest_divide", 0, NULL), 3);
	run_close(&r);

	run(&r, "avx512");
	expect_end(&r, 0, SIGILL, false);
	assert_int_equal(times(&r, 0, "guest_avx512", STEP_FAULT, NULL), 1);
	assert_true(noted(&r, "vpaddd"));
	run_close(&r);
}

static struct run *interrupted;
static volatile sig_atomic_t ready = -1; /* where the program says that it is; -1: that was heard */

static void on_alarm(int sig)
{
	struct pollfd said = { .fd = ready, .events = POLLIN };

	(void)sig;
	if (ready < 0 || poll(&said, 1, 0) <= 0)
		return;
	ready = -1;
	interrupted->g.ops->pass(interrupted->g.source, &(const siginfo_t){ .si_signo = SIGTERM });
}

/* A signal to cyclewise while the program waits for input. */
static void interrupt(void **state)
{
	const struct itimerval often = { { 0, 50000 }, { 0, 50000 } }, never = { { 0, 0 }, { 0, 0 } };
	int input[2], output[2], saved = dup(STDIN_FILENO), saved_error = dup(STDERR_FILENO);
	struct run r;

	(void)state;
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	dup2(input[0], STDIN_FILENO);
	dup2(output[1], STDERR_FILENO);
	run_open(&r, "waits", (struct window){ 0 });
	dup2(saved, STDIN_FILENO);
	dup2(saved_error, STDERR_FILENO);
	interrupted = &r;
	ready = output[0];
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (run_read(&r))
		;
	setitimer(ITIMER_REAL, &never, NULL);
	expect_end(&r, 0, SIGTERM, false);
	assert_true(r.instructions > 10000);
	assert_int_equal(r.g.result->instructions, r.instructions);
	run_close(&r);
	const int all[] = { saved, saved_error, input[0], input[1], output[0], output[1] };
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		close(all[i]);
}

/* What the emulator had sent before it was killed is there. */
static void killed_emulator(void **state)
{
	struct run r;

	(void)state;
	run_open(&r, "talks", (struct window){ 0 });
	for (unsigned i = 0; i < 50; i++)
		assert_true(run_read(&r));
	kill(r.g.result->pid, SIGKILL);
	while (run_read(&r))
		;
	expect_end(&r, 0, SIGKILL, false);
	assert_int_equal(r.g.result->instructions, r.instructions);
	for (size_t i = 0; i < G_N_ELEMENTS(r.g.result->note); i++)
		assert_null(strstr(r.g.result->note[i], "defect"));
	run_close(&r);
}

/* cyclewise dies after `batches` batches: the program ends with it. */
static void dies(unsigned batches)
{
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (!pid) {
		struct run r;
		dup2(out[1], STDERR_FILENO);
		run_open(&r, "talks", (struct window){ 0 });
		while (batches--)
			run_read(&r);
		raise(SIGKILL);
	}
	orphan_says(pid, out, "");
}

static void dead_reader(void **state)
{
	(void)state;
	dies(1);
	dies(0); /* before the emulator has loaded the plugin */
}

/* The source is closed while the program runs. */
static void closed_early(void **state)
{
	struct run r;

	(void)state;
	run_open(&r, "talks", (struct window){ 0 });
	assert_true(run_read(&r));
	pid_t pid = r.g.result->pid;
	run_close(&r);
	assert_int_equal(kill(pid, 0), -1);
}

static void window_exception(void **state)
{
	struct run r;

	(void)state;
	run_windowed(&r, "", (struct window){ .roi = "guest_region" });
	expect_end(&r, 0, 0, true);
	assert_int_equal(times(&r, 0, "guest_work", STEP_COUNTED, NULL), 4);
	assert_int_equal(times(&r, 0, "guest_work", 0, NULL), 19);
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest throwing[] = { cmocka_unit_test(window_exception) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_every_time), cmocka_unit_test(faults), cmocka_unit_test(traps), cmocka_unit_test(signals),
		cmocka_unit_test(forks), cmocka_unit_test(execs), cmocka_unit_test(threads), cmocka_unit_test(untouched),
		cmocka_unit_test(deaths), cmocka_unit_test(windows), cmocka_unit_test(window_signals), cmocka_unit_test(marks), cmocka_unit_test(rewritten),
		cmocka_unit_test(mappings), cmocka_unit_test(edges), cmocka_unit_test(x86_only), cmocka_unit_test(interrupt), cmocka_unit_test(killed_emulator),
		cmocka_unit_test(dead_reader), cmocka_unit_test(closed_early),
	};
	int failed = 0;

	if ((guest = getenv("CYCLEWISE_GUEST")))
		failed += cmocka_run_group_tests_name(strrchr(guest, '/') + 1, tests, NULL, NULL);
	if ((guest = getenv("CYCLEWISE_GUEST_THROW")))
		failed += cmocka_run_group_tests_name("throw", throwing, NULL, NULL);
	return failed != 0;
}
