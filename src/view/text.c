#include "view/text.h"

#include <glib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void text_init(struct text *t, FILE *out)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct winsize size;

	*t = (struct text){ .out = out, .width = TEXT_WIDTH };
	if (!isatty(fileno(out)))
		return;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		t->width = CLAMP(size.ws_col, TEXT_NARROWEST, TEXT_WIDEST);
	t->colour = term && *term && strcmp(term, "dumb") && !(no_color && *no_color);
}

void text_style(struct text *t, const char *sgr)
{
	if (t->colour)
		fprintf(t->out, "\033[%sm", sgr ? sgr : "0");
}

void text_heading(struct text *t, const char *fmt, ...)
{
	va_list ap;

	fputc('\n', t->out);
	text_style(t, "1");
	va_start(ap, fmt);
	vfprintf(t->out, fmt, ap);
	va_end(ap);
	text_style(t, NULL);
	fputc('\n', t->out);
}

/* One character at *s, with what is not UTF-8 or not printable as '?'; moves on. Returns its columns. */
static unsigned next(const char **s, gunichar *c)
{
	*c = g_utf8_get_char_validated(*s, -1);
	if (*c >= (gunichar)-2) {
		*c = '?';
		(*s)++;
		return 1;
	}
	*s = g_utf8_next_char(*s);
	if (g_unichar_iszerowidth(*c))
		return 0;
	if (!g_unichar_isprint(*c))
		*c = '?';
	return g_unichar_iswide(*c) ? 2 : 1;
}

static void put(struct text *t, gunichar c)
{
	char utf8[6];

	fwrite(utf8, 1, (size_t)g_unichar_to_utf8(c, utf8), t->out);
}

unsigned text_bar(const struct text *t, unsigned widest)
{
	return t->width < TEXT_WIDTH ? widest / 2 : widest;
}

unsigned text_columns(const char *s)
{
	unsigned columns = 0;
	gunichar c;

	while (*s)
		columns += next(&s, &c);
	return columns;
}

void text_field(struct text *t, const char *s, unsigned columns, bool pad, bool keep_end)
{
	unsigned whole = text_columns(s), used = 0;
	bool cut = whole > columns;
	gunichar c;

	if (cut && keep_end && columns) {
		for (; whole > columns - 1; whole -= next(&s, &c))
			;
		put(t, 0x2026);
		used = 1;
	}
	while (*s) {
		const char *at = s;
		unsigned n = next(&s, &c);

		if (used + n > columns - (cut && !keep_end && columns ? 1 : 0)) {
			s = at;
			break;
		}
		put(t, c);
		used += n;
	}
	if (cut && !keep_end && columns) {
		put(t, 0x2026);
		used++;
	}
	if (pad && used < columns)
		fprintf(t->out, "%*s", (int)(columns - used), "");
}

void text_fill(struct text *t, unsigned column, unsigned indent, const char *s)
{
	bool first = true;

	while (*s) {
		size_t bytes;
		char *word;
		unsigned n;

		s += strspn(s, " \n");
		bytes = strcspn(s, " \n");
		if (!bytes)
			break;
		word = g_strndup(s, bytes);
		n = text_columns(word);
		if (!first && column + 1 + n > t->width) {
			fprintf(t->out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		if (!first) {
			fputc(' ', t->out);
			column++;
		}
		text_field(t, word, n, false, false);
		column += n;
		first = false;
		s += bytes;
		g_free(word);
	}
	fputc('\n', t->out);
}
