/*
 * A run kept to be timed again: its steps, and what the core foresaw of them, compressed in a file that has no name.
 *
 * Why the steps are kept, and the program is not run a second time: it may have read its input, changed its files, or
 * depend on the clock. What the core foresees is kept too, since it depends on how much of the code was known at the time:
 * whoever is given both times exactly what was timed at first, and spares the prediction.
 *
 *     put ──► zstd ──► file ──► zstd ──► reader, reader, ...
 */
#ifndef CYCLEWISE_RUN_SPOOL_H
#define CYCLEWISE_RUN_SPOOL_H

#include <stdbool.h>

#include "core/core.h"
#include "source/source.h"

struct spool;
struct spool_reader;

/* Of at most `most` bytes, in the directory that TMPDIR names, else /var/tmp. 0 or -errno. */
int  spool_new(struct spool **out, uint64_t most);
void spool_free(struct spool *s);

/* 0, or -errno where it cannot be written. Once it is full, it keeps no more: the run is kept up to there. */
int  spool_put(struct spool *s, const struct step_batch *b, const struct foreseen *f);
bool spool_full(const struct spool *s);
/* All was put. 0 or -errno. */
int  spool_end(struct spool *s);

/* A reader is at the start of an ended spool, which must outlive it; others may read beside it. 0 or -errno. */
int  spool_reader_new(struct spool_reader **out, const struct spool *s);
void spool_reader_free(struct spool_reader *r);
/* 1: the next batch, valid until the next call; 0: that was the last; -errno. `f` is of the reader. */
int  spool_read(struct spool_reader *r, struct step_batch *b, const struct foreseen **f);

#endif
