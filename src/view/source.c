#include "view/source.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MOST_SOURCE = 64 << 20 };       /* bytes */

struct source_file {
	char *text;                    /* NULL: cannot be read; its line ends are NULs */
	GArray *lines;                 /* const char *, the first is line 1 */
};

struct sources {
	const struct view_request *request;
	GHashTable *files;             /* path -> struct source_file * */
};

static void source_free(gpointer p)
{
	struct source_file *s = p;

	free(s->text);
	g_array_free(s->lines, TRUE);
	g_free(s);
}

struct sources *sources_new(const struct view_request *r)
{
	struct sources *s = g_new0(struct sources, 1);

	s->request = r;
	s->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, source_free);
	return s;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	g_hash_table_destroy(s->files);
	g_free(s);
}

/* `file` with the folder OLD of "OLD=NEW" become NEW; NULL: it is not in OLD. */
static char *moved(const char *file, const char *rule)
{
	size_t length = (size_t)(strchr(rule, '=') - rule);
	const char *rest = file + length;

	while (length && rule[length - 1] == '/')
		length--;
	if (strncmp(file, rule, length) || (file[length] && file[length] != '/'))
		return NULL;
	rest = file + length;
	return g_strconcat(strchr(rule, '=') + 1, rest, NULL);
}

/* Where the file is: by the first rule that fits and leads to one, else where the compiler had it. */
static char *find(const struct view_request *r, const char *file)
{
	char *path;

	for (guint i = 0; r->source_path && i < r->source_path->len; i++) {
		path = moved(file, r->source_path->pdata[i]);
		if (path && file_regular(path))
			return path;
		g_free(path);
	}
	return g_strdup(file);
}

/* Whether the text may be shown: it is that of the run, as far as that is known. */
static bool same_text(struct query *q, const char *file, const char *path, const char *text, size_t size)
{
	const struct query_source *known;
	char *md5;
	bool same;

	if (query_source(q, file, &known) || !known)
		return true;
	md5 = g_compute_checksum_for_data(G_CHECKSUM_MD5, (const guchar *)text, size);
	same = !strcmp(md5, known->md5);
	g_free(md5);
	if (!same)
		query_note(q, "%s has been edited since the program was built or run: its text is not shown", path);
	else if (known->newer)
		query_note(q, "%s was edited after the program was built: its lines may have moved", path);
	return same;
}

static struct source_file *source_read(const struct view_request *r, const char *file)
{
	struct source_file *s = g_new0(struct source_file, 1);
	char *path = find(r, file);
	size_t size;

	s->lines = g_array_new(FALSE, FALSE, sizeof(char *));
	if (file_read(&s->text, &size, path, MOST_SOURCE) || !same_text(r->query, file, path, s->text, size))
		size = 0;
	g_free(path);
	for (char *at = s->text, *end = s->text + size; at < end;) {
		char *eol = memchr(at, '\n', (size_t)(end - at));

		g_array_append_val(s->lines, at);
		if (!eol)
			break;
		*eol = '\0';
		at = eol + 1;
	}
	return s;
}

const char *sources_line(struct sources *s, const char *file, uint32_t line)
{
	struct source_file *f = g_hash_table_lookup(s->files, file);

	if (!f) {
		f = source_read(s->request, file);
		g_hash_table_insert(s->files, g_strdup(file), f);
	}
	return line && line <= f->lines->len ? g_array_index(f->lines, char *, line - 1) : NULL;
}
