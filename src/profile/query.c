/*
 * Queries: the run, and the tables that are lists of plain rows.
 */
#include "profile/query.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "method/method.h"
#include "profile/private.h"
#include "profile/query_private.h"

static const char *path_of(const struct query *q)
{
	return q->profile->path ? q->profile->path : "profile";
}

int query_damaged(struct query *q, const char *how)
{
	int err = error_set(EINVAL, path_of(q), "damaged profile: %s", how);

	error_remedy("record it again");
	return err;
}

static int query_failed(struct query *q, int rc)
{
	if (rc == SQLITE_NOMEM)
		return error_errno(ENOMEM, path_of(q));
	return query_damaged(q, rc == SQLITE_INTERRUPT ? "reading it would not end" : sqlite3_errmsg(q->db));
}

int query_prepare(struct query *q, sqlite3_stmt **out, const char *sql)
{
	int rc = sqlite3_prepare_v2(q->db, sql, -1, out, NULL);

	q->profile->steps = q->profile->most_steps;
	return rc == SQLITE_OK ? 0 : query_failed(q, rc);
}

bool query_has(struct query *q, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(q->db, "main", table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

int query_end(struct query *q, sqlite3_stmt *statement, int rc)
{
	int err = rc == SQLITE_DONE ? 0 : query_failed(q, rc);

	sqlite3_finalize(statement);
	return err;
}

const char *query_text(struct query *q, sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? g_string_chunk_insert_const(q->strings, text) : NULL;
}

uint32_t query_id(sqlite3_stmt *s, int column, uint32_t limit)
{
	sqlite3_int64 id = sqlite3_column_int64(s, column);

	return id > 0 && id < limit ? (uint32_t)id : 0;
}

uint32_t query_number(sqlite3_stmt *s, int column, uint32_t other)
{
	sqlite3_int64 number = sqlite3_column_int64(s, column);

	if (sqlite3_column_type(s, column) == SQLITE_NULL || number < 0 || number >= UINT32_MAX)
		return other;
	return (uint32_t)number;
}

double query_error(sqlite3_stmt *s, int column)
{
	double error = sqlite3_column_double(s, column);

	return error > 0 && isfinite(error) ? error : 0;
}

void *query_keep(struct query *q, GArray *array, size_t *nr)
{
	void *elements;

	*nr = array->len;
	elements = g_array_free(array, FALSE);
	if (!elements)
		elements = g_malloc0(sizeof(void *)); /* also an empty NULL-terminated list */
	g_ptr_array_add(q->memory, elements);
	return elements;
}

static int read_values(struct query *q)
{
	sqlite3_stmt *s;
	int rc, err = query_prepare(q, &s, "SELECT key, value FROM run");

	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *key = query_text(q, s, 0), *value = query_text(q, s, 1);

		if (key && value)
			g_hash_table_insert(q->values, (gpointer)key, (gpointer)value);
	}
	return query_end(q, s, rc);
}

const char *query_value(struct query *q, const char *key)
{
	return g_hash_table_lookup(q->values, key);
}

static int64_t number(struct query *q, const char *key)
{
	const char *text = query_value(q, key);

	return text ? g_ascii_strtoll(text, NULL, 10) : 0;
}

static uint64_t count(struct query *q, const char *key)
{
	int64_t value = number(q, key);

	return value > 0 ? (uint64_t)value : 0;
}

/* A standard error. */
static double error_of(struct query *q, const char *key)
{
	const char *text = query_value(q, key);
	double value = text ? g_ascii_strtod(text, NULL) : 0;

	return value > 0 && isfinite(value) ? value : 0;
}

/* A JSON array of strings as a C one; what is no such array is an empty one. */
static int list(struct query *q, const char *key, const char *const **items, uint32_t *nr)
{
	static const char sql[] =
		"SELECT e.value FROM run, json_each(CASE WHEN json_valid(run.value) THEN run.value ELSE '[]' END) e "
		"WHERE run.key = ? ORDER BY e.id";
	GArray *array = g_array_new(TRUE, FALSE, sizeof(char *));
	const char *text;
	sqlite3_stmt *s;
	size_t length;
	int rc, err = query_prepare(q, &s, sql);

	if (!err) {
		sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			text = query_text(q, s, 0);
			if (text)
				g_array_append_val(array, text);
		}
		err = query_end(q, s, rc);
	}
	*items = query_keep(q, array, &length);
	*nr = (uint32_t)length;
	return err;
}

