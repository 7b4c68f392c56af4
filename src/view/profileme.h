/*
 * ProfileMe's own answers, a part of the view `methods`: for each instruction the latency of each stage, how often it
 * retired and why it did not, what was wasted and retired while it was in flight; each as estimated from samples
 * and as it exactly was.
 */
#ifndef CYCLEWISE_VIEW_PROFILEME_H
#define CYCLEWISE_VIEW_PROFILEME_H

#include "view/view.h"

/* "profileme": one element for each of the instructions that has samples, in their order. 0 or -errno. */
int profileme_json(struct json *j, const struct view_request *r, const struct query_insn *insn, size_t nr);
/* The same of the first instructions. Nothing where none has samples. */
int profileme_text(struct text *t, const struct view_request *r, const struct query_insn *insn, size_t nr);

#endif
