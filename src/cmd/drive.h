/*
 * Runs a program through the whole pipeline and leaves its profile: source -> core -> methods -> profile.
 */
#ifndef CYCLEWISE_CMD_DRIVE_H
#define CYCLEWISE_CMD_DRIVE_H

#include "cmd/options.h"
#include "profile/profile.h"

struct drive_config {
	const struct options *options;
	char *const *argv;             /* the program and its arguments, NULL-terminated */
	const char *path;              /* of the profile file; NULL: in memory */
	bool study;                    /* all methods run, not only those that a profile has */
	bool stdout_to_stderr;         /* the program's standard output goes to standard error */
};

/*
 * *status gets the exit status that cyclewise is to have: the program's own, 128 + the signal that ended it, 130 on Ctrl-C.
 *
 * 0 or -errno. *out gets the profile wherever the program ran, after an error too: what could be saved, in memory
 * where the file could not be written. NULL where nothing ran. The caller closes it.
 */
int drive(struct profile **out, int *status, const struct drive_config *config);

#endif
