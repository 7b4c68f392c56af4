/*
 * The commit-state walker: turns a thread's timed stream into intervals, one an instruction, that tell who is
 * to pay for each of its core's cycles. Every method that attributes cycles at commit is built on it.
 *
 * The cycles up to an instruction's commit that no older commit took belong to its interval:
 *
 *      commit before   from            enter             commit
 *     ──────┤            ├───────────────┼─────────────────┼─┤
 *                          ROB empty:      it is the oldest  Compute: `units` of this cycle,
 *                          Drained or      in the ROB:       shared with all that commit in it
 *                          Flushed         Stalled
 *
 *  - Compute is shared 1/n by the n instructions that commit in a cycle. Both of a macro-fused pair are
 *    instructions, and count. Where n does not divide CYCLE_UNITS (17 and some beyond), the oldest get one unit more.
 *  - The first of those n has all the cycles since the commit before; from == enter == commit for the others.
 *  - An instruction commits with its last uop: a cycle in which only earlier ones of it commit is Stalled on it.
 *  - [from, enter) is Flushed, and paid by the flusher, where the instruction last committed, or one that was
 *    squashed since (FL-MO, FL-EX), made all that follows be fetched anew; Flushed, and paid by itself, where the
 *    instruction serialises and waited for that; else Drained, and paid by itself.
 *  - A squashed flusher (a faulting instruction, a load that violated memory order) is an interval of its own that
 *    does not commit: TIMED_SQUASHED, `commit` the cycle after its squash, units 0. If it was squashed before an
 *    older one committed it has no cycles and there is no interval, but it still pays for the flush.
 *  - Wrong-path and other squashed attempts are younger than somebody who pays.
 *
 * Intervals follow each other without a gap or an overlap from cycle 0 on, so that over any run of them the cycles
 * (with units of the last) sum exactly. The ones that count are those with TIMED_COUNTED: cycles go with the
 * instruction whose commit ends them, so a counted region runs from the commit before its first instruction.
 *
 * Most of them met no event and are not Flushed, which is all that most methods ask: those that are not so,
 * seldom and in no pattern, are listed, so that a method adds up all alike and then looks at those few.
 *
 * Ref: TEA §2 (commit states), TIP; DESIGN "time-proportional attribution".
 */
#ifndef CYCLEWISE_METHOD_WALKER_H
#define CYCLEWISE_METHOD_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "method/method.h"

enum commit_state { STATE_COMPUTE, STATE_STALLED, STATE_DRAINED, STATE_FLUSHED, NR_STATES };

struct interval {
	uint64_t from, enter, commit;  /* absolute cycles, from <= enter <= commit */
	uint32_t insn;                 /* index of the static instruction */
	uint32_t units;                /* its share of the cycle `commit` */
	uint16_t psv;                  /* final */
	uint16_t flags;                /* enum timed_flags, of its first record */
	uint32_t flusher;              /* of FLUSHED_BY: who pays for [from, enter) ... */
	uint16_t flusher_psv;          /* ... and its events, which are final */
	uint8_t mates;                 /* how many commit in the cycle up to it, itself included; 0: it does not */
	uint8_t level;                 /* its first record's */
	uint8_t flushed;               /* enum flushed */
};

/* Who [from, enter), in which the ROB is empty, is due to. */
enum flushed {
	FLUSHED_NOT,                   /* Drained: its own */
	FLUSHED_ITSELF,                /* its own: it waits to be alone in the ROB */
	FLUSHED_BY,                    /* another's */
};

