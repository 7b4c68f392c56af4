#include "cmd/command.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cmd/list.h"
#include "view/text.h"

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

#define X(name) &command_##name,
const struct command *const command_list[] = { COMMANDS(X) NULL };
#undef X

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = command_list; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

void command_help(FILE *out, const struct command *c)
{
	struct text t;

	text_init(&t, out);
	fprintf(out, "usage: cyclewise %s %s\n\n", c->name, c->usage);
	for (const char *p = c->help; *p;) {
		const char *end = strstr(p, "\n\n");
		char paragraph[2048];

		snprintf(paragraph, sizeof paragraph, "%.*s", (int)(end ? end - p : (long)strlen(p)), p);
		text_fill(&t, 0, 0, paragraph);
		fputc('\n', out);
		p = end ? end + 2 : "";
	}
	fputs("options:\n", out);
	for (unsigned i = 0; i < nr_option_rows; i++) {
		char usage[64];

		if (!option_taken(&option_rows[i], c->groups))
			continue;
		option_usage(&option_rows[i], usage, sizeof usage);
		fprintf(out, "  %-25s ", usage);
		if (strlen(usage) > 25)
			fprintf(out, "\n%28s", "");
		text_fill(&t, 28, 28, option_rows[i].help);
	}
}

int command_usage(const struct command *c, const char *what, const char *why)
{
	error_set(EINVAL, what, "%s", why);
	error_remedy("usage: cyclewise %s %s", c->name, c->usage);
	error_status(EXIT_USAGE);
	return -EINVAL;
}
