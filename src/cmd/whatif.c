/*
 * What a run would have taken if: given instructions never met given events, or a load were prefetched.
 *
 * A component of a cycle stack says what was waited for, not what would be saved: behind one miss stands another,
 * beside one chain another as long. This takes the event away and times the run again (run/predict.h). Which pairs of
 * instruction and event are largest is known when the run has ended, and so the steps are kept (run/replay_log.h); the
 * program runs once.
 *
 * The file gets figures of the method `whatif`: "cycles" of the run as it was, "N/cycles" and "N/share" (cycles of the
 * stacks) of what-if N; and keys that say what that is: "whatif.N.never" the events, "whatif.N.of" the instructions in
 * words, "whatif.N.insn" where it is one, "whatif.N.distance" of a prefetch.
 */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cmd/named.h"
#include "cmd/profiled.h"
#include "run/predict.h"

enum { PAIRS = 10, MOST_DISTANCES = 16, FURTHEST = 1 << 20 };

/* Events of a load's data: what a prefetch is for. */
enum { FETCHED = PSV_ST_L1 | PSV_ST_TLB | PSV_ST_LLC };

struct asked {
	GArray *never;                 /* struct never */
	uint32_t prefetch, distance;   /* CODE_NONE, 0: none */
	uint32_t insn;                 /* where it is one; else CODE_NONE */
	uint16_t events;
	char *of;                      /* the instructions, in words; NULL where it is one */
	uint64_t share;                /* units */
	uint64_t cycles;
};

struct whatif {
	struct driven_run run;
	uint16_t events;               /* asked for; 0: those that were met */
	uint32_t distance[MOST_DISTANCES];
	unsigned nr_distances;
	GArray *asked;                 /* struct asked */
	uint64_t cycles;               /* of the run as it was */
};

/* --- options ----------------------------------------------------------------------------------------- */

static int parse_event(struct whatif *w, const char *word)
{
	struct nearest near = { .name = word };

	for (unsigned bit = 0; bit < NR_PSV; bit++) {
		if (!g_ascii_strcasecmp(word, psv_event(bit))) {
			w->events |= (uint16_t)(1u << bit);
			return 0;
		}
		nearest_offer(&near, psv_event(bit));
	}
	error_set(EINVAL, "--event", "there is no event '%s'", word);
	error_remedy("%s%s%sthe nine are DR-L1, DR-TLB, DR-SQ, FL-MB, FL-EX, FL-MO, ST-L1, ST-TLB, ST-LLC",
	             near.best ? "did you mean " : "", near.best ? near.best : "", near.best ? "? " : "");
	error_status(EXIT_USAGE);
	return -EINVAL;
}

static int parse_events(struct whatif *w, const GPtrArray *lists)
{
	int err = 0;

	for (guint i = 0; i < lists->len && !err; i++) {
		const char *list = lists->pdata[i];
		char **words = g_strsplit(*list ? list : ",", ",", -1); /* "" names an event without a name, not none */

		for (char **word = words; *word && !err; word++)
			err = parse_event(w, *word);
		g_strfreev(words);
	}
	return err;
}

static int parse_distances(struct whatif *w, const char *text)
{
	char **words = g_strsplit(text ? text : "1,2,4,8,16,32,64,128", ",", -1);
	int err = 0;

	for (char **word = words; *word && !err; word++) {
		guint64 distance;

		if (w->nr_distances == MOST_DISTANCES ||
		    !g_ascii_string_to_unsigned(*word, 10, 1, FURTHEST, &distance, NULL)) {
			err = error_set(EINVAL, "--distance", "'%s' is not a list of at most %d numbers from 1 to %d",
			                text, MOST_DISTANCES, FURTHEST);
			error_remedy("such as 4,16: executions of the load, from the prefetch to the use");
			error_status(EXIT_USAGE);
		} else {
			w->distance[w->nr_distances++] = (uint32_t)distance;
		}
	}
	g_strfreev(words);
	return err;
}

/* What is misspelt must not be found out when a long run is over. */
static int parse_places(const GPtrArray *places)
{
	int err = 0;

	for (guint i = 0; i < places->len && !err; i++)
		err = named_place(places->pdata[i]);
	if (err)
		error_status(EXIT_USAGE);
	return err;
}

