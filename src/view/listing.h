/*
 * All the code of one function, executed or not, in the order of addresses: what `annotate` shows.
 *
 * The executed instructions are the profile's. Those never executed are read from the module's file, where it
 * is there and still the same build, and decoded here.
 */
#ifndef CYCLEWISE_VIEW_LISTING_H
#define CYCLEWISE_VIEW_LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "profile/query.h"

struct listing_row {
	const struct query_insn *insn; /* NULL: never executed */
	uint64_t address;
	const char *disassembly;
	const char *file;              /* NULL: unknown */
	uint32_t line;                 /* 0: unknown */
};

struct listing {
	const struct listing_row *row; /* [nr] */
	size_t nr;
	const char *partial;           /* why what was never executed is not there; NULL: it is */
	struct listing_private *priv;
};

enum { LISTING_AROUND = 32 };

/*
 * Valid until listing_free(), or query_free(). Where `f` has no name and `around` is not NULL: that instruction and the
 * LISTING_AROUND executed ones before it and behind it. 0 or -errno.
 */
int listing_new(struct listing **out, struct query *q, const struct query_function *f, const struct query_insn *around);
/* The executed instructions of inlined copies [nr], one copy after the other. */
int listing_new_copies(struct listing **out, struct query *q, const struct query_copy *copy, size_t nr);
void listing_free(struct listing *l);

#endif
