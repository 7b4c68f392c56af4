/*
 * The L1 caches of memory.c: misses, their registers, what the prefetchers of L1 ask for. Behind them stands
 * hierarchy.c.
 *
 * A miss takes a miss register at its start, and a line is usable by whoever waits for it in the cycle of its fill.
 */
#include "core/cache/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "core/cache/state.h"
#include "core/cache/timeless.h"
#include "core/cycle.h"

struct l1_desc {
	const char *name, *tlb_name; /* of their groups of parameters */
	const char *replacement;
	int32_t size, ways, latency, mshrs, tlb_entries, tlb_ways;
	int32_t set_fill;
	bool ideal, ideal_tlb;
};

static int l1_init(struct l1 *l, const struct l1_desc *p, int32_t line, enum reader reader, uint64_t window)
{
	l->latency = (uint64_t)p->latency;
	l->reader = reader;
	l->ideal = p->ideal;
	l->ideal_tlb = p->ideal_tlb;
	l->set.cycles = (uint64_t)p->set_fill;
	int err = parts_cache(&l->lines, p->name, p->replacement, p->size, p->ways, line);
	if (!err && l->set.cycles &&
	    !(l->set.coming = calloc((size_t)(p->size / (p->ways * line)), sizeof *l->set.coming)))
		err = -ENOMEM;
	if (!err)
		err = mshr_init(&l->mshr, (uint32_t)p->mshrs, window);
	if (!err)
		err = parts_tlb(&l->tlb, p->tlb_name, p->tlb_entries, p->tlb_ways);
	return err;
}

static void l1_fini(struct l1 *l)
{
	cache_fini(&l->lines);
	free(l->set.coming);
	mshr_fini(&l->mshr);
	tlb_fini(&l->tlb);
}

int memory_l1_init(struct memory *m, const struct core_desc *d, uint64_t window)
{
#define L1(group, tlb, ideal_, ideal_tlb_) { .name = #group, .tlb_name = #tlb, .replacement = d->group##_replacement, \
	.size = d->group##_size, .ways = d->group##_ways, .latency = d->group##_latency, \
	.mshrs = d->group##_mshrs, .tlb_entries = d->tlb##_entries, .tlb_ways = d->tlb##_ways, \
	.ideal = d->ideal.ideal_, .ideal_tlb = d->ideal.ideal_tlb_ }
	struct l1_desc data = L1(l1d, dtlb, l1d, dtlb);
	const struct l1_desc code = L1(l1i, itlb, l1i, itlb);
#undef L1
	data.set_fill = d->l1d_set_fill;
	int err = l1_init(&m->data, &data, d->cache_line, READ_DATA, window);

	if (!err)
		err = l1_init(&m->code, &code, d->cache_line, READ_CODE, window);
	if (!err)
		err = stride_init(&m->stride, (uint32_t)d->prefetch_l1_stride, STRIDE_LONGEST);
	next_line_init(&m->next_line);
	return err;
}

void memory_l1_fini(struct memory *m)
{
	l1_fini(&m->data);
	l1_fini(&m->code);
	stride_fini(&m->stride);
}

static struct evicting *evicting(struct l1 *l, uint64_t line)
{
	return &l->set.evicting[line * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (EVICTING - 1)];
}

/* A line comes into L1D at `fill`, and where a changed one was. */
static void pass(struct line_traffic *p, uint64_t fill, bool changed)
{
	if (p->nr_come < sizeof p->come / sizeof *p->come)
		p->come[p->nr_come++] = fill;
	if (changed && p->nr_leave < sizeof p->leave / sizeof *p->leave)
		p->leave[p->nr_leave++] = fill;
}

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
	uint64_t takes = r.fill - from;
	if (l->set.cycles && !timeless(from))
		r.fill = coming_at(&l->set.coming[cache_set(&l->lines, line)], r.fill, l->set.cycles);
	uint64_t held = mshr_hold(&l->mshr, from, r.fill - from);
	uint64_t fill = r.fill + (held - from);
	a->mshr_wait = held - cycle;
	a->level = r.pending ? LEVEL_FILL_BUFFER : r.from;
	a->llc_miss = r.from == LEVEL_MEMORY;
	a->l1_miss = true;

	uint64_t at = cache_insert(&l->lines, line, &victim);
	l->lines.lines[at] = (struct cache_line){
		.fill = kept(fill), .wait = (uint32_t)(fill - cycle), .from = (uint8_t)r.from, .dirty = r.dirty,
	};
	if (victim.line != CACHE_EMPTY)
		hierarchy_write(&m->below, fill, victim.line, victim.dirty);
	if (victim.line != CACHE_EMPTY && l->set.cycles && !timeless(from))
		*evicting(l, victim.line) =
			(struct evicting){ .line = victim.line, .fill = victim.fill, .until = fill - takes };
	if (l == &m->data && m->passing && !timeless(fill))
		pass(m->passing, fill, victim.dirty);
	return fill;
}

void memory_prefetch_line(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line)
{
	struct access nobody;

	if (l->ideal || cache_find(&l->lines, line) >= 0 || !mshr_free(&l->mshr, cycle, 0))
		return;
	fetch_line(m, l, cycle, line, &nobody);
	if (l->reader == READ_DATA)
		next_line_filled(&m->next_line, line, UINT32_MAX);
}

/* `line` is supposed to be there, which it is not, or not yet where it is on its way, at `at`. */
static uint64_t read_supposed(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, int64_t at,
                              struct access *a)
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

uint64_t memory_read_slow(struct memory *m, struct l1 *l, uint64_t cycle, uint64_t line, uint32_t offset, int64_t at,
	struct access *a)
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
	if (l->set.cycles && !a->write && evicting(l, line)->line == line && evicting(l, line)->until > cycle) {
		const struct evicting *here = evicting(l, line);
		a->level = here->fill > cycle ? LEVEL_FILL_BUFFER : LEVEL_L1;
		a->l1_miss = here->fill > cycle;
		return later(here->fill, cycle);
	}
	uint64_t fill = fetch_line(m, l, cycle, line, a);
	uint64_t next = l->reader == READ_CODE ? m->code_next : m->next_on_miss, left = lines_left(m->line_shift, line);
	for (uint64_t i = 1; i <= next && i <= left; i++)
		memory_prefetch_line(m, l, cycle, line + i);
	if (l->reader == READ_DATA)
		next_line_filled(&m->next_line, line, offset);
	return fill;
}
