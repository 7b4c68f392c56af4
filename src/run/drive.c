#include "run/drive.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/version.h"
#include "core/core.h"
#include "isa/code.h"
#include "run/lanes.h"
#include "run/progress.h"
#include "run/signals.h"
#include "source/source.h"
#include "view/json.h"

/* A checkpoint is due this long after the start, then after as long again or COST times what the last one took. */
enum { FIRST_US = 2 * 1000 * 1000, EVERY_US = 10 * 1000 * 1000, COST = 20 };

struct drive {
	const struct drive_config *config;
	struct program program;
	struct core_desc desc;
	const struct core_ops *model;
	const struct source_ops *ops;
	struct code *code;
	struct source *source;
	struct run run;
	struct lanes *lanes;           /* NULL where something is driven in their place */
	const struct driven *driven;   /* the config's */
	void *state;                   /* of what is driven, or looks a second time */
	struct replay_log *replay_log; /* NULL: nothing is kept */
	struct kanata *log;            /* NULL: of stages nothing is logged */
	bool looked;                   /* a second time */
	bool unfinished;               /* a signal kept what is driven from timing all that it was to time */
	struct profile *profile;
	int64_t due;                   /* of the next checkpoint, microseconds of the monotonic clock */
	bool warned;                   /* that the last checkpoint could not be written */
};

/* What stands on the command line is wrong usage, whatever is wrong with it. */
static int wrong_usage(int err)
{
	if (err)
		error_status(EXIT_USAGE);
	return err;
}

/* Names of enum isa in core descriptions. */
static const char *const isa_names[NR_ISAS] = { "x86-64", "aarch64", "riscv64" };

static int describe(struct drive *d)
{
	const struct drive_options *o = &d->config->wanted;
	int err = 0;

	if (o->core)
		err = wrong_usage(core_desc_load(&d->desc, o->core));
	if (!err)
		err = program_probe(&d->program, d->config->argv[0]);
	if (err)
		return err;
	if (!o->core)
		err = core_desc_load(&d->desc, core_default_name(isa_names[d->program.isa]));
	if (!err && !*d->desc.cpu) {
		error_set(EINVAL, d->desc.path,
		          "it does not say core.llvm_cpu, the CPU whose costs of instructions are the base");
		error_remedy("let it inherit from one that does (`cyclewise cores` lists them), or add llvm_cpu = NAME "
		             "under [core]");
		err = wrong_usage(-EINVAL);
	}
	if (!err && strcmp(d->desc.isa, isa_names[d->program.isa])) {
		error_set(EINVAL, d->desc.name, "is a core for %s, but %s is a program for %s", d->desc.isa,
		          d->config->argv[0], isa_names[d->program.isa]);
		error_remedy("without --core it runs on %s; `cyclewise cores` lists all",
		             core_default_name(isa_names[d->program.isa]));
		err = wrong_usage(-EINVAL);
	}
	for (guint i = 0; i < o->set->len && !err; i++)
		err = wrong_usage(core_desc_set(&d->desc, o->set->pdata[i]));
	for (guint i = 0; i < o->scale->len && !err; i++)
		err = wrong_usage(core_desc_scale(&d->desc, o->scale->pdata[i]));
	for (guint i = 0; i < o->ideal->len && !err; i++)
		err = wrong_usage(core_desc_ideal(&d->desc, o->ideal->pdata[i]));
	return err;
}

static int find_model(struct drive *d)
{
	const char *preset = d->driven ? d->driven->model : "ooo";
	const char *name = d->config->wanted.model ? d->config->wanted.model : preset;
	struct nearest near = { .name = name };

	d->model = core_find(name);
	if (d->model && d->config->second && !d->model->suppose) {
		error_set(EINVAL, name, "this timing model cannot suppose what did not happen");
		error_remedy("without --model it is %s", preset);
		return wrong_usage(-EINVAL);
	}
	if (d->model)
		return 0;
	error_set(EINVAL, name, "no such timing model");
	for (const struct core_ops *const *c = core_list; *c; c++)
		nearest_offer(&near, (*c)->name);
	if (near.best) {
		error_remedy("did you mean %s? without --model it is %s", near.best, preset);
	} else {
		GString *names = g_string_new(NULL);

		for (const struct core_ops *const *c = core_list; *c; c++)
			g_string_append_printf(names, "%s%s", names->len ? ", " : "", (*c)->name);
		error_remedy("they are: %s; without --model it is %s", names->str, preset);
		g_string_free(names, TRUE);
	}
	return wrong_usage(-EINVAL);
}

/* --- saving ------------------------------------------------------------------------------------------ */

/* Rows that fail make profile_commit() fail: results are not looked at one by one. */

