/*
 * The memory system as the pipeline sees it: translation, the two L1 caches with their miss registers and
 * prefetchers, splits over lines and pages. What is behind L1 is hierarchy.c's.
 *
 * Conventions of time. An access starts at a cycle; a translation that hits costs nothing beside it, one that does
 * not puts the whole access off until it is known. A miss takes a miss register at the start, and a line is usable by
 * whoever waits for it in the cycle of its fill.
 *
 * The common case, both translation and line where they were found last, is inlined; all else is out of line.
 *
 * Not modelled: ports of L1 (the pipeline's are the limit; l1d.bandwidth, of all its banks, bounds the bytes that
 * loads read in a cycle), conflicts of its banks, virtual aliases, self-modifying code, what it costs to take an
 * evicted line out of L1; prefetchers of L1 learn nothing from the wrong path, which is to be run again where it joins the
 * right one.
 */
#include "core/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/cycle.h"
#include "core/hierarchy.h"
#include "core/tlb.h"

enum { PORT_WINDOW = 2048 };

/* Bytes that loads have read from L1D, by cycle: cycle << 16 | bytes. */
struct port {
	uint64_t used[PORT_WINDOW];
	uint32_t bytes;        /* a cycle */
};

struct l1 {
	struct cache lines;
	struct mshr mshr;
	uint64_t latency;
	enum reader reader;
	bool ideal, ideal_tlb;
	bool supposed_hit, supposed_near, supposed_translated; /* of the access in hand: memory_suppose() */
	struct tlb tlb;
};

struct memory {
	uint32_t line_shift, page_shift;
	uint64_t line_mask, page_mask;
	struct l1 data, code;
	struct port port;
	struct stride stride;
	struct next_line next_line;
	bool stride_on, next_on, next_on_miss;
	bool own_early;        /* store_queue.prefetch */
	uint32_t code_next;    /* lines */
	uint64_t split_line, split_page, split_line_store, split_page_store; /* cycles */

	struct hierarchy below;
	struct tlb second;     /* entries: NULL where there is none */
	uint64_t second_latency;
	struct walker walker;
	struct mshr walks;
	uint64_t walk_overhead;
	bool walk_below;       /* its loads start at L2, not at L1D */
};

/* ---- set-up ---- */

/* Cycles that timetables keep: what may lie between a load and the drain of an older store, and several of the longest waits. */
static uint64_t window_of(const struct core_desc *d)
{
	int64_t ns = (int64_t)d->dram_latency_ns + d->dram_cas_ns + d->dram_rcd_ns + d->dram_rp_ns;
	uint64_t longest = (uint64_t)(d->llc_latency + d->l2_latency + ns * d->clock_mhz / 1000);
	return 20000 + 8 * longest;
}

static int check_lines(const struct core_desc *d)
{
	int32_t line = d->l1d_line;

	if (line & (line - 1))
		return error_set(EINVAL, "l1d.line", "%d is not a power of two", line);
	if (d->l1i_line != line || (d->l2_size && d->l2_line != line) || (d->llc_size && d->llc_line != line))
		return error_set(EINVAL, "l1d.line", "all caches must have lines of one size");
	return 0;
}

static int set_up_tlb(struct tlb *t, const char *name, int32_t entries, int32_t ways)
{
	if (entries < ways)
		return error_set(EINVAL, name, "a TLB of %d entries has no set of %d", entries, ways);
	return tlb_init(t, (uint32_t)entries, (uint32_t)ways);
}

struct l1_desc {
	const char *name, *tlb_name; /* of their groups of parameters */
	const char *replacement;
	int32_t size, ways, line, latency, mshrs, tlb_entries, tlb_ways;
	bool ideal, ideal_tlb;
};

static int l1_init(struct l1 *l, const struct l1_desc *p, enum reader reader, uint64_t window)
{
	enum replacement policy;
	int err = replacement_parse(&policy, p->replacement, p->name);

	if (err)
		return err;
	if (p->size < p->ways * p->line)
		return error_set(EINVAL, p->name, "%d bytes are less than one set of %d lines", p->size, p->ways);
	l->latency = (uint64_t)p->latency;
	l->reader = reader;
	l->ideal = p->ideal;
	l->ideal_tlb = p->ideal_tlb;
	err = cache_init(&l->lines, (uint32_t)(p->size / (p->ways * p->line)), (uint32_t)p->ways, policy);
	if (!err)
		err = mshr_init(&l->mshr, (uint32_t)p->mshrs, window);
	if (!err)
		err = set_up_tlb(&l->tlb, p->tlb_name, p->tlb_entries, p->tlb_ways);
	return err;
}

