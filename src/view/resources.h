/*
 * What of the core's resources each instruction uses: the table that `annotate --resources` adds.
 *
 * Worked out from the profile: executions times what the core's description and cost file say an execution uses. Cells
 * are shares of all that the run used of a resource; the heading says how much of it that was. Lines from L2 are
 * executions that missed L1D.
 * Ref: Gus, table 1.
 */
#ifndef CYCLEWISE_VIEW_RESOURCES_H
#define CYCLEWISE_VIEW_RESOURCES_H

#include "view/view.h"

struct resources;

/* 0 or -errno: the core that the run was modelled on has to be known still. `q` must outlive it. */
int  resources_new(struct resources **out, struct query *q);
void resources_free(struct resources *r);

/* The table of one function. 0 or -errno. */
int resources_text(struct text *t, struct resources *r, const struct query_function *f);
/* "resources": { NAME: share, ... }, "latency": cycles: members of an instruction's object. */
void resources_json(struct json *j, struct resources *r, const struct query_insn *in);

#endif