static int read_run(struct query *q)
{
	struct run_info *run = &q->run;
	int err = read_values(q);

	if (!err)
		err = list(q, "arguments", &run->arguments, &run->nr_arguments);
	if (!err)
		err = list(q, "notes", &run->notes, &run->nr_notes);
	if (err)
		return err;
	run->version = query_value(q, "version");
	run->program = query_value(q, "program");
	run->isa = query_value(q, "isa");
	run->core = query_value(q, "core");
	run->model = query_value(q, "model");
	run->emulator = query_value(q, "emulator");
	run->options = query_value(q, "options");
	run->window = query_value(q, "window");
	run->complete = number(q, "complete") == 1;
	run->ended = query_value(q, "exit_status") || query_value(q, "signal");
	run->exit_status = (int)number(q, "exit_status");
	run->signal = (int)number(q, "signal");
	run->cycles_units = count(q, "cycles_units");
	run->instructions = count(q, "instructions");
	run->uops = count(q, "uops");
	run->cycles_units_error = error_of(q, "cycles_units_error");
	run->instructions_error = error_of(q, "instructions_error");
	run->uops_error = error_of(q, "uops_error");
	run->units_per_cycle = count(q, "units_per_cycle");
	if (!run->units_per_cycle)
		run->units_per_cycle = CYCLE_UNITS;
	run->period = count(q, "period");
	run->seed = count(q, "seed");
	run->forks = count(q, "forks");
	run->execs = count(q, "execs");
	run->lost = count(q, "lost");
	run->width = count(q, "width");
	return 0;
}

int query_new(struct query **out, struct profile *p)
{
	struct query *q = g_new0(struct query, 1);
	int err;

	q->profile = p;
	q->db = profile_db(p);
	q->strings = g_string_chunk_new(1 << 16);
	q->memory = g_ptr_array_new_with_free_func(g_free);
	q->values = g_hash_table_new(g_str_hash, g_str_equal);
	err = read_run(q);
	if (err)
		query_free(q);
	else
		*out = q;
	return err;
}

void query_free(struct query *q)
{
	if (!q)
		return;
	ledger_free(q->ledger);
	if (q->texts)
		g_hash_table_destroy(q->texts);
	if (q->inlined)
		g_array_free(q->inlined, TRUE);
	g_hash_table_destroy(q->values);
	g_ptr_array_free(q->memory, TRUE);
	g_string_chunk_free(q->strings);
	g_free(q);
}

void query_note(struct query *q, const char *format, ...)
{
	GArray *notes = g_array_new(TRUE, FALSE, sizeof(char *));
	const char *note;
	va_list ap;
	size_t nr;
	char *text;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	note = g_string_chunk_insert_const(q->strings, text);
	g_free(text);
	g_array_append_vals(notes, q->run.notes, q->run.nr_notes);
	for (uint32_t i = 0; i < q->run.nr_notes && note; i++)
		if (!strcmp(q->run.notes[i], note))
			note = NULL;
	if (note)
		g_array_append_val(notes, note);
	q->run.notes = query_keep(q, notes, &nr);
	q->run.nr_notes = (uint32_t)nr;
}

const struct run_info *query_run(const struct query *q)
{
	return &q->run;
}

static uint64_t column_count(sqlite3_stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s, column);
}

static const char *column_name(struct query *q, sqlite3_stmt *s, int column)
{
	const char *text = query_text(q, s, column);

	return text ? text : "";
}

static void fill_slot_errors(sqlite3_stmt *s, int column, struct slot_errors *errors)
{
	errors->total = query_error(s, column);
	errors->filled = query_error(s, column + 1);
	errors->issued = query_error(s, column + 2);
	errors->retired = query_error(s, column + 3);
	errors->recovery = query_error(s, column + 4);
}

static void fill_slots(sqlite3_stmt *s, int column, struct slot_counts *slots)
{
	slots->total = column_count(s, column);
	slots->filled = column_count(s, column + 1);
	slots->issued = column_count(s, column + 2);
	slots->retired = column_count(s, column + 3);
	slots->recovery = column_count(s, column + 4);
}

