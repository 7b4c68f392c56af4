/* Main memory: rows, banks, order, bandwidth; exact cycles. One cycle is one nanosecond here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "core/cache/dram.h"
#include "core_memory_desc.h"

enum { ROW = 8192 / 64 };      /* lines */

/* 10 + rp 20 + rcd 30 + cas 40; a line takes the channel 4 cycles; 8 banks. */
static void open_dram(struct dram *d, void (*change)(struct core_desc *))
{
	struct core_desc desc;

	desc_defaults(&desc);
	desc.clock_mhz = 1000;
	desc.dram_latency_ns = 10;
	desc.dram_rp_ns = 20;
	desc.dram_rcd_ns = 30;
	desc.dram_cas_ns = 40;
	desc.dram_bandwidth = 16000;
	desc.dram_banks = 8;
	if (change)
		change(&desc);
	assert_int_equal(dram_init(d, &desc, 64, 20000), 0);
}

static void rows(void **state)
{
	struct dram d;

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1000 + 30 + 40 + 10);       /* no row open yet */
	assert_int_equal(dram_read(&d, 2000, 1), 2000 + 40 + 10);            /* the same row */
	assert_int_equal(dram_read(&d, 3000, 1 * ROW), 3000 + 30 + 40 + 10); /* another bank */
	dram_fini(&d);
}

/* Row r is in bank (r + r / 8) % 8: rows 0 and 15 share bank 0, row 1 does not. */
static void conflict(void **state)
{
	struct dram d;

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);
	assert_int_equal(dram_read(&d, 2000, 15 * ROW), 2000 + 20 + 30 + 40 + 10);
	/* Back to the first row: it was closed. */
	assert_int_equal(dram_read(&d, 4000, 2), 4100);
	dram_fini(&d);
}

/* Banks work side by side; the channel passes one line in 4 cycles; one bank alone makes the second wait. */
static void banks_overlap(void **state)
{
	struct dram d;

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);
	assert_int_equal(dram_read(&d, 1000, 1 * ROW), 1084);
	assert_int_equal(dram_read(&d, 1000, 2 * ROW), 1088);
	/* Bank 0 is busy with row 0 until 1034, then it is precharged. */
	assert_int_equal(dram_read(&d, 1000, 15 * ROW), 1034 + 20 + 30 + 40 + 10);
	dram_fini(&d);
}

/* A row hit that comes while a conflict waits goes first; so does one that starts earlier than what is booked. */
static void first_ready_first(void **state)
{
	struct dram d;

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);
	assert_int_equal(dram_read(&d, 2000, 15 * ROW), 2100);       /* bank 0 from 2000 to 2054 */
	assert_int_equal(dram_read(&d, 1990, 3), 1990 + 40 + 10);    /* row 0 is still open, and its 4 cycles fit */
	assert_int_equal(dram_read(&d, 1998, 4), 2054 + 100);        /* now they do not: row 15 first */
	assert_int_equal(dram_read(&d, 1500, 15 * ROW + 1), 1600);   /* long before: a conflict of its own, row 0 reopened in time */
	assert_int_equal(dram_read(&d, 2300, 5), 2340 + 10);         /* row 0, open since 2104 */
	dram_fini(&d);
}

/* Two hits of a row leave a gap: a conflict gets in between only where the row can be opened again. */
static void hit_keeps_its_row(void **state)
{
	struct dram d;

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);              /* bank busy 1000 to 1034 */
	assert_int_equal(dram_read(&d, 1130, 1), 1180);              /* 1130 to 1134 */
	assert_int_equal(dram_read(&d, 1040, 15 * ROW), 1134 + 100); /* 54 + 50 cycles do not fit before 1130 */
	dram_fini(&d);

	open_dram(&d, NULL);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);
	assert_int_equal(dram_read(&d, 1144, 1), 1194);
	assert_int_equal(dram_read(&d, 1040, 15 * ROW), 1140);       /* here they do, exactly */
	dram_fini(&d);
}

static void one_line_a_turn(struct core_desc *d)
{
	d->dram_reads = 1;
}

static void reads_are_limited(void **state)
{
	struct dram d;

	open_dram(&d, one_line_a_turn);
	assert_int_equal(dram_read(&d, 1000, 0), 1080);
	assert_int_equal(dram_read(&d, 1000, 1 * ROW), 1160);
	assert_int_equal(dram_read(&d, 1000, 2 * ROW), 1240);
	dram_fini(&d);
}

static void bandwidth(void **state)
{
	struct dram d;
	uint64_t last = 0;

	/* 1000 reads of open rows, all at once, of up to 64 outstanding: 4 cycles each, whatever banks they are in. */
	open_dram(&d, NULL);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t done = dram_read(&d, i * 4, i);
		last = done > last ? done : last;
	}
	assert_in_range(last, 4000 + 50, 4000 + 150);
	dram_fini(&d);
}

static void eight_writes(struct core_desc *d)
{
	d->dram_writes = 8;
}

/* 8 writes of 4 cycles: each is due 32 cycles after it came. Reads in front of that go first, reads after it wait. */
static void writes_give_way_then_do_not(void **state)
{
	struct dram d;

	open_dram(&d, eight_writes);
	assert_int_equal(dram_read(&d, 100, 0), 180);
	for (int i = 0; i < 8; i++)
		dram_write(&d, 1040);                                /* the channel from 1068 on, for 32 cycles */
	assert_int_equal(dram_read(&d, 1020, 1), 1070);              /* data there at 1060: before */
	assert_int_equal(dram_read(&d, 1030, 2), 1102 + 10);         /* from 1066: half before, half behind */
	dram_fini(&d);
}

static void odd_banks(struct core_desc *d)
{
	d->dram_banks = 7;
	d->dram_row = 3 * 64;
}

static void no_powers_of_two(void **state)
{
	struct dram d;

	open_dram(&d, odd_banks);
	assert_int_equal(dram_read(&d, 1000, 3 * 7), 1080);          /* row 7: bank 1 */
	assert_int_equal(dram_read(&d, 2000, 3 * 7 + 2), 2050);
	assert_int_equal(dram_read(&d, 3000, 3 * 1), 3100);          /* row 1: bank 1 */
	dram_fini(&d);
}

static void wrong_row(void **state)
{
	struct core_desc desc;
	struct dram d;

	desc_defaults(&desc);
	desc.dram_row = 100;
	assert_int_equal(dram_init(&d, &desc, 64, 20000), -22);
	assert_string_equal(error_get()->what, "dram.row");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(conflict),
		cmocka_unit_test(banks_overlap),
		cmocka_unit_test(first_ready_first),
		cmocka_unit_test(hit_keeps_its_row),
		cmocka_unit_test(reads_are_limited),
		cmocka_unit_test(bandwidth),
		cmocka_unit_test(writes_give_way_then_do_not),
		cmocka_unit_test(no_powers_of_two),
		cmocka_unit_test(wrong_row),
	};
	return cmocka_run_group_tests_name("core dram", tests, NULL, NULL);
}
