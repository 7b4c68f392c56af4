#include "core/cache/hierarchy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/cache/parts.h"
#include "core/cache/timeless.h"

/* Demand keeps a quarter of the miss registers that prefetches into L2 could take. */
enum { DEMAND_SHARE = 4 };

struct lower_desc {
	const char *name;      /* of the group of parameters */
	enum level level;
	int32_t size, ways, latency, mshrs, bandwidth, write_bandwidth;
	const char *replacement;
	bool victim;
};

static int lower_init(struct lower *l, const struct lower_desc *p, const struct core_desc *d, int32_t above,
                      uint64_t window)
{
	int err = parts_cache(&l->lines, p->name, p->replacement, p->size, p->ways, d->cache_line);

	if (err)
		return err;
	l->latency = (uint64_t)(p->latency > above ? p->latency - above : 1);
	l->read_units = calendar_units((uint64_t)d->cache_line, (uint64_t)p->bandwidth, 1);
	l->write_units = calendar_units((uint64_t)d->cache_line, (uint64_t)p->write_bandwidth, 1);
	l->name = p->level;
	l->victim = p->victim;
	l->down = (uint32_t)d->cache_duplex;
	for (uint32_t i = 0; i <= l->down && !err; i++)
		err = calendar_init(&l->bus[i], window);
	if (!err)
		err = mshr_init(&l->mshr, (uint32_t)p->mshrs, window);
	return err;
}

static void lower_fini(struct lower *l)
{
	for (uint32_t i = 0; i < 2; i++)
		calendar_fini(&l->bus[i]);
	mshr_fini(&l->mshr);
	cache_fini(&l->lines);
}

int hierarchy_init(struct hierarchy *h, const struct core_desc *desc, uint64_t window)
{
#define LOWER(group, level_, victim_) { .name = #group, .level = level_, \
	.replacement = desc->group##_replacement, .size = desc->group##_size, .ways = desc->group##_ways, \
	.latency = desc->group##_latency, .mshrs = desc->group##_mshrs, .bandwidth = desc->group##_bandwidth, \
	.write_bandwidth = desc->group##_write_bandwidth, \
	.victim = victim_ }
	struct lower_desc levels[MAX_LOWER] = {
		LOWER(l2, LEVEL_L2, false),
		LOWER(llc, LEVEL_LLC, desc->llc_victim),
	};
#undef LOWER
	int32_t above = 0;
	int err = 0;

	*h = (struct hierarchy){
		.adjacent = desc->prefetch_l2_adjacent,
		.ideal_code = desc->ideal.l2i, .ideal_data = desc->ideal.l2d,
	};
	for (uint32_t i = 0; i < MAX_LOWER && !err; i++) {
		if (!levels[i].size)
			continue;
		err = lower_init(&h->lower[h->nr++], &levels[i], desc, above, window);
		above = levels[i].latency;
	}
	if (!err)
		err = dram_init(&h->dram, desc, (uint32_t)desc->cache_line, window);
	if (!err)
		err = streamer_init(&h->streamer, h->nr ? (uint32_t)desc->prefetch_l2_stream : 0,
			(uint32_t)desc->prefetch_l2_stream_ahead, STREAM_DEGREE, (uint32_t)desc->cache_line);
	if (err)
		hierarchy_fini(h);
	return err;
}

void hierarchy_fini(struct hierarchy *h)
{
	for (uint32_t i = 0; i < h->nr; i++)
		lower_fini(&h->lower[i]);
	h->nr = 0;
	dram_fini(&h->dram);
	streamer_fini(&h->streamer);
}

static void write_at(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, bool dirty);

/* `line` comes to stay at level `depth`: asked for at `cycle`, there at r->fill. */
static void install(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, const struct reply *r)
{
	struct lower *l = &h->lower[depth];
	struct cache_victim victim;
	uint64_t at = cache_insert(&l->lines, line, &victim);

	assert(r->fill >= cycle);
	l->lines.lines[at] = (struct cache_line){
		.fill = kept(r->fill), .wait = (uint32_t)(r->fill - cycle), .from = (uint8_t)r->from, .dirty = r->dirty,
	};
	if (victim.line != CACHE_EMPTY)
		write_at(h, depth + 1, r->fill, victim.line, victim.dirty);
}

/* An evicted line comes down to level `depth`. */
static void write_at(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, bool dirty)
{
	if (depth == h->nr) {
		if (dirty)
			dram_write(&h->dram, cycle);
		return;
	}
	struct lower *l = &h->lower[depth];
	if (!dirty && !l->victim)
		return;

	uint64_t there = calendar_book(&l->bus[l->down], cycle, l->write_units);
	int64_t at = cache_find(&l->lines, line);
	if (at >= 0) {
		l->lines.lines[at].dirty |= dirty;
		return;
	}
	const struct reply r = { .fill = there, .from = l->name, .dirty = dirty };
	install(h, depth, there, line, &r);
}