static void save_options(struct profile *p, const struct drive_options *o)
{
	const struct { const char *name; const GPtrArray *list; } lists[] = {
		{ "set", o->set }, { "scale", o->scale }, { "ideal", o->ideal },
	};
	char *text = NULL;
	size_t size;
	struct json j;
	FILE *f;

	if (!o->set->len && !o->scale->len && !o->ideal->len)
		return;
	f = open_memstream(&text, &size);
	g_assert(f);
	json_init(&j, f);
	j.indented = 0;
	json_object(&j, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		if (!lists[i].list->len)
			continue;
		json_array(&j, lists[i].name);
		for (guint k = 0; k < lists[i].list->len; k++)
			json_string(&j, NULL, lists[i].list->pdata[k]);
		json_end_array(&j);
	}
	json_end_object(&j);
	fclose(f);
	profile_set(p, "options", text);
	free(text);
}

static void save_window(struct profile *p, const struct window *w)
{
	GString *s = g_string_new(NULL);

	if (w->roi)
		g_string_append_printf(s, " --roi %s", w->roi);
	if (w->start_after)
		g_string_append_printf(s, " --start-after %s", w->start_after);
	if (w->stop_at)
		g_string_append_printf(s, " --stop-at %s", w->stop_at);
	if (w->skip)
		g_string_append_printf(s, " --skip %" PRIu64, w->skip);
	if (w->count)
		g_string_append_printf(s, " --count %" PRIu64, w->count);
	if (s->len)
		profile_set(p, "window", s->str + 1);
	g_string_free(s, TRUE);
}

static void save_parameters(struct profile *p, const struct core_desc *d)
{
	for (unsigned i = 0; i < nr_core_params; i++) {
		char value[16];
		int32_t v;

		memcpy(&v, (const char *)d + core_params[i].offset, sizeof v);
		snprintf(value, sizeof value, "%" PRId32, v);
		profile_parameter(p, core_params[i].name, value);
	}
	for (unsigned i = 0; i < NR_CORE_STRINGS; i++)
		profile_parameter(p, core_strings[i].name, (const char *)d + core_strings[i].offset);
}

static void save_run(struct profile *p, const struct drive *d)
{
	const struct drive_options *o = &d->config->wanted;

	profile_set(p, "version", CYCLEWISE_VERSION);
	profile_set(p, "program", d->config->argv[0]);
	profile_process(p, 0, PROCESS_NONE, d->config->argv[0]);
	profile_set_list(p, "arguments", (const char *const *)d->config->argv + 1);
	profile_set(p, "isa", d->desc.isa);
	profile_set(p, "core", o->core ? o->core : d->desc.name);
	profile_set(p, "model", d->model->name);
	profile_set_int(p, "width", d->desc.rename_width);
	profile_set_int(p, "seed", (int64_t)o->seed);
	save_options(p, o);
	save_window(p, &o->window);
	save_parameters(p, &d->desc);
}

/*
 * How it went, as far as is known; `over`: the program has ended; `cut`: not all of it was kept; `unseen`: a second
 * look is to come, or was cut short.
 */
static void save_result(struct profile *p, const struct source_result *r, bool over, bool cut, bool unseen)
{
	const char *notes[G_N_ELEMENTS(r->note) + 3] = { NULL };
	size_t nr = 0;

	for (; nr < G_N_ELEMENTS(r->note) && *r->note[nr]; nr++)
		notes[nr] = r->note[nr];
	if (cut)
		notes[nr++] = "the run is longer than what is kept of it for a second look: what is said is of its "
		              "first part; "
			      "--skip and --count choose another";
	if (over && unseen)
		notes[nr] = "the run was cut short before it was timed a second time: what comes of that is missing, "
		            "and nothing is predicted; --count ends one that is too long";
	profile_set_list(p, "notes", notes);
	profile_set(p, "emulator", r->emulator);
	profile_set_int(p, "forks", r->forks);
	profile_set_int(p, "execs", r->execs);
	profile_set_int(p, "lost", (int64_t)r->lost);
	if (!over)
		return;
	profile_set_int(p, "complete", r->complete && !unseen);
	profile_set_int(p, r->signal ? "signal" : "exit_status", r->signal ? r->signal : r->exit_status);
}

/* What was run, before it runs: a file that is left behind says whose it is. */
static int save_opening(struct drive *d)
{
	int err;

	if (!d->config->path)
		return 0;
	err = profile_begin(d->profile);
	if (err)
		return err;
	save_run(d->profile, d);
	return profile_commit(d->profile);
}

