/* When each prefetcher asks for a line, and for which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cache/prefetch.h"

static void stride_needs_three_accesses(void **state)
{
	struct stride s;

	assert_int_equal(stride_init(&s, 24, 2048), 0);
	assert_int_equal(stride_train(&s, 0x400010, 0x10000), 0);
	assert_int_equal(stride_train(&s, 0x400010, 0x10140), 0);
	assert_int_equal(stride_train(&s, 0x400010, 0x10280), 0x103c0);
	assert_int_equal(stride_train(&s, 0x400010, 0x103c0), 0x10500);
	/* Another step: begins anew. */
	assert_int_equal(stride_train(&s, 0x400010, 0x10400), 0);
	assert_int_equal(stride_train(&s, 0x400010, 0x10440), 0x10480);
	stride_fini(&s);
}

static void stride_goes_down_and_stops_at_the_page(void **state)
{
	struct stride s;

	assert_int_equal(stride_init(&s, 24, 2048), 0);
	stride_train(&s, 1, 0x10180);
	stride_train(&s, 1, 0x10100);
	assert_int_equal(stride_train(&s, 1, 0x10080), 0x10000);
	assert_int_equal(stride_train(&s, 1, 0x10000), 0);           /* 0xff80 is another page */
	assert_int_equal(stride_train(&s, 1, 0x0ff80), 0x0ff00);
	stride_fini(&s);
}

static void stride_has_a_limit(void **state)
{
	struct stride s;

	assert_int_equal(stride_init(&s, 24, 2048), 0);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(stride_train(&s, 1, 0x10000 + i * 2049), 0);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(stride_train(&s, 2, 0x20000), 0);
	stride_fini(&s);
}

/* Two instructions whose low 8 bits differ do not disturb each other; where they agree, they do. */
static void stride_by_instruction(void **state)
{
	struct stride s;

	assert_int_equal(stride_init(&s, 24, 2048), 0);
	for (uint64_t i = 0; i < 2; i++) {
		assert_int_equal(stride_train(&s, 0x10, 0x10000 + i * 64), 0);
		assert_int_equal(stride_train(&s, 0x20, 0x20000 + i * 128), 0);
	}
	assert_int_equal(stride_train(&s, 0x10, 0x10080), 0x100c0);
	assert_int_equal(stride_train(&s, 0x20, 0x20100), 0x20180);
	assert_int_equal(stride_train(&s, 0x110, 0x30000), 0);
	assert_int_equal(stride_train(&s, 0x10, 0x100c0), 0);
	stride_fini(&s);
}

static void stride_forgets_the_oldest(void **state)
{
	struct stride s;

	assert_int_equal(stride_init(&s, 2, 2048), 0);
	stride_train(&s, 1, 0x1000);
	stride_train(&s, 1, 0x1040);
	stride_train(&s, 2, 0x2000);
	assert_int_equal(stride_train(&s, 1, 0x1080), 0x10c0);
	stride_train(&s, 3, 0x3000);                                 /* in place of 1 */
	stride_train(&s, 2, 0x2040);
	assert_int_equal(stride_train(&s, 2, 0x2080), 0x20c0);
	assert_int_equal(stride_train(&s, 1, 0x10c0), 0);            /* in place of 2 */
	assert_int_equal(stride_train(&s, 1, 0x1100), 0);
	stride_fini(&s);
}

static void next_line_after_ascending_access(void **state)
{
	struct next_line n;

	next_line_init(&n);
	assert_false(next_line_train(&n, 20, 0));
	next_line_filled(&n, 20, 8);
	assert_false(next_line_train(&n, 20, 8));
	assert_false(next_line_train(&n, 20, 0));                    /* descends */
	assert_true(next_line_train(&n, 20, 4));
	assert_false(next_line_train(&n, 20, 12));                   /* once a line */
	/* A line that was itself prefetched: its first access has nothing to ascend from. */
	next_line_filled(&n, 21, UINT32_MAX);
	assert_false(next_line_train(&n, 21, 16));
	assert_true(next_line_train(&n, 21, 24));
}

static void next_line_remembers_recent_fills(void **state)
{
	struct next_line n;

	next_line_init(&n);
	for (uint64_t line = 0; line <= NEXT_LINES; line++)
		next_line_filled(&n, line, 0);
	assert_false(next_line_train(&n, 0, 8));
	assert_true(next_line_train(&n, NEXT_LINES, 8));
	assert_true(next_line_train(&n, 1, 8));
}

