/*
 * Inlined functions, as `report` lists them and `annotate` shows them: merged over their copies, and by copy.
 */
#ifndef CYCLEWISE_VIEW_INLINED_H
#define CYCLEWISE_VIEW_INLINED_H

#include "profile/query.h"
#include "view/json.h"
#include "view/place.h"
#include "view/view.h"

/* "called at f.c:2 in main": the calls of a copy, from its own outwards. */
char *inlined_calls(const struct query_copy *copy, char buf[PLACE_SIZE]);

/* What stands of one in JSON before its end: itself, and as "copies" the calls that were inlined. */
void inlined_json_open(struct json *j, const struct view_request *r, const struct query_inlined *f);
/* As function_json(), for one that has no code of its own. */
void inlined_function_json(struct json *j, const struct view_request *r, const struct query_inlined *f);

#endif
