/*
 * Rows of a checkpoint: one function a table, over statements that are prepared once.
 *
 * After a failure every further row fails with the same error, so that a method may write all it has and have
 * the result looked at once, by profile_commit().
 */
#include <assert.h>

#include "profile/private.h"
#include "profile/profile.h"

static const char *const statement_sql[NR_STATEMENTS] = {
#define X(name, sql) sql,
	PROFILE_STATEMENTS(X)
#undef X
};

sqlite3_stmt *profile_statement(struct profile *p, enum profile_statement which)
{
	int rc;

	if (p->error)
		return NULL;
	assert(p->next);
	if (p->statement[which])
		return p->statement[which];
	rc = sqlite3_prepare_v3(p->next, statement_sql[which], -1, SQLITE_PREPARE_PERSISTENT, &p->statement[which],
	                        NULL);
	if (rc != SQLITE_OK)
		profile_failed(p, p->next, rc);
	return p->statement[which];
}

int profile_step(struct profile *p, sqlite3_stmt *statement)
{
	int rc = sqlite3_step(statement);

	if (rc != SQLITE_DONE)
		return profile_failed(p, p->next, rc);
	sqlite3_reset(statement);
	return 0;
}

static void bind_text(sqlite3_stmt *s, int column, const char *text)
{
	sqlite3_bind_text(s, column, text, -1, SQLITE_STATIC);
}

static void bind_count(sqlite3_stmt *s, int column, uint64_t count)
{
	sqlite3_bind_int64(s, column, (sqlite3_int64)count);
}

void profile_estimate(struct profile *p, const double *errors, unsigned nr)
{
	assert(nr <= MOST_FIGURES);
	for (unsigned i = 0; i < nr; i++)
		p->estimate[i] = errors[i];
	p->nr_estimate = nr;
}

/* The standard errors of a row's `nr` figures, from `column` on. */
static void bind_errors(struct profile *p, sqlite3_stmt *s, int column, unsigned nr)
{
	assert(!p->nr_estimate || p->nr_estimate == nr);
	for (unsigned i = 0; i < nr; i++, column++) {
		if (i < p->nr_estimate && p->estimate[i] > 0)
			sqlite3_bind_double(s, column, p->estimate[i]);
		else
			sqlite3_bind_null(s, column);
	}
	p->nr_estimate = 0;
}

int profile_set(struct profile *p, const char *key, const char *value)
{
	sqlite3_stmt *s;

	if (!value)
		return p->error;
	s = profile_statement(p, STATEMENT_RUN);
	if (!s)
		return p->error;
	bind_text(s, 1, key);
	bind_text(s, 2, value);
	return profile_step(p, s);
}

int profile_set_int(struct profile *p, const char *key, int64_t value)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_RUN);

	if (!s)
		return p->error;
	bind_text(s, 1, key);
	sqlite3_bind_int64(s, 2, value);
	return profile_step(p, s);
}

/* Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD. */
static void append_json(GString *json, const char *text)
{
	char *valid = g_utf8_make_valid(text, -1);

	g_string_append_c(json, '"');
	for (const char *c = valid; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_printf(json, "\\%c", *c);
		else if ((unsigned char)*c < 0x20)
			g_string_append_printf(json, "\\u%04x", (unsigned)*c);
		else
			g_string_append_c(json, *c);
	}
	g_string_append_c(json, '"');
	g_free(valid);
}

int profile_set_list(struct profile *p, const char *key, const char *const *items)
{
	GString *json = g_string_new("[");
	int err;

	for (size_t i = 0; items[i]; i++) {
		if (i)
			g_string_append(json, ", ");
		append_json(json, items[i]);
	}
	g_string_append_c(json, ']');
	err = profile_set(p, key, json->str);
	g_string_free(json, TRUE);
	return err;
}

int profile_note(struct profile *p, const char *note)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_NOTE);

	if (!s)
		return p->error;
	bind_text(s, 1, note);
	return profile_step(p, s);
}

