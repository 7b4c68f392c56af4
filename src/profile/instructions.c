/*
 * Writes the instructions of a checkpoint, and the modules, functions and sources they name.
 *
 * Numbers are given anew at each checkpoint, by sorting: they depend on which instructions ran, not on the order in
 * which they were met.
 */
#include <string.h>

#include "profile/naming.h"
#include "profile/private.h"
#include "profile/profile.h"

/* The instructions that have cycles, ascending. */
static int list_insns(struct profile *p, GArray *list)
{
	sqlite3_stmt *s = NULL;
	uint32_t insn;
	int rc = sqlite3_prepare_v2(p->next, "SELECT DISTINCT insn FROM cycles ORDER BY insn", -1, &s, NULL);

	if (rc == SQLITE_OK) {
		while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
			insn = (uint32_t)sqlite3_column_int64(s, 0);
			g_array_append_val(list, insn);
		}
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : profile_failed(p, p->next, rc);
}

static void mark_source(struct naming *n, uint32_t source)
{
	if (source)
		g_array_index(n->sources, struct named_source, source - 1).id = 1;
}

/*
 * Marks what the listed instructions use, with id 1. Sources of functions count as used, too.
 */
static void mark_used(struct naming *n, const GArray *list)
{
	const struct named *insn;
	struct named_function *f;
	struct named_inline *inlined;

	for (guint i = 0; i < n->inlines->len; i++)
		g_array_index(n->inlines, struct named_inline, i).id = 0;
	for (guint i = 0; i < n->modules->len; i++)
		g_array_index(n->modules, struct named_module, i).id = 0;
	for (guint i = 0; i < n->functions->len; i++)
		g_array_index(n->functions, struct named_function, i).id = 0;
	for (guint i = 0; i < n->sources->len; i++)
		g_array_index(n->sources, struct named_source, i).id = 0;
	for (guint i = 0; i < list->len; i++) {
		insn = naming_at(n, g_array_index(list, uint32_t, i));
		if (insn->module != MODULE_NONE)
			g_array_index(n->modules, struct named_module, insn->module).id = 1;
		mark_source(n, insn->source);
		for (uint32_t j = 0; j < insn->nr_frames; j++) {
			const struct named_frame *frame;

			frame = &g_array_index(n->frames, struct named_frame, insn->frame + j);
			mark_source(n, frame->source);
			if (!frame->function)
				continue;
			inlined = &g_array_index(n->inlines, struct named_inline, frame->function - 1);
			inlined->id = 1;
			mark_source(n, inlined->source);
		}
		if (!insn->function)
			continue;
		f = &g_array_index(n->functions, struct named_function, insn->function - 1);
		f->id = 1;
		mark_source(n, f->source);
	}
}

static gint by_module_path(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;
	const struct named_module *x = &g_array_index(n->modules, struct named_module, *(const uint32_t *)a);
	const struct named_module *y = &g_array_index(n->modules, struct named_module, *(const uint32_t *)b);
	int order = strcmp(x->path, y->path);

	if (!order)
		order = strcmp(x->identity, y->identity);
	return order ? order : (x > y) - (x < y);
}

static gint by_source_path(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;

	return strcmp(g_array_index(n->sources, struct named_source, *(const uint32_t *)a).path,
	              g_array_index(n->sources, struct named_source, *(const uint32_t *)b).path);
}

/* A module's place in the order of functions: JIT code comes last. */
static uint32_t module_rank(const struct naming *n, uint32_t module)
{
	return module == MODULE_NONE ? UINT32_MAX : g_array_index(n->modules, struct named_module, module).id;
}

static gint by_function_place(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;
	const struct named_function *f = &g_array_index(n->functions, struct named_function, *(const uint32_t *)a);
	const struct named_function *g = &g_array_index(n->functions, struct named_function, *(const uint32_t *)b);
	uint32_t f_rank = module_rank(n, f->module), g_rank = module_rank(n, g->module);

	if (f_rank != g_rank)
		return f_rank < g_rank ? -1 : 1;
	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	return strcmp(f->linkage, g->linkage);
}

static uint32_t source_id(const struct naming *n, uint32_t source)
{
	return source ? g_array_index(n->sources, struct named_source, source - 1).id : 0;
}

