#include "cmd/profiled.h"
#include "run/reference.h"

static int run(struct invocation *call);

const struct command command_methods = {
	.name = "methods",
	.summary = "what every profiling method would have said, and its error",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core under every profiling and accounting method at once, and prints to "
	        "standard error "
		"how wrong each is. Samplers are held against the exact cycle stacks of the same run: those by commit "
	        "(TEA, NCI-TEA, "
		"TIP), by tags in the front end (IBS, SPE, RIS, ProfileMe), by interrupt (software). CPI stacks are "
	        "held against "
		"what ideal parts of the core would save: the same run is timed on a dozen more cores, which takes "
	        "most of the "
		"time; --no-simulation leaves that out.\n\n"
		"Methods that sample cycles do so in the same cycles. A short run needs a short --period: an error of "
	        "few samples is "
		"that of sampling.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_STUDY,
	.runs = true,
	.driven = &reference,
	.methods = METHODS_STUDY,
	.run = run,
};

static int run(struct invocation *call)
{
	struct command c = command_methods;

	if (call->options.no_simulation)
		c.driven = NULL;
	return profiled(&c, call, call->options.output, "methods", false);
}
