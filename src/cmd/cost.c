#include <glib.h>

#include "base/error.h"
#include "base/version.h"
#include "cmd/command.h"

static int run(struct invocation *call);

const struct command command_cost = {
	.name = "cost",
	.summary = "the storage that each profiling method's hardware needs on a core",
	.usage = "[options]",
	.help = "Prints how many bytes of storage the hardware of each profiling method that `cyclewise methods` "
	        "compares would take "
		"on a core, structure by structure: of samplers by the sums of the TEA paper, of the miss event tables "
	        "FMT and sFMT by their "
		"paper's columns.",
	.groups = OPTIONS_DESCRIBE,
	.run = run,
};

static int run(struct invocation *call)
{
	struct view_request r = { .version = CYCLEWISE_VERSION };
	struct core_desc *d = g_new0(struct core_desc, 1);
	const struct options *o = &call->options;
	int err = call->argc ? command_usage(&command_cost, call->argv[0], "is one operand too many") : 0;

	if (!err) {
		err = core_desc_load(d, o->core ? o->core : core_default_name("x86-64"));
		for (guint i = 0; i < o->set->len && !err; i++)
			err = core_desc_set(d, o->set->pdata[i]);
		if (err)
			error_status(EXIT_USAGE);
	}
	r.core = d;
	if (!err)
		err = output_view(&call->output, view_find("cost"), &r);
	g_free(d);
	return err;
}