/* One checkpoint. */
static int save(struct drive *d, struct profile *p, bool over)
{
	const struct source_result *r = d->ops->result(d->source);
	int err = profile_begin(p);

	if (err)
		return err;
	save_run(p, d);
	save_result(p, r, over, d->replay_log && replay_log_full(d->replay_log),
	            d->unfinished || (d->replay_log && !d->looked));
	if (d->looked)
		profile_set_int(p, "looked", 1);
	if (d->lanes)
		err = lanes_save(d->lanes, p);
	if (d->driven && !err)
		err = d->driven->save(d->state, p);
	if (!err && d->looked)
		err = d->config->second->save(d->state, p);
	if (err) {
		profile_abandon(p);
		return err;
	}
	profile_totals(p);
	profile_instructions(p, d->code, d->ops->maps(d->source), r->pid);
	return profile_commit(p);
}

/*
 * One that cannot be written is left out: the program goes on, and the file stays as the last one left it. It is said
 * once until there is one again.
 */
static void checkpoint(struct drive *d, struct progress *progress)
{
	int64_t now = g_get_monotonic_time();
	int err;

	if (!d->config->path || now < d->due)
		return;
	err = save(d, d->profile, false);
	if (err && !d->warned)
		progress_warn(progress, error_get(), "the program runs on, and this is tried again later");
	d->warned = err;
	d->due = g_get_monotonic_time();
	d->due += MAX((int64_t)EVERY_US, (d->due - now) * COST);
}

/* The last one. Where the file cannot take it, the profile moves to memory: the report is not lost with it. */
static int save_last(struct drive *d)
{
	int err = save(d, d->profile, true);
	struct error error = *error_get();
	struct profile *memory;

	if (!err || !d->config->path)
		return err;
	if (!profile_create(&memory, NULL) && !save(d, memory, true)) {
		profile_close(d->profile);
		d->profile = memory;
	} else {
		profile_close(memory);
	}
	error_put(&error);
	return err;
}

/* --- starting ---------------------------------------------------------------------------------------- */

/* What no core can be made of is found out before the program runs. */
static int try_core(const struct drive *d)
{
	struct core *core;
	int err = d->model->open(&core, &d->desc, d->code, (struct timed_sink){ .take = NULL });

	if (err)
		return err == -EINVAL ? wrong_usage(err) : err;
	d->model->close(core);
	return 0;
}

static int start(struct drive *d)
{
	const struct drive_options *o = &d->config->wanted;
	struct code_config code = {
		.isa = d->program.isa, .cpu = d->desc.cpu, .features = d->desc.features,
		.ports = d->desc.port_names, .units = d->desc.unit_names,
		.costs = *d->desc.costs_path ? d->desc.costs_path : NULL,
	};
	struct source_config source = {
		.program = &d->program, .argv = d->config->argv, .qemu_cpu = d->desc.qemu_cpu, .window = o->window,
		.stdout_to_stderr = d->config->stdout_to_stderr,
	};
	sigset_t mask;
	int err = code_new(&d->code, &code);

	if (err)
		return o->core ? wrong_usage(err) : err;
	err = try_core(d);
	/* The file before the program: one that cannot be written is found out while nothing is lost. */
	if (!err)
		err = profile_create(&d->profile, d->config->path);
	if (!err)
		err = save_opening(d);
	if (!err && o->kanata)
		err = kanata_new(&d->log, o->kanata);
	if (err)
		return err;
	source.code = d->code;
	d->ops = source_find("qemu");
	signals_hold(&mask);
	source.mask = &mask;
	err = d->ops->open(&d->source, &source);
	signals_begin(d->ops, d->source, &mask);
	if (err)
		return err;
	d->run = (struct run){
		.desc = &d->desc, .code = d->code, .regions = d->ops->regions(d->source), .period = o->period,
		.seed = o->seed,
		.sweep = o->sweep_period,
	};
	const struct driven_run run = {
		.desc = &d->desc, .model = d->model, .code = d->code, .progress = o->progress,
		.options = d->config->options,
	};

	if (!d->driven || d->driven->beside)
		err = lanes_new(&d->lanes, d->model, d->code, &d->run,
		                d->config->methods | (d->config->path ? METHODS_FILE : METHODS_PROFILE));
	if (d->log && !err)
		lanes_log(d->lanes, d->log);
	if (d->driven && !err)
		err = d->driven->open(&d->state, &run);
	if (err || !d->config->second)
		return err;
	err = d->config->second->open(&d->state, &run);
	if (!err)
		err = replay_log_new(&d->replay_log, REPLAY_LOG_MOST);
	if (!err)
		lanes_keep(d->lanes, d->replay_log);
	return err;
}

/* --- running ----------------------------------------------------------------------------------------- */

/* What is driven in place of cores has no counters that are the program's: its source gives zeros. */
static void answer(struct drive *d, uint32_t thread)
{
	struct counters counters;

	if (!d->lanes)
		return;
	lanes_read(d->lanes, thread, &counters);
	d->ops->answer(d->source, &counters);
}

