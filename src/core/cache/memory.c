/*
 * The memory system as the pipeline sees it: translation, the two L1 caches with their miss registers and
 * prefetchers, splits over lines and pages. What is behind L1 is hierarchy.c's.
 *
 * Conventions of time. An access starts at a cycle; a translation that hits costs nothing beside it, one that does
 * not puts the whole access off until it is known. A miss takes a miss register at the start, and a line is usable by
 * whoever waits for it in the cycle of its fill.
 *
 * Not modelled: ports of L1 (the pipeline's are the limit; l1d.bandwidth bounds the bytes that
 * loads read in a cycle, and l1d.victim_ports close where an evicted line is taken out), conflicts of its banks,
 * virtual aliases, self-modifying code; prefetchers of L1 learn nothing from the wrong path, which is to be run again
 * where it joins the right one.
 */
#include "core/cache/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "core/cache/parts.h"
#include "core/cache/state.h"
#include "core/cache/timeless.h"
#include "core/cycle.h"

/* ---- set-up ---- */

/*
 * Cycles that timetables keep: what may lie between a load and the drain of an older store, and several of the longest
 * waits.
 */
static uint64_t window_of(const struct core_desc *d)
{
	int64_t ns = (int64_t)d->dram_latency_ns + d->dram_cas_ns + d->dram_rcd_ns + d->dram_rp_ns;
	uint64_t longest = (uint64_t)(d->llc_latency + d->l2_latency + ns * d->clock_mhz / 1000);
	return 20000 + 8 * longest;
}

int memory_new(struct memory **out, const struct core_desc *d)
{
	uint64_t window = window_of(d);
	int err = parts_lines(d);

	*out = NULL;
	if (err)
		return err;
	struct memory *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	m->line_shift = (uint32_t)__builtin_ctz((uint32_t)d->cache_line);
	m->line_mask = (uint64_t)d->cache_line - 1;
	m->own_early = d->store_queue_prefetch;
	m->page_shift = (uint32_t)d->page_bits;
	m->page_mask = (1ull << d->page_bits) - 1;
	m->port.bytes = (uint32_t)d->l1d_bandwidth;
	m->stride_on = d->prefetch_l1_stride;
	m->next_on = d->prefetch_l1_next == 1;
	m->next_on_miss = d->prefetch_l1_next == 2;
	m->code_next = (uint32_t)d->prefetch_l1i_next;
	m->split_line = (uint64_t)d->split_line_latency;
	m->split_page = (uint64_t)d->split_page_latency;
	m->split_line_store = (uint64_t)d->split_line_store;
	m->split_page_store = (uint64_t)d->split_page_store;

	err = memory_l1_init(m, d, window);
	if (!err)
		err = memory_translation_init(m, d, window);
	if (!err)
		err = hierarchy_init(&m->below, d, window);
	if (err) {
		memory_free(m);
		return err;
	}
	*out = m;
	return 0;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	memory_l1_fini(m);
	memory_translation_fini(m);
	hierarchy_fini(&m->below);
	free(m);
}

void memory_tell_passing(struct memory *m, struct line_traffic *to)
{
	m->passing = to;
}

/* ---- accesses ---- */

/* The first cycle from `cycle` on in which L1D can deliver `bytes` more; takes them. */
static inline uint64_t take_port(struct port *p, uint64_t cycle, uint32_t bytes)
{
	for (;; cycle++) {
		uint64_t *used = &p->used[cycle % CACHE_PORT_WINDOW];
		uint64_t now = *used >> 16;

		if (now < cycle) {
			if (timeless(cycle))
				return cycle;
			*used = cycle << 16 | bytes;
			return cycle;
		}
		if (now > cycle)
			return cycle;  /* older than the window */
		if ((*used & 0xffff) + bytes <= p->bytes) {
			*used += bytes;
			return cycle;
		}
	}
}

/* A load of bytes that are all in one line. */
static inline void load_line(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc,
                             struct access *a)
{
	uint32_t offset = (uint32_t)(vaddr & m->line_mask);

