/*
 * What the methods cost, in nanoseconds a record, each by itself and all in turn, on a stream that mostly commits
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
static double measure(const struct method *const *methods, unsigned nr, const struct run *run,
                      const struct timed *stream, size_t n)
{
	void *state[16], *lane[16];
	struct timed *t = memcpy(malloc(n * sizeof(*t)), stream, n * sizeof(*t));
	uint64_t length = timed_leave(&t[n - 1]) + 1;
	double best = 1e9;

	for (unsigned i = 0; i < nr; i++) {
		state[i] = calloc(1, methods[i]->state_size);
		lane[i] = calloc(1, methods[i]->lane_size);
		if (methods[i]->open(state[i], run) || methods[i]->lane(state[i], lane[i], 0))
			abort();
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		double spent = 0;

		for (size_t from = 0; from < n; from += BATCH) {
			size_t size = n - from < BATCH ? n - from : BATCH;
			for (size_t i = from; i < from + size; i++) /* as a core that has just written them */
				t[i].fetch += round ? length : 0;
			double start = seconds();
			for (unsigned i = 0; i < nr; i++)
				methods[i]->batch(state[i], lane[i], t + from, size);
			spent += seconds() - start;
		}
		best = spent < best ? spent : best;
	}
	for (unsigned i = 0; i < nr; i++) {
		methods[i]->finish(state[i], lane[i]);
		methods[i]->close(state[i]);
		free(lane[i]);
		free(state[i]);
	}
	free(t);
	return best * 1e9 / (double)n;
}

static void report(const char *title, const struct stream_config *config)
{
	struct run run = { .desc = fake_desc(config), .code = fake_code(), .regions = fake_regions(), .seed = 1 };
	const struct method *set[16];
	unsigned nr = 0;
	size_t n;
	struct timed *t = stream_new(config, &n);

	printf("%s: %zu records, %.2f cycles each\n", title, n,
	       (double)timed_leave(&t[n - 1]) / (double)n);
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
