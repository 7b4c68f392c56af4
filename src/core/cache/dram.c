#include "core/cache/dram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/cache/timeless.h"

static uint64_t cycles_of(int32_t ns, int32_t mhz)
{
	return ((uint64_t)ns * (uint64_t)mhz + 500) / 1000;
}

int dram_init(struct dram *d, const struct core_desc *desc, uint32_t line_bytes, uint64_t window)
{
	uint32_t row = (uint32_t)desc->dram_row;

	*d = (struct dram){ 0 };
	if (row < line_bytes || row % line_bytes)
		return error_set(EINVAL, "dram.row", "a row of %u bytes is not made of lines of %u", row, line_bytes);
	d->overhead = cycles_of(desc->dram_latency_ns, desc->clock_mhz);
	d->cas = cycles_of(desc->dram_cas_ns, desc->clock_mhz);
	d->cas = d->cas ? d->cas : 1;
	d->rcd = cycles_of(desc->dram_rcd_ns, desc->clock_mhz);
	d->rp = cycles_of(desc->dram_rp_ns, desc->clock_mhz);
	d->units = calendar_units(line_bytes, (uint64_t)desc->dram_bandwidth, (uint64_t)desc->clock_mhz);
	d->burst = (d->units + CALENDAR_UNITS - 1) / CALENDAR_UNITS;
	d->write_delay = (uint64_t)desc->dram_writes * d->units / CALENDAR_UNITS;
	divisor_init(&d->nr_banks, (uint32_t)desc->dram_banks);
	divisor_init(&d->lines_per_row, row / line_bytes);
	d->banks = calloc((size_t)desc->dram_banks, sizeof *d->banks);
	if (!d->banks || calendar_init(&d->channel, window + 2 * d->write_delay) ||
	    mshr_init(&d->reads, (uint32_t)desc->dram_reads, window)) {
		dram_fini(d);
		return -ENOMEM;
	}
	for (int32_t i = 0; i < desc->dram_banks; i++)
		d->banks[i].row_before = DRAM_NO_ROW;
	return 0;
}

void dram_fini(struct dram *d)
{
	free(d->banks);
	d->banks = NULL;
	calendar_fini(&d->channel);
	mshr_fini(&d->reads);
}

static void book(struct dram_bank *b, uint32_t at, uint64_t from, uint64_t to, uint64_t row)
{
	if (b->nr == DRAM_BOOKINGS) {
		/* The oldest is forgotten; what would stand before it is not worth keeping. */
		if (at == 0)
			return;
		b->row_before = b->bookings[0].row;
		memmove(b->bookings, b->bookings + 1, (DRAM_BOOKINGS - 1) * sizeof *b->bookings);
		b->nr--;
		at--;
	}
	memmove(b->bookings + at + 1, b->bookings + at, (b->nr - at) * sizeof *b->bookings);
	b->bookings[at] = (struct dram_booking){ .from = from, .to = to, .row = row };
	b->nr++;
}

/* The cycle the column access to `row` ends, if it comes to the bank at `cycle`. */
static uint64_t bank_read(const struct dram *d, struct dram_bank *b, uint64_t cycle, uint64_t row)
{
	uint64_t reopen = d->rp + d->rcd;
	uint32_t i = b->nr;

	while (i > 0 && b->bookings[i - 1].to > cycle)
		i--;
	for (;; i++) {
		uint64_t open = i ? b->bookings[i - 1].row : b->row_before;
		uint64_t from = i && b->bookings[i - 1].to > cycle ? b->bookings[i - 1].to : cycle;
		uint64_t prepare = open == row ? 0 : open == DRAM_NO_ROW ? d->rcd : reopen;
		uint64_t to = from + prepare + d->burst;
		bool breaks = i < b->nr && open != row && b->bookings[i].row == open;

		if (i < b->nr && to + (breaks ? reopen : 0) > b->bookings[i].from)
			continue;
		book(b, i, from, to, row);
		return from + prepare + d->cas;
	}
}

uint64_t dram_read(struct dram *d, uint64_t cycle, uint64_t line)
{
	if (timeless(cycle))
		return cycle;
	uint32_t rest;
	uint64_t row = divide(&d->lines_per_row, line, &rest);
	uint64_t turn = divide(&d->nr_banks, row, &rest);
	uint32_t bank;

	/* Each turn over the banks begins with another one, lest equal steps in address meet one bank for ever. */
	divide(&d->nr_banks, row + turn, &bank);
	uint64_t from = mshr_find(&d->reads, cycle, 1);
	uint64_t there = bank_read(d, &d->banks[bank], from, row);
	uint64_t done = calendar_book(&d->channel, there, d->units) + d->overhead;
	uint64_t wait = mshr_hold(&d->reads, from, done - from) - from;
	return done + wait;
}

void dram_write(struct dram *d, uint64_t cycle)
{
	calendar_book(&d->channel, cycle + d->write_delay, d->units);
}
