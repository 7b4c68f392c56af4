/*
 * The mappings in force, as a sorted array of file mappings that do not overlap; what is in none is anonymous.
 * Programs have some hundreds at most, and change them rarely, so a search by halves and memmove() do.
 *
 * Names are looked up late, at checkpoints and at the end, when a program may have been built anew: its files are kept
 * open. One that is written to in its place is told by its build-id, or by a hash of its code, as it was when it was
 * mapped.
 */
#include "source/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "symbol/symbol.h"

/*
 * Files that are open: a process may have 1024, and each is opened elsewhere, too. Of more, what is at the path is
 * taken if it is unchanged.
 */
enum { MOST_KEPT = 128 };

struct mapped_file {
	char *path;
	int fd;                      /* -1: not kept */
	bool there;                  /* it was found, and `at` is known */
	bool outside;                /* its path leads to it from here, too */
	bool ran;                    /* an instruction of it was seen */
	struct stat at;              /* when it was found */
	char *identity;              /* symbols_identity_of() then; NULL: it is no ELF file */
};

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
	GPtrArray *file;             /* struct mapped_file *, by module */
	unsigned kept;               /* of them, open */
	struct mapped_file *program; /* of `file`, the program's own, opened before it ran; NULL: not open */
	int pid;                     /* of the process; 0: unknown */
	GHashTable *module;          /* path -> module + 1, the newest of the path */
};

static void file_free(gpointer p)
{
	struct mapped_file *f = p;

	if (f->fd >= 0)
		close(f->fd);
	g_free(f->identity);
	g_free(f->path);
	g_free(f);
}

int maps_new(struct maps **out)
{
	struct maps *m = g_new0(struct maps, 1);
	m->mapping = g_array_new(FALSE, FALSE, sizeof(struct mapping));
	m->note = g_array_new(FALSE, FALSE, sizeof(struct note));
	m->file = g_ptr_array_new_with_free_func(file_free);
	m->module = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	*out = m;
	return 0;
}