static gint by_inline_place(gconstpointer a, gconstpointer b, gpointer naming)
{
	const struct naming *n = naming;
	const struct named_inline *f = &g_array_index(n->inlines, struct named_inline, *(const uint32_t *)a);
	const struct named_inline *g = &g_array_index(n->inlines, struct named_inline, *(const uint32_t *)b);
	uint32_t f_rank = module_rank(n, f->module), g_rank = module_rank(n, g->module);
	int order = (f_rank > g_rank) - (f_rank < g_rank);

	if (!order)
		order = strcmp(f->linkage, g->linkage);
	if (!order)
		order = (source_id(n, f->source) > source_id(n, g->source)) -
		        (source_id(n, f->source) < source_id(n, g->source));
	return order ? order : (f->line > g->line) - (f->line < g->line);
}

static int bind_number(sqlite3_stmt *s, int column, uint32_t number)
{
	return number ? sqlite3_bind_int64(s, column, number) : sqlite3_bind_null(s, column);
}

static int write_modules(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_module *m;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->modules->len; i++)
		if (g_array_index(n->modules, struct named_module, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_module_path, n);
	s = profile_statement(p, STATEMENT_MODULE);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		m = &g_array_index(n->modules, struct named_module, g_array_index(order, uint32_t, i));
		m->id = i + 1;
		sqlite3_bind_int64(s, 1, m->id);
		sqlite3_bind_text(s, 2, m->path, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, *m->build_id ? m->build_id : NULL, -1, SQLITE_STATIC);
		err = profile_step(p, s);
	}
	s = err ? NULL : profile_statement(p, STATEMENT_MODULE_CODE);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		m = &g_array_index(n->modules, struct named_module, g_array_index(order, uint32_t, i));
		if (*m->build_id || !*m->identity)
			continue;
		sqlite3_bind_int64(s, 1, m->id);
		sqlite3_bind_text(s, 2, m->identity, -1, SQLITE_STATIC);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_sources(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_source *source;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->sources->len; i++)
		if (g_array_index(n->sources, struct named_source, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_source_path, n);
	s = profile_statement(p, STATEMENT_SOURCE);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		source = &g_array_index(n->sources, struct named_source, g_array_index(order, uint32_t, i));
		source->id = i + 1;
		sqlite3_bind_int64(s, 1, source->id);
		sqlite3_bind_text(s, 2, source->path, -1, SQLITE_STATIC);
		err = profile_step(p, s);
	}
	s = err ? NULL : profile_statement(p, STATEMENT_SOURCE_TEXT);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		source = &g_array_index(n->sources, struct named_source, g_array_index(order, uint32_t, i));
		if (!source->md5)
			continue;
		sqlite3_bind_int64(s, 1, source->id);
		sqlite3_bind_text(s, 2, source->md5, -1, SQLITE_STATIC);
		sqlite3_bind_int(s, 3, source->newer);
		err = profile_step(p, s);
	}
	return p->error;
}

static uint32_t module_id(const struct naming *n, uint32_t module)
{
	return module == MODULE_NONE ? 0 : g_array_index(n->modules, struct named_module, module).id;
}

