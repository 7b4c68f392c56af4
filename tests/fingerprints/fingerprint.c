/*
 * What a core makes of the recorded streams.
 *
 *     fingerprint CORE STREAM...       a line a stream of the core's ISA: its name, instructions, cycles by each timing
 *     fingerprint -d CORE STREAM...    the parameters that CORE's own file sets, each with the first stream that takes other
 *                                      cycles where it is put back to its default; "-" where none does
 *
 * CORE: a name or a file. Timings: ooo, ooo with wrong paths in full, abstract.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/core.h"
#include "recording.h"

enum { BATCH = 4096 };

struct named_recording {
	char *name;
	struct recording stream;
};

static const struct timing { const char *title, *model, *wrong_path; } timings[] = {
	{ "ooo", "ooo", "instructions" },
	{ "ooo-full", "ooo", "full" },
	{ "abstract", "abstract", "instructions" },
};
enum { NR_TIMINGS = sizeof timings / sizeof *timings };

static const char *const isas[NR_ISAS] = { "x86-64", "aarch64", "riscv64" };

static _Noreturn void fail(void)
{
	const struct error *e = error_get();
	fprintf(stderr, "fingerprint: %s: %s\n", e->what, e->why);
	exit(EXIT_FAILURE);
}

static struct code *new_code(const struct core_desc *d, const struct recording *s)
{
	const struct code_config config = {
		.isa = s->isa, .cpu = d->cpu, .features = d->features, .ports = d->port_names, .units = d->unit_names,
		.costs = *d->costs_path ? d->costs_path : NULL,
	};
	struct code *code;

	if (code_new(&code, &config))
		fail();
	recording_code(s, code);
	return code;
}

static void take(void *ctx, const struct timed *t, size_t n)
{
	uint64_t *cycles = ctx;

	for (size_t i = 0; i < n; i++)
		if (!(t[i].flags & (TIMED_WRONG | TIMED_SQUASHED)) && timed_leave(&t[i]) > *cycles)
			*cycles = timed_leave(&t[i]);
}

/* The cycle in which the last instruction commits; 0 where no such core can be. */
static uint64_t time_stream(const struct core_desc *desc, const struct timing *timing, struct code *code, const struct recording *s)
{
	const struct core_ops *model = core_find(timing->model);
	const struct step *step = (const struct step *)(const void *)s->step->data;
	struct core_desc d = *desc;
	uint64_t cycles = 0;
	struct core *core;

	strcpy(d.wrong_path, timing->wrong_path);
	if (model->open(&core, &d, code, (struct timed_sink){ .take = take, .ctx = &cycles }))
		return 0;
	for (size_t at = 0, n; at < s->step->len; at += n) {
		n = MIN(BATCH, s->step->len - at);
		model->batch(core, step + at, n, s->step->len - at - n);
	}
	model->finish(core);
	model->close(core);
	return cycles;
}

static uint64_t instructions(const struct recording *s)
{
	uint64_t n = 0;

	for (guint i = 0; i < s->step->len; i++)
		n += step_kind(&g_array_index(s->step, struct step, i)) == STEP_INSN;
	return n;
}

static char *name_of(const char *path)
{
	char *name = g_path_get_basename(path), *dot = strrchr(name, '.');

	if (dot)
		*dot = '\0';
	return name;
}

static void print_cycles(const struct core_desc *d, const struct named_recording *named)
{
	const struct recording *s = &named->stream;

	printf("%s\t%" PRIu64, named->name, instructions(s));
	for (unsigned i = 0; i < NR_TIMINGS; i++) {
		struct code *code = new_code(d, s); /* wrong paths add to it */
		uint64_t cycles = time_stream(d, &timings[i], code, s);

		if (!cycles)
			fail();
		printf("\t%" PRIu64, cycles);
		code_free(code);
	}
	putchar('\n');
}

/* --- parameters put back to their defaults ------------------------------------------------------------ */

/* Numbers first, then texts. */
static const char *parameter_name(unsigned i)
{
	return i < NR_CORE_PARAMS ? core_params[i].name : core_strings[i - NR_CORE_PARAMS].name;
}

static bool is_default(const struct core_desc *d, unsigned i)
{
	const struct core_string *s = &core_strings[i - NR_CORE_PARAMS];

	if (i < NR_CORE_PARAMS)
		return *(const int32_t *)(const void *)((const char *)d + core_params[i].offset) == core_params[i].def;
	return g_str_has_prefix(s->name, "core.") || !strcmp((const char *)d + s->offset, s->def);
}

