/*
 * Views: what a person or a script sees of a profile. Each has two forms, text and JSON, with the same content.
 *
 * Place in the pipeline: profile -> view -> the user. A view reads through profile/query.h and writes to a
 * stream; whoever opened the stream looks for its errors.
 */
#ifndef CYCLEWISE_VIEW_VIEW_H
#define CYCLEWISE_VIEW_VIEW_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/params.h"
#include "profile/query.h"
#include "view/json.h"
#include "view/text.h"

/* What is to be shown. A view asserts that what it needs is there. */
struct view_request {
	const char *version;           /* of cyclewise */
	struct query *query;           /* of all but `cores` */
	const struct query_function *function; /* of `annotate`; NULL: it was inlined everywhere */
	const struct query_inlined *const *inlined; /* [nr_inlined]: of `annotate`: its inlined copies */
	size_t nr_inlined;
	const struct query_insn *around; /* of `annotate`: in that function; of one without a name no more than what
	                                  * is near it. NULL: all */
	const struct core_desc *core;  /* of `cores`: one in full; NULL: the list of all */
	const GPtrArray *source_path;  /* const char *, "OLD=NEW": where sources are that are not where they were; NULL:
	                                * none */
	size_t limit;                  /* entries in lists; 0: the view's own choice (text), all (JSON) */
	bool resources;                /* of `annotate`: with the table of resources */
	bool verbose, quiet;
};

struct view {
	const char *name, *help;
	/* 0 or -errno with the message set. */
	int (*text)(struct text *t, const struct view_request *r);
	int (*json)(struct json *j, const struct view_request *r);
};

extern const struct view *const view_list[]; /* NULL-terminated, from view/list.h */
const struct view *view_find(const char *name);

#endif
