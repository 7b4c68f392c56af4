/*
 * Prints one view of a profile that is written by hand, as SQL: what the golden tests compare.
 *
 *   show FIXTURE.sql VIEW text|colour|json|resources|resources-json [SYMBOL | CORE FILE]
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/view.h"

static void fail(const char *what)
{
	fprintf(stderr, "show: %s: %s: %s\n", what, error_get()->what, error_get()->why);
	exit(1);
}

/* A profile file with the tables of the real one and the rows of the fixture. */
static struct profile *load(const char *sql_path, const char *path)
{
	struct profile *p;
	sqlite3 *db;
	char *sql, *message = NULL;

	if (profile_create(&p, path) || profile_begin(p) || profile_commit(p) || profile_close(p))
		fail(path);
	if (!g_file_get_contents(sql_path, &sql, NULL, NULL) || sqlite3_open(path, &db) ||
	    sqlite3_exec(db, sql, NULL, NULL, &message)) {
		fprintf(stderr, "show: %s: %s\n", sql_path, message ? message : "cannot be read");
		exit(1);
	}
	sqlite3_close(db);
	g_free(sql);
	if (profile_open(&p, path))
		fail(path);
	return p;
}

int main(int argc, char **argv)
{
	struct view_request r = { .version = "0.0.0" };
	const struct view *view = argc > 3 ? view_find(argv[2]) : NULL;
	const struct query_function *const *f;
	struct core_desc *core = g_new0(struct core_desc, 1);
	char *dir = g_dir_make_tmp("cyclewise-golden-XXXXXX", NULL), *path;
	struct profile *p;
	struct text t;
	struct json j;
	size_t n;

	if (!view || !dir)
		fail("usage: show FIXTURE.sql VIEW text|colour|json [SYMBOL]");
	path = g_build_filename(dir, "fixture.cw", NULL);
	p = load(argv[1], path);
	if (query_new(&r.query, p))
		fail("query");
	if (argc > 4 && (!strcmp(argv[2], "cores") || !strcmp(argv[2], "cost"))) {
		if (core_desc_load(core, argv[4]))
			fail(argv[4]);
		r.core = core;
	} else if (argc > 4) {
		if (query_find(r.query, argv[4], &f, &n) || n != 1)
			fail(argv[4]);
		r.function = f[0];
	}
	text_init(&t, stdout);
	if (!strcmp(argv[3], "colour")) {
		t.colour = true;
		t.width = 140;
	}
	json_init(&j, stdout);
	r.resources = g_str_has_prefix(argv[3], "resources");
	if (g_str_has_suffix(argv[3], "json") ? view->json(&j, &r) : view->text(&t, &r))
		fail(argv[2]);
	if (g_str_has_suffix(argv[3], "json"))
		json_fini(&j);
	query_free(r.query);
	profile_close(p);
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
	g_free(core);
	return 0;
}