int profile_parameter(struct profile *p, const char *name, const char *value)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_PARAMETER);

	if (!s)
		return p->error;
	bind_text(s, 1, name);
	bind_text(s, 2, value);
	return profile_step(p, s);
}

int profile_cycles(struct profile *p, uint32_t insn, uint16_t psv, uint64_t executions, uint64_t units)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_CYCLES);

	if (!s)
		return p->error;
	bind_count(s, 1, insn);
	bind_count(s, 2, psv);
	bind_count(s, 3, executions);
	bind_count(s, 4, units);
	bind_errors(p, s, 5, 2);
	return profile_step(p, s);
}

int profile_sample(struct profile *p, const char *method, uint32_t insn, uint16_t psv, uint64_t weight)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_SAMPLE);

	if (!s)
		return p->error;
	bind_text(s, 1, method);
	bind_count(s, 2, insn);
	bind_count(s, 3, psv);
	bind_count(s, 4, weight);
	return profile_step(p, s);
}

int profile_state(struct profile *p, uint32_t thread, const char *state, uint64_t units)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_STATE);

	if (!s)
		return p->error;
	bind_count(s, 1, thread);
	bind_text(s, 2, state);
	bind_count(s, 3, units);
	bind_errors(p, s, 4, 1);
	return profile_step(p, s);
}

int profile_component(struct profile *p, const char *method, const char *component, uint64_t units)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_COMPONENT);

	if (!s)
		return p->error;
	bind_text(s, 1, method);
	bind_text(s, 2, component);
	bind_count(s, 3, units);
	sqlite3_bind_int64(s, 4, p->ordinal++);
	bind_errors(p, s, 5, 1);
	return profile_step(p, s);
}

int profile_event(struct profile *p, const char *event, uint64_t count)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_EVENT);

	if (!s)
		return p->error;
	bind_text(s, 1, event);
	bind_count(s, 2, count);
	sqlite3_bind_int64(s, 3, p->ordinal++);
	bind_errors(p, s, 4, 1);
	return profile_step(p, s);
}

int profile_figure(struct profile *p, const char *method, const char *name, double value)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_FIGURE);

	if (!s)
		return p->error;
	bind_text(s, 1, method);
	bind_text(s, 2, name);
	sqlite3_bind_double(s, 3, value);
	sqlite3_bind_int64(s, 4, p->ordinal++);
	bind_errors(p, s, 5, 1);
	return profile_step(p, s);
}

int profile_insn_figure(struct profile *p, const char *method, uint32_t insn, const char *name, double value)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INSN_FIGURE);

	if (!s)
		return p->error;
	bind_text(s, 1, method);
	bind_count(s, 2, insn);
	bind_text(s, 3, name);
	sqlite3_bind_double(s, 4, value);
	sqlite3_bind_int64(s, 5, p->ordinal++);
	bind_errors(p, s, 6, 1);
	return profile_step(p, s);
}

static void bind_slots(sqlite3_stmt *s, int column, const struct slot_counts *slots)
{
	bind_count(s, column, slots->total);
	bind_count(s, column + 1, slots->filled);
	bind_count(s, column + 2, slots->issued);
	bind_count(s, column + 3, slots->retired);
	bind_count(s, column + 4, slots->recovery);
}

int profile_thread(struct profile *p, uint32_t thread, uint64_t instructions, uint64_t uops, uint64_t units,
                   const struct slot_counts *slots)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_THREAD);

	if (!s)
		return p->error;
	bind_count(s, 1, thread);
	bind_count(s, 2, instructions);
	bind_count(s, 3, uops);
	bind_count(s, 4, units);
	bind_slots(s, 5, slots);
	sqlite3_bind_int64(s, 10, 0);
	bind_errors(p, s, 11, 8);
	return profile_step(p, s);
}

