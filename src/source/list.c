#include "source/list.h"

#include <string.h>

#include "source/source.h"

#define DECLARE(name) extern const struct source_ops source_##name;
SOURCES(DECLARE)

#define ENTRY(name) &source_##name,
static const struct source_ops *const sources[] = { SOURCES(ENTRY) };

const struct source_ops *source_find(const char *name)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}
