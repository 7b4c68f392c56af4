/*
 * A uop cache that is read line by line, as Zen 5's: which instructions come in which cycle. Both models' front ends
 * use it.
 *
 * A line holds the next few instructions of the path that made it (a fused pair is one), from where a taken branch led,
 * over the ends of windows, up to a taken branch or the end of a page; what kinds of instructions they are and their
 * lengths do not matter. So many lines are read a cycle. Of a window, those that begin in it count: as many as are read
 * in a cycle are found by one look-up; where there are more, the next look-up comes some cycles later. A window takes
 * one of a cycle's reads even if no line begins in it, and where the path comes into it in sequence, it is in a new
 * cycle; where a taken branch led, it may be in the same one.
 *
 * Measured on Zen 5 (lines of 6, two a cycle, one cycle lost between look-ups), straight code of k instructions in each
 * 64 bytes, by cycles of each 64 bytes: k/8 up to 14 (rename), 15: 2, 16: 2.33, 17: 2.67, 18 to 24: 3, 25: 3.33, 27: 4,
 * 29: 4.67, 30 to 36: 5; so are mixtures of 5 to 28 within a percent, wherever in the 64 bytes the instructions are.
 * Blocks that end in a jump take half a cycle with a line, one with two, three with three; 7 to 18 of which the last
 * are behind a window's end, two.
 *
 * Not modelled: that a line holds six displacements and immediates (docs/measured/zen5.md), that a window in sequence
 * shares a cycle with the one before where no line reaches into it and taken branches go with both (1.6 cycles for 2),
 * and that a short block overlaps with a window of three lines before or behind it (3 to 3.5 for 3 to 4).
 */
#ifndef CYCLEWISE_CORE_ORDER_LINES_H
#define CYCLEWISE_CORE_ORDER_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/params.h"

enum { LINES_PAGE = 12 };              /* log2 of the bytes that no line goes beyond */

struct uop_lines {
	uint32_t each, most, again;    /* instructions of a line; lines a cycle, 0: not read so; cycles lost between
	                                * look-ups */
	uint32_t room;                 /* instructions that the present line still takes */
	uint32_t found;                /* lines of the present window that its last look-up still gives */
	uint32_t used;                 /* reads of the present cycle, 1 to `most` */
	bool entered;                  /* the window has no line yet: its first is the read that it entered with */
};

static inline void lines_init(struct uop_lines *l, const struct core_desc *d)
{
	uint32_t most = (uint32_t)(d->uopcache_width / d->uopcache_line_uops);

	*l = (struct uop_lines){ .each = (uint32_t)d->uopcache_line_uops };
	if (d->uopcache_sets && d->uopcache_whole) {
		l->most = most ? most : 1;
		l->again = (uint32_t)d->uopcache_whole - 1;
	}
	l->used = l->most;
}

/*
 * The path comes into a window, in the present cycle (`along`, which must have a read left) or in a later one.
 * `straight`: in sequence, in one page.
 */
static inline void lines_enter(struct uop_lines *l, bool along, bool straight)
{
	l->used = along ? l->used + 1 : 1;
	l->room = straight ? l->room : 0;
	l->found = l->most;
	l->entered = true;
}

/* The next instruction of the window: how many cycles later than the one before it. */
static inline uint32_t lines_take(struct uop_lines *l)
{
	if (l->room) {
		l->room--;
		return 0;
	}
	bool again = !l->found, first = l->entered;

	l->room = l->each - 1;
	l->found = (again ? l->most : l->found) - 1;
	l->entered = false;
	if (first)
		return 0;
	if (!again && l->used < l->most) {
		l->used++;
		return 0;
	}
	l->used = 1;
	return 1 + (again ? l->again : 0);
}

/* Nothing more is read in the present cycle, nor from the present line. */
static inline void lines_end(struct uop_lines *l)
{
	l->used = l->most;
	l->room = 0;
	l->entered = false;
}

#endif
