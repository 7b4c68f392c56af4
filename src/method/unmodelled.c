#include "method/unmodelled.h"

#include <glib.h>
#include <stdlib.h>

#include "profile/profile.h"

static int by_name(const void *a, const void *b)
{
	return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

int unmodelled_save(struct code *code, uint64_t (*executions)(const void *ctx, uint32_t insn), const void *ctx,
                    struct profile *out)
{
	GHashTable *forms = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	int err = 0;

	for (uint32_t i = 0; i < code->nr; i++) {
		uint64_t times = code_insn(code, i)->flags & INSN_UNMODELLED ? executions(ctx, i) : 0;
		if (!times)
			continue;
		const char *form = code_form(code, i);
		uint64_t *sum = g_hash_table_lookup(forms, form);
		if (!sum) {
			sum = g_new0(uint64_t, 1);
			g_hash_table_insert(forms, (gpointer)form, sum);
		}
		*sum += times;
	}
	guint nr;
	gpointer *names = g_hash_table_get_keys_as_array(forms, &nr);
	qsort(names, nr, sizeof(*names), by_name);
	for (guint i = 0; i < nr && !err; i++)
		err = profile_unmodelled(out, names[i], *(const uint64_t *)g_hash_table_lookup(forms, names[i]));
	g_free(names);
	g_hash_table_destroy(forms);
	return err;
}
