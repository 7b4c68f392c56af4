/*
 * Names as people write them, through libiberty: C++ (Itanium ABI) and Rust (legacy and v0); and which symbol a
 * person means by a name.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "symbol/file.h"

/*
 * Names longer than this are left as they are: the demangler's work can grow with the square of it. And a mangled name
 * can stand for one that is longer by any power of two: of each no more than LONGEST_PLAIN bytes are made, of all in a
 * file MOST_PLAIN.
 */
enum { LONGEST_MANGLED = 16384, LONGEST_PLAIN = 1 << 16, MOST_PLAIN = 1 << 28, MOST_TENTATIVE = 8 };

struct plain {
	char text[LONGEST_PLAIN];
	size_t used;
	jmp_buf full;
};

/* The demangler takes no refusal; it keeps all it has on the stack, and so can be left from here. */
static void more(const char *part, size_t bytes, void *ctx)
{
	struct plain *p = ctx;

	if (bytes >= sizeof p->text - p->used)
		longjmp(p->full, 1);
	memcpy(p->text + p->used, part, bytes);
	p->used += bytes;
}

/*
 * Below a conversion operator ("cv") the demangler reads the arguments of a template parameter ("T_I...", "T0_I...")
 * twice, once on trial, and so what is nested in them 2^n times, before it has made a byte. Real names have one or two.
 */
static bool tentative(const char *linkage)
{
	unsigned nr = 0;

	if (!strstr(linkage, "cv"))
		return false;
	for (const char *at = linkage; (at = strchr(at, 'T')); at++) {
		const char *end = at + 1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		nr += !strncmp(end, "_I", 2) || !strncmp(end, "__I", 3);
	}
	return nr > MOST_TENTATIVE;
}

/* 1: p->text is the name; 0: `linkage` is not mangled; -1: the name is too long. */
static int make_plain(struct plain *p, const char *linkage)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;
	bool made;

	p->used = 0;
	if (setjmp(p->full))
		return -1;
	made = rust_demangle_callback(linkage, options, more, p);
	if (!made) {
		p->used = 0;
		made = cplus_demangle_v3_callback(linkage, options, more, p);
	}
	p->text[p->used] = '\0';
	return made;
}

const char *demangle(struct symbol_file *f, const char *linkage)
{
	const char *name = linkage;
	struct plain *p;
	int made;

	if (linkage[0] != '_' || strnlen(linkage, LONGEST_MANGLED) == LONGEST_MANGLED)
		return linkage;
	p = g_new(struct plain, 1);
	p->used = 0;
	made = f->plain_bytes < MOST_PLAIN && !tentative(linkage) ? make_plain(p, linkage) : -1;
	f->plain_bytes += p->used;
	if (made < 0)
		f->kept_mangled++;
	else if (made && g_utf8_validate(p->text, -1, NULL))
		name = g_string_chunk_insert_const(f->strings, p->text);
	g_free(p);
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