/* After an error the program still runs to its end; nobody looks at what it does. */
static int pump(struct drive *d)
{
	struct progress progress;
	struct step_batch b;
	struct error error = { .status = 0 };
	int more, err = 0;

	d->due = g_get_monotonic_time() + FIRST_US;
	progress_init(&progress, d->config->wanted.progress);
	while ((more = d->ops->read(d->source, &b)) > 0) {
		if (signals_asked())
			d->ops->cut(d->source);
		if (err || (d->replay_log && replay_log_full(d->replay_log)))
			continue;
		if (d->lanes)
			err = lanes_batch(d->lanes, &b);
		if (d->driven && !err)
			err = d->driven->batch(d->state, &b);
		if (!err && b.asks)
			answer(d, b.thread);
		progress_batch(&progress, &b);
		if (err)
			error = *error_get();
		else
			checkpoint(d, &progress);
	}
	if (!err && more)
		error = *error_get();
	signals_program_ended();
	progress_fini(&progress);
	if (d->lanes)
		lanes_finish(d->lanes);
	if (err || more) {
		error_put(&error);
		return err ? err : more;
	}
	err = d->driven ? d->driven->finish(d->state) : 0;
	d->unfinished = err == -ECANCELED;
	return d->unfinished ? 0 : err;
}

static int nothing_counted(const struct window *w, const struct source_result *r)
{
	if (r->window_unknown) {
		error_set(ENODATA, r->window_unknown,
		          "no file that the program ran code of has a function of this name: nothing was counted");
		error_remedy("names are those that `nm` or `cyclewise report` shows, those of inlined functions need "
		             "-g; stripped files have only those of `nm -D`, and Debian's "
		             "packages NAME-dbgsym give them theirs");
	} else if (r->window_gone) {
		error_set(ENODATA, r->window_gone, "the compiler left no code of this function: nothing was counted");
		error_remedy("its calls were optimised away; name the function that had them");
	} else if (w->roi) {
		error_set(ENODATA, w->roi, "the program never entered this function: nothing was counted");
		error_remedy(
			"--roi takes a name that `nm` or `cyclewise report` shows");
	} else if (w->start_after) {
		error_set(ENODATA, w->start_after,
		          "the program never returned from this function: nothing was counted");
		error_remedy("--start-after takes a name that `nm` or `cyclewise report` shows");
	} else {
		error_set(ENODATA, "--skip", "the program ended before anything was counted");
		error_remedy("skip fewer than %" PRIu64 " instructions", w->skip);
	}
	return -ENODATA;
}

static int write_log(struct drive *d)
{
	struct query *q;
	int err = query_new(&q, d->profile);

	if (err)
		return err;
	err = kanata_write(d->log, d->code, q);
	query_free(q);
	return err;
}

/* The program has ended, and what the first look found has been saved: where a signal ends this one, that is all. */
static int look_again(struct drive *d)
{
	struct query *q;
	int err = replay_log_end(d->replay_log);

	if (!err)
		err = query_new(&q, d->profile);
	if (err)
		return err;
	err = d->config->second->look(d->state, d->replay_log, q);
	query_free(q);
	if (err)
		return err == -ECANCELED ? 0 : err;
	d->looked = true;
	return save_last(d);
}

/* Whoever ends the program so does not wait for more. */
static bool cut_short(const struct source_result *r)
{
	return signals_asked() || r->signal == SIGINT || r->signal == SIGTERM || r->signal == SIGHUP ||
	       r->signal == SIGQUIT || r->signal == SIGALRM;
}

static int run(struct drive *d, int *status)
{
	const struct source_result *r = d->ops->result(d->source);
	struct error error;
	int err, saved;

	err = pump(d);
	error = *error_get();
	saved = save_last(d);
	*status = r->signal ? 128 + r->signal : r->exit_status;
	if (err) {
		error_put(&error);
		return err;
	}
	if (saved)
		return saved;
	if (!r->window_seen)
		return nothing_counted(&d->config->wanted.window, r);
	if (d->log)
		return write_log(d);
	return d->replay_log && !cut_short(r) ? look_again(d) : 0;
}

int drive(struct profile **out, int *status, const struct drive_config *config)
{
	struct drive *d = g_new0(struct drive, 1);
	int err;

	d->config = config;
	d->driven = config->driven;
	err = find_model(d);
	if (!err)
		err = describe(d);
	if (!err)
		err = start(d);
	if (!err) {
		err = run(d, status);
	} else {
		if (d->profile)
			profile_close(g_steal_pointer(&d->profile));
	}
	*out = d->profile;
	lanes_free(d->lanes);
	if (d->driven)
		d->driven->close(d->state);
	if (config->second)
		config->second->close(d->state);
	replay_log_free(d->replay_log);
	kanata_free(d->log);
	signals_end();
	if (d->source)
		d->ops->close(d->source);
	code_free(d->code);
	g_free(d);
	return err;
}
