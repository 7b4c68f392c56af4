#include "core/core.h"

#include <glib.h>
#include <string.h>

#include "core/list.h"

#define X(name) extern const struct core_ops core_##name;
CORES(X)
#undef X

const struct core_ops *const core_list[] = {
#define X(name) &core_##name,
	CORES(X)
#undef X
	NULL,
};

void foreseen_fini(struct foreseen *f)
{
	for (unsigned i = 0; i < FORESEEN_ARRAYS; i++)
		g_free(f->of[i].item);
	*f = (struct foreseen){ 0 };
}

void foreseen_reserve(struct foreseen_array *a, size_t bytes)
{
	if (bytes <= a->room)
		return;
	a->item = g_realloc(a->item, bytes);
	a->room = bytes;
}

const struct core_ops *core_find(const char *name)
{
	for (const struct core_ops *const *c = core_list; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
