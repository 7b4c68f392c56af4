#include "cmd/recorded.h"

#include "base/version.h"

int recorded_open(struct recorded *rec, const struct invocation *call, const char *path)
{
	int err;

	*rec = (struct recorded){ .request = {
		.version = CYCLEWISE_VERSION, .limit = call->options.limit, .verbose = call->options.verbose,
		.quiet = call->options.quiet,
	} };
	err = profile_open(&rec->profile, path);
	return err ? err : query_new(&rec->request.query, rec->profile);
}

const struct view *recorded_view(const struct recorded *rec)
{
	const char *name = query_value(rec->request.query, "view");
	const struct view *view = name ? view_find(name) : NULL;

	return view ? view : view_find("report");
}

void recorded_close(struct recorded *rec)
{
	query_free(rec->request.query);
	profile_close(rec->profile);
}
