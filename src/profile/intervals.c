/*
 * Queries: the intervals of the run, each with its stack.
 */
#include "profile/ledger.h"

static struct query_interval read_interval(sqlite3_stmt *s)
{
	return (struct query_interval){
		.interval = query_number(s, 0, 0), .thread = query_number(s, 1, 0),
		.begin_instructions = (uint64_t)sqlite3_column_int64(s, 2),
		.begin_units = (uint64_t)sqlite3_column_int64(s, 3),
		.instructions = (uint64_t)sqlite3_column_int64(s, 4), .units = (uint64_t)sqlite3_column_int64(s, 5),
		.instructions_error = query_error(s, 6), .units_error = query_error(s, 7),
	};
}

/* Rows of intervals, and their shares one after another. */
static int read_intervals(struct query *q, sqlite3_stmt *s, GArray *intervals, GArray *shares)
{
	struct share left = SHARES_MOST;
	sqlite3_int64 last = 0;
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct query_interval *interval;
		struct share share;

		if (!intervals->len || sqlite3_column_int64(s, 0) != last) {
			struct query_interval begun = read_interval(s);

			g_array_append_val(intervals, begun);
			last = sqlite3_column_int64(s, 0);
		}
		if (sqlite3_column_type(s, 8) == SQLITE_NULL)
			continue;          /* it has no stack */
		if (!read_share(s, 8, &share, &left)) {
			sqlite3_finalize(s);
			return query_damaged(q, "an interval with events that there are not");
		}
		g_array_append_val(shares, share);
		interval = &g_array_index(intervals, struct query_interval, intervals->len - 1);
		interval->stack.nr++;
		interval->stack.units += share.units;
		interval->stack.units_error += share.units_error;
	}
	return query_end(q, s, rc);
}

int query_intervals(struct query *q, const struct query_interval **rows, size_t *nr)
{
	static const char sql[] =
		"SELECT i.interval, i.thread, i.begin_instructions, i.begin_units, i.instructions, i.units, "
		"i.instructions_error, i.units_error, "
		"c.signature, c.executions, c.units, c.executions_error, c.units_error "
		"FROM interval i LEFT JOIN interval_cycles c ON c.interval = i.interval "
		"ORDER BY i.thread, i.begin_instructions, i.begin_units, i.interval, c.signature";
	GArray *intervals = g_array_new(FALSE, FALSE, sizeof(struct query_interval));
	GArray *shares = g_array_new(FALSE, FALSE, sizeof(struct share));
	struct query_interval *interval;
	const struct share *share;
	sqlite3_stmt *s;
	size_t nr_shares;
	int err = query_prepare(q, &s, sql);

	if (!err)
		err = read_intervals(q, s, intervals, shares);
	*rows = interval = query_keep(q, intervals, nr);
	share = query_keep(q, shares, &nr_shares);
	for (size_t i = 0; i < *nr; i++) {
		interval[i].stack.share = share;
		share += interval[i].stack.nr;
	}
	return err;
}
