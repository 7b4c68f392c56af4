#include "cmd/output.h"

#include <errno.h>
#include <string.h>

#include "base/version.h"

static int open_file(FILE **f, const char *path)
{
	*f = fopen(path, "we");
	if (*f)
		return 0;
	return error_errno(errno, path);
}

int output_open(struct output *out, const struct options *o, bool runs)
{
	int err = 0;

	*out = (struct output){
		.json_name = "standard output", .text_name = runs ? "standard error" : "standard output",
	};
	if (o->json) {
		out->json = stdout;
		if (o->json_file) {
			out->json_name = o->json_file;
			err = open_file(&out->json, o->json_file);
		}
	}
	if (o->report && !err) {
		out->text_name = o->report;
		err = open_file(&out->text, o->report);
	} else if (!o->report && !o->json && !(o->quiet && runs)) {
		out->text = runs ? stderr : stdout;
	}
	return err;
}

static int finish(FILE *f, const char *name)
{
	int failed = ferror(f), code = 0;

	errno = 0;
	if (failed)
		fputc('\n', f);       /* what failed before may have left nothing to write: one byte more fails for
		                       * the same reason */
	if (f == stdout || f == stderr ? fflush(f) : fclose(f))
		failed = 1;
	code = errno ? errno : EIO;
	return failed ? error_errno(code, name) : 0;
}

int output_close(struct output *out)
{
	int json = out->json ? finish(out->json, out->json_name) : 0;
	int text = out->text ? finish(out->text, out->text_name) : 0;

	out->json = out->text = NULL;
	return json ? json : text;
}

int output_view(struct output *out, const struct view *view, const struct view_request *r)
{
	int err = 0;

	if (out->text) {
		struct text t;

		text_init(&t, out->text);
		err = view->text(&t, r);
	}
	if (out->json && !err) {
		struct json j;

		/* A view that fails half-way leaves an object that is not whole; nothing is written behind it. */
		out->json_written = true;
		json_init(&j, out->json);
		err = view->json(&j, r);
		if (!err)
			json_fini(&j);
	}
	return err;
}

static void error_json(FILE *f, const struct error *e, const struct options *o, char *const *argv)
{
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_string(&j, "cyclewise", CYCLEWISE_VERSION);
	json_string(&j, "program", argv ? argv[0] : NULL);
	json_array(&j, "arguments");
	for (char *const *a = argv ? argv + 1 : NULL; a && *a; a++)
		json_string(&j, NULL, *a);
	json_end_array(&j);
	json_string(&j, "core", o->core);
	json_string(&j, "model", o->model);
	json_bool(&j, "complete", false);
	json_object(&j, "error");
	json_string(&j, "what", e->what);
	json_string(&j, "why", e->why);
	json_string(&j, "remedy", *e->remedy ? e->remedy : NULL);
	json_int(&j, "status", e->status);
	json_end_object(&j);
	json_end_object(&j);
	json_fini(&j);
}

/* Names of files and programs may have anything in them; a message stays one line, and drives no terminal. */
static void error_text(const char *s)
{
	struct text t;

	text_init(&t, stderr);
	text_field(&t, s, text_columns(s), false, false);
}

void output_error(struct output *out, const struct error *e, const struct options *o, char *const *argv)
{
	fputs("cyclewise: ", stderr);
	error_text(e->what);
	fputs(": ", stderr);
	error_text(e->why);
	fputc('\n', stderr);
	if (*e->remedy) {
		error_text(e->remedy);
		fputc('\n', stderr);
	}
	if (out->json && !out->json_written)
		error_json(out->json, e, o, argv);
}