/* The parameters that the file itself sets, not its parents, and not to their defaults; not those of [core]. */
static GArray *own_parameters(const struct core_desc *d)
{
	GArray *own = g_array_new(FALSE, FALSE, sizeof(unsigned));
	GKeyFile *file = g_key_file_new();
	char *text;

	if (!g_file_get_contents(d->path, &text, NULL, NULL))
		g_error("%s cannot be read", d->path);
	for (char *nl = text; (nl = strstr(nl, "\n\t")); ) /* a line that begins with a tab continues the one before */
		nl[0] = nl[1] = ' ';
	if (!g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, NULL))
		g_error("%s is no key file", d->path);
	for (unsigned i = 0; i < NR_CORE_PARAMS + NR_CORE_STRINGS; i++) {
		const char *name = parameter_name(i), *dot = strchr(name, '.');
		char *group = g_strndup(name, (gsize)(dot - name));

		if (g_key_file_has_key(file, group, dot + 1, NULL) && !is_default(d, i))
			g_array_append_val(own, i);
		g_free(group);
	}
	g_free(text);
	g_key_file_free(file);
	return own;
}

static struct core_desc put_back(const struct core_desc *d, unsigned parameter)
{
	struct core_desc changed = *d;

	if (parameter < NR_CORE_PARAMS) {
		memcpy((char *)&changed + core_params[parameter].offset, &core_params[parameter].def, sizeof(int32_t));
		return changed;
	}
	const struct core_string *s = &core_strings[parameter - NR_CORE_PARAMS];
	char *assignment = g_strconcat(s->name, "=", s->def, NULL);
	if (!*s->def)
		*((char *)&changed + s->offset) = '\0';
	else if (core_desc_set(&changed, assignment))
		fail();
	g_free(assignment);
	return changed;
}

/* Strikes out those that the stream moves by. */
static void try_stream(const struct core_desc *d, const struct named_recording *named, GArray *left)
{
	const struct recording *s = &named->stream;
	struct code *code = new_code(d, s);
	uint64_t cycles[NR_TIMINGS];

	for (unsigned i = 0; i < NR_TIMINGS; i++)
		cycles[i] = time_stream(d, &timings[i], code, s);
	for (guint k = 0; k < left->len;) {
		const struct core_desc changed = put_back(d, g_array_index(left, unsigned, k));
		bool moved = false;

		for (unsigned i = 0; i < NR_TIMINGS && !moved; i++)
			moved = time_stream(&changed, &timings[i], code, s) != cycles[i];
		if (moved) {
			printf("%s\t%s\n", parameter_name(g_array_index(left, unsigned, k)), named->name);
			g_array_remove_index(left, k);
		} else {
			k++;
		}
	}
	code_free(code);
}

/* The shortest first: most parameters are through before the long ones. */
static int by_length(gconstpointer a, gconstpointer b)
{
	const struct named_recording *p = a, *q = b;
	return (p->stream.step->len > q->stream.step->len) - (p->stream.step->len < q->stream.step->len);
}

static void print_defaults(const struct core_desc *d, GArray *streams)
{
	GArray *left = own_parameters(d);

	g_array_sort(streams, by_length);
	for (guint i = 0; i < streams->len && left->len; i++)
		try_stream(d, &g_array_index(streams, struct named_recording, i), left);
	for (guint k = 0; k < left->len; k++)
		printf("%s\t-\n", parameter_name(g_array_index(left, unsigned, k)));
	g_array_free(left, TRUE);
}

int main(int argc, char **argv)
{
	bool defaults = argc > 1 && !strcmp(argv[1], "-d");
	GArray *streams = g_array_new(FALSE, FALSE, sizeof(struct named_recording));
	struct core_desc d;

	argv += defaults;
	argc -= defaults;
	if (argc < 3) {
		fprintf(stderr, "usage: fingerprint [-d] CORE STREAM...\n");
		return EXIT_USAGE;
	}
	if (core_desc_load(&d, argv[1]))
		fail();
	for (int i = 2; i < argc; i++) {
		struct named_recording s = { .name = name_of(argv[i]) };

		if (!recording_read(&s.stream, argv[i]))
			return EXIT_FAILURE;
		if (!strcmp(isas[s.stream.isa], d.isa))
			g_array_append_val(streams, s);
		else
			recording_fini(&s.stream);
	}
	if (defaults)
		print_defaults(&d, streams);
	for (guint i = 0; i < streams->len && !defaults; i++)
		print_cycles(&d, &g_array_index(streams, struct named_recording, i));
	return EXIT_SUCCESS;
}
