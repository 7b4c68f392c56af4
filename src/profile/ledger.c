/*
 * The ledger: every instruction that has cycles, with its stack, and the same summed up by function and by line.
 *
 * It is read once, in one pass over `cycles`, into arrays; functions, lines and the order of instructions are then
 * worked out in memory. What only a shown instruction needs (text, bytes, inline chain) is fetched for those that
 * are asked for. So the list of all of half a million instructions and the top twenty of them are both fast.
 *
 * An instruction without row in `insn` (a run whose names could not be saved) counts as nameless JIT code, so that
 * nothing is lost from the sums.
 */
#include <string.h>

#include "profile/ledger.h"
#include "record/timed.h"

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	g_array_free(l->shares, TRUE);
	g_array_free(l->entries, TRUE);
	g_array_free(l->functions, TRUE);
	g_free(l->modules);
	g_free(l->sources);
	g_free(l->in_order);
	g_free(l->function_first);
	g_free(l);
}

/* Ids above this are no ids that this project gives out: a table of 16 million functions. */
enum { MOST_IDS = 1 << 24 };

/* One more than the highest id of a table; 1 where it is empty. */
static int id_limit(struct query *q, const char *sql, uint32_t *limit)
{
	sqlite3_stmt *s;
	int rc, err = query_prepare(q, &s, sql);

	if (err)
		return err;
	rc = sqlite3_step(s);
	*limit = 1;
	if (rc == SQLITE_ROW) {
		*limit = query_id(s, 0, MOST_IDS) + 1;
		rc = sqlite3_step(s);
	}
	return query_end(q, s, rc);
}

static int read_modules(struct query *q, struct ledger *l)
{
	sqlite3_stmt *s;
	uint32_t id;
	int rc, err = id_limit(q, "SELECT max(module) FROM module", &l->nr_modules);

	if (err)
		return err;
	l->modules = g_new0(struct module, l->nr_modules);
	err = query_prepare(q, &s, query_has(q, "module_code", "identity") ?
	                    "SELECT module, path, build_id, ifnull(build_id, identity) FROM module "
	                    "LEFT JOIN module_code USING (module)" :
	                    "SELECT module, path, build_id, build_id FROM module");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		id = query_id(s, 0, l->nr_modules);
		if (id)
			l->modules[id] = (struct module){ query_text(q, s, 1), query_text(q, s, 2),
				                          query_text(q, s, 3) };
	}
	return query_end(q, s, rc);
}

static int read_sources(struct query *q, struct ledger *l)
{
	sqlite3_stmt *s;
	uint32_t id;
	int rc, err = id_limit(q, "SELECT max(source) FROM source", &l->nr_sources);

	if (err)
		return err;
	l->sources = g_new0(const char *, l->nr_sources);
	err = query_prepare(q, &s, "SELECT source, path FROM source");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		id = query_id(s, 0, l->nr_sources);
		if (id)
			l->sources[id] = query_text(q, s, 1);
	}
	return query_end(q, s, rc);
}

/* Functions as the file has them: `index` gets, by id, 1 + where it is in `functions`. */
static int read_functions(struct query *q, struct ledger *l, uint32_t **index, uint32_t *nr_index)
{
	struct query_function f = { 0 };
	sqlite3_stmt *s;
	uint32_t module;
	int rc, err = id_limit(q, "SELECT max(function) FROM function", nr_index);

	if (err)
		return err;
	*index = g_new0(uint32_t, *nr_index);
	err = query_prepare(q, &s,
	                    "SELECT function, module, symbol, linkage, address, size, source, line FROM function ORDER "
	                    "BY function");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		f.id = query_id(s, 0, *nr_index);
		f.symbol = query_text(q, s, 2);
		f.linkage = query_text(q, s, 3);
		if (!f.id || !f.symbol || !f.linkage)
			continue;
		module = query_id(s, 1, l->nr_modules);
		f.module = l->modules[module].path;
		f.build_id = l->modules[module].build_id;
		f.identity = l->modules[module].identity;
		f.address = (uint64_t)sqlite3_column_int64(s, 4);
		f.size = (uint64_t)sqlite3_column_int64(s, 5);
		f.file = l->sources[query_id(s, 6, l->nr_sources)];
		f.line = (uint32_t)sqlite3_column_int64(s, 7);
		g_array_append_val(l->functions, f);
		(*index)[f.id] = l->functions->len;
	}
	return query_end(q, s, rc);
}

