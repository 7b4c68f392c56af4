#include "cmd/profiled.h"

static int run(struct invocation *call);

const struct command command_run = {
	.name = "run",
	.summary = "profile a program, then print the report; writes no file unless -o",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core and prints to standard error where its cycles went: the whole run's "
	        "stack, the "
		"functions, source lines and instructions that cost most, each with its stack.\n\n"
		"The program's input, output and signals are its own, and its exit status is cyclewise's. Options of "
	        "cyclewise "
		"stand before PROGRAM.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_STAGES,
	.runs = true,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_run, call, call->options.output, "report", false);
}