static int read_texts(struct query *q)
{
	struct query_source *source;
	const char *path;
	sqlite3_stmt *s;
	int rc, err;

	q->texts = g_hash_table_new(g_str_hash, g_str_equal);
	if (!query_has(q, "source_text", "md5"))
		return 0;
	err = query_prepare(q, &s, "SELECT path, md5, newer FROM source JOIN source_text USING (source)");
	if (err)
		return err;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		path = query_text(q, s, 0);
		source = g_new0(struct query_source, 1);
		g_ptr_array_add(q->memory, source);
		source->md5 = query_text(q, s, 1);
		source->newer = sqlite3_column_int(s, 2);
		if (path && source->md5)
			g_hash_table_insert(q->texts, (gpointer)(uintptr_t)path, source);
	}
	return query_end(q, s, rc);
}

int query_source(struct query *q, const char *file, const struct query_source **out)
{
	int err = q->texts ? 0 : read_texts(q);

	*out = g_hash_table_lookup(q->texts, file);
	return err;
}

typedef void fill_row(struct query *q, sqlite3_stmt *s, void *row);

/* All rows of a statement as an array of elements of `size`. `method`: its first parameter; NULL is NULL. */
static int read_rows(struct query *q, const char *sql, const char *method, fill_row *fill, guint size,
                     const void **rows, size_t *nr)
{
	GArray *array = g_array_new(FALSE, TRUE, size);
	sqlite3_stmt *s;
	int rc, err = query_prepare(q, &s, sql);

	if (!err) {
		if (sqlite3_bind_parameter_count(s))
			sqlite3_bind_text(s, 1, method, -1, SQLITE_STATIC);
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			g_array_set_size(array, array->len + 1);
			fill(q, s, array->data + (gsize)(array->len - 1) * size);
		}
		err = query_end(q, s, rc);
	}
	*rows = query_keep(q, array, nr);
	return err;
}

#define SLOT_ERRORS \
	"slots_total_error, slots_filled_error, slots_issued_error, slots_retired_error, slots_recovery_error"

static void fill_process(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_process *process = row;

	process->process = query_number(s, 0, 0);
	process->parent = query_number(s, 1, PROCESS_NONE);
	if (process->parent >= process->process)
		process->parent = PROCESS_NONE;
	process->program = query_text(q, s, 2);
}

int query_processes(struct query *q, const struct query_process **rows, size_t *nr)
{
	return read_rows(q, "SELECT process, parent, program FROM process ORDER BY process",
	                 NULL, fill_process, sizeof(**rows), (const void **)rows, nr);
}

static void fill_thread(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_thread *thread = row;

	thread->thread = (uint32_t)sqlite3_column_int64(s, 0);
	thread->instructions = column_count(s, 1);
	thread->uops = column_count(s, 2);
	thread->units = column_count(s, 3);
	fill_slots(s, 4, &thread->slots);
	thread->process = query_number(s, 9, 0);
	thread->instructions_error = query_error(s, 10);
	thread->uops_error = query_error(s, 11);
	thread->units_error = query_error(s, 12);
	fill_slot_errors(s, 13, &thread->slots_error);
}

int query_threads(struct query *q, const struct query_thread **rows, size_t *nr)
{
	return read_rows(
		q,
		"SELECT thread, instructions, uops, units, slots_total, slots_filled, slots_issued, slots_retired, "
		"slots_recovery, process, instructions_error, uops_error, units_error, " SLOT_ERRORS
		" FROM thread ORDER BY thread",
		NULL, fill_thread, sizeof(**rows), (const void **)rows, nr);
}

static void fill_region(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_region *region = row;

	region->name = column_name(q, s, 0);
	region->entries = column_count(s, 1);
	region->instructions = column_count(s, 2);
	region->units = column_count(s, 3);
	fill_slots(s, 4, &region->slots);
	region->entries_error = query_error(s, 9);
	region->instructions_error = query_error(s, 10);
	region->units_error = query_error(s, 11);
	fill_slot_errors(s, 12, &region->slots_error);
}

int query_regions(struct query *q, const struct query_region **rows, size_t *nr)
{
	return read_rows(
		q,
		"SELECT name, entries, instructions, units, slots_total, slots_filled, slots_issued, slots_retired, "
		"slots_recovery, entries_error, instructions_error, units_error, " SLOT_ERRORS
		" FROM region ORDER BY ordinal, name",
		NULL, fill_region, sizeof(**rows), (const void **)rows, nr);
}

static void fill_state(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_state *state = row;

	state->thread = (uint32_t)sqlite3_column_int64(s, 0);
	state->state = column_name(q, s, 1);
	state->units = column_count(s, 2);
	state->units_error = query_error(s, 3);
}