int profile_process(struct profile *p, uint32_t process, uint32_t parent, const char *program)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_PROCESS);

	assert(parent == PROCESS_NONE || parent < process);
	if (!s)
		return p->error;
	bind_count(s, 1, process);
	if (parent == PROCESS_NONE)
		sqlite3_bind_null(s, 2);
	else
		bind_count(s, 2, parent);
	bind_text(s, 3, program);
	return profile_step(p, s);
}

int profile_thread_process(struct profile *p, uint32_t thread, uint32_t process)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_THREAD_PROCESS);
	int err;

	if (!s)
		return p->error;
	bind_count(s, 1, thread);
	bind_count(s, 2, process);
	err = profile_step(p, s);
	assert(err || sqlite3_changes(p->next) == 1);
	return err;
}

int profile_region(struct profile *p, const char *name, uint64_t entries, uint64_t instructions, uint64_t units,
                   const struct slot_counts *slots)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_REGION);

	if (!s)
		return p->error;
	bind_text(s, 1, name);
	sqlite3_bind_int64(s, 2, p->ordinal++);
	bind_count(s, 3, entries);
	bind_count(s, 4, instructions);
	bind_count(s, 5, units);
	bind_slots(s, 6, slots);
	bind_errors(p, s, 11, 8);
	return profile_step(p, s);
}

int profile_unmodelled(struct profile *p, const char *form, uint64_t executions)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_UNMODELLED);

	if (!s)
		return p->error;
	bind_text(s, 1, form);
	bind_count(s, 2, executions);
	bind_errors(p, s, 3, 1);
	return profile_step(p, s);
}

int profile_interval(struct profile *p, uint32_t interval, uint32_t thread, uint64_t begin_instructions,
                     uint64_t begin_units, uint64_t instructions, uint64_t units)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INTERVAL);

	if (!s)
		return p->error;
	bind_count(s, 1, interval);
	bind_count(s, 2, thread);
	bind_count(s, 3, begin_instructions);
	bind_count(s, 4, begin_units);
	bind_count(s, 5, instructions);
	bind_count(s, 6, units);
	bind_errors(p, s, 7, 2);
	return profile_step(p, s);
}

int profile_interval_cycles(struct profile *p, uint32_t interval, uint16_t psv, uint64_t executions, uint64_t units)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INTERVAL_CYCLES);

	if (!s)
		return p->error;
	bind_count(s, 1, interval);
	bind_count(s, 2, psv);
	bind_count(s, 3, executions);
	bind_count(s, 4, units);
	bind_errors(p, s, 5, 2);
	return profile_step(p, s);
}

int profile_interval_figure(struct profile *p, const char *method, uint32_t interval, const char *name, double value)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INTERVAL_FIGURE);

	if (!s)
		return p->error;
	bind_text(s, 1, method);
	bind_count(s, 2, interval);
	bind_text(s, 3, name);
	sqlite3_bind_double(s, 4, value);
	sqlite3_bind_int64(s, 5, p->ordinal++);
	bind_errors(p, s, 6, 1);
	return profile_step(p, s);
}

int profile_totals(struct profile *p)
{
	return profile_exec(
		p, "INSERT OR REPLACE INTO run (key, value) SELECT 'cycles_units', ifnull(sum(units), 0) FROM thread;"
		   "INSERT OR REPLACE INTO run (key, value) SELECT 'instructions', ifnull(sum(instructions), 0) FROM "
	           "thread;"
		   "INSERT OR REPLACE INTO run (key, value) SELECT 'uops', ifnull(sum(uops), 0) FROM thread;"
		   "INSERT OR REPLACE INTO run (key, value) SELECT * FROM ("
		   "SELECT 'cycles_units_error', sum(units_error) AS error FROM thread "
		   "UNION ALL SELECT 'instructions_error', sum(instructions_error) FROM thread "
		   "UNION ALL SELECT 'uops_error', sum(uops_error) FROM thread) WHERE error > 0;");
}
