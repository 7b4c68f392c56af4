#include "cmd/executions.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

void executions_fini(struct executions *e)
{
	g_free(e->of);
	*e = (struct executions){ .nr = 0 };
}

void executions_count(struct executions *e, const struct code *code, const struct step_batch *b)
{
	if (e->nr < code->nr) {
		uint32_t nr = MAX(2 * e->nr, code->nr);
		e->of = g_renew(uint64_t, e->of, nr);
		memset(e->of + e->nr, 0, (nr - e->nr) * sizeof *e->of);
		e->nr = nr;
	}
	for (size_t i = 0; i < b->n; i++)
		if ((b->step[i].flags & (STEP_KIND | STEP_COUNTED)) == (STEP_INSN | STEP_COUNTED))
			e->of[b->step[i].insn]++;
}

static int by_name(const void *a, const void *b)
{
	return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

int executions_save_unmodelled(const struct executions *e, struct code *code, struct profile *p)
{
	GHashTable *forms = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	gpointer *names;
	guint nr;
	int err = 0;

	for (uint32_t i = 0; i < e->nr && i < code->nr; i++) {
		uint64_t *sum;

		if (!e->of[i] || !(code_insn(code, i)->flags & INSN_UNMODELLED))
			continue;
		sum = g_hash_table_lookup(forms, code_form(code, i));
		if (!sum) {
			sum = g_new0(uint64_t, 1);
			g_hash_table_insert(forms, (gpointer)(uintptr_t)code_form(code, i), sum);
		}
		*sum += e->of[i];
	}
	names = g_hash_table_get_keys_as_array(forms, &nr);
	qsort(names, nr, sizeof *names, by_name);
	for (guint i = 0; i < nr && !err; i++)
		err = profile_unmodelled(p, names[i], *(const uint64_t *)g_hash_table_lookup(forms, names[i]));
	g_free(names);
	g_hash_table_destroy(forms);
	return err;
}
