/*
 * A run kept to be timed again: its steps, and what the core foresaw of them, compressed in a file that has no name.
 *
 * Why the steps are kept, and the program is not run a second time: it may have read its input, changed its files, or
 * depend on the clock. What the core foresees is kept too, since it depends on how much of the code was known at the
 * time: whoever is given both times exactly what was timed at first, and spares the prediction.
 *
 *     put ──► zstd ──► file ──► zstd ──► reader, reader, ...
 */
#ifndef CYCLEWISE_RUN_REPLAY_LOG_H
#define CYCLEWISE_RUN_REPLAY_LOG_H

#include <stdbool.h>

#include "core/core.h"
#include "source/source.h"

struct replay_log;
struct replay_reader;

/* Of at most `most` bytes, in the directory that TMPDIR names, else /var/tmp. 0 or -errno. */
int  replay_log_new(struct replay_log **out, uint64_t most);
void replay_log_free(struct replay_log *s);

/* 0, or -errno where it cannot be written. Once it is full, it keeps no more: the run is kept up to there. */
int  replay_log_put(struct replay_log *s, const struct step_batch *b, const struct foreseen *f);
bool replay_log_full(const struct replay_log *s);
/* All was put. 0 or -errno. */
int  replay_log_end(struct replay_log *s);

/* A reader is at the start of an ended replay log, which must outlive it; others may read beside it. 0 or -errno. */
int  replay_reader_new(struct replay_reader **out, const struct replay_log *s);
void replay_reader_free(struct replay_reader *r);
/*
 * 1: the next batch, valid until the next call; 0: that was the last; -errno, -ECANCELED where signals_asked(). `f` is
 * of the reader.
 */
int  replay_log_read(struct replay_reader *r, struct step_batch *b, const struct foreseen **f);

#endif
