/*
 * The part that the commands which run a program share: drive it, then show a view of what came out.
 */
#ifndef CYCLEWISE_CMD_PROFILED_H
#define CYCLEWISE_CMD_PROFILED_H

#include "cmd/command.h"

/*
 * Runs call->argv under `path` (the profile file; NULL: in memory) and shows `view`. `summary`: where no text was
 * asked for by name, one line about the file stands in its place. The exit status or -errno.
 */
int profiled(const struct command *c, struct invocation *call, const char *path, const char *view, bool summary);

#endif
