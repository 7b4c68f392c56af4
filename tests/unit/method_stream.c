/* The streams that the methods are tested with keep the rules of the record, and have all that is awkward in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rules.h"
#include "stream.h"

static void test_rules(void **ctx)
{
	for (unsigned k = 0; k < 60; k++) {
		struct stream_config config = { .seed = k + 1, .records = 4000, .width = 1 + k % 6, .commit_width = 1 + k % 9,
		                                .rob = 32 + k * 4, .trouble = k % 3 * 20, .misses = k % 4 * 15,
		                                .windows = k % 5 == 4 ? 10 : 0, .marks = 5 };
		struct rules rules = { 0 };
		size_t n;
		struct timed *t = stream_new(&config, &n);

		for (size_t i = 0; i < n; i++)
			assert_null(rules_check(&rules, &t[i], config.width));
		free(t);
	}
}

/* Of each kind, in 1000 records, as many as that a rule of a method that forgets it shows. */
static void test_variety(void **ctx)
{
	struct stream_config config = { .seed = 7, .records = 100000, .width = 4, .commit_width = 4, .rob = 96, .trouble = 20,
	                                .misses = 15, .windows = 5, .marks = 5 };
	size_t n, flags[16] = { 0 }, never = 0, not_offered = 0, wide = 0, nested = 0;
	struct timed *t = stream_new(&config, &n);

	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < 16; k++)
			flags[k] += t[i].flags >> k & 1;
		not_offered += t[i].avail == TIMED_NEVER;
		never += t[i].dispatch == TIMED_NEVER;
		wide += t[i].slots > config.width;
		nested += t[i].flags & TIMED_SQUASHED && t[i].flags & TIMED_MISPREDICT;
	}
	for (unsigned k = 0; k < 16; k++) {
		unsigned bit = 1u << k;
		if (bit & ~(unsigned)(TIMED_TAKEN | TIMED_PACKET_FIRST | TIMED_STORE | TIMED_DECODED))
			assert_true(flags[k] * 1000 > n);
	}
	assert_true(flags[8] < n);
	assert_true(not_offered * 1000 > n && never > not_offered && wide * 1000 > n && nested * 1000 > n);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules), cmocka_unit_test(test_variety) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
