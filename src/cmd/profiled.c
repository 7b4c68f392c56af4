#include "cmd/profiled.h"

#include <errno.h>

#include "base/error.h"
#include "base/version.h"
#include "run/drive.h"
#include "run/signals.h"
#include "view/number.h"

static void print_summary(struct query *q, const char *path)
{
	const struct run_info *run = query_run(q);
	char instructions[NUMBER_SIZE], cycles[NUMBER_SIZE];

	fprintf(stderr,
	        "cyclewise: %s: %s instructions, %s cycles on %s%s; `cyclewise report %s` shows where they went\n",
	        path, number_grouped(instructions, run->instructions),
	        number_whole(cycles, run->cycles_units, run->units_per_cycle), run->core,
	        run->complete ? "" : ", cut short", path);
}

static int show(struct invocation *call, struct profile *p, const char *view, const char *summary_of)
{
	struct view_request r = {
		.version = CYCLEWISE_VERSION, .limit = call->options.limit, .verbose = call->options.verbose,
		.quiet = call->options.quiet,
	};
	int err = query_new(&r.query, p);

	if (err)
		return err;
	if (summary_of)
		print_summary(r.query, summary_of);
	err = output_view(&call->output, view_find(view), &r);
	query_free(r.query);
	return err;
}

int profiled(const struct command *c, struct invocation *call, const char *path, const char *view, bool summary)
{
	const struct options *o = &call->options;
	struct drive_config config = {
		.wanted = {
			.core = o->core, .model = o->model, .set = o->set, .scale = o->scale, .ideal = o->ideal,
			.window = o->window,
			.period = o->period, .seed = o->seed, .sweep_period = o->sweep_period, .kanata = o->kanata,
			.progress = !o->quiet && !o->no_progress,
		},
		.options = o, .argv = call->argv, .path = path, .methods = c->methods, .driven = c->driven,
		.second = c->second,
		.stdout_to_stderr = call->output.json == stdout,
	};
	struct profile *p;
	struct error error;
	int status = EXIT_FAILED, err, shown = 0;

	if (!call->argc)
		return command_usage(c, "PROGRAM", "is missing");
	if (summary && call->output.text == stderr)
		call->output.text = NULL;
	else
		summary = false;
	err = drive(&p, &status, &config);
	error = *error_get();
	/*
	 * After an error the JSON is the error's, and a report of nothing says nothing, nor does one of what was to be
	 * seen a second time.
	 */
	if (p && !(err && (call->output.json || err == -ENODATA || c->second)))
		shown = show(call, p, view, summary && !err ? path : NULL);
	if (profile_close(p) && !err && !shown)
		shown = -EIO;
	if (err) {
		error_put(&error);
		return err;
	}
	return shown ? shown : signals_asked() ? 128 + signals_asked() : status;
}
