/*
 * Prints one view of a profile that is written by hand, as SQL: what the golden tests compare.
 *
 *   show FIXTURE.sql[,MORE.sql] VIEW text|colour|narrow|json|resources|resources-json [SYMBOL | 0xADDRESS | CORE FILE]
 *
 * `narrow` is as a terminal of 80 columns shows it, and fails where a line does not fit.
 */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/view.h"

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "show: %s: %s: %s\n", what, error_get()->what, error_get()->why);
	exit(1);
}

/* A profile file with the tables of the real one and the rows of the fixture. */
static struct profile *load(const char *fixtures, const char *path)
{
	char **sql_path = g_strsplit(fixtures, ",", -1), *message = NULL;
	struct profile *p;
	sqlite3 *db;

	if (profile_create(&p, path) || profile_begin(p) || profile_commit(p) || profile_close(p))
		fail(path);
	if (sqlite3_open(path, &db))
		fail(path);
	for (char **s = sql_path; *s; s++) {
		char *sql;

		if (!g_file_get_contents(*s, &sql, NULL, NULL) || sqlite3_exec(db, sql, NULL, NULL, &message)) {
			fprintf(stderr, "show: %s: %s\n", *s, message ? message : "cannot be read");
			exit(1);
		}
		g_free(sql);
	}
	sqlite3_close(db);
	g_strfreev(sql_path);
	if (profile_open(&p, path))
		fail(path);
	return p;
}

/* The text of what is as narrow as can be; fails where a line is not. */
static int narrow(const struct view *view, const struct view_request *r)
{
	char *all = NULL, **lines;
	size_t size;
	struct text t;
	int err;

	text_init(&t, open_memstream(&all, &size));
	t.width = TEXT_NARROWEST;
	err = view->text(&t, r);
	fclose(t.out);
	fputs(all, stdout);
	lines = g_strsplit(all, "\n", -1);
	for (char **line = lines; *line && !err; line++)
		if (text_columns(*line) > TEXT_NARROWEST)
			err = error_set(EINVAL, *line, "%u columns wide", text_columns(*line));
	g_strfreev(lines);
	free(all);
	return err;
}

static int show(const struct view *view, const struct view_request *r, const char *format)
{
	struct text t;
	struct json j;
	int err;

	if (!strcmp(format, "narrow"))
		return narrow(view, r);
	if (g_str_has_suffix(format, "json")) {
		json_init(&j, stdout);
		err = view->json(&j, r);
		if (!err)
			json_fini(&j);
		return err;
	}
	text_init(&t, stdout);
	if (!strcmp(format, "colour")) {
		t.colour = true;
		t.width = 140;
	}
	return view->text(&t, r);
}

static const struct query_insn *at(struct query *q, uint64_t address)
{
	const struct query_insn *in;
	size_t n;

	if (query_hot(q, 0, &in, &n, NULL))
		fail("query");
	for (size_t i = 0; i < n; i++)
		if (in[i].address == address)
			return &in[i];
	error_set(ENOENT, "annotate", "no such address");
	fail("address");
}

int main(int argc, char **argv)
{
	struct view_request r = { .version = "0.0.0" };
	const struct view *view = argc > 3 ? view_find(argv[2]) : NULL;
	const struct query_function *const *f;
	struct core_desc *core = g_new0(struct core_desc, 1);
	char *dir = g_dir_make_tmp("cyclewise-golden-XXXXXX", NULL), *path;
	struct profile *p;
	size_t n;

	if (!view || !dir)
		fail("usage: show FIXTURE.sql VIEW text|colour|narrow|json [SYMBOL]");
	path = g_build_filename(dir, "fixture.cw", NULL);
	p = load(argv[1], path);
	if (query_new(&r.query, p))
		fail("query");
	if (argc > 4 && (!strcmp(argv[2], "cores") || !strcmp(argv[2], "cost"))) {
		if (core_desc_load(core, argv[4]))
			fail(argv[4]);
		r.core = core;
	} else if (argc > 4 && g_str_has_prefix(argv[4], "0x")) {
		r.around = at(r.query, strtoull(argv[4], NULL, 16));
		r.function = r.around->function;
	} else if (argc > 4) {
		if (query_find(r.query, argv[4], &f, &n) || n != 1)
			fail(argv[4]);
		r.function = f[0];
	}
	r.resources = g_str_has_prefix(argv[3], "resources");
	if (show(view, &r, argv[3]))
		fail(argv[2]);
	query_free(r.query);
	profile_close(p);
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
	g_free(core);
	return 0;
}