static void streamer_runs_ahead(void **state)
{
	uint64_t out[STREAM_DEGREE], page = 0x1234 << 6;
	struct streamer s;

	assert_int_equal(streamer_init(&s, 32, 5, 2, 64), 0);
	assert_int_equal(streamer_train(&s, page + 10, out), 0);
	assert_int_equal(streamer_train(&s, page + 11, out), 0);     /* one move */
	assert_int_equal(streamer_train(&s, page + 11, out), 0);     /* none */
	assert_int_equal(streamer_train(&s, page + 12, out), 2);     /* two */
	assert_int_equal(out[0], page + 13);
	assert_int_equal(out[1], page + 14);
	assert_int_equal(streamer_train(&s, page + 13, out), 2);
	assert_int_equal(out[0], page + 15);
	assert_int_equal(out[1], page + 16);
	assert_int_equal(streamer_train(&s, page + 14, out), 2);
	assert_int_equal(out[1], page + 18);
	assert_int_equal(streamer_train(&s, page + 15, out), 2);
	assert_int_equal(out[1], page + 20);
	assert_int_equal(streamer_train(&s, page + 16, out), 1);     /* five ahead and no further */
	assert_int_equal(out[0], page + 21);
	/* A leap beyond what was prefetched goes on from there. */
	assert_int_equal(streamer_train(&s, page + 40, out), 2);
	assert_int_equal(out[0], page + 41);
	streamer_fini(&s);
}

static void streamer_turns_and_stops(void **state)
{
	uint64_t out[STREAM_DEGREE], page = 0x1234 << 6;
	struct streamer s;

	assert_int_equal(streamer_init(&s, 32, 20, 2, 64), 0);
	streamer_train(&s, page + 61, out);
	streamer_train(&s, page + 62, out);
	assert_int_equal(streamer_train(&s, page + 63, out), 0);     /* the page ends */
	assert_int_equal(streamer_train(&s, page + 5, out), 0);
	assert_int_equal(streamer_train(&s, page + 3, out), 2);      /* downwards: two moves */
	assert_int_equal(out[0], page + 2);
	assert_int_equal(out[1], page + 1);
	assert_int_equal(streamer_train(&s, page + 2, out), 1);
	assert_int_equal(out[0], page + 0);
	assert_int_equal(streamer_train(&s, page + 1, out), 0);
	streamer_fini(&s);
}

static void streamer_tracks_pages(void **state)
{
	uint64_t out[STREAM_DEGREE];
	struct streamer s;

	assert_int_equal(streamer_init(&s, 2, 20, 2, 64), 0);
	streamer_train(&s, (1 << 6) + 0, out);
	streamer_train(&s, (2 << 6) + 0, out);
	streamer_train(&s, (1 << 6) + 1, out);
	streamer_train(&s, (3 << 6) + 0, out);                       /* in place of page 2 */
	assert_int_equal(streamer_train(&s, (1 << 6) + 2, out), 2);
	assert_int_equal(streamer_train(&s, (2 << 6) + 1, out), 0);
	assert_int_equal(streamer_train(&s, (2 << 6) + 2, out), 0);
	assert_int_equal(streamer_train(&s, (2 << 6) + 3, out), 2);
	streamer_fini(&s);

	assert_int_equal(streamer_init(&s, 0, 20, 2, 64), 0);
	for (uint64_t line = 0; line < 8; line++)
		assert_int_equal(streamer_train(&s, line, out), 0);
	streamer_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stride_needs_three_accesses),
		cmocka_unit_test(stride_goes_down_and_stops_at_the_page),
		cmocka_unit_test(stride_has_a_limit),
		cmocka_unit_test(stride_by_instruction),
		cmocka_unit_test(stride_forgets_the_oldest),
		cmocka_unit_test(next_line_after_ascending_access),
		cmocka_unit_test(next_line_remembers_recent_fills),
		cmocka_unit_test(streamer_runs_ahead),
		cmocka_unit_test(streamer_turns_and_stops),
		cmocka_unit_test(streamer_tracks_pages),
	};
	return cmocka_run_group_tests_name("core prefetch", tests, NULL, NULL);
}
