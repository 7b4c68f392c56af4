/*
 * Text from outside as a person may see it: names of files, symbols and sources, arguments, what a core file says. It
 * may hold anything, and a terminal obeys much of that; so nothing of it is printed but through here. What is not
 * printable UTF-8 is shown as C writes it: \n \t \r \x1b, bytes that are not UTF-8 \xff, controls beyond ASCII (of the
 * direction of writing, too) \u202e. All else, the backslash too, is shown as it is: to show twice changes nothing.
 */
#ifndef CYCLEWISE_BASE_SHOWN_H
#define CYCLEWISE_BASE_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOWN_SIZE = 12 };

/* May a character be printed as it is? */
bool shown_plain(uint32_t c);
/* The next character of *s, which is moved on, into `buf`; returns the columns it takes. */
unsigned shown_next(const char **s, char buf[SHOWN_SIZE]);
/* All of s; free with g_free(). */
char *shown(const char *s);

#endif
