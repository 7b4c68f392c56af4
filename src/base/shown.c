#include "base/shown.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

bool shown_plain(uint32_t c)
{
	GUnicodeType type = g_unichar_type(c);

	return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

/* Its letter after a backslash in C; 0: none. */
static char letter(gunichar c)
{
	return c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 0;
}

unsigned shown_next(const char **s, char buf[SHOWN_SIZE])
{
	gunichar c = g_utf8_get_char_validated(*s, -1);

	if (c >= (gunichar)-2)
		return (unsigned)snprintf(buf, SHOWN_SIZE, "\\x%02x", (unsigned)(unsigned char)*(*s)++);
	*s = g_utf8_next_char(*s);
	if (letter(c))
		return (unsigned)snprintf(buf, SHOWN_SIZE, "\\%c", letter(c));
	if (!shown_plain(c))
		return (unsigned)snprintf(buf, SHOWN_SIZE,
		                          c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	buf[g_unichar_to_utf8(c, buf)] = '\0';
	return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

char *shown(const char *s)
{
	GString *all = g_string_new(NULL);
	char buf[SHOWN_SIZE];

	while (*s) {
		shown_next(&s, buf);
		g_string_append(all, buf);
	}
	return g_string_free(all, FALSE);
}
