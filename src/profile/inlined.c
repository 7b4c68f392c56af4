/*
 * Inlined functions: each with its copies, the calls of it that were inlined, made from the chains of instructions.
 *
 * A copy is one function inlined by one chain of calls into one function that holds the code. An instruction counts
 * once for each function in its chain, for one that is in it twice (a recursion) at the outermost. A profile of an
 * older version does not say which function was called, only its name, and has none.
 */
#include <string.h>

#include "profile/ledger.h"
#include "symbol/symbol.h"

/* An inlined call: what was called, and the call around it. Calls are numbered so that equal ones are one. */
struct call {
	uint32_t function;         /* of table inline_function; 0: unknown */
	uint32_t source, line;
	uint32_t holder;           /* function that holds the code, of the ledger */
	uint32_t around;           /* number of the call around; 0: none */
};

struct inline_row {
	const char *symbol, *linkage;
	uint32_t module, source, line;
};

struct reader {
	struct query *q;
	struct ledger *l;
	struct inline_row *rows;   /* [nr_rows]: by id of table inline_function */
	uint32_t nr_rows;
	GArray *calls;             /* struct call; a call's number is 1-based */
	GHashTable *by_call;       /* struct call * (own) -> number */
	GPtrArray *insns;          /* GArray of entries (uint32_t), by number of call - 1; NULL: none counted */
	GArray *chain;             /* struct call: that of one instruction, innermost first */
};

static guint call_hash(gconstpointer key)
{
	const struct call *c = key;

	return c->function * 0x9e3779b1u ^ c->source * 0x85ebca6bu ^ c->line * 0xc2b2ae35u ^ c->holder * 0x27d4eb2fu ^
	       c->around * 0x165667b1u;
}

static gboolean call_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct call));
}

static uint32_t call_number(struct reader *r, const struct call *c)
{
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(r->by_call, c));

	if (number)
		return number;
	g_array_append_val(r->calls, *c);
	g_ptr_array_add(r->insns, NULL);
	g_hash_table_insert(r->by_call, g_memdup2(c, sizeof(*c)), GUINT_TO_POINTER(r->calls->len));
	return r->calls->len;
}

/* Counts the entry for each function in its chain, outermost first. */
static void end_chain(struct reader *r, uint32_t entry)
{
	uint32_t around = 0;
	struct call *c;

	for (guint i = r->chain->len; i--;) {
		bool outer = false;

		c = &g_array_index(r->chain, struct call, i);
		for (guint k = i + 1; k < r->chain->len && !outer; k++)
			outer = g_array_index(r->chain, struct call, k).function == c->function;
		c->holder = entry_at(r->l, entry)->function;
		c->around = around;
		around = call_number(r, c);
		if (outer || !c->function)
			continue;
		if (!r->insns->pdata[around - 1])
			r->insns->pdata[around - 1] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val((GArray *)r->insns->pdata[around - 1], entry);
	}
	g_array_set_size(r->chain, 0);
}

static int read_functions(struct reader *r)
{
	sqlite3_stmt *s;
	uint32_t id;
	int rc, err = query_prepare(r->q, &s, "SELECT count(*) FROM inline_function");

	if (err)
		return err;
	rc = sqlite3_step(s);
	r->nr_rows = 1 + (rc == SQLITE_ROW ? query_id(s, 0, UINT32_MAX) : 0); /* ids are 1, 2, ... */
	err = query_end(r->q, s, rc == SQLITE_ROW ? SQLITE_DONE : rc);
	r->rows = g_new0(struct inline_row, r->nr_rows);
	if (!err)
		err = query_prepare(r->q, &s,
		                    "SELECT function, module, symbol, linkage, source, line FROM inline_function");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		id = query_id(s, 0, r->nr_rows);
		r->rows[id].module = query_id(s, 1, r->l->nr_modules);
		r->rows[id].symbol = query_text(r->q, s, 2);
		r->rows[id].linkage = query_text(r->q, s, 3);
		r->rows[id].source = query_id(s, 4, r->l->nr_sources);
		r->rows[id].line = query_number(s, 5, 0);
	}
	r->rows[0] = (struct inline_row){ 0 };
	return query_end(r->q, s, rc);
}

/* Both the chains and the entries come by insn. */
static int read_chains(struct reader *r)
{
	uint32_t entry = 0, of = UINT32_MAX;
	sqlite3_stmt *s;
	int rc, err = query_prepare(r->q, &s, "SELECT insn, function, source, line FROM inlined ORDER BY insn, depth");

	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct call c = { .function = query_id(s, 1, r->nr_rows), .source = query_id(s, 2, r->l->nr_sources),
			          .line = query_number(s, 3, 0) };
		uint32_t insn = (uint32_t)sqlite3_column_int64(s, 0);

		while (entry < r->l->entries->len && entry_at(r->l, entry)->insn < insn)
			entry++;
		if (of != UINT32_MAX && (entry != of || r->chain->len >= UINT8_MAX))
			end_chain(r, of);
		of = UINT32_MAX;
		if (entry == r->l->entries->len || entry_at(r->l, entry)->insn != insn)
			continue;
		of = entry;
		if (!r->rows[c.function].symbol || !r->rows[c.function].linkage)
			c.function = 0;
		g_array_append_val(r->chain, c);
	}
	if (of != UINT32_MAX)
		end_chain(r, of);
	return query_end(r->q, s, rc);
}