static void l1_fini(struct l1 *l)
{
	cache_fini(&l->lines);
	mshr_fini(&l->mshr);
	tlb_fini(&l->tlb);
}

static int translation_init(struct memory *m, const struct core_desc *d, uint64_t window)
{
	int err = 0;

	if (d->stlb_entries)
		err = set_up_tlb(&m->second, "stlb", d->stlb_entries, d->stlb_ways);
	m->second_latency = (uint64_t)d->stlb_latency;
	m->walk_overhead = (uint64_t)d->walk_overhead;
	m->walk_below = d->l2_size;
	if (!err)
		err = mshr_init(&m->walks, (uint32_t)d->walk_walkers, window);
	if (!err)
		err = page_walker_init(&m->walker, (uint32_t)d->walk_levels, (uint32_t)d->walk_cached, (uint32_t)d->page_bits,
			(uint32_t)d->page_colour_seed);
	return err;
}

int memory_new(struct memory **out, const struct core_desc *d)
{
#define L1(group, tlb, ideal_, ideal_tlb_) { .name = #group, .tlb_name = #tlb, .replacement = d->group##_replacement, \
	.size = d->group##_size, .ways = d->group##_ways, .line = d->group##_line, .latency = d->group##_latency, \
	.mshrs = d->group##_mshrs, .tlb_entries = d->tlb##_entries, .tlb_ways = d->tlb##_ways, \
	.ideal = d->ideal.ideal_, .ideal_tlb = d->ideal.ideal_tlb_ }
	const struct l1_desc data = L1(l1d, dtlb, l1d, dtlb), code = L1(l1i, itlb, l1i, itlb);
#undef L1
	uint64_t window = window_of(d);
	int err = check_lines(d);

	*out = NULL;
	if (err)
		return err;
	struct memory *m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	m->line_shift = (uint32_t)__builtin_ctz((uint32_t)d->l1d_line);
	m->line_mask = (uint64_t)d->l1d_line - 1;
	m->own_early = d->store_queue_prefetch;
	m->page_shift = (uint32_t)d->page_bits;
	m->page_mask = (1ull << d->page_bits) - 1;
	m->port.bytes = (uint32_t)(d->l1d_bandwidth * d->l1d_banks);
	m->stride_on = d->prefetch_l1_stride;
	m->next_on = d->prefetch_l1_next;
	m->next_on_miss = d->prefetch_l1_next_miss;
	m->code_next = (uint32_t)d->prefetch_l1i_next;
	m->split_line = (uint64_t)d->split_line_latency;
	m->split_page = (uint64_t)d->split_page_latency;
	m->split_line_store = (uint64_t)d->split_line_store;
	m->split_page_store = (uint64_t)d->split_page_store;
	next_line_init(&m->next_line);

	err = l1_init(&m->data, &data, READ_DATA, window);
	if (!err)
		err = l1_init(&m->code, &code, READ_CODE, window);
	if (!err)
		err = translation_init(m, d, window);
	if (!err)
		err = stride_init(&m->stride, (uint32_t)d->prefetch_l1_stride, (uint32_t)d->prefetch_l1_stride_bytes);
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
	l1_fini(&m->data);
	l1_fini(&m->code);
	hierarchy_fini(&m->below);
	stride_fini(&m->stride);
	tlb_fini(&m->second);
	mshr_fini(&m->walks);
	page_walker_fini(&m->walker);
	free(m);
}

/* ---- L1 ---- */

/* `line` is absent: asks for it at `cycle`, waiting for a miss register. The cycle it is there. */
static uint64_t fetch_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, struct access *a)
{
	uint64_t from = mshr_find(&l->mshr, cycle, 1);
	struct cache_victim victim;
	struct reply r;

	if (l->supposed_near)
		hierarchy_read_near(&m->below, from, line, l->reader, &r);
	else
		hierarchy_read(&m->below, from, line, l->reader, &r);
	uint64_t held = mshr_hold(&l->mshr, from, r.fill - from);
	uint64_t fill = r.fill + (held - from);
	a->mshr_wait = held - cycle;
	a->level = r.pending ? LEVEL_FILL_BUFFER : r.from;
	a->llc_miss = r.from == LEVEL_MEMORY;
	a->l1_miss = true;

	uint64_t at = cache_insert(&l->lines, line, &victim);
	l->lines.lines[at] = (struct cache_line){
		.fill = fill, .wait = (uint32_t)(fill - cycle), .from = (uint8_t)r.from, .dirty = r.dirty,
	};
	if (victim.line != CACHE_EMPTY)
		hierarchy_write(&m->below, fill, victim.line, victim.dirty);
	return fill;
}

