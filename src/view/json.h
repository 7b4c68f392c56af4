/*
 * A small writer of JSON, straight to a stream: no tree is built, so a list may be as long as it likes.
 *
 * Members and elements come in the order of the calls. The two outer levels are indented, what is deeper
 * stands on one line. Strings that are not UTF-8 (a file name, an argument) get U+FFFD for each bad byte; what a
 * terminal could obey is written as \u with its number, so that JSON may go to one.
 * Numbers are printed by integer arithmetic: the same bytes on every host.
 */
#ifndef CYCLEWISE_VIEW_JSON_H
#define CYCLEWISE_VIEW_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned depth;            /* containers open */
	bool empty;                /* the innermost has no element yet */
	unsigned indented;         /* levels whose elements have lines of their own: 2; 0 for one line */
};

void json_init(struct json *j, FILE *out);
/* Ends the line. Asserts that all containers are closed; errors are the stream's own (ferror). */
void json_fini(struct json *j);

/* `key` NULL: an element of an array, or the outermost value. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_end_array(struct json *j);

void json_string(struct json *j, const char *key, const char *value); /* NULL: null */
void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t value);       /* "0x1139" */
/* num / den to six decimals, rounded to nearest, trailing zeros dropped; null where den is 0. */
void json_ratio(struct json *j, const char *key, uint64_t num, uint64_t den);
/* A magnitude below 2^43, to six decimals, the same way; null where it is NaN. */
void json_real(struct json *j, const char *key, double value);
/*
 * One of very many parts of a whole, 0 to 1: to twelve decimals, so that what is printed still sums to 1; null where it
 * is none.
 */
void json_share(struct json *j, const char *key, double value);

#endif
