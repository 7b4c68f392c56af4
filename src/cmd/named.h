/*
 * Functions and instructions of a profile by the names that reports give them, for command lines.
 */
#ifndef CYCLEWISE_CMD_NAMED_H
#define CYCLEWISE_CMD_NAMED_H

#include <glib.h>

#include "profile/query.h"

/* The one executed function that `name` can mean. 0, -ENOENT, or -EINVAL where it can mean several; with remedies. */
int named_function(struct query *q, const char *name, const struct query_function **out);

/*
 * The code that `name` can mean: one executed function, or NULL in *f where it was inlined everywhere; and in *inlined
 * [*nr] those of its name that were inlined. Errors as above.
 */
int named_code(struct query *q, const char *name, const struct query_function **f,
               const struct query_inlined *const **inlined, size_t *nr);

/* Whether `place` is FUNCTION+OFFSET or an address, whatever there is. 0 or -EINVAL, with a remedy. */
int named_place(const char *place);
/*
 * The executed instruction at `place`, FUNCTION+OFFSET or an address as its file has it (0x1139, or "0x1139
 * [libm.so.6]" where several files have code there), appended to `out` (const struct query_insn *): several where code
 * was changed there. 0, -ENOENT or -EINVAL, with remedies.
 */
int named_insns(struct query *q, const char *place, GPtrArray *out);

#endif