static int whatif_open(void **state, const struct driven_run *run)
{
	struct whatif *w = g_new0(struct whatif, 1);
	const struct options *o = run->options;
	int err;

	*state = w;
	w->run = *run;
	w->asked = g_array_new(FALSE, FALSE, sizeof(struct asked));
	err = parse_events(w, o->event);
	if (!err)
		err = parse_places(o->insn);
	if (!err)
		err = parse_places(o->prefetch);
	if (!err)
		err = parse_distances(w, o->distance);
	if (!err && o->distance && !o->prefetch->len) {
		err = error_set(EINVAL, "--distance", "is of a prefetch, and there is no --prefetch");
		error_status(EXIT_USAGE);
	}
	return err;
}

static void whatif_close(void *state)
{
	struct whatif *w = state;

	if (!w)
		return;
	for (guint i = 0; i < w->asked->len; i++) {
		g_array_free(g_array_index(w->asked, struct asked, i).never, TRUE);
		g_free(g_array_index(w->asked, struct asked, i).of);
	}
	g_array_free(w->asked, TRUE);
	g_free(w);
}

/* --- what is asked ----------------------------------------------------------------------------------- */

/* Units of the stack in components that have one of the events. */
static uint64_t share_of(const struct query_insn *in, uint16_t events)
{
	uint64_t units = 0;

	for (uint32_t i = 0; i < in->stack.nr; i++)
		if (in->stack.share[i].signature & events)
			units += in->stack.share[i].units;
	return units;
}

static struct asked *ask(struct whatif *w)
{
	const struct asked none = {
		.never = g_array_new(FALSE, FALSE, sizeof(struct never)), .prefetch = CODE_NONE, .insn = CODE_NONE,
	};

	g_array_append_val(w->asked, none);
	return &g_array_index(w->asked, struct asked, w->asked->len - 1);
}

static void ask_never(struct asked *a, const struct query_insn *in, uint16_t events)
{
	const struct never never = { in->insn, events };

	g_array_append_val(a->never, never);
	a->events |= events;
	a->share += share_of(in, events);
}

struct pair {
	const struct query_insn *in;
	uint16_t event;
	uint64_t units;
};

/* The largest first; of equals the instruction that costs more, which is the earlier. */
static int by_units(gconstpointer a, gconstpointer b)
{
	const struct pair *x = a, *y = b;

	if (x->units != y->units)
		return x->units > y->units ? -1 : 1;
	return x->in != y->in ? (x->in < y->in ? -1 : 1) : (int)x->event - (int)y->event;
}

/* How often the instruction met the event. */
static uint64_t times_of(const struct query_insn *in, uint16_t event)
{
	uint64_t times = 0;

	for (uint32_t i = 0; i < in->stack.nr; i++)
		if (in->stack.share[i].signature & event)
			times += in->stack.share[i].executions;
	return times;
}

/*
 * Brings the branch that is mispredicted most often to the place behind the `n` largest pairs, unless it is one of
 * them; returns how many are to be asked. What a misprediction costs is only in part the branch's: what comes late
 * behind it waits in its own name.
 */
static guint add_mispredicted(GArray *pairs, guint n)
{
	struct pair *p = (struct pair *)(void *)pairs->data;
	uint64_t times, most = 0;
	guint at = 0;

	for (guint i = 0; i < pairs->len; i++) {
		if (p[i].event == PSV_FL_MB && (times = times_of(p[i].in, PSV_FL_MB)) > most) {
			most = times;
			at = i;
		}
	}
	if (!most || at < n)
		return n;
	struct pair added = p[at];
	p[at] = p[n];
	p[n] = added;
	return n + 1;
}

/* The instruction's share of components that have one of `events`, each component once. */
static void ask_together(struct whatif *w, const struct pair *pair, guint nr)
{
	struct asked *a = ask(w);

	a->of = g_strdup_printf("all %u together", nr);
	for (guint i = 0; i < nr; i++) {
		uint16_t events = 0;
		bool seen = false;

		for (guint k = 0; k < nr; k++) {
			seen |= k < i && pair[k].in == pair[i].in;
			events |= pair[k].in == pair[i].in ? pair[k].event : 0;
		}
		if (!seen)
			ask_never(a, pair[i].in, events);
	}
}

