#include "core/gus/memory.h"

#include "core/cache/parts.h"

/* --- set-up ------------------------------------------------------------------------------------------ */

static int lower_set_up(struct outcome_memory *m, const struct core_desc *d)
{
	const struct {
		const char *name, *replacement;
		enum level level;
		int32_t size, ways;
		bool victim;
	} levels[] = {
		{ "l2", d->l2_replacement, LEVEL_L2, d->l2_size, d->l2_ways, false },
		{ "llc", d->llc_replacement, LEVEL_LLC, d->llc_size, d->llc_ways, d->llc_victim },
	};
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		if (!levels[i].size)
			continue;
		struct outcome_lower *l = &m->lower[m->nr++];
		l->name = levels[i].level;
		l->victim = levels[i].victim;
		err = parts_cache(&l->lines, levels[i].name, levels[i].replacement, levels[i].size, levels[i].ways,
		                  d->cache_line);
	}
	return err;
}

int outcome_memory_init(struct outcome_memory *m, const struct core_desc *d)
{
	int32_t line = d->cache_line;
	int err;

	*m = (struct outcome_memory){
		.page_shift = (unsigned)d->page_bits, .stride_on = d->prefetch_l1_stride,
		.next_on = d->prefetch_l1_next == 1, .next_on_miss = d->prefetch_l1_next == 2,
		.adjacent = d->prefetch_l2_adjacent, .code_next = (unsigned)d->prefetch_l1i_next,
		.data = { .ideal = d->ideal.l1d, .ideal_tlb = d->ideal.dtlb, .ideal_below = d->ideal.l2d },
		.code = { .ideal = d->ideal.l1i, .ideal_tlb = d->ideal.itlb, .ideal_below = d->ideal.l2i },
	};
	err = parts_lines(d);
	if (err)
		return err;
	m->line_shift = (unsigned)__builtin_ctz((unsigned)line);
	next_line_init(&m->next_line);
	err = parts_cache(&m->data.lines, "l1d", d->l1d_replacement, d->l1d_size, d->l1d_ways, line);
	if (!err)
		err = parts_cache(&m->code.lines, "l1i", d->l1i_replacement, d->l1i_size, d->l1i_ways, line);
	if (!err)
		err = lower_set_up(m, d);
	if (!err)
		err = parts_tlb(&m->data.tlb, "dtlb", d->dtlb_entries, d->dtlb_ways);
	if (!err)
		err = parts_tlb(&m->code.tlb, "itlb", d->itlb_entries, d->itlb_ways);
	if (!err && d->stlb_entries)
		err = parts_tlb(&m->second, "stlb", d->stlb_entries, d->stlb_ways);
	if (!err)
		err = page_walker_init(&m->walker, (uint32_t)d->walk_levels, (uint32_t)d->walk_cached,
		                       (uint32_t)d->page_bits,
		                       (uint32_t)d->page_colour_seed);
	if (!err)
		err = stride_init(&m->stride, (uint32_t)d->prefetch_l1_stride, STRIDE_LONGEST);
	if (!err)
		err = streamer_init(&m->streamer, m->nr ? (uint32_t)d->prefetch_l2_stream : 0,
		                    (uint32_t)d->prefetch_l2_stream_ahead,
		                    STREAM_DEGREE, (uint32_t)line);
	return err;
}

void outcome_memory_fini(struct outcome_memory *m)
{
	cache_fini(&m->data.lines);
	cache_fini(&m->code.lines);
	tlb_fini(&m->data.tlb);
	tlb_fini(&m->code.tlb);
	for (unsigned i = 0; i < m->nr; i++)
		cache_fini(&m->lower[i].lines);
	tlb_fini(&m->second);
	page_walker_fini(&m->walker);
	stride_fini(&m->stride);
	streamer_fini(&m->streamer);
}

/* --- behind L1 --------------------------------------------------------------------------------------- */

static void write_at(struct outcome_memory *m, unsigned depth, uint64_t line, bool dirty, struct outcome_stream *out);

static void install(struct outcome_memory *m, unsigned depth, uint64_t line, bool dirty, uint64_t *at,
                    struct outcome_stream *out)
{
	struct outcome_lower *l = &m->lower[depth];
	struct cache_victim victim;

	*at = cache_insert(&l->lines, line, &victim);
	l->lines.lines[*at].dirty = dirty;
	if (victim.line != CACHE_EMPTY)
		write_at(m, depth + 1, victim.line, victim.dirty, out);
}

