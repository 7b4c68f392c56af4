/*
 * cyclewise: how many cycles each instruction of a program cost, and why.
 *
 * The only file that exits, but for a second signal (run/signals.c). A command returns its exit status or -errno; what
 * to say is in the error last set.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/version.h"
#include "cmd/command.h"
#include "view/text.h"

static void help(FILE *out)
{
	struct text t;

	text_init(&t, out);
	fputs("cyclewise says, for every instruction of an unmodified program, how many cycles it cost and why.\n\n"
	      "usage: cyclewise COMMAND [options] ...\n\n", out);
	for (const struct command *const *c = command_list; *c; c++) {
		fprintf(out, "  %-11s ", (*c)->name);
		text_fill(&t, 14, 14, (*c)->summary);
	}
	fputs("\nFirst steps:\n"
	      "  cyclewise run gzip -9 -k FILE        profile it and print the report\n"
	      "  cyclewise record -o a.cw gzip FILE   profile it into a file\n"
	      "  cyclewise annotate a.cw deflate      one function of it, instruction by instruction\n"
	      "\n`cyclewise COMMAND --help` lists a command's options; the manual is cyclewise(1).\n", out);
}

static int unknown(const char *name)
{
	struct nearest near = { .name = name };

	for (const struct command *const *c = command_list; *c; c++)
		nearest_offer(&near, (*c)->name);
	error_set(EINVAL, name,
	          *name == '-' ? "is no option of cyclewise itself: options follow the command" : "no such command");
	if (near.best)
		error_remedy("did you mean `cyclewise %s`? (`cyclewise --help` lists the commands)", near.best);
	else
		error_remedy("`cyclewise --help` lists the commands; to profile a program: cyclewise run %s ...", name);
	error_status(EXIT_USAGE);
	return -EINVAL;
}

/* Help or the version has been printed: the exit status. */
static int printed(void)
{
	struct output out = { .text = stdout, .text_name = "standard output" };
	struct options options = { .json = false };

	if (!output_close(&out))
		return 0;
	output_error(&out, error_get(), &options, NULL);
	return EXIT_FAILED;
}

/* Runs `c`; argv[0] is its name. The exit status. */
static int invoke(const struct command *c, int argc, char **argv)
{
	struct invocation call = { .argc = 0 };
	int ret = options_parse(&call.options, c->groups, !c->runs, argc, argv);
	struct error error = *error_get();
	bool runs = false;

	if (ret >= 0 && call.options.help) {
		command_help(stdout, c);
		options_fini(&call.options);
		return printed();
	}
	if (ret < 0) {
		/* To tell a script too, where that can be: the error is the wrong usage in any case. */
		output_open(&call.output, &call.options, c->runs);
	} else {
		call.argc = argc - ret;
		call.argv = argv + ret;
		runs = c->runs && call.argc;
		ret = output_open(&call.output, &call.options, c->runs);
		if (!ret)
			ret = c->run(&call);
		error = *error_get();
	}
	if (ret < 0) {
		output_error(&call.output, &error, &call.options, runs ? call.argv : NULL);
		ret = error.status;
	}
	if (output_close(&call.output)) {
		output_error(&call.output, error_get(), &call.options, NULL);
		ret = EXIT_FAILED;
	}
	options_fini(&call.options);
	return ret;
}

static void on_file_size(int sig)
{
	(void)sig;
}

/*
 * What would be written beyond the user's limit on the size of files fails with an error that is said, as on a full
 * disk. A handler, since programs that are started do not inherit it: they keep the disposition that they would have.
 */
static void survive_file_size(void)
{
	struct sigaction act = { .sa_handler = on_file_size, .sa_flags = SA_RESTART }, now;

	if (!sigaction(SIGXFSZ, NULL, &now) && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &act, NULL);
}

int main(int argc, char **argv)
{
	const struct command *c;
	const char *name = argc > 1 ? argv[1] : "--help";

	setlocale(LC_CTYPE, "C.UTF-8");
	survive_file_size();
	if (!strcmp(name, "--version") || !strcmp(name, "version")) {
		printf("cyclewise %s\n", CYCLEWISE_VERSION);
		return printed();
	}
	if (argc > 2 && (!strcmp(name, "help") || !strcmp(name, "--help")) && command_find(argv[2])) {
		command_help(stdout, command_find(argv[2]));
		return printed();
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		help(argc > 1 ? stdout : stderr);
		return argc > 1 ? printed() : EXIT_USAGE;
	}
	c = command_find(name);
	if (!c) {
		struct output none = { .json = NULL };
		struct options options = { .json = false };

		unknown(name);
		output_error(&none, error_get(), &options, NULL);
		return EXIT_USAGE;
	}
	return invoke(c, argc - 1, argv + 1);
}