static int ask_largest(struct whatif *w, struct query *q)
{
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pair));
	const struct query_insn *in;
	size_t nr;
	int err = query_hot(q, 0, &in, &nr, NULL);

	for (size_t i = 0; i < nr && !err; i++) {
		for (unsigned bit = 0; bit < NR_PSV; bit++) {
			struct pair p = { &in[i], (uint16_t)(1u << bit), share_of(&in[i], (uint16_t)(1u << bit)) };
			if (p.units)
				g_array_append_val(pairs, p);
		}
	}
	g_array_sort(pairs, by_units);
	guint most = w->run.options->limit ? (guint)w->run.options->limit : PAIRS, n = MIN(pairs->len, most);
	if (!w->run.options->limit)
		n = add_mispredicted(pairs, n);
	for (guint i = 0; i < n; i++) {
		const struct pair *p = &g_array_index(pairs, struct pair, i);
		struct asked *a = ask(w);
		a->insn = p->in->insn;
		ask_never(a, p->in, p->event);
	}
	if (n > 1)
		ask_together(w, &g_array_index(pairs, struct pair, 0), n);
	g_array_free(pairs, TRUE);
	return err;
}

/* The instructions that --insn and --function name, each once; all where there is neither. */
static int subjects(const struct options *o, struct query *q, GPtrArray *out)
{
	const struct query_function *f;
	const struct query_insn *in;
	size_t nr;
	int err = 0;

	for (guint i = 0; i < o->insn->len && !err; i++)
		err = named_insns(q, o->insn->pdata[i], out);
	for (guint i = 0; i < o->function->len && !err; i++) {
		err = named_function(q, o->function->pdata[i], &f);
		if (!err)
			err = query_insns(q, f, &in, &nr);
		for (size_t k = 0; k < nr && !err; k++)
			g_ptr_array_add(out, (gpointer)(uintptr_t)&in[k]);
	}
	if (err || o->insn->len || o->function->len)
		return err;
	err = query_hot(q, 0, &in, &nr, NULL);
	for (size_t i = 0; i < nr && !err; i++)
		g_ptr_array_add(out, (gpointer)(uintptr_t)&in[i]);
	return err;
}

static gint by_insn(gconstpointer a, gconstpointer b)
{
	const struct query_insn *x = *(const struct query_insn *const *)a, *y = *(const struct query_insn *const *)b;

	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static void once(GPtrArray *list)
{
	guint n = 0;

	g_ptr_array_sort(list, by_insn);
	for (guint i = 0; i < list->len; i++)
		if (!n || by_insn(&list->pdata[n - 1], &list->pdata[i]))
			list->pdata[n++] = list->pdata[i];
	g_ptr_array_set_size(list, (gint)n);
}

/* "hot+0x1c, function f" */
static char *in_words(const struct options *o)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < o->insn->len; i++)
		g_string_append_printf(s, "%s%s", s->len ? ", " : "", (const char *)o->insn->pdata[i]);
	for (guint i = 0; i < o->function->len; i++)
		g_string_append_printf(s, "%sfunction %s", s->len ? ", " : "", (const char *)o->function->pdata[i]);
	if (!s->len)
		g_string_append(s, "every instruction");
	return g_string_free(s, FALSE);
}

static void ask_of(struct whatif *w, const GPtrArray *list, uint16_t events)
{
	struct asked *a = ask(w);

	if (list->len == 1)
		a->insn = ((const struct query_insn *)list->pdata[0])->insn;
	else
		a->of = in_words(w->run.options);
	for (guint i = 0; i < list->len; i++)
		ask_never(a, list->pdata[i], events);
}

/* Of what was named: each event by itself, and where there are several, all of them. */
static int ask_named(struct whatif *w, struct query *q)
{
	GPtrArray *list = g_ptr_array_new();
	uint16_t events = w->events;
	int err = subjects(w->run.options, q, list);

	once(list);
	for (guint i = 0; i < list->len && !w->events; i++) {
		const struct query_insn *in = list->pdata[i];
		for (uint32_t k = 0; k < in->stack.nr; k++)
			events |= in->stack.share[k].signature;
	}
	if (!err && !events) {
		char *of = in_words(w->run.options);

		err = error_set(ENODATA, of, "met none of the nine events");
		g_free(of);
		error_remedy("`cyclewise whatif` without --insn and --function takes the largest");
	}
	for (unsigned bit = 0; bit < NR_PSV && !err; bit++)
		if (events >> bit & 1)
			ask_of(w, list, (uint16_t)(1u << bit));
	if (!err && events & (events - 1))
		ask_of(w, list, events);
	g_ptr_array_free(list, TRUE);
	return err;
}

static int ask_prefetch(struct whatif *w, struct query *q, const char *place)
{
	GPtrArray *list = g_ptr_array_new();
	int err = named_insns(q, place, list);

	for (guint i = 0; i < list->len && !err; i++) {
		const struct query_insn *in = list->pdata[i];
		if (!(code_insn(w->run.code, in->insn)->flags & INSN_LOAD)) {
			err = error_set(EINVAL, place, "is no load: %s", in->disassembly);
			break;
		}
		for (unsigned k = 0; k < w->nr_distances; k++) {
			struct asked *a = ask(w);
			a->insn = a->prefetch = in->insn;
			a->distance = w->distance[k];
			a->share = share_of(in, FETCHED);
		}
	}
	g_ptr_array_free(list, TRUE);
	return err;
}

