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
void recorded_close(struct recorded *rec);

#endif