/* The nameless function of a module, made on first use; `nameless`: by module id, 1 + where it is in `functions`. */
static uint32_t nameless_function(struct ledger *l, uint32_t *nameless, uint32_t module)
{
	struct query_function f = { .module = l->modules[module].path, .build_id = l->modules[module].build_id,
		                    .identity = l->modules[module].identity };

	if (!nameless[module]) {
		g_array_append_val(l->functions, f);
		nameless[module] = l->functions->len;
	}
	return nameless[module] - 1;
}

static void read_entry(struct ledger *l, sqlite3_stmt *s, const uint32_t *index, uint32_t nr_index, uint32_t *nameless)
{
	struct entry e = { .insn = (uint32_t)sqlite3_column_int64(s, 0), .first = l->shares->len };
	uint32_t function = query_id(s, 9, nr_index);

	e.module = query_id(s, 6, l->nr_modules);
	e.address = (uint64_t)sqlite3_column_int64(s, 7);
	e.pc = (uint64_t)sqlite3_column_int64(s, 8);
	e.function = function && index[function] ? index[function] - 1 : nameless_function(l, nameless, e.module);
	e.source = query_id(s, 10, l->nr_sources);
	e.line = (uint32_t)sqlite3_column_int64(s, 11);
	g_array_append_val(l->entries, e);
}

static uint64_t count_within(sqlite3_stmt *s, int column, uint64_t *left)
{
	uint64_t n = MIN((uint64_t)MAX(sqlite3_column_int64(s, column), 0), *left);

	*left -= n;
	return n;
}

bool read_share(sqlite3_stmt *s, int column, struct share *share, struct share *left)
{
	sqlite3_int64 signature = sqlite3_column_int64(s, column);

	*share = (struct share){
		.signature = (uint16_t)signature,
		.executions = count_within(s, column + 1, &left->executions),
		.units = count_within(s, column + 2, &left->units),
		.executions_error = query_error(s, column + 3), .units_error = query_error(s, column + 4),
	};
	return sqlite3_column_type(s, column) == SQLITE_INTEGER && signature >= 0 && signature < 1 << NR_PSV;
}

static int read_cycles(struct query *q, struct ledger *l, const uint32_t *index, uint32_t nr_index)
{
	static const char sql[] =
		"SELECT c.insn, c.signature, c.executions, c.units, c.executions_error, c.units_error, "
		"i.module, i.address, i.pc, i.function, i.source, i.line "
		"FROM cycles c LEFT JOIN insn i ON i.insn = c.insn ORDER BY c.insn, c.signature";
	uint32_t *nameless = g_new0(uint32_t, l->nr_modules);
	struct share share, left = SHARES_MOST;
	struct entry *e = NULL;
	sqlite3_stmt *s;
	int rc, err = query_prepare(q, &s, sql);

	if (!err) {
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			if (!read_share(s, 1, &share, &left)) {
				err = query_damaged(q, "an instruction with events that there are not");
				break;
			}
			if (!e || e->insn != (uint32_t)sqlite3_column_int64(s, 0)) {
				read_entry(l, s, index, nr_index, nameless);
				e = entry_at(l, l->entries->len - 1);
			}
			g_array_append_val(l->shares, share);
			e->nr++;
			e->units += share.units;
			e->units_error += share.units_error;
			e->executions += share.executions;
		}
		if (err)
			sqlite3_finalize(s);
		else
			err = query_end(q, s, rc);
	}
	g_free(nameless);
	return err;
}

struct sums sums_new(size_t nr)
{
	struct sums sums = { g_new(GArray *, nr) };

	for (size_t i = 0; i < nr; i++)
		sums.shares[i] = g_array_new(FALSE, FALSE, sizeof(struct share));
	return sums;
}

static void sums_add(struct sums *sums, size_t group, const struct share *share)
{
	GArray *shares = sums->shares[group];
	struct share *sum;
	guint at = 0;

	while (at < shares->len && g_array_index(shares, struct share, at).signature < share->signature)
		at++;
	if (at == shares->len || g_array_index(shares, struct share, at).signature != share->signature) {
		g_array_insert_val(shares, at, *share);
		return;
	}
	sum = &g_array_index(shares, struct share, at);
	sum->units += share->units;
	sum->executions += share->executions;
	sum->units_error += share->units_error;
	sum->executions_error += share->executions_error;
}

void sums_add_entry(struct sums *sums, size_t group, const struct ledger *l, const struct entry *e)
{
	for (uint32_t i = 0; i < e->nr; i++)
		sums_add(sums, group, &g_array_index(l->shares, struct share, e->first + i));
}

struct stack sums_take(struct sums *sums, size_t group, struct query *q)
{
	struct stack stack = { 0 };
	size_t nr;

