#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"

#define ROW(name, letter, groups, kind, words, field, metavar, help) \
	{ name, letter, groups, kind, words, offsetof(struct options, field), metavar, help }

const struct option_row option_rows[] = {
	ROW("core", 0, OPTIONS_RUN | OPTIONS_DESCRIBE, OPTION_TEXT, WORDS_CORE, core, "NAME|FILE",
	    "The core model: one that `cyclewise cores` lists, or a description of your own. Without it the program's "
	    "instruction set chooses: skylake-sp for x86-64, cortex-a72 for AArch64, boom for RV64."),
	ROW("model", 0, OPTIONS_RUN, OPTION_TEXT, WORDS_MODEL, model, "MODEL",
	    "The timing model. ooo is the detailed out-of-order core, and the default of all commands but sensitivity "
	    "and causality; "
	    "abstract, which is theirs, knows resources and dependences alone, and is faster."),
	ROW("set", 0, OPTIONS_RUN | OPTIONS_DESCRIBE, OPTION_MANY, WORDS_PARAMETER, set, "PARAMETER=VALUE",
	    "Changes a parameter of the core, as in --set rob.entries=512. May be repeated."),
	ROW("scale", 0, OPTIONS_RUN, OPTION_MANY, WORDS_PARAMETER, scale, "PARAMETER=FACTOR",
	    "Multiplies a parameter of the core, after every --set, as in --scale dram.latency_ns=0.5; it stays within "
	    "its range. May be repeated."),
	ROW("ideal", 0, OPTIONS_RUN, OPTION_MANY, WORDS_PART, ideal, "PART,...",
	    "Makes parts of the core never cost anything, as in --ideal l1d,branch. `cyclewise cores NAME` lists the "
	    "parts."),
	ROW("wrong-path", 0, OPTIONS_RUN, OPTION_TEXT, WORDS_WRONG_PATH, wrong_path, "SETTING",
	    "What the model ooo does with the wrong path behind a mispredicted branch: none; instructions, which are "
	    "fetched as the "
	    "core would; or full, the default: they are executed, too, so that their loads fill and pollute the "
	    "caches."),
	ROW("roi", 0, OPTIONS_RUN, OPTION_TEXT, WORDS_NONE, window.roi, "FUNCTION",
	    "Counts only from each entry of FUNCTION to its return, with all it calls, where it was inlined, too; each "
	    "thread by itself."),
	ROW("start-after", 0, OPTIONS_RUN, OPTION_TEXT, WORDS_NONE, window.start_after, "SYMBOL",
	    "Counts from the first return of SYMBOL. What runs before it warms caches, TLBs and predictors, and is not "
	    "counted."),
	ROW("stop-at", 0, OPTIONS_RUN, OPTION_TEXT, WORDS_NONE, window.stop_at, "SYMBOL",
	    "Counts until SYMBOL is entered."),
	ROW("skip", 0, OPTIONS_RUN, OPTION_NUMBER, WORDS_NONE, window.skip, "N",
	    "Begins to count after N instructions, which warm the core."),
	ROW("count", 0, OPTIONS_RUN, OPTION_COUNT, WORDS_NONE, window.count, "N",
	    "Counts N instructions, then no more; the program runs on to its end."),
	ROW("period", 0, OPTIONS_RUN, OPTION_COUNT, WORDS_NONE, period, "CYCLES",
	    "Mean period of the sampling methods. Without it they begin at 1000 cycles and double the period whenever "
	    "they "
	    "hold over 4 million samples, dropping every second one."),
	ROW("seed", 0, OPTIONS_RUN, OPTION_NUMBER, WORDS_NONE, seed, "N",
	    "Seeds the jitter of the sampling period, uniform within an eighth either way. The default is 1."),
	ROW("kanata", 0, OPTIONS_STAGES, OPTION_TEXT, WORDS_FILE, kanata, "FILE",
	    "Writes into FILE when each instruction passed each stage, as a log for the pipeline viewer Konata: the "
	    "first 100,000 that are "
	    "counted, of the first thread that counts, with those of wrong paths. --skip and --roi choose which. "
	    "Stages are F in the front "
	    "end, D held up before dispatch, S in a scheduler, X executing, C waiting to commit."),
	ROW("sweep-period", 0, OPTIONS_STUDY, OPTION_FLAG, WORDS_NONE, sweep_period, NULL,
	    "Shows each method's error at longer periods too: the one in force, twice that, and so on."),
	ROW("no-simulation", 0, OPTIONS_STUDY, OPTION_FLAG, WORDS_NONE, no_simulation, NULL,
	    "Does not time the run again on cores with ideal parts: several times as fast, but CPI stacks then have no "
	    "reference "
	    "that says how wrong they are."),
	ROW("weights", 0, OPTIONS_WEIGHTS, OPTION_TEXT, WORDS_NONE, weights, "FACTOR,...",
	    "By how much each resource is relaxed: 2 halves a latency and doubles what else there is, 0.5 does the "
	    "contrary. "
	    "The default is 0.5,2."),
	ROW("only", 0, OPTIONS_WEIGHTS, OPTION_TEXT, WORDS_NONE, only, "NAME,...",
	    "Weights these resources alone. Without this, all that the core has."),
	ROW("insn", 0, OPTIONS_WHATIF, OPTION_MANY, WORDS_NONE, insn, "PLACE",
	    "The instruction at PLACE, FUNCTION+OFFSET or an address, as reports show them: main+0x1c, '0x1139 "
	    "[gzip]'. May be repeated."),
	ROW("function", 0, OPTIONS_WHATIF, OPTION_MANY, WORDS_NONE, function, "NAME",
	    "All instructions of the function NAME. May be repeated."),
	ROW("event", 0, OPTIONS_WHATIF, OPTION_MANY, WORDS_EVENT, event, "EVENT,...",
	    "The events that those instructions never meet: each by itself, and where there are several, all of them. "
	    "Without this, "
	    "those that they met."),
	ROW("prefetch", 0, OPTIONS_WHATIF, OPTION_MANY, WORDS_NONE, prefetch, "PLACE",
	    "Prefetches the load at PLACE. May be repeated: each by itself."),
	ROW("distance", 0, OPTIONS_WHATIF, OPTION_TEXT, WORDS_NONE, distance, "N,...",
	    "How many of its executions ahead the load is prefetched. The default is 1,2,4,8,16,32,64,128."),
	ROW("resources", 0, OPTIONS_CODE, OPTION_FLAG, WORDS_NONE, with_resources, NULL,
	    "Adds what each instruction uses of the core's resources: ports and groups of ports, units, slots, lines "
	    "from L2."),
	ROW("source-path", 0, OPTIONS_CODE, OPTION_MANY, WORDS_NONE, source_path, "OLD=NEW",
	    "Looks for sources that the compiler had in the folder OLD in the folder NEW. May be repeated: the first "
	    "that leads to a file counts."),
	ROW("output", 'o', OPTIONS_FILE, OPTION_TEXT, WORDS_FILE, output, "FILE",
	    "Writes the profile into FILE. An older profile of that name is kept as FILE.old."),
	ROW("output", 'o', OPTIONS_CORE, OPTION_TEXT, WORDS_FILE, output, "FILE",
	    "Writes the description into FILE, and the instruction costs beside it. The default is host.core."),
	ROW("quick", 0, OPTIONS_CORE, OPTION_FLAG, WORDS_NONE, quick, NULL,
	    "Takes fewer samples and coarser scans, within a minute; more is left to the parent."),
	ROW("for", 0, OPTIONS_CORE, OPTION_TEXT, WORDS_FILE, for_profile, "FILE",
	    "Measures the instruction forms that the profile FILE executed, in place of a built-in list."),
	ROW("json", 0, OPTIONS_ALL, OPTION_JSON, WORDS_FILE, json_file, "FILE",
	    "Prints JSON, one object, in place of the text: into FILE, or to standard output. In the latter case a "
	    "profiled program's own standard output goes to standard error."),
	ROW("report", 0, OPTIONS_ALL, OPTION_TEXT, WORDS_FILE, report, "FILE", "Writes the text into FILE."),
	ROW("limit", 0, OPTIONS_LIST, OPTION_COUNT, WORDS_NONE, limit, "N",
	    "Lists at most N functions, lines, instructions and instruction forms."),
	ROW("no-progress", 0, OPTIONS_RUN | OPTIONS_CORE, OPTION_FLAG, WORDS_NONE, no_progress, NULL,
	    "Shows no progress line. Without this there is one where standard error is a terminal."),
	ROW("quiet", 'q', OPTIONS_ALL, OPTION_FLAG, WORDS_NONE, quiet, NULL,
	    "Prints no text that was not asked for with --report, and no progress. Errors are still printed."),
	ROW("verbose", 'v', OPTIONS_ALL, OPTION_FLAG, WORDS_NONE, verbose, NULL, "Prints more detail."),
	ROW("help", 'h', OPTIONS_ALL, OPTION_FLAG, WORDS_NONE, help, NULL, "Prints the command's usage and options."),
};
enum { FIRST_LONG = 256 };          /* what getopt_long() gives for row 0 */
enum { NR_ROWS = sizeof option_rows / sizeof option_rows[0] };
const unsigned nr_option_rows = NR_ROWS;

