/*
 * The front-end miss event table: a circular buffer with a row for each branch in flight.
 *
 *            head           tail             fetch
 *      ───────┼──────────────┼─────────────────┼───────
 *       free  │ in the ROB   │ fetched         │ being filled: of the branch to be fetched next; free behind it
 *
 * A row takes the cycles in which the front end delivered nothing for a miss between the branch before and its own, so
 * that what is behind a mispredicted branch stands in rows behind that branch's: when it is resolved they are dropped,
 * and what was missed on the wrong path with them. When a branch retires, its row is added up.
 *
 * The hardware's penalty counter of a row runs in every cycle from the branch's dispatch on in which the ROB is not
 * full. Here a row has what one counter of all such cycles showed at the dispatch; the penalty is by how much it has
 * grown since.
 *
 * The paper's buffer has as many rows as the core supports branches in flight, so that none is ever without. With fewer
 * (fmt.rows) a branch that finds no row is not followed: what it had gets added to by the branch behind, a
 * misprediction of it stays in the base, and what is missed on its wrong path is not told from the right one.
 * Ref: Eyerman et al., ASPLOS 2006, §4.1.1, figure 10.
 */
#ifndef CYCLEWISE_METHOD_FMT_TABLE_H
#define CYCLEWISE_METHOD_FMT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "method/cpi.h"

#define FMT_NO_ROW UINT64_MAX

struct fmt_row {
	uint64_t local[CPI_ITLB + 1];  /* cycles; [CPI_L1I .. CPI_ITLB] */
	uint64_t dispatched;           /* what the counter of the penalty showed then */
	uint64_t penalty;              /* cycles, of a mispredicted branch */
	uint64_t retires;              /* cycle; UINT64_MAX until it dispatches, and on a wrong path */
	bool mispredict;
};

/* Pointers run freely. Invariant: head <= tail <= fetch <= head + nr_rows. */
struct fmt_table {
	struct fmt_row *row;           /* [mask + 1], more than nr_rows */
	uint64_t mask;
	uint64_t nr_rows;              /* of branches; one more is being filled */
	uint64_t head, tail, fetch;
	uint64_t waits;                /* row of the mispredicted branch whose penalty runs; FMT_NO_ROW: none */
	uint64_t total[NR_CPI];        /* the global counters */
};

/* nr_rows >= 1. */
void fmt_table_init(struct fmt_table *f, uint64_t nr_rows);
void fmt_table_fini(struct fmt_table *f);
/* Rows of the table on a core: fmt.rows, or as many as it can have branches in flight. */
uint64_t fmt_table_rows(const struct core_desc *desc);

static inline struct fmt_row *fmt_table_row(const struct fmt_table *f, uint64_t id)
{
	return &f->row[id & f->mask];
}

/* Nothing was delivered for so many cycles. */
static inline void fmt_table_stall(struct fmt_table *f, enum cpi k, uint64_t cycles)
{
	fmt_table_row(f, f->fetch)->local[k] += cycles;
}

/*
 * The branches that retire up to `cycle`, in order. A mispredicted one does so when its penalty is over at the
 * soonest.
 */
static inline void fmt_table_retire(struct fmt_table *f, uint64_t cycle)
{
	for (; f->head < f->tail && f->head != f->waits; f->head++) {
		const struct fmt_row *row = fmt_table_row(f, f->head);

		if (row->retires > cycle)
			return;
		for (unsigned k = CPI_L1I; k <= CPI_ITLB; k++)
			f->total[k] += row->local[k];
		f->total[CPI_BRANCH] += row->mispredict ? row->penalty : 0;
	}
}

/* A branch is fetched: it has the row that was being filled. The row's number, or FMT_NO_ROW where all are taken. */
static inline uint64_t fmt_table_fetch(struct fmt_table *f)
{
	if (__builtin_expect(f->fetch == f->head + f->nr_rows, 0))
		return FMT_NO_ROW;
	*fmt_table_row(f, ++f->fetch) = (struct fmt_row){ .retires = UINT64_MAX };
	return f->fetch - 1;
}

/*
 * The branch of row `id` is in the ROB, where the counter of penalties shows `clock`; it retires in the cycle `retires`
 * (UINT64_MAX: never).
 */
static inline void fmt_table_dispatch(struct fmt_table *f, uint64_t id, uint64_t clock, uint64_t retires)
{
	struct fmt_row *row = fmt_table_row(f, id);

	row->dispatched = clock;
	row->retires = retires;
	f->tail = id + 1;
}

/* The branch of row `id`, which has dispatched, turns out mispredicted: rows behind it are dropped. */
static inline void fmt_table_resolve(struct fmt_table *f, uint64_t id)
{
	fmt_table_row(f, id)->mispredict = true;
	f->waits = id;
	f->tail = f->fetch = id + 1;
	*fmt_table_row(f, f->fetch) = (struct fmt_row){ .retires = UINT64_MAX };
}

/*
 * The first of the right path is in the ROB: the penalty ends; `own` cycles of it belong to that instruction's own
 * misses.
 */
static inline void fmt_table_recover(struct fmt_table *f, uint64_t clock, uint64_t own)
{
	struct fmt_row *row = fmt_table_row(f, f->waits);

	row->penalty = clock - row->dispatched - own;
	f->waits = FMT_NO_ROW;
}

/* What was fetched behind a squash by another than a branch: the row that was being filled then, `id`, is again. */
static inline void fmt_table_squash(struct fmt_table *f, uint64_t id)
{
	f->fetch = id;
	f->tail = f->tail < id ? f->tail : id;
}

#endif
