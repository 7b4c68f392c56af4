/*
 * Core descriptions as files: finding them, reading them with their parents, listing them.
 *
 * All values that a file and its parents give are gathered as text first, the nearest file's winning, and only
 * then interpreted, in the order of the tables: port sets are names, and a child may order the ports anew.
 */
#include "core/params.h"
#include "core/params_priv.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"

enum { MAX_FILE = 1 << 20, MAX_PARENTS = 16 };

/* One value as some file gives it. */
struct setting {
	char *text;
	const char *file;              /* of the file's path; interned */
	const char *comment;           /* interned */
};

/*
 * What a description and its parents say. Text keys: "core.title", "core.leaves_out" and "core.source" beside the
 * tables'.
 */
struct gathered {
	GHashTable *settings;          /* "group.name" -> struct setting */
	const char *files[MAX_PARENTS];/* read so far, the child first; interned, canonical */
	unsigned nr_files;
};

static void setting_free(void *p)
{
	struct setting *s = p;

	g_free(s->text);
	g_free(s);
}

/* The directories that hold descriptions, the most particular first; free with g_strfreev(). */
static char **search_path(void)
{
	/*
	 * Beside the program: an installation (PREFIX/bin), else the build tree (BUILD, BUILD/src/cmd,
	 * BUILD/tests/unit).
	 */
	static const char *const beside[] = { "../share/cyclewise/cores", "data/cores", "../../data/cores" };
	GPtrArray *dirs = g_ptr_array_new();
	const char *env = g_getenv("CYCLEWISE_DATA");
	char *exe = g_file_read_link("/proc/self/exe", NULL);

	if (env && *env) {
		char *cores = g_build_filename(env, "cores", NULL);

		g_ptr_array_add(dirs, g_canonicalize_filename(cores, NULL));
		g_free(cores);
	}
	if (exe) {
		char *dir = g_path_get_dirname(exe);

		for (size_t i = 0; i < G_N_ELEMENTS(beside); i++)
			g_ptr_array_add(dirs, g_canonicalize_filename(beside[i], dir));
		g_free(dir);
	}
	g_free(exe);
	g_ptr_array_add(dirs, NULL);
	return (char **)g_ptr_array_free(dirs, FALSE);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **core_desc_names(void)
{
	GPtrArray *names = g_ptr_array_new();
	char **dirs = search_path();

	for (char **d = dirs; *d; d++) {
		GDir *dir = g_dir_open(*d, 0, NULL);
		const char *file;

		while (dir && (file = g_dir_read_name(dir))) {
			char *name;

			if (!g_str_has_suffix(file, ".core"))
				continue;
			name = g_strndup(file, strlen(file) - strlen(".core"));
			if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
				g_free(name);
			else
				g_ptr_array_add(names, name);
		}
		if (dir)
			g_dir_close(dir);
	}
	g_strfreev(dirs);
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}

static bool is_path(const char *name)
{
	return strchr(name, '/') || g_str_has_suffix(name, ".core");
}

static int unknown_core(const char *what, const char *name)
{
	char **names = core_desc_names(), *all = g_strjoinv(", ", names);
	struct nearest n = { .name = name };

	for (char **c = names; *c; c++)
		nearest_offer(&n, *c);
	error_set(ENOENT, *what ? what : "core", "there is no core '%s'", name);
	if (n.best)
		error_remedy("did you mean '%s'?", n.best);
	else if (*names)
		error_remedy("the cores are: %s; a path needs a '/' or ends in '.core'", all);
	else
		error_remedy("no core descriptions were found; set CYCLEWISE_DATA to the directory that holds cores/");
	g_free(all);
	g_strfreev(names);
	return -ENOENT;
}

/*
 * The file that `name` stands for, seen from the file `from` (NULL: the command line); free with g_free().
 * NULL where there is none, with the error set.
 */
static char *find_file(const char *name, const char *from)
{
	char *beside = from ? g_path_get_dirname(from) : NULL, *file = NULL;

	if (is_path(name)) {
		file = g_canonicalize_filename(name, beside);
	} else if (*name) {
		char *base = g_strconcat(name, ".core", NULL), **dirs = search_path();

		if (beside)
			file = g_build_filename(beside, base, NULL);
		for (char **d = dirs; *d && !(file && g_file_test(file, G_FILE_TEST_EXISTS)); d++) {
			g_free(file);
			file = g_build_filename(*d, base, NULL);
		}
		if (file && !g_file_test(file, G_FILE_TEST_EXISTS))
			g_clear_pointer(&file, g_free);
		g_strfreev(dirs);
		g_free(base);
	}
	if (!file)
		unknown_core(from ? from : name, name);
	g_free(beside);
	return file;
}

/* A line that begins with a tab continues the one before, after a space. Returns the length that is left. */
static gsize join_lines(char *bytes)
{
	char *to = bytes;

	for (const char *from = bytes; *from; from++) {
		bool joined = from[0] == '\n' && from[1] == '\t';

		*to++ = joined ? ' ' : *from;
		from += joined;
	}
	*to = '\0';
	return (gsize)(to - bytes);
}

static GKeyFile *read_file(const char *path, int *ret)
{
	GKeyFile *kf = g_key_file_new();
	GError *err = NULL;
	char *bytes;
	size_t size;

	*ret = file_read_text(&bytes, &size, path, MAX_FILE);
	if (!*ret) {
		size = join_lines(bytes);
		if (!g_key_file_load_from_data(kf, bytes, size, G_KEY_FILE_KEEP_COMMENTS, &err))
			*ret = error_set(EINVAL, path, "not a core description: %s", err->message);
		g_clear_error(&err);
		free(bytes);
	}
	if (*ret)
		g_clear_pointer(&kf, g_key_file_free);
	return kf;
}

/* The comment above a key, or a group where key is NULL, on one line; interned. NULL where there is none. */
static const char *comment(GKeyFile *kf, const char *group, const char *key)
{
	char *text = g_key_file_get_comment(kf, group, key, NULL), **lines;
	const char *interned = NULL;
	GString *s;

	if (!text)
		return NULL;
	lines = g_strsplit(text, "\n", -1);
	s = g_string_new(NULL);
	for (char **line = lines; *line; line++) {
		g_strstrip(*line);
		if (**line)
			g_string_append_printf(s, "%s%s", s->len ? " " : "", *line);
	}
	if (s->len)
		interned = g_intern_string(s->str);
	g_string_free(s, TRUE);
	g_strfreev(lines);
	g_free(text);
	return interned;
}

static bool known_key(const char *name)
{
	static const char *const own[] = { "core.inherit", "core.title", "core.leaves_out", "core.source", NULL };

	return param_index(name) >= 0 || string_index(name) >= 0 || g_strv_contains(own, name);
}

/* Takes what the nearer files did not give. */
static int gather_group(struct gathered *g, GKeyFile *kf, const char *group, const char *file)
{
	char **keys = g_key_file_get_keys(kf, group, NULL, NULL);
	const char *source = comment(kf, group, NULL);
	int ret = 0;

	for (char **key = keys; *key && !ret; key++) {
		char *name = g_strconcat(group, ".", *key, NULL);
		const char *own = comment(kf, group, *key);

		source = own ? own : source;
		if (!known_key(name)) {
			ret = param_unknown(file, name);
			g_free(name);
		} else if (g_hash_table_contains(g->settings, name)) {
			g_free(name);
		} else {
			struct setting *s = g_new(struct setting, 1);

			s->text = g_key_file_get_value(kf, group, *key, NULL);
			s->file = file;
			s->comment = source ? source : "";
			g_hash_table_insert(g->settings, name, s);
		}
	}
	g_strfreev(keys);
	return ret;
}

static int gather(struct gathered *g, const char *path)
{
	const char *file = g_intern_string(path);
	char *parent = NULL, *next = NULL, **groups = NULL;
	GKeyFile *kf;
	int ret = 0;

	for (unsigned i = 0; i < g->nr_files; i++)
		if (g->files[i] == file)
			return error_set(ELOOP, g->files[g->nr_files - 1],
			                 "core.inherit: inheritance runs in a circle through %s", file);
	if (g->nr_files == MAX_PARENTS)
		return error_set(ELOOP, g->files[0], "core.inherit: over %d generations", MAX_PARENTS - 1);
	g->files[g->nr_files++] = file;

	kf = read_file(file, &ret);
	if (ret)
		return ret;
	groups = g_key_file_get_groups(kf, NULL);
	for (char **group = groups; *group && !ret; group++)
		ret = gather_group(g, kf, *group, file);
	parent = ret ? NULL : g_key_file_get_value(kf, "core", "inherit", NULL);
	g_strfreev(groups);
	g_key_file_free(kf);
	if (parent) {
		next = find_file(parent, file);
		ret = next ? gather(g, next) : -ENOENT;
	}
	g_free(next);
	g_free(parent);
	return ret;
}

/* "a; b" as lines. */
static int text_lines(const struct gathered *g, const char *name, char *out, size_t size)
{
	const struct setting *s = g_hash_table_lookup(g->settings, name);
	char **items;
	size_t len = 0;
	int ret = 0;

	if (!s)
		return 0;
	items = g_strsplit(s->text, ";", -1);
	for (char **item = items; *item && !ret; item++) {
		g_strstrip(*item);
		if (!**item)
			continue;
		if (len + strlen(*item) + 2 > size)
			ret = error_set(EINVAL, s->file, "%s: longer than %zu bytes", name, size - 1);
		else
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? "\n" : "", *item);
	}
	g_strfreev(items);
	return ret;
}

