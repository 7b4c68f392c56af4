/*
 * Where a command's text and JSON go, by --json, --report and --quiet.
 *
 * Files are opened before anything runs: a name that cannot be written is found out at once. JSON stands in
 * place of the text; --report asks for the text beside it.
 */
#ifndef CYCLEWISE_CMD_OUTPUT_H
#define CYCLEWISE_CMD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cmd/options.h"
#include "view/view.h"

struct output {
	FILE *json, *text;         /* NULL: not wanted */
	const char *json_name, *text_name; /* for messages */
	bool json_written;
};

/* `runs`: the command runs a program, whose standard output is not to be mixed with the text. 0 or -errno. */
int output_open(struct output *out, const struct options *o, bool runs);
/* Writes out what is buffered; 0, or -errno where anything could not be written. */
int output_close(struct output *out);

/* The view in the forms that are wanted. 0 or -errno. */
int output_view(struct output *out, const struct view *view, const struct view_request *r);

/*
 * Two lines on standard error and, where JSON is wanted and none was written, an object there. argv: the
 * program that was to run and its arguments; NULL: none.
 */
void output_error(struct output *out, const struct error *e, const struct options *o, char *const *argv);

#endif
