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
#include <errno.h>
#include <string.h>

#include "profile/query_private.h"
#include "symbol/symbol.h"

/* An instruction's row. `first` and `nr` are its part of `shares`. */
struct entry {
	uint64_t address, pc, units, executions;
	uint32_t insn, module, function, source, line; /* ids of the tables, 0: none; `function` an index of `functions` */
	uint32_t first, nr;
};

struct module { const char *path, *build_id; };

struct ledger {
	GArray *shares;            /* struct share, by insn, signature */
	GArray *entries;           /* struct entry, by insn */
	struct module *modules;    /* [id] */
	const char **sources;      /* [id] */
	uint32_t nr_modules, nr_sources; /* ids are below */
	GArray *functions;         /* struct query_function, by units */
	uint32_t *in_order;        /* entries by function (as in `functions`), address, pc, insn */
	uint32_t *function_first;  /* [functions + 1]: where each function's part of `in_order` begins */
};

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

static struct entry *entry_at(const struct ledger *l, uint32_t i)
{
	return &g_array_index(l->entries, struct entry, i);
}

static struct query_function *function_at(const struct ledger *l, uint32_t i)
{
	return &g_array_index(l->functions, struct query_function, i);
}

/* A column as an id below `limit`; 0 where it is NULL or makes no sense. */
static uint32_t column_id(sqlite3_stmt *s, int column, uint32_t limit)
{
	sqlite3_int64 id = sqlite3_column_int64(s, column);

	return id > 0 && id < limit ? (uint32_t)id : 0;
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
		*limit = column_id(s, 0, MOST_IDS) + 1;
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
	err = query_prepare(q, &s, "SELECT module, path, build_id FROM module");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		id = column_id(s, 0, l->nr_modules);
		if (id)
			l->modules[id] = (struct module){ query_text(q, s, 1), query_text(q, s, 2) };
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
		id = column_id(s, 0, l->nr_sources);
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
	err = query_prepare(q, &s, "SELECT function, module, symbol, linkage, address, size, source, line FROM function ORDER BY function");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		f.id = column_id(s, 0, *nr_index);
		f.symbol = query_text(q, s, 2);
		f.linkage = query_text(q, s, 3);
		if (!f.id || !f.symbol || !f.linkage)
			continue;
		module = column_id(s, 1, l->nr_modules);
		f.module = l->modules[module].path;
		f.build_id = l->modules[module].build_id;
		f.address = (uint64_t)sqlite3_column_int64(s, 4);
		f.size = (uint64_t)sqlite3_column_int64(s, 5);
		f.file = l->sources[column_id(s, 6, l->nr_sources)];
		f.line = (uint32_t)sqlite3_column_int64(s, 7);
		g_array_append_val(l->functions, f);
		(*index)[f.id] = l->functions->len;
	}
	return query_end(q, s, rc);
}

/* The nameless function of a module, made on first use; `nameless`: by module id, 1 + where it is in `functions`. */
static uint32_t nameless_function(struct ledger *l, uint32_t *nameless, uint32_t module)
{
	struct query_function f = { .module = l->modules[module].path, .build_id = l->modules[module].build_id };

	if (!nameless[module]) {
		g_array_append_val(l->functions, f);
		nameless[module] = l->functions->len;
	}
	return nameless[module] - 1;
}

static void read_entry(struct ledger *l, sqlite3_stmt *s, const uint32_t *index, uint32_t nr_index, uint32_t *nameless)
{
	struct entry e = { .insn = (uint32_t)sqlite3_column_int64(s, 0), .first = l->shares->len };
	uint32_t function = column_id(s, 7, nr_index);

	e.module = column_id(s, 4, l->nr_modules);
	e.address = (uint64_t)sqlite3_column_int64(s, 5);
	e.pc = (uint64_t)sqlite3_column_int64(s, 6);
	e.function = function && index[function] ? index[function] - 1 : nameless_function(l, nameless, e.module);
	e.source = column_id(s, 8, l->nr_sources);
	e.line = (uint32_t)sqlite3_column_int64(s, 9);
	g_array_append_val(l->entries, e);
}

