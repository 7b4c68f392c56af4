#include "view/facts.h"

#include <glib.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Loops in code that no symbol divides into functions are believed up to this size. */
enum { LARGEST_NAMELESS = 1 << 14 };

struct facts_table {
	const struct query_insn *insn; /* [nr] */
	size_t nr;
	GHashTable *of;                /* struct facts *, by instruction + 1 */
	GHashTable *insns;             /* const struct query_insn *, by instruction + 1 */
	GHashTable *entries;           /* struct query_insn *, the first of each function, by function */
	GHashTable *loops;             /* GPtrArray of struct loop *, by function, the smallest first */
};

static const struct facts unknown;

static const struct { const char *name; size_t offset;
} fields[] = {
#define FIELD(name) { #name, offsetof(struct facts, name) }
	FIELD(accesses),     FIELD(loads),        FIELD(stride),     FIELD(stride_share), FIELD(lines),  FIELD(pages),
	FIELD(line_changes), FIELD(page_changes), FIELD(chased),     FIELD(indirect),     FIELD(feeder), FIELD(partner),
	FIELD(branches),     FIELD(taken),        FIELD(flips),      FIELD(mispredicted), FIELD(kind),   FIELD(targets),
	FIELD(back),         FIELD(back_to),      FIELD(serialises), FIELD(system_call),  FIELD(locked), FIELD(share),
	FIELD(carried),      FIELD(class),
#undef FIELD
};

static gpointer key(uint32_t insn)
{
	return GSIZE_TO_POINTER((gsize)insn + 1);
}

static void set(struct facts *f, const struct query_figure *figure)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		double *at = (double *)(void *)((char *)f + fields[i].offset);

		if (strcmp(fields[i].name, figure->name))
			continue;
		/* 0 is an instruction, too. */
		*at = figure->value + (at == &f->feeder || at == &f->partner || at == &f->back_to);
		return;
	}
	if (g_str_has_prefix(figure->name, "unit."))
		f->unit = figure->name + strlen("unit.");
	/* They come in a row; where a file has others between them, the first count. */
	if (g_str_has_prefix(figure->name, "bound/") && (!f->nr_bounds || figure == f->bound + f->nr_bounds)) {
		f->bound = f->nr_bounds ? f->bound : figure;
		f->nr_bounds++;
	}
}

static int read_figures(struct facts_table *t, struct query *q, const char *method)
{
	const struct query_figure *f;
	size_t nr;
	int err = query_insn_figures(q, method, &f, &nr);

	for (size_t i = 0; i < nr && !err; i++) {
		struct facts *facts = g_hash_table_lookup(t->of, key(f[i].insn));

		if (!facts) {
			facts = g_new0(struct facts, 1);
			g_hash_table_insert(t->of, key(f[i].insn), facts);
		}
		set(facts, &f[i]);
	}
	return err;
}

/* --- loops ------------------------------------------------------------------------------------------- */

static bool within(const struct loop *l, const struct query_insn *in)
{
	return in->function == l->function && in->address >= l->head && in->address <= l->end;
}

static void add_loop(struct facts_table *t, const struct query_insn *jump, const struct facts *f)
{
	const struct query_insn *head = facts_insn(t, (uint32_t)f->back_to - 1);
	const struct query_insn *entry = g_hash_table_lookup(t->entries, jump->function);
	GPtrArray *loops;

	if (!head || (entry && entry != head && head->executions <= entry->executions) ||
	    head->function != jump->function || head->address > jump->address ||
	    (!jump->function->symbol && jump->address - head->address > LARGEST_NAMELESS))
		return;
	loops = g_hash_table_lookup(t->loops, jump->function);
	if (!loops) {
		loops = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(t->loops, (gpointer)(uintptr_t)jump->function, loops);
	}
	/* Several jumps to one head (`continue`) are one loop. */
	for (guint i = 0; i < loops->len; i++) {
		struct loop *l = loops->pdata[i];
		if (l->head == head->address) {
			l->end = MAX(l->end, jump->address);
			l->times += (uint64_t)f->back;
			return;
		}
	}
	struct loop *l = g_new0(struct loop, 1);
	*l = (struct loop){
		.function = jump->function, .head = head->address, .end = jump->address, .times = (uint64_t)f->back
	};
	g_ptr_array_add(loops, l);
}

static int by_size(gconstpointer a, gconstpointer b)
{
	const struct loop *x = *(const struct loop *const *)a, *y = *(const struct loop *const *)b;
	uint64_t m = x->end - x->head, n = y->end - y->head;

	return m != n ? (m < n ? -1 : 1) : x->head < y->head ? -1 : x->head > y->head;
}

static void find_loops(struct facts_table *t)
{
	GHashTableIter i;
	gpointer loops;

	for (size_t k = 0; k < t->nr; k++) {
		const struct facts *f = facts_of(t, t->insn[k].insn);
		if (f->back > 0)
			add_loop(t, &t->insn[k], f);
	}
	g_hash_table_iter_init(&i, t->loops);
	while (g_hash_table_iter_next(&i, NULL, &loops))
		g_ptr_array_sort(loops, by_size);
	for (size_t k = 0; k < t->nr; k++) {
		const GPtrArray *all = g_hash_table_lookup(t->loops, t->insn[k].function);
		for (guint n = 0; all && n < all->len; n++)
			((struct loop *)all->pdata[n])->nr_insns += within(all->pdata[n], &t->insn[k]);
	}
}

/* --- the table --------------------------------------------------------------------------------------- */

int facts_new(struct facts_table **out, struct query *q)
{
	struct facts_table *t = g_new0(struct facts_table, 1);
	int err;

	t->of = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	t->insns = g_hash_table_new(NULL, NULL);
	t->entries = g_hash_table_new(NULL, NULL);
	t->loops = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	err = query_hot(q, 0, &t->insn, &t->nr, NULL);
	for (size_t i = 0; i < t->nr && !err; i++) {
		const struct query_insn *in = &t->insn[i];
		g_hash_table_insert(t->insns, key(in->insn), (gpointer)(uintptr_t)in);
		if (in->function->symbol && !in->offset)
			g_hash_table_insert(t->entries, (gpointer)(uintptr_t)in->function, (gpointer)(uintptr_t)in);
	}
	if (!err)
		err = read_figures(t, q, "patterns");
	if (!err)
		err = read_figures(t, q, "chains");
	if (err) {
		facts_free(t);
		return err;
	}
	find_loops(t);
	*out = t;
	return 0;
}

void facts_free(struct facts_table *t)
{
	if (!t)
		return;
	g_hash_table_destroy(t->of);
	g_hash_table_destroy(t->insns);
	g_hash_table_destroy(t->entries);
	g_hash_table_destroy(t->loops);
	g_free(t);
}

const struct facts *facts_of(const struct facts_table *t, uint32_t insn)
{
	const struct facts *f = g_hash_table_lookup(t->of, key(insn));
	return f ? f : &unknown;
}

const struct loop *facts_loop(const struct facts_table *t, const struct query_insn *in)
{
	const GPtrArray *loops = g_hash_table_lookup(t->loops, in->function);

	for (guint i = 0; loops && i < loops->len; i++)
		if (within(loops->pdata[i], in))
			return loops->pdata[i];
	return NULL;
}

const struct query_insn *facts_insns(const struct facts_table *t, size_t *nr)
{
	*nr = t->nr;
	return t->insn;
}

const struct query_insn *facts_insn(const struct facts_table *t, uint32_t insn)
{
	return g_hash_table_lookup(t->insns, key(insn));
}
