#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/recorded.h"

static int run(struct invocation *call);

const struct command command_annotate = {
	.name = "annotate",
	.summary = "source and disassembly of one function with the stack of each instruction",
	.usage = "[options] [FILE] SYMBOL",
	.help =
		"Prints the source and disassembly of the function SYMBOL of a recorded profile, FILE or cyclewise.cw: of each "
		"instruction its executions, its cycles, cycles an execution, its stack, and what most of it is.\n\n"
		"SYMBOL is a linkage name, a whole demangled name, one without its parameters, or its last component.",
	.groups = OPTIONS_LIST | OPTIONS_CODE,
	.run = run,
};

enum { CANDIDATES = 8 };

static int unknown(struct query *q, const char *name)
{
	const struct query_function *f;
	struct nearest near = { .name = name };
	size_t n;

	if (query_functions(q, &f, &n))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (f[i].symbol)
			nearest_offer(&near, f[i].symbol);
		if (f[i].linkage)
			nearest_offer(&near, f[i].linkage);
	}
	error_set(ENOENT, name, "no function of this name was executed");
	if (near.best)
		error_remedy("did you mean %s? (`cyclewise report --limit %zu` lists all)", near.best, n);
	else
		error_remedy("`cyclewise report --limit %zu` lists all functions", n);
	return -ENOENT;
}

/* Several have cycles under the name; which can be meant is said by their linkage names. */
static int ambiguous(const char *name, const struct query_function *const *f, size_t n)
{
	char list[400];
	size_t at = 0;

	for (size_t i = 0; i < n && i < CANDIDATES && at < sizeof list; i++)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s (%s, 0x%" PRIx64 ")", i ? "; " : "",
		                       f[i]->linkage ? f[i]->linkage : "?", f[i]->module ? f[i]->module : "JIT code", f[i]->address);
	error_set(EINVAL, name, "is the name of %zu functions", n);
	error_remedy("say which: %s%s", list, n > CANDIDATES ? "; ..." : "");
	return -EINVAL;
}

static int find(struct recorded *rec, const char *name)
{
	const struct query_function *const *f;
	size_t n;
	int err = query_find(rec->request.query, name, &f, &n);

	if (!err && !n)
		err = unknown(rec->request.query, name);
	if (!err && n > 1)
		err = ambiguous(name, f, n);
	if (!err)
		rec->request.function = f[0];
	return err;
}

static int run(struct invocation *call)
{
	struct recorded rec;
	int err;

	if (call->argc < 1)
		return command_usage(&command_annotate, "SYMBOL", "is missing");
	if (call->argc > 2)
		return command_usage(&command_annotate, call->argv[2], "is one operand too many");
	err = recorded_open(&rec, call, call->argc == 2 ? call->argv[0] : PROFILE_DEFAULT);
	if (!err)
		err = find(&rec, call->argv[call->argc - 1]);
	rec.request.resources = call->options.with_resources;
	if (!err)
		err = output_view(&call->output, view_find("annotate"), &rec.request);
	recorded_close(&rec);
	return err;
}
