#include "core/gus/deliver.h"

#include <errno.h>

int delivery_init(struct delivery *p, const struct core_desc *d, struct outcome_memory *memory)
{
	uint32_t sets = (uint32_t)d->uopcache_sets;

	*p = (struct delivery){ .inside = NO_WINDOW, .building = NO_WINDOW, .line = UINT64_MAX, .broken = true,
	                        .desc = d, .memory = memory };
	p->fetch_shift = (unsigned)__builtin_ctz((unsigned)d->fetch_bytes);
	p->window_shift = (unsigned)__builtin_ctz((unsigned)d->uopcache_window);
	lines_init(&p->lines, d);
	if (!sets)
		return 0;
	int err = cache_init(&p->uops, sets, (uint32_t)d->uopcache_ways, REPLACE_LRU);
	p->on = !err;
	return err;
}

void delivery_fini(struct delivery *p)
{
	if (p->on)
		cache_fini(&p->uops);
}

/* --- what the uop cache holds ------------------------------------------------------------------------ */

/* The tag of the `way`-th line of a window: in the set of the window. */
static uint64_t uop_tag(uint64_t window, unsigned way)
{
	return window | (uint64_t)way << 60;
}

/* Ways are entered together, and a victim is any of them. */
static bool uop_lookup(struct delivery *p, uint64_t window)
{
	int64_t at = cache_access(&p->uops, uop_tag(window, 0));

	for (unsigned way = 1; at >= 0 && p->uops.lines[at].dirty && way < (unsigned)p->desc->uopcache_max_ways; way++)
		at = cache_access(&p->uops, uop_tag(window, way));
	return at >= 0;
}

/*
 * The decoders have left the window they were building. A line is marked dirty where a further way belongs to the
 * window.
 */
static void build_enter(struct delivery *p)
{
	unsigned each = (unsigned)p->desc->uopcache_line_uops, ways = (p->build_uops + each - 1) / each;

	if (p->build_ok && ways && ways <= (unsigned)p->desc->uopcache_max_ways) {
		for (unsigned way = 0; way < ways; way++) {
			struct cache_victim victim;
			int64_t at = cache_access(&p->uops, uop_tag(p->building, way));
			uint64_t tag = uop_tag(p->building, way);
			uint64_t line = at >= 0 ? (uint64_t)at : cache_insert(&p->uops, tag, &victim);
			p->uops.lines[line].dirty = way + 1 < ways;
		}
	}
	p->building = NO_WINDOW;
}

void build_end(struct delivery *p)
{
	if (p->building != NO_WINDOW)
		build_enter(p);
}

static void build_add(struct delivery *p, const struct insn *in, uint64_t window)
{
	if (p->building != window) {
		build_end(p);
		p->building = window;
		p->build_uops = 0;
		p->build_ok = true;
	}
	if (in->flags & INSN_MICROCODED)
		p->build_uops += (unsigned)p->desc->uopcache_line_uops;
	else
		p->build_uops += in->decode_uops ? in->decode_uops : 1;
	if (p->desc->uopcache_jcc_erratum && in->flags & INSN_JCC_ERRATUM)
		p->build_ok = false;
}

/* --- how an instruction comes ------------------------------------------------------------------------ */

enum entry { ENTRY_NONE, ENTRY_STRAIGHT, ENTRY_ANEW };

/*
 * Where the uop cache is read line by line: the reads that pass with the instruction, those left out before it
 * included.
 */
static unsigned reads(struct delivery *p, const struct insn *in, enum entry entry)
{
	struct uop_lines *l = &p->lines;
	uint32_t before = l->used, cycles = 0;

	if (entry != ENTRY_NONE) {
		bool along = entry == ENTRY_ANEW && p->desc->branch_lookups > 1 && l->used < l->most;
		cycles += !along;
		lines_enter(l, along, entry == ENTRY_STRAIGHT);
	}
	if (in->flags & INSN_MICROCODED)
		lines_end(l);
	else
		cycles += lines_take(l);
	uint32_t n = cycles * l->most + l->used - before;
	return OUTCOME_READ * (n < OUTCOME_READS ? n : OUTCOME_READS);
}

unsigned deliver_reads(struct delivery *p, const struct insn *in)
{
	return reads(p, in, ENTRY_NONE);
}

/* How the path comes into a window that the uop cache has. */
static enum entry entry_into(const struct delivery *p, uint64_t window)
{
	bool straight = p->cached && !p->broken && (window ^ p->window) >> (LINES_PAGE - p->window_shift) == 0;

	return straight ? ENTRY_STRAIGHT : ENTRY_ANEW;
}

/* The lines of its code, of which one may not be the last looked at: up to OUTCOME_ACCESSES where any has a word. */
static unsigned decode_lines(struct delivery *p, uint64_t first, uint64_t last, struct outcome_stream *out)
{
	unsigned shift = p->memory->line_shift;
	size_t before = out->nr;

	if (first >> shift != p->line)
		outcome_fetch(p->memory, first, out);
	if (last >> shift != first >> shift)
		outcome_fetch(p->memory, last, out);
	p->line = last >> shift;
	if (out->nr == before)
		return OUTCOME_DECODED;
	outcome_push(out, OUTCOME_ACCESSES);
	return OUTCOME_DECODED | OUTCOME_LINES;
}

/* The uop cache did not have it. */
static unsigned decode(struct delivery *p, const struct insn *in, struct outcome_stream *out)
{
	uint64_t last = in->pc + in->length - 1u;
	unsigned shift = p->memory->line_shift;

	if (__builtin_expect(in->pc >> shift == p->line && last >> shift == p->line, 1))
		return OUTCOME_DECODED;
	return decode_lines(p, in->pc, last, out);
}

unsigned deliver_slow(struct delivery *p, const struct insn *in, struct outcome_stream *out)
{
	enum entry entry = ENTRY_NONE;
	unsigned flags = 0;

	if (p->on) {
		uint64_t window = in->pc >> p->window_shift;
		if (p->broken || window != p->window) {
			bool building = window == p->building && !p->broken;
			entry = entry_into(p, window);
			p->cached = !building && uop_lookup(p, window);
			if (p->cached)
				build_end(p);
			p->window = window;
			p->inside = p->cached ? window : NO_WINDOW;
			flags |= OUTCOME_BLOCK;
		}
		if (!p->cached)
			build_add(p, in, window);
	} else {
		uint64_t block = (in->pc + in->length - 1u) >> p->fetch_shift;
		flags |= p->broken || block != p->window ? OUTCOME_BLOCK : 0;
		p->window = block;
	}
	p->broken = false;
	if (!p->cached)
		return flags | decode(p, in, out);
	return p->lines.most ? flags | reads(p, in, entry) : flags;
}