/* Lines of the 4 KiB page that follow `line`. */
static uint64_t lines_left(const struct memory *m, uint64_t line)
{
	uint64_t page_lines = 1ull << (PREFETCH_PAGE_BITS - m->line_shift);
	return page_lines - 1 - (line & (page_lines - 1));
}

/* Dropped where the line is there or on its way, or no miss register is free. */
static void prefetch_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line)
{
	struct access nobody;

	if (l->ideal || cache_find(&l->lines, line) >= 0 || !mshr_free(&l->mshr, cycle, 0))
		return;
	fetch_line(m, l, cycle, line, &nobody);
	if (l->reader == READ_DATA)
		next_line_filled(&m->next_line, line, UINT32_MAX);
}

/* `line` is supposed to be there, which it is not, or not yet where it is on its way, at `at`. */
static uint64_t read_supposed(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, int64_t at, struct access *a)
{
	struct cache_victim victim;

	a->level = LEVEL_L1;
	if (at >= 0) {
		l->lines.lines[at].fill = cycle;
		return cycle;
	}
	cache_insert(&l->lines, line, &victim);
	if (victim.line != CACHE_EMPTY)
		hierarchy_write(&m->below, cycle, victim.line, victim.dirty);
	return cycle;
}

/* A line on its way is supposed to come from the level behind L1, asked for at `cycle`, where it comes from memory. */
static void bring_near(const struct memory *m, struct cache_line *here, uint64_t cycle)
{
	const struct lower *near = &m->below.lower[0];

	if (here->from != LEVEL_MEMORY)
		return;
	here->from = (uint8_t)near->name;
	here->fill = here->fill < cycle + near->latency ? here->fill : cycle + near->latency;
}

/* `line` is not there at `cycle`; it may be on its way, at `at`. The cycle it is there. */
static __attribute__((noinline)) uint64_t read_slow(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line,
	uint32_t offset, int64_t at, struct access *a)
{
	if (l->ideal) {
		a->level = LEVEL_L1;
		return cycle;
	}
	if (l->supposed_hit)
		return read_supposed(m, l, cycle, line, at, a);
	if (at >= 0) {
		struct cache_line *here = &l->lines.lines[at];
		if (l->supposed_near)
			bring_near(m, here, cycle);
		bool own = line_claim(here, cycle);
		a->level = own ? (enum level)here->from : LEVEL_FILL_BUFFER;
		a->llc_miss = here->from == LEVEL_MEMORY;
		a->l1_miss = true;
		return here->fill;
	}
	uint64_t fill = fetch_line(m, l, cycle, line, a);
	uint64_t next = l->reader == READ_CODE ? m->code_next : m->next_on_miss, left = lines_left(m, line);
	for (uint64_t i = 1; i <= next && i <= left; i++)
		prefetch_line(m, l, cycle, line + i);
	if (l->reader == READ_DATA)
		next_line_filled(&m->next_line, line, offset);
	return fill;
}

/* The cycle `line` is there for an access that starts at `cycle`: that cycle itself on a hit. */
static inline uint64_t read_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, uint32_t offset,
	struct access *a)
{
	int64_t at = cache_access(&l->lines, line);

	if (__builtin_expect(at >= 0 && l->lines.lines[at].fill <= cycle, 1)) {
		a->level = LEVEL_L1;
		return cycle;
	}
	return read_slow(m, l, cycle, line, offset, at, a);
}

/* ---- translation ---- */

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
			uint64_t there = read_line(m, &m->data, t, line, (uint32_t)(address[i] & m->line_mask), &nobody);
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

/* A first-level TLB asks at `cycle`; the cycle the translation is known. */
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
	e->ready = ready;
	e->wait = ready - known;
	return ready;
}

static __attribute__((noinline)) struct tlb_entry *translate_slow(struct memory *m, struct l1 *l, uint64_t cycle,
	uint64_t page, struct tlb_entry *e, struct access *a)
{
	bool known = l->ideal_tlb || l->supposed_translated;

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
	a->tlb_done = known ? cycle : merge_walk(e, cycle);
	return e;
}