static inline bool interval_counts(const struct interval *v) { return v->flags & TIMED_COUNTED; }
static inline bool interval_commits(const struct interval *v) { return !(v->flags & TIMED_SQUASHED); }
/* It has an event, or is Flushed. */
static inline bool interval_is_notable(const struct interval *v) { return v->psv | v->flushed; }
/* Who pays for [from, enter), and its events. */
static inline uint32_t interval_payer(const struct interval *v)
{
	return v->flushed == FLUSHED_BY ? v->flusher : v->insn;
}
static inline uint16_t interval_payer_psv(const struct interval *v)
{
	return v->flushed == FLUSHED_BY ? v->flusher_psv : v->psv;
}
/* Where its first record's instruction line came from. */
static inline enum ilevel interval_code(const struct interval *v) { return (enum ilevel)(v->level >> 3 & 3); }
/* The first cycle after it. */
static inline uint64_t interval_end(const struct interval *v) { return v->commit + interval_commits(v); }

enum { WALKER_BLOCK = 256, WALKER_MATES = 64 }; /* records a read; most that commit in one cycle */

/* Where the walk is, apart so that it stays in registers. */
struct walker_at {
	uint64_t from;                 /* first cycle after all intervals in v */
	uint64_t commit;               /* of the open ones; WALKER_NONE: there is none */
	uint32_t nr, mates;            /* intervals in v; the last of them that commit in the cycle `commit`: open */
	bool flushes;                  /* the instruction last committed, or one squashed since: ... */
	uint16_t flusher_psv;
	uint32_t flusher;
};

/* Records [from, to) of a read, none of them on the wrong path. */
struct stretch { uint16_t from, to; };

/*
 * Invariant: v[nr - mates .. nr) commit in the cycle `commit`, which may not be complete yet; all before it is given
 * out.
 */
struct walker {
	struct walker_at at;
	uint64_t given;                /* first cycle of no interval given out before this call */
	uint64_t squashed;             /* first cycle after the last squash by a squashed flusher */
	struct interval v[WALKER_BLOCK + WALKER_MATES];
	uint16_t notable[WALKER_BLOCK + WALKER_MATES];
	struct stretch right[WALKER_BLOCK / 2 + 1];
};

/* What is final by now, valid until the walker is called again. */
struct walked {
	const struct interval *v;      /* [nr] */
	size_t nr;
	size_t nr_open;                /* behind them in v: those of the cycle last committed in, which may still
	                                * change */
	const uint16_t *notable;       /* [nr_notable]: indices, descending, of those with an event or a flush */
	size_t nr_notable;
	uint64_t empty, stalled;       /* cycles of [from, enter) and [enter, commit) of all of them, counted or not */
	const struct stretch *right;   /* [nr_right]: the records that were read, without those on the wrong path */
	size_t nr_right;
	uint64_t from, end;            /* the cycles of the intervals, `end` excluded */
	uint16_t any, every;           /* flags of at least one interval, and of each */
};

/* Counted, in CYCLE_UNITS a cycle. */
static inline uint64_t walked_units(const struct walked *w)
{
	uint64_t units = 0;

	if (w->every & w->any & TIMED_COUNTED)
		return (w->end - w->from) * CYCLE_UNITS;
	for (const struct interval *v = w->v; v < w->v + w->nr; v++)
		units += interval_counts(v) ? (v->commit - v->from) * CYCLE_UNITS + v->units : 0;
	return units;
}

#define WALKER_NONE UINT64_MAX

void walker_init(struct walker *w);
/*
 * Takes n records, at most WALKER_BLOCK. Gives out the intervals that are now final: not those of the cycle last
 * committed in, as more may commit in it.
 */
void walker_read(struct walker *w, const struct timed *t, size_t n, struct walked *out);
/* The stream has ended: the rest. */
void walker_finish(struct walker *w, struct walked *out);

/* Those of the cycle last committed in, [*nr], as they are now: more may commit in it. Their `units` are not set. */
static inline const struct interval *walker_open(const struct walker *w, size_t *nr)
{
	*nr = w->at.mates;
	return w->v + w->at.nr - w->at.mates;
}

/* The first cycle of which no interval was given out. */
static inline uint64_t walker_end(const struct walker *w)
{
	return w->at.mates ? w->v[w->at.nr - w->at.mates].from : w->at.from;
}

#endif
