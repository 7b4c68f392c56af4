/*
 * Which instructions determine the length of a run: the share of the critical path of each, and what binds it there.
 *
 * A core finds that out itself, as the abstract one does by taint (core_ops.causes), or it is found by the
 * last-arriving constraints of its timed records (method/critical.h). The file gets them as figures of the method
 * `causality`: "share", and "bound/NAME", the part of the instruction's executions on the path that were bound by NAME.
 * Ref: Gus §3 (causality).
 */
#include <glib.h>
#include <string.h>

#include "cmd/profiled.h"
#include "core/core.h"
#include "method/critical.h"
#include "method/method.h"
#include "run/drive.h"
#include "run/executions.h"
#include "run/pipe.h"

/* One thread of the guest. */
struct thread {
	struct core *core;
	struct critical *critical;     /* NULL: the core finds out itself */
	uint64_t commit, cycles, instructions; /* by the records */
	bool ended;
};

enum { AHEAD = 4 };                    /* batches of which it may be known what they meet, and not when */

/* What is foreseen of a batch, on its way to the thread that times it. */
struct job {
	struct thread *thread;
	struct foreseen seen;
};

struct causality {
	struct driven_run run;
	const struct causes_ops *causes; /* NULL: they are found in the records */
	struct pipe *timing;           /* of struct job; NULL: cores are not parted */
	GPtrArray *thread;             /* struct thread *, NULL: not seen yet */
	struct executions executions;
};

static void thread_free(struct causality *s, struct thread *t)
{
	if (!t)
		return;
	if (t->core)
		s->run.model->close(t->core);
	critical_free(t->critical);
	g_free(t);
}

static void take(void *ctx, const struct timed *records, size_t n)
{
	struct thread *t = ctx;

	critical_batch(t->critical, records, n);
	for (size_t i = 0; i < n; i++) {
		if (!timed_commits(&records[i]))
			continue;
		uint64_t commit = timed_leave(&records[i]) + 1;
		if (records[i].flags & TIMED_COUNTED) {
			t->cycles += commit - t->commit;
			t->instructions += !(records[i].flags & TIMED_CONTINUED);
		}
		t->commit = commit;
	}
}

static int thread_new(struct thread **out, struct causality *s)
{
	struct thread *t = g_new0(struct thread, 1);
	int err;

	if (s->causes) {
		err = s->causes->open(&t->core, s->run.desc, s->run.code);
	} else {
		t->critical = critical_new();
		err = s->run.model->open(&t->core, s->run.desc, s->run.code,
		                         (struct timed_sink){ .take = take, .ctx = t });
	}
	if (err) {
		thread_free(s, t);
		return err;
	}
	*out = t;
	return 0;
}

static void batch_take(void *ctx, void *slot)
{
	const struct causality *s = ctx;
	const struct job *m = slot;

	s->run.model->batch_foreseen(m->thread->core, NULL, 0, 0, &m->seen);
}

static void batch_fini(void *slot)
{
	struct job *m = slot;

	foreseen_fini(&m->seen);
}

/* All that was read has been timed. */
static void settle(struct causality *s)
{
	if (s->timing)
		pipe_wait(s->timing);
}

static void thread_end(struct causality *s, struct thread *t)
{
	if (t->ended)
		return;
	t->ended = true;
	settle(s);
	s->run.model->finish(t->core);
	if (t->critical)
		critical_finish(t->critical);
}

static void causality_close(void *state)
{
	struct causality *s = state;

	if (!s)
		return;
	pipe_free(s->timing, batch_fini);
	for (guint i = 0; i < s->thread->len; i++)
		thread_free(s, s->thread->pdata[i]);
	g_ptr_array_free(s->thread, TRUE);
	executions_fini(&s->executions);
	g_free(s);
}

static int causality_open(void **state, const struct driven_run *run)
{
	struct causality *s = g_new0(struct causality, 1);

	s->run = *run;
	s->causes = run->model->causes;
	s->thread = g_ptr_array_new();
	*state = s;
	return s->causes && run->model->foresees_all
	               ? pipe_new(&s->timing, "timing", AHEAD, sizeof(struct job), batch_take, s)
	               : 0;
}

static int causality_batch(void *state, const struct step_batch *b)
{
	struct causality *s = state;
	int err = 0;

	if (b->thread >= s->thread->len)
		g_ptr_array_set_size(s->thread, (gint)b->thread + 1);
	if (!s->thread->pdata[b->thread])
		err = thread_new((struct thread **)&s->thread->pdata[b->thread], s);
	if (err)
		return err;
	struct thread *t = s->thread->pdata[b->thread];
	executions_count(&s->executions, s->run.code, b);
	if (s->timing) {
		struct job *m = pipe_slot(s->timing);
		m->thread = t;
		s->run.model->foresee(t->core, b->step, b->n, b->ahead, &m->seen);
		pipe_give(s->timing);
	} else {
		s->run.model->batch(t->core, b->step, b->n, b->ahead);
	}
	if (b->end)
		thread_end(s, t);
	return 0;
}