/* An evicted line comes down to level `depth`. */
static void write_at(struct outcome_memory *m, unsigned depth, uint64_t line, bool dirty, struct outcome_stream *out)
{
	struct outcome_word w = { .kind = OUTCOME_WRITE, .level = LEVEL_MEMORY };
	uint64_t at;

	if (depth < m->nr)
		w.level = (uint8_t)m->lower[depth].name;
	if (!dirty && (depth == m->nr || !m->lower[depth].victim))
		return;
	outcome_push(out, outcome_pack(&w));
	if (depth == m->nr)
		return;
	int64_t found = cache_find(&m->lower[depth].lines, line);
	if (found >= 0)
		m->lower[depth].lines.lines[found].dirty |= dirty;
	else
		install(m, depth, line, dirty, &at, out);
}

/* The level above `depth` asks for `line`: who has it. *slot: where it is in the level behind L1 then, + 1. */
static enum level read_at(struct outcome_memory *m, unsigned depth, uint64_t line, bool *dirty, uint32_t *slot,
                          struct outcome_stream *out)
{
	*dirty = false;
	if (depth == m->nr)
		return LEVEL_MEMORY;

	struct outcome_lower *l = &m->lower[depth];
	int64_t found = cache_access(&l->lines, line);
	uint64_t at;
	if (found >= 0) {
		if (depth == 0)
			*slot = (uint32_t)found + 1;
		if (l->victim) {
			*dirty = l->lines.lines[found].dirty;
			cache_drop(&l->lines, (uint64_t)found);
		}
		return l->name;
	}
	enum level from = read_at(m, depth + 1, line, dirty, slot, out);
	if (!l->victim) {
		install(m, depth, line, *dirty, &at, out);
		if (depth == 0)
			*slot = (uint32_t)at + 1;
		*dirty = false;
	}
	return from;
}

static void prefetch_below(struct outcome_memory *m, uint64_t line, struct outcome_stream *out)
{
	uint32_t slot = 0;
	uint64_t at;
	bool dirty;

	if (!m->nr || cache_find(&m->lower[0].lines, line) >= 0)
		return;
	enum level from = read_at(m, 1, line, &dirty, &slot, out);
	install(m, 0, line, dirty, &at, out);
	struct outcome_word w = { .kind = OUTCOME_FILL_L2, .level = (uint8_t)from, .slot2 = (uint32_t)at + 1 };
	outcome_push(out, outcome_pack(&w));
}

/* What the prefetchers behind L1 ask for after a request for `line` that `from` answered. */
static void train_below(struct outcome_memory *m, uint64_t line, enum level from, struct outcome_stream *out)
{
	uint64_t ahead[STREAM_DEGREE];

	if (!m->nr)
		return;
	if (m->adjacent && from != m->lower[0].name)
		prefetch_below(m, line ^ 1, out);
	uint32_t n = streamer_train(&m->streamer, line, ahead);
	for (uint32_t i = 0; i < n; i++)
		prefetch_below(m, ahead[i], out);
}

/* --- L1 ---------------------------------------------------------------------------------------------- */

/* `line`, absent from `l`, comes there; returns its slot. */
static uint64_t fill_l1(struct outcome_memory *m, struct outcome_l1 *l, uint64_t line, enum level *from,
                        uint32_t *slot2, struct outcome_stream *out)
{
	struct cache_victim victim;
	bool dirty = false;

	*slot2 = 0;
	*from = l->ideal_below && m->nr ? m->lower[0].name : read_at(m, 0, line, &dirty, slot2, out);
	uint64_t at = cache_insert(&l->lines, line, &victim);
	l->lines.lines[at].dirty = dirty;
	if (victim.line != CACHE_EMPTY)
		write_at(m, 0, victim.line, victim.dirty, out);
	return at;
}

static void prefetch_l1(struct outcome_memory *m, struct outcome_l1 *l, uint64_t line, struct outcome_stream *out)
{
	struct outcome_word w = { .kind = OUTCOME_FILL_L1 };
	enum level from;

	if (l->ideal || cache_find(&l->lines, line) >= 0)
		return;
	w.slot = (uint16_t)fill_l1(m, l, line, &from, &w.slot2, out);
	w.level = (uint8_t)from;
	if (l == &m->data) {
		next_line_filled(&m->next_line, line, UINT32_MAX);
		outcome_push(out, outcome_pack(&w));
	} else {
		l->lines.lines[w.slot].from = w.level; /* who wants it first may find it on its way still */
	}
	train_below(m, line, from, out);
}