void maps_free(struct maps *m)
{
	if (!m)
		return;
	g_hash_table_destroy(m->module);
	g_ptr_array_free(m->file, TRUE);
	g_array_free(m->note, TRUE);
	g_array_free(m->mapping, TRUE);
	g_free(m);
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

/* Where the process sees `path`: it may have changed its root. Free with g_free(). */
static char *inside(const struct maps *m, const char *path)
{
	return g_strdup_printf("/proc/%d/root%s", m->pid, path);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Opens what is at the path now. */
static int open_at_path(const struct maps *m, const char *path)
{
	struct stat st;
	int fd = -1;

	if (m->pid) {
		g_autofree char *there = inside(m, path);

		fd = file_open(there, 0, UINT64_MAX, &st);
	}
	return fd < 0 ? file_open(path, 0, UINT64_MAX, &st) : fd;
}

/* Takes `fd`, the file that was mapped; negative: it was not found. Only ELF files stay open. */
static void keep(struct maps *m, struct mapped_file *f, int fd)
{
	char *identity;

	if (fd < 0)
		return;
	f->there = !fstat(fd, &f->at);
	identity = symbols_identity_of(fd);
	if (f->there && *identity)
		f->identity = g_steal_pointer(&identity);
	g_free(identity);
	if (f->identity && m->kept < MOST_KEPT) {
		f->fd = fd;
		m->kept++;
	} else {
		close(fd);
	}
}

/* Is there another file at its path by now, as the process sees it or, where it has ended, we do? */
static bool replaced(const struct maps *m, const struct mapped_file *f)
{
	g_autofree char *there = inside(m, f->path);
	struct stat st;
	bool found = m->pid && !stat(there, &st);

	if (!found && f->outside)
		found = !stat(f->path, &st);
	return f->there && found && S_ISREG(st.st_mode) && !same_file(&st, &f->at);
}

/* `fd` as keep(). */
static struct mapped_file *add_module(struct maps *m, const char *path, int fd)
{
	struct mapped_file *f = g_new0(struct mapped_file, 1);
	struct stat st;

	f->path = g_strdup(path);
	f->fd = -1;
	keep(m, f, fd);
	f->outside = f->there && !stat(path, &st) && same_file(&st, &f->at);
	g_ptr_array_add(m->file, f);
	g_hash_table_insert(m->module, g_strdup(path), GUINT_TO_POINTER(m->file->len));
	return f;
}

void maps_program(struct maps *m, const char *path)
{
	char link[64], target[PATH_MAX];
	struct stat st;
	int fd = file_open(path, 0, UINT64_MAX, &st);
	ssize_t n;

	g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = fd < 0 ? 0 : readlink(link, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	if (n > 0)
		m->program = add_module(m, target, fd);
	else if (fd >= 0)
		close(fd);
}

/* Is it the program's, whatever has become of its path? */
static bool is_program(const struct maps *m, const char *path)
{
	char link[64];

	if (!m->program || m->program->fd < 0)
		return false;
	g_snprintf(link, sizeof link, "/proc/self/fd/%d", m->program->fd);
	return leads_to(link, path);
}

static uint32_t module_of(struct maps *m, const char *path)
{
	uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(m->module, path));

	if (known && !replaced(m, m->file->pdata[known - 1]))
		return known - 1;
	if (!known && is_program(m, path))
		return 0;
	add_module(m, path, open_at_path(m, path));
	return m->file->len - 1;
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

/* In place of what is there; MODULE_NONE: anonymous. */
static void map(struct maps *m, uint64_t start, uint64_t end, uint64_t offset, uint32_t module)
{
	struct mapping new = { start, end, offset, module };

	maps_remove(m, start, end);
	if (module != MODULE_NONE)
		g_array_insert_val(m->mapping, first_after(m, start), new);
}

int maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	if (start >= end)
		return -EINVAL;
	map(m, start, end, offset, path ? module_of(m, path) : MODULE_NONE);
	return 0;
}

void maps_move(struct maps *m, uint64_t from, uint64_t from_bytes, uint64_t to, uint64_t to_bytes)
{
	uint64_t offset;
	uint32_t module = maps_find(m, from, &offset);

	maps_remove(m, from, from + from_bytes);
	if (to < to + to_bytes)
		map(m, to, to + to_bytes, offset, module);
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

/* An instruction of the file was seen. */
static void ran(struct maps *m, struct mapped_file *f)
{
	if (!f->ran && !f->there && m->pid) {
		char folder[32];

		g_snprintf(folder, sizeof folder, "/proc/%d/fd", m->pid);
		keep(m, f, open_among(folder, f->path));
	}
	f->ran = true;
}

void maps_note(struct maps *m, uint32_t insn, uint64_t pc)
{
	struct note note;

	note.module = maps_find(m, pc, &note.offset);
	if (note.module != MODULE_NONE)
		ran(m, m->file->pdata[note.module]);
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
	return m->file->len;
}

const char *maps_path(const struct maps *m, uint32_t module)
{
	return module < m->file->len ? ((const struct mapped_file *)m->file->pdata[module])->path : NULL;
}

bool maps_changed(const struct maps *m, uint32_t module)
{
	const struct mapped_file *f = m->file->pdata[module];
	g_autofree char *identity = NULL;
	struct stat st;

	if (!f->ran || !f->identity)
		return false;
	if (f->fd < 0)
		return stat(f->path, &st) || !same_file(&st, &f->at) || !same_state(&st, &f->at);
	if (!fstat(f->fd, &st) && same_state(&st, &f->at))
		return false;
	identity = symbols_identity_of(f->fd);
	return strcmp(identity, f->identity);
}

int maps_open(const struct maps *m, uint32_t module, struct symbols *s)
{
	const struct mapped_file *f = m->file->pdata[module];

	if (maps_changed(m, module))
		return error_set(ESTALE, f->path, "has been changed while the program ran");
	return symbols_open_at(s, f->path, f->fd);
}