/* --- the second look --------------------------------------------------------------------------------- */

static int predict_all(struct whatif *w, const struct replay_log *steps)
{
	guint nr = w->asked->len;
	struct supposition *s = g_new0(struct supposition, nr + 1);
	uint64_t *cycles = g_new0(uint64_t, nr + 1);

	s[0].prefetch = CODE_NONE;         /* the run as it was */
	for (guint i = 0; i < nr; i++) {
		const struct asked *a = &g_array_index(w->asked, struct asked, i);
		s[1 + i] = (struct supposition){
			.never = (const struct never *)(void *)a->never->data, .nr = a->never->len,
			.prefetch = a->prefetch, .distance = a->distance,
		};
	}
	int err = predict(cycles, &w->run, steps, s, nr + 1);
	w->cycles = cycles[0];
	for (guint i = 0; i < nr; i++)
		g_array_index(w->asked, struct asked, i).cycles = cycles[1 + i];
	g_free(cycles);
	g_free(s);
	return err;
}

static int whatif_look(void *state, const struct replay_log *steps, struct query *q)
{
	struct whatif *w = state;
	const struct options *o = w->run.options;
	int err = 0;

	if (o->insn->len || o->function->len || w->events)
		err = ask_named(w, q);
	else if (!o->prefetch->len)
		err = ask_largest(w, q);
	for (guint i = 0; i < o->prefetch->len && !err; i++)
		err = ask_prefetch(w, q, o->prefetch->pdata[i]);
	return err ? err : predict_all(w, steps);
}

static int whatif_save(void *state, struct profile *p)
{
	const struct whatif *w = state;
	int err = profile_figure(p, "whatif", "cycles", (double)w->cycles);

	for (guint i = 0; i < w->asked->len && !err; i++) {
		const struct asked *a = &g_array_index(w->asked, struct asked, i);
		char key[64], events[64];

		/* A row that fails makes profile_commit() fail. */
		snprintf(key, sizeof key, "whatif.%u.never", i);
		profile_set(p, key, a->events ? psv_name(a->events, events) : NULL);
		snprintf(key, sizeof key, "whatif.%u.of", i);
		profile_set(p, key, a->of);
		snprintf(key, sizeof key, "whatif.%u.insn", i);
		if (a->insn != CODE_NONE)
			profile_set_int(p, key, a->insn);
		snprintf(key, sizeof key, "whatif.%u.distance", i);
		if (a->distance)
			profile_set_int(p, key, a->distance);
		snprintf(key, sizeof key, "%u/cycles", i);
		err = profile_figure(p, "whatif", key, (double)a->cycles);
		snprintf(key, sizeof key, "%u/share", i);
		if (!err)
			err = profile_figure(p, "whatif", key, (double)a->share / CYCLE_UNITS);
	}
	return err;
}

static const struct second_look whatif = {
	.open = whatif_open,
	.look = whatif_look,
	.save = whatif_save,
	.close = whatif_close,
};

static int run(struct invocation *call);

const struct command command_whatif = {
	.name = "whatif",
	.summary = "what a run would take without given events",
	.usage = "[options] [--] PROGRAM [ARG...]",
	.help = "Runs PROGRAM on a modelled core, then times what it did again as if instructions had never met "
	        "events, and prints to "
		"standard error how many cycles that would have saved, beside what the cycle stacks say of the same "
	        "events. The two "
		"need not agree: behind a miss that goes may stand another.\n\n"
		"Without --insn, --function, --event and --prefetch it does so for the ten largest pairs of an "
	        "instruction and an event, and "
		"for the branch that is mispredicted most often where that is not among them. "
		"--insn and --function say which instructions, --event which events; where one is not given, it is all "
	        "that there are.\n\n"
		"--prefetch asks what a load would gain from a prefetch some of its executions earlier. The prefetch "
	        "takes its miss "
		"register, buses and place in the caches; what its own instructions would cost is not counted.",
	.groups = OPTIONS_RUN | OPTIONS_FILE | OPTIONS_LIST | OPTIONS_WHATIF,
	.runs = true,
	.second = &whatif,
	.run = run,
};

static int run(struct invocation *call)
{
	return profiled(&command_whatif, call, call->options.output, "whatif", false);
}
