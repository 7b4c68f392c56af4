#include "cmd/named.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "symbol/symbol.h"

enum { CANDIDATES = 8 };

/* What the files of the profile's modules, where they are still the same, have of a function that was not executed. */
enum left { LEFT_UNKNOWN, LEFT_NOTHING, LEFT_CODE };

static void has_code(void *ctx, uint64_t address, uint64_t size)
{
	(void)address;
	(void)size;
	*(enum left *)ctx = LEFT_CODE;
}

static enum left left_of(const struct query_function *f, size_t n, const char *name)
{
	enum left left = LEFT_UNKNOWN;
	GHashTable *seen;
	struct symbols *s;
	int file;

	if (symbols_new(&s))
		return LEFT_UNKNOWN;
	seen = g_hash_table_new(g_str_hash, g_str_equal);
	for (size_t i = 0; i < n && left != LEFT_CODE; i++) {
		if (!f[i].module || !g_hash_table_add(seen, (gpointer)(uintptr_t)f[i].module))
			continue;
		file = symbols_open(s, f[i].module);
		if (file < 0 || (f[i].identity && strcmp(f[i].identity, symbols_identity(s, file))))
			continue;
		symbols_find(s, file, name, has_code, &left);
		if (symbols_find_inlined(s, file, name, has_code, &left) > 0 && left == LEFT_UNKNOWN)
			left = LEFT_NOTHING;
	}
	g_hash_table_destroy(seen);
	symbols_free(s);
	return left;
}

static int unknown(struct query *q, const char *name)
{
	const struct query_function *f;
	const struct query_inlined *c;
	struct nearest near = { .name = name };
	size_t n, nr_inlined;

	if (query_functions(q, &f, &n) || query_inlined(q, &c, &nr_inlined))
		return -EINVAL;
	for (size_t i = 0; i < nr_inlined; i++)
		nearest_offer(&near, c[i].symbol);
	for (size_t i = 0; i < n; i++) {
		if (f[i].symbol)
			nearest_offer(&near, f[i].symbol);
		if (f[i].linkage)
			nearest_offer(&near, f[i].linkage);
	}
	if (left_of(f, n, name) == LEFT_NOTHING) {
		error_set(ENOENT, name, "the compiler left no code of this function");
		error_remedy("its calls were optimised away; annotate the function that had them");
		return -ENOENT;
	}
	error_set(ENOENT, name, "no function of this name was executed");
	if (!strcmp(name, "(no symbol)") || !strcmp(name, "(JIT code)"))
		error_remedy("give the address of one of its instructions, as `cyclewise report` shows them: 0x1139");
	else if (near.best)
		error_remedy("did you mean %s? (`cyclewise report --limit %zu` lists all)", near.best, n);
	else
		error_remedy("`cyclewise report --limit %zu` lists all functions", n);
	return -ENOENT;
}

/* Several have cycles under the name; which can be meant is said by their linkage names. */
static int ambiguous(const char *name, const struct query_function *const *f, size_t n)
{
	char list[400];
	size_t at = 0;

	for (size_t i = 0; i < n && i < CANDIDATES && at < sizeof list; i++)
		at += (size_t)snprintf(list + at, sizeof list - at, "%s%s (%s, 0x%" PRIx64 ")", i ? "; " : "",
		                       f[i]->linkage ? f[i]->linkage : "?", f[i]->module ? f[i]->module : "JIT code",
		                       f[i]->address);
	error_set(EINVAL, name, "is the name of %zu functions", n);
	error_remedy("say which: %s%s", list, n > CANDIDATES ? "; ..." : "");
	return -EINVAL;
}

int named_function(struct query *q, const char *name, const struct query_function **out)
{
	const struct query_function *const *f;
	size_t n;
	int err = query_find(q, name, &f, &n);

	if (!err && !n)
		err = unknown(q, name);
	if (!err && n > 1)
		err = ambiguous(name, f, n);
	if (!err)
		*out = f[0];
	return err;
}

int named_code(struct query *q, const char *name, const struct query_function **f,
               const struct query_inlined *const **inlined, size_t *nr)
{
	const struct query_function *const *found;
	const struct query_inlined **same;
	size_t functions, kept = 0;
	int err = query_find(q, name, &found, &functions);

	*f = NULL;
	if (!err)
		err = query_find_inlined(q, name, inlined, nr);
	if (err)
		return err;
	if (*nr && (!functions || name_match(name, (*inlined)[0]->linkage, (*inlined)[0]->symbol) >
	                                  name_match(name, found[0]->linkage, found[0]->symbol)))
		return 0;
	err = named_function(q, name, f);
	if (err)
		return err;
	same = (const struct query_inlined **)(uintptr_t)*inlined;
	for (size_t i = 0; i < *nr; i++)
		if (!strcmp(same[i]->symbol, (*f)->symbol) && !g_strcmp0(same[i]->module, (*f)->module))
			same[kept++] = same[i];
	*nr = kept;
	return 0;
}

