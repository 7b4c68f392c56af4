/*
 * Names as people write them, through libiberty: C++ (Itanium ABI) and Rust (legacy and v0); and which symbol a
 * person means by a name.
 */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file.h"

/* Names longer than this are left as they are: the demangler's work can grow with the square of it. */
enum { LONGEST_MANGLED = 16384 };

const char *demangle(GStringChunk *strings, const char *linkage)
{
	char *plain = NULL;
	const char *name;

	if (linkage[0] == '_' && strnlen(linkage, LONGEST_MANGLED) < LONGEST_MANGLED)
		plain = cplus_demangle(linkage, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (!plain || !g_utf8_validate(plain, -1, NULL)) {
		free(plain);
		return linkage;
	}
	name = g_string_chunk_insert_const(strings, plain);
	free(plain);
	return name;
}

/* Where the bracket that closes at `at` opens; NULL: nowhere. */
static const char *opening(const char *name, const char *at, char open, char close)
{
	int depth = 0;

	for (; at >= name; at--) {
		if (*at == close)
			depth++;
		else if (*at == open && !--depth)
			return at;
	}
	return NULL;
}

/*
 * How much of a demangled name is left when its parameters go; its whole length where it has none.
 * "ns::f<int>(long) const [clone .cold]": from the right, what is bracketed as a clone, the qualifiers, the
 * parameters. "(anonymous namespace)::f" and "operator()" have brackets that are no parameters.
 */
static size_t demangled_stem(const char *name)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };
	size_t length = strlen(name), n;
	const char *open;

	while (length && name[length - 1] == ']') {
		open = opening(name, name + length - 1, '[', ']');
		if (!open || open == name || strncmp(open, "[clone", 6))
			break;
		length = (size_t)(open - name);
		while (length && name[length - 1] == ' ')
			length--;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(qualifiers);) {
		n = strlen(qualifiers[i]);
		if (length > n && !memcmp(name + length - n, qualifiers[i], n)) {
			length -= n;
			i = 0;
		} else {
			i++;
		}
	}
	if (!length || name[length - 1] != ')')
		return length;
	open = opening(name, name + length - 1, '(', ')');
	if (!open || open == name)
		return length;
	if (open - name >= 8 && !memcmp(open - 8, "operator", 8))
		return length;
	return (size_t)(open - name);
}

/* Where the last component of the first `length` bytes of a name begins: behind a "::" that is in no bracket. */
static size_t last_component(const char *name, size_t length)
{
	int depth = 0;

	for (size_t i = length; i >= 2; i--) {
		if (strchr(")>]", name[i - 1]))
			depth++;
		else if (strchr("(<[", name[i - 1]))
			depth--;
		else if (!depth && name[i - 1] == ':' && name[i - 2] == ':')
			return i;
	}
	return 0;
}

/* Compilers' copies of a function that are entered in its stead; parts of one (.cold, .part) are not. */
static bool is_clone(const char *suffix)
{
	static const char *const clones[] = { ".constprop.", ".isra.", ".lto_priv.", ".llvm." };

	for (unsigned i = 0; i < G_N_ELEMENTS(clones); i++)
		if (g_str_has_prefix(suffix, clones[i]))
			return true;
	return false;
}

enum name_match name_match(const char *name, const char *linkage, const char *demangled)
{
	size_t length = strlen(name), stem, last;

	if (!length)
		return NAME_OTHER;
	if (!strcmp(linkage, name) || !strcmp(demangled, name))
		return NAME_WHOLE;
	if (!strncmp(linkage, name, length) && is_clone(linkage + length))
		return NAME_STEM;
	stem = demangled_stem(demangled);
	if (stem < length || memcmp(demangled + stem - length, name, length))
		return NAME_OTHER;
	if (stem == length)
		return NAME_STEM;
	last = last_component(demangled, stem);
	return stem - last == length ? NAME_LAST : NAME_OTHER;
}
