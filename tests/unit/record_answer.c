/* The answer between two processes: it is what was given, once for each question, and a dead or deaf end ends the wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/answer.h"

enum { ROUNDS = 20000 };

struct shared {
	struct answer answer;
	_Atomic uint32_t stop;
	_Atomic uint64_t asked;
};

static struct shared *shared;

static struct counters nth(uint64_t n)
{
	return (struct counters){ n, n + 1, n + 2, n + 3, n + 4, n + 5 };
}

static void expect(const struct counters *c, uint64_t n)
{
	assert_int_equal(c->cycles, n);
	assert_int_equal(c->instructions, n + 1);
	assert_int_equal(c->slots_total, n + 2);
	assert_int_equal(c->slots_filled, n + 3);
	assert_int_equal(c->slots_issued, n + 4);
	assert_int_equal(c->slots_retired, n + 5);
}

static int setup(void **state)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

static int teardown(void **state)
{
	return munmap(shared, sizeof *shared);
}

static void *answers(void *unused)
{
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		const struct counters c = nth(n);
		while (shared->asked != n)
			sched_yield();
		answer_give(&shared->answer, &c);
	}
	return unused;
}

/* Each question gets its own answer, never that of the one before. */
static void in_turn(void **state)
{
	const struct ring_peer peer = { .stop = &shared->stop };
	struct counters got;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, answers, NULL), 0);
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		answer_expect(&shared->answer);
		shared->asked = n;
		assert_true(answer_wait(&shared->answer, &peer, &got));
		expect(&got, n);
	}
	pthread_join(t, NULL);
}

static void given_before(void **state)
{
	const struct ring_peer peer = { .stop = &shared->stop };
	const struct counters c = nth(7);
	struct counters got;

	shared->stop = 1;
	answer_expect(&shared->answer);
	answer_give(&shared->answer, &c);
	assert_true(answer_wait(&shared->answer, &peer, &got));
	expect(&got, 7);
	answer_expect(&shared->answer);
	assert_false(answer_wait(&shared->answer, &peer, &got));
}

static void *reaps(void *pid)
{
	waitpid((pid_t)(intptr_t)pid, NULL, 0);
	return NULL;
}

/* Whether the thread that is called as its process sleeps, for an answer or for something else. */
static bool sleeps(pid_t process)
{
	char path[64], line[512] = "", *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	f = fopen(path, "r");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	state = strrchr(line, ')');
	return !state || state[2] == 'S';
}

/* Who was to answer dies while the other sleeps. */
static void dead(void **state)
{
	struct counters got;
	pid_t asking = getpid(), pid = fork();

	if (!pid) {
		while (shared->asked != ROUNDS + 1 || !sleeps(asking))
			sched_yield();
		_exit(0);
	}
	const struct ring_peer peer = { .stop = &shared->stop, .consumer = pid };
	pthread_t t;
	answer_expect(&shared->answer);
	assert_int_equal(pthread_create(&t, NULL, reaps, (void *)(intptr_t)pid), 0);
	shared->asked = ROUNDS + 1;
	assert_false(answer_wait(&shared->answer, &peer, &got));
	pthread_join(t, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(given_before, setup, teardown),
		cmocka_unit_test_setup_teardown(dead, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
