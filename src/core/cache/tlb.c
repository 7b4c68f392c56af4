#include "core/cache/tlb.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { ADDRESS_BITS = 57, TABLE_BITS = 12, ENTRY_BITS = 3, INDEX_BITS = TABLE_BITS - ENTRY_BITS };

/* Page tables stand above all that programs can address. */
#define TABLE_SPACE (1ull << 60)

int tlb_init(struct tlb *t, uint32_t entries, uint32_t ways)
{
	assert(ways > 0 && entries >= ways && entries <= 65536);
	uint32_t sets = entries / ways;

	*t = (struct tlb){ .ways = ways };
	divisor_init(&t->sets, sets);
	t->entries = calloc((size_t)sets * ways, sizeof *t->entries);
	if (!t->entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < sets * ways; i++)
		t->entries[i].page = TLB_EMPTY;
	return 0;
}

void tlb_fini(struct tlb *t)
{
	free(t->entries);
	t->entries = NULL;
}

static struct tlb_entry *set_of(struct tlb *t, uint64_t page)
{
	uint32_t set;
	divide(&t->sets, page, &set);
	return t->entries + (size_t)set * t->ways;
}

static struct tlb_entry *use(struct tlb *t, struct tlb_entry *e)
{
	e->used = ++t->clock;
	t->hint[e->page % TLB_HINTS] = (uint16_t)(e - t->entries);
	return e;
}

struct tlb_entry *tlb_find_slow(struct tlb *t, uint64_t page)
{
	struct tlb_entry *set = set_of(t, page);

	for (uint32_t way = 0; way < t->ways; way++) {
		if (set[way].page == page)
			return use(t, &set[way]);
	}
	return NULL;
}

struct tlb_entry *tlb_insert(struct tlb *t, uint64_t page)
{
	struct tlb_entry *set = set_of(t, page), *oldest = set;

	for (uint32_t way = 1; way < t->ways; way++)
		oldest = set[way].used < oldest->used ? &set[way] : oldest;
	*oldest = (struct tlb_entry){ .page = page };
	return use(t, oldest);
}

void tlb_drop(struct tlb *t, uint64_t from, uint64_t to)
{
	uint32_t n = t->sets.by * t->ways;

	for (uint32_t i = 0; i < n; i++) {
		struct tlb_entry *e = &t->entries[i];
		if (e->page != TLB_EMPTY && e->page >= from && e->page <= to)
			*e = (struct tlb_entry){ .page = TLB_EMPTY };
	}
}

int page_walker_init(struct walker *w, uint32_t levels, uint32_t cached, uint32_t page_bits, uint32_t seed)
{
	assert(levels > 0 && levels <= WALK_MAX_LEVELS && page_bits >= TABLE_BITS && page_bits <= 30);
	uint32_t fewer = (page_bits - TABLE_BITS) / INDEX_BITS;

	*w = (struct walker){ .levels = levels > fewer ? levels - fewer : 1, .cached = cached,
		.page_bits = page_bits, .seed = seed };
	for (uint32_t level = 1; cached && level < w->levels; level++) {
		if (tlb_init(&w->directory[level], cached, cached)) {
			page_walker_fini(w);
			return -ENOMEM;
		}
	}
	return 0;
}

void page_walker_fini(struct walker *w)
{
	for (uint32_t level = 1; level < WALK_MAX_LEVELS; level++)
		tlb_fini(&w->directory[level]);
}

/* One-to-one on `bits` bits: odd multiplications and folds of the upper half onto the lower can all be undone. */
static uint64_t mix(uint64_t n, uint32_t bits, uint64_t seed)
{
	uint64_t mask = (1ull << bits) - 1;

	n = (n ^ seed * 0x9e3779b97f4a7c15) & mask;
	n = n * 0xbf58476d1ce4e5b9 & mask;
	n ^= n >> (bits + 1) / 2;
	n = n * 0x94d049bb133111eb & mask;
	n ^= n >> (bits + 1) / 2;
	return n;
}

uint64_t page_walker_frame(const struct walker *w, uint64_t page)
{
	uint32_t bits = ADDRESS_BITS - w->page_bits;
	return w->seed ? mix(page, bits, w->seed) : page & ((1ull << bits) - 1);
}

/* Where entry `index` of level `level` (0: the last) stands. Tables are spread as pages are. */
static uint64_t entry_address(const struct walker *w, uint32_t level, uint64_t index)
{
	uint64_t table = index >> INDEX_BITS | (uint64_t)level << 43;

	if (w->seed)
		table = mix(table, 46, w->seed + 1);
	return TABLE_SPACE | table << TABLE_BITS | (index & ((1u << INDEX_BITS) - 1)) << ENTRY_BITS;
}

uint32_t page_walker_plan(struct walker *w, uint64_t page, uint64_t address[WALK_MAX_LEVELS])
{
	uint32_t from = 1, n = 0;

	while (from < w->levels && !(w->cached && tlb_find(&w->directory[from], page >> from * INDEX_BITS)))
		from++;
	for (uint32_t level = from; level-- > 0;) {
		address[n++] = entry_address(w, level, page >> level * INDEX_BITS);
		if (level && w->cached)
			tlb_insert(&w->directory[level], page >> level * INDEX_BITS);
	}
	return n;
}

void page_walker_flush(struct walker *w)
{
	for (uint32_t level = 1; w->cached && level < w->levels; level++)
		tlb_drop(&w->directory[level], 0, TLB_EMPTY - 1);
}
