/* run/pipe: all that is given is taken, once and in order, and slots keep what they hold. */
#include "run/pipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOTS = 3, JOBS = 1000 };

struct job {
	unsigned number;
	char *kept;                    /* made once a slot */
};

struct log {
	unsigned taken, made;
	unsigned every;                /* of so many jobs one takes a while */
};

static unsigned freed;

static void take(void *ctx, void *slot)
{
	struct log *log = ctx;
	const struct job *j = slot;

	assert_int_equal(j->number, log->taken);
	assert_non_null(j->kept);
	if (log->every && log->taken % log->every == 0)
		usleep(100);
	log->taken++;
}

static void fini(void *slot)
{
	struct job *j = slot;

	freed += j->kept != NULL;
	free(j->kept);
}

static void give(struct pipe *p, struct log *log, unsigned number)
{
	struct job *j = pipe_slot(p);

	if (!j->kept) {
		j->kept = malloc(1);
		log->made++;
	}
	j->number = number;
	pipe_give(p);
}

/* Whoever is slower. */
static void test_order(void **state)
{
	for (unsigned every = 0; every < 20; every += 7) {
		struct log log = { .every = every };
		struct pipe *p;

		freed = 0;
		assert_int_equal(pipe_new(&p, "test", SLOTS, sizeof(struct job), take, &log), 0);
		for (unsigned i = 0; i < JOBS; i++) {
			give(p, &log, i);
			if (every == 7 && i % 50 == 0)
				usleep(200);
			if (i % 100 == 99) {
				pipe_wait(p);
				assert_int_equal(log.taken, i + 1);
			}
		}
		pipe_free(p, fini);
		assert_int_equal(log.taken, JOBS);
		assert_int_equal(log.made, SLOTS);
		assert_int_equal(freed, SLOTS);
	}
}

/* What was given before the end is taken all the same. */
static void test_end(void **state)
{
	struct log log = { .every = 1 };
	struct pipe *p;

	assert_int_equal(pipe_new(&p, "test", SLOTS, sizeof(struct job), take, &log), 0);
	give(p, &log, 0);
	give(p, &log, 1);
	pipe_free(p, fini);
	assert_int_equal(log.taken, 2);
	assert_int_equal(pipe_new(&p, "test", SLOTS, sizeof(struct job), take, &log), 0);
	pipe_wait(p);
	pipe_free(p, NULL);
	pipe_free(NULL, fini);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
