#include "view/text.h"

#include <glib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/shown.h"

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
	char *heading;
	va_list ap;

	va_start(ap, fmt);
	heading = g_strdup_vprintf(fmt, ap);
	va_end(ap);
	fputc('\n', t->out);
	text_style(t, "1");
	text_outside(t->out, heading);
	text_style(t, NULL);
	fputc('\n', t->out);
	g_free(heading);
}

unsigned text_bar(const struct text *t, unsigned widest)
{
	return t->width < TEXT_WIDTH ? widest / 2 : widest;
}

unsigned text_columns(const char *s)
{
	char c[SHOWN_SIZE];
	unsigned columns = 0;

	while (*s)
		columns += shown_next(&s, c);
	return columns;
}

void text_outside(FILE *out, const char *s)
{
	char c[SHOWN_SIZE];

	while (*s) {
		shown_next(&s, c);
		fputs(c, out);
	}
}

void text_field(struct text *t, const char *s, unsigned columns, bool pad, bool keep_end)
{
	unsigned whole = text_columns(s), used = 0;
	bool cut = whole > columns;
	char c[SHOWN_SIZE];

	if (cut && keep_end && columns) {
		for (; whole > columns - 1; whole -= shown_next(&s, c))
			;
		fputs("…", t->out);
		used = 1;
	}
	while (*s) {
		unsigned n = shown_next(&s, c);

		if (used + n > columns - (cut && !keep_end && columns ? 1 : 0))
			break;
		fputs(c, t->out);
		used += n;
	}
	if (cut && !keep_end && columns) {
		fputs("…", t->out);
		used++;
	}
	if (pad && used < columns)
		fprintf(t->out, "%*s", (int)(columns - used), "");
}

void text_left(struct text *t, const char *s, unsigned columns)
{
	unsigned whole = text_columns(s);

	text_outside(t->out, s);
	fprintf(t->out, "%*s", whole < columns ? (int)(columns - whole) : 0, "");
}

void text_right(struct text *t, const char *s, unsigned columns)
{
	unsigned whole = text_columns(s);

	fprintf(t->out, "%*s", whole < columns ? (int)(columns - whole) : 0, "");
	text_outside(t->out, s);
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
		text_outside(t->out, word);
		column += n;
		first = false;
		s += bytes;
		g_free(word);
	}
	fputc('\n', t->out);
}
