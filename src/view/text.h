/*
 * Text for people: a stream, its width, and whether it shows colours. Nothing is told by colour alone.
 */
#ifndef CYCLEWISE_VIEW_TEXT_H
#define CYCLEWISE_VIEW_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TEXT_WIDTH = 100, TEXT_NARROWEST = 80, TEXT_WIDEST = 200 };

struct text {
	FILE *out;
	unsigned width;            /* columns */
	bool colour;
};

/*
 * A terminal gives its width, and colours unless NO_COLOR is set (https://no-color.org) or TERM is dumb or
 * missing; anything else is TEXT_WIDTH wide and plain, so that the same profile gives the same bytes.
 */
void text_init(struct text *t, FILE *out);

/* Select Graphic Rendition codes, "1;31"; NULL: back to plain. Nothing where there are no colours. */
void text_style(struct text *t, const char *sgr);
/* A heading: bold, a line of its own after an empty one; names from outside may be in it. */
void text_heading(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How wide a bar is that takes `widest` columns where there is room: half of that on a narrow terminal. */
unsigned text_bar(const struct text *t, unsigned widest);
/*
 * Text from outside (names, paths, arguments, what a file says) is printed by these alone, which show what a
 * terminal could obey as base/shown.h says.
 */

/* Prints all of s. */
void text_outside(FILE *out, const char *s);
/* Columns that the first `bytes` of s take (UTF-8; wide and combining characters as the terminal shows them). */
unsigned text_columns(const char *s);
/*
 * Prints s in at most `columns` columns, padded to them where `pad`; what does not fit is cut with `…`: at its end, or,
 * where `keep_end`, at its beginning (paths).
 */
void text_field(struct text *t, const char *s, unsigned columns, bool pad, bool keep_end);
/* All of s, with blanks behind or before it up to `columns`. */
void text_left(struct text *t, const char *s, unsigned columns);
void text_right(struct text *t, const char *s, unsigned columns);
/* Words of s filled into lines of the text's width, each line after the first (or all) indented. Ends the line. */
void text_fill(struct text *t, unsigned column, unsigned indent, const char *s);

#endif