/* --- instructions ------------------------------------------------------------------------------------ */

/*
 * A whole number, as reports write offsets and addresses, and behind that of an address " [MODULE]"; false: `text` is
 * none.
 */
static bool number(const char *text, bool address, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || errno)
		return false;
	return !*end || (address && g_str_has_prefix(end, " [") && g_str_has_suffix(end, "]"));
}

/* FUNCTION+OFFSET, where *plus is not NULL, or an address. False: it is neither. */
static bool parse(const char *place, const char **plus, uint64_t *where)
{
	*plus = strrchr(place, '+');
	if (number(place, true, where)) { /* the name of a module may have a plus in it */
		*plus = NULL;
		return true;
	}
	return *plus && *plus != place && number(*plus + 1, false, where);
}

int named_place(const char *place)
{
	const char *plus;
	uint64_t where;

	if (parse(place, &plus, &where))
		return 0;
	error_set(EINVAL, place, "is neither FUNCTION+OFFSET nor an address");
	error_remedy("as reports name instructions: main+0x1c, 0x1139");
	return -EINVAL;
}

/* The instruction of `f` that begins where `offset` is, or before it. */
static int not_executed(const char *place, const struct query_insn *in, size_t nr, const struct query_function *f,
                        uint64_t offset)
{
	const struct query_insn *near = nr ? &in[0] : NULL;

	for (size_t i = 0; i < nr && in[i].offset <= offset; i++)
		near = &in[i];
	error_set(ENOENT, place, "no instruction that begins there was executed");
	if (near)
		error_remedy("the nearest is %s+0x%" PRIx64 ": %s", f->symbol, near->offset, near->disassembly);
	return -ENOENT;
}

static int at_offset(struct query *q, const char *place, const char *function, uint64_t offset, GPtrArray *out)
{
	const struct query_function *f;
	const struct query_insn *in;
	guint before = out->len;
	size_t nr;
	int err = named_function(q, function, &f);

	if (!err)
		err = query_insns(q, f, &in, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		if (in[i].offset == offset)
			g_ptr_array_add(out, (gpointer)(uintptr_t)&in[i]);
	if (!err && out->len == before)
		err = not_executed(place, in, nr, f, offset);
	return err;
}

static const char *last_name(const char *module)
{
	const char *slash = module ? strrchr(module, '/') : NULL;

	return slash ? slash + 1 : module ? module : "JIT code";
}

/* Whether the module is the one that stands behind the address in `place`, or none does. */
static bool meant(const char *place, const char *module)
{
	const char *bracket = strchr(place, '['), *name = last_name(module);

	return !bracket || (!strncmp(bracket + 1, name, strlen(name)) && !strcmp(bracket + 1 + strlen(name), "]"));
}

static int at_address(struct query *q, const char *place, uint64_t address, GPtrArray *out)
{
	const struct query_insn *in, *first = NULL;
	size_t nr;
	int err = query_hot(q, 0, &in, &nr, NULL);

	for (size_t i = 0; i < nr && !err; i++) {
		if (in[i].address != address || !meant(place, in[i].module))
			continue;
		if (first && g_strcmp0(first->module, in[i].module)) {
			err = error_set(EINVAL, place, "was executed in %s and in %s",
			                first->module ? first->module : "JIT code",
			                in[i].module ? in[i].module : "JIT code");
			error_remedy("say which, as '0x%" PRIx64 " [%s]' or FUNCTION+OFFSET", address,
			             last_name(first->module));
			break;
		}
		first = &in[i];
		g_ptr_array_add(out, (gpointer)(uintptr_t)first);
	}
	if (err || first)
		return err;
	error_set(ENOENT, place, "no instruction that begins there was executed");
	error_remedy("addresses are those of the file, as `objdump -d` prints them");
	return -ENOENT;
}

int named_insns(struct query *q, const char *place, GPtrArray *out)
{
	const char *plus;
	uint64_t where;

	if (!parse(place, &plus, &where))
		return named_place(place);
	if (!plus)
		return at_address(q, place, where, out);
	char *function = g_strndup(place, (gsize)(plus - place));
	int err = at_offset(q, place, function, where, out);
	g_free(function);
	return err;
}
