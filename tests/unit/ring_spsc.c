/* The ring between two processes: order, waiting, dead ends of either side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/ring.h"

enum { WORDS = 64, MANY = 1000000 };

struct shared {
	struct ring ring;
	_Atomic uint32_t stop;
	uint64_t word[WORDS];
};

struct fixture {
	struct shared *shared;
	struct ring_peer peer;
	struct ring_writer writer;
	struct ring_reader reader;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->shared = mmap(NULL, sizeof *f->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	f->peer = (struct ring_peer){ .stop = &f->shared->stop, .parent = getppid() };
	ring_writer_init(&f->writer, &f->shared->ring, f->shared->word, WORDS, &f->peer);
	ring_reader_init(&f->reader, &f->shared->ring, f->shared->word, WORDS);
	*state = f;
	return f->shared == MAP_FAILED;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->shared, sizeof *f->shared);
	free(f);
	return 0;
}

static void empty_then_full(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ring_available(&f->reader), 0);
	for (uint64_t lap = 0; lap < 5; lap++) {
		for (uint64_t i = 0; i < WORDS; i++)
			assert_true(ring_push(&f->writer, lap * 1000 + i));
		assert_int_equal(ring_available(&f->reader), WORDS);
		for (uint64_t i = 0; i < WORDS; i++)
			assert_int_equal(ring_at(&f->reader, i), lap * 1000 + i);
		ring_take(&f->reader, WORDS);
		assert_int_equal(ring_available(&f->reader), 0);
	}
	assert_int_equal(f->shared->ring.head, 5 * WORDS);
	assert_int_equal(f->shared->ring.tail, 5 * WORDS);
}

static void *produce(void *arg)
{
	struct fixture *f = arg;

	for (uint64_t i = 0; i < MANY; i++)
		if (!ring_push(&f->writer, i * 3))
			return arg;
	return NULL;
}

static void doze(long ns)
{
	nanosleep(&(const struct timespec){ .tv_nsec = ns }, NULL);
}

/* A reader that takes odd amounts and now and then sleeps: the producer waits, nothing is lost or out of order. */
static void slow_reader(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;
	uint64_t next = 0;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	while (next < MANY) {
		uint64_t n = ring_available(&f->reader);
		if (n > 1 + next % 37)
			n = 1 + next % 37;
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(ring_at(&f->reader, i), (next + i) * 3);
		ring_take(&f->reader, n);
		next += n;
		if (next % 50021 == 0)
			doze(1000 * 1000);
	}
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(ring_available(&f->reader), 0);
}

/* The reader asks for no more while the producer sleeps. */
static void stopped(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	while (!atomic_load(&f->shared->ring.sleeping))
		doze(1000 * 1000);
	atomic_store(&f->shared->stop, 1);
	pthread_join(thread, &failed);
	assert_ptr_equal(failed, f);
	assert_true(f->writer.closed);
	assert_false(ring_push(&f->writer, 1));
	assert_int_equal(ring_available(&f->reader), WORDS); /* what was sent before is there */
}

static void expect_closed(struct fixture *f)
{
	uint64_t sent = 0;

	while (ring_push(&f->writer, sent))
		sent++;
	assert_in_range(sent, 0, WORDS);
	assert_true(f->writer.closed);
	assert_false(ring_push(&f->writer, 1));
}

/* The reader is not the producer's parent any more: it has died. */
static void dead_reader(void **state)
{
	struct fixture *f = *state;

	f->peer.parent = getpid();
	expect_closed(f);
}

/* It had died before the producer began, so that its parent was another from the start. */
static void never_read(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	f->peer.consumer = pid;
	expect_closed(f);
}

/* A killed producer leaves all it had pushed, in order. */
static void killed_producer(void **state)
{
	struct fixture *f = *state;
	uint64_t next = 0, n;
	pid_t pid = fork();

	if (!pid) {
		f->peer.parent = getppid();
		for (uint64_t i = 0;; i++)
			ring_push(&f->writer, i * 3);
	}
	assert_true(pid > 0);
	while (next < 100000) {
		n = ring_available(&f->reader);
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(ring_at(&f->reader, i), (next + i) * 3);
		ring_take(&f->reader, n);
		next += n;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while ((n = ring_available(&f->reader))) {
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(ring_at(&f->reader, i), (next + i) * 3);
		ring_take(&f->reader, n);
		next += n;
	}
	assert_int_equal(f->shared->ring.head, next);
	assert_false(f->reader.broken);
}

/* The program has scribbled over the indices. */
static void nonsense(void **state)
{
	struct fixture *f = *state;

	ring_push(&f->writer, 1);
	f->shared->ring.head = 12345678;
	assert_int_equal(ring_available(&f->reader), 0);
	assert_true(f->reader.broken);
	f->shared->ring.head = 1;
	assert_int_equal(ring_available(&f->reader), 0);
}

/* A ring is used again by the next thread, from where it stands. */
static void used_again(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 40; i++)
		ring_push(&f->writer, i);
	assert_int_equal(ring_available(&f->reader), 40);
	ring_take(&f->reader, 40);
	ring_writer_init(&f->writer, &f->shared->ring, f->shared->word, WORDS, &f->peer);
	ring_reader_init(&f->reader, &f->shared->ring, f->shared->word, WORDS);
	for (uint64_t i = 0; i < WORDS; i++)
		assert_true(ring_push(&f->writer, 100 + i));
	assert_int_equal(ring_available(&f->reader), WORDS);
	assert_int_equal(ring_at(&f->reader, WORDS - 1), 100 + WORDS - 1);
}

/* Once the producer sleeps. */
static pthread_t full_producer(struct fixture *f)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, produce, f), 0);
	while (!atomic_load(&f->shared->ring.sleeping))
		doze(1000 * 1000);
	return thread;
}

/* The reader takes no more from this ring alone. */
static void refused(void **state)
{
	struct fixture *f = *state;
	void *failed;
	pthread_t thread = full_producer(f);

	ring_refuse(&f->shared->ring);
	pthread_join(thread, &failed);
	assert_ptr_equal(failed, f);
	assert_true(f->writer.closed);
}

/* Somebody wrote into `tail`, and the producer takes an empty ring for a full one: the reader puts it right. */
static void misread(void **state)
{
	struct fixture *f = *state;
	void *failed;
	uint64_t n = 0;

	atomic_store(&f->shared->ring.tail, 1000000);
	pthread_t thread = full_producer(f);
	while (n < MANY) {
		uint64_t now = ring_available(&f->reader);
		if (now)
			ring_take(&f->reader, now);
		n += now;
	}
	pthread_join(thread, &failed);
	assert_null(failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_then_full, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(dead_reader, setup, teardown), cmocka_unit_test_setup_teardown(never_read, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_producer, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(misread, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
