#include "cmd/profiled.h"

static int run(struct invocation *call);

const struct command command_methods = {
	.name = "methods",
	.summary = "what every profiling method would have said, and its error",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help =
		"Runs PROGRAM on a modelled core under every profiling and accounting method at once, and prints to standard error "
		"how wrong each is against the exact cycle stacks of the same run: samplers by commit (TEA, NCI-TEA, TIP), by tags in "
		"the front end (IBS, SPE, RIS, ProfileMe), by interrupt (software), and CPI stacks.\n\n"
		"Methods that sample cycles do so in the same cycles. A short run needs a short --period: an error of few samples is "
		"that of sampling.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_STUDY,
	.runs = true,
	.methods = METHODS_STUDY,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_methods, call, call->options.output, "methods", false);
}