/* The same for a demand access: its level and slots. */
static void fill_l1_for(struct outcome_memory *m, struct outcome_l1 *l, uint64_t line, uint32_t offset,
                        struct outcome_word *w, struct outcome_stream *out)
{
	enum level from;

	w->slot = (uint16_t)fill_l1(m, l, line, &from, &w->slot2, out);
	w->level = (uint8_t)from;
	if (l == &m->data)
		next_line_filled(&m->next_line, line, offset);
}

/* What an access that missed makes the prefetchers do; behind its own word. */
static void after_miss(struct outcome_memory *m, struct outcome_l1 *l, uint64_t line, enum level from,
                       struct outcome_stream *out)
{
	uint64_t next = l == &m->code ? m->code_next : m->next_on_miss, left = lines_left(m->line_shift, line);

	if (!l->ideal_below)
		train_below(m, line, from, out);
	for (uint64_t i = 1; i <= next && i <= left; i++)
		prefetch_l1(m, l, line + i, out);
}

/* --- translation ------------------------------------------------------------------------------------- */

static void walk(struct outcome_memory *m, uint64_t page, struct outcome_stream *out)
{
	struct outcome_word w = { .kind = OUTCOME_WALK };
	uint64_t address[WALK_MAX_LEVELS];
	uint32_t n = page_walker_plan(&m->walker, page, address), slot;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t line = address[i] >> m->line_shift;
		enum level from = LEVEL_L1;
		bool dirty;

		if (m->nr)
			from = read_at(m, 0, line, &dirty, &slot, out);
		else if (cache_access(&m->data.lines, line) < 0)
			fill_l1(m, &m->data, line, &from, &slot, out);
		w.level = (uint8_t)(w.level + (from == LEVEL_L2 || from == LEVEL_L1));
		w.slot = (uint16_t)(w.slot + (from == LEVEL_LLC));
		w.distance = (uint16_t)(w.distance + (from == LEVEL_MEMORY));
	}
	outcome_push(out, outcome_pack(&w));
}

static struct tlb_entry *translate_slow(struct outcome_memory *m, struct outcome_l1 *l, uint64_t page,
                                        enum outcome_tlb *how, struct outcome_stream *out)
{
	struct tlb_entry *e;

	if (!l->ideal_tlb) {
		*how = TLB_SECOND;
		if (!m->second.entries || !tlb_find(&m->second, page)) {
			*how = TLB_WALK;
			walk(m, page, out);
			if (m->second.entries)
				tlb_insert(&m->second, page);
		}
	}
	e = tlb_insert(&l->tlb, page);
	e->frame = page_walker_frame(&m->walker, page);
	return e;
}

static inline struct tlb_entry *translate(struct outcome_memory *m, struct outcome_l1 *l, uint64_t vaddr,
                                          enum outcome_tlb *how, struct outcome_stream *out)
{
	uint64_t page = vaddr >> m->page_shift;
	struct tlb_entry *e = tlb_find(&l->tlb, page);

	*how = TLB_HIT;
	if (__builtin_expect(!e, 0))
		e = translate_slow(m, l, page, how, out);
	return e;
}

static inline uint64_t physical_line(const struct outcome_memory *m, const struct tlb_entry *e, uint64_t vaddr)
{
	return (e->frame << m->page_shift | (vaddr & ((1ull << m->page_shift) - 1))) >> m->line_shift;
}

/* --- accesses ---------------------------------------------------------------------------------------- */

/* A line that L1D lacks, or that an ideal one need not look for: the access's level and slots. */
static __attribute__((noinline)) uint64_t access_miss(struct outcome_memory *m, uint64_t line, uint32_t offset,
                                                      struct outcome_stream *out)
{
	struct outcome_word w = { .level = LEVEL_L1, .slot = UINT16_MAX };

	if (!m->data.ideal)
		fill_l1_for(m, &m->data, line, offset, &w, out);
	return outcome_pack(&w);
}

/* What a load of `line` makes L1D's own prefetchers do. */
static inline void train(struct outcome_memory *m, uint64_t line, uint64_t vaddr, uint64_t pc,
                         struct outcome_stream *out)
{
	uint32_t offset = (uint32_t)vaddr & ((1u << m->line_shift) - 1);