	*a = (struct access){ 0 };
	uint64_t line = translate(m, &m->data, cycle, vaddr, a);
	uint64_t start = take_port(&m->port, a->tlb_done, bytes);
	uint64_t there = read_line(m, &m->data, start, line, offset, a);
	a->done = there > start + m->data.latency ? there : start + m->data.latency;

	if (m->next_on && next_line_train(&m->next_line, line, offset) && lines_left(m->line_shift, line))
		memory_prefetch_line(m, &m->data, start, line + 1);
	if (m->stride_on) {
		uint64_t next = stride_train(&m->stride, pc, vaddr);
		if (next && (next ^ vaddr) >> m->line_shift)
			memory_prefetch_line(m, &m->data, start,
			                     line + (next >> m->line_shift) - (vaddr >> m->line_shift));
	}
}

/* Ownership of the line of `vaddr`; done is the cycle it is there. Returns the line. */
static uint64_t own_line(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	*a = (struct access){ .write = true };
	uint64_t line = translate(m, &m->data, cycle, vaddr, a);
	a->done = read_line(m, &m->data, a->tlb_done, line, (uint32_t)(vaddr & m->line_mask), a);
	return line;
}

/*
 * A store whose address is known: translated; and its line requested, where the core does so before the store
 * drains.
 */
static void request_line(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	if (m->own_early) {
		own_line(m, cycle, vaddr, a);
		return;
	}
	*a = (struct access){ 0 };
	translate(m, &m->data, cycle, vaddr, a);
	a->done = a->tlb_done;
}

/*
 * Whether a store to the page has been translated before it is written. No address of a piece of a rep string was known
 * before.
 */
static bool translated(struct memory *m, uint64_t page)
{
	return tlb_at_hand(&m->data.tlb, page) || (m->second.entries && tlb_find(&m->second, page));
}

/*
 * A store that is written has been translated since its address was known, even where its page has left the first-level
 * TLB by now.
 */
static void store_line(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	uint64_t page = vaddr >> m->page_shift, line;

	*a = (struct access){ .tlb_done = cycle, .write = true };
	if (__builtin_expect(translated(m, page), 1))
		line = (tlb_frame(&m->data.tlb, &m->walker, page) << m->page_shift | (vaddr & m->page_mask)) >>
		       m->line_shift;
	else
		line = translate(m, &m->data, cycle, vaddr, a);
	a->done = read_line(m, &m->data, a->tlb_done, line, (uint32_t)(vaddr & m->line_mask), a);
	int64_t at = cache_find(&m->data.lines, line);

	if (at >= 0)
		m->data.lines.lines[at].dirty = true;
	a->done++;
}

enum kind { LOAD, STORE, OWN };

static void access_line(struct memory *m, enum kind kind, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc,
	struct access *a)
{
	switch (kind) {
	case LOAD:
		load_line(m, cycle, vaddr, bytes, pc, a);
		break;
	case STORE:
		store_line(m, cycle, vaddr, a);
		break;
	case OWN:
		request_line(m, cycle, vaddr, a);
		break;
	}
}

/* An access to several lines: all start together, the last to be done counts. Returns whether a page is crossed. */
static __attribute__((noinline)) bool access_lines(struct memory *m, enum kind kind, uint64_t cycle, uint64_t vaddr,
	uint32_t bytes, uint64_t pc, struct access *a)
{
	bool crosses = (vaddr ^ (vaddr + bytes - 1)) >> m->page_shift;

	*a = (struct access){ 0 };
	while (bytes) {
		uint32_t left = (uint32_t)(m->line_mask + 1 - (vaddr & m->line_mask)), n = bytes < left ? bytes : left;
		struct access part;

		access_line(m, kind, cycle, vaddr, n, pc, &part);
		if (part.done > a->done) {
			a->done = part.done;
			a->level = part.level;
		}
		a->tlb_done = part.tlb_done > a->tlb_done ? part.tlb_done : a->tlb_done;
		a->mshr_wait = part.mshr_wait > a->mshr_wait ? part.mshr_wait : a->mshr_wait;
		a->l1_miss |= part.l1_miss;
		a->tlb_miss |= part.tlb_miss;
		a->tlb_merged |= part.tlb_merged;
		a->llc_miss |= part.llc_miss;
		vaddr += n;
		bytes -= n;
	}
	return crosses;
}

