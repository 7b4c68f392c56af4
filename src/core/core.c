#include "core/core.h"

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

const struct core_ops *core_find(const char *name)
{
	for (const struct core_ops *const *c = core_list; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
