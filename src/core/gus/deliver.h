/*
 * How the executed path comes into the abstract core: from the uop cache, or through the decoders, which build its windows anew.
 * Part of outcome.c, which alone includes it.
 *
 * A window that is in the uop cache has one way of its set or several, which a look-up touches one after the other. Of the one
 * that a set's last look-up found all were touched last, in that order: to find it again changes nothing, so it is not looked for.
 */
#ifndef CYCLEWISE_CORE_GUS_DELIVER_H
#define CYCLEWISE_CORE_GUS_DELIVER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cache/cache.h"
#include "core/gus/memory.h"
#include "core/gus/outcome.h"
#include "core/order/lines.h"

#define NO_WINDOW UINT64_MAX

struct delivery {
	uint64_t inside;               /* the present window where it comes from the uop cache, and nothing broke; else NO_WINDOW */
	uint64_t *found;               /* [found_mask + 1]: window whose ways the set's last look-up found, where none has come there since; else NO_WINDOW */
	uint64_t found_mask;
	uint64_t window;               /* present window, or fetch block of the decoders */
	uint64_t building;             /* window the decoders are in; NO_WINDOW: none */
	unsigned window_shift, fetch_shift;
	bool cached, broken;           /* the present window comes from the uop cache; a taken branch or flush came before */
	bool on;                       /* there is a uop cache */
	bool build_ok;
	unsigned build_uops;
	struct uop_lines lines;        /* where the uop cache is read line by line */
	uint64_t line;                 /* last code line looked at */
	struct cache uops;             /* the uop cache: a line is a way of a window */
	const struct core_desc *desc;
	struct outcome_memory *memory;
};

/* 0 or -ENOMEM; both arguments must outlive it. */
static inline int delivery_init(struct delivery *p, const struct core_desc *d, struct outcome_memory *memory)
{
	uint32_t sets = (uint32_t)d->uopcache_sets;

	*p = (struct delivery){ .inside = NO_WINDOW, .building = NO_WINDOW, .line = UINT64_MAX, .broken = true, .desc = d, .memory = memory };
	p->fetch_shift = (unsigned)__builtin_ctz((unsigned)d->fetch_bytes);
	p->window_shift = (unsigned)__builtin_ctz((unsigned)d->uopcache_window);
	lines_init(&p->lines, d);
	/* Where sets are no power of two, those of a window's ways may differ: one place then, which stays empty. */
	p->found_mask = sets & (sets - 1) || !sets ? 0 : sets - 1;
	p->found = malloc((p->found_mask + 1) * sizeof *p->found);
	if (!p->found)
		return -ENOMEM;
	memset(p->found, 0xff, (p->found_mask + 1) * sizeof *p->found);
	if (!sets)
		return 0;
	int err = cache_init(&p->uops, sets, (uint32_t)d->uopcache_ways, REPLACE_LRU);
	p->on = !err;
	return err;
}

static inline void delivery_fini(struct delivery *p)
{
	free(p->found);
	if (p->on)
		cache_fini(&p->uops);
}

/* A taken branch, or what else begins anew. */
static inline void deliver_anew(struct delivery *p)
{
	p->broken = true;
	p->inside = NO_WINDOW;
}

/* --- what the uop cache holds ------------------------------------------------------------------------ */

/* The tag of the `way`-th line of a window: in the set of the window. */
static inline uint64_t uop_tag(uint64_t window, unsigned way)
{
	return window | (uint64_t)way << 60;
}

/* Ways are entered together, and a victim is any of them. */
static inline bool uop_lookup(struct delivery *p, uint64_t window)
{
	int64_t at = cache_access(&p->uops, uop_tag(window, 0));

	for (unsigned way = 1; at >= 0 && p->uops.lines[at].dirty && way < (unsigned)p->desc->uopcache_max_ways; way++)
		at = cache_access(&p->uops, uop_tag(window, way));
	if (p->found_mask == p->uops.sets.by - 1u)
		p->found[window & p->found_mask] = at >= 0 ? window : NO_WINDOW;
	return at >= 0;
}

