/*
 * The order of issue slots, in which slots.c and topdown.c class them: whose turn is when, which cycles follow a flush,
 * and where counted windows and marked regions begin and end. What each class is, they know.
 *
 * A slot's place is its cycle times the width plus its number; the uops of a thread come in the order in which they
 * were fetched. A uop's turn begins when the uop a width before it has gone.
 */
#ifndef CYCLEWISE_METHOD_SLOT_ORDER_H
#define CYCLEWISE_METHOD_SLOT_ORDER_H

#include "method/feed.h"

/*
 * The widest rename has 16 slots; uops of that many are at most 32 records, as every other may be a fused second, and
 * each may begin or end a window and a region. Flushes nested deeper in squashed code are not known as such.
 */
enum { SLOT_WIDTH = 16, SLOT_FLUSHES = 4, SLOT_EDGES = 64 };

/* Where a window or a region begins or ends: after all that waited in cycles before `cycle`. */
struct slot_edge {
	uint64_t cycle;
	uint32_t region;               /* SLOT_WINDOW: a counted window */
	bool begins, counting;         /* counting: before it */
};
#define SLOT_WINDOW UINT32_MAX

/* After which nothing of the right path came yet. */
struct slot_flush {
	uint64_t cycle;
	bool branch;                   /* mispredicted; else a machine clear */
};

/* Of the run. */
struct slot_order {
	uint32_t width;
	const struct regions *regions; /* NULL: none are marked */
};

/* Of a thread. Invariant: all slots before the `used`-th of `cycle` are classed. */
struct slot_lane {
	uint32_t thread;
	bool begun, counting;
	uint64_t cycle, end;           /* end: first cycle that is not final */
	uint32_t used;
	uint32_t nr_flushes;
	uint64_t nr;                   /* uops offered */
	uint64_t turn[2 * SLOT_WIDTH]; /* [nr % (2 * SLOT_WIDTH)]: first cycle after it went, or was squashed */
	struct slot_flush flush[SLOT_FLUSHES];
	struct slot_edge edge[SLOT_EDGES]; /* the last ones, by nr_edges % SLOT_EDGES */
	uint64_t last_edge;            /* cycle of the last one */
	uint32_t nr_edges;
};

void slot_order_init(struct slot_order *o, const struct run *run);
void slot_lane_init(struct slot_lane *l, const struct slot_order *o, uint32_t thread);
/* A window begins or ends here, or a region does. */
void slot_window(struct slot_lane *l);
void slot_edge_push(struct slot_lane *l, uint32_t region, bool begins);
/* The number of the first edge after the cycle `from`, up to nr_edges; the edge is edge[number % SLOT_EDGES]. */
uint32_t slot_first_edge(const struct slot_lane *l, uint64_t from);
/*
 * A flush: the squash, or where nothing had to be squashed, what would have caused it: a mispredicted branch's
 * completion, else the commit.
 */
void slot_flushed(struct slot_lane *l, const struct timed *t);
/* Something of the right path came: flushes before its fetch are over. Where it commits, all before it are. */
void slot_recovered(struct slot_lane *l, const struct timed *t);
/* The earliest flush that is not over; NULL: none. */
const struct slot_flush *slot_first_flush(const struct slot_lane *l);

/* To be called with every block before its records. */
static inline void slot_begin(struct slot_lane *l, const struct block *b)
{
	if (!l->begun && b->n) {
		l->begun = true;
		l->counting = b->t->flags & TIMED_COUNTED;
	}
}

static inline void slot_advance(struct slot_lane *l, uint64_t cycle)
{
	l->used = cycle > l->cycle ? 0 : l->used;
	l->cycle = cycle > l->cycle ? cycle : l->cycle;
}

/*
 * Takes the next slot, of the lane's cycle or the one after; false where a squash at the end of `leave` comes
 * before.
 */
static inline bool slot_take(struct slot_lane *l, uint32_t width, bool commits, uint64_t leave)
{
	if (l->used == width) {
		if (!commits && l->cycle >= leave)
			return false;
		l->cycle++;
		l->used = 0;
	}
	l->used++;
	return true;
}

/* The cycle from which uop `nr`, offered in the cycle `avail`, waits. */
static inline uint64_t slot_waits_from(const struct slot_lane *l, uint32_t width, uint64_t nr, uint64_t avail)
{
	uint64_t turn = l->turn[(nr - width) % (2 * SLOT_WIDTH)];

	return avail > turn ? avail : turn;
}

/* The same for the next uop, whose turn is over before the cycle `after`. */
static inline uint64_t slot_wait(struct slot_lane *l, uint32_t width, uint64_t avail, uint64_t after)
{
	uint64_t from = slot_waits_from(l, width, l->nr, avail);

	l->turn[l->nr++ % (2 * SLOT_WIDTH)] = after;
	return from;
}

/*
 * Whether a record is of the kind that most are: nothing begins, ends or is flushed with it. `usual` is slot_usual(),
 * which holds until a record is not so.
 */
enum { SLOT_AFTER_FLUSH = 1 << 16 };   /* in no record, so that after a flush none of the right path is usual */

static inline uint32_t slot_usual(const struct slot_lane *l)
{
	return (l->counting ? TIMED_COUNTED : 0u) | (l->nr_flushes ? SLOT_AFTER_FLUSH : 0u);
}

static inline bool slot_is_usual(const struct timed *t, uint32_t usual, uint32_t right_path)
{
	const uint32_t special =
		TIMED_SQUASHED | TIMED_FLUSHER | TIMED_MISPREDICT | TIMED_MARK | TIMED_COUNTED | SLOT_AFTER_FLUSH;

	return !((t->flags ^ usual) & special & right_path);
}

#endif
