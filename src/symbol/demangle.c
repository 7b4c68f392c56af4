/*
 * Names as people write them, through libiberty: C++ (Itanium ABI) and Rust (legacy and v0).
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
 * "ns::f<int>(long) const [clone .cold]": from the right, what is bracketed as a clone, the qualifiers, the
 * parameters. "(anonymous namespace)::f" and "operator()" have brackets that are no parameters.
 */
size_t demangled_stem(const char *name)
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
