/*
 * A mark is a no-op whose address a note of its file names (cyclewise.h): provider "cyclewise", name "begin" or "end",
 * the region's name as the arguments. The notes of a file are read when its first instruction is seen.
 */
#include "source/regions.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "source/maps.h"
#include "symbol/symbol.h"

struct regions {
	struct symbols *symbols;
	GPtrArray *name;             /* char *, by region */
	GPtrArray *module;           /* struct module *, by module; NULL: not seen yet */
	GHashTable *mark;            /* static instruction -> packed mark */
	GMutex lock;                 /* of `mark`: methods ask for marks in a thread of their own while new ones are
	                              * found */
};

struct module {
	int file;                    /* of symbols */
	GHashTable *mark;            /* address -> packed mark; NULL: none */
};

/* Never 0, so that a hash table can hold it as a pointer. */
static gpointer pack(struct mark mark)
{
	return GUINT_TO_POINTER(mark.region << 2 | (unsigned)mark.begin << 1 | 1);
}

static struct mark unpack(gpointer packed)
{
	unsigned bits = GPOINTER_TO_UINT(packed);
	return (struct mark){ .region = bits >> 2, .begin = bits >> 1 & 1 };
}

static void module_free(gpointer p)
{
	struct module *module = p;

	if (!module)
		return;
	if (module->mark)
		g_hash_table_destroy(module->mark);
	g_free(module);
}

int regions_new(struct regions **out, struct symbols *symbols)
{
	struct regions *r = g_new0(struct regions, 1);
	r->symbols = symbols;
	r->name = g_ptr_array_new_with_free_func(g_free);
	r->module = g_ptr_array_new_with_free_func(module_free);
	r->mark = g_hash_table_new(NULL, NULL);
	g_mutex_init(&r->lock);
	*out = r;
	return 0;
}

void regions_free(struct regions *r)
{
	if (!r)
		return;
	g_hash_table_destroy(r->mark);
	g_ptr_array_free(r->module, TRUE);
	g_ptr_array_free(r->name, TRUE);
	g_mutex_clear(&r->lock);
	g_free(r);
}

static uint32_t region_of(struct regions *r, const char *name)
{
	for (guint i = 0; i < r->name->len; i++)
		if (!strcmp(g_ptr_array_index(r->name, i), name))
			return i;
	g_ptr_array_add(r->name, g_strdup(name));
	return r->name->len - 1;
}

struct reading {
	struct regions *regions;
	struct module *module;
};

static void probe(void *ctx, uint64_t address, const char *name, const char *args)
{
	struct reading *reading = ctx;
	bool begin = !strcmp(name, "begin");

	if (!begin && strcmp(name, "end"))
		return;
	if (!reading->module->mark)
		reading->module->mark = g_hash_table_new(NULL, NULL);
	const struct mark mark = { .region = region_of(reading->regions, args), .begin = begin };
	g_hash_table_insert(reading->module->mark, GSIZE_TO_POINTER(address), pack(mark));
}

static const struct module *module_of(struct regions *r, uint32_t module, const struct maps *maps)
{
	while (r->module->len <= module)
		g_ptr_array_add(r->module, NULL);
	if (!r->module->pdata[module]) {
		struct module *new = g_new0(struct module, 1);
		struct reading reading = { r, new };
		new->file = maps_open(maps, module, r->symbols);
		if (new->file >= 0)
			symbols_probes(r->symbols, new->file, "cyclewise", probe, &reading);
		r->module->pdata[module] = new;
	}
	return r->module->pdata[module];
}

bool regions_seen(struct regions *r, uint32_t insn, uint32_t module, const struct maps *maps, uint64_t offset)
{
	const struct module *m = module_of(r, module, maps);
	uint64_t address;

	if (!m->mark || !symbols_address(r->symbols, m->file, offset, &address))
		return false;
	gpointer packed = g_hash_table_lookup(m->mark, GSIZE_TO_POINTER(address));
	if (!packed)
		return false;
	g_mutex_lock(&r->lock);
	g_hash_table_insert(r->mark, GUINT_TO_POINTER(insn), packed);
	g_mutex_unlock(&r->lock);
	return true;
}

bool regions_mark(const struct regions *r, uint32_t insn, struct mark *out)
{
	GMutex *lock = (GMutex *)&r->lock;

	g_mutex_lock(lock);
	gpointer packed = g_hash_table_lookup(r->mark, GUINT_TO_POINTER(insn));
	g_mutex_unlock(lock);
	if (packed)
		*out = unpack(packed);
	return packed != NULL;
}

uint32_t regions_count(const struct regions *r)
{
	return r->name->len;
}

const char *regions_name(const struct regions *r, uint32_t region)
{
	return region < r->name->len ? g_ptr_array_index(r->name, region) : NULL;
}
