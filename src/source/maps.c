/*
 * The mappings in force, as a sorted array of file mappings that do not overlap; what is in none is anonymous.
 * Programs have some hundreds at most, and change them rarely, so a search by halves and memmove() do.
 */
#include "source/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Files that are open: a process may have 1024, and each is opened elsewhere, too. */
enum { MOST_KEPT = 128 };

struct mapping {
	uint64_t start, end, offset; /* offset: in the file, of `start` */
	uint32_t module;
};

struct note {
	uint64_t offset;
	uint32_t module;
};

struct maps {
	GArray *mapping;             /* struct mapping, by address */
	GArray *note;                /* struct note, by static instruction */
	GPtrArray *path;             /* char *, by module */
	GArray *fd;                  /* int, by module; NOT_TRIED, -1: cannot be opened */
	unsigned kept;               /* of them, open */
	int program;                 /* the program's own file; -1: not open */
	int pid;                     /* of the process; 0: unknown */
	GHashTable *module;          /* path -> module + 1 */
};

static const int NOT_TRIED = -2;

int maps_new(struct maps **out)
{
	struct maps *m = g_new0(struct maps, 1);
	m->mapping = g_array_new(FALSE, FALSE, sizeof(struct mapping));
	m->note = g_array_new(FALSE, FALSE, sizeof(struct note));
	m->path = g_ptr_array_new_with_free_func(g_free);
	m->fd = g_array_new(FALSE, FALSE, sizeof(int));
	m->program = -1;
	m->module = g_hash_table_new(g_str_hash, g_str_equal);
	*out = m;
	return 0;
}

void maps_free(struct maps *m)
{
	if (!m)
		return;
	for (guint i = 0; i < m->fd->len; i++)
		if (g_array_index(m->fd, int, i) >= 0)
			close(g_array_index(m->fd, int, i));
	if (m->program >= 0)
		close(m->program);
	g_array_free(m->fd, TRUE);
	g_hash_table_destroy(m->module);
	g_ptr_array_free(m->path, TRUE);
	g_array_free(m->note, TRUE);
	g_array_free(m->mapping, TRUE);
	g_free(m);
}

static uint32_t module_of(struct maps *m, const char *path)
{
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(m->module, path));
	if (known)
		return known - 1;
	char *copy = g_strdup(path);
	g_ptr_array_add(m->path, copy);
	g_array_append_val(m->fd, NOT_TRIED);
	g_hash_table_insert(m->module, copy, GUINT_TO_POINTER(m->path->len));
	return m->path->len - 1;
}

/* Index of the first mapping that ends after `addr`. */
static guint first_after(const struct maps *m, uint64_t addr)
{
	guint low = 0, high = m->mapping->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (g_array_index(m->mapping, struct mapping, middle).end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void maps_remove(struct maps *m, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	guint i = first_after(m, start);
	while (i < m->mapping->len) {
		struct mapping *at = &g_array_index(m->mapping, struct mapping, i);
		if (at->start >= end)
			return;
		struct mapping tail = *at;
		bool has_tail = at->end > end;
		if (has_tail) {
			tail.offset += end - at->start;
			tail.start = end;
		}
		if (at->start < start) {
			at->end = start;
			i++;
			if (has_tail)
				g_array_insert_val(m->mapping, i, tail);
		} else if (has_tail) {
			*at = tail;
		} else {
			g_array_remove_index(m->mapping, i);
			continue;
		}
		if (has_tail)
			return;
	}
}

int maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	if (start >= end)
		return -EINVAL;
	maps_remove(m, start, end);
	if (!path)
		return 0;
	struct mapping new = { start, end, offset, module_of(m, path) };
	g_array_insert_val(m->mapping, first_after(m, start), new);
	return 0;
}

void maps_move(struct maps *m, uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes)
{
	uint64_t offset;
	uint32_t module = maps_find(m, from, &offset);

	maps_remove(m, from, from + from_bytes);
	maps_add(m, to, to + to_bytes, offset, module == MODULE_NONE ? NULL : maps_path(m, module));
}

uint32_t maps_find(const struct maps *m, uint64_t pc, uint64_t *offset)
{
	guint i = first_after(m, pc);

	if (i == m->mapping->len || g_array_index(m->mapping, struct mapping, i).start > pc) {
		*offset = 0;
		return MODULE_NONE;
	}
	const struct mapping *at = &g_array_index(m->mapping, struct mapping, i);
	*offset = at->offset + (pc - at->start);
	return at->module;
}

void maps_program(struct maps *m, const char *path)
{
	struct stat st;

	m->program = file_open(path, 0, UINT64_MAX, &st);
}

void maps_process(struct maps *m, int pid)
{
	m->pid = pid;
}

/* Does the kernel call what `link` in /proc leads to `path`, or that file since removed? */
static bool leads_to(const char *link, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof target - 1);
	size_t length = strlen(path);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return !strncmp(target, path, length) && (!target[length] || !strcmp(target + length, " (deleted)"));
}

