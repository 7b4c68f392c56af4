/*
 * Main memory: a controller, one channel, banks with an open row each.
 *
 * A read that finds its row open needs the column access alone; another row open, precharge and activation too.
 * A bank keeps the timetable of its latest bookings: a read takes the first gap that it fits, and so a row hit goes
 * in front of a conflict that waits (first ready, first come first served, as far as a model can that serves in
 * program order); a conflict is put between two hits of one row only where there is time to open that row again.
 * The channel hands out its bandwidth exactly. A write waits in the queue for as long as the whole queue takes to
 * pass the channel, so that reads go first until then; writes are taken to be drained row by row and to cost
 * bandwidth alone.
 *
 * Not modelled: refresh, read-write turnaround, several channels (their bandwidth is given as one), other cores.
 * Ref: TEA §4, table 2 (FR-FCFS, queue depths, 14-14-14).
 */
#ifndef CYCLEWISE_CORE_CACHE_DRAM_H
#define CYCLEWISE_CORE_CACHE_DRAM_H

#include <stdint.h>

#include "core/cache/calendar.h"
#include "core/cache/divisor.h"
#include "core/cache/mshr.h"
#include "core/params.h"

enum { DRAM_BOOKINGS = 16 };

struct dram_booking {
	uint64_t from, to;     /* cycles the bank is busy: [from, to) */
	uint64_t row;          /* the row open at the end */
};

/* bookings[0..nr) by time, not overlapping. */
struct dram_bank {
	struct dram_booking bookings[DRAM_BOOKINGS];
	uint32_t nr;
	uint64_t row_before;   /* open before bookings[0]; DRAM_NO_ROW: none */
};

#define DRAM_NO_ROW UINT64_MAX

struct dram {
	struct dram_bank *banks;
	struct divisor nr_banks, lines_per_row;
	struct calendar channel;
	struct mshr reads;
	uint64_t overhead;     /* cycles, as all that follow: controller and interconnect */
	uint64_t cas, rcd, rp;
	uint64_t burst;        /* a row hit occupies its bank */
	uint64_t write_delay;  /* a write is due so long after it comes */
	uint32_t units;        /* of the channel, for one line */
};

/* `line_bytes` divides the row; `window`: cycles that timetables keep. 0, or -errno (-EINVAL with the message set). */
int dram_init(struct dram *d, const struct core_desc *desc, uint32_t line_bytes, uint64_t window);
void dram_fini(struct dram *d);

/* The cycle a read of `line` that comes at `cycle` is done. */
uint64_t dram_read(struct dram *d, uint64_t cycle, uint64_t line);
/* A line that comes at `cycle` to be written. */
void dram_write(struct dram *d, uint64_t cycle);

#endif