/* The decoders have left the window they were building. A line is marked dirty where a further way belongs to the window. */
static __attribute__((noinline)) void build_enter(struct delivery *p)
{
	unsigned each = (unsigned)p->desc->uopcache_line_uops, ways = (p->build_uops + each - 1) / each;

	if (p->build_ok && ways && ways <= (unsigned)p->desc->uopcache_max_ways) {
		p->found[p->building & p->found_mask] = NO_WINDOW;
		for (unsigned way = 0; way < ways; way++) {
			struct cache_victim victim;
			int64_t at = cache_access(&p->uops, uop_tag(p->building, way));
			uint64_t line = at >= 0 ? (uint64_t)at : cache_insert(&p->uops, uop_tag(p->building, way), &victim);
			p->uops.lines[line].dirty = way + 1 < ways;
		}
	}
	p->building = NO_WINDOW;
}

static inline void build_end(struct delivery *p)
{
	if (p->building != NO_WINDOW)
		build_enter(p);
}

static inline void build_add(struct delivery *p, const struct insn *in, uint64_t window)
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

enum { WORDS_MICROCODED = 0xff };       /* in place of the words that an instruction takes of a line of the uop cache */

static inline uint8_t deliver_words(const struct insn *in)
{
	return in->flags & INSN_MICROCODED ? WORDS_MICROCODED : in->line_words;
}

/* Where the uop cache is read line by line: the reads that pass with the instruction, those left out before it included. */
static inline unsigned reads(struct delivery *p, uint8_t words, enum entry entry)
{
	struct uop_lines *l = &p->lines;
	uint32_t before = l->used, cycles = 0;

	if (entry != ENTRY_NONE) {
		bool along = entry == ENTRY_ANEW && p->desc->branch_lookups > 1 && l->used < l->most;
		cycles += !along;
		lines_enter(l, along, entry == ENTRY_STRAIGHT);
	}
	if (words == WORDS_MICROCODED)
		lines_end(l);
	else
		cycles += lines_take(l, words);
	uint32_t n = cycles * l->most + l->used - before;
	return OUTCOME_READ * (n < OUTCOME_READS ? n : OUTCOME_READS);
}

/* How the path comes into a window that the uop cache has. */
static inline enum entry entry_into(const struct delivery *p, uint64_t window)
{
	bool straight = p->cached && !p->broken && (window ^ p->window) >> (LINES_PAGE - p->window_shift) == 0;

	return straight ? ENTRY_STRAIGHT : ENTRY_ANEW;
}

/* The lines of its code, of which one may not be the last looked at: up to OUTCOME_ACCESSES where any has a word. */
static __attribute__((noinline)) unsigned decode_lines(struct delivery *p, uint64_t first, uint64_t last, struct outcome_stream *out)
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
static inline unsigned decode(struct delivery *p, const struct insn *in, struct outcome_stream *out)
{
	uint64_t last = in->pc + in->length - 1u;
	unsigned shift = p->memory->line_shift;

	if (__builtin_expect(in->pc >> shift == p->line && last >> shift == p->line, 1))
		return OUTCOME_DECODED;
	return decode_lines(p, in->pc, last, out);
}

/* The path comes into another window, or is not in the uop cache. */
static __attribute__((noinline)) unsigned deliver_slow(struct delivery *p, const struct insn *in, struct outcome_stream *out)
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
	return p->lines.most ? flags | reads(p, deliver_words(in), entry) : flags;
}

/*
 * Where the instruction, which is at `pc` and takes `words`, comes from the uop cache and its window need not be looked for: the
 * flags of its head are added. False: deliver_slow() finds out.
 */
static inline __attribute__((always_inline)) bool deliver_at_hand(struct delivery *p, uint64_t pc, uint8_t words, unsigned *flags)
{
	const uint64_t window = pc >> p->window_shift;
	enum entry entry = ENTRY_NONE;

	if (window != p->inside) {
		if (__builtin_expect(p->found[window & p->found_mask] != window || p->building != NO_WINDOW, 0))
			return false;
		entry = entry_into(p, window);
		p->window = p->inside = window;
		p->cached = true;
		p->broken = false;
		*flags |= OUTCOME_BLOCK;
	}
	if (p->lines.most)
		*flags |= reads(p, words, entry);
	return true;
}

/* How the instruction comes into the core: flags of the head. Code lines go to `out`. */
static inline unsigned deliver(struct delivery *p, const struct insn *in, struct outcome_stream *out)
{
	unsigned flags = 0;

	return deliver_at_hand(p, in->pc, deliver_words(in), &flags) ? flags : deliver_slow(p, in, out);
}

#endif