	for (guint i = 0; i < sums->shares[group]->len; i++) {
		stack.units += g_array_index(sums->shares[group], struct share, i).units;
		stack.units_error += g_array_index(sums->shares[group], struct share, i).units_error;
	}
	stack.share = query_keep(q, sums->shares[group], &nr);
	stack.nr = (uint32_t)nr;
	return stack;
}

void sums_free(struct sums *sums)
{
	g_free(sums->shares);
}

int compare_counts(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return a == b ? 0 : strcmp(a, b);
}

static gint function_order(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct query_function *f = function_at(ledger, *(const uint32_t *)a),
				    *g = function_at(ledger, *(const uint32_t *)b);
	int order = compare_counts(g->stack.units, f->stack.units);

	if (!order)
		order = compare_texts(f->module, g->module);
	if (!order)
		order = compare_counts(f->address, g->address);
	return order ? order : compare_counts(f->id, g->id);
}

/* Brings the functions that have instructions into their order, and drops the others. */
static void sort_functions(struct ledger *l)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GArray *sorted = g_array_new(FALSE, FALSE, sizeof(struct query_function));
	uint32_t *moved = g_new0(uint32_t, l->functions->len + 1);

	for (uint32_t i = 0; i < l->functions->len; i++)
		if (function_at(l, i)->nr_insns)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, function_order, l);
	for (uint32_t i = 0; i < order->len; i++) {
		uint32_t old = g_array_index(order, uint32_t, i);

		moved[old] = i;
		g_array_append_val(sorted, *function_at(l, old));
	}
	for (guint i = 0; i < l->entries->len; i++)
		entry_at(l, i)->function = moved[entry_at(l, i)->function];
	g_array_free(l->functions, TRUE);
	l->functions = sorted;
	g_array_free(order, TRUE);
	g_free(moved);
}

static void sum_functions(struct query *q, struct ledger *l)
{
	struct sums sums = sums_new(l->functions->len);

	for (guint i = 0; i < l->entries->len; i++) {
		const struct entry *e = entry_at(l, i);

		sums_add_entry(&sums, e->function, l, e);
		function_at(l, e->function)->nr_insns++;
	}
	for (guint i = 0; i < l->functions->len; i++)
		function_at(l, i)->stack = sums_take(&sums, i, q);
	sums_free(&sums);
	sort_functions(l);
}

gint compare_addresses(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct entry *x = entry_at(ledger, *(const uint32_t *)a), *y = entry_at(ledger, *(const uint32_t *)b);
	int order = compare_counts(x->address, y->address);

	if (!order)
		order = compare_counts(x->pc, y->pc);
	return order ? order : compare_counts(x->insn, y->insn);
}

/* Entries by function: counted, dealt out, and each function's part sorted. */
static void order_entries(struct ledger *l)
{
	uint32_t nr = l->functions->len, *next = g_new0(uint32_t, nr + 1);

	l->function_first = g_new0(uint32_t, nr + 1);
	l->in_order = g_new(uint32_t, l->entries->len + 1);
	for (guint i = 0; i < l->entries->len; i++)
		l->function_first[entry_at(l, i)->function + 1]++;
	for (uint32_t f = 0; f < nr; f++)
		next[f + 1] = l->function_first[f + 1] += l->function_first[f];
	for (uint32_t i = 0; i < l->entries->len; i++)
		l->in_order[next[entry_at(l, i)->function]++] = i;
	for (uint32_t f = 0; f < nr; f++)
		g_qsort_with_data(l->in_order + l->function_first[f],
		                  (gint)(l->function_first[f + 1] - l->function_first[f]), sizeof(uint32_t),
		                  compare_addresses, l);
	g_free(next);
}

int ledger_open(struct query *q, struct ledger **out)
{
	struct ledger *l = q->ledger;
	uint32_t *index = NULL, nr_index;
	int err;

	*out = l;
	if (l)
		return 0;
	l = g_new0(struct ledger, 1);
	l->shares = g_array_new(FALSE, FALSE, sizeof(struct share));
	l->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	l->functions = g_array_new(FALSE, FALSE, sizeof(struct query_function));
	err = read_modules(q, l);
	if (!err)
		err = read_sources(q, l);
	if (!err)
		err = read_functions(q, l, &index, &nr_index);
	if (!err)
		err = read_cycles(q, l, index, nr_index);
	g_free(index);
	if (err) {
		ledger_free(l);
		return err;
	}
	sum_functions(q, l);
	order_entries(l);
	*out = q->ledger = l;
	return 0;
}

