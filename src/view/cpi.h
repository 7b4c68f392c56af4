/*
 * The part of `methods` about CPI stacks: each method's, and how far it is from the reference in either order.
 */
#ifndef CYCLEWISE_VIEW_CPI_H
#define CYCLEWISE_VIEW_CPI_H

#include "view/view.h"

/* The member "cpi_stacks" of an open object. 0 or -errno. */
int cpi_json(struct json *j, const struct view_request *r);
/* 0 or -errno. */
int cpi_text(struct text *t, const struct view_request *r);

#endif
