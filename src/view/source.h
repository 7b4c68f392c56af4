/*
 * The text of source lines, where the file is found and is still what it was during the run; where it is not, a note
 * says so.
 */
#ifndef CYCLEWISE_VIEW_SOURCE_H
#define CYCLEWISE_VIEW_SOURCE_H

#include <stdint.h>

#include "view/view.h"

struct sources;

/* `r` must outlive it: its query and its source_path. */
struct sources *sources_new(const struct view_request *r);
void sources_free(struct sources *s);
/* A line, without its end; valid until sources_free(). NULL: there is none, or the file has been edited since. */
const char *sources_line(struct sources *s, const char *file, uint32_t line);

#endif
