#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/named.h"
#include "cmd/recorded.h"

static int run(struct invocation *call);

const struct command command_annotate = {
	.name = "annotate",
	.summary = "source and disassembly of one function with the stack of each instruction",
	.usage = "[options] [FILE] SYMBOL",
	.help = "Prints the source and disassembly of the function SYMBOL of a recorded profile, FILE or cyclewise.cw: "
	        "of each "
		"instruction its executions, its cycles, cycles an execution, its stack, and what most of it is.\n\n"
		"SYMBOL is a linkage name, a whole demangled name, one without its parameters, or its last component. "
	        "In its place may "
		"stand an instruction as reports name it, FUNCTION+OFFSET or an address: printed is the function that "
	        "it is in or, of code "
		"without names, what was executed around it.\n\n"
		"Of a function that was inlined, each call that was inlined is shown, too, and all of them together by "
		"source line. What was inlined into it counts as its own.",
	.groups = OPTIONS_LIST | OPTIONS_CODE,
	.run = run,
};

/* A profile of an analysis alone has no cycles of instructions. */
static int need_cycles(const struct recorded *rec, const char *path)
{
	const struct view *view = recorded_view(rec);

	if (view == view_find("report"))
		return 0;
	error_set(ENODATA, path, "was written by `cyclewise %s`, and has no cycles of instructions", view->name);
	error_remedy("`cyclewise report` shows it; `cyclewise record` makes one that has");
	return -ENODATA;
}

/* The function that the operand names, or is in. */
static int find(struct view_request *r, const char *operand)
{
	GPtrArray *insns;
	int err;

	if (named_place(operand))
		return named_code(r->query, operand, &r->function, &r->inlined, &r->nr_inlined);
	insns = g_ptr_array_new();
	err = named_insns(r->query, operand, insns);
	if (!err) {
		r->around = insns->pdata[0];
		r->function = r->around->function;
	}
	g_ptr_array_free(insns, TRUE);
	return err;
}

static int check_source_path(const GPtrArray *rules)
{
	for (guint i = 0; i < rules->len; i++)
		if (!strchr(rules->pdata[i], '=') || *(const char *)rules->pdata[i] == '=') {
			error_set(EINVAL, "--source-path", "'%s' is not OLD=NEW", (const char *)rules->pdata[i]);
			error_remedy("as in --source-path /build/prog-1.0=/home/user/prog");
			error_status(EXIT_USAGE);
			return -EINVAL;
		}
	return 0;
}

static int run(struct invocation *call)
{
	const char *path = call->argc == 2 ? call->argv[0] : PROFILE_DEFAULT;
	struct recorded rec;
	int err;

	/* One operand is SYMBOL; where it is a file, and the default one is not there, it was meant as FILE. */
	if (call->argc < 1 || (call->argc == 1 && !access(call->argv[0], F_OK) && access(PROFILE_DEFAULT, F_OK)))
		return command_usage(&command_annotate, "SYMBOL", "is missing");
	if (call->argc > 2)
		return command_usage(&command_annotate, call->argv[2], "is one operand too many");
	err = check_source_path(call->options.source_path);
	if (err)
		return err;
	err = recorded_open(&rec, call, path);
	if (!err)
		err = need_cycles(&rec, path);
	if (!err)
		err = find(&rec.request, call->argv[call->argc - 1]);
	rec.request.source_path = call->options.source_path;
	rec.request.resources = call->options.with_resources;
	if (!err)
		err = output_view(&call->output, view_find("annotate"), &rec.request);
	recorded_close(&rec);
	return err;
}
