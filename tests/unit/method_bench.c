/*
 * What the methods cost, in nanoseconds a record, the walk alone, each method with it, and all in turn, on a stream that mostly commits
 * several a cycle and one with many events. Prints figures; passes or fails nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "method_fake.h"

enum { BATCH = 4096, ROUNDS = 40 };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The stream again and again, each time later; the fastest round, as others use the machine. */
static double measure(const struct method *const *methods, unsigned nr, const struct run *of,
                      const struct timed *stream, size_t n)
{
	struct feed_target target[32];
	struct feed *feed = malloc(sizeof(*feed));
	struct timed *t = memcpy(malloc(n * sizeof(*t)), stream, n * sizeof(*t));
	uint64_t length = timed_leave(&t[n - 1]) + 1;
	struct clock clock;
	struct run run = *of;
	double best = 1e9;

	clock_init(&clock, &run);
	run.clock = &clock;
	for (unsigned i = 0; i < nr; i++) {
		target[i] = (struct feed_target){ methods[i], calloc(1, methods[i]->state_size), calloc(1, methods[i]->lane_size) };
		if (methods[i]->open(target[i].state, &run) || methods[i]->lane(target[i].state, target[i].lane, 0))
			abort();
	}
	feed_init(feed, &clock, 0, target, nr);
	for (unsigned round = 0; round < ROUNDS; round++) {
		double spent = 0;

		for (size_t from = 0; from < n; from += BATCH) {
			size_t size = n - from < BATCH ? n - from : BATCH;
			for (size_t i = from; i < from + size; i++) /* as a core that has just written them */
				t[i].fetch += round ? length : 0;
			double start = seconds();
			feed_batch(feed, t + from, size);
			spent += seconds() - start;
		}
		best = spent < best ? spent : best;
	}
	feed_finish(feed);
	feed_fini(feed);
	for (unsigned i = 0; i < nr; i++) {
		methods[i]->close(target[i].state);
		free(target[i].lane);
		free(target[i].state);
	}
	free(feed);
	free(t);
	return best * 1e9 / (double)n;
}

static void report(const char *title, const struct stream_config *config)
{
	struct run run = { .desc = fake_desc(config), .code = fake_code(), .regions = fake_regions(), .seed = 1 };
	const struct method *set[32] = { NULL };
	unsigned nr = 0;
	size_t n;
	struct timed *t = stream_new(config, &n);

	printf("%s: %zu records, %.2f cycles each\n", title, n,
	       (double)timed_leave(&t[n - 1]) / (double)n);
	printf("  %-18s %5.1f ns\n", "the walk alone", measure(set, 0, &run, t, n));
	for (const struct method *const *m = method_list; *m; m++) {
		set[nr++] = *m;
		printf("  %-18s %5.1f ns\n", (*m)->name, measure(m, 1, &run, t, n));
	}
	printf("  %-18s %5.1f ns\n", "all", measure(set, nr, &run, t, n));
	const struct method *some[] = { method_find("pics"), method_find("states"), method_find("slots") };
	printf("  %-18s %5.1f ns\n", "pics states slots", measure(some, 3, &run, t, n));
	free(t);
}

int main(void)
{
	report("several a cycle", &(struct stream_config){ .seed = 1, .records = 200000, .width = 4, .commit_width = 4,
	                                                   .rob = 224, .trouble = 1, .misses = 1 });
	report("many events", &(struct stream_config){ .seed = 1, .records = 200000, .width = 4, .commit_width = 4,
	                                               .rob = 224, .trouble = 10, .misses = 30 });
	return 0;
}