	if (m->next_on && next_line_train(&m->next_line, line, offset) && lines_left(m->line_shift, line))
		prefetch_l1(m, &m->data, line + 1, out);
	if (m->stride_on) {
		uint64_t next = stride_train(&m->stride, pc, vaddr);
		if (next && (next ^ vaddr) >> m->line_shift)
			prefetch_l1(m, &m->data, line + (next >> m->line_shift) - (vaddr >> m->line_shift), out);
	}
}

static inline void access_line(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint64_t pc,
                               enum outcome_split split, struct outcome_stream *out)
{
	uint32_t offset = (uint32_t)vaddr & ((1u << m->line_shift) - 1);
	enum outcome_tlb tlb;
	const struct tlb_entry *page = translate(m, &m->data, vaddr, &tlb, out);
	const uint64_t line = physical_line(m, page, vaddr);
	const int64_t found = cache_access(&m->data.lines, line);
	const enum outcome_kind kind = outcome_kind(what);
	uint64_t word = what | (uint64_t)split << 10;

	if (__builtin_expect(tlb != TLB_HIT, 0))
		word = (word & ~OUTCOME_SIMPLE) | (uint64_t)tlb << 8;
	if (__builtin_expect(found >= 0, 1))
		word |= LEVEL_L1 << 4 | (uint64_t)(uint16_t)found << 24;
	else
		word |= access_miss(m, line, offset, out);
	if (kind == OUTCOME_STORE && outcome_slot(word) != UINT16_MAX)
		m->data.lines.lines[outcome_slot(word)].dirty = true;
	outcome_push(out, word);
	if (__builtin_expect(outcome_level(word) != LEVEL_L1, 0))
		after_miss(m, &m->data, line, outcome_level(word), out);
	if (kind != OUTCOME_STORE && kind != OUTCOME_SOFT)
		train(m, line, vaddr, pc, out);
}

/* One that crosses lines. */
static __attribute__((noinline)) void access_lines(struct outcome_memory *m, uint64_t what, uint64_t vaddr,
                                                   uint64_t last, uint64_t pc, struct outcome_stream *out)
{
	const enum outcome_kind kind = outcome_kind(what);
	const uint64_t size = 1ull << m->line_shift;
	const uint64_t further = outcome_access_word(kind, kind == OUTCOME_STORE ? OUTCOME_FURTHER : 0, false);

	access_line(m, what & ~OUTCOME_SIMPLE, vaddr, pc, (vaddr ^ last) >> m->page_shift ? SPLIT_PAGE : SPLIT_LINE,
	            out);
	for (uint64_t at = (vaddr & ~(size - 1)) + size; at <= last; at += size)
		access_line(m, further, at, pc, SPLIT_NONE, out);
}

void outcome_access(struct outcome_memory *m, uint64_t what, uint64_t vaddr, uint32_t bytes, uint64_t pc,
                    struct outcome_stream *out)
{
	uint64_t last = vaddr + bytes - 1;

	if (__builtin_expect((vaddr ^ last) >> m->line_shift == 0, 1))
		access_line(m, what, vaddr, pc, SPLIT_NONE, out);
	else
		access_lines(m, what, vaddr, last, pc, out);
}

void outcome_fetch(struct outcome_memory *m, uint64_t vaddr, struct outcome_stream *out)
{
	struct outcome_word w = { .kind = OUTCOME_CODE };
	enum outcome_tlb tlb;
	uint64_t line = physical_line(m, translate(m, &m->code, vaddr, &tlb, out), vaddr);

	w.tlb = (uint8_t)tlb;
	int64_t found = cache_access(&m->code.lines, line);
	if (found < 0 && !m->code.ideal) {
		fill_l1_for(m, &m->code, line, 0, &w, out);
	} else {
		w.level = LEVEL_L1;
		w.slot = found >= 0 ? (uint16_t)found : UINT16_MAX;
	}
	bool missed = w.level != LEVEL_L1;
	if (!missed && w.slot != UINT16_MAX && m->code.lines.lines[w.slot].from != LEVEL_NONE) {
		w.level = m->code.lines.lines[w.slot].from;
		m->code.lines.lines[w.slot].from = LEVEL_NONE;
	}
	if (w.level == LEVEL_L1 && tlb == TLB_HIT)
		return;
	outcome_push(out, outcome_pack(&w));
	if (missed)
		after_miss(m, &m->code, line, (enum level)w.level, out);
}

void outcome_unmap(struct outcome_memory *m, uint64_t vaddr, uint64_t pages)
{
	parts_unmap(&m->walker, (struct tlb *const[]){ &m->data.tlb, &m->code.tlb, &m->second }, 3, vaddr, pages);
}
