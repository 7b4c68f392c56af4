/*
 * The mappings in force, as a sorted array of file mappings that do not overlap; what is in none is anonymous.
 * Programs have some hundreds at most, and change them rarely, so a search by halves and memmove() do.
 */
#include "source/maps.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>

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
	GHashTable *module;          /* path -> module + 1 */
};

int maps_new(struct maps **out)
{
	struct maps *m = g_new0(struct maps, 1);
	m->mapping = g_array_new(FALSE, FALSE, sizeof(struct mapping));
	m->note = g_array_new(FALSE, FALSE, sizeof(struct note));
	m->path = g_ptr_array_new_with_free_func(g_free);
	m->module = g_hash_table_new(g_str_hash, g_str_equal);
	*out = m;
	return 0;
}

void maps_free(struct maps *m)
{
	if (!m)
		return;
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

void maps_note(struct maps *m, uint32_t insn, uint64_t pc)
{
	struct note note;

	note.module = maps_find(m, pc, &note.offset);
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
