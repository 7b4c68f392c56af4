/*
 * Prints what is made from the tables of commands and options: manual pages' parts and the completion for bash.
 * Runs while the project is built.
 *
 *   gendoc man TEMPLATE     the template, in which @SYNOPSIS@, @DESCRIPTION@ and @OPTIONS@ of the command it is named
 *   after
 *                           (cyclewise-NAME.1.in), or @COMMANDS@, stand on lines of their own
 *   gendoc bash TEMPLATE    the template, with @NAMES@ and @FLAGS@ within its lines, @ARGUMENTS@ and @CASES@ on their
 *   own
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "core/core.h"
#include "method/method.h"

/* Text for mdoc: a backslash, and a dot or quote at the beginning of a line, would be read as a request. */
static void mdoc(const char *s)
{
	bool start = true;             /* of a line */

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-' && s[1] == '-')
			fputs("\\-", stdout);
		else if (s[0] == '\n' && s[1] == '\n')
			fputs("\n.Pp", stdout);
		else if (s[0] == ' ' && !start && s[-1] == '.') /* a new sentence begins a new line */
			putchar('\n');
		else
			putchar(*s);
		start = *s == '\n' || (*s == ' ' && s[-1] == '.');
	}
	putchar('\n');
}

static void man_options(const struct command *c)
{
	puts(".Bl -tag -width Ds");
	for (unsigned i = 0; i < nr_option_rows; i++) {
		const struct option_row *row = &option_rows[i];

		if (!option_taken(row, c->groups))
			continue;
		fputs(".It ", stdout);
		if (row->letter)
			printf("Fl %c , ", row->letter);
		printf("Fl \\-%s", row->name);
		if (row->kind == OPTION_JSON)
			printf("Ns Oo = Ns Ar %s Oc", row->metavar);
		else if (row->metavar)
			printf(" Ar %s", row->metavar);
		putchar('\n');
		mdoc(row->help);
	}
	puts(".El");
}

static void man_commands(void)
{
	puts(".Bl -tag -width Ds");
	for (const struct command *const *c = command_list; *c; c++) {
		printf(".It Nm cyclewise Cm %s Ar %s\n", (*c)->name, (*c)->usage);
		mdoc((*c)->summary);
		printf(".Pq see Xr cyclewise-%s 1\n", (*c)->name);
	}
	puts(".El");
}

/* Options that take no argument of their own word. */
static void bash_flags(void)
{
	for (unsigned i = 0, n = 0; i < nr_option_rows; i++)
		if (!option_rows[i].metavar || option_rows[i].kind == OPTION_JSON)
			printf("%s--%s", n++ ? " " : "", option_rows[i].name);
}

static void bash_commands(void)
{
	for (const struct command *const *c = command_list; *c; c++)
		printf("%s%s", c == command_list ? "" : " ", (*c)->name);
}

/* What completes the argument of an option: a shell command that sets COMPREPLY from $cur. */
static void bash_words(enum option_words words)
{
	switch (words) {
	case WORDS_NONE:
	case NR_WORDS:
		puts("return ;;");
		break;
	case WORDS_FILE:
		puts("_filedir; return ;;");
		break;
	case WORDS_CORE:
		puts("COMPREPLY=($(compgen -W \"$(\"${words[0]}\" cores -q 2>/dev/null)\" -- \"$cur\")); _filedir; "
		     "return ;;");
		break;
	case WORDS_MODEL:
		fputs("COMPREPLY=($(compgen -W \"", stdout);
		for (const struct core_ops *const *c = core_list; *c; c++)
			printf("%s%s", c == core_list ? "" : " ", (*c)->name);
		puts("\" -- \"$cur\")); return ;;");
		break;
	case WORDS_PARAMETER:
		fputs("compopt -o nospace; COMPREPLY=($(compgen -S = -W \"", stdout);
		for (unsigned i = 0; i < nr_core_params; i++)
			printf("%s%s", i ? " " : "", core_params[i].name);
		puts("\" -- \"$cur\")); return ;;");
		break;
	case WORDS_EVENT:
		fputs("COMPREPLY=($(compgen -P \"${cur%\"${cur##*,}\"}\" -W \"", stdout);
		for (unsigned bit = 0; bit < NR_PSV; bit++)
			printf("%s%s", bit ? " " : "", psv_event(bit));
		puts("\" -- \"${cur##*,}\")); return ;;");
		break;
	case WORDS_PART:
		fputs("COMPREPLY=($(compgen -P \"${cur%\"${cur##*,}\"}\" -W \"", stdout);
		for (unsigned i = 0; i < NR_CORE_IDEALS; i++)
			printf("%s%s", i ? " " : "", core_ideals[i].name);
		puts("\" -- \"${cur##*,}\")); return ;;");
		break;
	case WORDS_WRONG_PATH:
		puts("COMPREPLY=($(compgen -W \"none instructions full\" -- \"$cur\")); return ;;");
		break;
	}
}

