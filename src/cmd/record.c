#include "cmd/profiled.h"

static int run(struct invocation *call);

const struct command command_record = {
	.name = "record",
	.summary = "profile a program into a file (default cyclewise.cw)",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core and writes the profile into a file, cyclewise.cw unless -o says "
	        "otherwise, for "
		"`cyclewise report` and `cyclewise annotate`. An older file of that name is kept with .old behind its "
	        "name.\n\n"
		"The file is written every few seconds: whatever ends the run, it holds all but the last of them, "
	        "marked "
		"incomplete. It is an SQLite database.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_STAGES,
	.runs = true,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_record, call, call->options.output ? call->options.output : PROFILE_DEFAULT, "report",
	                true);
}
