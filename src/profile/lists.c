/*
 * Lists made from the ledger: functions, lines, instructions. What only a shown instruction needs is fetched here.
 */
#include <string.h>

#include "profile/ledger.h"
#include "symbol/symbol.h"

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

void query_offer(GArray *found, enum name_match *best, enum name_match match, const void *row)
{
	if (match > *best)
		g_array_set_size(found, 0);
	*best = MAX(*best, match);
	if (match == *best)
		g_array_append_val(found, row);
}

int query_find(struct query *q, const char *name, const struct query_function *const **rows, size_t *nr)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct query_function *));
	enum name_match best = NAME_LAST;
	const struct query_function *f;
	struct ledger *l;
	int err = ledger_open(q, &l);

	for (guint i = 0; !err && i < l->functions->len; i++) {
		f = function_at(l, i);
		query_offer(found, &best, f->symbol ? name_match(name, f->linkage, f->symbol) : NAME_OTHER, f);
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
	int order = compare_counts(y->stack.units, x->stack.units);

	if (!order)
		order = compare_texts(x->file, y->file);
	return order ? order : compare_counts(x->line, y->line);
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
		frame.file = l->sources[query_id(s, 1, l->nr_sources)];
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
static int fill_insn(struct query *q, const struct ledger *l, struct details *d, const struct entry *e,
                     struct query_insn *row)
{
	const struct query_function *f = function_at(l, e->function);
	const char *text;
	int rc;

	*row = (struct query_insn){
		.insn = e->insn, .module = l->modules[e->module].path, .address = e->address, .pc = e->pc,
		.function = f,
		.offset = f->symbol ? e->address - f->address : 0, .file = l->sources[e->source], .line = e->line,
		.disassembly = "", .executions = e->executions,
		.stack = { &g_array_index(l->shares, struct share, e->first), e->nr, e->units, e->units_error },
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

int fill_insns(struct query *q, const struct ledger *l, const uint32_t *order, size_t nr,
               const struct query_insn **rows)
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
	int order = compare_counts(y->units, x->units);

	if (!order)
		order = compare_texts(l->modules[x->module].path, l->modules[y->module].path);
	return order ? order : compare_addresses(a, b, ledger);
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
