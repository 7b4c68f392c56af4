/*
 * What every view of a run begins and ends with: which program, which core, how it ended; and the notes.
 */
#ifndef CYCLEWISE_VIEW_HEAD_H
#define CYCLEWISE_VIEW_HEAD_H

#include "view/view.h"

/* The members that every JSON object has, how the program ended included. The object is open. */
void head_json(struct json *j, const struct view_request *r);
/* The same of what no program ran for; `core` NULL: of none. */
void head_json_described(struct json *j, const char *version, const char *core);
void head_text(struct text *t, const struct view_request *r);

/* Warnings: what the run says of itself, and what is not in its cycles. Nothing where there are none. */
int notes_json(struct json *j, const struct view_request *r);
int notes_text(struct text *t, const struct view_request *r);

/* "unmodelled": { "instructions": n, "forms": [ ... ] } */
int unmodelled_json(struct json *j, const struct view_request *r);

/* Units of the profile as cycles. */
void cycles_json(struct json *j, const char *key, const struct view_request *r, uint64_t units);

#endif
