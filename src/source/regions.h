/*
 * Regions marked in a program's source with CYCLEWISE_BEGIN and CYCLEWISE_END of cyclewise.h.
 */
#ifndef CYCLEWISE_SOURCE_REGIONS_H
#define CYCLEWISE_SOURCE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/maps.h"

struct regions;

struct mark {
	uint32_t region;           /* index */
	bool begin;
};

/*
 * Whether static instruction `insn` is a mark (INSN_MARK), and which. May be asked in another thread than the
 * source's.
 */
bool regions_mark(const struct regions *r, uint32_t insn, struct mark *out);
uint32_t regions_count(const struct regions *r);
const char *regions_name(const struct regions *r, uint32_t region); /* in order of first sight */

/* For sources. `symbols` must outlive it. */
struct symbols;
int  regions_new(struct regions **out, struct symbols *symbols);
void regions_free(struct regions *r);
/* Static instruction `insn` at `offset` of the `module`-th file of `maps` was first seen; true: it is a mark. */
bool regions_seen(struct regions *r, uint32_t insn, uint32_t module, const struct maps *maps, uint64_t offset);

#endif