static void read_at(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, struct reply *r);

/* Level `depth` lacks `line` and knows it at `cycle`: it asks the level below. */
static void miss(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, struct reply *r)
{
	struct lower *l = &h->lower[depth];
	uint64_t from = mshr_find(&l->mshr, cycle, 1);

	read_at(h, depth + 1, from, line, r);
	r->fill += mshr_hold(&l->mshr, from, r->fill - from) - from;
	if (!l->victim)
		install(h, depth, cycle, line, r);
}

/* The level above `depth` asks for `line` at `cycle`. */
static void read_at(struct hierarchy *h, uint32_t depth, uint64_t cycle, uint64_t line, struct reply *r)
{
	if (depth == h->nr) {
		*r = (struct reply){ .fill = dram_read(&h->dram, cycle, line), .from = LEVEL_MEMORY };
		return;
	}
	struct lower *l = &h->lower[depth];
	uint64_t known = cycle + l->latency;
	int64_t at = cache_access(&l->lines, line);

	if (at < 0) {
		miss(h, depth, known, line, r);
		r->dirty = false;
	} else {
		struct cache_line *here = &l->lines.lines[at];
		*r = (struct reply){ .fill = known, .from = l->name };
		if (here->fill > known) {
			r->pending = !line_claim(here, known);
			r->fill = here->fill;
			r->from = (enum level)here->from;
		}
		if (l->victim) {
			r->dirty = here->dirty;
			cache_drop(&l->lines, (uint64_t)at);
		}
	}
	r->fill = calendar_book(&l->bus[0], r->fill, l->read_units);
}

/* A prefetch into the first level, or the second where the first is busy; found out at `cycle` that it is wanted. */
static void prefetch(struct hierarchy *h, uint64_t cycle, uint64_t line)
{
	for (uint32_t depth = 0; depth < h->nr; depth++) {
		struct lower *l = &h->lower[depth];
		struct reply r;

		if (depth)
			cycle += l->latency;
		if (cache_find(&l->lines, line) >= 0)
			return;
		if (!mshr_free(&l->mshr, cycle, l->mshr.limit / DEMAND_SHARE))
			continue;
		read_at(h, depth + 1, cycle, line, &r);
		r.fill += mshr_hold(&l->mshr, cycle, r.fill - cycle) - cycle;
		install(h, depth, cycle, line, &r);
		return;
	}
}

void hierarchy_read(struct hierarchy *h, uint64_t cycle, uint64_t line, enum reader who, struct reply *r)
{
	if (h->nr && ((who == READ_CODE && h->ideal_code) || (who == READ_DATA && h->ideal_data))) {
		struct lower *l = &h->lower[0];
		*r = (struct reply){ .from = l->name };
		r->fill = calendar_book(&l->bus[0], cycle + l->latency, l->read_units);
		return;
	}
	read_at(h, 0, cycle, line, r);
	if (who == READ_WALK || !h->nr)
		return;

	uint64_t known = cycle + h->lower[0].latency, ahead[STREAM_DEGREE];
	if (h->adjacent && r->from != h->lower[0].name && !r->pending)
		prefetch(h, known, line ^ 1);
	uint32_t n = streamer_train(&h->streamer, line, ahead);
	for (uint32_t i = 0; i < n; i++)
		prefetch(h, known, ahead[i]);
}

/* Whether no level has `line`, or it is on its way there from memory at `cycle`. */
static bool comes_from_memory(struct hierarchy *h, uint64_t cycle, uint64_t line)
{
	for (uint32_t depth = 0; depth < h->nr; depth++) {
		struct lower *l = &h->lower[depth];
		int64_t at = cache_find(&l->lines, line);

		cycle += l->latency;
		if (at >= 0)
			return l->lines.lines[at].from == LEVEL_MEMORY && l->lines.lines[at].fill > cycle;
	}
	return true;
}

void hierarchy_read_near(struct hierarchy *h, uint64_t cycle, uint64_t line, enum reader who, struct reply *r)
{
	struct lower *l = &h->lower[0];

	if (!comes_from_memory(h, cycle, line)) {
		hierarchy_read(h, cycle, line, who, r);
		return;
	}
	const struct reply there = { .fill = cycle, .from = l->name };
	int64_t at = cache_access(&l->lines, line);
	if (at >= 0)
		l->lines.lines[at].fill = cycle;
	else if (!l->victim)
		install(h, 0, cycle, line, &there);
	*r = (struct reply){ .from = l->name };
	r->fill = calendar_book(&l->bus[0], cycle + l->latency, l->read_units);
}

void hierarchy_write(struct hierarchy *h, uint64_t cycle, uint64_t line, bool dirty)
{
	write_at(h, 0, cycle, line, dirty);
}
