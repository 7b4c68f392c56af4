/*
 * Programs for the tests of the symbol room, compiled while they run: what they are made from stands in
 * tests/unit/fixtures, where the tests find it by $CYCLEWISE_FIXTURES.
 */
#ifndef CYCLEWISE_TESTS_SYMBOL_FIXTURE_H
#define CYCLEWISE_TESTS_SYMBOL_FIXTURE_H

#include <stdbool.h>

/* The folder of this test program's own; made on first use, removed at exit. */
const char *fixture_folder(void);
/* Runs a shell command in which %1 is the folder, %2 that of the sources. True: it succeeded. */
bool fixture_run(const char *command);
/* A file in the folder; the text is valid for eight calls. */
const char *fixture_path(const char *name);

#endif