bool option_taken(const struct option_row *row, unsigned groups)
{
	return row->groups == OPTIONS_ALL || (row->groups & groups);
}

void option_usage(const struct option_row *row, char *buf, size_t size)
{
	const char *before = row->kind == OPTION_JSON ? "[=" : " ", *after = row->kind == OPTION_JSON ? "]" : "";
	char letter[8] = "";

	if (row->letter)
		snprintf(letter, sizeof letter, "-%c, ", row->letter);
	snprintf(buf, size, "%s--%s%s%s%s", letter, row->name, row->metavar ? before : "",
	         row->metavar ? row->metavar : "", row->metavar ? after : "");
}

/* `what`: the command line's own word for the option. */
static int apply(struct options *o, const struct option_row *row, const char *what, const char *value)
{
	void *field = (char *)o + row->offset;

	switch ((enum option_kind)row->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)field = value;
		return 0;
	case OPTION_MANY:
		g_ptr_array_add(*(GPtrArray **)field, (char *)(uintptr_t)value);
		return 0;
	case OPTION_JSON:
		o->json = true;
		*(const char **)field = value;
		return 0;
	case OPTION_NUMBER:
	case OPTION_COUNT: {
		char *end;

		errno = 0;
		*(uint64_t *)field = strtoull(value, &end, 10);
		bool number = value[0] >= '0' && value[0] <= '9' && !*end && !errno;
		if (number && (row->kind == OPTION_NUMBER || *(uint64_t *)field))
			return 0;
		bool negative = value[0] == '-' && value[1] && !value[1 + strspn(value + 1, "0123456789")];
		error_set(EINVAL, what, number || negative ? "'%s' is too few" : "'%s' is not a whole number", value);
		if (number || negative)
			error_remedy("give a whole number from %d up", row->kind == OPTION_COUNT);
		error_status(EXIT_USAGE);
		return -EINVAL;
	}
	}
	return -EINVAL;
}