static void bash_arguments(void)
{
	for (unsigned words = 0; words < NR_WORDS; words++) {
		unsigned n = 0;

		for (unsigned i = 0; i < nr_option_rows; i++) {
			const struct option_row *row = &option_rows[i];

			if (!row->metavar || row->words != words)
				continue;
			fputs(n++ ? "|" : "\t\t", stdout);
			if (row->letter)
				printf("-%c|", row->letter);
			printf("--%s", row->name);
		}
		if (n) {
			fputs(") ", stdout);
			bash_words((enum option_words)words);
		}
	}
}

static void bash_options(void)
{
	for (const struct command *const *c = command_list; *c; c++) {
		printf("\t\t%s) options=\"", (*c)->name);
		for (unsigned i = 0, n = 0; i < nr_option_rows; i++) {
			const struct option_row *row = &option_rows[i];

			if (!option_taken(row, (*c)->groups))
				continue;
			printf("%s--%s", n++ ? " " : "", row->name);
			if (row->letter)
				printf(" -%c", row->letter);
		}
		printf("\" program=%s ;;\n", (*c)->runs ? "yes" : "");
	}
}

/* "cyclewise-run.1.in" -> run; NULL: the main page. */
static const struct command *page_of(const char *template)
{
	const char *name = strrchr(template, '/'), *dash;
	char *command;
	const struct command *c;

	name = name ? name + 1 : template;
	dash = strchr(name, '-');
	if (!dash)
		return NULL;
	command = g_strndup(dash + 1, strcspn(dash + 1, "."));
	c = command_find(command);
	if (!c)
		fprintf(stderr, "%s: no command is called %s\n", template, command);
	g_free(command);
	if (!c)
		exit(1);
	return c;
}

/* Prints the line with `print` in the place of `what`; false: it is not in the line. */
static bool within(const char *line, const char *what, void (*print)(void))
{
	const char *at = strstr(line, what);

	if (!at)
		return false;
	printf("%.*s", (int)(at - line), line);
	print();
	puts(at + strlen(what));
	return true;
}

int main(int argc, char **argv)
{
	const struct command *c;
	char *text, **lines;

	if (argc != 3 || !g_file_get_contents(argv[2], &text, NULL, NULL)) {
		fprintf(stderr, "usage: gendoc man|bash TEMPLATE\n");
		return 1;
	}
	c = strcmp(argv[1], "man") ? NULL : page_of(argv[2]);
	lines = g_strsplit(text, "\n", -1);
	for (char **l = lines; *l; l++) {
		if (!strcmp(*l, "@SYNOPSIS@") && c)
			printf(".Nm cyclewise %s\n.Ar %s\n", c->name, c->usage);
		else if (!strcmp(*l, "@DESCRIPTION@") && c)
			mdoc(c->help);
		else if (!strcmp(*l, "@OPTIONS@") && c)
			man_options(c);
		else if (!strcmp(*l, "@COMMANDS@"))
			man_commands();
		else if (!strcmp(*l, "@ARGUMENTS@"))
			bash_arguments();
		else if (!strcmp(*l, "@CASES@"))
			bash_options();
		else if (!within(*l, "@NAMES@", bash_commands) && !within(*l, "@FLAGS@", bash_flags) && (l[1] || **l))
			puts(*l);
	}
	g_strfreev(lines);
	g_free(text);
	return 0;
}
