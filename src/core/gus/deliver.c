#include "core/gus/deliver.h"

int delivery_init(struct delivery *p, const struct core_desc *d, struct outcome_memory *memory)
{
	*p = (struct delivery){
		.inside = UOPCACHE_NONE, .line = UINT64_MAX, .broken = true, .desc = d, .memory = memory,
	};
	p->fetch_shift = (unsigned)__builtin_ctz((unsigned)d->fetch_bytes);
	lines_init(&p->lines, d);
	return uop_cache_init(&p->uops, d);
}

void delivery_fini(struct delivery *p)
{
	uop_cache_fini(&p->uops);
}

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
	bool straight = p->cached && !p->broken && (window ^ p->window) >> (LINES_PAGE - p->uops.shift) == 0;

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

	if (p->uops.held) {
		uint64_t window = in->pc >> p->uops.shift;
		bool here = !p->broken && window == p->window;
		bool cached = uop_cache_delivers(&p->uops, in, p->broken, here && p->cached);
		if (!here || cached != p->cached) {
			entry = entry_into(p, window);
			p->cached = cached;
			p->window = window;
			p->inside = cached ? window : UOPCACHE_NONE;
			flags |= OUTCOME_BLOCK;
		}
		if (!cached)
			uop_cache_build(&p->uops, in);
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