static inline bool splits(const struct memory *m, uint64_t vaddr, uint32_t bytes)
{
	return __builtin_expect((vaddr & m->line_mask) + bytes > m->line_mask + 1, 0);
}

void memory_load(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct access *a)
{
	if (splits(m, vaddr, bytes)) {
		bool crosses = access_lines(m, LOAD, cycle, vaddr, bytes, pc, a);
		a->done += crosses ? m->split_page : m->split_line;
		return;
	}
	load_line(m, cycle, vaddr, bytes, pc, a);
}

void memory_store(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, struct access *a)
{
	if (splits(m, vaddr, bytes)) {
		bool crosses = access_lines(m, STORE, cycle, vaddr, bytes, 0, a);
		a->done += crosses ? m->split_page_store : m->split_line_store;
		return;
	}
	store_line(m, cycle, vaddr, a);
}

void memory_own(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, struct access *a)
{
	if (splits(m, vaddr, bytes))
		access_lines(m, OWN, cycle, vaddr, bytes, 0, a);
	else
		request_line(m, cycle, vaddr, a);
}

static void wrong_line(struct memory *m, uint64_t cycle, uint64_t until, uint64_t vaddr, bool store, struct access *a)
{
	*a = (struct access){ 0 };
	uint64_t line = translate(m, &m->data, cycle, vaddr, a), start = a->tlb_done;
	uint64_t latency = store ? 0 : m->data.latency;

	a->done = UINT64_MAX;
	if (start >= until)
		return;
	if (store && !m->own_early) {
		a->done = start;
		return;
	}
	int64_t at = cache_access(&m->data.lines, line);
	if (__builtin_expect(at >= 0 && m->data.lines.lines[at].fill <= start, 1)) {
		a->level = LEVEL_L1;
		a->done = start + latency;
		return;
	}
	if (at < 0 && !m->data.ideal && mshr_find(&m->data.mshr, start, 1) >= until) {
		a->l1_miss = true;
		return;
	}
	uint64_t there = memory_read_slow(m, &m->data, start, line, (uint32_t)(vaddr & m->line_mask), at, a);
	a->done = later(there, start + latency);
}

void memory_wrong(struct memory *m, uint64_t cycle, uint64_t until, uint64_t vaddr, uint32_t bytes, bool store,
                  struct access *a)
{
	wrong_line(m, cycle, until, vaddr, store, a);
	if (splits(m, vaddr, bytes)) {
		struct access rest;

		wrong_line(m, cycle, until, (vaddr | m->line_mask) + 1, store, &rest);
		a->done = later(a->done, rest.done);
		a->level = rest.level > a->level ? rest.level : a->level;
		a->l1_miss |= rest.l1_miss;
		a->tlb_miss |= rest.tlb_miss;
		a->tlb_merged |= rest.tlb_merged;
		a->llc_miss |= rest.llc_miss;
	}
}

void memory_fetch(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	*a = (struct access){ 0 };
	uint64_t line = translate(m, &m->code, cycle, vaddr, a);
	uint64_t there = read_line(m, &m->code, a->tlb_done, line, 0, a);
	a->done = there > a->tlb_done + m->code.latency ? there : a->tlb_done + m->code.latency;
}

void memory_prefetch(struct memory *m, uint64_t cycle, uint64_t vaddr, bool code)
{
	struct access nobody = { 0 };

	if (code) {
		uint64_t line = translate(m, &m->code, cycle, vaddr, &nobody);
		memory_prefetch_line(m, &m->code, nobody.tlb_done, line);
	} else {
		own_line(m, cycle, vaddr, &nobody);
	}
}

void memory_suppose(struct memory *m, bool code, uint16_t never)
{
	struct l1 *l = code ? &m->code : &m->data;
	bool far = never & PSV_ST_LLC && !code;

	/* With nothing between L1 and memory, what does not come from there is in L1. */
	l->supposed_hit = never & (code ? PSV_DR_L1 : PSV_ST_L1) || (far && !m->below.nr);
	l->supposed_near = far && m->below.nr;
	l->supposed_translated = never & (code ? PSV_DR_TLB : PSV_ST_TLB);
}
