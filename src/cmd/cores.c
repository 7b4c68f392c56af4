#include <glib.h>

#include "base/error.h"
#include "base/version.h"
#include "cmd/command.h"

static int run(struct invocation *call);

const struct command command_cores = {
	.name = "cores",
	.summary = "the core models, or one in full, with its sources and what it leaves out",
	.usage = "[options] [NAME|FILE]",
	.help = "Lists the core models; with NAME, or the FILE of a description of your own, all of one: every "
	        "parameter with its "
		"value, unit, range, default and source, the parts that --ideal takes, and what the model leaves "
	        "out.\n\n"
		"With -q the list is of names alone.",
	.groups = 0,
	.run = run,
};

static int run(struct invocation *call)
{
	struct view_request r = { .version = CYCLEWISE_VERSION, .quiet = call->options.quiet };
	struct core_desc *d = g_new0(struct core_desc, 1);
	int err = 0;

	if (call->argc > 1)
		err = command_usage(&command_cores, call->argv[1], "is one operand too many");
	else if (call->argc) {
		err = core_desc_load(d, call->argv[0]);
		if (err)
			error_status(EXIT_USAGE);
		r.core = d;
	}
	if (!err)
		err = output_view(&call->output, view_find("cores"), &r);
	g_free(d);
	return err;
}
