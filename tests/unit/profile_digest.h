/*
 * All that a profile says of the whole run, as the queries give it.
 */
#ifndef CYCLEWISE_TESTS_PROFILE_DIGEST_H
#define CYCLEWISE_TESTS_PROFILE_DIGEST_H

#include "profile/query.h"

/* One row a line; to be freed with g_free(). Asserts that all can be read, and that functions and lines agree. */
char *profile_digest(struct query *q);
/* The same of a file. */
char *profile_digest_file(const char *path);

#endif
