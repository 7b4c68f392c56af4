#include "method/storage.h"

#include <assert.h>
#include <stdbool.h>

#include "method/cpi.h"
#include "record/timed.h"

enum { TIP_BYTES = 57, FRONT_END_BITS = 2 /* DR-L1 and DR-TLB */, FETCH_PACKETS = 3 };
enum { INSTRUCTION_SIDE = 3 /* L1I, L2I, I-TLB */, POINTERS = 3 /* fetch, dispatch head and tail */ };

static void add(struct storage *s, const char *where, uint64_t entries, uint64_t bits)
{
	uint64_t bytes = (entries * bits + 7) / 8;

	assert(s->nr_parts < STORAGE_PARTS);
	s->part[s->nr_parts++] = (struct storage_part){ where, entries, bits, bytes };
	s->bytes += bytes;
}

/* Signatures follow instructions from fetch to commit. The last committed one's is only of use after a flush. */
static struct storage tea(const struct core_desc *d, const char *method, bool last_committed)
{
	struct storage s = { .method = method };
	uint64_t stages = FETCH_PACKETS + (uint64_t)d->decode_width + (uint64_t)d->rename_width;

	add(&s, "fetch buffer", (uint64_t)d->fetch_queue, FRONT_END_BITS);
	add(&s, "reorder buffer", (uint64_t)d->rob_entries, NR_PSV);
	add(&s, "load and store queues", (uint64_t)d->load_queue_entries + (uint64_t)d->store_queue_entries, 1);
	if (last_committed)
		add(&s, "last committed", 1, NR_PSV);
	add(&s, "fetch, decode, dispatch", 1, stages * FRONT_END_BITS + 1 /* DR-SQ */);
	return s;
}

static struct storage tagged(const char *method, unsigned events)
{
	struct storage s = { .method = method };

	add(&s, "the tagged instruction", 1, events);
	return s;
}

/* To tell n values apart. */
static uint64_t bits_of(uint64_t n)
{
	uint64_t bits = 0;

	while ((uint64_t)1 << bits < n)
		bits++;
	return bits;
}

/* The miss event table: with counters of the instruction side in each row, or shared. */
static struct storage table(const struct core_desc *d, const char *method, bool shared)
{
	struct storage s = { .method = method };
	uint64_t rob = (uint64_t)d->rob_entries, counter = bits_of(cpi_memory_cycles(d) + 1);
	uint64_t rows = d->fmt_rows ? (uint64_t)d->fmt_rows : d->branch_in_flight ? (uint64_t)d->branch_in_flight : rob;
	uint64_t row = bits_of(rob) + 1 /* mispredicted */ + counter /* penalty */;

	add(&s, "rows of branches", rows, row + (shared ? 0 : INSTRUCTION_SIDE * counter));
	if (shared) {
		add(&s, "shared counters", INSTRUCTION_SIDE, counter);
		add(&s, "reorder buffer", rob, 1);
	}
	add(&s, "pointers", POINTERS, bits_of(rows));
	return s;
}

void storage_of(const struct core_desc *core, struct storage out[STORAGE_METHODS])
{
	out[0] = tea(core, "TEA", true);
	out[1] = tea(core, "NCI-TEA", false);
	out[2] = (struct storage){ .method = "TIP" };
	add(&out[2], "addresses and flags of a sample", 1, 8 * TIP_BYTES);
	out[3] = tagged("IBS", 6);
	out[4] = tagged("SPE", 5);
	out[5] = tagged("RIS", 7);
	out[6] = table(core, "FMT", false);
	out[7] = table(core, "sFMT", true);
}