static int read_cycles(struct query *q, struct ledger *l, const uint32_t *index, uint32_t nr_index)
{
	static const char sql[] = "SELECT c.insn, c.signature, c.executions, c.units, i.module, i.address, i.pc, i.function, "
		"i.source, i.line FROM cycles c LEFT JOIN insn i ON i.insn = c.insn ORDER BY c.insn, c.signature";
	uint32_t *nameless = g_new0(uint32_t, l->nr_modules);
	struct share share = { 0 };
	struct entry *e = NULL;
	sqlite3_stmt *s;
	int rc, err = query_prepare(q, &s, sql);

	if (!err) {
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			if (!e || e->insn != (uint32_t)sqlite3_column_int64(s, 0)) {
				read_entry(l, s, index, nr_index, nameless);
				e = entry_at(l, l->entries->len - 1);
			}
			share.signature = (uint16_t)sqlite3_column_int(s, 1);
			share.executions = (uint64_t)sqlite3_column_int64(s, 2);
			share.units = (uint64_t)sqlite3_column_int64(s, 3);
			g_array_append_val(l->shares, share);
			e->nr++;
			e->units += share.units;
			e->executions += share.executions;
		}
		err = query_end(q, s, rc);
	}
	g_free(nameless);
	return err;
}

/* Sums of stacks: by group (function or line), the share of each signature, ascending. */
struct sums {
	GArray **shares;           /* [nr], each of struct share */
	size_t nr;
};

static struct sums sums_new(size_t nr)
{
	struct sums sums = { g_new(GArray *, nr), nr };

	for (size_t i = 0; i < nr; i++)
		sums.shares[i] = g_array_new(FALSE, FALSE, sizeof(struct share));
	return sums;
}

static void sums_add(struct sums *sums, size_t group, const struct share *share)
{
	GArray *shares = sums->shares[group];
	guint at = 0;

	while (at < shares->len && g_array_index(shares, struct share, at).signature < share->signature)
		at++;
	if (at == shares->len || g_array_index(shares, struct share, at).signature != share->signature) {
		g_array_insert_val(shares, at, *share);
		return;
	}
	g_array_index(shares, struct share, at).units += share->units;
	g_array_index(shares, struct share, at).executions += share->executions;
}

static void sums_add_entry(struct sums *sums, size_t group, const struct ledger *l, const struct entry *e)
{
	for (uint32_t i = 0; i < e->nr; i++)
		sums_add(sums, group, &g_array_index(l->shares, struct share, e->first + i));
}

/* The stack of a group; its shares go over to the query. */
static struct stack sums_take(struct sums *sums, size_t group, struct query *q)
{
	struct stack stack = { 0 };
	size_t nr;

	for (guint i = 0; i < sums->shares[group]->len; i++)
		stack.units += g_array_index(sums->shares[group], struct share, i).units;
	stack.share = query_keep(q, sums->shares[group], &nr);
	stack.nr = (uint32_t)nr;
	return stack;
}

static void sums_free(struct sums *sums)
{
	g_free(sums->shares);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* NULL comes last. */
static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return a == b ? 0 : strcmp(a, b);
}

static gint function_order(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct query_function *f = function_at(ledger, *(const uint32_t *)a), *g = function_at(ledger, *(const uint32_t *)b);
	int order = compare(g->stack.units, f->stack.units);

	if (!order)
		order = compare_text(f->module, g->module);
	if (!order)
		order = compare(f->address, g->address);
	return order ? order : compare(f->id, g->id);
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

static gint address_order(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct entry *x = entry_at(ledger, *(const uint32_t *)a), *y = entry_at(ledger, *(const uint32_t *)b);
	int order = compare(x->address, y->address);

	if (!order)
		order = compare(x->pc, y->pc);
	return order ? order : compare(x->insn, y->insn);
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
		g_qsort_with_data(l->in_order + l->function_first[f], (gint)(l->function_first[f + 1] - l->function_first[f]),
		                  sizeof(uint32_t), address_order, l);
	g_free(next);
}

static int ledger_open(struct query *q, struct ledger **out)
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

int query_functions(struct query *q, const struct query_function **rows, size_t *nr)
{
	struct ledger *l;
	int err = ledger_open(q, &l);

	if (err)
		return err;
	*rows = (const struct query_function *)(void *)l->functions->data;
	*nr = l->functions->len;
	return 0;
}

int query_find(struct query *q, const char *name, const struct query_function *const **rows, size_t *nr)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct query_function *));
	enum name_match best = NAME_LAST, match;
	const struct query_function *f;
	struct ledger *l;
	int err = ledger_open(q, &l);

	for (guint i = 0; !err && i < l->functions->len; i++) {
		f = function_at(l, i);
		match = f->symbol ? name_match(name, f->linkage, f->symbol) : NAME_OTHER;
		if (match > best)
			g_array_set_size(found, 0);
		best = MAX(best, match);
		if (match == best)
			g_array_append_val(found, f);
	}
	*rows = query_keep(q, found, nr);
	return err;
}

