/*
 * Numbers as people and JSON read them, by integer arithmetic alone.
 */
#ifndef CYCLEWISE_VIEW_NUMBER_H
#define CYCLEWISE_VIEW_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_SIZE = 48 };         /* enough for any of these */

/*
 * num / den with `decimals` (0..6) decimals, rounded to nearest, halves up. den > 0. Six decimals tell
 * neighbouring multiples of 1/720720 apart: the exact share can be had back from what is printed.
 */
char *number_ratio(char buf[NUMBER_SIZE], uint64_t num, uint64_t den, unsigned decimals);
/* The same without trailing zeros, and without the point where nothing follows it. */
char *number_trimmed(char buf[NUMBER_SIZE], uint64_t num, uint64_t den);
/* "12,345,678". */
char *number_grouped(char buf[NUMBER_SIZE], uint64_t value);
/* num / den, whole and grouped. */
char *number_whole(char buf[NUMBER_SIZE], uint64_t num, uint64_t den);

#endif