static int causality_finish(void *state)
{
	struct causality *s = state;

	for (guint i = 0; i < s->thread->len; i++)
		if (s->thread->pdata[i])
			thread_end(s, s->thread->pdata[i]);
	return 0;
}

/* --- saving ------------------------------------------------------------------------------------------ */

enum { MOST_BOUNDS = 48 };

/* What one instruction was bound by, over all threads: names in the order of the first of them. */
struct sums {
	uint64_t count;
	unsigned nr;
	struct { char name[128]; uint64_t count; } bound[MOST_BOUNDS];
};

static void add(void *sums, const char *name, uint64_t n)
{
	struct sums *s = sums;
	unsigned i = 0;

	while (i < s->nr && strcmp(s->bound[i].name, name))
		i++;
	if (i == MOST_BOUNDS)
		return;
	if (i == s->nr) {
		g_strlcpy(s->bound[i].name, name, sizeof s->bound[i].name);
		s->bound[s->nr++].count = 0;
	}
	s->bound[i].count += n;
}

/* A port that was waited for is told by the uops of the instruction: the ports of the one with the fewest. */
static const char *port_of(const struct causality *s, uint32_t insn, char *buf)
{
	const struct insn *in = code_insn(s->run.code, insn);
	uint16_t ports = 0;

	for (unsigned i = 0; i < in->nr_uops; i++) {
		uint16_t p = s->run.code->uops[in->uop + i].ports;
		if (p && (!ports || __builtin_popcount(p) < __builtin_popcount(ports)))
			ports = p;
	}
	return ports ? ports_name(s->run.desc, ports, buf) : "port";
}

static void gather(const struct causality *s, uint32_t insn, struct sums *out)
{
	char name[128];

	*out = (struct sums){ .count = 0 };
	for (guint i = 0; i < s->thread->len; i++) {
		const struct thread *t = s->thread->pdata[i];
		if (!t)
			continue;
		const struct critical_row *d = t->critical ? critical_row(t->critical, insn) : NULL;
		out->count += s->causes ? s->causes->insn(t->core, insn, add, out) : d ? d->count : 0;
		for (unsigned k = 0; d && k < NR_BOUNDS; k++)
			if (d->bound[k])
				add(out, k == BOUND_PORT ? port_of(s, insn, name) : bound_name((enum bound)k),
				    d->bound[k]);
	}
}

static int save_insn(struct profile *p, uint32_t insn, uint64_t executions, const struct sums *sums, uint64_t total)
{
	int err = profile_cycles(p, insn, 0, executions, 0);

	if (!err)
		err = profile_insn_figure(p, "causality", insn, "share", (double)sums->count / (double)total);
	for (unsigned i = 0; i < sums->nr && !err; i++) {
		char *name = g_strconcat("bound/", sums->bound[i].name, NULL);
		err = profile_insn_figure(p, "causality", insn, name,
		                          (double)sums->bound[i].count / (double)sums->count);
		g_free(name);
	}
	return err;
}

static int causality_save(void *state, struct profile *p)
{
	struct causality *s = state;
	const struct slot_counts none = { 0 };
	uint64_t total = 0;
	int err = 0;

	settle(s);
	for (guint i = 0; i < s->thread->len && !err; i++) {
		const struct thread *t = s->thread->pdata[i];
		if (!t)
			continue;
		const struct causes all = s->causes ? s->causes->all(t->core)
		                                    : (struct causes){
			.critical = critical_total(t->critical), .instructions = t->instructions, .cycles = t->cycles,
		                                    };
		total += all.critical;
		err = profile_thread(p, i, all.instructions, 0, all.cycles * CYCLE_UNITS, &none);
	}
	if (!err)
		err = profile_set(p, "view", "causality");
	if (!err)
		err = profile_set_int(p, "units_per_cycle", CYCLE_UNITS);
	if (!err)
		err = executions_save_unmodelled(&s->executions, s->run.code, p);
	for (uint32_t i = 0; i < s->executions.nr && !err; i++) {
		struct sums sums;
		gather(s, i, &sums);
		if (sums.count)
			err = save_insn(p, i, s->executions.of[i], &sums, total);
	}
	return err;
}

static const struct driven causality = {
	.model = "abstract",
	.open = causality_open,
	.batch = causality_batch,
	.finish = causality_finish,
	.save = causality_save,
	.close = causality_close,
};

static int run(struct invocation *call);

const struct command command_causality = {
	.name = "causality",
	.summary = "which instructions determine the length of a run",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core and prints to standard error which instructions are on the critical "
	        "path of the run, what "
		"part of it each is, and what binds it there: the latency of what it waits for, a port, the reorder "
	        "buffer, the front end, "
		"a line on its way from memory.\n\n"
		"Without --model the core is the resource-centric one, abstract.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST,
	.runs = true,
	.driven = &causality,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_causality, call, call->options.output, "causality", false);
}