int query_states(struct query *q, const struct query_state **rows, size_t *nr)
{
	return read_rows(q, "SELECT thread, state, units, units_error FROM state ORDER BY thread, "
	                 "CASE state WHEN 'compute' THEN 0 WHEN 'stalled' THEN 1 WHEN 'drained' THEN 2 "
	                 "WHEN 'flushed' THEN 3 ELSE 4 END, state",
	                 NULL, fill_state, sizeof(**rows), (const void **)rows, nr);
}

static void fill_count(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_count *named = row;

	named->name = column_name(q, s, 0);
	named->count = column_count(s, 1);
	named->count_error = query_error(s, 2);
}

static int read_counts(struct query *q, const char *sql, const char *method, const struct query_count **rows,
                       size_t *nr)
{
	return read_rows(q, sql, method, fill_count, sizeof(**rows), (const void **)rows, nr);
}

int query_events(struct query *q, const struct query_count **rows, size_t *nr)
{
	return read_counts(q, "SELECT event, count, count_error FROM event ORDER BY ordinal, event", NULL, rows, nr);
}

int query_unmodelled(struct query *q, const struct query_count **rows, size_t *nr)
{
	return read_counts(q,
	                   "SELECT form, executions, executions_error FROM unmodelled ORDER BY executions DESC, form",
	                   NULL, rows, nr);
}

int query_components(struct query *q, const char *method, const struct query_count **rows, size_t *nr)
{
	return read_counts(q, "SELECT component, units, units_error FROM component WHERE method = ? "
	                   "ORDER BY ordinal, component", method, rows, nr);
}

int query_component_methods(struct query *q, const struct query_count **rows, size_t *nr)
{
	return read_counts(q, "SELECT method, sum(units), sum(units_error) FROM component "
	                   "GROUP BY method ORDER BY method", NULL, rows, nr);
}

int query_sample_methods(struct query *q, const struct query_count **rows, size_t *nr)
{
	return read_counts(q, "SELECT method, sum(weight), NULL FROM sample GROUP BY method ORDER BY method",
	                   NULL, rows, nr);
}

static void fill_parameter(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_parameter *parameter = row;

	parameter->name = column_name(q, s, 0);
	parameter->value = column_name(q, s, 1);
}

int query_parameters(struct query *q, const struct query_parameter **rows, size_t *nr)
{
	return read_rows(q, "SELECT name, value FROM parameter ORDER BY name",
	                 NULL, fill_parameter, sizeof(**rows), (const void **)rows, nr);
}

static void fill_sample(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_sample *sample = row;

	sample->insn = (uint32_t)sqlite3_column_int64(s, 0);
	sample->signature = (uint16_t)sqlite3_column_int(s, 1);
	sample->weight = column_count(s, 2);
}

int query_samples(struct query *q, const char *method, const struct query_sample **rows, size_t *nr)
{
	return read_rows(q, "SELECT insn, signature, weight FROM sample WHERE method = ? ORDER BY insn, signature",
	                 method, fill_sample, sizeof(**rows), (const void **)rows, nr);
}

static void fill_figure(struct query *q, sqlite3_stmt *s, void *row)
{
	struct query_figure *figure = row;

	figure->method = column_name(q, s, 0);
	figure->name = column_name(q, s, 1);
	figure->value = sqlite3_column_type(s, 2) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, 2);
	figure->value_error = query_error(s, 3);
	figure->insn = (uint32_t)sqlite3_column_int64(s, 4);
	figure->interval = (uint32_t)sqlite3_column_int64(s, 5);
}

int query_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr)
{
	return read_rows(q, "SELECT method, name, value, value_error, 0, 0 FROM figure WHERE ?1 IS NULL OR method = ?1 "
	                 "ORDER BY method, ordinal, name",
	                 method, fill_figure, sizeof(**rows), (const void **)rows, nr);
}

int query_insn_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr)
{
	return read_rows(q, "SELECT method, name, value, value_error, insn, 0 FROM insn_figure "
	                 "WHERE ?1 IS NULL OR method = ?1 ORDER BY method, insn, ordinal, name",
	                 method, fill_figure, sizeof(**rows), (const void **)rows, nr);
}

int query_interval_figures(struct query *q, const char *method, const struct query_figure **rows, size_t *nr)
{
	return read_rows(q, "SELECT method, name, value, value_error, 0, interval FROM interval_figure "
	                 "WHERE ?1 IS NULL OR method = ?1 ORDER BY method, interval, ordinal, name",
	                 method, fill_figure, sizeof(**rows), (const void **)rows, nr);
}