/* Lines are gathered under a key of source and line; those without source are one. */
static guint line_hash(gconstpointer key)
{
	const struct entry *e = key;

	return e->source * 0x9e3779b1u ^ e->line;
}

static gboolean line_equal(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->source == y->source && (!x->source || x->line == y->line);
}

static gint line_order(gconstpointer a, gconstpointer b)
{
	const struct query_line *x = a, *y = b;
	int order = compare(y->stack.units, x->stack.units);

	if (!order)
		order = compare_text(x->file, y->file);
	return order ? order : compare(x->line, y->line);
}

/* Numbers the lines: `group` gets each entry's, and the rows what can be told without the stacks. */
static GArray *group_lines(const struct ledger *l, uint32_t *group)
{
	GArray *lines = g_array_new(FALSE, TRUE, sizeof(struct query_line));
	GHashTable *numbers = g_hash_table_new(line_hash, line_equal);
	struct query_line *line;

	for (guint i = 0; i < l->entries->len; i++) {
		struct entry *e = entry_at(l, i);

		if (!e->source)
			e->line = 0;
		group[i] = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, e));
		if (!group[i]) {
			g_array_set_size(lines, lines->len + 1);
			group[i] = lines->len;
			g_hash_table_insert(numbers, e, GUINT_TO_POINTER(group[i]));
		}
		line = &g_array_index(lines, struct query_line, --group[i]);
		line->file = l->sources[e->source];
		line->line = e->line;
		line->nr_insns++;
		line->executions = MAX(line->executions, e->executions);
	}
	g_hash_table_destroy(numbers);
	return lines;
}

int query_lines(struct query *q, const struct query_line **rows, size_t *nr)
{
	struct ledger *l;
	uint32_t *group;
	struct sums sums;
	GArray *lines;
	int err = ledger_open(q, &l);

	if (err)
		return err;
	group = g_new(uint32_t, l->entries->len + 1);
	lines = group_lines(l, group);
	sums = sums_new(lines->len);
	for (guint i = 0; i < l->entries->len; i++)
		sums_add_entry(&sums, group[i], l, entry_at(l, i));
	for (guint i = 0; i < lines->len; i++)
		g_array_index(lines, struct query_line, i).stack = sums_take(&sums, i, q);
	sums_free(&sums);
	g_free(group);
	g_array_sort(lines, line_order);
	*rows = query_keep(q, lines, nr);
	return 0;
}

/* The statements that fetch what only shown instructions need. */
struct details {
	sqlite3_stmt *insn, *inlined;
};

static int details_open(struct query *q, struct details *d)
{
	int err = query_prepare(q, &d->insn, "SELECT bytes, disassembly, form, unmodelled FROM insn WHERE insn = ?");

	if (err)
		return err;
	err = query_prepare(q, &d->inlined, "SELECT symbol, source, line FROM inlined WHERE insn = ? ORDER BY depth");
	if (err)
		sqlite3_finalize(d->insn);
	return err;
}

static int details_close(struct query *q, struct details *d, int rc)
{
	int err = query_end(q, d->insn, rc);

	sqlite3_finalize(d->inlined);
	return err;
}

static void fill_chain(struct query *q, const struct ledger *l, sqlite3_stmt *s, struct query_insn *row)
{
	GArray *frames = NULL;
	struct query_frame frame;
	size_t nr;

	while (sqlite3_step(s) == SQLITE_ROW && (!frames || frames->len < UINT8_MAX)) {
		if (!frames)
			frames = g_array_new(FALSE, FALSE, sizeof(frame));
		frame.symbol = query_text(q, s, 0);
		frame.file = l->sources[column_id(s, 1, l->nr_sources)];
		frame.line = (uint32_t)sqlite3_column_int64(s, 2);
		g_array_append_val(frames, frame);
	}
	if (!frames)
		return;
	row->inlined = query_keep(q, frames, &nr);
	row->nr_inlined = (uint8_t)nr;
}

