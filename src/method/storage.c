#include "method/storage.h"

#include <assert.h>

#include "record/timed.h"

enum { TIP_BYTES = 57, FRONT_END_BITS = 2 /* DR-L1 and DR-TLB */, FETCH_PACKETS = 3 };

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

void storage_of(const struct core_desc *core, struct storage out[STORAGE_METHODS])
{
	out[0] = tea(core, "TEA", true);
	out[1] = tea(core, "NCI-TEA", false);
	out[2] = (struct storage){ .method = "TIP" };
	add(&out[2], "addresses and flags of a sample", 1, 8 * TIP_BYTES);
	out[3] = tagged("IBS", 6);
	out[4] = tagged("SPE", 5);
	out[5] = tagged("RIS", 7);
}
