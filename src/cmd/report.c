#include "cmd/command.h"
#include "cmd/recorded.h"

static int run(struct invocation *call);

const struct command command_report = {
	.name = "report",
	.summary = "where the cycles of a recorded profile went: functions, lines, instructions, with their stacks",
	.usage = "[options] [FILE]",
	.help = "Prints the report of a profile that `cyclewise record` (or -o) wrote: FILE, or cyclewise.cw. What "
	        "`cyclewise sensitivity` "
		"or `cyclewise causality` wrote is shown as they show it.",
	.groups = OPTIONS_LIST,
	.run = run,
};

static int run(struct invocation *call)
{
	struct recorded rec;
	int err;

	if (call->argc > 1)
		return command_usage(&command_report, call->argv[1], "is one operand too many");
	err = recorded_open(&rec, call, call->argc ? call->argv[0] : PROFILE_DEFAULT);
	if (!err)
		err = output_view(&call->output, recorded_view(&rec), &rec.request);
	recorded_close(&rec);
	return err;
}