static void fill_bytes(struct query *q, sqlite3_stmt *s, struct query_insn *row)
{
	int size = MIN(sqlite3_column_bytes(s, 0), UINT8_MAX);

	row->length = (uint8_t)size;
	if (size)
		row->bytes = (const uint8_t *)g_string_chunk_insert_len(q->strings, sqlite3_column_blob(s, 0), size);
}

/* One instruction in full. SQLITE_DONE, or what went wrong. */
static int fill_insn(struct query *q, const struct ledger *l, struct details *d, const struct entry *e, struct query_insn *row)
{
	const struct query_function *f = function_at(l, e->function);
	const char *text;
	int rc;

	*row = (struct query_insn){
		.insn = e->insn, .module = l->modules[e->module].path, .address = e->address, .pc = e->pc, .function = f,
		.offset = f->symbol ? e->address - f->address : 0, .file = l->sources[e->source], .line = e->line,
		.disassembly = "", .executions = e->executions,
		.stack = { &g_array_index(l->shares, struct share, e->first), e->nr, e->units },
	};
	sqlite3_bind_int64(d->insn, 1, e->insn);
	rc = sqlite3_step(d->insn);
	if (rc == SQLITE_ROW) {
		fill_bytes(q, d->insn, row);
		text = query_text(q, d->insn, 1);
		row->disassembly = text ? text : "";
		row->form = query_text(q, d->insn, 2);
		row->unmodelled = sqlite3_column_int(d->insn, 3);
		rc = SQLITE_DONE;
	}
	sqlite3_reset(d->insn);
	if (rc != SQLITE_DONE)
		return rc;
	sqlite3_bind_int64(d->inlined, 1, e->insn);
	fill_chain(q, l, d->inlined, row);
	return sqlite3_reset(d->inlined) == SQLITE_OK ? SQLITE_DONE : SQLITE_CORRUPT;
}

/* The entries `order` [nr] in full, in that order. */
static int fill_insns(struct query *q, const struct ledger *l, const uint32_t *order, size_t nr, const struct query_insn **rows)
{
	struct query_insn *all = g_new(struct query_insn, nr + 1);
	struct details details;
	int rc = SQLITE_DONE, err = details_open(q, &details);

	g_ptr_array_add(q->memory, all);
	*rows = all;
	if (err)
		return err;
	for (size_t i = 0; rc == SQLITE_DONE && i < nr; i++)
		rc = fill_insn(q, l, &details, entry_at(l, order[i]), &all[i]);
	return details_close(q, &details, rc);
}

static gint hot_order(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct ledger *l = ledger;
	const struct entry *x = entry_at(l, *(const uint32_t *)a), *y = entry_at(l, *(const uint32_t *)b);
	int order = compare(y->units, x->units);

	if (!order)
		order = compare_text(l->modules[x->module].path, l->modules[y->module].path);
	return order ? order : address_order(a, b, ledger);
}

int query_hot(struct query *q, size_t limit, const struct query_insn **rows, size_t *nr, size_t *total)
{
	uint32_t *order;
	struct ledger *l;
	int err = ledger_open(q, &l);

	if (err)
		return err;
	order = g_new(uint32_t, l->entries->len + 1);
	for (uint32_t i = 0; i < l->entries->len; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)l->entries->len, sizeof(uint32_t), hot_order, l);
	*nr = limit && limit < l->entries->len ? limit : l->entries->len;
	if (total)
		*total = l->entries->len;
	err = fill_insns(q, l, order, *nr, rows);
	g_free(order);
	return err;
}

int query_insns(struct query *q, const struct query_function *f, const struct query_insn **rows, size_t *nr)
{
	struct ledger *l;
	size_t at;
	int err = ledger_open(q, &l);

	if (err)
		return err;
	at = (size_t)(f - (const struct query_function *)(void *)l->functions->data);
	g_assert(at < l->functions->len);
	*nr = l->function_first[at + 1] - l->function_first[at];
	return fill_insns(q, l, l->in_order + l->function_first[at], *nr, rows);
}