/* The physical line of `vaddr` for an access that starts at `cycle`; sets tlb_done and tlb_miss. */
static inline uint64_t translate(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	uint64_t page = vaddr >> m->page_shift;
	struct tlb_entry *e = tlb_find(&l->tlb, page);

	a->tlb_done = cycle;
	if (__builtin_expect(!e || e->ready > cycle, 0))
		e = translate_slow(m, l, cycle, page, e, a);
	return (e->frame << m->page_shift | (vaddr & m->page_mask)) >> m->line_shift;
}

/* ---- accesses ---- */

/* The first cycle from `cycle` on in which L1D can deliver `bytes` more; takes them. */
static inline uint64_t take_port(struct port *p, uint64_t cycle, uint32_t bytes)
{
	for (;; cycle++) {
		uint64_t *used = &p->used[cycle % PORT_WINDOW];
		uint64_t now = *used >> 16;

		if (now < cycle) {
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
static inline void load_line(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct access *a)
{
	uint32_t offset = (uint32_t)(vaddr & m->line_mask);

	*a = (struct access){ 0 };
	uint64_t line = translate(m, &m->data, cycle, vaddr, a);
	uint64_t start = take_port(&m->port, a->tlb_done, bytes);
	uint64_t there = read_line(m, &m->data, start, line, offset, a);
	a->done = there > start + m->data.latency ? there : start + m->data.latency;

	if (m->next_on && next_line_train(&m->next_line, line, offset) && lines_left(m, line))
		prefetch_line(m, &m->data, start, line + 1);
	if (m->stride_on) {
		uint64_t next = stride_train(&m->stride, pc, vaddr);
		if (next && (next ^ vaddr) >> m->line_shift)
			prefetch_line(m, &m->data, start, line + (next >> m->line_shift) - (vaddr >> m->line_shift));
	}
}

/* Ownership of the line of `vaddr`; done is the cycle it is there. Returns the line. */
static uint64_t own_line(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	*a = (struct access){ 0 };
	uint64_t line = translate(m, &m->data, cycle, vaddr, a);
	a->done = read_line(m, &m->data, a->tlb_done, line, (uint32_t)(vaddr & m->line_mask), a);
	return line;
}

/* A store whose address is known: translated; and its line requested, where the core does so before the store drains. */
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

static void store_line(struct memory *m, uint64_t cycle, uint64_t vaddr, struct access *a)
{
	uint64_t line = own_line(m, cycle, vaddr, a);
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

void memory_store(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct access *a)
{
	if (splits(m, vaddr, bytes)) {
		bool crosses = access_lines(m, STORE, cycle, vaddr, bytes, pc, a);
		a->done += crosses ? m->split_page_store : m->split_line_store;
		return;
	}
	store_line(m, cycle, vaddr, a);
}

void memory_own(struct memory *m, uint64_t cycle, uint64_t vaddr, uint32_t bytes, uint64_t pc, struct access *a)
{
	if (splits(m, vaddr, bytes))
		access_lines(m, OWN, cycle, vaddr, bytes, pc, a);
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
	uint64_t there = read_slow(m, &m->data, start, line, (uint32_t)(vaddr & m->line_mask), at, a);
	a->done = later(there, start + latency);
}

void memory_wrong(struct memory *m, uint64_t cycle, uint64_t until, uint64_t vaddr, uint32_t bytes, bool store, struct access *a)
{
	wrong_line(m, cycle, until, vaddr, store, a);
	if (splits(m, vaddr, bytes)) {
		struct access rest;

		wrong_line(m, cycle, until, (vaddr | m->line_mask) + 1, store, &rest);
		a->done = later(a->done, rest.done);
		a->level = rest.level > a->level ? rest.level : a->level;
		a->l1_miss |= rest.l1_miss;
		a->tlb_miss |= rest.tlb_miss;
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
		prefetch_line(m, &m->code, nobody.tlb_done, line);
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

void memory_unmap(struct memory *m, uint64_t vaddr, uint64_t pages)
{
	if (!pages)
		return;
	uint64_t from = vaddr >> m->page_shift, to = (vaddr + pages * 4096 - 1) >> m->page_shift;

	tlb_drop(&m->data.tlb, from, to);
	tlb_drop(&m->code.tlb, from, to);
	if (m->second.entries)
		tlb_drop(&m->second, from, to);
	page_walker_flush(&m->walker);
}
