#include "cmd/profiled.h"

static int run(struct invocation *call);

const struct command command_stat = {
	.name = "stat",
	.summary = "whole-run figures: IPC, CPI stack, issue slots, top-down, events",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core and prints to standard error the figures of the whole run: "
	        "instructions a cycle, "
		"the CPI stack, commit states, issue slots, top-down analysis, events, and the same for each thread "
	        "and each region "
		"that the program marks with cyclewise.h.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_STAGES,
	.runs = true,
	.methods = METHODS_STAT,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_stat, call, call->options.output, "stat", false);
}