/* Opens what the process has open under that name: a file in memory, or one that was removed. */
static int open_among(const char *folder, const char *path)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;
	struct stat st;
	int fd = -1;

	while (dir && fd < 0 && (name = g_dir_read_name(dir))) {
		char *link = g_build_filename(folder, name, NULL);

		if (leads_to(link, path))
			fd = file_open(link, 0, UINT64_MAX, &st);
		g_free(link);
	}
	if (dir)
		g_dir_close(dir);
	return fd;
}

static int open_module(const struct maps *m, const char *path)
{
	char name[64];
	struct stat st;
	int fd = -1;

	g_snprintf(name, sizeof name, "/proc/self/fd/%d", m->program);
	if (m->program >= 0 && leads_to(name, path))
		return fcntl(m->program, F_DUPFD_CLOEXEC, 0);
	if (m->pid) {
		/* As the process sees it, which may have changed its root. */
		char *inside = g_strdup_printf("/proc/%d/root%s", m->pid, path);

		fd = file_open(inside, 0, UINT64_MAX, &st);
		g_free(inside);
	}
	if (fd < 0)
		fd = file_open(path, 0, UINT64_MAX, &st);
	if (fd < 0 && m->pid) {
		g_snprintf(name, sizeof name, "/proc/%d/fd", m->pid);
		fd = open_among(name, path);
	}
	return fd < 0 ? -1 : fd;
}

static void keep(struct maps *m, uint32_t module)
{
	int *fd = &g_array_index(m->fd, int, module);

	if (*fd != NOT_TRIED)
		return;
	*fd = m->kept < MOST_KEPT ? open_module(m, maps_path(m, module)) : -1;
	m->kept += *fd >= 0;
}

int maps_fd(const struct maps *m, uint32_t module)
{
	int fd = module < m->fd->len ? g_array_index(m->fd, int, module) : -1;

	return fd < 0 ? -1 : fd;
}

void maps_note(struct maps *m, uint32_t insn, uint64_t pc)
{
	struct note note;

	note.module = maps_find(m, pc, &note.offset);
	if (note.module != MODULE_NONE)
		keep(m, note.module);
	while (m->note->len <= insn) {
		const struct note none = { .module = MODULE_NONE };
		g_array_append_val(m->note, none);
	}
	g_array_index(m->note, struct note, insn) = note;
}

uint32_t maps_place(const struct maps *m, uint32_t insn, uint64_t *offset)
{
	*offset = 0;
	if (insn >= m->note->len)
		return MODULE_NONE;
	*offset = g_array_index(m->note, struct note, insn).offset;
	return g_array_index(m->note, struct note, insn).module;
}

uint32_t maps_modules(const struct maps *m)
{
	return m->path->len;
}

const char *maps_path(const struct maps *m, uint32_t module)
{
	return module < m->path->len ? g_ptr_array_index(m->path, module) : NULL;
}