static int write_functions(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_function *f;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->functions->len; i++)
		if (g_array_index(n->functions, struct named_function, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_function_place, n);
	s = profile_statement(p, STATEMENT_FUNCTION);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		f = &g_array_index(n->functions, struct named_function, g_array_index(order, uint32_t, i));
		f->id = i + 1;
		sqlite3_bind_int64(s, 1, f->id);
		bind_number(s, 2, module_id(n, f->module));
		sqlite3_bind_text(s, 3, f->symbol, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 4, f->linkage, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 5, (sqlite3_int64)f->start);
		sqlite3_bind_int64(s, 6, (sqlite3_int64)f->size);
		bind_number(s, 7, source_id(n, f->source));
		bind_number(s, 8, f->line);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_inlines(struct profile *p, GArray *order)
{
	struct naming *n = p->naming;
	struct named_inline *f;
	sqlite3_stmt *s;
	int err = 0;

	g_array_set_size(order, 0);
	for (uint32_t i = 0; i < n->inlines->len; i++)
		if (g_array_index(n->inlines, struct named_inline, i).id)
			g_array_append_val(order, i);
	g_array_sort_with_data(order, by_inline_place, n);
	s = profile_statement(p, STATEMENT_INLINE_FUNCTION);
	for (uint32_t i = 0; s && !err && i < order->len; i++) {
		f = &g_array_index(n->inlines, struct named_inline, g_array_index(order, uint32_t, i));
		f->id = i + 1;
		sqlite3_bind_int64(s, 1, f->id);
		bind_number(s, 2, module_id(n, f->module));
		sqlite3_bind_text(s, 3, f->symbol, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 4, f->linkage, -1, SQLITE_STATIC);
		bind_number(s, 5, source_id(n, f->source));
		bind_number(s, 6, f->line);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_chain(struct profile *p, uint32_t index, const struct named *insn)
{
	const struct naming *n = p->naming;
	const struct named_frame *frame;
	sqlite3_stmt *s;
	int err = 0;

	if (!insn->nr_frames)
		return 0;
	s = profile_statement(p, STATEMENT_INLINED);
	for (uint32_t i = 0; s && !err && i < insn->nr_frames; i++) {
		frame = &g_array_index(n->frames, struct named_frame, insn->frame + i);
		sqlite3_bind_int64(s, 1, index);
		sqlite3_bind_int64(s, 2, i);
		sqlite3_bind_text(s, 3, frame->symbol, -1, SQLITE_STATIC);
		bind_number(s, 4, source_id(n, frame->source));
		bind_number(s, 5, frame->line);
		bind_number(s, 6, frame->function ?
		            g_array_index(n->inlines, struct named_inline, frame->function - 1).id : 0);
		err = profile_step(p, s);
	}
	return p->error;
}

static int write_insn(struct profile *p, sqlite3_stmt *s, struct code *code, uint32_t index)
{
	struct naming *n = p->naming;
	const struct named *insn = naming_at(n, index);
	const struct named_function *f = NULL;
	const struct insn *facts = code_insn(code, index);
	const char *form = code_form(code, index);
	const uint8_t *bytes;
	size_t size;

	if (insn->function)
		f = &g_array_index(n->functions, struct named_function, insn->function - 1);
	bytes = code_bytes(code, index, &size);
	sqlite3_bind_int64(s, 1, index);
	bind_number(s, 2, module_id(n, insn->module));
	sqlite3_bind_int64(s, 3, (sqlite3_int64)insn->address);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)facts->pc);
	sqlite3_bind_int64(s, 5, facts->length);
	sqlite3_bind_blob(s, 6, bytes, (int)size, SQLITE_STATIC);
	bind_number(s, 7, f ? f->id : 0);
	if (f)
		sqlite3_bind_int64(s, 8, (sqlite3_int64)(insn->address - f->start));
	else
		sqlite3_bind_null(s, 8);
	bind_number(s, 9, source_id(n, insn->source));
	bind_number(s, 10, insn->line);
	sqlite3_bind_text(s, 11, insn->text, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 12, form, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 13, !!(facts->flags & INSN_UNMODELLED));
	return profile_step(p, s);
}

static int write_insns(struct profile *p, struct code *code, const GArray *list)
{
	sqlite3_stmt *s = profile_statement(p, STATEMENT_INSN);
	int err = 0;

	for (guint i = 0; s && !err && i < list->len; i++)
		err = write_insn(p, s, code, g_array_index(list, uint32_t, i));
	for (guint i = 0; !err && i < list->len; i++) {
		uint32_t index = g_array_index(list, uint32_t, i);

		err = write_chain(p, index, naming_at(p->naming, index));
	}
	return p->error;
}

int profile_instructions(struct profile *p, struct code *code, const struct maps *maps, int pid)
{
	GArray *list, *order;
	uint32_t index;
	int err = p->error;

	if (!err && !p->naming)
		err = p->error = naming_new(&p->naming);
	if (err)
		return err;
	list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	err = list_insns(p, list);
	naming_check(p->naming, maps);
	for (guint i = 0; !err && i < list->len; i++) {
		index = g_array_index(list, uint32_t, i);
		if (!naming_at(p->naming, index))
			naming_resolve(p->naming, code, maps, index);
	}
	if (!err) {
		naming_jit(p->naming, list, pid);
		mark_used(p->naming, list);
		err = write_modules(p, order);
	}
	if (!err)
		err = write_sources(p, order);
	if (!err)
		err = write_functions(p, order);
	if (!err)
		err = write_inlines(p, order);
	if (!err)
		err = write_insns(p, code, list);
	g_array_free(list, TRUE);
	g_array_free(order, TRUE);
	return err;
}
