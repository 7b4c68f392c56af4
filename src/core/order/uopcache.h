/*
 * The uop cache: which windows of code it has, by the order in which instructions come. How fast it delivers, and what
 * it takes to change between it and the decoders, each core finds out in its own time.
 *
 * The decoders build a window as long as the path stays in it; it takes as many ways of its set as its uops fill, and
 * is not held where these are more than uopcache.max_ways, or something in it keeps it out (uopcache.jcc_erratum, and
 * with uopcache.pairs the other of its pair, too). It is held and evicted as a whole, the least recently used first.
 *
 * Not modelled: entry points in the middle of a window, eviction when L1I evicts the line.
 */
#ifndef CYCLEWISE_CORE_ORDER_UOPCACHE_H
#define CYCLEWISE_CORE_ORDER_UOPCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"
#include "isa/insn.h"

enum {
	UOPCACHE_HINTS = 512,
	UOPCACHE_SPOILT = 512,         /* more lines than any uop cache has windows */
};
#define UOPCACHE_NONE UINT64_MAX       /* no window */

struct uop_window {                    /* one cached window of code */
	uint64_t window;               /* pc / uopcache.window */
	uint32_t used;                 /* stamp of its last use */
	uint8_t ways;                  /* it takes; 0: free */
};

struct uop_cache {
	const struct core_desc *desc;
	unsigned shift;                /* log2 of uopcache.window */
	uint64_t set_mask;             /* sets, less one */
	uint64_t building;             /* window that the decoders are in; UOPCACHE_NONE: none */
	uint32_t build_uops;
	bool build_ok;
	struct uop_window *held;       /* [sets][ways]; NULL: there is no uop cache */
	struct uop_window *hint[UOPCACHE_HINTS]; /* by window: where one was found last, and is looked for first */
	uint64_t spoilt[UOPCACHE_SPOILT]; /* by window: the last + 1 that could not be cached: see may() */
	uint32_t stamp;
};

/* 0, -ENOMEM, or -EINVAL as core_desc_power_of_two(); `desc` must outlive it. */
int  uop_cache_init(struct uop_cache *c, const struct core_desc *desc);
void uop_cache_fini(struct uop_cache *c);

/*
 * Whether `in` comes from there, and the decoders have left the window that they were building; else it is decoded.
 * `broken`: the path begins anew with it; `here`: what stands before it in its window came from there, too.
 */
bool uop_cache_delivers(struct uop_cache *c, const struct insn *in, bool broken, bool here);

/* The decoders have left the window that they were building, if any, and are in this one; UOPCACHE_NONE: in none. */
void uop_cache_build_next(struct uop_cache *c, uint64_t window);

static inline void uop_cache_build_end(struct uop_cache *c)
{
	if (c->building != UOPCACHE_NONE)
		uop_cache_build_next(c, UOPCACHE_NONE);
}

/* `in` has been decoded. */
static inline void uop_cache_build(struct uop_cache *c, const struct insn *in)
{
	uint64_t window = in->pc >> c->shift;

	if (window != c->building)
		uop_cache_build_next(c, window);
	if (in->flags & INSN_MICROCODED)
		c->build_uops += (unsigned)c->desc->uopcache_line_uops; /* takes a way of its own */
	else
		c->build_uops += insn_decode_uops(in);
	if (c->desc->uopcache_jcc_erratum && in->flags & INSN_JCC_ERRATUM)
		c->build_ok = false;
}

#endif
