/*
 * Commands: what each is called, takes and does. One file a command, one line in list.h.
 */
#ifndef CYCLEWISE_CMD_COMMAND_H
#define CYCLEWISE_CMD_COMMAND_H

#include <stdbool.h>

#include "cmd/options.h"
#include "cmd/output.h"
#include "method/method.h"

/* One call of cyclewise. */
struct invocation {
	struct options options;
	struct output output;
	int argc;                      /* operands */
	char **argv;                   /* [argc], and NULL */
};

#define PROFILE_DEFAULT "cyclewise.cw"

struct driven;
struct second_look;

struct command {
	const char *name;
	const char *summary;           /* one clause, no full stop */
	const char *usage;             /* operands, as usage lines show them */
	const char *help;              /* paragraphs, separated by empty lines */
	unsigned groups;               /* enum option_group: the options it takes */
	bool runs;                     /* its first operand is a program, whose own arguments follow */
	const struct driven *driven;   /* what takes the steps; NULL: a core a thread and the methods alone */
	const struct second_look *second; /* what looks at it again when it has ended; NULL: nothing */
	enum method_set methods;       /* that look at it */
	/* The exit status, or -errno with the message set. */
	int (*run)(struct invocation *call);
};

extern const struct command *const command_list[]; /* NULL-terminated, from cmd/list.h */
const struct command *command_find(const char *name);

/* The usage line and options of a command, for --help. */
void command_help(FILE *out, const struct command *c);

/* -EINVAL with a message about operands that are missing or too many, and EXIT_USAGE. */
int command_usage(const struct command *c, const char *what, const char *why);

#endif
