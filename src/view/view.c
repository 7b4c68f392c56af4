#include "view/view.h"

#include <string.h>

#include "view/list.h"

#define X(name) extern const struct view view_##name;
VIEWS(X)
#undef X

#define X(name) &view_##name,
const struct view *const view_list[] = { VIEWS(X) NULL };
#undef X

const struct view *view_find(const char *name)
{
	for (const struct view *const *v = view_list; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}
