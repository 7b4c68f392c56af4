/*
 * Translations that the first-level TLBs of memory.c do not hold: the second level, and walks through the page tables,
 * whose loads go through the data caches. An access that misses is put off until its translation is known.
 */
#include "core/cache/parts.h"
#include "core/cache/state.h"
#include "core/cache/timeless.h"

int memory_translation_init(struct memory *m, const struct core_desc *d, uint64_t window)
{
	int err = 0;

	if (d->stlb_entries)
		err = parts_tlb(&m->second, "stlb", d->stlb_entries, d->stlb_ways);
	m->second_latency = (uint64_t)d->stlb_latency;
	m->walk_overhead = (uint64_t)d->walk_overhead;
	m->walk_below = d->l2_size;
	if (!err)
		err = mshr_init(&m->walks, (uint32_t)d->walk_walkers, window);
	if (!err)
		err = page_walker_init(&m->walker, (uint32_t)d->walk_levels, (uint32_t)d->walk_cached,
		                       (uint32_t)d->page_bits, (uint32_t)d->page_colour_seed);
	return err;
}

void memory_translation_fini(struct memory *m)
{
	tlb_fini(&m->second);
	mshr_fini(&m->walks);
	page_walker_fini(&m->walker);
}

static uint64_t walk(struct memory *m, uint64_t cycle, uint64_t page)
{
	uint64_t address[WALK_MAX_LEVELS], from = mshr_find(&m->walks, cycle, 1), t = from + m->walk_overhead;
	uint32_t n = page_walker_plan(&m->walker, page, address);
	const bool hit = m->data.supposed_hit, near = m->data.supposed_near;

	m->data.supposed_hit = m->data.supposed_near = false; /* of the access that wants the translation */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t line = address[i] >> m->line_shift;
		if (m->walk_below) {
			struct reply r;
			hierarchy_read(&m->below, t, line, READ_WALK, &r);
			t = r.fill;
		} else {
			struct access nobody;
			uint64_t there =
				read_line(m, &m->data, t, line, (uint32_t)(address[i] & m->line_mask), &nobody);
			t = there > t + m->data.latency ? there : t + m->data.latency;
		}
	}
	m->data.supposed_hit = hit;
	m->data.supposed_near = near;
	return t + mshr_hold(&m->walks, from, t - from) - from;
}

/* An access at `cycle` finds an entry whose walk goes on; as line_claim(). */
static uint64_t merge_walk(struct tlb_entry *e, uint64_t cycle)
{
	if (cycle + e->wait < e->ready)
		e->ready = cycle + e->wait;
	return e->ready;
}

/* Asked by a first-level TLB, it begins at `cycle`; the cycle the translation is known. */
static uint64_t second_level(struct memory *m, uint64_t cycle, uint64_t page)
{
	if (!m->second.entries)
		return walk(m, cycle, page);

	uint64_t known = cycle + m->second_latency;
	struct tlb_entry *e = tlb_find(&m->second, page);
	if (e)
		return e->ready > known ? merge_walk(e, known) : known;
	uint64_t ready = walk(m, known, page);
	e = tlb_insert(&m->second, page);
	e->ready = kept(ready);
	e->wait = ready - known;
	return ready;
}

struct tlb_entry *memory_translate_slow(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t page,
                                        struct tlb_entry *e, struct access *a)
{
	bool known = l->ideal_tlb || l->supposed_translated, merged = e && !known;

	if (!e) {
		uint64_t ready = known ? cycle : second_level(m, cycle, page);
		e = tlb_insert(&l->tlb, page);
		e->frame = page_walker_frame(&m->walker, page);
		e->ready = ready;
		e->wait = ready - cycle;
	}
	if (known)
		e->ready = e->ready < cycle ? e->ready : cycle;
	a->tlb_miss = !known;
	a->tlb_merged = merged;
	a->tlb_done = known ? cycle : merge_walk(e, cycle);
	e->ready = kept(e->ready);
	return e;
}

void memory_unmap(struct memory *m, uint64_t vaddr, uint64_t pages)
{
	parts_unmap(&m->walker, (struct tlb *const[]){ &m->data.tlb, &m->code.tlb, &m->second }, 3, vaddr, pages);
}