static int interpret(struct core_desc *d, const struct gathered *g)
{
	const struct setting *s;
	int ret = 0;

	for (int i = 0; i < NR_CORE_STRINGS && !ret; i++) {
		s = g_hash_table_lookup(g->settings, core_strings[i].name);
		if (!s)
			continue;
		ret = string_parse(d, i, s->file, s->text);
		d->given[NR_CORE_PARAMS + i] = s->comment;
	}
	for (int i = 0; i < NR_CORE_PARAMS && !ret; i++) {
		s = g_hash_table_lookup(g->settings, core_params[i].name);
		if (!s)
			continue;
		ret = param_parse(d, i, s->file, s->text);
		d->given[i] = s->comment;
	}
	if (!ret)
		ret = text_lines(g, "core.title", d->title, sizeof d->title);
	if (!ret)
		ret = text_lines(g, "core.leaves_out", d->leaves_out, sizeof d->leaves_out);
	if (!ret)
		ret = text_lines(g, "core.source", d->source, sizeof d->source);
	if (ret || !*d->costs)
		return ret;
	s = g_hash_table_lookup(g->settings, "core.costs");
	char *dir = g_path_get_dirname(s->file), *costs = g_canonicalize_filename(d->costs, dir);

	if (strlen(costs) >= sizeof d->costs_path)
		ret = error_set(ENAMETOOLONG, s->file, "core.costs: the path is too long");
	else
		strcpy(d->costs_path, costs);
	g_free(costs);
	g_free(dir);
	return ret;
}

static void defaults(struct core_desc *d)
{
	memset(d, 0, sizeof *d);
#define X(group, name, def, min, max, unit, help, ...) d->group##_##name = def;
	CORE_PARAMS(X)
#undef X
#define X(field, key, def, help) strcpy(d->field, def);
	CORE_STRINGS(X)
#undef X
}

int core_desc_load(struct core_desc *d, const char *name_or_path)
{
	struct gathered g = { .settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, setting_free) };
	char *file = find_file(name_or_path, NULL), *base = NULL;
	int ret;

	defaults(d);
	if (!file) {
		ret = -ENOENT;
		error_status(EXIT_USAGE);
		goto out;
	}
	base = g_path_get_basename(file);
	if (g_str_has_suffix(base, ".core"))
		base[strlen(base) - strlen(".core")] = '\0';
	if (strlen(file) >= sizeof d->path || strlen(base) >= sizeof d->name) {
		ret = error_set(ENAMETOOLONG, file, "the name is too long");
		goto out;
	}
	strcpy(d->path, file);
	strcpy(d->name, base);
	ret = gather(&g, file);
	if (!ret)
		ret = interpret(d, &g);
out:
	g_free(base);
	g_free(file);
	g_hash_table_destroy(g.settings);
	return ret;
}
