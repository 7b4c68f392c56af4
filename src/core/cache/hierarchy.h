/*
 * What stands behind the L1 caches: L2, last-level cache, memory; whichever of the caches the core has.
 *
 * Latencies are counted from the request in L1, so that a level adds what it takes longer than the one above.
 * A line goes up through the bus of every level it passes, and stays in those that are filled by misses; evictions
 * go down through the same buses, or through such of their own with cache.duplex. A line asked for while
 * it is on its way is waited for, not asked for again.
 *
 * llc.victim: lines from memory pass the last level by; it keeps what the level above evicts, and gives up what
 * that one takes back (Skylake-SP). Otherwise every miss fills every level and only dirty lines come down; a line
 * evicted below stays above (no back-invalidation: one core seldom notices, and no description asks for it).
 * Not modelled: coherence and other cores; slices of the last level are one latency.
 */
#ifndef CYCLEWISE_CORE_CACHE_HIERARCHY_H
#define CYCLEWISE_CORE_CACHE_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cache/cache.h"
#include "core/cache/calendar.h"
#include "core/cache/dram.h"
#include "core/cache/mshr.h"
#include "core/cache/prefetch.h"
#include "core/params.h"

enum { MAX_LOWER = 2 };

struct lower {
	struct cache lines;
	struct mshr mshr;      /* its misses */
	struct calendar bus[2]; /* to the level above; from it, where those do not take turns */
	uint32_t down;         /* the bus that lines come down through */
	uint64_t latency;      /* cycles beyond the level above */
	uint32_t read_units, write_units; /* of a bus, for one line up and down */
	enum level name;
	bool victim;
};

struct hierarchy {
	struct lower lower[MAX_LOWER];
	uint32_t nr;           /* levels there are, the one behind L1 first */
	struct dram dram;
	struct streamer streamer;
	bool adjacent;         /* prefetch the other line of a pair */
	bool ideal_code, ideal_data;
};

/* Who asks: walks train no prefetcher, and code and data can be idealised apart. */
enum reader { READ_DATA, READ_CODE, READ_WALK };

struct reply {
	uint64_t fill;         /* cycle the line is at the level that asked */
	enum level from;       /* who sends it */
	bool pending;          /* it was on its way already */
	bool dirty;            /* the copy handed over is the only one, and changed */
};

/* `window`: cycles that timetables keep. 0, or -errno with the message set where the description is wrong. */
int hierarchy_init(struct hierarchy *h, const struct core_desc *desc, uint64_t window);
void hierarchy_fini(struct hierarchy *h);

/* L1 asks for `line` at `cycle`. */
void hierarchy_read(struct hierarchy *h, uint64_t cycle, uint64_t line, enum reader who, struct reply *r);
/* The same where a line that would come from memory is supposed to be in the level behind L1, of which there is one. */
void hierarchy_read_near(struct hierarchy *h, uint64_t cycle, uint64_t line, enum reader who, struct reply *r);
/* L1 evicts `line` at `cycle`. */
void hierarchy_write(struct hierarchy *h, uint64_t cycle, uint64_t line, bool dirty);

/*
 * An access at `cycle` finds a line with `fill` in the future. Where it starts earlier than the request that brings
 * the line (a younger instruction's turn, come first in time), the miss is its own: the line comes as long after it
 * as it would have after the other. Returns whether that is so.
 */
static inline bool line_claim(struct cache_line *l, uint64_t cycle)
{
	if (cycle + l->wait >= l->fill)
		return false;
	l->fill = cycle + l->wait;
	return true;
}

#endif