static const struct query_frame *copy_chain(struct reader *r, uint32_t number, uint32_t *nr)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct query_frame));
	size_t length;
	const struct query_frame *chain;

	while (number) {
		const struct call *c = &g_array_index(r->calls, struct call, number - 1);
		struct query_frame frame = { r->rows[c->function].symbol, r->l->sources[c->source], c->line };

		g_array_append_val(frames, frame);
		number = c->around;
	}
	chain = query_keep(r->q, frames, &length);
	*nr = (uint32_t)length;
	return chain;
}

static gint copy_order(gconstpointer a, gconstpointer b, gpointer ledger)
{
	const struct query_copy *x = a, *y = b;
	int order = compare_counts(y->stack.units, x->stack.units);

	return order ? order : compare_addresses(x->order, y->order, ledger);
}

static gint inlined_order(gconstpointer a, gconstpointer b)
{
	const struct query_inlined *x = a, *y = b;
	int order = compare_counts(y->stack.units, x->stack.units);

	if (!order)
		order = compare_texts(x->module, y->module);
	if (!order)
		order = strcmp(x->linkage, y->linkage);
	if (!order)
		order = compare_texts(x->file, y->file);
	return order ? order : compare_counts(x->line, y->line);
}

/* The copies of each function, by id; and in sums, its stack. */
static void make_copies(struct reader *r, GArray **copies, struct sums *functions)
{
	struct sums sums = sums_new(r->calls->len);

	for (guint i = 0; i < r->calls->len; i++) {
		const struct call *c = &g_array_index(r->calls, struct call, i);
		GArray *insns = r->insns->pdata[i];
		struct query_copy copy = { .function = function_at(r->l, c->holder) };
		size_t nr;

		for (guint k = 0; insns && k < insns->len; k++) {
			const struct entry *e = entry_at(r->l, g_array_index(insns, uint32_t, k));

			sums_add_entry(&sums, i, r->l, e);
			sums_add_entry(functions, c->function, r->l, e);
			copy.executions = MAX(copy.executions, e->executions);
		}
		copy.stack = sums_take(&sums, i, r->q);
		if (!insns)
			continue;
		g_array_sort_with_data(insns, compare_addresses, r->l);
		copy.chain = copy_chain(r, i + 1, &copy.nr_chain);
		copy.order = query_keep(r->q, insns, &nr);
		copy.nr_insns = (uint32_t)nr;
		if (!copies[c->function])
			copies[c->function] = g_array_new(FALSE, FALSE, sizeof(copy));
		g_array_append_val(copies[c->function], copy);
	}
	sums_free(&sums);
}

static void make_rows(struct reader *r)
{
	GArray **copies = g_new0(GArray *, r->nr_rows);
	struct sums sums = sums_new(r->nr_rows);
	size_t nr;

	make_copies(r, copies, &sums);
	for (uint32_t id = 0; id < r->nr_rows; id++) {
		const struct inline_row *row = &r->rows[id];
		struct query_inlined f = {
			.symbol = row->symbol, .linkage = row->linkage, .module = r->l->modules[row->module].path,
			.build_id = r->l->modules[row->module].build_id, .file = r->l->sources[row->source],
			.line = row->line, .stack = sums_take(&sums, id, r->q),
		};

		if (!copies[id])
			continue;
		g_array_sort_with_data(copies[id], copy_order, r->l);
		f.copy = query_keep(r->q, copies[id], &nr);
		f.nr_copies = (uint32_t)nr;
		g_array_append_val(r->q->inlined, f);
	}
	g_array_sort(r->q->inlined, inlined_order);
	sums_free(&sums);
	g_free(copies);
}

static int read_inlined(struct query *q, struct ledger *l)
{
	struct reader r = { .q = q, .l = l };
	int err;

	r.calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	r.chain = g_array_new(FALSE, FALSE, sizeof(struct call));
	r.by_call = g_hash_table_new_full(call_hash, call_equal, g_free, NULL);
	r.insns = g_ptr_array_new();
	err = read_functions(&r);
	if (!err)
		err = read_chains(&r);
	if (!err)
		make_rows(&r);
	else
		for (guint i = 0; i < r.insns->len; i++)
			if (r.insns->pdata[i])
				g_array_free(r.insns->pdata[i], TRUE);
	g_array_free(r.calls, TRUE);
	g_array_free(r.chain, TRUE);
	g_hash_table_destroy(r.by_call);
	g_ptr_array_free(r.insns, TRUE);
	g_free(r.rows);
	return err;
}

int query_inlined(struct query *q, const struct query_inlined **rows, size_t *nr)
{
	struct ledger *l;
	int err = ledger_open(q, &l);

	if (!err && !q->inlined) {
		q->inlined = g_array_new(FALSE, FALSE, sizeof(struct query_inlined));
		if (query_has(q, "inlined", "function") && query_has(q, "inline_function", "function"))
			err = read_inlined(q, l);
	}
	*rows = q->inlined ? (const struct query_inlined *)(void *)q->inlined->data : NULL;
	*nr = q->inlined ? q->inlined->len : 0;
	return err;
}

int query_find_inlined(struct query *q, const char *name, const struct query_inlined *const **rows, size_t *nr)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct query_inlined *));
	enum name_match best = NAME_LAST;
	const struct query_inlined *f;
	size_t all;
	int err = query_inlined(q, &f, &all);

	for (size_t i = 0; !err && i < all; i++, f++) {
		query_offer(found, &best, name_match(name, f->linkage, f->symbol), f);
	}
	*rows = query_keep(q, found, nr);
	return err;
}

int query_copy_insns(struct query *q, const struct query_copy *copy, const struct query_insn **rows, size_t *nr)
{
	struct ledger *l;
	int err = ledger_open(q, &l);

	*nr = copy->nr_insns;
	return err ? err : fill_insns(q, l, copy->order, copy->nr_insns, rows);
}
