/*
 * A profile file opened for a view: what the commands that read one share.
 */
#ifndef CYCLEWISE_CMD_RECORDED_H
#define CYCLEWISE_CMD_RECORDED_H

#include "cmd/command.h"

struct recorded {
	struct profile *profile;
	struct view_request request;
};

/* 0 or -errno; recorded_close() in either case. */
int  recorded_open(struct recorded *rec, const struct invocation *call, const char *path);
/* The view that shows it: `report`, or that of the one analysis that it is of, with no cycles of instructions. */
const struct view *recorded_view(const struct recorded *rec);
void recorded_close(struct recorded *rec);

#endif