static const struct option_row *row_of(int value, unsigned groups)
{
	for (unsigned i = 0; i < nr_option_rows; i++)
		if (option_taken(&option_rows[i], groups) &&
		    (value == FIRST_LONG + (int)i || value == option_rows[i].letter))
			return &option_rows[i];
	return NULL;
}

/* getopt_long() gave ':' (an argument is missing) or '?': one too many, or an option that it does not know. */
static int refuse(unsigned groups, const char *word, int value)
{
	char name[64];
	struct nearest near = { .name = name };

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));

	if (value == ':') {
		error_set(EINVAL, word, "its argument is missing");
	} else if (optopt >= FIRST_LONG) {
		error_set(EINVAL, word, "takes no argument");
	} else {
		error_set(EINVAL, word, "no such option, or not one of this command");
		for (unsigned i = 0; i < nr_option_rows; i++)
			if (option_taken(&option_rows[i], groups))
				nearest_offer(&near, option_rows[i].name);
		if (near.best)
			error_remedy("did you mean --%s? (--help lists the options)", near.best);
		else
			error_remedy("--help lists the options");
	}
	error_status(EXIT_USAGE);
	return -EINVAL;
}

int options_parse(struct options *o, unsigned groups, bool permute, int argc, char **argv)
{
	struct option longs[NR_ROWS + 1];
	char shorts[2 * NR_ROWS + 3];
	unsigned nl = 0, ns = 0;
	int value, err = 0;

	*o = (struct options){
		.seed = 1, .set = g_ptr_array_new(), .scale = g_ptr_array_new(), .ideal = g_ptr_array_new(),
		.insn = g_ptr_array_new(), .function = g_ptr_array_new(), .event = g_ptr_array_new(),
		.prefetch = g_ptr_array_new(), .source_path = g_ptr_array_new(),
	};
	if (!permute)
		shorts[ns++] = '+';
	shorts[ns++] = ':';
	for (unsigned i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if (!option_taken(row, groups))
			continue;
		longs[nl++] = (struct option){ row->name,
			                       row->kind == OPTION_JSON ? optional_argument
			                       : row->metavar           ? required_argument
			                                                : no_argument,
			                       NULL, FIRST_LONG + (int)i };
		if (row->letter)
			shorts[ns++] = row->letter;
		if (row->letter && row->metavar)
			shorts[ns++] = ':';
	}
	longs[nl] = (struct option){ 0 };
	shorts[ns] = '\0';

	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		char letter[3] = { '-', (char)optopt, 0 };
		const char *as_given = optopt > 0 && optopt < FIRST_LONG ? letter : argv[optind - 1];
		const struct option_row *row = value == '?' || value == ':' ? NULL : row_of(value, groups);
		char name[64];

		/* After a mistake only --json still counts: the mistake is then reported there too. */
		if (err && !(row && row->kind == OPTION_JSON))
			continue;
		if (!row) {
			err = refuse(groups, as_given, value);
			continue;
		}
		snprintf(name, sizeof name, "--%s", row->name);
		value = apply(o, row, name, optarg);
		if (value < 0)
			err = value;
	}
	if (o->wrong_path) {
		char *assignment = g_strconcat("branch.wrong_path=", o->wrong_path, NULL);

		g_ptr_array_insert(o->set, 0, (char *)(uintptr_t)g_intern_string(assignment));
		g_free(assignment);
	}
	return err ? err : optind;
}

void options_fini(struct options *o)
{
	g_ptr_array_free(o->set, TRUE);
	g_ptr_array_free(o->scale, TRUE);
	g_ptr_array_free(o->ideal, TRUE);
	g_ptr_array_free(o->insn, TRUE);
	g_ptr_array_free(o->function, TRUE);
	g_ptr_array_free(o->event, TRUE);
	g_ptr_array_free(o->prefetch, TRUE);
	g_ptr_array_free(o->source_path, TRUE);
}
